#include "linkwork/lanes/lane_equations.h"

#include <gtest/gtest.h>

#include <memory>

#include "linkwork/formulations/catalog.h"
#include "linkwork/lanes/lane_group.h"
#include "linkwork/simulation/simulation.h"
#include "linkwork/stabilizations/catalog.h"
#include "tests/attack/random_mechanism.h"
#include "tests/support/mechanisms.h"
#include "tests/support/tries.h"

namespace linkwork {
namespace {

constexpr std::size_t kLanes = 4;
using Lanes = LanesOf<kLanes>;
using Mask = LaneMask<kLanes>;
using Equations = LaneEquations<kLanes>;

Spec in_tree_coordinates(Spec spec) {
  spec.settings.coordinates = {"TA", {}, {}};
  spec.settings.formulation = {"schur", {}, {}};
  spec.settings.stabilization = {"projection", {}, {}};
  spec.settings.integrator = {"rk4", {}, {}};
  return spec;
}

/// Instances of a mechanism, and the equations of motion of each alone.
struct Instances {
  explicit Instances(const Spec& spec) {
    for (std::size_t i = 0; i < kLanes; ++i) {
      simulations.push_back(std::make_unique<Simulation>(build_model(spec)));
      const Model& model = simulations.back()->equations().model();
      alone.push_back(
          std::make_unique<EquationsOfMotion>(model, make_chosen(formulations(), {"schur", {}, {}}, "formulation", model),
                                              make_chosen(stabilizations(), {"none", {}, {}}, "stabilization", model)));
    }
  }
  Equations together() {
    Equations::Systems systems;
    for (std::size_t i = 0; i < kLanes; ++i) systems[i] = &simulations[i]->equations().system();
    return Equations(systems);
  }
  const Model& model() { return simulations.front()->equations().model(); }

  std::vector<std::unique_ptr<Simulation>> simulations;
  std::vector<std::unique_ptr<EquationsOfMotion>> alone;
};

void set_lane(VecX<Lanes>& y, std::size_t lane, const State& state) {
  Moment at;
  pack(state, at);
  y.resize(at.y.size());
  for (Eigen::Index i = 0; i < y.size(); ++i) y[i].set(static_cast<int>(lane), at.y[i]);
}

VecX<double> lane_of(const VecX<Lanes>& y, std::size_t lane) {
  VecX<double> x(y.size());
  for (Eigen::Index i = 0; i < y.size(); ++i) x[i] = y[i][static_cast<int>(lane)];
  return x;
}

/// How many lanes went the usual way, all of which are then held against the equations of each instance.
int compare(Instances& instances, const std::vector<State>& states, const std::string& name, double tolerance) {
  Equations together = instances.together();
  VecX<Lanes> y = VecX<Lanes>::Zero(together.size()), rates;
  Lanes t(0.0);
  for (std::size_t i = 0; i < kLanes; ++i) set_lane(y, i, states[i]), t.set(static_cast<int>(i), states[i].t);
  together.begin(Mask::of(true));
  together.evaluate(t, y, rates);
  int usual = 0;
  for (std::size_t i = 0; i < kLanes; ++i) {
    if (!together.usual()[static_cast<int>(i)]) continue;
    ++usual;
    State state = states[i];
    Derivative expected;
    const Status status = instances.alone[i]->evaluate(state, expected);
    EXPECT_TRUE(status.ok()) << name << ": " << status.trouble;
    VecX<double> of_alone;
    pack(expected, of_alone);
    EXPECT_LE(test::relative_difference(lane_of(rates, i), of_alone), tolerance) << name << ", lane " << i;
  }
  return usual;
}

class OnReadyModels : public testing::TestWithParam<std::string> {};

/// Those that lanes take, so that none is lost unseen; the rows of some depend on one another.
INSTANTIATE_TEST_SUITE_P(Lanes, OnReadyModels,
                         testing::Values("backbone", "bricard", "chain", "closed_chain", "double_pendulum", "five_bar_redundant",
                                         "four_bar", "n_four_bar", "pendulum", "ring", "rover", "stewart"),
                         [](const auto& each) { return each.param; });

TEST_P(OnReadyModels, LanesEqualTheEquationsOfEachInstance) {
  Instances instances(in_tree_coordinates(test::library_spec(GetParam())));
  ASSERT_EQ(obstacle_to_lanes(*instances.simulations.front()), "");
  std::mt19937 random(7);
  int usual = 0;
  for (int round = 0; round < 5; ++round) {
    std::vector<State> states;
    for (std::size_t i = 0; i < kLanes; ++i) states.push_back(test::random_consistent_state(instances.model(), random));
    usual += compare(instances, states, GetParam(), 1e-12);
  }
  if (GetParam() == "five_bar_redundant" || GetParam() == "bricard")
    EXPECT_EQ(usual, 0);
  else
    EXPECT_GT(usual, 10);
}

TEST(LaneEquations, EqualThoseOfRandomMechanismsWhereTheyTakeThem) {
  int compared = 0;
  for (std::uint64_t seed = 1; seed <= test::tries(200u); ++seed) {
    const Spec spec = in_tree_coordinates(test::random_mechanism(seed));
    std::unique_ptr<Instances> instances;
    try {
      instances = std::make_unique<Instances>(spec);
    } catch (const InputError&) {
      continue;
    }
    if (!obstacle_to_lanes(*instances->simulations.front()).empty()) continue;
    std::mt19937 random(static_cast<unsigned>(seed));
    std::vector<State> states;
    for (std::size_t i = 0; i < kLanes; ++i) {
      State state = test::start_state(instances->model());
      state.v = test::uniform_vector(random, static_cast<int>(state.v.size()));
      states.push_back(state);
    }
    compared += compare(*instances, states, "seed " + std::to_string(seed), 1e-9);
  }
  EXPECT_GT(compared, test::tries(20));
}

TEST(LaneEquations, ALaneDoesNotDependOnTheOthers) {
  for (const char* const name : {"four_bar", "rover", "stewart", "bricard"}) {
    Instances instances(in_tree_coordinates(test::library_spec(name)));
    Equations together = instances.together();
    std::mt19937 random(3);
    std::vector<State> states;
    for (std::size_t i = 0; i < kLanes; ++i)
      states.push_back(test::random_state(instances.model(), test::start_state(instances.model()), random, 0.1));
    VecX<Lanes> y = VecX<Lanes>::Zero(together.size()), rates, projected;
    const auto evaluate = [&] {
      together.begin(Mask::of(true));
      projected = y;
      together.evaluate(Lanes(0.0), y, rates);
      together.project(projected);
    };
    for (std::size_t i = 0; i < kLanes; ++i) set_lane(y, i, states[i]);
    evaluate();
    const VecX<double> first = lane_of(rates, 2), moved = lane_of(projected, 2);
    const bool usual = together.usual()[2];
    for (Eigen::Index k = 0; k < y.size(); ++k) y[k].set(0, std::numeric_limits<double>::quiet_NaN()), y[k].set(3, 0.0);
    set_lane(y, 1, states[0]);
    evaluate();
    EXPECT_FALSE(together.usual()[0]) << name;
    EXPECT_EQ(together.usual()[2], usual) << name;
    for (Eigen::Index k = 0; k < y.size(); ++k) {
      EXPECT_EQ(lane_of(rates, 2)[k], first[k]) << name;
      EXPECT_EQ(lane_of(projected, 2)[k], moved[k]) << name;
    }
  }
}

TEST(LaneEquations, AForceOfTimeIsNotTakenForKnownInALaneThatDidNotTakePart) {
  Instances instances(in_tree_coordinates(test::library_spec("rover")));
  Equations together = instances.together(), fresh = instances.together();
  const State start = test::start_state(instances.model());
  VecX<Lanes> y = VecX<Lanes>::Zero(together.size()), rates, expected;
  for (std::size_t i = 0; i < kLanes; ++i) set_lane(y, i, start);
  Mask some = Mask::of(true);
  some.set(2, false);
  together.begin(some);
  together.evaluate(Lanes(0.3), y, rates);
  together.begin(Mask::of(true));
  together.evaluate(Lanes(0.3), y, rates);
  fresh.begin(Mask::of(true));
  fresh.evaluate(Lanes(0.3), y, expected);
  for (Eigen::Index k = 0; k < y.size(); ++k) EXPECT_EQ(rates[k][2], expected[k][2]);
}

}  // namespace
}  // namespace linkwork
