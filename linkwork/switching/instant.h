#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "linkwork/dynamics/equations_of_motion.h"
#include "linkwork/switching/event_record.h"

namespace linkwork {

constexpr double kTouching = 1e-9;  // m, rad: a contact that is neither open nor closed yet
constexpr double kStill = 1e-9;     // m/s, rad/s
constexpr int kMostRounds = 20;     // of what sets one another off at one instant

/// What everything that switches works on: the state at an instant, what is in force there, and the account of what happened.
struct Instant {
  Instant(const Model& its_model, EquationsOfMotion& its_equations, bool is_exact);

  System& system() { return equations.system(); }
  /// What may be missing from a force by rounding.
  double rounding_of_forces() const { return 1e-11 * std::max(1.0, largest_force); }
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
  VecX<double> lambda;         // of the state just evaluated, loads shared
  double largest_force = 0.0;  // ever seen
  double energy_scale = 0.0;   // largest kinetic energy seen in the step
  bool quiet = false;          // at the start, when nothing is recorded
  std::vector<EventRecord> records;
  std::vector<std::string> warnings;
};

}  // namespace linkwork
