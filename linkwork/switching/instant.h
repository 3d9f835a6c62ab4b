#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "linkwork/dynamics/equations_of_motion.h"
#include "linkwork/switching/event_record.h"

namespace linkwork {

constexpr int kMostRounds = 20;  // of what sets one another off at one instant

/// What everything that switches works on: the state at an instant, what is in force there, and the account of what happened.
struct Instant {
  Instant(const Model& its_model, EquationsOfMotion& its_equations, bool is_exact);

  System& system() { return equations.system(); }
  /// What is small, by the size of the mechanism: a gap that is neither open nor closed yet, a speed that is none, and what may
  /// be missing from a force by rounding. Each for a row, of lengths or of angles.
  double touching(int row) const { return 1e-9 * model.units.row[row]; }
  double still(int row) const { return 1e-9 * model.units.row[row] * usual_rate(); }
  double rounding_of_force(int row) const { return 1e-11 * std::max(usual_effort, largest_effort) / model.units.row[row]; }
  /// The largest force on any row, as it would be on this one.
  double largest_force(int row) const { return largest_effort / model.units.row[row]; }
  /// How far a row may be from closed where it comes into force.
  double fit(int row) const;
  /// 1/s: of a pendulum of the mechanism's length.
  double usual_rate() const { return model.units.rate > 0.0 ? model.units.rate : 1.0; }
  void set_rows(int first, int count, bool on);
  /// The state with the modes as they are: positions and velocities only, or with forces and accelerations.
  void take_modes();
  Status evaluate();
  void keep(EventRecord record);
  /// Unless a warning that contains `about` was given before.
  void warn_once(const std::string& about, const std::string& text);

  const Model& model;
  EquationsOfMotion& equations;
  bool exact;  // the formulation's multipliers are those of the constraints, not of springs in their place
  Modes modes;
  State* state = nullptr;  // during Switching::happen() and start()
  Derivative* rates = nullptr;
  VecX<double> lambda;          // of the state just evaluated, loads shared
  double usual_effort = 0.0;    // N m: weight and length of the mechanism
  double largest_effort = 0.0;  // ever seen of forces, each by the unit of its row
  double energy_scale = 0.0;    // largest kinetic energy seen in the step
  bool quiet = false;           // at the start, when nothing is recorded
  std::vector<EventRecord> records;
  std::vector<std::string> warnings;
};

}  // namespace linkwork
