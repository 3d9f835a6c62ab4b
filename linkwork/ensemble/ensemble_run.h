#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "linkwork/ensemble/ensemble_model.h"
#include "linkwork/ensemble/run_measure.h"

namespace linkwork {

/// What every run of an ensemble is asked for.
struct EnsembleQuestion {
  std::vector<std::string> parameters;
  std::vector<RunMeasure> measures;
  std::vector<std::string> kept;  // columns
  bool trajectories = false;      // as files have them
};

/// How one run went.
struct EnsembleRun {
  bool done = false;
  bool interrupted = false;
  std::string status;  // "done", "done, ended at ... by event ...", or why it is not
  std::vector<double> measures;
  double constraint_error, energy_drift;  // NaN: it did not begin
  std::vector<double> kept;               // row by row: t, then the columns
  std::string trajectory, summary, scene;
};

/// As bytes, for other processes on machines of the same kind.
std::string packed(const std::vector<EnsembleRun>& runs);
std::vector<EnsembleRun> unpacked(std::string_view bytes);

/// Whether a status is that of a run that came to its end.
inline bool is_done(std::string_view status) { return status == "done" || status.starts_with("done, "); }

/// Runs the model with these values, as 'linkwork run --set' would. What cannot be run is an answer, too: nothing is thrown but
/// for programming errors.
EnsembleRun run_once(const EnsembleModel& model, const EnsembleQuestion& question, const std::vector<double>& values,
                     const std::function<bool()>& go_on);

/// The same several times, where it can be in lanes (LaneGroup). What becomes of a run does not depend on the others.
std::vector<EnsembleRun> run_together(const EnsembleModel& model, const EnsembleQuestion& question,
                                      const std::vector<std::vector<double>>& values, const std::function<bool()>& go_on);
/// Why its runs are not computed in lanes, in words, if they are not; as the model is, with its own values of parameters.
std::string obstacle_to_lanes(const EnsembleModel& model);

}  // namespace linkwork
