#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "studies/closed_chain/parts.h"
#include "studies/closed_chain/runs.h"

namespace linkwork::studies::closed_chain {
namespace {

/// A row of the paper's Table 1; NaN where it prints "incomplete".
struct Published {
  int coordinates, constraints;
  double constraint_error, fidelity_error, time;
};

constexpr double kIncomplete = std::numeric_limits<double>::quiet_NaN();
constexpr std::array<Published, 8> kPublished{{{24, 0, 1.3069e-31, 0.00563109, 1.0000},
                                               {24, 0, 3.7367e-15, 0.00563108, 1.7296},
                                               {36, 12, 5.2351e-13, 0.00563094, 1.6007},
                                               {36, 12, 1.3466e-13, 0.00563121, 1.6362},
                                               {36, 12, 5.2175e-13, 0.00999659, 1.5907},
                                               {186, 162, 2.4183e-09, 0.02183112, 59.4236},
                                               {186, 162, 5.7032e-11, 0.01082618, 59.4648},
                                               {186, 162, kIncomplete, kIncomplete, kIncomplete}}};

const std::vector<std::string> kPoints{"front", "hub1", "hub6"};

/// The eight methods at one step size.
struct Comparison {
  std::vector<Run> runs;
  std::vector<double> fidelity;  // distance of the points from the reference, m
  std::vector<double> time;      // normalized to the first

  bool completed(std::size_t k) const { return runs[k].completed; }
  bool all_completed() const {
    return std::ranges::all_of(runs, [](const Run& run) { return run.completed; });
  }
};

/// Methods in turn, several times over, each with the least time it took.
Comparison compare(StudyContext& context, const Span& span, int rounds) {
  Comparison comparison;
  const Run reference = reference_run(context, "rover", span.end, span.every);
  for (int round = 0; round < rounds; ++round)
    for (std::size_t k = 0; k < methods().size(); ++k) {
      context.progress(fmt::format("rover, {} of {}: {}", round + 1, rounds, methods()[k].name));
      Run next = run(context, "rover", methods()[k], span);
      if (round == 0)
        comparison.runs.push_back(std::move(next));
      else
        comparison.runs[k].seconds = std::min(comparison.runs[k].seconds, next.seconds);
    }
  for (const Run& run : comparison.runs) {
    comparison.fidelity.push_back(run.completed ? point_distance(run, reference, kPoints) : kIncomplete);
    comparison.time.push_back(run.seconds / comparison.runs[0].seconds);
  }
  return comparison;
}

Cell cell(double value) { return std::isfinite(value) ? Cell(value) : Cell("incomplete"); }

Table table_1(const Comparison& measured) {
  Table table{"Table 1, measured beside published",
              {"method", "tree coordinates", "constraints", "constraint error (m)", "published", "fidelity error (m)",
               "published", "normalized time", "published"}};
  for (std::size_t k = 0; k < methods().size(); ++k) {
    const Run& run = measured.runs[k];
    table.rows.push_back({methods()[k].name, static_cast<double>(run.coordinates), static_cast<double>(run.constraints),
                          cell(run.mean_error), cell(kPublished[k].constraint_error), cell(measured.fidelity[k]),
                          cell(kPublished[k].fidelity_error), cell(measured.time[k]), cell(kPublished[k].time)});
  }
  table.caption =
      "Constraint error: mean over the rows of output of the largest violation of any constraint. Fidelity error: root mean "
      "square of the "
      "distance of three points of the vehicle from where a run with a tolerance of 1e-12 has them. Time: processor time, least "
      "of several "
      "runs. The paper does not say which norms it uses; its errors are compared by their order among the methods.";
  return table;
}

Figure figure_5(const Comparison& measured) {
  Figure figure{"Height of three points of the vehicle", "t (s)", "z - z(0) (m)", false, false, {}, ""};
  figure.caption = "CE, and TA and FA without error control, drawn over one another (Fig. 5).";
  for (const std::string& point : kPoints)
    for (const std::size_t k : {std::size_t{0}, std::size_t{2}, std::size_t{5}}) {
      if (!measured.completed(k)) continue;
      std::vector<double> z = column(measured.runs[k], "p." + point + ".z");
      const double start = z.front();
      for (double& value : z) value -= start;
      figure.series.push_back({point + ", " + methods()[k].name, column(measured.runs[k], "t"), std::move(z),
                               k == 0 ? SeriesStyle::kLine : SeriesStyle::kDashed});
    }
  return figure;
}

Holds verdict(bool yes) { return yes ? Holds::kYes : Holds::kNo; }

/// Least and largest of the values from first to last, where there are any.
std::string range_of(const std::vector<double>& values, std::size_t first, std::size_t last) {
  std::vector<double> finite;
  for (std::size_t k = first; k < last; ++k)
    if (std::isfinite(values[k])) finite.push_back(values[k]);
  if (finite.empty()) return "none";
  const auto [low, high] = std::ranges::minmax_element(finite);
  return fmt::format("{:.3g} to {:.3g}", *low, *high);
}

void judge_runs(const Comparison& m, Part& part) {
  std::map<std::string, std::vector<std::string>> troubles;
  for (std::size_t k = 0; k < methods().size(); ++k)
    if (!m.completed(k)) troubles[m.runs[k].trouble].push_back(methods()[k].name);
  part.claims.push_back(
      {"all-complete", "Seven of eight variants complete; FA with projection does not (Table 1)",
       "FA with projection: incomplete",
       troubles.empty() ? "all eight complete, FA with projection included" : "not completed: " + listed(troubles),
       troubles.empty() ? Holds::kPartly : Holds::kNo,
       troubles.empty() ? "here the projection does not fail; nothing in the method demands that it should"
                        : "see the reasons given"});
  part.claims.push_back(
      {"sizes",
       "The rover has 24 independent coordinates, 36 of the tree with 12 constraints, 186 of free bodies with 162 constraints",
       "24 and 0; 36 and 12; 186 and 162",
       fmt::format("{} and {}; {} and {}; {} and {}", m.runs[0].coordinates, m.runs[0].constraints, m.runs[2].coordinates,
                   m.runs[2].constraints, m.runs[5].coordinates, m.runs[5].constraints),
       verdict(m.runs[2].coordinates == kPublished[2].coordinates && m.runs[2].constraints == kPublished[2].constraints &&
               m.runs[5].coordinates == kPublished[5].coordinates && m.runs[5].constraints == kPublished[5].constraints &&
               m.runs[0].coordinates == kPublished[0].coordinates && m.runs[0].constraints == kPublished[0].constraints),
       "the model is built to these counts"});
}

void judge_errors(const Comparison& m, Part& part) {
  const double ce = std::max(m.runs[0].largest_error, m.runs[1].largest_error);
  part.claims.push_back(
      {"ce-constraint-error", "CE keeps the constraints to rounding without error control", "1.3e-31 and 3.7e-15",
       fmt::format("largest violations {:.1e} m (analytic) and {:.1e} m (numeric)", m.runs[0].largest_error,
                   m.runs[1].largest_error),
       verdict(ce < 1e-13),
       "positions of a vehicle of some metres are known to about 1e-16 m; 1e-31 must be a square or a sum that vanishes"});
  part.claims.push_back({"fa-constraint-error", "Without error control FA violates its constraints far more than TA does",
                         "2.4e-9 against 5.2e-13",
                         fmt::format("{:.1e} m against {:.1e} m", m.runs[5].mean_error, m.runs[2].mean_error),
                         verdict(m.runs[5].mean_error > 10.0 * m.runs[2].mean_error),
                         "both drift with the errors of the integrator; FA in 162 rows"});
  part.claims.push_back(
      {"fidelity", "CE, TA and TA with Baumgarte's method have the same fidelity error; FA's is two to four times larger",
       "0.0056; FA 0.011 and 0.022",
       fmt::format("CE and TA {} m; FA {} m", range_of(m.fidelity, 0, 5), range_of(m.fidelity, 5, 8)),
       verdict(m.fidelity[5] > 1.5 * m.fidelity[0] && m.fidelity[5] < 8.0 * m.fidelity[0]),
       "the errors depend on how stiff and fast the vehicle is, of which the paper prints nothing; absolute coordinates "
       "integrate rotations of bodies where joint coordinates integrate angles, so that factors differ"});
}

void judge_times(const Comparison& m, Part& part) {
  const auto& t = m.time;
  part.claims.push_back({"ce-fastest", "CE with analytic loops is the fastest of all", "1 against 1.59 and more",
                         fmt::format("the others take {} times as long", range_of(t, 1, t.size())),
                         verdict(*std::min_element(t.begin() + 1, t.end()) > 1.0),
                         "TA here eliminates each loop where it closes, which leaves CE little to save"});
  const bool told_apart = m.runs[0].rows != m.runs[1].rows;  // solutions by formula and by iteration differ in the last digits
  part.claims.push_back({"ce-numeric-time", "Solving the loops by iteration costs 1.73 times the analytic solution", "1.73",
                         told_apart ? fmt::format("{:.2f}", t[1]) : "both runs are the same to the last bit",
                         verdict(told_apart && t[1] > 1.05 && t[1] < 2.5),
                         told_apart ? "a warm start needs few iterations" : "the loops were solved in the same way in both"});
  part.claims.push_back({"ta-time", "TA takes 1.6 times as long as CE", "1.59 to 1.64", range_of(t, 2, 5),
                         t[2] > 1.2 && t[2] < 2.2 ? Holds::kYes : (t[2] > 1.0 ? Holds::kPartly : Holds::kNo),
                         "see above; the paper's TA solves one dense system for all loops together"});
  part.claims.push_back(
      {"fa-time", "FA takes about 59 times as long as CE", "59.4", range_of(t, 5, 8), verdict(t[5] > 30.0 && t[5] < 120.0),
       "a factorization that is sparse and ordered along the mechanism makes FA far cheaper than the paper's; it remains "
       "the slowest"});
}

}  // namespace

void rover(StudyContext& context, StudyResult& result) {
  const Span span{context.quick ? 0.3 : 3.0, 1e-3, 0.01};
  Part& part =
      result.add_part("Table 1 and Figure 5: a rover on six wishbone suspensions",
                      fmt::format("The vehicle of the paper, as far as it is described: 31 bodies, a free chassis and six "
                                  "suspensions with a planar four-bar each, "
                                  "springs, gravity, and sinusoidal forces on the wheels that are out of phase. Masses, "
                                  "dimensions, springs and forces are ours "
                                  "(`models/rover.toml`). {:g} s with steps of 1 ms of the fourth-order Runge-Kutta method.",
                                  span.end));
  const Comparison measured = compare(context, span, context.quick ? 1 : 5);
  part.tables.push_back(table_1(measured));
  part.figures.push_back(figure_5(measured));
  double apart = 0.0;
  for (std::size_t k = 1; k < methods().size(); ++k)
    if (measured.completed(k) && measured.completed(0))
      apart = std::max(apart, point_distance(measured.runs[k], measured.runs[0], kPoints));
  part.claims.push_back({"rover-agrees", "The trajectories of all methods agree (Fig. 5)", "indistinguishable in the plot",
                         fmt::format("points of the vehicle are at most {:.1e} m apart (root mean square)", apart),
                         verdict(measured.all_completed() && apart < 1e-4), "only methods that completed can be compared"});
  judge_runs(measured, part);
  judge_errors(measured, part);
  judge_times(measured, part);
}

void rover_steps(StudyContext& context, StudyResult& result) {
  const double end = context.quick ? 0.1 : 1.0;
  const std::vector<double> steps = context.quick ? std::vector{2e-3, 1e-3} : std::vector{2e-3, 1e-3, 0.25e-3, 0.1e-3, 0.04e-3};
  Part& part = result.add_part(
      "Figure 6: error against time",
      fmt::format("The same for {:g} s with steps of 2 ms and less, down to {:g} ms. Smaller steps are further to "
                  "the right.",
                  end, 1e3 * steps.back()));
  const Run reference = reference_run(context, "rover", end, 0.02);
  Figure constraint{"Constraint error against time", "processor time (s)", "mean constraint error (m)", true, true, {}, ""};
  Figure fidelity{"Fidelity error against time", "processor time (s)", "fidelity error (m)", true, true, {}, ""};
  Table table{"Errors and times by step", {"method", "step (ms)", "time (s)", "constraint error (m)", "fidelity error (m)"}};
  std::vector<Series> by_method;
  for (const Method& method : methods()) {
    Series errors{method.name, {}, {}, SeriesStyle::kLinePoints}, faults = errors;
    for (double step : steps) {
      context.progress(fmt::format("rover, steps of {:g} ms: {}", 1e3 * step, method.name));
      const Run one = run(context, "rover", method, {end, step, 0.02});
      const double distance = one.completed ? point_distance(one, reference, kPoints) : kIncomplete;
      table.rows.push_back({method.name, 1e3 * step, cell(one.seconds), cell(one.mean_error), cell(distance)});
      if (!one.completed) continue;
      errors.x.push_back(one.seconds), errors.y.push_back(std::max(one.mean_error, 1e-18));
      faults.x.push_back(one.seconds), faults.y.push_back(distance);
    }
    by_method.push_back(faults);
    constraint.series.push_back(std::move(errors));
    fidelity.series.push_back(std::move(faults));
  }
  const auto grows_slower =
      std::ranges::all_of(by_method, [](const Series& s) { return std::ranges::is_sorted(s.x) && !s.x.empty(); });
  part.claims.push_back(
      {"steps-cost", "Smaller steps cost more and reduce the errors, with all methods", "Fig. 6",
       fmt::format("time grows with every smaller step: {}; from the largest to the smallest step the fidelity error of CE "
                   "falls from {:.1e} m to {:.1e} m",
                   grows_slower ? "yes" : "not always", by_method[0].y.empty() ? kIncomplete : by_method[0].y.front(),
                   by_method[0].y.empty() ? kIncomplete : by_method[0].y.back()),
       verdict(grows_slower && by_method[0].y.back() < by_method[0].y.front()),
       "at the smallest steps the errors are those of rounding and of the reference"});
  constraint.caption = "Values of 0 are drawn at 1e-18.";
  part.tables.push_back(std::move(table));
  part.figures.push_back(std::move(constraint));
  part.figures.push_back(std::move(fidelity));
}

}  // namespace linkwork::studies::closed_chain
