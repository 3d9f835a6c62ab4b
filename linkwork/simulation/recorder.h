#pragma once

#include <span>
#include <string>
#include <vector>

#include "linkwork/dynamics/equations_of_motion.h"

namespace linkwork {

/// Turns an evaluated state into a row of output columns.
class Recorder {
 public:
  explicit Recorder(const Model& model);

  const std::vector<std::string>& columns() const { return columns_; }
  /// The equations hold an evaluation of the state to record. The row lasts until the next call.
  std::span<const double> record(EquationsOfMotion& equations, double t);
  /// The last row's value of a column.
  double value(std::size_t column) const { return row_[column]; }
  const std::vector<double>& row() const { return row_; }
  void set_row(const std::vector<double>& row) { row_ = row; }

 private:
  void add_joints(EquationsOfMotion& equations);
  void add_reactions(EquationsOfMotion& equations);
  void add_sensors(const System& system);

  const Model* model_;
  std::vector<std::string> columns_;
  std::vector<double> row_;
  std::vector<double> q_, v_, a_;  // of all joints, in column order
};

}  // namespace linkwork
