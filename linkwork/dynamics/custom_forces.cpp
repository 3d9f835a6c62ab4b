#include "linkwork/dynamics/custom_forces.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "linkwork/dynamics/evaluated_forces.h"
#include "linkwork/dynamics/names.h"

namespace linkwork {

namespace {

/// What one force does, as it says so.
class CollectedForces final : public Forces {
 public:
  /// `shown`: of what has columns.
  CollectedForces(const ModelNames& names, EvaluatedForces& system, const CustomForce& force, std::span<double> shown,
                  std::string& not_finite)
      : names_(names), system_(system), force_(force), shown_(shown), not_finite_(not_finite) {}

  double power() const { return power_; }

  void on(std::string_view name, const Load& load, const Eigen::Vector3d& at) override {
    const Body& body = *names_.bodies.at(name);
    check(load.force.allFinite() && load.torque.allFinite() && at.allFinite(), "body", name);
    const Mat3<double>& R = system_.X_WN(body.node).R;
    const Vec3<double> f = R.transpose() * load.force, r = body.X_NB * at;
    const Wrench<double> wrench{R.transpose() * load.torque + r.cross(f), f};
    const NodeWork<double>& node = system_.work()[body.node];
    power_ += linkwork::power(wrench, Twist<double>{node.w, node.v});
    system_.add_wrench(body.node, static_cast<int>(&body - system_.model().bodies.data()), wrench);
    if (const std::span<double> to = shown(name, 6); !to.empty()) {
      const Vec3<double> torque = load.torque + (R * body.X_NB.R * at).cross(load.force);
      for (std::size_t k = 0; k < 3; ++k) to[k] += load.force[static_cast<int>(k)], to[3 + k] += torque[static_cast<int>(k)];
    }
  }

  void on_joint(std::string_view name, double effort) override {
    const Coordinate& coordinate = names_.velocities.at(name);
    check(std::isfinite(effort), "joint", name);
    power_ += effort * system_.value(Variable{Variable::Kind::kVelocity, coordinate});
    system_.add_coordinate_force(coordinate, effort);
    if (const std::span<double> to = shown(name, 1); !to.empty()) to[0] += effort;
  }

 private:
  void check(bool finite, const char* kind, std::string_view name) {
    if (!finite && not_finite_.empty())
      not_finite_ = fmt::format("the custom force '{}' on {} '{}' is not a finite number", force_.name, kind, name);
  }

  /// Where the columns of a body or coordinate stand; empty if it has none.
  std::span<double> shown(std::string_view name, std::size_t count) const {
    std::size_t first = 0;
    for (const std::string& column : force_.columns) {
      const std::size_t its = names_.bodies.has(column) ? 6 : 1;
      if (column == name && its == count) return shown_.subspan(first, its);
      first += its;
    }
    return {};
  }

  const ModelNames& names_;
  EvaluatedForces& system_;
  const CustomForce& force_;
  std::span<double> shown_;
  std::string& not_finite_;
  double power_ = 0.0;
};

}  // namespace

CustomForces::CustomForces(const Model& model)
    : model_(&model), names_(std::make_unique<ModelNames>(model)), powers_(model.custom_forces.size(), 0.0) {
  std::size_t count = 0;
  for (const CustomForce& force : model.custom_forces)
    for (const std::string& column : force.columns) count += names_->bodies.has(column) ? 6 : 1;
  shown_.assign(count, 0.0);
}
CustomForces::CustomForces(CustomForces&&) noexcept = default;
CustomForces& CustomForces::operator=(CustomForces&&) noexcept = default;
CustomForces::~CustomForces() = default;

double CustomForces::apply(EvaluatedForces& system) {
  not_finite_.clear();
  std::ranges::fill(shown_, 0.0);
  const SystemKinematics at(*names_, system);
  double power = 0.0;
  std::span<double> shown = shown_;
  for (std::size_t k = 0; k < powers_.size(); ++k) {
    const CustomForce& force = model_->custom_forces[k];
    CollectedForces forces(*names_, system, force, shown, not_finite_);
    force.apply(at, forces);
    powers_[k] = forces.power();
    if (force.power)
      power += force.power(at);
    else if (!force.potential)
      power += forces.power();
    for (const std::string& column : force.columns) shown = shown.subspan(names_->bodies.has(column) ? 6 : 1);
  }
  return power;
}

double CustomForces::potential(const EvaluatedSignals& system) const {
  const SystemKinematics at(*names_, system);
  double energy = 0.0;
  for (const CustomForce& force : model_->custom_forces)
    if (force.potential) energy += force.potential(at);
  return energy;
}

}  // namespace linkwork
