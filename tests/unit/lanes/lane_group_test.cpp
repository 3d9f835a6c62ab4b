#include "linkwork/lanes/lane_group.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <limits>
#include <memory>

#include "linkwork/lanes/lane_steps.h"
#include "linkwork/simulation/simulation.h"
#include "tests/attack/random_mechanism.h"
#include "tests/support/mechanisms.h"

namespace linkwork {
namespace {

using testing::HasSubstr;
using Set = std::vector<std::pair<std::string, std::string>>;
using Runs = std::vector<std::unique_ptr<Simulation>>;

Spec spec_in_lanes(const std::string& name, const Set& set = {}, double end = 0.3) {
  Spec spec = test::library_spec(name, set);
  spec.settings.coordinates = {"TA", {}, {}};
  spec.settings.integrator = {"rk4", {}, {}};
  spec.settings.step = 1e-3;
  spec.settings.output_every = 1e-2;
  spec.settings.end = end;
  return spec;
}

/// A run with the rows that it gives.
struct Recorded {
  explicit Recorded(const Spec& spec) : run(std::make_unique<Simulation>(build_model(spec))), end(spec.settings.end) {
    run->observe({.row = [this](std::span<const double> row) { rows.emplace_back(row.begin(), row.end()); }});
  }
  std::unique_ptr<Simulation> run;
  double end;
  std::vector<std::vector<double>> rows;
};

/// Runs them to their ends, all at a time; returns steps in lanes, and those alone.
std::pair<long, long> run_in_lanes(std::vector<Recorded*> all, int lanes = 0) {
  std::vector<Simulation*> runs;
  for (const Recorded* const each : all) runs.push_back(each->run.get());
  LaneGroup group(runs, {}, lanes);
  LaneGroup::Some wanted{};
  for (std::size_t k = 0; k < all.size(); ++k) wanted[k] = group.begin(k, all[k]->end);
  while (std::ranges::any_of(wanted, std::identity())) {
    group.step(wanted);
    for (std::size_t k = 0; k < runs.size(); ++k) wanted[k] = wanted[k] && !group.has_ended(k);
  }
  return {group.in_lanes(), group.alone()};
}

Set torque(int i) { return {{"torque", std::to_string(1.0 + 1.5 * i)}, {"l1", std::to_string(0.9 + 0.05 * i)}}; }

TEST(LaneGroup, ARunHasTheSameBitsWhoeverIsBesideIt) {
  std::vector<std::vector<double>> first;
  for (std::size_t count = 1; count <= LaneGroup::most(); ++count) {
    std::vector<std::unique_ptr<Recorded>> made;
    std::vector<Recorded*> all;
    for (std::size_t k = 0; k < count; ++k) {
      const int i = static_cast<int>(k + 1 == count ? 0 : k + 1);  // run 0 is the last of them
      made.push_back(std::make_unique<Recorded>(spec_in_lanes("four_bar", torque(i), 0.1 + 0.1 * i)));
      all.push_back(made.back().get());
    }
    const auto [in_lanes, alone] = run_in_lanes(all);
    EXPECT_GT(in_lanes, 0);
    EXPECT_EQ(alone, 0);
    if (count == 1) first = all.back()->rows;
    EXPECT_EQ(all.back()->rows, first) << count;
  }
  EXPECT_EQ(first.size(), 11U);
}

TEST(LaneGroup, ARunHasTheSameBitsInAnyNumberOfLanes) {
  for (const char* const name : {"backbone", "bricard", "chain", "closed_chain", "double_pendulum", "five_bar_redundant",
                                 "four_bar", "n_four_bar", "ring", "rover", "slider_crank", "spatial_four_bar", "stewart"}) {
    std::vector<std::vector<double>> first;
    for (const int lanes : lane_counts()) {
      Recorded made(spec_in_lanes(name)), beside(spec_in_lanes(name, {}, 0.1));
      run_in_lanes({&beside, &made}, lanes);
      if (first.empty()) first = made.rows;
      EXPECT_EQ(made.rows, first) << name << " in " << lanes << " lanes";
    }
  }
}

TEST(LaneGroup, RunsOfRandomMechanismsHaveTheSameBitsInAnyNumberOfLanes) {
  int compared = 0;
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    Spec spec = test::random_mechanism(seed);
    spec.settings.coordinates = {"TA", {}, {}};
    spec.settings.formulation = {"schur", {}, {}};
    spec.settings.stabilization = {"projection", {}, {}};
    spec.settings.integrator = {"rk4", {}, {}};
    spec.settings.step = 1e-3;
    spec.settings.end = 0.02;
    std::vector<std::vector<double>> first;
    try {
      for (const int lanes : lane_counts()) {
        Recorded made(spec);
        if (!obstacle_to_lanes(*made.run).empty()) break;
        const auto [in_lanes, alone] = run_in_lanes({&made}, lanes);
        if (first.empty())
          first = made.rows;
        else
          compared += in_lanes > 0;
        EXPECT_EQ(made.rows, first) << "seed " << seed << " in " << lanes << " lanes";
      }
    } catch (const InputError&) {
      continue;
    }
  }
  EXPECT_TRUE(compared > 10 || lane_counts().size() < 2) << compared;
}

TEST(LaneGroup, RunsAreThoseOfSimulationsAlone) {
  for (const char* const name : {"four_bar", "rover", "slider_crank", "stewart", "spatial_four_bar", "double_pendulum"}) {
    Recorded a(spec_in_lanes(name)), b(spec_in_lanes(name)), alone(spec_in_lanes(name));
    const auto [in_lanes, left] = run_in_lanes({&a, &b});
    EXPECT_GT(in_lanes, 3 * left) << name;
    const Summary expected = alone.run->run(), made = a.run->summary();
    EXPECT_EQ(made.status, expected.status);
    EXPECT_TRUE(made.completed);
    EXPECT_EQ(made.steps, expected.steps);
    EXPECT_NEAR(made.energy_drift, expected.energy_drift, 1e-3 * expected.energy_drift + 1e-9) << name;
    EXPECT_LE(made.position_error_max, 1e-10) << name;
    EXPECT_EQ(a.rows, b.rows);
    ASSERT_EQ(a.rows.size(), alone.rows.size());
    const std::vector<std::string>& columns = a.run->columns();
    for (std::size_t r = 0; r < a.rows.size(); ++r)
      for (std::size_t c = 0; c < columns.size(); ++c) {
        if (!columns[c].starts_with("q.") && !columns[c].starts_with("v.")) continue;
        EXPECT_NEAR(a.rows[r][c], alone.rows[r][c], 1e-9 * (1.0 + std::abs(alone.rows[r][c]))) << name << " " << columns[c];
      }
  }
}

TEST(LaneGroup, StepsNearASingularPositionAreMadeAlone) {
  // The links of an n-four-bar stand in a line twice a turn.
  Recorded a(spec_in_lanes("n_four_bar", {{"n", "4"}}, 2.0)), alone(spec_in_lanes("n_four_bar", {{"n", "4"}}, 2.0));
  const auto [in_lanes, left] = run_in_lanes({&a});
  EXPECT_GT(in_lanes, 0);
  EXPECT_GT(left, 0);
  const Summary expected = alone.run->run(), made = a.run->summary();
  EXPECT_EQ(made.status, expected.status);
  EXPECT_NEAR(made.energy_drift, expected.energy_drift, 0.5 * expected.energy_drift + 1e-9);
}

TEST(LaneGroup, ARunThatLeavesTheLanesDoesNotChangeTheOthers) {
  const auto spec = [](double gravity) {
    Spec made = spec_in_lanes("n_four_bar", {{"n", "4"}}, 2.0);
    made.settings.gravity = {0.0, -gravity, 0.0};
    return made;
  };
  Recorded falls(spec(9.81)), slow(spec(0.1)), alone(spec(9.81)), slow_alone(spec(0.1));
  const auto [in_lanes, left] = run_in_lanes({&slow, &falls});
  const auto [by_falling, left_by_falling] = run_in_lanes({&alone});
  const auto [by_slow, left_by_slow] = run_in_lanes({&slow_alone});
  EXPECT_GT(left_by_falling, 0);
  EXPECT_NE(left_by_falling, left_by_slow);
  EXPECT_EQ(left, left_by_falling + left_by_slow);
  EXPECT_EQ(in_lanes, by_falling + by_slow);
  EXPECT_EQ(falls.rows, alone.rows);
  EXPECT_EQ(slow.rows, slow_alone.rows);
}

TEST(LaneGroup, WhatDependsOnOtherRowsHasTheBitsOfARunAlone) {
  Recorded made(spec_in_lanes("five_bar_redundant")), beside(spec_in_lanes("five_bar_redundant")),
      alone(spec_in_lanes("five_bar_redundant"));
  const auto [in_lanes, left] = run_in_lanes({&made, &beside});
  EXPECT_EQ(in_lanes, 0);
  EXPECT_EQ(left, 600);
  alone.run->run();
  EXPECT_EQ(made.rows, alone.rows);
}

TEST(LaneGroup, ARunThatFailsStopsAndTheOthersGoOn) {
  const auto spec = [](double a) {
    Spec made = test::spec_of(R"toml(
      parameters = { a = )toml" +
                              std::to_string(a) + R"toml( }
      [[body]]
      name = "mass"
      solid = { shape = "point", at = [1, 0, 0], mass = 1.0 }
      [[joint]]
      name = "theta"
      type = "revolute"
      parent = { body = "ground" }
      child = { body = "mass" }
      axis = [0, 0, 1]
      [[force]]
      type = "torque"
      joint = "theta"
      value = "log(a - t)"
)toml");
    made.settings.integrator = {"rk4", {}, {}};
    made.settings.step = 1e-2;
    made.settings.end = 0.2;
    return made;
  };
  Recorded good(spec(10.0)), bad(spec(0.05)), other(spec(10.0)), alone(spec(0.05));
  ASSERT_EQ(obstacle_to_lanes(*good.run), "");
  run_in_lanes({&good, &bad, &other});
  EXPECT_TRUE(good.run->summary().completed);
  EXPECT_EQ(good.rows, other.rows);
  const Summary failed = bad.run->summary();
  EXPECT_FALSE(failed.completed);
  EXPECT_EQ(failed.status, alone.run->run().status);
}

TEST(LaneGroup, InputsActAsInARunAlone) {
  const auto spec = [] {
    Spec made = test::spec_of(R"toml(
      [[body]]
      name = "mass"
      solid = { shape = "point", at = [1, 0, 0], mass = 1.0 }
      [[joint]]
      name = "theta"
      type = "revolute"
      parent = { body = "ground" }
      child = { body = "mass" }
      axis = [0, 0, 1]
      [[input]]
      name = "motor"
      value = "0"
      [[force]]
      type = "torque"
      joint = "theta"
      value = "u.motor"
)toml");
    made.settings.integrator = {"rk4", {}, {}};
    made.settings.step = 1e-2;
    made.settings.gravity.setZero();
    return made;
  };
  Simulation a(build_model(spec())), b(build_model(spec())), alone(build_model(spec()));
  ASSERT_EQ(obstacle_to_lanes(a), "");
  LaneGroup group({&a, &b});
  LaneGroup::Some wanted{};
  for (std::size_t k = 0; k < 2; ++k) wanted[k] = group.begin(k, std::numeric_limits<double>::infinity());
  for (int k = 0; k < 20; ++k) {
    if (k == 5) a.set_input("motor", 0.7), alone.set_input("motor", 0.7);
    if (k == 12) a.release_input("motor"), alone.release_input("motor");
    group.step(wanted);
    alone.step();
  }
  EXPECT_EQ(group.alone(), 0);
  EXPECT_NEAR(a.state().q[0], alone.state().q[0], 1e-14);
  EXPECT_NEAR(a.state().v[0], 0.7 * 0.07, 1e-12);  // the torque acts for seven steps on 1 kg m^2
  EXPECT_EQ(b.state().v[0], 0.0);
  EXPECT_EQ(a.row(), a.row());
}

/// A pendulum that is kicked when it has risen to an angle, and whose motor switches: at a time, by its position and by events.
Spec kicked_pendulum(double angle, const std::string& stop = "",
                     const std::string& torque = "push*step(q.theta - 0.2) + if(t > 0.113, 0.5, -0.5)") {
  Spec made = test::spec_of(R"toml(
      parameters = { angle = )toml" +
                            std::to_string(angle) + R"toml(, push = 1.0 }
      [[body]]
      name = "mass"
      solid = { shape = "point", at = [1, 0, 0], mass = 1.0 }
      [[joint]]
      name = "theta"
      type = "revolute"
      parent = { body = "ground" }
      child = { body = "mass" }
      axis = [0, 0, 1]
      velocity = 2.0
      [[sensor]]
      name = "tip"
      type = "point"
      body = "mass"
      at = [1, 0, 0]
      [[force]]
      type = "torque"
      joint = "theta"
      value = ")toml" + torque +
                            R"toml("
      [[force]]
      name = "brake"
      type = "torque"
      joint = "theta"
      value = "-0.3*v.theta"
      active = false
      [[event]]
      name = "up"
      when = "q.theta - angle"
      direction = "rising"
      do = ["kick theta by -0.5", "set push = 2.0", "on brake"]
      [[event]]
      name = "down"
      when = "q.theta - angle/2"
      direction = "falling"
      do = ["off brake", "set push = 1.0"]
)toml" + stop);
  made.settings.gravity = {0.0, -9.81, 0.0};
  made.settings.integrator = {"rk4", {}, {}};
  made.settings.step = 1e-3;
  made.settings.output_every = 1e-2;
  made.settings.end = 1.0;
  return made;
}

TEST(LaneGroup, EventsComeInEachLaneAtItsOwnTime) {
  std::vector<std::unique_ptr<Recorded>> made;
  std::vector<Recorded*> all;
  for (int i = 0; i < 4; ++i) {
    made.push_back(std::make_unique<Recorded>(kicked_pendulum(0.1 + 0.02 * i)));
    ASSERT_EQ(obstacle_to_lanes(*made.back()->run), "");
    all.push_back(made.back().get());
  }
  const auto [in_lanes, alone] = run_in_lanes(all);
  EXPECT_GT(in_lanes, 2 * alone);
  for (int i = 0; i < 4; ++i) {
    Recorded single(kicked_pendulum(0.1 + 0.02 * i));
    const Summary expected = single.run->run(), found = all[static_cast<std::size_t>(i)]->run->summary();
    EXPECT_EQ(found.steps, expected.steps);
    ASSERT_EQ(found.events.size(), expected.events.size());
    EXPECT_GE(found.events.size(), 2U);
    for (std::size_t k = 0; k < found.events.size(); ++k) {
      EXPECT_EQ(found.events[k].name, expected.events[k].name);
      EXPECT_NEAR(found.events[k].t, expected.events[k].t, 1e-10);
    }
    EXPECT_NEAR(found.energy_drift, expected.energy_drift, 1e-9);
    const auto& rows = all[static_cast<std::size_t>(i)]->rows;
    ASSERT_EQ(rows.size(), single.rows.size());
    for (std::size_t r = 0; r < rows.size(); ++r)
      for (std::size_t c = 0; c < rows[r].size(); ++c)
        EXPECT_NEAR(rows[r][c], single.rows[r][c], 1e-9 * (1.0 + std::abs(single.rows[r][c]))) << r << " " << c;
  }
}

TEST(LaneGroup, AnEventEndsItsOwnRunOnly) {
  const std::string stop = R"toml(
      [[event]]
      name = "far"
      when = "q.theta + angle"
      do = ["stop"]
)toml";
  Recorded early(kicked_pendulum(0.05, stop)), late(kicked_pendulum(0.25, stop)), alone(kicked_pendulum(0.25, stop));
  run_in_lanes({&early, &late});
  run_in_lanes({&alone});
  EXPECT_LT(early.run->summary().simulated_seconds, late.run->summary().simulated_seconds);
  EXPECT_THAT(early.run->summary().status, HasSubstr("far"));
  EXPECT_EQ(late.rows, alone.rows);
}

TEST(LaneGroup, EventsOfPosesAreLookedForToo) {
  const std::string there = R"toml(
      [[event]]
      name = "through"
      when = "p.tip.y + 0.3"
      do = ["kick theta by 0.1"]
)toml";
  Recorded made(kicked_pendulum(0.2, there)), alone(kicked_pendulum(0.2, there));
  const auto [in_lanes, left] = run_in_lanes({&made});
  EXPECT_GT(in_lanes, left);
  const Summary expected = alone.run->run(), found = made.run->summary();
  ASSERT_EQ(found.events.size(), expected.events.size());
  for (std::size_t k = 0; k < found.events.size(); ++k) EXPECT_NEAR(found.events[k].t, expected.events[k].t, 1e-10);
}

TEST(LaneGroup, WhatItDoesNotTakeIsToldInWords) {
  const auto obstacle = [](
                            const std::string& name, const std::function<void(Spec&)>& change = [](Spec&) {}) {
    Spec spec = spec_in_lanes(name);
    change(spec);
    Simulation run(build_model(spec));
    return obstacle_to_lanes(run);
  };
  EXPECT_EQ(obstacle("four_bar"), "");
  EXPECT_THAT(obstacle("four_bar",
                       [](Spec& spec) {
                         spec.settings.coordinates = {"CE", {}, {}};
                       }),
              HasSubstr("coordinates are CE"));
  EXPECT_THAT(obstacle("four_bar", [](Spec& spec) { spec.settings.integrator = {"dopri45", {}, {}}; }), HasSubstr("'dopri45'"));
  EXPECT_THAT(obstacle("four_bar",
                       [](Spec& spec) {
                         spec.settings.stabilization = {"baumgarte", {}, {}};
                       }),
              HasSubstr("'baumgarte'"));
  EXPECT_THAT(obstacle("four_bar",
                       [](Spec& spec) {
                         spec.settings.formulation = {"lagrange", {}, {}};
                       }),
              HasSubstr("'lagrange'"));
  EXPECT_THAT(obstacle("latch"), HasSubstr("comes and goes"));
  EXPECT_THAT(obstacle("gripper"), HasSubstr("contacts"));
  EXPECT_THAT(obstacle("pid_arm"), HasSubstr("states of its own"));
}

}  // namespace
}  // namespace linkwork
