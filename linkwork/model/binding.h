#pragma once

#include <string>
#include <unordered_map>

#include "linkwork/model/model.h"

namespace linkwork {

/// What the names of a spec stand for in the model that is being built of it. The tree must be there; rows and parameters as far
/// as expressions use them.
class Binding {
 public:
  /// Both must outlive it. Throws InputError if sensors depend on one another.
  Binding(const Spec& spec, const Model& model);

  const Spec& spec() const { return spec_; }
  int body(const std::string& name) const { return body_of_.at(name); }
  NodeFrame frame(const FrameSpec& spec, const Mat3<double>& axes = Mat3<double>::Identity()) const;
  /// "joint" or "joint.component", where the joint's own name may have dots (modules).
  Coordinate coordinate(const std::string& name, bool velocity, const Place& place) const;
  /// Recorded data and the expressions of sensors are put in where it uses them: derivatives and switch points are then those of
  /// the whole.
  BoundExpression bind(const Expression& expression) const;

 private:
  const Expression* meaning(const std::string& variable) const;
  Variable variable(const std::string& name, const Place& place) const;
  Variable block_variable(const std::string& name, const Place& place) const;
  Variable sensor_variable(const std::string& name, const Place& place) const;
  template <class T>
  static int index_of(const std::vector<T>& list, const std::string& name, const char* what, const Place& place);

  const Spec& spec_;
  const Model& model_;
  std::unordered_map<std::string, int> body_of_;
  std::unordered_map<std::string, int> joint_of_;
  std::unordered_map<std::string, int> sensor_of_;
  mutable std::unordered_map<std::string, Expression> meanings_;  // by variable
};

Pose<double> frame_pose(const FrameSpec& frame);

/// Throws InputError, with their names, if sensors need one another's values.
void check_sensor_cycles(const Spec& spec);

}  // namespace linkwork
