#include "linkwork/linalg/genetic_algorithm.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <span>
#include <string>
#include <vector>

#include "studies/generalized_inverse/counted.h"
#include "studies/generalized_inverse/methods.h"
#include "studies/generalized_inverse/parts.h"
#include "studies/generalized_inverse/random_problem.h"

namespace linkwork::studies::generalized_inverse {
namespace {

using Vector = VectorOf<double>;
using Matrix = MatrixOf<double>;

constexpr double kPaperGravity = 9.8;
constexpr double kWeight = 1e9;  // the exponent is illegible; 9 is the one that gives the printed value of run 0
constexpr double kPi = 3.1416;   // as the printed digits show
constexpr int kRuns = 5;

/// The double pendulum in Cartesian coordinates (x1, y1, x2, y2), y downwards (eq. 5.13-5.16).
Problem<double> pendulum(const Vector& q, const Vector& v) {
  Problem<double> problem;
  problem.M = Matrix::Identity(4, 4);
  problem.diagonal = true;
  problem.f = Eigen::Vector4d(0.0, kPaperGravity, 0.0, kPaperGravity);
  problem.A.resize(2, 4);
  problem.A << q(0), q(1), 0.0, 0.0, q(0) - q(2), q(1) - q(3), q(2) - q(0), q(3) - q(1);
  problem.b.resize(2);
  problem.b << -v(0) * v(0) - v(1) * v(1), -std::pow(v(2) - v(0), 2) - std::pow(v(3) - v(1), 2);
  return problem;
}

/// Hanging at the bottom, moving sideways.
Problem<double> at_the_bottom(double outer_speed) {
  return pendulum(Eigen::Vector4d(0.0, 1.0, 0.0, 2.0), Eigen::Vector4d(kPi, 0.0, outer_speed, 0.0));
}

/// Eq. 5.6: Gauss' constraint and the penalty for violated rows. A_f is f here, since M = 1.
template <class S>
S objective(const Problem<S>& problem, const VectorOf<S>& a, S weight) {
  VectorOf<S> away(a.size());
  for (Index k = 0; k < a.size(); ++k) away(k) = a(k) - problem.f(k);
  VectorOf<S> pull(a.size());
  for (Index k = 0; k < a.size(); ++k)
    pull(k) = problem.diagonal ? problem.M(k, k) * away(k) : dot(row(problem.M, k), away.data(), a.size());
  S penalty(0.0);
  for (Index i = 0; i < problem.A.rows(); ++i) {
    const S error = dot(row(problem.A, i), a.data(), a.size()) - problem.b(i);
    penalty += error * weight * error;
  }
  return S(0.5) * dot(away.data(), pull.data(), a.size()) + penalty;
}

GeneticAlgorithm::Objective objective_of(const Problem<double>& problem, double weight = kWeight) {
  return [&problem, weight](std::span<const double> x) {
    const Vector a = Eigen::Map<const Vector>(x.data(), static_cast<Index>(x.size()));
    return objective<double>(problem, a, weight);
  };
}

struct Search {
  std::array<Vector, kRuns> best;
  std::array<double, kRuns> value{};
  std::vector<double> trials;  // since the start of the first run
  std::vector<Vector> path;    // best so far
  std::vector<double> values;
};

/// Five runs from 0 +- 50 with the parameters of section 5.4. The second range is ±10; later ones are not printed.
Search searched(const Problem<double>& problem, std::uint64_t seed, double weight = kWeight) {
  GeneticOptions options;  // defaults are those of the thesis
  options.seed = seed;
  GeneticAlgorithm algorithm(4, options);
  Vector centre = Vector::Zero(4), half_range = Vector::Constant(4, 50.0);
  Search search;
  int done = 0;
  double before = 0.0;
  shrinking_search(algorithm, objective_of(problem, weight), kRuns, 5.0, centre, half_range, [&](const GeneticAlgorithm& now) {
    search.best[static_cast<std::size_t>(done)] = now.best();
    search.value[static_cast<std::size_t>(done)] = now.best_value();
    ++done;
    for (const GeneticAlgorithm::Progress& progress : now.history()) {
      search.trials.push_back(before + static_cast<double>(progress.trials));
      search.path.push_back(progress.x);
      search.values.push_back(progress.value);
    }
    before = search.trials.back();
  });
  return search;
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

double worst_error(const Vector& a, const Vector& exact) { return (a - exact).cwiseAbs().maxCoeff(); }

// Published: table 5.1.
struct PrintedRun {
  std::array<double, 4> a;
  double value;
};
constexpr std::array<PrintedRun, 6> kPrinted{{{{0.0, 0.0, 0.0, 0.0}, 1.9482e11},
                                              {{4.62724, -9.89079, 17.8308, -32.1452}, 1.4475e5},
                                              {{-0.0374899, -9.86974, 0.00884611, -32.0766}, 1.0732e3},
                                              {{-0.00367994, -9.86965, -0.0187661, -32.0764}, 1.0732e3},
                                              {{-7.0536e-5, -9.86965, 0.000188913, -32.0764}, 1.0704e3},
                                              {{0.0, -9.869651, 0.0, -32.07636}, 1.0700e3}}};

void readings(Part& part) {
  const Problem<double> as_printed = at_the_bottom(2.0 * kPi), faster = at_the_bottom(2.5 * kPi);
  const Vector exact = solved(Method::kGramSchmidt, as_printed).a, exact_faster = solved(Method::kGramSchmidt, faster).a;
  const auto off = [](const Vector& a) { return std::max(std::abs(a(1) + 9.869651), std::abs(a(3) + 32.07636)); };
  const auto shown = [](const Vector& a) { return fmt::format("ÿ1 = {:.6f}, ÿ2 = {:.5f}", a(1), a(3)); };
  const auto verdict = [](bool yes) { return yes ? Holds::kYes : Holds::kNo; };
  part.claims.push_back({"pendulum-as-printed", "Exact accelerations with the speeds as printed, ẋ1 = π and ẋ2 = 2π",
                         "ÿ1 = −9.869651, ÿ2 = −32.07636", shown(exact), verdict(off(exact) < 1e-3),
                         "misprint: the second value needs ẋ2 = 2.5π; see the next claim"});
  part.claims.push_back({"pendulum-faster", "The same with ẋ2 = 2.5π, and π rounded to 3.1416", "ÿ1 = −9.869651, ÿ2 = −32.07636",
                         shown(exact_faster), verdict(off(exact_faster) < 1e-4), ""});
  const double start = objective<double>(as_printed, Vector::Zero(4), kWeight),
               start_faster = objective<double>(faster, Vector::Zero(4), kWeight);
  part.claims.push_back(
      {"pendulum-start-value", "Objective before the first run, at zero accelerations", "1.9482e+11",
       fmt::format("{:.4e} with ẋ2 = 2π, {:.4e} with 2.5π (penalty weight {:.0e})", start, start_faster, kWeight),
       verdict(std::abs(start / 1.9482e11 - 1.0) < 1e-3),
       "the weights' exponent is illegible in the scan; 10⁹ with the printed speeds gives the printed value to all digits, so "
       "that "
       "line 0 of the table belongs to ẋ2 = 2π and the lines below it to 2.5π"});
  const double end = objective<double>(as_printed, exact, kWeight), end_faster = objective<double>(faster, exact_faster, kWeight);
  part.claims.push_back({"pendulum-end-value", "Objective at the exact accelerations", "1.0700e+03",
                         fmt::format("{:.5g} with ẋ2 = 2.5π, {:.5g} with 2π", end_faster, end),
                         verdict(std::abs(end_faster / 1070.0 - 1.0) < 1e-3)});
}

void printed_table(Part& part, const Search& search) {
  const Problem<double> faster = at_the_bottom(2.5 * kPi);
  Table table{"Best candidate after each run, ẋ2 = 2.5π (table 5.1)",
              {"run", "ẍ1", "ÿ1", "ẍ2", "ÿ2", "Z1", "ẍ1 printed", "ÿ1 printed", "ẍ2 printed", "ÿ2 printed", "Z1 printed",
               "Z1 of the printed values"}};
  for (std::size_t k = 0; k < kPrinted.size(); ++k) {
    const Vector printed = Eigen::Map<const Eigen::Vector4d>(kPrinted[k].a.data());
    const Vector own = k == 0 ? Vector(Vector::Zero(4)) : search.best[k - 1];
    std::vector<Cell> row{fmt::format("{}", k)};
    for (const double value : own) row.emplace_back(value);
    row.emplace_back(k == 0 ? objective<double>(faster, own, kWeight) : search.value[k - 1]);
    for (const double value : printed) row.emplace_back(value);
    row.emplace_back(kPrinted[k].value);
    row.emplace_back(objective<double>(faster, printed, kWeight));
    table.rows.push_back(std::move(row));
  }
  table.caption =
      "The seed is the one whose final error is the median. The last column evaluates the objective at the printed "
      "accelerations, whose digits limit it at this penalty weight.";
  part.tables.push_back(std::move(table));
}

/// Returns the seed whose final error is the median: what one may expect.
std::uint64_t convergence(Part& part, int seeds) {
  const Problem<double> problem = at_the_bottom(2.5 * kPi);
  const Vector exact = solved(Method::kGramSchmidt, problem).a;
  std::array<std::vector<double>, kRuns> errors;
  for (int seed = 1; seed <= seeds; ++seed) {
    const Search search = searched(problem, static_cast<std::uint64_t>(seed));
    for (std::size_t k = 0; k < kRuns; ++k) errors[k].push_back(worst_error(search.best[k], exact));
  }
  Table table{fmt::format("Largest error of an acceleration after each run, over {} seeds (m/s²)", seeds),
              {"run", "best", "median", "worst", "printed"}};
  std::array<double, kRuns> typical{}, worst{};
  const auto share = [&](std::size_t run, double tolerance) {
    const auto good = std::count_if(errors[run].begin(), errors[run].end(), [&](double error) { return error < tolerance; });
    return static_cast<double>(good) / static_cast<double>(errors[run].size());
  };
  const auto verdict = [](double part_of_seeds) {
    return part_of_seeds >= 0.95 ? Holds::kYes : part_of_seeds >= 0.5 ? Holds::kPartly : Holds::kNo;
  };
  Series medians{"median", {}, {}, SeriesStyle::kLinePoints}, bests{"best seed", {}, {}, SeriesStyle::kDashed},
      worsts{"worst seed", {}, {}, SeriesStyle::kDashed}, printed_series{"table 5.1", {}, {}, SeriesStyle::kPoints};
  for (std::size_t k = 0; k < kRuns; ++k) {
    const auto [low, high] = std::minmax_element(errors[k].begin(), errors[k].end());
    typical[k] = median(errors[k]);
    worst[k] = *high;
    const double printed = worst_error(Eigen::Map<const Eigen::Vector4d>(kPrinted[k + 1].a.data()), exact);
    table.rows.push_back({fmt::format("{}", k + 1), *low, typical[k], *high, printed});
    const auto run = static_cast<double>(k + 1);
    for (auto* series : {&medians, &bests, &worsts, &printed_series}) series->x.push_back(run);
    medians.y.push_back(typical[k]);
    bests.y.push_back(*low);
    worsts.y.push_back(*high);
    printed_series.y.push_back(printed);
  }
  table.caption = "Ranges: ±50, then a fifth of the last one where the best candidate lies inside, else as wide as before.";
  part.tables.push_back(std::move(table));
  part.figures.push_back({"Error after each run",
                          "run",
                          "largest error (m/s²)",
                          false,
                          true,
                          {medians, bests, worsts, printed_series},
                          "6,400 trials per run, 16 bits per variable, population 100, crossover 0.6, mutation 0.001."});
  part.claims.push_back(
      {"ga-second-run", "The second run approaches the exact solution", "error 0.037 m/s²",
       fmt::format("error {:.2g} m/s² (median of {} seeds); below 0.1 in {:.0f} % of them", typical[1], seeds,
                   100 * share(1, 0.1)),
       verdict(share(1, 0.1)),
       "the penalty of 10⁹ makes a valley so narrow that the search moves along it only slowly; the table prints one seed"});
  part.claims.push_back({"ga-fourth-run", "The fourth run gives quite good results", "error 0.0002 m/s²",
                         fmt::format("error {:.2g} m/s² (median), {:.2g} (worst); below 0.01 in {:.0f} % of the seeds",
                                     typical[3], worst[3], 100 * share(3, 1e-2)),
                         verdict(share(3, 1e-2)),
                         "the ranges of the later runs are not printed, and the search depends on luck"});
  part.claims.push_back({"ga-fifth-run", "The fifth run yields the exact solution", "all printed digits",
                         fmt::format("error {:.2g} m/s² (median), {:.2g} (worst); below 0.0001 in {:.0f} % of the seeds",
                                     typical[4], worst[4], 100 * share(4, 1e-4)),
                         verdict(share(4, 1e-4)),
                         "a search whose box has shrunk around a poor candidate does not recover: most seeds succeed, not all"});
  const auto found = std::find(errors.back().begin(), errors.back().end(), typical.back());
  return static_cast<std::uint64_t>(found - errors.back().begin()) + 1;
}

void evolution(Part& part, const Search& search) {
  const Vector exact = solved(Method::kGramSchmidt, at_the_bottom(2.5 * kPi)).a;
  static const std::array<const char*, 4> names{"ẍ1", "ÿ1", "ẍ2", "ÿ2"};
  for (Index k = 0; k < 4; ++k) {
    Series path{"best so far", {}, {}, SeriesStyle::kLine}, line{"exact", {}, {}, SeriesStyle::kDashed};
    for (std::size_t i = 0; i < search.path.size(); ++i) {
      path.x.push_back(search.trials[i]);
      path.y.push_back(search.path[i](k));
    }
    line.x = {search.trials.front(), search.trials.back()};
    line.y = {exact(k), exact(k)};
    part.figures.push_back(
        {fmt::format("{} (fig. 5.{})", names[static_cast<std::size_t>(k)], k + 3), "trials", "m/s²", false, false, {path, line}});
  }
  Series values{"best so far"};
  values.x = search.trials;
  values.y = search.values;
  part.figures.push_back(
      {"Objective Z1 (fig. 5.7)", "trials", "Z1", false, true, {values}, "A run starts anew every 6,400 trials."});
}

/// The exact motion, at steps of h, from the bottom.
std::vector<Problem<double>> exact_motion(int steps, double h) {
  Vector q = Eigen::Vector4d(0.0, 1.0, 0.0, 2.0), v = Eigen::Vector4d(std::numbers::pi, 0.0, 2.0 * std::numbers::pi, 0.0);
  const auto acceleration = [](const Vector& position, const Vector& velocity) {
    return Vector(solved(Method::kGramSchmidt, pendulum(position, velocity)).a);
  };
  std::vector<Problem<double>> motion{pendulum(q, v)};
  for (int i = 0; i < steps; ++i) {
    const Vector half_v = v + h / 2 * acceleration(q, v);
    const Vector half_q = q + h / 2 * v;
    q += h * half_v;
    v += h * acceleration(half_q, half_v);
    motion.push_back(pendulum(q, v));
  }
  return motion;
}

/// Later in time the previous solution is the centre of the search.
void later_steps(Part& part, int steps) {
  const double h = 0.01;
  const std::vector<Problem<double>> motion = exact_motion(steps, h);
  Table table{"Later steps: median errors by penalty weight (m/s²)",
              {"weight", "previous solution kept", "after one run", "after two runs", "worst after two"}};
  Series ones{"after one run", {}, {}, SeriesStyle::kLinePoints}, twos{"after two runs", {}, {}, SeriesStyle::kLinePoints};
  double kept = 0.0, best = 1e300, best_weight = 0.0;
  for (const double weight : {1e1, 1e2, 1e3, 1e5, 1e7, kWeight}) {
    std::vector<double> first, second, change;
    for (std::size_t i = 1; i < motion.size(); ++i) {
      const Vector exact = solved(Method::kGramSchmidt, motion[i]).a, previous = solved(Method::kGramSchmidt, motion[i - 1]).a;
      GeneticOptions options;
      options.seed = 100 + i;
      GeneticAlgorithm algorithm(4, options);
      algorithm.run(objective_of(motion[i], weight), previous, Vector::Constant(4, 5.0));
      first.push_back(worst_error(algorithm.best(), exact));
      algorithm.run(objective_of(motion[i], weight), Vector(algorithm.best()), Vector::Constant(4, 0.5));
      second.push_back(worst_error(algorithm.best(), exact));
      change.push_back(worst_error(previous, exact));
    }
    kept = median(change);
    ones.x.push_back(weight);
    ones.y.push_back(median(first));
    twos.x.push_back(weight);
    twos.y.push_back(median(second));
    table.rows.push_back(
        {fmt::format("{:.0e}", weight), kept, ones.y.back(), twos.y.back(), *std::max_element(second.begin(), second.end())});
    if (twos.y.back() < best) {
      best = twos.y.back();
      best_weight = weight;
    }
  }
  const double one = ones.y.back(), two = twos.y.back();
  table.caption = fmt::format(
      "{} steps of {:.0f} ms from the bottom; ranges ±5, then ±0.5 m/s², are not printed and chosen here.", steps, 1e3 * h);
  part.tables.push_back(std::move(table));
  part.figures.push_back({"Error at later times over the penalty weight",
                          "penalty weight",
                          "median error (m/s²)",
                          true,
                          true,
                          {ones, twos},
                          "Small weights leave the rows violated; large ones make the valley too narrow for the search."});
  part.claims.push_back(
      {"ga-later-steps", "At later times one run is usually enough, two give the exact solution", "\"usually enough\"",
       fmt::format("error {:.2g} m/s² after one run and {:.2g} after two (medians), against {:.2g} if the previous solution were "
                   "kept; at best {:.2g}, with a weight of {:.0e}",
                   one, two, kept, best, best_weight),
       one < 0.01 && two < 1e-3 ? Holds::kYes
       : two < 0.1 * kept       ? Holds::kPartly
                                : Holds::kNo,
       "the first instant is a special one: there the rows are parallel to the axes of the search. Elsewhere the penalty makes a "
       "narrow oblique valley, which changing single variables cannot follow"});
}

/// Redundant, vanishing and contradicting rows in the objective.
void dependent(Part& part, int seeds) {
  const Problem<double> good = at_the_bottom(2.5 * kPi);
  const Vector exact = solved(Method::kGramSchmidt, good).a;
  Problem<double> redundant = good;
  redundant.A.conservativeResize(4, Eigen::NoChange);
  redundant.b.conservativeResize(4);
  redundant.A.row(2) = good.A.row(0) + good.A.row(1);
  redundant.b(2) = good.b(0) + good.b(1);
  redundant.A.row(3).setZero();
  redundant.b(3) = 0.0;
  std::vector<double> errors, plain;
  for (int seed = 1; seed <= seeds; ++seed) {
    errors.push_back(worst_error(searched(redundant, static_cast<std::uint64_t>(seed)).best.back(), exact));
    plain.push_back(worst_error(searched(good, static_cast<std::uint64_t>(seed)).best.back(), exact));
  }
  part.claims.push_back({"ga-redundant", "Redundant and degenerate rows do no harm", "the same advantages as GIGSP",
                         fmt::format("median error {:.2g} m/s² with a redundant and a vanishing row, {:.2g} without them",
                                     median(errors), median(plain)),
                         median(errors) < 10.0 * median(plain) + 1e-3 ? Holds::kYes : Holds::kPartly,
                         "a redundant row only changes the weights"});
  Problem<double> contradicting = redundant;
  contradicting.b(2) += 1.0;
  Series values{"contradicting rows", {}, {}, SeriesStyle::kLinePoints},
      fine{"consistent rows", {}, {}, SeriesStyle::kLinePoints};
  for (const double weight : {1e3, 1e4, 1e5, 1e6, 1e7}) {
    values.x.push_back(weight);
    values.y.push_back(searched(contradicting, 1, weight).value.back());
    fine.x.push_back(weight);
    fine.y.push_back(searched(good, 1, weight).value.back());
  }
  const double growth = values.y.back() / values.y.front();
  part.claims.push_back(
      {"ga-inconsistent", "Contradicting rows show: the objective grows with the penalty without bound", "approaches infinity",
       fmt::format("minimum grows {:.0f} times as the weight grows 10,000 times; with consistent rows {:.1f} times", growth,
                   fine.y.back() / fine.y.front()),
       growth > 1e3 ? Holds::kYes : Holds::kNo});
  part.figures.push_back(
      {"Smallest objective found over the penalty weight", "penalty weight", "Z1", true, true, {values, fine}});
}

void cost(Part& part) {
  const Index n = 60, m = 30;
  const Problem<Counted> problem = converted<Counted>(RandomProblems(5).make(n, m));
  const long before = Counted::operations();
  objective<Counted>(problem, problem.f, Counted(1e3));
  const auto count = static_cast<double>(Counted::operations() - before);
  const double predicted = 2.0 * n * n + 2.0 * n * m;
  part.claims.push_back({"ga-cost", "An evaluation of the objective costs 2n² + 2nm operations", "2n² + 2nm",
                         fmt::format("{:.3f} times that at n = {}, m = {}", count / predicted, n, m),
                         std::abs(count / predicted - 1.0) < 0.1 ? Holds::kYes : Holds::kPartly, "terms of lower order"});
}

}  // namespace

void genetic_algorithm(StudyContext& context, StudyResult& result) {
  const int seeds = context.quick ? 10 : 100;
  context.progress(fmt::format("table 5.1, figures 5.3 to 5.7: the double pendulum by a genetic algorithm, {} seeds", seeds));
  Part& part = result.add_part(
      "Table 5.1, figures 5.3 to 5.7: Gauss' principle by a genetic algorithm",
      "The accelerations of a constrained system minimize Gauss' constraint. With a penalty for violated rows this is an "
      "optimization without constraints, here of four variables: the accelerations of a double pendulum that passes the bottom "
      "with "
      "given speeds. A genetic algorithm minimizes it in five runs, each in a smaller box around the best candidate so far.\n\n"
      "The printed speeds do not belong to the printed accelerations, nor to one another: both readings are computed. Being "
      "random, "
      "a search is judged over many seeds.");
  readings(part);
  const Search typical = searched(at_the_bottom(2.5 * kPi), convergence(part, seeds));
  printed_table(part, typical);
  context.progress("the same at later times, and with dependent rows");
  later_steps(part, context.quick ? 20 : 100);
  dependent(part, context.quick ? 5 : 25);
  cost(part);
  evolution(part, typical);
}

}  // namespace linkwork::studies::generalized_inverse
