#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "linkwork/switching/event_record.h"

namespace linkwork {

/// What a run of modules joined by a glue says of it: the traffic between its ranks, and the four attributes of a good glue,
/// [Tseng2001].
struct GlueSummary {
  int modules = 0;
  std::vector<int> modules_of_rank;
  double messages_per_step = 0.0;         // collective exchanges of a rank
  double bytes_per_step = 0.0;            // that a rank sends and receives in them
  double waiting_seconds_per_step = 0.0;  // in them, the mean of all ranks
  double sticky = 0.0;                    // the largest error of the joints between modules, position
  double sticky_velocity = 0.0;           // and velocity
  std::string green;                      // what a module had to expose
  int numbers_exposed = 0;                // by all modules together in an evaluation
  double inexpensive = 0.0;               // time in the glue / time in the modules
  double pretty = 0.0;                    // largest relative difference of accelerations from those in one piece
  int most_iterations = 0;                // of glues that iterate, in a step or window
  double mean_iterations = 0.0;
  std::vector<int> iterations;  // step by step, the first of them
};

/// How a run kept pace with the clock on the wall.
struct RealTimeSummary {
  struct Bin {
    double below = 0.0;  // s; the last one has no bound
    long steps = 0;
  };

  double factor = 1.0;         // simulated seconds a second
  long steps = 0;              // that were paced
  long overruns = 0;           // of them, those that were not computed by their time
  double lateness_max = 0.0;   // s, by which the end of a step was later than its time; overruns or waking up late
  double lateness_mean = 0.0;  // s
  double busy = 0.0;           // share of the time that was not spent waiting
  std::vector<Bin> jitter;     // steps by lateness
};

/// The status of a run that was told to stop.
inline constexpr const char* kInterrupted = "interrupted";

/// What a run was and how it went.
struct Summary {
  std::string model;
  std::string coordinates = "TA";
  std::string formulation, stabilization, integrator;
  std::string glue = "none";
  int ranks = 1;
  int threads = 1;
  std::string status = "done";  // "done", kInterrupted, or the reason why it stopped
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
  std::vector<std::string> not_unique;  // columns of reactions that rigid bodies do not determine
  std::vector<EventRecord> events;
  std::vector<std::pair<std::string, double>> final_state;  // "q.theta", value
  std::vector<std::string> warnings;
  std::optional<GlueSummary> modules;  // unless the model was solved as one
  std::optional<RealTimeSummary> realtime;
  std::vector<std::string> notes;  // informative: cut joints, what auto chose, what assembly moved
};

}  // namespace linkwork
