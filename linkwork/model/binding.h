#pragma once

#include <string>
#include <unordered_map>

#include "linkwork/model/model.h"

namespace linkwork {

/// What the names of a spec stand for in the model that is being built of it. The tree must be there; rows, parameters and
/// sensors as far as expressions use them.
class Binding {
 public:
  /// Both must outlive it.
  Binding(const Spec& spec, const Model& model);

  const Spec& spec() const { return spec_; }
  int body(const std::string& name) const { return body_of_.at(name); }
  NodeFrame frame(const FrameSpec& spec, const Mat3<double>& axes = Mat3<double>::Identity()) const;
  /// "joint" or "joint.component", where the joint's own name may have dots (modules).
  Coordinate coordinate(const std::string& name, bool velocity, const Place& place) const;
  BoundExpression bind(const Expression& expression) const;

 private:
  Variable variable(const std::string& name, const Place& place) const;
  Variable row_variable(Variable::Kind kind, const std::string& row, const Place& place) const;
  Variable sensor_variable(const std::string& prefix, const std::string& of, const Place& place) const;

  const Spec& spec_;
  const Model& model_;
  std::unordered_map<std::string, int> body_of_;
  std::unordered_map<std::string, int> joint_of_;
};

Pose<double> frame_pose(const FrameSpec& frame);

}  // namespace linkwork
