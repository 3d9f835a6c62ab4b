#pragma once

#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "linkwork/model/joints/joint_kind.h"
#include "linkwork/model/spec.h"

namespace linkwork {

/// Names that tables use for one another. They are collected while a file is read, when what they name may not have been read
/// yet, and checked at its end.
class References {
 public:
  void add_body(const FrameSpec& frame) { bodies_.push_back({frame.body, frame.place}); }
  /// "joint" or "joint.component": a position that is not part of a quaternion.
  void add_coordinate(const std::string& name, const Place& place) { coordinates_.push_back({name, place}); }
  /// "joint" or "joint.component": a component of velocity, which a force can act on.
  void add_velocity(const std::string& name, const Place& place) { velocities_.push_back({name, place}); }
  /// The joints in the variables of an expression.
  void add_variables(const Expression& expression);

  /// Throws InputError unless each names something in one of the specs.
  void check(const std::vector<const Spec*>& specs) const;

 private:
  struct Reference {
    std::string name;
    Place place;
  };
  std::vector<Reference> bodies_;
  std::vector<Reference> coordinates_;
  std::vector<Reference> positions_;
  std::vector<Reference> velocities_;
};

/// Remembers where names were given, to refuse a second use.
class UniqueNames {
 public:
  /// `kind` is what messages call the thing: "body".
  void add(const std::string& kind, const std::string& name, const Place& place);

 private:
  struct Use {
    std::string kind;
    Place place;
  };
  std::unordered_map<std::string, Use> used_;
};

}  // namespace linkwork
