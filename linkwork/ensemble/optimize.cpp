#include "linkwork/ensemble/optimize.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "linkwork/analysis/sensitivity.h"
#include "linkwork/ensemble/ensemble_run.h"
#include "linkwork/ensemble/minimizer.h"
#include "linkwork/ensemble/model_fit.h"
#include "linkwork/ensemble/no_value.h"
#include "linkwork/ensemble/parameter_plan.h"
#include "linkwork/simulation/simulation_error.h"

namespace linkwork {
namespace {

constexpr const char* kOverForm = "NAME=LOW:HIGH, as in mass=1:2";

Optimum::Parameter parse_bounds(const std::string& text, const EnsembleModel& model) {
  const auto [name, rest] = parse_named(text, "--over", kOverForm);
  const Place place{"--over " + text, 0, 0};
  const std::size_t colon = rest.find(':');
  if (colon == rest.npos || rest.find(':', colon + 1) != rest.npos)
    throw InputError(place, fmt::format("'{}' is no range", rest), kOverForm);
  Optimum::Parameter made{.name = name,
                          .low = parse_plan_number(rest.substr(0, colon), place, "LOW"),
                          .high = parse_plan_number(rest.substr(colon + 1), place, "HIGH"),
                          .start = 0.0,
                          .value = 0.0,
                          .standard_error = kNoValue,
                          .confidence_low = kNoValue,
                          .confidence_high = kNoValue};
  if (!(made.low < made.high) || !std::isfinite(made.high - made.low))
    throw InputError(place, fmt::format("{} is not below {}", made.low, made.high), kOverForm);
  model.check_parameter(name, "--over " + name);
  made.start = made.value = std::clamp(model.parameters().at(name), made.low, made.high);
  return made;
}

void check_request(const OptimizeRequest& request) {
  const int goals = (request.minimize.empty() ? 0 : 1) + (request.maximize.empty() ? 0 : 1) + (request.fit.empty() ? 0 : 1);
  if (goals != 1)
    throw InputError({}, goals == 0 ? "there is nothing to optimize" : "only one thing can be optimized at a time",
                     "one of --minimize MEASURE, --maximize MEASURE and --fit FILE.csv");
  if (request.over.empty()) throw InputError({"--over", 0, 0}, "there is nothing to change", kOverForm);
  if (request.evaluations < 1)
    throw InputError({"--evaluations", 0, 0}, fmt::format("is {}", request.evaluations), "a number above 0");
  if (!(request.tolerance > 0.0) || !std::isfinite(request.tolerance))
    throw InputError({"--tolerance", 0, 0}, fmt::format("is {}", request.tolerance), "a number above 0");
  const std::vector<std::string> methods{"auto", "gradient", "bobyqa", "global"};
  if (std::ranges::find(methods, request.method) == methods.end())
    throw unknown_name({"--method", 0, 0}, "method", request.method, methods);
  if (!request.fit.empty() && request.method != "auto")
    throw InputError({"--method", 0, 0}, "a fit has its own, that of Levenberg and Marquardt", "no --method");
  if (request.fit.empty() && !request.fit_columns.empty())
    throw InputError({"--fit-columns", 0, 0}, "there is no file", "--fit FILE.csv");
}

/// A measure of a run as a function of parameters, scaled to [0, 1].
class MeasureGoal {
 public:
  MeasureGoal(const EnsembleModel& model, const OptimizeRequest& request, Optimum& optimum, const std::function<bool()>& go_on,
              const std::function<void(const Optimum&)>& tell)
      : model_(model),
        request_(request),
        optimum_(optimum),
        go_on_(go_on),
        tell_(tell),
        sign_(request.maximize.empty() ? 1 : -1) {
    const std::string& text = sign_ > 0 ? request.minimize : request.maximize;
    question_.measures.emplace_back(text, model.columns(), sign_ > 0 ? "--minimize" : "--maximize");
    for (const Optimum::Parameter& each : optimum.parameters) question_.parameters.push_back(each.name);
    optimum_.text = question_.measures.front().text();
  }

  void run() {
    VecX<double> x = scaled_start(optimum_.parameters);
    const double first = value_at(x);
    if (stopped()) {
      optimum_.interrupted = true, optimum_.status = kInterrupted;
      return;
    }
    if (std::isnan(first)) throw SimulationError("the model does not run as it is: " + optimum_.history.front().status);
    optimum_.start_value = sign_ * first;
    best_ = worst_ = first, best_x_ = x;
    if (request_.method == "global") {
      optimum_.method = "DIRECT-L, then ";
      minimize(Minimizer::kDirect, plain(), x, options(request_.evaluations / 2));
      x = best_x_;
    }
    bool converged = false;
    if (!stopped() && uses_gradient(x)) {
      optimum_.method += "SLSQP with sensitivities";
      converged = minimize(Minimizer::kGradient, with_gradient(), x, options(left()));
    } else if (!stopped()) {
      optimum_.method += x.size() > 1 ? "BOBYQA" : "COBYLA";
      converged = minimize(Minimizer::kBobyqa, plain(), x, options(left()));
    }
    optimum_.interrupted = stopped();
    optimum_.converged = converged && !optimum_.interrupted;
    optimum_.status = optimum_.interrupted ? kInterrupted
                      : converged          ? "converged"
                                           : fmt::format("stopped after {} evaluations", optimum_.history.size());
    optimum_.value = sign_ * best_;
    constexpr double kRounding = 1e-9;
    for (double& at : best_x_) at = at <= kRounding ? 0.0 : at >= 1.0 - kRounding ? 1.0 : at;
    const std::vector<double> values = values_at(best_x_);
    for (std::size_t k = 0; k < values.size(); ++k) {
      Optimum::Parameter& each = optimum_.parameters[k];
      each.value = values[k];
      each.at_bound = values[k] == each.low || values[k] == each.high;
    }
    if (failed_ > 0) optimum_.notes.push_back(fmt::format("{} of {} runs failed", failed_, optimum_.history.size()));
  }

 private:
  bool stopped() const { return go_on_ && !go_on_(); }
  int left() const { return std::max(1, request_.evaluations - static_cast<int>(optimum_.history.size())); }
  MinimizerOptions options(int evaluations) const { return {request_.tolerance, evaluations, go_on_}; }

  std::vector<double> values_at(const VecX<double>& x) const { return linkwork::values_at(x, optimum_.parameters); }

  void note(Optimum::Try tried, const VecX<double>& x) {
    const double value = sign_ * tried.value;
    if (std::isnan(value)) ++failed_;
    if (value < best_) best_ = value, best_x_ = x;
    if (value > worst_) worst_ = value;
    optimum_.history.push_back(std::move(tried));
    if (tell_) tell_(optimum_);
  }

  /// To be made small; NaN if the run fails.
  double value_at(const VecX<double>& x) {
    const std::vector<double> values = values_at(x);
    const EnsembleRun run = run_once(
        model_, question_, values, go_on_ ? go_on_ : [] { return true; });
    if (run.interrupted) return kNoValue;
    Optimum::Try tried{values, run.measures.front(), run.status};
    if (run.done && !std::isfinite(tried.value)) tried.value = kNoValue, tried.status = "the measure has no value";
    note(tried, x);
    return sign_ * tried.value;
  }

  /// Runs that fail are worse than any that did not.
  double bad() const { return worst_ + (std::abs(worst_) + 1.0) * 0.5; }

  Objective plain() {
    return [this](const VecX<double>& x, VecX<double>*) {
      const double value = value_at(x);
      return std::isnan(value) ? bad() : value;
    };
  }

  Sensitivities sensitivities(const VecX<double>& x) {
    const std::vector<double> values = values_at(x);
    std::map<std::string, double> known;
    for (std::size_t k = 0; k < values.size(); ++k) known[question_.parameters[k]] = values[k];
    const auto remake = [&](const std::string& name, double value) {
      std::vector<double> changed = values;
      changed[static_cast<std::size_t>(std::ranges::find(question_.parameters, name) - question_.parameters.begin())] = value;
      return model_.read(question_.parameters, changed);
    };
    return find_sensitivities(model_.read(question_.parameters, values), {gradient_of_}, question_.parameters, {}, "auto", known,
                              remake, go_on_);
  }

  /// Whether the library knows the derivatives of this measure.
  bool uses_gradient(const VecX<double>& x) {
    if (request_.method == "bobyqa") return false;
    using Kind = RunMeasure::Kind;
    Kind kind = Kind::kFinal;
    std::string column, why = "derivatives are known of final, max, min and integral of one column";
    if (question_.measures.front().is_plain(kind, column) && kind != Kind::kMean && kind != Kind::kRms && kind != Kind::kFirst) {
      gradient_of_ = fmt::format("{}({})", RunMeasure::word(kind), column);
      try {
        sensitivities(x);
        return true;
      } catch (const InputError& error) {
        why = error.message();
      } catch (const SimulationError& error) {
        why = error.what();
      }
    }
    if (request_.method == "gradient") throw InputError({"--method", 0, 0}, "there is no gradient: " + why, "bobyqa");
    optimum_.notes.push_back("without derivatives: " + why);
    return false;
  }

  Objective with_gradient() {
    return [this](const VecX<double>& x, VecX<double>* gradient) {
      Optimum::Try tried{values_at(x), kNoValue, "done"};
      try {
        const Sensitivities found = sensitivities(x);
        tried.value = found.measures.front().value;
        for (std::size_t k = 0; gradient != nullptr && k < optimum_.parameters.size(); ++k) {
          const Optimum::Parameter& each = optimum_.parameters[k];
          (*gradient)[static_cast<Eigen::Index>(k)] =
              sign_ * found.measures.front().derivatives[k].second * (each.high - each.low);
        }
      } catch (const std::runtime_error& error) {
        tried.status = error.what();
        if (gradient != nullptr) gradient->setZero();
      }
      note(tried, x);
      return std::isnan(tried.value) ? bad() : sign_ * tried.value;
    };
  }

  const EnsembleModel& model_;
  const OptimizeRequest& request_;
  Optimum& optimum_;
  const std::function<bool()>& go_on_;
  const std::function<void(const Optimum&)>& tell_;
  EnsembleQuestion question_;
  double sign_, best_ = std::numeric_limits<double>::infinity(), worst_ = -std::numeric_limits<double>::infinity();
  VecX<double> best_x_;
  std::string gradient_of_;  // the measure as sensitivities have it
  long failed_ = 0;
};

}  // namespace

VecX<double> scaled_start(const std::vector<Optimum::Parameter>& parameters) {
  VecX<double> x(std::ssize(parameters));
  for (std::size_t k = 0; k < parameters.size(); ++k) {
    const Optimum::Parameter& each = parameters[k];
    x[static_cast<Eigen::Index>(k)] = std::clamp((each.start - each.low) / (each.high - each.low), 0.0, 1.0);
  }
  return x;
}

std::vector<double> values_at(const VecX<double>& x, const std::vector<Optimum::Parameter>& parameters) {
  std::vector<double> values;
  for (std::size_t k = 0; k < parameters.size(); ++k) {
    const Optimum::Parameter& each = parameters[k];
    const double at = x[static_cast<Eigen::Index>(k)];
    values.push_back(at <= 0.0 ? each.low : at >= 1.0 ? each.high : each.low + at * (each.high - each.low));
  }
  return values;
}

Optimum optimize(const EnsembleModel& model, const OptimizeRequest& request, const std::function<bool()>& go_on,
                 const std::function<void(const Optimum& so_far)>& tell) {
  check_request(request);
  Optimum optimum;
  optimum.model = model.spec().name;
  optimum.goal = !request.fit.empty() ? "fit" : request.maximize.empty() ? "minimize" : "maximize";
  optimum.start_value = optimum.value = kNoValue;
  for (const std::string& text : request.over) {
    Optimum::Parameter made = parse_bounds(text, model);
    if (std::ranges::find(optimum.parameters, made.name, &Optimum::Parameter::name) != optimum.parameters.end())
      throw InputError({"--over", 0, 0}, fmt::format("the parameter '{}' is given twice", made.name), "each of them once");
    optimum.parameters.push_back(std::move(made));
  }
  if (request.fit.empty())
    MeasureGoal(model, request, optimum, go_on, tell).run();
  else
    fit_model(model, request, optimum, go_on, tell);
  return optimum;
}

Optimum optimize(const Mechanism& mechanism, const OptimizeRequest& request, const RunOptions& options,
                 const std::function<bool()>& go_on) {
  return optimize(EnsembleModel(mechanism, [&](Settings& settings) { apply(options, settings); }), request, go_on);
}

}  // namespace linkwork
