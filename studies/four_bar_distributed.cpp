#include <fmt/format.h>

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>

#include "studies/catalog.h"
#include "studies/generalized_inverse/counted.h"
#include "studies/module_run.h"

namespace linkwork::studies {
namespace {

const std::vector<std::pair<const char*, const char*>> kAngles{
    {"q.left.theta", "theta"}, {"q.left.alpha", "alpha - theta"}, {"q.right.phi", "phi"}};

/// The four-bar as two modules on two threads, drift control left to the method.
Spec four_bar(const StudyContext& context, const std::string& glue) {
  Spec spec = ready_model(context, "four_bar_modules", context.quick ? 2.0 : 10.0);
  spec.settings.stabilization = {"none", {}, {}};
  spec.settings.coordinates = {"TA", {}, {}};
  spec.settings.output_every = 0.02;
  spec.settings.glue = parse_choice(glue, {});
  return spec;
}

/// A thread for each module; threads that take turns on a busy machine are slow, and the bits are the same.
int workers(const StudyContext& context) { return context.quick ? 1 : 2; }

std::string compliance(double k) { return fmt::format("compliance:damping=0,stiffness={:g}", k); }
std::string projection(double sigma) { return fmt::format("projection:sigma={:g}", sigma); }

double largest(const std::vector<double>& values) {
  double result = 0.0;
  for (const double value : values) result = std::max(result, std::abs(value));
  return result;
}

std::vector<double> error(const ModuleRun& run, const ModuleRun& reference, const char* column) {
  const std::vector<double> a = run[column], b = reference[column];
  std::vector<double> result;
  for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i) result.push_back(std::max(1e-16, std::abs(a[i] - b[i])));
  return result;
}

std::vector<double> visible(std::vector<double> values) {
  for (double& value : values) value = std::max(value, 1e-17);
  return values;
}

void benchmark(StudyContext& context, StudyResult& result, ModuleRun& reference) {
  context.progress("benchmark");
  Spec spec = four_bar(context, "none");
  spec.settings.integrator = {"ode5", {}, {}};
  spec.settings.step = 1e-4;
  spec.settings.stabilization = {"projection", {}, {}};
  reference = run_modules(spec);
  Part& part = result.add_part("Section 7.1: the benchmark",
                               "The four-bar of Table 1 in one piece, by the fifth-order method ode5 with steps of 0.1 ms and "
                               "projection onto the constraints. "
                               "(The paper eliminates two angles by hand.)");
  Figure figure{"Fig. 4: the three angles", "t (s)", "rad"};
  for (const auto& [column, name] : kAngles) figure.series.push_back({name, reference["t"], reference[column]});
  part.figures.push_back(figure);
}

void absolute(StudyContext& context, StudyResult& result, const ModuleRun& reference) {
  Part& part = result.add_part(
      "Section 7.1: errors of the angles",
      "Both methods with their modules on two threads, fixed steps of 1 ms of ode5 (0.1 ms for k = 1e6 N/m, as the paper found "
      "necessary). Springs have no dampers, as published.");
  Figure a{"Fig. 5: compliance, error of theta", "t (s)", "rad", false, true},
      b{"Fig. 6: projection, error of theta", "t (s)", "rad", false, true};
  std::vector<double> with_k;
  for (const double k : {1e2, 1e3, 1e4, 1e5, 1e6}) {
    context.progress(fmt::format("compliance, k = {:g}", k));
    Spec spec = four_bar(context, compliance(k));
    spec.settings.integrator = {"ode5", {}, {}};
    if (k > 5e5) spec.settings.step = 1e-4;
    const ModuleRun run = run_modules(spec, workers(context));
    a.series.push_back({fmt::format("k = {:g}", k), run["t"], error(run, reference, "q.left.theta")});
    with_k.push_back(largest(error(run, reference, "q.left.theta")));
  }
  std::vector<double> with_sigma;
  for (const double sigma : {10.0, 30.0, 60.0}) {
    context.progress(fmt::format("projection, sigma = {:g}", sigma));
    Spec spec = four_bar(context, projection(sigma));
    spec.settings.integrator = {"ode5", {}, {}};
    const ModuleRun run = run_modules(spec, workers(context));
    b.series.push_back({fmt::format("sigma = {:g}", sigma), run["t"], error(run, reference, "q.left.theta")});
    with_sigma.push_back(largest(error(run, reference, "q.left.theta")));
  }
  part.figures.push_back(a);
  part.figures.push_back(b);
  const bool falls = with_k.back() < with_k.front();
  part.claims.push_back({"stiffer", "The error of the compliance method goes down with k", "Fig. 5",
                         fmt::format("{:.2g} rad with k = 100, {:.2g} rad with k = 1e6", with_k.front(), with_k.back()),
                         falls ? Holds::kYes : Holds::kNo});
  part.claims.push_back({"never-small", "It cannot be made small enough unless k exceeds 1e6", "1e-3",
                         fmt::format("{:.2g} rad with k = 1e5, {:.2g} rad with k = 1e6", with_k[3], with_k[4]),
                         with_k[3] > 1e-3 ? Holds::kYes : Holds::kPartly,
                         "errors grow with time: the linkage turns over and speeds up"});
  const double worst = *std::ranges::max_element(with_sigma);
  part.claims.push_back({"projection-accurate", "The error of the projection method stays well below 1e-3 for almost every sigma",
                         "< 1e-3", fmt::format("{:.1e} rad", worst), worst < 1e-3 ? Holds::kYes : Holds::kNo});
}

void adaptive(StudyContext& context, StudyResult& result) {
  Part& part = result.add_part("Section 7.2: adaptive steps",
                               "Dormand and Prince's method with relative tolerances of 1e-3 to 1e-6, the common step decided by "
                               "both modules. The steps of a "
                               "run of the whole duration are counted, rejected ones included.");
  const std::vector<double> tolerances =
      context.quick ? std::vector<double>{1e-3, 1e-5} : std::vector<double>{1e-3, 1e-4, 1e-5, 1e-6};
  const std::vector<double> stiffnesses = context.quick ? std::vector<double>{1e2, 1e4} : std::vector<double>{1e2, 1e3, 1e4, 1e5};
  const std::vector<double> sigmas{10.0, 20.0, 40.0, 60.0};
  const auto run_with = [&](const std::string& glue, double rtol) {
    Spec spec = four_bar(context, glue);
    spec.settings.integrator = {"dopri45", {}, {}};
    spec.settings.rtol = rtol;
    spec.settings.atol = 1e-2 * rtol;
    return run_modules(spec);
  };
  Figure errors_a{"Fig. 8: compliance, error of the pin, rtol 1e-3", "t (s)", "m", false, true};
  Figure errors_b{"Fig. 7: projection, error of the pin, rtol 1e-3", "t (s)", "m", false, true};
  Figure steps_a{"Fig. 9a: compliance, steps against stiffness", "k (N/m)", "steps", true, true};
  Figure steps_b{"Fig. 9b: projection, steps against sigma", "sigma (1/s)", "steps"};
  std::vector<std::vector<double>> count_a, count_b;
  double loosest_a = 0.0, tightest_a = 0.0, loosest_b = 0.0, tightest_b = 0.0;
  for (const double rtol : tolerances) {
    context.progress(fmt::format("adaptive, rtol {:g}", rtol));
    count_a.emplace_back();
    count_b.emplace_back();
    for (const double k : stiffnesses) {
      const ModuleRun run = run_with(compliance(k), rtol);
      count_a.back().push_back(static_cast<double>(run.summary.steps + run.summary.rejected_steps));
      if (rtol == tolerances.front())
        errors_a.series.push_back({fmt::format("k = {:g}", k), run["t"], visible(run["error.position"])});
      if (k == stiffnesses.back()) (rtol == tolerances.front() ? loosest_a : tightest_a) = run.summary.modules->sticky;
    }
    for (const double sigma : sigmas) {
      const ModuleRun run = run_with(projection(sigma), rtol);
      count_b.back().push_back(static_cast<double>(run.summary.steps + run.summary.rejected_steps));
      if (rtol == tolerances.front())
        errors_b.series.push_back({fmt::format("sigma = {:g}", sigma), run["t"], visible(run["error.position"])});
      if (sigma == sigmas.front()) (rtol == tolerances.front() ? loosest_b : tightest_b) = run.summary.modules->sticky;
    }
    steps_a.series.push_back({fmt::format("rtol {:g}", rtol), stiffnesses, count_a.back(), SeriesStyle::kLinePoints});
    steps_b.series.push_back({fmt::format("rtol {:g}", rtol), sigmas, count_b.back(), SeriesStyle::kLinePoints});
  }
  part.figures = {errors_b, errors_a, steps_a, steps_b};
  part.claims.push_back({"tolerance-projection", "Constraint errors of the projection method follow the tolerance", "Fig. 7",
                         fmt::format("{:.1e} m at the loosest tolerance, {:.1e} m at the tightest", loosest_b, tightest_b),
                         tightest_b < 0.1 * loosest_b ? Holds::kYes : Holds::kNo});
  part.claims.push_back({"tolerance-compliance", "Those of the compliance method do not depend on the tolerance", "Fig. 8",
                         fmt::format("{:.1e} m at the loosest tolerance, {:.1e} m at the tightest", loosest_a, tightest_a),
                         tightest_a > 0.2 * loosest_a && tightest_a < 5.0 * loosest_a ? Holds::kYes : Holds::kNo});
  const double growth_a = count_a.back().back() / count_a.back().front(),
               growth_b = count_b.back().back() / count_b.back().front();
  part.claims.push_back({"steps-stiffness", "Steps increase with the parameter, for the compliance method far more", "Fig. 9",
                         fmt::format("by {:.2g} over the range of k, by {:.2g} over the range of sigma", growth_a, growth_b),
                         growth_a > 2.0 * growth_b ? Holds::kYes : Holds::kNo});
  const double most_b = *std::ranges::max_element(count_b.back()), most_a = count_a.back().back();
  part.claims.push_back({"fewer-steps", "Fewer steps of the projection method are needed to hold the constraints", "Section 9",
                         fmt::format("at most {:.0f} steps at the tightest tolerance, against {:.0f} with k = {:g}", most_b,
                                     most_a, stiffnesses.back()),
                         most_b < most_a ? Holds::kYes : Holds::kNo});
}

void fixed(StudyContext& context, StudyResult& result) {
  constexpr double kEarly = 1.5;  // s
  Part& part = result.add_part("Section 7.3: fixed steps",
                               "Steps of 1 ms of the fifth-order method, each module on a thread of its own: the case for real "
                               "time and hardware in the loop. k = 1e6 N/m "
                               "runs with 0.1 ms. The torque makes the crank turn faster and faster, and the error of any method "
                               "of fixed step grows with it; so errors "
                               "are given for the first 1.5 s, and without the torque for the whole duration.");
  Figure a{"Fig. 10a: compliance, error of the pin", "t (s)", "m", false, true};
  Figure b{"Fig. 10b: projection, error of the pin", "t (s)", "m", false, true};
  const auto run_with = [&](const std::string& glue, double step, bool torque) {
    Spec spec = four_bar(context, glue);
    spec.settings.integrator = {"ode5", {}, {}};
    spec.settings.step = step;
    if (!torque) spec.forces.clear();
    return run_modules(spec, workers(context));
  };
  const auto early = [&](const ModuleRun& run) {
    double error = 0.0;
    for (std::size_t i = 0; i < run.rows.size() && run["t"][i] <= kEarly; ++i) error = std::max(error, run["error.position"][i]);
    return error;
  };
  double stiffest = 0.0, stiffest_later = 0.0, worst = 0.0, worst_later = 0.0, coasting = 0.0;
  for (const double k : {1e2, 1e3, 1e4, 1e5, 1e6}) {
    context.progress(fmt::format("fixed steps, k = {:g}", k));
    const ModuleRun run = run_with(compliance(k), k > 5e5 ? 1e-4 : 1e-3, true);
    a.series.push_back({fmt::format("k = {:g}", k), run["t"], visible(run["error.position"])});
    stiffest = early(run), stiffest_later = run.summary.modules->sticky;
  }
  for (const double sigma : {10.0, 30.0, 60.0}) {
    context.progress(fmt::format("fixed steps, sigma = {:g}", sigma));
    const ModuleRun run = run_with(projection(sigma), 1e-3, true);
    b.series.push_back({fmt::format("sigma = {:g}", sigma), run["t"], visible(run["error.position"])});
    worst = std::max(worst, early(run));
    worst_later = std::max(worst_later, run.summary.modules->sticky);
    coasting = std::max(coasting, run_with(projection(sigma), 1e-3, false).summary.modules->sticky);
  }
  part.figures = {a, b};
  part.claims.push_back({"fixed-projection", "The projection method holds the pin whatever sigma is", "about 1e-12 m",
                         fmt::format("{:.1e} m in the first {} s, {:.1e} m at all, {:.1e} m without the torque", worst, kEarly,
                                     worst_later, coasting),
                         std::max(worst, coasting) < 1e-11 ? (worst_later < 1e-11 ? Holds::kYes : Holds::kPartly) : Holds::kNo,
                         "later the crank turns so fast that a step of 1 ms is no longer short"});
  part.claims.push_back({"fixed-compliance", "The compliance method reaches 1e-3 m with k = 1e6 N/m", "1e-3 m",
                         fmt::format("{:.1e} m in the first {} s, {:.1e} m at all", stiffest, kEarly, stiffest_later),
                         stiffest < 1e-3 && stiffest > 1e-6 ? Holds::kYes : Holds::kNo, "it grows with the forces in the pin"});
  part.claims.push_back({"incomparable", "Springs never come near the errors of the projection", "Section 7.3",
                         fmt::format("{:.0e} times as large", stiffest / worst),
                         stiffest > 1e3 * worst ? Holds::kYes : Holds::kNo});
}

/// One evaluation of both methods, written out for the two chains of the paper with a number type that counts. Sines and cosines
/// are free, as is what both share: the chains' own M and right-hand sides.
template <class Number>
struct Chains {
  template <int R, int C>
  using Matrix = Eigen::Matrix<Number, R, C>;

  Matrix<2, 2> M_A;
  Number M_B;
  Matrix<2, 1> f_A;
  Number f_B;
  Matrix<2, 2> A_A;  // [Khan2006] eq. 23
  Matrix<2, 1> A_B, phi, rate, b;
};

template <class Number>
Chains<Number> some_chains() {
  const double th = 1.5708, al = 0.3533, ph = 1.2649;
  Chains<Number> c;
  const auto n = [](double x) { return Number(x); };
  c.M_A << n(4.0 / 3.0), n(2.0 * std::cos(al - th)), n(2.0 * std::cos(al - th)), n(16.0 / 3.0);
  c.M_B = n(25.0 / 12.0);
  c.f_A << n(6.0), n(-18.4);
  c.f_B = n(-3.7);
  c.A_A << n(std::sin(th)), n(4.0 * std::sin(al)), n(-std::cos(th)), n(-4.0 * std::cos(al));
  c.A_B << n(-2.5 * std::sin(ph)), n(2.5 * std::cos(ph));
  c.phi << n(1e-4), n(-1e-4);
  c.rate << n(1e-3), n(2e-3);
  c.b << n(0.1), n(-0.2);
  return c;
}

/// v_A' and v_B' by springs: the right-hand sides take on A' K phi, and each chain solves for itself.  (22)
template <class Number>
void method_a(const Chains<Number>& c, Number k, typename Chains<Number>::template Matrix<2, 1>& v_A, Number& v_B) {
  const typename Chains<Number>::template Matrix<2, 1> lambda(k * c.phi[0], k * c.phi[1]);
  typename Chains<Number>::template Matrix<2, 1> r;
  for (int i = 0; i < 2; ++i) r[i] = c.f_A[i] - (c.A_A(0, i) * lambda[0] + c.A_A(1, i) * lambda[1]);
  const Number factor = c.M_A(1, 0) / c.M_A(0, 0);
  v_A[1] = (r[1] - factor * r[0]) / (c.M_A(1, 1) - factor * c.M_A(0, 1));
  v_A[0] = (r[0] - c.M_A(0, 1) * v_A[1]) / c.M_A(0, 0);
  v_B = (c.f_B - (c.A_B[0] * lambda[0] + c.A_B[1] * lambda[1])) / c.M_B;
}

/// The same by projection, theta independent: alpha and phi follow.  (24)-(27)
template <class Number>
void method_b(const Chains<Number>& c, Number sigma, Number& v, typename Chains<Number>::template Matrix<3, 1>& eta) {
  const Number a = c.A_A(0, 1), b = c.A_B[0], d = c.A_A(1, 1), e = c.A_B[1];
  const Number determinant = a * e - b * d;
  const auto solve = [&](Number r0, Number r1, Number& x, Number& y) {
    x = (e * r0 - b * r1) / determinant;
    y = (a * r1 - d * r0) / determinant;
  };
  Number s_alpha, s_phi, g_alpha, g_phi, n_alpha, n_phi;
  solve(-c.A_A(0, 0), -c.A_A(1, 0), s_alpha, s_phi);                              // S
  solve(-sigma * c.phi[0], -sigma * c.phi[1], n_alpha, n_phi);                    // eta
  solve(c.b[0] - sigma * c.rate[0], c.b[1] - sigma * c.rate[1], g_alpha, g_phi);  // gamma
  const Number MS_0 = c.M_A(0, 0) + c.M_A(0, 1) * s_alpha, MS_1 = c.M_A(1, 0) + c.M_A(1, 1) * s_alpha;
  const Number reduced = (MS_0 + s_alpha * MS_1) + s_phi * (c.M_B * s_phi);
  const Number r_0 = c.f_A[0] - c.M_A(0, 1) * g_alpha, r_1 = c.f_A[1] - c.M_A(1, 1) * g_alpha, r_2 = c.f_B - c.M_B * g_phi;
  v = ((r_0 + s_alpha * r_1) + s_phi * r_2) / reduced;
  eta << v, s_alpha * v + n_alpha, s_phi * v + n_phi;
}

void operations(StudyContext& context, StudyResult& result) {
  context.progress("operation counts");
  const Chains<Counted> chains = some_chains<Counted>();
  Chains<Counted>::Matrix<2, 1> v_A;
  Chains<Counted>::Matrix<3, 1> eta;
  Counted v_B, v;
  const long start = Counted::operations();
  method_a(chains, Counted(1e4), v_A, v_B);
  const long a = Counted::operations() - start;
  method_b(chains, Counted(30.0), v, eta);
  const long b = Counted::operations() - start - a;
  Part& part = result.add_part("Section 9: operations of an evaluation",
                               "Both methods written out for the two chains, with numbers that count additions, multiplications "
                               "and divisions. What both share, "
                               "the chains' own mass matrices and forces, is left out.");
  part.tables.push_back(
      {"Operations",
       {"method", "operations"},
       {{std::string("compliance"), static_cast<double>(a)}, {std::string("projection"), static_cast<double>(b)}}});
  const double ratio = static_cast<double>(a) / static_cast<double>(b);
  part.claims.push_back(
      {"third", "The compliance method has roughly a third of the computational complexity of the projection method", "1/3",
       fmt::format("{} operations of {}: {:.2f}", a, b, ratio), ratio > 0.2 && ratio < 0.5 ? Holds::kYes : Holds::kNo});
}

StudyResult run(StudyContext& context) {
  StudyResult result;
  ModuleRun reference;
  benchmark(context, result, reference);
  absolute(context, result, reference);
  adaptive(context, result);
  fixed(context, result);
  operations(context, result);
  return result;
}

}  // namespace

Study four_bar_distributed_study() {
  return {{"four-bar-distributed", "Modular and distributed forward dynamics of a four-bar",
           "compliance and projection between two modules: errors, steps, operations", "Khan2006",
           "W. A. Khan, C. P. Tang, V. N. Krovi: Modular and distributed forward dynamic simulation of constrained mechanical "
           "systems, 2007"},
          run};
}

}  // namespace linkwork::studies
