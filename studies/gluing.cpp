#include <fmt/format.h>

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <limits>
#include <numbers>

#include "linkwork/dynamics/system.h"
#include "linkwork/io/model_file.h"
#include "linkwork/simulation/assembly.h"
#include "linkwork/tree/kinematics.h"
#include "studies/catalog.h"
#include "studies/gluing/parts.h"
#include "studies/module_run.h"

namespace linkwork::studies {
namespace {

constexpr double kStep = 0.4;

double exact_speed(double t) { return 2.0 * std::numbers::pi - t * t / 27.0; }
double exact_acceleration(double t) { return -2.0 * t / 27.0; }

template <class Exact>
std::vector<double> exact_values(const std::vector<double>& t, Exact exact) {
  std::vector<double> values;
  for (const double time : t) values.push_back(exact(time));
  return values;
}

double largest_relative(const std::vector<double>& values, const std::vector<double>& exact) {
  double largest = 0.0;
  for (std::size_t i = 0; i < values.size(); ++i) largest = std::max(largest, std::abs(values[i] / exact[i] - 1.0));
  return largest;
}

ModuleRun glued(const StudyContext& context, const std::string& model, const std::string& glue, double step, double end) {
  Spec spec = ready_model(context, model, end);
  spec.settings.step = spec.settings.output_every = step;
  spec.settings.glue = parse_choice(glue, {});
  return run_modules(spec);
}

void long_steps(StudyContext& context, StudyResult& result) {
  context.progress("the parallel four-bar with steps of 0.4 s");
  const ModuleRun run = glued(context, "parallel_four_bar_modules", "gluing", kStep, 10.0);
  Part& part = result.add_part(
      "Section 3.3: long steps in relative angles",
      "The parallel four-bar, 10 s with steps of 0.4 s, in which the crank turns by nearly half a turn. Angles are linear in one "
      "another, so the tangent of the constraints is constant and the iteration matrix exact.");
  const std::vector<double> t = run["t"];
  const std::vector<double> speed = exact_values(t, exact_speed), acceleration = exact_values(t, exact_acceleration);
  part.figures.push_back({"Fig. 2: speed of the crank",
                          "t (s)",
                          "rad/s",
                          false,
                          false,
                          {{"exact", t, speed}, {"glued", t, run["v.left.q1"], SeriesStyle::kPoints}}});
  part.figures.push_back({"Fig. 3: acceleration of the crank",
                          "t (s)",
                          "rad/s²",
                          false,
                          false,
                          {{"exact", t, acceleration}, {"glued", t, run["a.left.q1"], SeriesStyle::kPoints}}});
  part.figures.push_back(
      {"Fig. 4: force in the joint between the modules",
       "t (s)",
       "N",
       false,
       false,
       {{"x", t, run["force.C.x"], SeriesStyle::kLinePoints}, {"y", t, run["force.C.y"], SeriesStyle::kLinePoints}},
       "It turns with the linkage, much faster than the speed changes: it is recovered, not integrated."});
  std::vector<double> steps, iterations;
  for (std::size_t i = 0; i < run.summary.modules->iterations.size(); ++i) {
    steps.push_back(kStep * static_cast<double>(i + 1));
    iterations.push_back(run.summary.modules->iterations[i]);
  }
  part.figures.push_back({"Fig. 5: iterations",
                          "t (s)",
                          "iterations in the step",
                          false,
                          false,
                          {{"gluing", steps, iterations, SeriesStyle::kPoints}}});
  const double error = largest_relative(run["v.left.q1"], speed);
  part.claims.push_back({"speed", "With steps of 0.4 s the responses are well captured", "Fig. 2: on the reference",
                         fmt::format("speed within {:.2g} % of the exact one", 100.0 * error),
                         error < 0.01 ? Holds::kYes : Holds::kNo});
  part.claims.push_back(
      {"iterations", "Generally two iterations per step suffice", "2",
       fmt::format("at most {}, {:.2f} on average", run.summary.modules->most_iterations, run.summary.modules->mean_iterations),
       run.summary.modules->most_iterations <= 3 ? Holds::kYes : Holds::kNo});
}

/// The parallel four-bar in Cartesian coordinates: every link is a module that moves freely in the plane, with its origin in its
/// middle.
Spec cartesian_links() {
  ReadOptions options;
  options.load = [](const std::filesystem::path&) {
    return std::string(R"toml(
linkwork = 1
[parameters]
m = 10
J = 1
l = 1
x = 0
y = 0
angle = 0
vx = 0
w = 0
slope = 0
[[body]]
name = "link"
mass = "m"
inertia = ["J", "J", "J"]
[[joint]]
name = "place"
type = "planar"
parent = { body = "ground" }
child = { body = "link" }
position = ["x", "y", "angle"]
velocity = ["vx", 0, "w"]
[[force]]
type = "torque"
joint = "place.angle"
value = "slope*t"
[[port]]
name = "begin"
body = "link"
at = ["-l/2", 0, 0]
[[port]]
name = "end"
body = "link"
at = ["l/2", 0, 0]
)toml");
  };
  return read_model_text(R"toml(
linkwork = 1
name = "parallel four-bar, Cartesian"
[settings]
gravity = [0, 0, 0]
[[module]]
name = "left"
file = "link.toml"
parameters = { y = 0.5, angle = "pi/2", vx = "-pi", w = "2*pi", slope = -2 }
[[module]]
name = "coupler"
file = "link.toml"
parameters = { m = 20, J = 2, l = 2, x = 1, y = 1, vx = "-2*pi" }
[[module]]
name = "right"
file = "link.toml"
parameters = { x = 2, y = 0.5, angle = "pi/2", vx = "-pi", w = "2*pi" }
[[port]]
name = "D"
body = "ground"
at = [2, 0, 0]
[[connection]]
name = "A"
type = "pin"
a = "ground"
b = "left.begin"
[[connection]]
name = "B"
type = "pin"
a = "left.end"
b = "coupler.begin"
[[connection]]
name = "C"
type = "pin"
a = "coupler.end"
b = "right.end"
[[connection]]
name = "E"
type = "pin"
a = "D"
b = "right.begin"
)toml",
                         "cartesian.toml", options);
}

void cartesian(StudyContext& context, StudyResult& result) {
  context.progress("the same in Cartesian coordinates");
  Spec spec = cartesian_links();
  spec.settings.step = spec.settings.output_every = 0.04;
  spec.settings.end = 10.0;
  spec.settings.glue = {"gluing", {}, {}};
  Part& part = result.add_part("Section 3.3: Cartesian coordinates",
                               "With every link free in the plane its coordinates are not slow any more: they go to and fro once "
                               "per turn, and a tenth of the "
                               "step is taken.");
  const ModuleRun run = run_modules(spec);
  const std::vector<double> t = run["t"], v = run["v.left.place.x"], a = run["a.left.place.x"];
  std::vector<double> v_exact, a_exact;
  double drift = 0.0;
  for (std::size_t i = 0; i < t.size(); ++i) {
    const double angle = std::numbers::pi / 2 + 2 * std::numbers::pi * t[i] - std::pow(t[i], 3) / 81.0, w = exact_speed(t[i]);
    v_exact.push_back(-0.5 * std::sin(angle) * w);
    a_exact.push_back(-0.5 * (std::cos(angle) * w * w + std::sin(angle) * exact_acceleration(t[i])));
    drift = std::max(drift, std::abs(v[i] - v_exact[i]));
  }
  part.figures.push_back({"Fig. 6: velocity of the middle of body 2, along x",
                          "t (s)",
                          "m/s",
                          false,
                          false,
                          {{"exact", t, v_exact}, {"glued, 0.04 s", t, v, SeriesStyle::kPoints}}});
  part.figures.push_back({"Fig. 7: its acceleration",
                          "t (s)",
                          "m/s²",
                          false,
                          false,
                          {{"exact", t, a_exact}, {"glued, 0.04 s", t, a, SeriesStyle::kPoints}}});
  const double share = drift / std::numbers::pi;
  part.claims.push_back(
      {"cartesian", "In Cartesian coordinates the solution drifts a little even with steps of 0.04 s", "Figs. 6, 7",
       run.summary.completed
           ? fmt::format("off by up to {:.2g} m/s of {:.3g} m/s in the whole run, at most {} iterations per step", drift,
                         std::numbers::pi, run.summary.modules->most_iterations)
           : run.summary.status,
       run.summary.completed && share > 1e-3 && share < 0.3 ? Holds::kYes : Holds::kNo,
       "a drift that grows to the size of the motion is not a little one"});
}

/// The open chain of the paper, cut where body 4 meets the ground: three relative angles.
Spec open_chain() {
  return read_model_text(R"toml(
linkwork = 1
name = "parallel four-bar"
[settings]
gravity = [0, 0, 0]
[[body]]
name = "b2"
mass = 10
com = [0.5, 0, 0]
inertia = [1, 1, 1]
[[body]]
name = "b3"
mass = 20
com = [1, 0, 0]
inertia = [2, 2, 2]
[[body]]
name = "b4"
mass = 10
com = [0.5, 0, 0]
inertia = [1, 1, 1]
[[joint]]
name = "q1"
type = "revolute"
parent = { body = "ground" }
child = { body = "b2" }
position = "pi/2"
velocity = "2*pi"
fixed = true
[[joint]]
name = "q2"
type = "revolute"
parent = { body = "b2", at = [1, 0, 0] }
child = { body = "b3" }
position = "-pi/2"
velocity = "-2*pi"
[[joint]]
name = "q3"
type = "revolute"
parent = { body = "b3", at = [2, 0, 0] }
child = { body = "b4" }
position = "-pi/2"
velocity = "2*pi"
[[closure]]
name = "cut"
type = "pin"
a = { body = "b4", at = [1, 0, 0] }
b = { body = "ground", at = [2, 0, 0] }
[[force]]
type = "torque"
joint = "q1"
value = "-2*t"
)toml",
                         "open_chain.toml");
}

/// kappa = largest eigenvalue of (U' M^-1 U)(U' M U), U an orthonormal null basis of A: with the identity in place of M the
/// acceleration's projection multiplies errors by |1 - kappa|.
struct Contraction {
  double kappa = 0.0;
  std::vector<double> gauss, identity;  // residuals of the two iterations
};

Contraction contraction(System& system) {
  const MatX<double> M = system.mass_matrix(), A = system.jacobian();
  const VecX<double> force = system.work().tau - system.bias(), b = system.terms().b;
  const Eigen::CompleteOrthogonalDecomposition<MatX<double>> decomposition(A);
  const MatX<double> pseudo = decomposition.pseudoInverse();
  const MatX<double> onto = MatX<double>::Identity(M.rows(), M.rows()) - pseudo * A;
  const Eigen::SelfAdjointEigenSolver<MatX<double>> eigen(onto);
  const auto free = M.rows() - decomposition.rank();
  const MatX<double> U = eigen.eigenvectors().rightCols(free), Minv = M.inverse();
  Contraction result;
  result.kappa = ((U.transpose() * Minv * U) * (U.transpose() * M * U)).eigenvalues().cwiseAbs().maxCoeff();
  const MatX<double> gauss = Minv * A.transpose() * (A * Minv * A.transpose()).inverse();
  for (const bool with_mass : {true, false}) {
    VecX<double> a = VecX<double>::Unit(M.rows(), 0);  // somewhere
    std::vector<double>& residuals = with_mass ? result.gauss : result.identity;
    for (int k = 0; k < 12; ++k) {
      const VecX<double> residual = onto * (M * a - force);
      residuals.push_back(std::max(1e-16, residual.norm()));
      const VecX<double> step = -Minv * residual;
      const VecX<double> miss = A * (a + step) - b;
      a += with_mass ? VecX<double>(step - gauss * miss) : VecX<double>(onto * step - pseudo * (A * a - b));
    }
  }
  return result;
}

/// A step of the algorithm, with accelerations projected by the mass matrix (32) or, as at first, by the identity (27).
struct GluedStep {
  std::vector<double> residuals;  // of the dynamics, by iteration
  bool converged = false;
};

/// Steps of Newmark's method with beta = 1/4 and gamma = 1/2, until one does not converge.
std::vector<GluedStep> glued_steps(const Model& model, State state, bool with_mass, int steps) {
  constexpr int kMost = 40;
  constexpr double kConverged = 1e-9, kLost = 1e6;
  System system(model);
  const auto at = [&](const State& where) {
    system.update(where);
    system.update_forces();
  };
  const auto by_mass = [&] {
    const MatX<double> A = system.jacobian(), Minv = system.mass_matrix().inverse();
    return MatX<double>(Minv * A.transpose() * (A * Minv * A.transpose()).inverse());
  };
  const auto forces = [&] { return VecX<double>(system.work().tau - system.bias()); };
  at(state);
  VecX<double> a = system.mass_matrix().inverse() * forces();
  a += by_mass() * (system.terms().b - system.jacobian() * a);
  std::vector<GluedStep> done;
  while (static_cast<int>(done.size()) < steps && (done.empty() || done.back().converged)) {
    GluedStep& step = done.emplace_back();
    const VecX<double> change = kStep * state.v + 0.5 * kStep * kStep * a;
    displace(model.tree, state.q.data(), change.data());
    state.v += kStep * a;
    state.t += kStep;
    for (int k = 0; k < kMost; ++k) {
      at(state);
      const MatX<double> M = system.mass_matrix(), A = system.jacobian();
      const MatX<double> pseudo = A.completeOrthogonalDecomposition().pseudoInverse();
      const MatX<double> onto = MatX<double>::Identity(M.rows(), M.rows()) - pseudo * A;
      const VecX<double> residual = onto * (M * a - forces()), miss = A * a - system.terms().b;
      step.residuals.push_back(std::max(1e-16, residual.norm() + miss.norm()));
      step.converged = step.residuals.back() < kConverged && system.terms().phi.norm() < kConverged;
      if (step.converged || !(step.residuals.back() < kLost)) break;
      const VecX<double> free = -M.inverse() * residual;
      const VecX<double> correction =
          with_mass ? VecX<double>(free - by_mass() * (A * free + miss)) : VecX<double>(onto * free - pseudo * miss);
      const VecX<double> moved = 0.25 * kStep * kStep * correction;
      const VecX<double> closed = moved - pseudo * (A * moved + system.terms().phi);
      a += correction;
      displace(model.tree, state.q.data(), closed.data());
      at(state);
      state.v += 0.5 * kStep * correction;
      state.v -=
          system.jacobian().completeOrthogonalDecomposition().pseudoInverse() * (system.jacobian() * state.v - system.terms().u);
    }
  }
  return done;
}

/// The two versions in time steps: what the factor at one position promises, happens.
void identity_in_time(const Model& model, const State& start, Part& part) {
  const std::vector<GluedStep> first = glued_steps(model, start, false, 25), second = glued_steps(model, start, true, 25);
  std::size_t most = 0;
  for (const GluedStep& step : second) most = std::max(most, step.residuals.size() - 1);
  const auto series = [](const char* name, const GluedStep& step) {
    std::vector<double> count;
    for (std::size_t k = 0; k < step.residuals.size(); ++k) count.push_back(static_cast<double>(k));
    return Series{name, count, step.residuals, SeriesStyle::kLinePoints};
  };
  part.figures.push_back({"Residual in the first time step of 0.4 s",
                          "iteration",
                          "residual",
                          false,
                          true,
                          {series("identity", first.front()), series("Gauss", second.front())}});
  const std::vector<double>& residuals = first.back().residuals;
  part.claims.push_back({"identity-in-time", "The first version diverges in time stepping", "it does not converge",
                         first.back().converged
                             ? fmt::format("{} steps of 0.4 s converge", first.size())
                             : fmt::format("step {} of 0.4 s: the residual goes from {:.2g} to {:.2g} in {} iterations",
                                           first.size(), residuals.front(), residuals.back(), residuals.size() - 1),
                         !first.back().converged && residuals.back() > residuals.front() ? Holds::kYes : Holds::kNo});
  part.claims.push_back({"gauss-in-time", "The new version takes the same steps in a few iterations", "2 iterations",
                         fmt::format("25 steps of 0.4 s, at most {} iterations in one", most),
                         second.size() == 25 && second.back().converged && most <= 4 ? Holds::kYes : Holds::kNo});
}

void identity_projection(StudyContext& context, StudyResult& result) {
  context.progress("the projection that does not converge");
  const Model model = build_model(open_chain());
  AssemblyReport report;
  State state = assemble(model, report);
  System system(model);
  Part& part = result.add_part(
      "Sections 3.1 and 3.2: which projection converges",
      "The first version of the algorithm projects accelerations with the identity in place of the mass matrix, and does not "
      "converge. That can be told beforehand: errors are multiplied by |1 - kappa| each time, kappa being the largest eigenvalue "
      "of (U'M⁻¹U)(U'MU) with U a basis of the motions the constraints leave. Gauss' principle asks for M, and then one "
      "iteration "
      "is enough at a given position.");
  std::vector<double> angles, kappas;
  double low = std::numeric_limits<double>::infinity(), high = 0.0;
  Contraction shown;
  for (int k = 1; k < 60; ++k) {
    const double turn = 2.0 * std::numbers::pi * k / 60.0;
    if (std::abs(std::sin(turn + std::numbers::pi / 2)) < 0.15) continue;  // flat
    State turned = state;
    turned.t = 5.0;                                           // for the torque
    const VecX<double> change = turn / state.v[0] * state.v;  // angles are linear in one another
    displace(model.tree, turned.q.data(), change.data());
    system.update(turned);
    system.update_forces();
    const Contraction at = contraction(system);
    angles.push_back(turn + std::numbers::pi / 2);
    kappas.push_back(at.kappa);
    low = std::min(low, at.kappa);
    high = std::max(high, at.kappa);
    if (k == 5) shown = at;
  }
  part.figures.push_back(
      {"kappa over a turn of the crank",
       "q1 (rad)",
       "kappa",
       false,
       false,
       {{"kappa", angles, kappas}, {"limit of convergence", {angles.front(), angles.back()}, {2.0, 2.0}, SeriesStyle::kDashed}}});
  std::vector<double> count;
  for (std::size_t k = 0; k < shown.gauss.size(); ++k) count.push_back(static_cast<double>(k));
  part.figures.push_back(
      {"Residual of the dynamics, iteration by iteration",
       "iteration",
       "residual",
       false,
       true,
       {{"identity", count, shown.identity, SeriesStyle::kLinePoints}, {"Gauss", count, shown.gauss, SeriesStyle::kLinePoints}}});
  const double measured = shown.identity[9] / shown.identity[8], predicted = std::abs(1.0 - shown.kappa);
  part.claims.push_back({"identity", "The projection with the identity does not converge on the parallel four-bar",
                         "it does not converge",
                         fmt::format("kappa between {:.2f} and {:.2f}, errors grow by {:.3f} each time (predicted {:.3f})", low,
                                     high, measured, predicted),
                         low > 2.0 && measured > 1.0 && std::abs(measured / predicted - 1.0) < 0.02 ? Holds::kYes : Holds::kNo});
  part.claims.push_back({"gauss", "Gauss' principle of least constraint makes it converge", "32 replaces 27",
                         fmt::format("the residual falls from {:.2g} to {:.1e} in one iteration", shown.gauss[0], shown.gauss[1]),
                         shown.gauss[1] < 1e-9 * shown.gauss[0] ? Holds::kYes : Holds::kNo});
  identity_in_time(model, state, part);
}

void four_bar(StudyContext& context, StudyResult& result) {
  context.progress("the four-bar of another paper");
  Part& part = result.add_part("Beyond the paper: a four-bar whose angles are not linear in one another",
                               "The paper's example is gentle. On the four-bar of [Khan2006] as two modules the iteration matrix "
                               "is not exact any more; the "
                               "method keeps its order and needs few iterations.");
  const double exact = 2.8281720120366263;  // at 1 s, by an independent solution with tight tolerances
  Table table{"The crank after 1 s", {"step (s)", "error (rad)", "ratio", "iterations: most", "mean"}};
  double before = 0.0, worst_ratio = 4.0;
  int most = 0;
  for (const double step : {0.01, 0.005, 0.0025, 0.00125}) {
    const ModuleRun run = glued(context, "four_bar_modules", "gluing", step, 1.0);
    const double error = std::abs(run["q.left.theta"].back() - exact);
    const double ratio = before / error;
    if (before > 0.0 && std::abs(ratio - 4.0) > std::abs(worst_ratio - 4.0)) worst_ratio = ratio;
    most = std::max(most, run.summary.modules->most_iterations);
    table.rows.push_back({step, error, before > 0.0 ? Cell(ratio) : Cell(std::string("")),
                          static_cast<double>(run.summary.modules->most_iterations), run.summary.modules->mean_iterations});
    before = error;
  }
  part.tables.push_back(table);
  part.claims.push_back({"order", "Newmark's method is of second order", "order 2",
                         fmt::format("halved steps divide the error by 4, at worst {:.2f}", worst_ratio),
                         std::abs(worst_ratio - 4.0) < 0.6 ? Holds::kYes : Holds::kNo});
  part.claims.push_back({"few", "Few iterations suffice", "2", fmt::format("at most {}", most),
                         most <= 4 ? Holds::kYes : Holds::kNo, "more than in the gentle example"});
}

StudyResult run_gluing(StudyContext& context) {
  StudyResult result;
  gluing::stiff_integration(context, result);
  long_steps(context, result);
  cartesian(context, result);
  identity_projection(context, result);
  four_bar(context, result);
  return result;
}

}  // namespace

Study gluing_study() {
  return {{"gluing", "A gluing algorithm for modules developed apart",
           "the parallel four-bar with steps of 0.4 s: speeds, forces, iterations; which projection converges", "Tseng2001",
           "F.-C. Tseng, G. M. Hulbert: A gluing algorithm for network-distributed multibody dynamics simulation, 2001"},
          run_gluing};
}

}  // namespace linkwork::studies
