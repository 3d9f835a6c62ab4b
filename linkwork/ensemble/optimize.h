#pragma once

#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "linkwork/ensemble/ensemble_model.h"
#include "linkwork/front/run.h"
#include "linkwork/spatial/vector.h"

namespace linkwork {

/// What is looked for: the parameters within bounds that make a measure least or largest, or that bring a run nearest to data.
struct OptimizeRequest {
  std::vector<std::string> over = {};  // "NAME=LOW:HIGH"
  std::string minimize = {};           // "max(s.tip)"; one of minimize, maximize and fit is given
  std::string maximize = {};
  std::string fit = {};                       // a file: comma-separated values with a column t and columns of the model
  std::vector<std::string> fit_columns = {};  // of the file, "angle=q.theta" if the model's name is another; empty: all but t
  std::string method = "auto";                // "gradient", "bobyqa", "global"
  int evaluations = 500;                      // at most
  double tolerance = 1e-6;                    // of a parameter, relative to its bounds
  int threads = 1;                            // of a fit
};

struct Optimum {
  struct Parameter {
    std::string name;
    double low, high, start, value;
    bool at_bound = false;
    double standard_error, confidence_low, confidence_high;  // of a fit; NaN: not known
  };
  struct Try {
    std::vector<double> parameters;
    double value;        // NaN: it failed
    std::string status;  // "done"
  };
  /// A column of data, beside what the model says at the start and at the end.
  struct FittedColumn {
    std::string name, column;
    double scale, rms;  // residuals are divided by the scale; rms of those at the end, in units of the column
    std::vector<double> data, before, after;
  };

  std::string model, goal, text, method;  // goal: "minimize", "maximize" or "fit"; text: the measure, or the file
  bool converged = false, interrupted = false;
  std::string status;  // "converged", or why not
  double start_value, value;
  std::vector<Parameter> parameters;
  std::vector<Try> history;
  std::vector<std::string> notes;
  // Of a fit.
  std::vector<double> times;
  std::vector<FittedColumn> columns;
  long degrees_of_freedom = 0;
  std::vector<std::vector<double>> correlations;  // of parameters; empty: not known
};

/// Throws InputError, or SimulationError if the model does not run with the values it begins with: its own, moved into the
/// bounds. `tell` hears of every evaluation.
Optimum optimize(const EnsembleModel& model, const OptimizeRequest& request, const std::function<bool()>& go_on = {},
                 const std::function<void(const Optimum& so_far)>& tell = {});
Optimum optimize(const Mechanism& mechanism, const OptimizeRequest& request, const RunOptions& options = {},
                 const std::function<bool()>& go_on = {});

/// The point of [0, 1]^n that stands for the values they begin with; and the values at such a point.
VecX<double> scaled_start(const std::vector<Optimum::Parameter>& parameters);
std::vector<double> values_at(const VecX<double>& x, const std::vector<Optimum::Parameter>& parameters);

/// optimize.json, and the data of the page.
std::string optimum_json(const Optimum& optimum);
std::string optimum_page_json(const Optimum& optimum, const std::string& command);

}  // namespace linkwork
