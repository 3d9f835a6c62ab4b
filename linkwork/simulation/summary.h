#pragma once

#include <string>
#include <utility>
#include <vector>

namespace linkwork {

/// Something that happened at an instant of a run.
struct EventRecord {
  double t = 0.0;
  std::string name;                                           // of the event, contact or friction
  std::string what;                                           // "on latch", "closes", "slides"
  double velocity_jump = 0.0;                                 // largest change of a velocity coordinate
  std::vector<std::pair<std::string, double>> impulses = {};  // by row or joint: "latch.x", N s
  double energy = 0.0;                                        // what the energy changed by
  int dof = 0;                                                // degrees of freedom from then on
};

/// What a run was and how it went.
struct Summary {
  std::string model;
  std::string coordinates = "TA";
  std::string formulation, stabilization, integrator;
  std::string glue = "none";
  int ranks = 1;
  int threads = 1;
  std::string status = "done";  // "done", or the reason why it stopped
  bool completed = false;
  long steps = 0;
  long rejected_steps = 0;
  long evaluations = 0;
  double wall_seconds = 0.0;
  double simulated_seconds = 0.0;
  double position_error_max = 0.0;
  double velocity_error_max = 0.0;
  /// Largest difference between the energy and what the work done accounts for, relative to the largest energy exchanged.
  double energy_drift = 0.0;
  int dof = 0;
  int rows = 0;  // of constraints, in the coordinates it ran in
  int rank = 0;
  std::vector<std::string> redundant;
  std::vector<EventRecord> events;
  std::vector<std::pair<std::string, double>> final_state;  // "q.theta", value
  std::vector<std::string> warnings;
  std::vector<std::string> notes;  // informative: cut joints, what auto chose, what assembly moved
};

}  // namespace linkwork
