#include "tests/attack/judge.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <optional>
#include <random>

#include "linkwork/dynamics/equations_of_motion.h"
#include "linkwork/formulations/catalog.h"
#include "linkwork/simulation/check.h"
#include "linkwork/simulation/simulation.h"
#include "linkwork/tree/kinematics.h"
#include "tests/attack/dense_oracle.h"
#include "tests/oracles/newton_euler_oracle.h"

namespace linkwork::test {

namespace {

constexpr Real kNearlySingular = 1e-4L;  // below it, and above rounding, a change of rank is near
constexpr Real kRounding = 1e-10L;
constexpr Real kDetermined = 1e-7L;  // below it masses leave a motion undetermined
constexpr double kRoundings = 10.0;  // of the given numbers, that a method may add up to

bool is_coordinates(const std::string& mode) { return mode == "TA" || mode == "FA" || mode == "CE" || mode == "auto"; }

Model model_in(Spec spec, const std::string& mode) {
  spec.settings.stabilization = {"none", {}, {}};
  if (is_coordinates(mode)) {
    spec.settings.coordinates = {mode, {}, {}};
  } else {
    spec.settings.coordinates = {"TA", {}, {}};
    spec.settings.formulation = {mode, {}, {}};
  }
  return build_model(spec);
}

/// Words of a refusal, or a verdict by `compare`, which returns the error.
template <class Compare>
Verdict verdict(const std::string& mode, double tolerance, const Compare& compare) {
  Verdict result{mode, Verdict::Kind::kRight, 0.0, ""};
  try {
    result.error = compare(result);
    if (result.kind == Verdict::Kind::kRight && !(result.error <= tolerance)) result.kind = Verdict::Kind::kWrong;
  } catch (const InputError& error) {
    result.kind = Verdict::Kind::kRefused;
    result.words = error.what();
  }
  return result;
}

double refuse(Verdict& verdict, const std::string& words) {
  verdict.kind = Verdict::Kind::kRefused;
  verdict.words = words;
  return 0.0;
}

double acceleration_error(const Spec& spec, const std::string& mode, const DenseOracle::Accelerations& expected,
                          Verdict& verdict) {
  const Model model = model_in(spec, mode);
  Simulation simulation(model);
  EquationsOfMotion& equations = simulation.equations();
  State state = simulation.state();
  equations.start(state);
  Derivative rates;
  const Status status = equations.evaluate(state, rates);
  if (!status.ok()) return refuse(verdict, status.trouble);
  System& system = equations.system();
  update_accelerations(equations.model().tree, rates.vdot.data(), system.work());
  const std::vector<BodyAcceleration> found = engine_accelerations(spec, system);
  Real largest = 0;
  for (std::size_t i = 0; i < found.size(); ++i) {
    const Real linear = (found[i].a.cast<Real>() - expected.a[i]).norm();
    const Real angular = (found[i].alpha.cast<Real>() - expected.alpha[i]).norm() * expected.size[i];
    if (!(linear + angular < std::numeric_limits<Real>::infinity())) return std::numeric_limits<double>::infinity();
    largest = std::max({largest, linear, angular});
  }
  return static_cast<double>(largest / expected.scale);
}

void change(FrameSpec& frame, const std::function<double()>& factor) {
  for (double& x : frame.at) x *= factor();
  frame.rotation.coeffs() = frame.rotation.coeffs().unaryExpr([&](double x) { return x * factor(); });
  frame.rotation.normalize();
}

/// How far the frames of joints and closures on a body are from its centre of mass.
double longest_arm(const Spec& spec, const BodySpec& body) {
  double arm = 0.0;
  const auto reach = [&](const FrameSpec& frame) {
    if (frame.body == body.name) arm = std::max(arm, (frame.at - body.com).norm());
  };
  for (const JointSpec& joint : spec.joints) reach(joint.parent), reach(joint.child);
  for (const ClosureSpec& closure : spec.closures) reach(closure.a), reach(closure.b);
  return arm;
}

/// The largest change of an acceleration.
Real change_of(const DenseOracle::Accelerations& from, const DenseOracle::Accelerations& to) {
  Real largest = 0;
  for (std::size_t i = 0; i < to.a.size(); ++i)
    largest = std::max({largest, (to.a[i] - from.a[i]).norm(), (to.alpha[i] - from.alpha[i]).norm() * from.size[i]});
  return largest;
}

/// By how much accelerations change, relative to the largest, if all numbers that the file gives change by a share, by that
/// share. Numbers are rounded before an engine sees them: a method that is as good as can be is off by this times that rounding.
/// Inertias are those about joints, as recursions keep them: about its centre a point mass may have none to be rounded. Nor do
/// forces on joints come to an engine exactly: they are sums, of loads that the motion may not feel, the weight of a heavy body
/// that others hold, say.
double sensitivity(const Spec& spec, const DenseOracle& oracle, const DenseOracle::Accelerations& expected) {
  constexpr double kShare = 1e-11;  // far above the rounding of the oracle, far below what counts as a change of rank
  constexpr int kTrials = 4;
  constexpr Real kOfLoads = 0.3L;  // which are taken to be all at their worst at once
  std::mt19937_64 engine(1);
  const std::function<double()> factor = [&] { return 1.0 + (engine() % 2 == 0 ? kShare : -kShare); };
  Real of_numbers = 0, of_loads = 0;
  for (int trial = 0; trial < kTrials; ++trial) {
    Spec changed = spec;
    for (BodySpec& body : changed.bodies) {
      body.mass *= factor();
      body.inertia *= factor();
      body.inertia.diagonal().array() += kShare * body.mass * std::pow(longest_arm(spec, body), 2);
      for (double& x : body.com) x *= factor();
    }
    for (JointSpec& joint : changed.joints) {
      change(joint.parent, factor), change(joint.child, factor);
      for (double& x : joint.position) x *= factor();
      for (double& x : joint.velocity) x *= factor();
    }
    for (ClosureSpec& closure : changed.closures) change(closure.a, factor), change(closure.b, factor);
    of_numbers = std::max(of_numbers, change_of(expected, DenseOracle(changed).solve()));
  }
  for (Eigen::Index k = 0; k < expected.loads.size(); ++k) {
    RealVector rounding = RealVector::Zero(expected.loads.size());
    rounding[k] = Real(kShare) * expected.loads[k];
    of_loads += change_of(expected, oracle.solve(rounding));
  }
  return static_cast<double>(std::max(of_numbers, kOfLoads * of_loads) / expected.scale / Real(kShare));
}

/// Where rows at velocity level let nothing be embedded, there is no CE.
std::vector<std::string> coordinates_for(const Model& model) {
  const bool embeddable = std::ranges::all_of(model.rows, &ConstraintRow::is_permanent);
  return embeddable ? std::vector<std::string>{"TA", "FA", "CE", "auto"} : std::vector<std::string>{"TA", "FA", "auto"};
}

double freedom_error(const Spec& spec, const DenseOracle& oracle, Verdict& verdict) {
  const Model model = build_model(spec);
  const int checked = check(model).dof;
  std::vector<std::pair<std::string, int>> all{{"check", checked}};
  for (const std::string& mode : coordinates_for(model)) {
    Spec shortened = spec;
    shortened.settings.coordinates = {mode, {}, {}};
    shortened.settings.end = shortened.settings.step = 1e-9;
    const Model other = build_model(shortened);
    Simulation simulation(other);
    const Summary summary = simulation.run();
    if (!summary.completed) return refuse(verdict, fmt::format("{}: {}", mode, summary.status));
    all.emplace_back(mode, summary.dof);
  }
  for (const auto& [name, dof] : all)
    if (dof != oracle.dof()) verdict.words += fmt::format("{} {}, singular values {}; ", name, dof, oracle.dof());
  return verdict.words.empty() ? 0.0 : 1.0;
}

double run_error(const Spec& spec, const DenseOracle& oracle, const DenseOracle::Accelerations& at_start, int steps,
                 Verdict& verdict) {
  Real speed = 0, time = std::numeric_limits<Real>::infinity();
  for (std::size_t i = 0; i < spec.bodies.size(); ++i) {
    const FrameMotion& body = oracle.body(spec.bodies[i].name);
    const Real w = body.w.norm(), alpha = at_start.alpha[i].norm();
    speed = std::max({speed, body.v.norm(), at_start.size[i] * w});
    const Real v = body.v.norm(), a = at_start.a[i].norm(), size = at_start.size[i];
    if (w > 0) time = std::min(time, 1 / w);
    if (alpha > 0) time = std::min(time, 1 / std::sqrt(alpha));
    if (v > 0 && size > 0) time = std::min(time, size / v);
    if (a > 0 && size > 0) time = std::min(time, std::sqrt(size / a));
  }
  if (!(time < std::numeric_limits<Real>::infinity())) time = 1;
  Spec shortened = spec;
  shortened.settings.end = static_cast<double>(Real(0.05L) * time);
  shortened.settings.step = shortened.settings.end / steps;
  shortened.settings.output_every = shortened.settings.end;
  // Where nothing moves, what is left is the rounding of positions.
  const Real size = at_start.size.empty() ? Real(0) : *std::ranges::max_element(at_start.size);
  const Real moved = std::max(
      speed * Real(shortened.settings.end) + at_start.scale * Real(shortened.settings.end) * Real(shortened.settings.end),
      Real(1e-6L) * size);

  std::optional<std::vector<Pose<double>>> first;
  double largest = 0.0;
  for (const std::string& mode : coordinates_for(build_model(spec))) {
    shortened.settings.coordinates = {mode, {}, {}};
    const Model model = build_model(shortened);
    Simulation simulation(model);
    const Summary summary = simulation.run();
    if (!summary.completed) return refuse(verdict, fmt::format("{}: {}", mode, summary.status));
    System& system = simulation.equations().system();
    const State last = simulation.state();
    system.update(last);
    std::vector<Pose<double>> poses;
    for (std::size_t i = 1; i < system.model().bodies.size(); ++i)
      poses.push_back(system.X_WN(system.model().bodies[i].node) * system.model().bodies[i].X_NB);
    if (!first) {
      first = poses;
      continue;
    }
    for (std::size_t i = 0; i < poses.size(); ++i) {
      const double turned = (poses[i].R - (*first)[i].R).norm() * static_cast<double>(at_start.size[i]);
      const double apart = std::max(turned, (poses[i].p - (*first)[i].p).norm()) / static_cast<double>(moved);
      if (!(apart <= largest)) largest = apart, verdict.words = fmt::format("{} differs from TA", mode);
    }
  }
  return largest;
}

}  // namespace

std::vector<std::string> attack_modes() {
  std::vector<std::string> modes{"TA", "FA", "CE", "auto"};
  for (const auto& entry : formulations())
    if (entry.traits.exact && entry.traits.gives == Equations::kAcceleration && entry.info.name != "schur")
      modes.push_back(entry.info.name);
  modes.emplace_back("check");
  modes.emplace_back("runs");
  return modes;
}

Judgement judge(const Spec& spec, const std::vector<std::string>& modes, double tolerance) {
  constexpr double kRunsAgree = 1e-6;
  const DenseOracle oracle(spec);
  const DenseOracle::Accelerations expected = oracle.solve();
  Judgement result;
  result.dof = oracle.dof();
  result.rank = oracle.rank();
  result.rows = oracle.row_count();
  result.smallest_counted = static_cast<double>(oracle.smallest_counted());
  result.largest_left_out = static_cast<double>(oracle.largest_left_out());
  result.determined = static_cast<double>(expected.determined);
  if (oracle.smallest_counted() < kNearlySingular || oracle.largest_left_out() > kRounding)
    result.left_out = "nearly singular";
  else if (expected.determined < kDetermined)
    result.left_out = "not determined by its masses";
  else if (expected.velocity_error > Real(1e-10L) || expected.contradiction > Real(1e-9L))
    result.left_out = expected.velocity_error > Real(1e-10L) ? "contradictory in velocities" : "contradictory in accelerations";
  if (!result.left_out.empty()) return result;
  result.sensitivity = sensitivity(spec, oracle, expected);
  const double allowed = std::max(tolerance, kRoundings * std::numeric_limits<double>::epsilon() * result.sensitivity);
  result.is_sensitive = allowed > tolerance;
  for (const std::string& mode : modes) {
    if (mode == "check")
      result.verdicts.push_back(verdict(mode, 0.0, [&](Verdict& v) { return freedom_error(spec, oracle, v); }));
    else if (mode == "runs")
      result.verdicts.push_back(verdict(mode, kRunsAgree, [&](Verdict& v) {
        double error = run_error(spec, oracle, expected, 10, v);
        for (int steps : {40, 160})  // of steps too long all may differ
          if (error > kRunsAgree) error = run_error(spec, oracle, expected, steps, v);
        return error;
      }));
    else
      result.verdicts.push_back(verdict(mode, allowed, [&](Verdict& v) { return acceleration_error(spec, mode, expected, v); }));
  }
  return result;
}

}  // namespace linkwork::test
