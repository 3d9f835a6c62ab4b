#include "linkwork/ensemble/model_fit.h"

#include <fmt/format.h>

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <limits>

#include "linkwork/ensemble/least_squares.h"
#include "linkwork/ensemble/no_value.h"
#include "linkwork/ensemble/run_measure.h"
#include "linkwork/ensemble/statistics.h"
#include "linkwork/ensemble/work_sharing.h"
#include "linkwork/io/data_file.h"
#include "linkwork/io/input_file.h"
#include "linkwork/simulation/simulation_error.h"

namespace linkwork {
namespace {

double rms_of(const std::vector<double>& a, const std::vector<double>& b) {
  double sum = 0.0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += (a[i] - b[i]) * (a[i] - b[i]);
  return std::sqrt(sum / static_cast<double>(a.size()));
}

/// Columns of different kinds are made comparable by the spread of their data.
double scale_of(const std::vector<double>& data) {
  double mean = 0.0, squares = 0.0;
  for (const double value : data) mean += value / static_cast<double>(data.size());
  for (const double value : data) squares += (value - mean) * (value - mean);
  const double spread = std::sqrt(squares / static_cast<double>(data.size()));
  return spread > 1e-12 * std::abs(mean) && spread > 0.0 ? spread : 1.0;
}

class ModelFit {
 public:
  ModelFit(const EnsembleModel& model, const OptimizeRequest& request, Optimum& optimum, const std::function<bool()>& go_on,
           const std::function<void(const Optimum&)>& tell)
      : model_(model), request_(request), optimum_(optimum), go_on_(go_on), tell_(tell) {
    optimum.text = request.fit;
    optimum.method = "Levenberg-Marquardt";
    for (const Optimum::Parameter& each : optimum.parameters) names_.push_back(each.name);
    read_data();
  }

  void run() {
    const VecX<double> x = scaled_start(optimum_.parameters);
    const int per_iteration = 2 * static_cast<int>(x.size()) + 1;
    LeastSquaresOptions options{.tolerance = request_.tolerance, .iterations = std::max(1, request_.evaluations / per_iteration)};
    options.go_on = [this](const VecX<double>&, double) { return !go_on_ || go_on_(); };
    const Residuals residuals = [this](const std::vector<VecX<double>>& points) { return at(points); };
    const LeastSquares found = least_squares(residuals, x, options);
    using End = LeastSquares::End;
    optimum_.interrupted = stopped_ || found.end == End::kStopped;
    if (optimum_.interrupted && found.residuals.size() == 0) {
      optimum_.status = kInterrupted;
      return;
    }
    if (found.end == End::kNoStart) throw SimulationError("the model does not run as it is: " + optimum_.history.front().status);
    optimum_.converged = found.end == End::kConverged && !optimum_.interrupted;
    optimum_.status = optimum_.interrupted               ? kInterrupted
                      : found.end == End::kConverged     ? "converged"
                      : found.end == End::kNoDerivatives ? "stopped where runs close by fail"
                                                         : fmt::format("stopped after {} iterations", found.iterations);
    optimum_.start_value = optimum_.history.front().value;
    optimum_.value = rms(found.residuals);
    for (std::size_t k = 0; k < names_.size(); ++k) {
      Optimum::Parameter& each = optimum_.parameters[k];
      each.value = values_at(found.x)[k];
      each.at_bound = found.at_bound[k] != 0;
    }
    keep_curves(x, found.x);
    if (found.jacobian.rows() == found.residuals.size()) find_confidence(found);
  }

 private:
  static double rms(const VecX<double>& residuals) {
    return std::sqrt(residuals.squaredNorm() / static_cast<double>(residuals.size()));
  }

  void read_data() {
    constexpr std::size_t kLargest = 1U << 30U;
    const std::string text = read_input_file(request_.fit, "a file with data", kLargest);
    std::vector<std::pair<std::string, std::string>> wanted;  // column of the file, and of the model
    for (const std::string& each : request_.fit_columns) {
      const std::size_t equals = each.find('=');
      wanted.emplace_back(each.substr(0, equals), equals == each.npos ? each : each.substr(equals + 1));
    }
    const Place place{"--fit " + request_.fit, 0, 0};
    if (wanted.empty())
      for (const std::string& name : data_column_names(text, request_.fit))
        if (name != "t") wanted.emplace_back(name, name);
    if (wanted.empty()) throw InputError(place, "there is no column beside t", "columns of the model, such as q.JOINT");
    const std::vector<std::string> known = model_.columns();
    for (const auto& [name, column] : wanted) {
      if (std::ranges::find(known, column) == known.end())
        throw unknown_name(request_.fit_columns.empty() ? place : Place{"--fit-columns", 0, 0}, "column of the model", column,
                           known);
      DataColumns data = read_columns(text, request_.fit, {"t", place}, {name, place});
      optimum_.times = std::move(data.x);
      optimum_.columns.push_back({.name = name,
                                  .column = column,
                                  .scale = scale_of(data.y),
                                  .rms = kNoValue,
                                  .data = std::move(data.y),
                                  .before = {},
                                  .after = {}});
      columns_.push_back(column);
    }
    if (optimum_.times.front() < 0.0)
      throw InputError(place, fmt::format("the data begin at t = {} s", optimum_.times.front()),
                       "times from 0, where runs begin");
    if (optimum_.times.back() <= 0.0) throw InputError(place, "the data end at t = 0 s", "later times");
    const std::size_t numbers = optimum_.times.size() * columns_.size();
    if (numbers < names_.size())
      throw InputError(place, fmt::format("{} numbers do not determine {} parameters", numbers, names_.size()), "more data");
  }

  std::vector<double> values_at(const VecX<double>& x) const { return linkwork::values_at(x, optimum_.parameters); }

  /// What the model says at the times of the data, column by column. Throws SimulationError or InputError.
  std::vector<std::vector<double>> simulate(const std::vector<double>& values, const std::function<bool()>& go_on) const {
    Spec spec = model_.read(names_, values);
    spec.settings.end = optimum_.times.back();
    spec.settings.output_every = 2.0 * spec.settings.end;  // rows are asked for below
    spec.settings.columns = columns_;
    Run run{Mechanism(std::move(spec))};
    run.on_step(go_on);
    const std::vector<std::size_t> places = places_of(columns_, run.columns());
    std::vector<std::vector<double>> made(columns_.size());
    for (const double t : optimum_.times) {
      const bool goes_on = run.advance_to(t);
      if (!goes_on && (run.was_interrupted() || run.t() < t))
        throw SimulationError(run.was_interrupted()
                                  ? std::string(kInterrupted)
                                  : fmt::format("an event ends the run at t = {:.6g} s, before the data end", run.t()));
      const std::vector<double> row = run.row();
      for (std::size_t c = 0; c < places.size(); ++c) made[c].push_back(row[places[c]]);
    }
    return made;
  }

  VecX<double> residuals_of(const std::vector<std::vector<double>>& simulated) const {
    const std::size_t rows = optimum_.times.size();
    VecX<double> residuals(static_cast<Eigen::Index>(rows * columns_.size()));
    Eigen::Index at = 0;
    for (std::size_t c = 0; c < columns_.size(); ++c)
      for (std::size_t i = 0; i < rows; ++i)
        residuals[at++] = (simulated[c][i] - optimum_.columns[c].data[i]) / optimum_.columns[c].scale;
    return residuals;
  }

  /// Several points at a time, on the threads that are to be used.
  std::vector<std::optional<VecX<double>>> at(const std::vector<VecX<double>>& points) {
    std::vector<std::optional<VecX<double>>> residuals(points.size());
    std::vector<std::string> statuses(points.size());
    SharedWork work{.end = std::ssize(points), .threads = std::min(request_.threads, static_cast<int>(points.size()))};
    work.work = [&](long task, const std::function<bool()>& goes_on) {
      const auto i = static_cast<std::size_t>(task);
      try {
        residuals[i] = residuals_of(simulate(values_at(points[i]), goes_on));
        statuses[i] = residuals[i]->allFinite() ? "done" : "numbers are not finite";
        if (!residuals[i]->allFinite()) residuals[i].reset();
      } catch (const std::runtime_error& error) {
        statuses[i] = error.what();
      }
      return std::string();
    };
    work.take = [](long, const std::string&) {};
    work.go_on = go_on_;
    stopped_ = !share_work(work, nullptr) || stopped_;
    if (stopped_) return std::vector<std::optional<VecX<double>>>(points.size());
    for (std::size_t i = 0; i < points.size(); ++i) {
      optimum_.history.push_back({values_at(points[i]), residuals[i] ? rms(*residuals[i]) : kNoValue, statuses[i]});
      if (tell_) tell_(optimum_);
    }
    return residuals;
  }

  void keep_curves(const VecX<double>& start, const VecX<double>& end) {
    const std::function<bool()> on = [] { return true; };
    const auto before = simulate(values_at(start), on), after = simulate(values_at(end), on);
    for (std::size_t c = 0; c < columns_.size(); ++c) {
      Optimum::FittedColumn& column = optimum_.columns[c];
      column.before = before[c], column.after = after[c];
      column.rms = rms_of(column.after, column.data);
    }
  }

  /// Of those that are not at a bound, as if the residuals were independent and alike: covariance s^2 (J' J)^-1.
  void find_confidence(const LeastSquares& found) {
    std::vector<Eigen::Index> moving;
    for (std::size_t k = 0; k < names_.size(); ++k)
      if (!found.at_bound[k]) moving.push_back(static_cast<Eigen::Index>(k));
    optimum_.degrees_of_freedom = found.residuals.size() - std::ssize(moving);
    if (moving.empty() || optimum_.degrees_of_freedom < 1) return;
    MatX<double> J(found.jacobian.rows(), std::ssize(moving));
    for (Eigen::Index k = 0; k < std::ssize(moving); ++k) J.col(k) = found.jacobian.col(moving[static_cast<std::size_t>(k)]);
    const Eigen::JacobiSVD<MatX<double>> svd(J, Eigen::ComputeThinV);
    const VecX<double> sizes = svd.singularValues();
    constexpr double kLost = 1e-7;  // differences are good to that
    if (!(sizes[sizes.size() - 1] > kLost * sizes[0])) {
      std::vector<std::string> together;
      for (Eigen::Index k = 0; k < std::ssize(moving); ++k)
        if (std::abs(svd.matrixV()(k, sizes.size() - 1)) > 0.1)
          together.push_back(names_[static_cast<std::size_t>(moving[static_cast<std::size_t>(k)])]);
      optimum_.notes.push_back(fmt::format("the data do not determine {}{}", listed(together),
                                           together.size() > 1 ? ": other values of them together fit as well" : ""));
      return;
    }
    const double variance = found.cost() / static_cast<double>(optimum_.degrees_of_freedom);
    const MatX<double> covariance =
        variance * svd.matrixV() * sizes.cwiseAbs2().cwiseInverse().asDiagonal() * svd.matrixV().transpose();
    const double reach = student_quantile(0.975, static_cast<double>(optimum_.degrees_of_freedom));
    optimum_.correlations.assign(names_.size(), std::vector<double>(names_.size(), kNoValue));
    for (Eigen::Index i = 0; i < std::ssize(moving); ++i) {
      const auto k = static_cast<std::size_t>(moving[static_cast<std::size_t>(i)]);
      Optimum::Parameter& each = optimum_.parameters[k];
      each.standard_error = std::sqrt(covariance(i, i)) * (each.high - each.low);
      each.confidence_low = each.value - reach * each.standard_error;
      each.confidence_high = each.value + reach * each.standard_error;
      for (Eigen::Index j = 0; j < std::ssize(moving); ++j)
        optimum_.correlations[k][static_cast<std::size_t>(moving[static_cast<std::size_t>(j)])] =
            covariance(i, j) / std::sqrt(covariance(i, i) * covariance(j, j));
    }
  }

  const EnsembleModel& model_;
  const OptimizeRequest& request_;
  Optimum& optimum_;
  const std::function<bool()>& go_on_;
  const std::function<void(const Optimum&)>& tell_;
  std::vector<std::string> names_, columns_;
  bool stopped_ = false;
};

}  // namespace

void fit_model(const EnsembleModel& model, const OptimizeRequest& request, Optimum& optimum, const std::function<bool()>& go_on,
               const std::function<void(const Optimum&)>& tell) {
  ModelFit(model, request, optimum, go_on, tell).run();
}

}  // namespace linkwork
