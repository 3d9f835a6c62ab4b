#pragma once

#include <span>
#include <string>
#include <vector>

#include "linkwork/dynamics/equations_of_motion.h"
#include "linkwork/dynamics/joint_reactions.h"

namespace linkwork {

/// Turns an evaluated state into a row of output columns.
class Recorder {
 public:
  explicit Recorder(const Model& model);

  const std::vector<std::string>& columns() const { return columns_; }
  /// The equations hold an evaluation of the state to record.
  /// `outside`: what acts on it from outside, on ports.
  void record(EquationsOfMotion& equations, double t, std::vector<double>& row, std::span<const OutsideWrench> outside = {});

 private:
  void add_joints(EquationsOfMotion& equations, std::vector<double>& row);
  void add_reactions(EquationsOfMotion& equations, std::span<const OutsideWrench> outside, std::vector<double>& row);
  void add_sensors(const System& system, std::vector<double>& row) const;

  const Model* model_;
  std::vector<std::string> columns_;
  JointReactions reactions_;
  std::vector<double> q_, v_, a_;  // of all joints, in column order
};

}  // namespace linkwork
