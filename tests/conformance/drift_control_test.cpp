#include <gtest/gtest.h>

#include <Eigen/QR>
#include <cmath>
#include <numbers>

#include "linkwork/coordinates/fully_augmented.h"
#include "linkwork/formulations/catalog.h"
#include "linkwork/simulation/simulation.h"
#include "linkwork/stabilizations/catalog.h"
#include "linkwork/tree/kinematics.h"
#include "tests/support/mechanisms.h"

namespace linkwork {
namespace {

Summary run(const Spec& spec, State* end = nullptr) {
  const Model model = build_model(spec);
  Simulation simulation(model);
  const Summary summary = simulation.run();
  EXPECT_TRUE(summary.completed) << summary.status;
  if (end) *end = simulation.state();
  return summary;
}

Spec with_settings(const std::string& model, const std::string& stabilization, const std::string& integrator, double step,
                   double end) {
  Spec spec = test::library_spec(model);
  spec.settings.formulation = {"schur", {}, {}};
  spec.settings.stabilization = parse_choice(stabilization, {});
  spec.settings.integrator = {integrator, {}, {}};
  spec.settings.step = step;
  spec.settings.end = end;
  return spec;
}

Summary minute_of_the_four_bar(const std::string& formulation, const std::string& stabilization) {
  Spec spec = test::library_spec("four_bar", {{"torque", "0"}});
  spec.settings.formulation = parse_choice(formulation, {});
  spec.settings.stabilization = parse_choice(stabilization, {});
  spec.settings.step = 2e-3;
  spec.settings.end = 60.0;
  return run(spec);
}

/// In both metrics, where there is a choice.
std::vector<std::string> variants(const CatalogInfo& info) {
  for (const OptionInfo& option : info.options)
    if (option.name == "mass") return {info.name + ":mass=0", info.name + ":mass=1"};
  return {info.name};
}

class EveryDriftControl : public testing::TestWithParam<std::size_t> {};
INSTANTIATE_TEST_SUITE_P(Catalog, EveryDriftControl, testing::Range<std::size_t>(0, stabilizations().size()),
                         [](const auto& p) { return stabilizations()[p.param].info.name; });

/// What is held at a level stays at the tolerance. Anything else is measured by what the error becomes without control: feedback,
/// or control at the other level, must make it far smaller. A correction of accelerations has nothing to do where they are exact;
/// it is for formulations that stop short of that.
TEST_P(EveryDriftControl, BoundsTheDriftOfTheFourBarForAMinute) {
  const auto& entry = stabilizations()[GetParam()];
  const bool on_accelerations = entry.info.name == "acceleration";
  const std::string formulation = on_accelerations ? "augmented-lagrangian:iterations=1,alpha=1000" : "schur";
  const Summary without = minute_of_the_four_bar(formulation, "none");
  EXPECT_GT(without.position_error_max, 1e-6);
  EXPECT_GT(without.velocity_error_max, 1e-7);
  if (entry.info.name == "none") return;
  const double tolerance = Settings{}.constraint_tolerance;
  for (const std::string& choice : variants(entry.info)) {
    const Summary with = minute_of_the_four_bar(formulation, choice);
    EXPECT_LT(with.position_error_max, entry.traits.holds_positions ? tolerance : 1e-3 * without.position_error_max) << choice;
    const bool only_positions = entry.traits.holds_positions && !entry.traits.holds_velocities;
    const double far_smaller = (only_positions ? 2.0 : 0.1) * without.velocity_error_max;
    EXPECT_LT(with.velocity_error_max, entry.traits.holds_velocities ? tolerance : far_smaller) << choice;
  }
}

TEST_P(EveryDriftControl, LeavesAConsistentStateAlone) {
  const Model model = build_model(test::library_spec("spatial_four_bar"));
  std::mt19937 random(71);
  State state = test::random_consistent_state(model, random);
  const State before = state;
  System system(model);
  const auto control = make_chosen(stabilizations(), {stabilizations()[GetParam()].info.name, {}, {}}, "stabilization", model);
  ASSERT_TRUE(control->project(system, state, false).ok());
  EXPECT_LT((state.q - before.q).cwiseAbs().maxCoeff(), 1e-12);
  EXPECT_LT((state.v - before.v).cwiseAbs().maxCoeff(), 1e-12);
}

TEST(PostStabilization, KeepsTheFourBarAtRounding) {
  const Summary summary = run(with_settings("four_bar", "post", "rk2", 0.01, 1.5));
  EXPECT_LT(summary.position_error_max, 1e-13);
  EXPECT_LT(summary.velocity_error_max, 1e-13);
}

/// Opposite bars of a ring of equal bars stay parallel. Where it folds flat other branches begin, on which two neighbours stay
/// together and turn against the other two. Returns the largest angle between opposite bars, over all steps.
double largest_angle_between_opposite_bars(const Spec& spec) {
  const Model model = build_model(spec);
  Simulation simulation(model);
  double largest = 0.0;
  int folded = 0;
  bool open = true;
  Observer observer;
  observer.progress = [&](double, double) {
    const VecX<double>& q = simulation.state().q;
    for (const double turned : {q[1] + q[2], q[2] + q[3]})
      largest = std::max(largest, std::abs(std::remainder(turned - std::numbers::pi, 2.0 * std::numbers::pi)));
    if (const bool now = std::sin(q[1]) > 0.0; now != open) ++folded, open = now;
  };
  EXPECT_TRUE(simulation.run(observer).completed);
  EXPECT_GT(folded, 5);  // it has passed through
  return largest;
}

/// The ring folds flat about twice a second. A wrong branch there would differ by angles of the order of 1.
TEST(PostStabilization, CarriesTheRingThroughItsCollinearPositionsOnTheRightBranch) {
  State end, fine, tight;
  const Summary summary = run(with_settings("ring", "post", "rk2", 0.01, 10.0), &end);
  EXPECT_LT(summary.position_error_max, 1e-14);
  EXPECT_LT(run(with_settings("ring", "post", "rk2", 1e-3, 10.0), &fine).position_error_max, 1e-14);
  run(with_settings("ring", "projection", "rk4", 2.5e-4, 10.0), &tight);
  const double coarse_error = (end.q - tight.q).cwiseAbs().maxCoeff(), fine_error = (fine.q - tight.q).cwiseAbs().maxCoeff();
  EXPECT_LT(coarse_error, 0.3);
  EXPECT_LT(largest_angle_between_opposite_bars(with_settings("ring", "post", "rk2", 0.01, 10.0)), 1e-7);
  EXPECT_GT(coarse_error, 5.0 * fine_error);  // the same solution; steps across singular positions cost the second order
}

TEST(DriftControl, MovesByTheSmallestChangeInItsMetric) {
  const Model model = build_model(test::library_spec("spatial_four_bar"));
  std::mt19937 random(72);
  System system(model);
  for (const Metric metric : {Metric::kMass, Metric::kIdentity}) {
    State state = test::random_consistent_state(model, random);
    const VecX<double> kick = 1e-3 * test::uniform_vector(random, model.tree.nv);
    state.v += kick;
    const VecX<double> before = state.v;
    ManifoldProjection projection(model, metric);
    system.update(state);
    projection.correct_velocity(system, state);
    const VecX<double> change = state.v - before;
    // At right angles, in the metric, to every motion the constraints allow: W change = A' x for some x.
    const MatX<double> A = system.jacobian();
    const VecX<double> force = metric == Metric::kMass ? VecX<double>(system.mass_matrix() * change) : change;
    const VecX<double> x = A.transpose().colPivHouseholderQr().solve(force);
    EXPECT_LT((A.transpose() * x - force).norm(), 1e-12 * force.norm() + 1e-15);
    system.update(state);
    EXPECT_LT(system.terms().rate.cwiseAbs().maxCoeff(), 1e-14);
  }
}

VecX<double> answer(LoopElimination& loops, System& system, const VecX<double>& error, bool again) {
  const Tree& tree = system.tree();
  VecX<double> change(tree.nv), lambda = VecX<double>::Zero(error.size());
  if (again) {
    loops.respond_again(tree, system.work(), error, change, lambda);
  } else {
    loops.inward_unforced(tree, system.work(), system.terms().groups, error);
    loops.outward(tree, system.work(), change, lambda);
  }
  VecX<double> all(change.size() + lambda.size());
  all << change, lambda;
  return all;
}

TEST(DriftControl, LoopsOnceFactoredAnswerToOtherErrors) {
  for (const std::string name : {"four_bar", "n_four_bar", "rover", "stewart", "bricard", "quick_return", "nested_modules"})
    for (const bool free : {false, true}) {
      const Model joints = build_model(test::library_spec(name)), bodies = fully_augmented(joints);
      const Model& model = free ? bodies : joints;
      std::mt19937 random(75);
      const State by_joints = test::random_state(joints, test::start_state(joints), random, 0.3);
      State by_bodies{0.0, VecX<double>(bodies.tree.nq), VecX<double>(bodies.tree.nv), 0.0, {}};
      System moved(joints);
      moved.update(by_joints);
      free_body_state(joints, moved.work(), by_bodies.q.data(), by_bodies.v.data());
      System system(model);
      system.update(free ? by_bodies : by_joints);
      LoopElimination loops = cut_loops(model);
      const VecX<double> error = test::uniform_vector(random, model.row_count());
      const VecX<double> expected = answer(loops, system, error, false);
      answer(loops, system, test::uniform_vector(random, model.row_count()), false);
      const double equal = free ? 1e-7 : 1e-10;  // free rods, which have no inertia about their axes, lose digits
      EXPECT_LT(test::relative_difference(answer(loops, system, error, true), expected), equal) << name << free;
    }
}

/// With factors of where the positions were before they were corrected, if that is near enough.
TEST(DriftControl, CorrectsVelocitiesAsWhereThePositionsAre) {
  for (const std::string name : {"four_bar", "rover", "spatial_four_bar", "nested_modules"})
    for (const double off : {1e-12, 1e-10, 1e-7, 1e-3}) {
      const Model model = build_model(test::library_spec(name));
      std::mt19937 random(76);
      State state = test::random_consistent_state(model, random);
      const VecX<double> shift = off * test::uniform_vector(random, model.tree.nv);
      displace(model.tree, state.q.data(), shift.data());
      state.v += off * test::uniform_vector(random, model.tree.nv);
      System system(model);
      ManifoldProjection projection(model), exact(model);
      projection.project_position(system, state, 1e-15);
      State expected = state;
      System other(model);
      other.update(expected);
      exact.correct_velocity(other, expected);
      projection.project_velocity(system, state, 1e-15);
      EXPECT_LT((state.v - expected.v).cwiseAbs().maxCoeff(), 1e-15 * (1.0 + model.speed(state.v))) << name << off;
      system.update(state);
      EXPECT_LT(model.largest_error(system.terms().rate), 1e-14 * (1.0 + model.speed(state.v))) << name << off;
    }
}

/// Without multipliers the accelerations of "compliance" at a consistent state are the free ones; the correction makes them, and
/// the multipliers, exact.
TEST(AccelerationControl, MakesFreeAccelerationsExact) {
  for (const std::string name : {"four_bar", "bricard", "stewart"}) {
    const Model model = build_model(test::library_spec(name));
    std::mt19937 random(73);
    State state = test::random_consistent_state(model, random);
    const auto control = [&](const char* stabilization) {
      return make_chosen(stabilizations(), {stabilization, {}, {}}, "stabilization", model);
    };
    EquationsOfMotion exact(model, make_chosen(formulations(), {"schur", {}, {}}, "formulation", model), control("none"));
    EquationsOfMotion corrected(model,
                                make_chosen(formulations(), {"compliance", {{"stiffness", 0.0}}, {}}, "formulation", model),
                                control("acceleration"));
    Derivative expected, rates;
    ASSERT_TRUE(exact.evaluate(state, expected).ok());
    ASSERT_TRUE(corrected.evaluate(state, rates).ok());
    EXPECT_LT(test::relative_difference(rates.vdot, expected.vdot), 1e-10) << name;
    const MatX<double> A = exact.system().jacobian();
    EXPECT_LT(test::relative_difference(A.transpose() * corrected.solution().lambda, A.transpose() * exact.solution().lambda),
              1e-10)
        << name;
  }
}

TEST(Baumgarte, TakesTheFirstOrderGainForRowsAtVelocityLevel) {
  Model model = build_model(test::library_spec("four_bar"));
  model.rows[1].holonomic = false;
  const auto baumgarte =
      make_chosen(stabilizations(), parse_choice("baumgarte:alpha=2,beta=3,gamma=7", {}), "stabilization", model);
  ConstraintTerms terms(model);
  terms.phi << 0.1, 0.2;
  terms.rate << 0.3, 0.4;
  terms.b << 1.0, 2.0;
  baumgarte->adjust(terms);
  EXPECT_DOUBLE_EQ(terms.b[0], 1.0 - 2.0 * 2.0 * 0.3 - 9.0 * 0.1);
  EXPECT_DOUBLE_EQ(terms.b[1], 2.0 - 7.0 * 0.4);
}

}  // namespace
}  // namespace linkwork
