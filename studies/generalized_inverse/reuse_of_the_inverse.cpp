#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <vector>

#include "studies/generalized_inverse/counted.h"
#include "studies/generalized_inverse/methods.h"
#include "studies/generalized_inverse/moving_system.h"
#include "studies/generalized_inverse/parts.h"
#include "studies/generalized_inverse/random_problem.h"

namespace linkwork::studies::generalized_inverse {
namespace {

constexpr double kStep = 1e-3;
constexpr int kEvery = 5;          // "once every five time steps"
constexpr double kFigure48 = 0.2;  // seconds that figure 4.8 shows

struct Variant {
  std::string name;
  Compensation compensation;
};

const std::array<Variant, 4>& variants() {
  static const std::array<Variant, 4> all{{{"no compensation", Compensation::kNone},
                                           {"Baumgarte (BS)", Compensation::kBaumgarte},
                                           {"projection (P), weight 1", Compensation::kProjection},
                                           {"projection (P), weight M", Compensation::kMassProjection}}};
  return all;
}

/// Largest difference of a coordinate until a time, relative to how far the coordinate gets until then.
double difference(const Motion& motion, const Motion& exact, Index coordinate, double until) {
  double worst = 0.0, size = 0.0;
  for (std::size_t i = 0; i < exact.t.size() && exact.t[i] <= until + 1e-9; ++i) {
    worst = std::max(worst, std::abs(motion.q[i](coordinate) - exact.q[i](coordinate)));
    size = std::max(size, std::abs(exact.q[i](coordinate) - exact.q[0](coordinate)));
  }
  return worst / size;
}

Series curve(const std::string& name, const Motion& motion, SeriesStyle style, const auto& value) {
  Series series{name, {}, {}, style};
  for (std::size_t i = 0; i < motion.t.size(); i += 10) {
    series.x.push_back(motion.t[i]);
    series.y.push_back(value(motion.q[i], motion.v[i]));
  }
  return series;
}

struct Runs {
  std::unique_ptr<MovingSystem> system;
  Motion exact;
  std::array<Motion, 4> reused;  // by variant
};

Runs run(std::unique_ptr<MovingSystem> system, double end) {
  Runs runs{std::move(system), {}, {}};
  runs.exact = simulated(*runs.system, {}, kStep, end);
  for (std::size_t k = 0; k < variants().size(); ++k)
    runs.reused[k] = simulated(*runs.system, {kEvery, variants()[k].compensation}, kStep, end);
  return runs;
}

/// Differences over the number of steps that share an inverse.
Series error_over_age(const std::string& name, const MovingSystem& system, Compensation compensation, Index coordinate,
                      double until) {
  Series series{name, {}, {}, SeriesStyle::kLinePoints};
  const Motion exact = simulated(system, {}, kStep, until);
  for (const int every : {2, 3, 5, 10, 20, 40}) {
    series.x.push_back(every);
    series.y.push_back(difference(simulated(system, {every, compensation}, kStep, until), exact, coordinate, until));
  }
  return series;
}

/// The exponent p of error ~ age^p, between 5 and 20 steps.
double exponent(const Series& series) { return std::log(series.y[4] / series.y[2]) / std::log(series.x[4] / series.x[2]); }

/// Of a claim with two sides.
Holds verdict_of_two(bool one, bool other) { return one && other ? Holds::kYes : one || other ? Holds::kPartly : Holds::kNo; }

// Table 4.5 -------------------------------------------------------------------------------------------------------------------

/// What one evaluation costs when S = A M^-1 A' or A1 and T are those of an earlier step. M itself is new.
double counted(bool gigsp, bool project, bool with_mass, Index n, Index m) {
  const Problem<double> plain = RandomProblems(9).make(n, m);
  const Problem<Counted> problem = converted<Counted>(plain);
  const MassFactor<Counted> old_mass(problem);
  const MatrixOf<Counted> old_rows = old_mass.weighted(problem.A);
  const MatrixOf<Counted> old_factor = *cholesky(symmetric_product(old_rows, old_rows));
  const Orthonormal<Counted> old = orthonormalized<Counted>(old_rows, problem.b);
  const MatrixOf<Counted> old_T = converted<Counted>(RandomProblems(10).make(m, m)).A;  // any: costs do not depend on values

  const long before = Counted::operations();
  const MassFactor<Counted> mass(problem);
  VectorOf<Counted> free = problem.f;
  mass.solve(free.data());
  Answer<Counted> answer;
  if (gigsp) {
    answer = from_multipliers(mass, old.A1, free, missing(old.A1, free, times(old_T, problem.b)));
  } else {
    VectorOf<Counted> a = free;
    mass.solve_transposed(a.data());
    VectorOf<Counted> lambda = missing(problem.A, a, problem.b);
    solve_lower(old_factor, lambda.data());
    solve_lower_transposed(old_factor, lambda.data());
    VectorOf<Counted> pull = transposed_times(problem.A, lambda);
    mass.solve(pull.data());
    for (Index k = 0; k < n; ++k) free(k) += pull(k);
    mass.solve_transposed(free.data());
    answer.a = free;
  }
  if (project) {
    const MatrixOf<Counted> D = with_mass ? mass.weighted(problem.A) : problem.A;
    const MatrixOf<Counted> L = *cholesky(symmetric_product(D, D));
    VectorOf<Counted> lambda = missing(problem.A, answer.a, problem.b);
    solve_lower(L, lambda.data());
    solve_lower_transposed(L, lambda.data());
    VectorOf<Counted> pull = transposed_times(D, lambda);
    if (with_mass) mass.solve_transposed(pull.data());
    for (Index k = 0; k < n; ++k) answer.a(k) += pull(k);
  }
  return static_cast<double>(Counted::operations() - before);
}

void costs(Part& part, Index n, Index m) {
  const auto cube = static_cast<double>(n * n * n), nm2 = static_cast<double>(n * m * m), m3 = static_cast<double>(m * m * m);
  struct Line {
    const char* name;
    const char* formula;
    double predicted;
    bool gigsp, project, with_mass;
  };
  const std::array lines{Line{"LM & BS", "n³/3", cube / 3, false, false, false},
                         Line{"GIGSP & BS", "n³/3", cube / 3, true, false, false},
                         Line{"LM & P", "n³/3 + nm² + m³/3", cube / 3 + nm2 + m3 / 3, false, true, false},
                         Line{"GIGSP & P", "n³/3 + nm² + m³/3", cube / 3 + nm2 + m3 / 3, true, true, false},
                         Line{"GIGSP & P, weight M", "not given", std::nan(""), true, true, true}};
  Table table{fmt::format("Operations of one evaluation with an old inverse (table 4.5), n = {}, m = {}", n, m),
              {"method", "published", "predicted", "counted", "counted / predicted"}};
  double low = 1e300, high = 0.0, mass_cost = 0.0;
  for (const Line& line : lines) {
    const double count = counted(line.gigsp, line.project, line.with_mass, n, m), ratio = count / line.predicted;
    table.rows.push_back({line.name, line.formula, line.predicted, count, ratio});
    mass_cost = count;
    if (std::isnan(ratio)) continue;
    low = std::min(low, ratio);
    high = std::max(high, ratio);
  }
  table.caption =
      "The fractions are illegible in the scan except for a 3; nm² is legible. Terms n² and nm are counted, not predicted.";
  part.tables.push_back(std::move(table));
  const double fresh = [&] {
    const Problem<Counted> problem = converted<Counted>(RandomProblems(9).make(n, m));
    const long before = Counted::operations();
    solved(Method::kGramSchmidt, problem);
    return static_cast<double>(Counted::operations() - before);
  }();
  part.claims.push_back({"reuse-costs", "Operation counts with an old inverse (table 4.5)",
                         "n³/3 with BS, n³/3 + nm² + m³/3 with P",
                         fmt::format("{:.2f} to {:.2f} times the formulas at n = {}, m = {}", low, high, n, m),
                         low > 0.8 && high < 1.3 ? Holds::kYes : Holds::kNo, "terms of lower order in n"});
  part.claims.push_back(
      {"reuse-saves", "An old inverse saves operations over GIGSP anew", "n³/3 against n³/3 + n²m + 2nm²",
       fmt::format("BS {:.1f} times, P with weight 1 {:.1f} times, P with weight M {:.1f} times fewer",
                   fresh / counted(true, false, false, n, m), fresh / counted(true, true, false, n, m), fresh / mass_cost),
       verdict_of_two(fresh > 1.5 * mass_cost, fresh > 1.5 * counted(true, true, false, n, m)),
       "the published cost of P is that of the unit weight; with the weight M, which alone is right in principle, n²m comes back "
       "and little is saved"});
}

// ------------------------------------------------------------------------------------------------------------------------------

void holonomic(Part& part, const Runs& runs, double end) {
  Table table{"Crank, rod and rolling disc: difference from an inverse at every evaluation",
              {"compensation", fmt::format("crank angle, first {:.1f} s", kFigure48), fmt::format("crank angle, {:.0f} s", end),
               "loop error (m)", "energy gained"}};
  std::array<double, 4> early{}, late{};
  const double start = runs.system->energy(runs.exact.q[0], runs.exact.v[0]);
  for (std::size_t k = 0; k < variants().size(); ++k) {
    const Motion& motion = runs.reused[k];
    early[k] = difference(motion, runs.exact, 0, kFigure48);
    late[k] = difference(motion, runs.exact, 0, end);
    const double gained = runs.system->energy(motion.q.back(), motion.v.back()) / start - 1.0;
    table.rows.push_back({variants()[k].name, early[k], late[k], motion.position_error, gained});
  }
  table.caption =
      "Differences relative to how far the crank gets; energy relative to that at the start, which the exact motion keeps.";
  part.tables.push_back(std::move(table));
  part.claims.push_back(
      {"reuse-holonomic", "With holonomic constraints an old inverse, compensated, makes no difference (mechanism of fig. 4.7)",
       "\"no difference between exact and compensated computations\"",
       fmt::format(
           "difference {:.1e} (BS) and {:.1e} (P) within the {:.1f} s that fig. 4.8 shows, {:.1e} and {:.1e} within {:.0f} s",
           early[1], early[2], kFigure48, late[1], late[2], end),
       std::max(late[1], late[2]) < kVisible ? Holds::kYes : Holds::kNo,
       "the loops stay closed, so nothing looks wrong, but forces along the rows of an earlier instant do work: the mechanism "
       "gains "
       "or loses energy in proportion to the age of the inverse"});
  part.claims.push_back(
      {"reuse-projection-better", "Projection performs slightly better than Baumgarte's method (holonomic)",
       "\"slightly better\"",
       fmt::format("difference in the crank angle within {:.0f} s: P {:.2e}, BS {:.2e}; loop error: P {:.1e} m, BS {:.1e} m", end,
                   late[2], late[1], runs.reused[2].position_error, runs.reused[1].position_error),
       verdict_of_two(late[2] < late[1], runs.reused[2].position_error < runs.reused[1].position_error),
       "loops are closed far better; the motion along them differs little"});
  const auto angle = [](const VectorOf<double>& q, const VectorOf<double>&) { return q(0); };
  const auto energy = [&](const VectorOf<double>& q, const VectorOf<double>& v) { return runs.system->energy(q, v); };
  Figure angles{"Crank angle with an inverse reused over five steps", "time (s)", "crank angle (rad)"};
  Figure energies{"Energy of the same runs", "time (s)", "energy (J)"};
  angles.series.push_back(curve("exact", runs.exact, SeriesStyle::kLine, angle));
  energies.series.push_back(curve("exact", runs.exact, SeriesStyle::kLine, energy));
  for (std::size_t k = 0; k < variants().size(); ++k) {
    angles.series.push_back(curve(variants()[k].name, runs.reused[k], SeriesStyle::kDashed, angle));
    energies.series.push_back(curve(variants()[k].name, runs.reused[k], SeriesStyle::kDashed, energy));
  }
  energies.caption = "Nothing drives or brakes the mechanism: the energy should not change.";
  part.figures.push_back(std::move(angles));
  part.figures.push_back(std::move(energies));
}

void nonholonomic(Part& part, const Runs& runs, double end) {
  Table table{"Friction drive: difference from an inverse at every evaluation",
              {"compensation", "driver angle", "disc angle", "distance x", "rolling error (m/s)"}};
  std::array<double, 4> worst{};
  for (std::size_t k = 0; k < variants().size(); ++k) {
    const Motion& motion = runs.reused[k];
    std::vector<Cell> row{variants()[k].name};
    for (Index coordinate = 0; coordinate < 3; ++coordinate) {
      const double error = difference(motion, runs.exact, coordinate, end);
      worst[k] = std::max(worst[k], error);
      row.emplace_back(error);
    }
    row.emplace_back(motion.velocity_error);
    table.rows.push_back(std::move(row));
  }
  part.tables.push_back(std::move(table));
  const double rolling = std::max(runs.reused[1].velocity_error, runs.reused[2].velocity_error);
  part.claims.push_back({"reuse-nonholonomic-constraint", "The nonholonomic constraint stays well satisfied (fig. 4.17)",
                         "well satisfied",
                         fmt::format("rolling error at most {:.1e} m/s with BS, {:.1e} m/s with P", runs.reused[1].velocity_error,
                                     runs.reused[2].velocity_error),
                         rolling < 1e-2 ? Holds::kYes : Holds::kNo});
  const double error = std::max(worst[1], worst[2]);
  part.claims.push_back(
      {"reuse-nonholonomic", "With nonholonomic constraints the motion is wrong (figs. 4.18, 4.19)", "\"significant errors\"",
       fmt::format("largest relative difference of a coordinate within {:.0f} s: BS {:.1e}, P {:.1e}", end, worst[1], worst[2]),
       error > kVisible ? Holds::kYes : Holds::kNo,
       "there is an error, of first order in the age of the inverse, but its size is a matter of how fast the rows turn. The "
       "driver's "
       "own data are not printed; with those chosen here it is small"});
}

void ages(Part& part, const MovingSystem& disc, const MovingSystem& drive, double until) {
  Figure figure{"Difference over the age of the inverse", "steps of 1 ms that share an inverse", "largest relative difference",
                true, true};
  figure.series.push_back(error_over_age("holonomic, BS", disc, Compensation::kBaumgarte, 0, until));
  figure.series.push_back(error_over_age("holonomic, P", disc, Compensation::kProjection, 0, until));
  figure.series.push_back(error_over_age("nonholonomic, BS", drive, Compensation::kBaumgarte, 0, until));
  figure.series.push_back(error_over_age("nonholonomic, P", drive, Compensation::kProjection, 0, until));
  figure.caption = fmt::format("Crank angle and driver angle within {:.1f} s. All lines have slope 1.", until);
  std::array<double, 4> exponents{};
  for (std::size_t k = 0; k < 4; ++k) exponents[k] = exponent(figure.series[k]);
  const bool first_order = std::all_of(exponents.begin(), exponents.end(), [](double p) { return std::abs(p - 1.0) < 0.25; });
  part.claims.push_back(
      {"reuse-cause", "It is nonholonomic constraints that forbid reuse",
       "\"seem not applicable … when nonholonomic constraints are present\"",
       fmt::format("error grows with the age of the inverse to the power {:.2f}, {:.2f} (holonomic, BS and P) and {:.2f}, {:.2f} "
                   "(nonholonomic); holonomic error is {:.1g} times the nonholonomic one at five steps",
                   exponents[0], exponents[1], exponents[2], exponents[3], figure.series[1].y[2] / figure.series[3].y[2]),
       first_order ? Holds::kNo : Holds::kYes,
       "reuse is a first-order approximation in both cases; feedback and projection hide it in the constraints, not in the "
       "motion"});
  part.figures.push_back(std::move(figure));
}

}  // namespace

void reuse_of_the_inverse(StudyContext& context, StudyResult& result) {
  const double end = context.quick ? 1.0 : 3.0, until = context.quick ? 0.2 : 0.5;
  context.progress("table 4.5, figures 4.16 to 4.19: generalized inverses reused over five steps");
  const Runs disc = run(crank_rod_disc(), end), drive = run(friction_drive(), end);
  Part& part = result.add_part(
      "Table 4.5, figures 4.16 to 4.19: reuse of the inverse",
      "To save operations a generalized inverse is kept for five time steps, and what is then wrong is compensated by "
      "Baumgarte's "
      "feedback (BS) or by a projection at the level of accelerations (P). The thesis reports that this works for the mechanism "
      "of "
      "its figure 4.7 (holonomic) and not for a constant speed driver (nonholonomic).\n\n"
      "Neither system's data are printed. Here: a crank of 1 m, a rod of 2 m and a rolling disc, 1 kg each, released at 60°; and "
      "a "
      "friction drive whose pinion of radius 0.1 m runs at a distance x from the axis of a disc, x held by a spring and moved by "
      "the disc's speed: ρ φ̇1 = x φ̇2. Runge-Kutta of order 4, steps of 1 ms, feedback gains 5 1/s.");
  holonomic(part, disc, end);
  nonholonomic(part, drive, end);
  const auto speed = [](const VectorOf<double>&, const VectorOf<double>& v) { return v(0); };
  Figure speeds{"Speed of the driver (fig. 4.18)", "time (s)", "driver speed (rad/s)"};
  Figure rolling{"Rolling error (fig. 4.17)", "time (s)", "speed of slip (m/s)"};
  Figure distances{"Distance x (fig. 4.19)", "time (s)", "x (m)"};
  const auto distance = [](const VectorOf<double>& q, const VectorOf<double>&) { return q(2); };
  const auto slip = [&](const VectorOf<double>& q, const VectorOf<double>& v) { return drive.system->velocity_error(q, v)(0); };
  rolling.series.push_back(curve("exact", drive.exact, SeriesStyle::kLine, slip));
  speeds.series.push_back(curve("exact", drive.exact, SeriesStyle::kLine, speed));
  distances.series.push_back(curve("exact", drive.exact, SeriesStyle::kLine, distance));
  for (const std::size_t k : {1UL, 2UL}) {
    rolling.series.push_back(curve(variants()[k].name, drive.reused[k], SeriesStyle::kDashed, slip));
    speeds.series.push_back(curve(variants()[k].name, drive.reused[k], SeriesStyle::kDashed, speed));
    distances.series.push_back(curve(variants()[k].name, drive.reused[k], SeriesStyle::kDashed, distance));
  }
  part.figures.push_back(std::move(rolling));
  part.figures.push_back(std::move(speeds));
  part.figures.push_back(std::move(distances));
  ages(part, *disc.system, *drive.system, until);
  costs(part, context.quick ? 40 : 120, context.quick ? 20 : 60);
}

}  // namespace linkwork::studies::generalized_inverse
