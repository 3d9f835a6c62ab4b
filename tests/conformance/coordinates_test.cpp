#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <memory>

#include "linkwork/coordinates/fully_augmented.h"
#include "linkwork/coordinates/planar_loop.h"
#include "linkwork/simulation/coordinate_choice.h"
#include "linkwork/simulation/recorder.h"
#include "linkwork/simulation/simulation.h"
#include "tests/support/mechanisms.h"
#include "tests/support/tries.h"

namespace linkwork {
namespace {

Model in_coordinates(Spec spec, const std::string& coordinates) {
  spec.settings.coordinates = parse_choice(coordinates, {});
  spec.settings.stabilization = {"none", {}, {}};
  return build_model(spec);
}

/// A model solved in some coordinates, at states given in those of its tree.
class Solver {
 public:
  Solver(const Spec& spec, const std::string& coordinates)
      : model_(in_coordinates(spec, coordinates)),
        simulation_(model_),
        recorder_(simulation_.equations().model()),
        tree_(model_) {}

  const Model& model() const { return model_; }
  const std::vector<std::string>& columns() const { return recorder_.columns(); }
  std::span<const double> solve(const State& state) {
    EquationsOfMotion& equations = simulation_.equations();
    const Model& solved = equations.model();
    at_ = state;
    if (simulation_.coordinates() == "FA") {
      tree_.update(state);
      at_.q.resize(solved.tree.nq);
      at_.v.resize(solved.tree.nv);
      free_body_state(model_, tree_.work(), at_.q.data(), at_.v.data());
    }
    equations.start(at_);
    Derivative rates;
    EXPECT_EQ(equations.evaluate(at_, rates).trouble, "");
    redundant = std::ranges::count(equations.solution().dependent, 1) > 0;
    recorder_.record(equations, equations.system().state().t, row_);
    equations.accept_step();
    return row_;
  }

  /// The state as it was solved: embedding settles dependent coordinates to the last digit.
  const State& at() const { return at_; }
  bool redundant = false;

 private:
  Model model_;
  Simulation simulation_;
  Recorder recorder_;
  std::vector<double> row_;
  System tree_;
  State at_;
};

class CoordinatesOnModel : public testing::TestWithParam<std::string> {};

/// Whose constraints come and go, or constrain velocities only. By name: every process that runs a test asks.
const std::vector<std::string> kNotEmbeddable{"chaplygin_sleigh",
                                              "clutch_modules",
                                              "constant_speed_driver",
                                              "gripper",
                                              "latch",
                                              "rolling_modules",
                                              "slip_to_roll",
                                              "snakeboard",
                                              "stick_slip_disc",
                                              "train_modules",
                                              "two_arms_modules",
                                              "upright_disc"};

TEST(CoordinatesOnModels, AreThoseWhoseConstraintsCanBeEmbedded) {
  for (const std::string& name : test::library_models()) {
    const Model model = build_model(test::library_spec(name));
    const bool comes_and_goes = model.has_events() || !std::ranges::all_of(model.rows, &ConstraintRow::is_permanent);
    EXPECT_EQ(std::ranges::count(kNotEmbeddable, name), comes_and_goes ? 1 : 0) << name;
  }
}

std::vector<std::string> embeddable_models() {
  std::vector<std::string> names = test::library_models();
  std::erase_if(names, [](const std::string& name) { return std::ranges::count(kNotEmbeddable, name) > 0; });
  return names;
}
INSTANTIATE_TEST_SUITE_P(Library, CoordinatesOnModel, testing::ValuesIn(embeddable_models()),
                         [](const auto& p) { return p.param; });

/// Accelerations of all joints, cut or not. Where reactions are unique, those of the closures; where every body's acceleration is
/// the same, so is what its other joints do to it.
TEST_P(CoordinatesOnModel, GiveTheSameAccelerationsAndReactions) {
  constexpr int kStates = test::tries(10);
  const Spec spec = test::library_spec(GetParam());
  Solver tree(spec, "TA");
  std::vector<std::unique_ptr<Solver>> others;
  for (const char* coordinates : {"CE", "CE:analytic=0", "FA", "auto"})
    others.push_back(std::make_unique<Solver>(spec, coordinates));
  std::mt19937 random(11);
  for (int trial = 0; trial < kStates; ++trial) {
    others.front()->solve(test::random_consistent_state(tree.model(), random));
    const State state = others.front()->at();
    const auto expected_row = tree.solve(state);
    const std::vector<double> expected(expected_row.begin(), expected_row.end());
    for (std::size_t k = 0; k < others.size(); ++k) {
      const std::span<const double> row = others[k]->solve(state);
      ASSERT_EQ(others[k]->columns(), tree.columns());
      for (const std::string prefix : {"a.", "lambda.", "force."}) {
        if (prefix != "a." && tree.redundant) continue;
        double largest = 1e-9, difference = 0.0;
        for (std::size_t c = 0; c < row.size(); ++c) {
          if (!tree.columns()[c].starts_with(prefix)) continue;
          largest = std::max(largest, std::abs(expected[c]));
          difference = std::max(difference, std::abs(row[c] - expected[c]));
        }
        EXPECT_LT(difference / largest, 1e-9) << prefix << " with choice " << k << " at state " << trial;
      }
    }
  }
}

TEST_P(CoordinatesOnModel, HoldLoopsAtRoundingWhenEmbedded) {
  Spec spec = test::library_spec(GetParam());
  spec.settings.end = std::min(spec.settings.end, 10.0);
  spec.settings.integrator = {"rk4", {}, {}};
  const Model model = in_coordinates(spec, "CE");
  if (model.row_count() == 0) GTEST_SKIP() << "no loops";
  Simulation simulation(model);
  const Summary summary = simulation.run({});
  EXPECT_TRUE(summary.completed) << summary.status;
  const bool fell_back = std::ranges::any_of(
      summary.warnings, [](const std::string& warning) { return warning.find("treated as cut") != std::string::npos; });
  double largest = 0.0;  // angles of many turns are not known to 1e-16
  for (const auto& [name, value] : summary.final_state)
    if (name.starts_with("q.")) largest = std::max(largest, std::abs(value));
  EXPECT_LT(summary.position_error_max, fell_back ? 1e-3 : 1e-13 + 1e-15 * largest);
}

/// Any two joints of a planar loop can be the ones that follow.
TEST(PlanarLoop, ClosesByAnyTwoOfItsJoints) {
  for (const char* name : {"four_bar", "slider_crank", "quick_return"}) {
    const Model model = build_model(test::library_spec(name));
    const State start = test::start_state(model);
    int closed = 0;
    for (const FrameClosure& closure : model.frame_closures) {
      const std::optional<PlanarLoop> loop = PlanarLoop::of(model.tree, closure);
      if (!loop) continue;
      System system(model);
      for (int x = 1; x < model.tree.size(); ++x)
        for (int y = x + 1; y < model.tree.size(); ++y) {
          if (!loop->passes(x) || !loop->passes(y)) continue;
          State state = start;
          for (int node : {x, y}) state.q[model.tree.nodes[static_cast<std::size_t>(node)].q] += 0.02;
          const VecX<double> before = state.q;
          if (!loop->close(x, y, state.q.data())) continue;
          system.update(state);
          EXPECT_LT(system.terms().phi.segment(closure.first_row, closure.row_count).cwiseAbs().maxCoeff(), 1e-14)
              << name << " by " << x << " and " << y;
          EXPECT_LT((state.q - start.q).cwiseAbs().maxCoeff(), 1e-13) << "on the same branch";
          ++closed;
        }
    }
    EXPECT_GE(closed, 2) << name;
  }
}

TEST(PlanarLoop, KnowsSpatialLoops) {
  for (const char* name : {"bricard", "spatial_four_bar"}) {
    const Model model = build_model(test::library_spec(name));
    for (const FrameClosure& closure : model.frame_closures) EXPECT_FALSE(PlanarLoop::of(model.tree, closure)) << name;
  }
}

TEST(AutomaticCoordinates, TakeTheCheaperOfBothForEachCluster) {
  for (const std::string& name : test::library_models()) {
    const Model model = build_model(test::library_spec(name));
    const CoordinateCosts costs = predict_costs(model, test::start_state(model));
    for (const CoordinateCosts::Cluster& cluster : costs.clusters) {
      EXPECT_FALSE(cluster.embed && cluster.embedded >= cluster.cut) << name;
      EXPECT_GT(cluster.cut, 0.0);
    }
    const double best = std::isfinite(costs.ce) ? std::min(costs.ta, costs.ce) : costs.ta;
    EXPECT_LE(costs.automatic, 1.06 * best) << name;
  }
}

}  // namespace
}  // namespace linkwork
