#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "linkwork/dynamics/evaluated_signals.h"
#include "linkwork/model/custom_force.h"

namespace linkwork {

/// What names stand for. Throws InputError for one that it does not know.
template <class T>
class NameIndex {
 public:
  /// `kind` is what messages call the thing.
  explicit NameIndex(std::string_view kind) : kind_(kind) {}
  void add(const std::string& name, const T& thing) {
    known_.emplace(name, thing);
    names_.push_back(name);
  }
  const T& at(std::string_view name) const {
    const auto found = known_.find(name);
    if (found == known_.end()) throw unknown_name({}, kind_, name, names_);
    return found->second;
  }
  bool has(std::string_view name) const { return known_.find(name) != known_.end(); }
  const std::vector<std::string>& names() const { return names_; }

 private:
  struct Hash {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const { return std::hash<std::string_view>()(text); }
  };
  std::string_view kind_;
  std::unordered_map<std::string, T, Hash, std::equal_to<>> known_;
  std::vector<std::string> names_;
};

/// Of a model, for programs that speak of things by name.
struct ModelNames {
  /// The model must outlive it.
  explicit ModelNames(const Model& model);

  NameIndex<const Body*> bodies{"body"};
  NameIndex<std::size_t> joints{"joint"}, closures{"closure"};
  NameIndex<Coordinate> positions{"coordinate"}, velocities{"coordinate"};  // "joint" or "joint.component"
  NameIndex<int> inputs{"input"}, states{"state"};
};

/// A system at the state it was last updated with.
class SystemKinematics final : public Kinematics {
 public:
  SystemKinematics(const ModelNames& names, const EvaluatedSignals& system) : names_(names), system_(system) {}

  double t() const override { return system_.state().t; }
  double q(std::string_view coordinate) const override {
    return system_.value(Variable{Variable::Kind::kPosition, names_.positions.at(coordinate)});
  }
  double v(std::string_view coordinate) const override {
    return system_.value(Variable{Variable::Kind::kVelocity, names_.velocities.at(coordinate)});
  }
  double input(std::string_view name) const override { return system_.input(names_.inputs.at(name)).value; }
  double state(std::string_view name) const override { return system_.user_state(names_.states.at(name)); }
  Eigen::Isometry3d pose(std::string_view body) const override;
  BodyTwist twist(std::string_view body) const override;

 private:
  const ModelNames& names_;
  const EvaluatedSignals& system_;
};

}  // namespace linkwork
