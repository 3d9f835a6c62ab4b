#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "linkwork/ensemble/ensemble_run.h"
#include "linkwork/ensemble/parameter_plan.h"
#include "linkwork/front/run.h"

namespace linkwork {

class Mailbox;

/// Which runs of a model are wanted, and what is to be known of each.
struct SweepRequest {
  std::vector<std::string> grids = {};    // "NAME=FROM:TO:COUNT"
  std::vector<std::string> samples = {};  // "NAME=normal(m,s)", "NAME=uniform(a,b)", "NAME=lognormal(m,s)"
  std::string sampling = "random";        // "sobol", "latin"
  long runs = 0;                          // samples at each point of the grid
  std::uint64_t seed = 1;
  std::vector<std::string> measures = {};  // "tip=max(s.tip)"
  std::vector<std::string> keep = {};      // columns of every run: groups, names, patterns
  bool trajectories = false;               // whole runs, as files
  bool lanes = true;  // where they can be, runs are computed several at a time, which rounds otherwise than a run alone
  int threads = 1;
};

/// A run of a sweep.
struct SweepRow {
  long number = 1;  // from 1
  std::vector<double> parameters;
  EnsembleRun run;
};

/// Many runs of one model with other parameters. Throws InputError for everything that can be known before the first of them.
class Sweep {
 public:
  Sweep(EnsembleModel model, SweepRequest request);

  const EnsembleModel& model() const { return model_; }
  const SweepRequest& request() const { return request_; }
  const ParameterPlan& plan() const { return plan_; }
  const std::vector<RunMeasure>& measures() const { return question_.measures; }
  const std::vector<std::string>& kept() const { return question_.kept; }
  long runs() const { return plan_.runs(); }
  /// Two sweeps of the same fingerprint have the same results.
  std::uint64_t fingerprint(const std::string& settings) const;

  /// Why its runs are not computed several at a time, in words, if they are not.
  std::string obstacle_to_lanes() const;

  /// Does the runs from the `first`, counted from 0, and gives them in order, on the calling thread of the first rank. False: it
  /// was interrupted.
  bool run(long first, const std::function<void(SweepRow row)>& take, const std::function<bool()>& go_on = {},
           Mailbox* ranks = nullptr) const;

 private:
  EnsembleModel model_;
  SweepRequest request_;
  ParameterPlan plan_;
  EnsembleQuestion question_;
};

/// All rows of a sweep, in memory.
struct SweepResults {
  std::vector<std::string> parameters, measures, kept;  // names
  std::vector<SweepRow> rows;
  bool completed = false;  // else it was interrupted
};
/// Runs a model many times with other parameters, and keeps all rows in memory. Throws InputError for a request that cannot be
/// met.
SweepResults sweep(const Mechanism& mechanism, const SweepRequest& request, const RunOptions& options = {},
                   const std::function<bool()>& go_on = {});

}  // namespace linkwork
