#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "studies/gluing/index3_pendulum.h"
#include "studies/gluing/parts.h"
#include "studies/module_run.h"

namespace linkwork::studies::gluing {
namespace {

const std::array<double, 3> kSteps{0.02, 0.01, 0.005};

/// What changes its sign from step to step, which no motion does.
std::vector<double> zigzag(const std::vector<PendulumState>& states) {
  std::vector<double> values;
  for (std::size_t i = 1; i + 1 < states.size(); ++i)
    values.push_back(std::abs(states[i + 1].lambda - 2.0 * states[i].lambda + states[i - 1].lambda) / 4.0);
  return values;
}

/// The largest of a fifth of the values.
double largest_in(const std::vector<double>& values, int fifth) {
  const auto at = [&](int k) { return values.begin() + static_cast<std::ptrdiff_t>(values.size()) * k / 5; };
  return *std::max_element(at(fifth), at(fifth + 1));
}

Series curve(const std::string& name, double step, const std::vector<double>& values, SeriesStyle style) {
  Series series{name, {}, {}, style};
  for (std::size_t i = 0; i < values.size(); i += std::max<std::size_t>(1, values.size() / 400)) {
    series.x.push_back(step * static_cast<double>(i + 1));
    series.y.push_back(std::max(values[i], 1e-16));
  }
  return series;
}

double end_error(const std::vector<PendulumState>& states, double end) {
  return (states.back().q - exact_pendulum(end).q).norm();
}

void newmark(StudyContext& context, Part& part) {
  context.progress("Newmark's method on equations of index 3");
  constexpr double kEnd = 10.0, kRho = 0.8;
  Figure figure{"What alternates in the multiplier from step to step", "t (s)", "1/s²", false, true};
  Table table{"Newmark's method and generalized-alpha on a pendulum of index 3",
              {"method", "step (s)", "alternation, first 2 s (1/s²)", "last 2 s", "error of the position at the end (m)"}};
  double least_growth = 1e300, most_growth = 0.0, least_error = 1e300, most_error = 0.0;
  for (const double step : kSteps) {
    const auto plain = newmark_pendulum(step, kEnd), damped = generalized_alpha_pendulum(kRho, step, kEnd);
    for (const auto& [name, states] :
         {std::pair{std::string("Newmark"), &plain}, {fmt::format("generalized-alpha, rho = {}", kRho), &damped}}) {
      const bool is_plain = states == &plain;
      const std::vector<double> values = zigzag(*states);
      const double first = largest_in(values, 0), last = largest_in(values, 4), error = end_error(*states, kEnd);
      if (is_plain) least_growth = std::min(least_growth, last / first), least_error = std::min(least_error, error);
      if (!is_plain) most_growth = std::max(most_growth, last / first), most_error = std::max(most_error, error);
      table.rows.push_back({name, step, first, last, error});
      figure.series.push_back(
          curve(fmt::format("{}, {} s", name, step), step, values, is_plain ? SeriesStyle::kLine : SeriesStyle::kDashed));
    }
  }
  part.tables.push_back(std::move(table));
  part.figures.push_back(std::move(figure));
  constexpr double kGrows = 10.0;
  part.claims.push_back(
      {"newmark-unstable", "Newmark's method, without dissipation, is weakly unstable at any step", "excited for any step",
       fmt::format("what alternates in the multiplier grows {:.1e} times or more within {:g} s, at each of three "
                   "steps",
                   least_growth, kEnd),
       least_growth > kGrows ? Holds::kYes : Holds::kNo, "what alternates does not grow"});
  part.claims.push_back(
      {"newmark-corrupts", "The instability destroys accelerations, and then positions", "Section 2.1",
       fmt::format("at the end positions are off by {:.1e} m or more, against {:.1e} m or less with dissipation", least_error,
                   most_error),
       least_error > kGrows * most_error ? Holds::kYes : Holds::kNo,
       "the constraint itself is met at every step, so positions are wrong only along it"});
  part.claims.push_back({"dissipation", "Dissipative methods such as generalized-alpha give stable results", "stable",
                         fmt::format("with rho = {} what alternates grows {:.2f} times or less", kRho, most_growth),
                         most_growth < kGrows ? Holds::kYes : Holds::kNo, "more dissipation is needed"});
}

/// Order of a quantity between two successive step sizes.
double order(double before, double after) { return std::log2(before / after); }

void bdf(StudyContext& context, Part& part) {
  context.progress("backward differentiation formulas on equations of index 3");
  constexpr double kTime = 0.35;
  Table table{"One step of BDF after its step was halved, from exact values: orders of the errors",
              {"k", "step (s)", "position (m)", "order", "velocity (m/s)", "order", "multiplier (1/s²)", "order"}};
  Figure figure{"Errors after one step, k = 1", "step (s)", "error", true, true};
  std::array<Series, 3> series{Series{"position (m)", {}, {}, SeriesStyle::kLinePoints},
                               Series{"velocity (m/s)", {}, {}, SeriesStyle::kLinePoints},
                               Series{"multiplier (1/s²)", {}, {}, SeriesStyle::kLinePoints}};
  double least_loss_v = 1e300, least_loss_lambda = 1e300, stagnation = 0.0;
  for (int k = 1; k <= 3; ++k) {
    std::array<double, 3> before{}, orders{};
    for (double h = 0.04; h > 0.004; h /= 2.0) {
      const PendulumState exact = exact_pendulum(kTime + 0.5 * h), step = bdf_step(k, kTime, h);
      const std::array errors{(step.q - exact.q).norm(), (step.v - exact.v).norm(), std::abs(step.lambda - exact.lambda)};
      std::vector<Cell> row{static_cast<double>(k), h};
      for (std::size_t i = 0; i < 3; ++i) {
        orders[i] = order(before[i], errors[i]);
        row.emplace_back(errors[i]);
        row.emplace_back(before[i] > 0.0 ? Cell(orders[i]) : Cell(std::string("")));
        if (k == 1) series[i].x.push_back(h), series[i].y.push_back(errors[i]);
      }
      if (k == 1 && before[2] > 0.0) stagnation = errors[2] / before[2];
      before = errors;
      table.rows.push_back(std::move(row));
    }
    least_loss_v = std::min(least_loss_v, orders[0] - orders[1]);
    least_loss_lambda = std::min(least_loss_lambda, orders[0] - orders[2]);
  }
  figure.series.assign(series.begin(), series.end());
  part.tables.push_back(std::move(table));
  part.figures.push_back(std::move(figure));
  part.claims.push_back(
      {"bdf-order", "BDF loses orders in velocities and multipliers of systems of high index", "order reduction",
       fmt::format("against the positions velocities lose {:.1f} orders or more, multipliers {:.1f}, for k = 1, "
                   "2, 3",
                   least_loss_v, least_loss_lambda),
       least_loss_v > 0.5 && least_loss_lambda > 1.5 ? Holds::kYes : Holds::kNo,
       "with constant steps the errors of successive steps cancel"});
  part.claims.push_back(
      {"bdf-control", "This makes the control of the step size break down", "Section 2.1",
       fmt::format("with k = 1 the error of the multiplier is {:.2f} times as large after the step is halved: no "
                   "step is short enough",
                   stagnation),
       stagnation > 0.9 ? Holds::kYes : Holds::kNo, "it falls with the step"});
}

void left_out(StudyContext& context, Part& part) {
  Spec spec = ready_model(context, "four_bar", 1.0);
  spec.settings.formulation = {"ggl", {}, {}};
  spec.settings.integrator = {"ida", {}, {}};
  spec.settings.rtol = 1e-6;
  spec.settings.atol = 1e-8;
  spec.settings.glue = {"none", {}, {}};
  const ModuleRun run = run_modules(spec);
  const double error = std::abs(run["q.theta"].back() - 2.8281720120366263);  // by an independent solution, tight tolerances
  part.claims.push_back(
      {"bdf-left-out", "So multipliers are left out of the error estimate, as in DASSL", "[13] of the paper",
       fmt::format(
           "ida of this program does so: the four-bar of [Khan2006] with phi = 0 and A v = u in {} steps per second, off by "
           "{:.1e} rad with rtol 1e-6",
           run.summary.steps, error),
       run.summary.completed && error < 1e-3 ? Holds::kYes : Holds::kNo, "off by more than the tolerance can explain"});
}

}  // namespace

void stiff_integration(StudyContext& context, StudyResult& result) {
  Part& part = result.add_part(
      "Section 2.1: stiff integrators on the equations of index 3",
      "Of the methods it reviews the paper says that Newmark's is weakly unstable, whatever the step, and that backward "
      "differentiation loses orders. Both are looked at on a pendulum in Cartesian coordinates, with phi = 0 as it stands, in "
      "the "
      "method's own accelerations and multipliers. (The integrators of this program are tested elsewhere; newmark takes the "
      "stabilized index 2 unless told otherwise, and all of them recompute the accelerations they write.)");
  newmark(context, part);
  bdf(context, part);
  left_out(context, part);
}

}  // namespace linkwork::studies::gluing
