#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "studies/catalog.h"
#include "studies/module_run.h"

namespace linkwork::studies {
namespace {

/// The paper's run: Runge-Kutta of second order, steps of 0.01 s, 10 s. Its stabilization goes on until nothing is left.
Spec ring(const StudyContext& context, const std::string& model, const std::string& glue) {
  Spec spec = ready_model(context, model, context.quick ? 2.0 : 10.0);
  spec.settings.integrator = {"rk2", {}, {}};
  spec.settings.step = spec.settings.output_every = 0.01;
  spec.settings.constraint_tolerance = 1e-13;
  spec.settings.coordinates = {"TA", {}, {}};
  spec.settings.glue = {glue, {}, {}};
  return spec;
}

constexpr double kPublishedDrift = 5e-15;  // m

double largest(const std::vector<double>& values) { return *std::ranges::max_element(values); }
double smallest(const std::vector<double>& values) { return *std::ranges::min_element(values); }

double largest_difference(const std::vector<double>& a, const std::vector<double>& b) {
  double difference = 0.0;
  for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i) difference = std::max(difference, std::abs(a[i] - b[i]));
  return difference;
}

StudyResult run_hierarchical(StudyContext& context) {
  StudyResult result;
  context.progress("the ring as four modules, as two groups of two, and in one piece");
  const ModuleRun four = run_modules(ring(context, "ring_modules", "hierarchical"), context.quick ? 1 : 2);
  const ModuleRun two = run_modules(ring(context, "ring_groups", "hierarchical"), context.quick ? 1 : 2);
  const ModuleRun whole = run_modules(ring(context, "ring_modules", "none"));
  const double end = four.rows.back()[0];

  Part& motion = result.add_part("Section 4: a ring of four bars",
                                 "Four bars of 1 m and 1 kg, hinged to a ring that hangs on one corner, start at rest as a "
                                 "square under gravity. Every bar is a "
                                 "subsystem that moves by itself; its joints are eliminated group by group, and what drift is "
                                 "left after each step is removed with "
                                 "the Jacobian of the whole. Runge-Kutta of second order, steps of 0.01 s, as published. The "
                                 "ring passes positions in which all bars "
                                 "are in one line, where it loses a constraint.");
  Figure angles{"Fig. 3: the angles of the bars", "t (s)", "angle (rad)"};
  Table table{"The ring at the end", {"bar", "angle of the bar (rad), four modules", "two groups of two", "difference"}};
  for (int i = 1; i <= 4; ++i) {
    const std::string group = i <= 2 ? "lower" : "upper", member = i % 2 == 1 ? "first" : "second";
    const std::vector<double> a = four[fmt::format("q.bar{}.place.angle", i)],
                              b = two[fmt::format("q.{}.{}.place.angle", group, member)];
    angles.series.push_back({fmt::format("bar {}", i), four["t"], a});
    table.rows.push_back({fmt::format("{}", i), a.back(), b.back(), std::abs(a.back() - b.back())});
  }
  motion.figures.push_back(angles);
  motion.tables.push_back(table);
  const bool oscillates = largest(four["q.bar1.place.angle"]) - smallest(four["q.bar1.place.angle"]) < 2 * std::numbers::pi;
  motion.claims.push_back({"oscillation", "The motion of the system is an oscillation", "Fig. 3 shows angles that swing",
                           fmt::format("over {:g} s bar 1 moves between {:.2f} and {:.2f} rad", end,
                                       smallest(four["q.bar1.place.angle"]), largest(four["q.bar1.place.angle"])),
                           oscillates ? Holds::kYes : Holds::kNo,
                           "the figure of the support is lost; the ring hangs on its corner here"});
  motion.claims.push_back({"freedom", "The system has four degrees of freedom: the angles of the bars", "4",
                           fmt::format("{}", four.summary.dof), four.summary.dof == 4 ? Holds::kYes : Holds::kNo,
                           "the four angles are its coordinates; the loop of two rows leaves two of them free"});

  Part& drift = result.add_part(
      "Section 4: the drift of the joints",
      "The largest error of a joint after each step. One correction that starts within the error of a step brings "
      "it to rounding, since Newton's method converges quadratically.");
  Figure figure{"Fig. 4: largest error in the joints", "t (s)", "error (m)", false, true};
  figure.series.push_back({"four modules", four["t"], four["error.position"]});
  figure.series.push_back({"two groups of two", two["t"], two["error.position"], SeriesStyle::kDashed});
  drift.figures.push_back(figure);
  const double error = std::max(largest(four["error.position"]), largest(two["error.position"]));
  drift.claims.push_back({"drift", "The stabilization limits the drift", "5e-15 m",
                          fmt::format("{:.1e} m in the whole run", error),
                          error < 10.0 * kPublishedDrift ? Holds::kYes : Holds::kNo,  // the same order
                          "the level is that of rounding: how far the corners are from the origin decides about the last digit"});

  Part& exact = result.add_part(
      "Section 2: exact, in any grouping",
      "The forces between subsystems are found without approximation, so the result cannot depend on how bars are "
      "grouped, nor differ from that of the system in one piece. The blocks of D between ports, which the paper's eq. "
      "4 to 6 leave out, are kept.");
  const double grouping = std::max(largest_difference(four["q.bar1.place.angle"], two["q.lower.first.place.angle"]),
                                   largest_difference(four["q.bar4.place.angle"], two["q.upper.second.place.angle"]));
  const double pieces = std::max(largest_difference(four["q.bar1.place.angle"], whole["q.bar1.place.angle"]),
                                 largest_difference(four["q.bar4.place.angle"], whole["q.bar4.place.angle"]));
  exact.claims.push_back({"grouping", "Subsystems can be put together in any hierarchy", "the method is exact",
                          fmt::format("angles differ by at most {:.1e} rad between the two groupings", grouping),
                          grouping < 1e-6 ? Holds::kYes : Holds::kNo, "rounding grows where the ring is straight"});
  exact.claims.push_back(
      {"one-piece", "The distributed computation is that of the whole system", "the method is exact",
       fmt::format("angles differ by at most {:.1e} rad from those in one piece", pieces),
       pieces < 1e-6 ? Holds::kYes : Holds::kNo,
       "where the ring is nearly straight a run in one piece projects the stages of a step onto the constraints, modules "
       "only the steps: the integrator errs differently there, and the difference grows"});
  return result;
}

}  // namespace

Study hierarchical_study() {
  return {{"hierarchical", "Distributed forward dynamics by a hierarchy of subsystems",
           "a ring of four bars as four modules and as two groups of two: motion, drift, exactness", "Kasper",
           "R. Kasper, D. Vlasenko: Method for distributed forward dynamic simulations of constrained mechanical systems"},
          run_hierarchical};
}

}  // namespace linkwork::studies
