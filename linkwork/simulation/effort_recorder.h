#pragma once

#include <vector>

#include "linkwork/dynamics/equations_of_motion.h"
#include "linkwork/simulation/columns.h"

namespace linkwork {

/// Columns of what acts on a mechanism beside its constraints: "effort." and "load." of forces and of the joints' own stiffness,
/// damping and friction, and "power.": the work that each of them, every drive and every dry friction does on the mechanism in
/// unit time. The sum of all powers is the rate of kinetic energy and potential energy of gravity together.
class EffortRecorder {
 public:
  explicit EffortRecorder(const Model& model);

  const std::vector<Column>& columns() const { return columns_; }
  /// At an evaluated state; as many numbers are appended as there are columns.
  void append(EquationsOfMotion& equations, std::vector<double>& row);

 private:
  /// A closure that does work: rows that are driven, dry friction, or both.
  struct Worker {
    std::string name;
    std::vector<int> rows;
    std::vector<std::size_t> frictions;
  };
  void add_custom_columns(const CustomForce& force, const std::string& on);
  void add_joints();
  void add_workers();

  const Model& model_;
  std::vector<Column> columns_;
  std::vector<std::size_t> joints_;  // with laws of their own
  std::vector<Worker> workers_;
  std::vector<double> powers_;
};

/// The unit of a joint's coordinate, and that of what acts along it.
std::string position_unit(const Joint& joint, std::size_t component);
std::string velocity_unit(const Joint& joint, std::size_t component);
std::string effort_unit(const Joint& joint, std::size_t component);

}  // namespace linkwork
