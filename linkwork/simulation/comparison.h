#pragma once

#include <functional>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "linkwork/model/spec.h"

namespace linkwork {

/// What is to be solved: a mechanism, and how it differs from the others of the comparison ("n = 40"; empty if there is but one).
struct Problem {
  std::string label;
  Spec spec;
};

struct Tolerance {
  double rtol;
  double atol;
};

/// Lists on every axis: all combinations are run. An empty list stands for what the model's own settings choose.
struct ComparisonPlan {
  std::vector<Choice> coordinates, formulations, stabilizations, integrators;
  std::vector<double> steps;          // for integrators with fixed steps
  std::vector<Tolerance> tolerances;  // for those that control their error
  std::optional<double> every;        // time between comparisons with the reference; else chosen to suit all steps
  std::optional<Choice> reference;    // integrator of the reference; else chosen
  double reference_rtol = 1e-12;
  double most_seconds = 60.0;    // of wall time that one run may take; the reference ten times that
  double timing_seconds = 0.25;  // short runs are repeated until so much time is measured,
  int most_repeats = 7;          // or so often
};

/// The solution that the others are measured by.
struct ReferenceReport {
  std::string problem;
  std::string method;                                                 // in words
  std::string check;                                                  // in words: the second solution that it was compared with
  double estimated_error = std::numeric_limits<double>::quiet_NaN();  // largest difference between the two
  long evaluations = 0;
  double wall_seconds = 0.0;
  std::string trouble;  // why there is none; empty: there is one
};

/// One run: what it was, how well it did, and what it cost. Numbers that are not known are NaN.
struct ComparisonRow {
  enum class Outcome { kRan, kRefused, kStopped, kDiverged, kTooLong };
  static constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();

  std::string problem;
  std::string coordinates, formulation, stabilization, integrator;  // with their options
  bool adaptive = false;
  double step = kUnknown;  // with fixed steps
  double rtol = kUnknown, atol = kUnknown;

  Outcome outcome = Outcome::kRan;
  std::string reason;  // in words, if it did not run to the end

  double error = kUnknown;       // largest difference from the reference over times and joint coordinates, rad and m
  std::string error_coordinate;  // where that is
  double error_time = kUnknown;
  double position_error = kUnknown, velocity_error = kUnknown;  // of the constraints
  double energy_drift = kUnknown;
  long steps = 0, rejected_steps = 0, evaluations = 0;
  double simulated_seconds = 0.0;
  double wall_seconds = kUnknown;  // the shortest of the repeats
  int repeats = 0;

  bool ran() const { return outcome == Outcome::kRan; }
  double microseconds_per_evaluation() const {
    return evaluations > 0 ? 1e6 * wall_seconds / static_cast<double>(evaluations) : kUnknown;
  }
  /// "step 0.001" or "rtol 1e-06".
  std::string pace() const;
  /// "TA, schur, projection, rk4".
  std::string method() const;
};

/// "ran", "refused", "stopped", "diverged", "too long".
std::string_view name_of(ComparisonRow::Outcome outcome);

struct Comparison {
  std::string model;
  double end = 0.0;
  double every = 0.0;
  std::vector<ReferenceReport> references;  // one a problem
  std::vector<ComparisonRow> rows;          // by problem, then in the order of the lists, steps innermost

  bool has_references() const;
  bool any_ran() const;
};

struct ComparisonProgress {
  double done;  // of all runs, 0 to 1
  std::string what;
};

/// Runs every combination on every problem and measures it against a reference of its own making: the tightest of a few
/// solutions, of which a second one tells how good it is. A combination that cannot run is a row with the reason. Runs one after
/// another on the calling thread. Throws InputError only if a problem cannot be built at all.
Comparison compare(std::span<const Problem> problems, const ComparisonPlan& plan,
                   const std::function<void(const ComparisonProgress&)>& progress = {});

/// "baumgarte:alpha=5,beta=5".
std::string written(const Choice& choice);

}  // namespace linkwork
