#include "linkwork/ensemble/batch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "tests/support/mechanisms.h"

namespace linkwork {
namespace {

using testing::HasSubstr;

std::filesystem::path ready_model(const std::string& name) { return test::source_dir() / "models" / (name + ".toml"); }

void expect_same(const Batch& batch, int i, const linkwork::Run& run) {
  const State state = run.state();
  EXPECT_EQ(batch.t()[static_cast<std::size_t>(i)], state.t);
  const auto nq = static_cast<std::size_t>(state.q.size()), nv = static_cast<std::size_t>(state.v.size());
  for (std::size_t k = 0; k < nq; ++k)
    EXPECT_EQ(batch.q()[static_cast<std::size_t>(i) * nq + k], state.q[static_cast<Eigen::Index>(k)]) << i;
  for (std::size_t k = 0; k < nv; ++k)
    EXPECT_EQ(batch.v()[static_cast<std::size_t>(i) * nv + k], state.v[static_cast<Eigen::Index>(k)]) << i;
}

TEST(Batch, MovesAsSingleRunsDoToTheLastBit) {
  for (const char* const name : {"four_bar", "rover", "latch", "double_pendulum"}) {
    const Mechanism mechanism = load(ready_model(name));
    const RunOptions options{.step = 2e-3};
    Batch batch(mechanism, 20, {}, options, 3, false);
    linkwork::Run run(mechanism, options);
    for (const long steps : {1L, 30L}) {
      EXPECT_TRUE(batch.step(steps));
      run.step(steps);
      for (const int i : {0, 7, 19}) expect_same(batch, i, run);
    }
    EXPECT_EQ(batch.value("energy.total")[13], run.value("energy.total"));
  }
}

/// As far as rounding goes.
void expect_near(const Batch& batch, int i, const linkwork::Run& run, double tolerance = 1e-12) {
  const State state = run.state();
  EXPECT_EQ(batch.t()[static_cast<std::size_t>(i)], state.t);
  const auto compare = [&](std::span<const double> of_batch, const VecX<double>& of_run) {
    for (Eigen::Index k = 0; k < of_run.size(); ++k)
      EXPECT_NEAR(of_batch[static_cast<std::size_t>(i * of_run.size() + k)], of_run[k], tolerance * (1.0 + std::abs(of_run[k])))
          << i;
  };
  compare(batch.q(), state.q);
  compare(batch.v(), state.v);
}

TEST(Batch, InLanesMovesAsSingleRunsDo) {
  for (const char* const name : {"four_bar", "rover", "latch", "double_pendulum"}) {
    const Mechanism mechanism = load(ready_model(name));
    const RunOptions options{.step = 2e-3};
    Batch batch(mechanism, 19, {}, options, 3);  // no multiple of four
    if (std::string(name) == "latch") {
      EXPECT_THAT(batch.obstacle_to_lanes(), HasSubstr("comes and goes"));
    } else if (batch.obstacle_to_lanes().find("AVX2") == std::string::npos) {
      EXPECT_EQ(batch.in_lanes(), 19) << batch.obstacle_to_lanes();
    }
    linkwork::Run run(mechanism, options);
    for (const long steps : {1L, 30L}) {
      EXPECT_TRUE(batch.step(steps));
      run.step(steps);
      for (const int i : {0, 7, 18}) expect_near(batch, i, run);
    }
    EXPECT_EQ(batch.q()[0], batch.q()[batch.q().size() - batch.q().size() / 19]);  // of the first and the last one
    EXPECT_NEAR(batch.value("energy.total")[13], run.value("energy.total"), 1e-11 * std::abs(run.value("energy.total")));
  }
}

TEST(Batch, InstancesHaveTheirOwnParameters) {
  const Mechanism mechanism = load(ready_model("four_bar"));
  std::vector<double> torques;
  for (int i = 0; i < 9; ++i) torques.push_back(0.7 * i);
  Batch batch(mechanism, 9, {{"torque", torques}}, {.step = 1e-3}, 2);
  batch.step(200);
  for (int i = 0; i < 9; ++i) {
    linkwork::Run run(load(ready_model("four_bar"), {{"torque", torques[static_cast<std::size_t>(i)]}}), {.step = 1e-3});
    run.step(200);
    expect_near(batch, i, run);
  }
}

TEST(Batch, InputsActFromTheNextStepAndAreLetGo) {
  const Mechanism mechanism = load(ready_model("pid_arm"));
  Batch batch(mechanism, 4, {}, {.step = 1e-3}, 2);
  linkwork::Run run(mechanism, {.step = 1e-3});
  ASSERT_EQ(batch.inputs().size(), 1U);
  EXPECT_TRUE(std::isnan(batch.u()[2]));
  batch.u()[2] = -0.4;
  run.input("wanted") = -0.4;
  batch.step(50), run.step(50);
  expect_same(batch, 2, run);
  EXPECT_NE(batch.q()[1], batch.q()[2]);
  batch.u()[2] = NAN;
  run.input("wanted").release();
  batch.step(50), run.step(50);
  expect_same(batch, 2, run);
}

TEST(Batch, AnInstanceThatFailsStaysAndTheOthersGoOn) {
  const Mechanism mechanism = parse(R"toml(
    linkwork = 1
    parameters = { a = 1.0 }
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
    value = "sqrt(a - t)"
)toml");
  Batch batch(mechanism, 3, {{"a", {10.0, 0.05, 10.0}}}, {.step = 1e-2}, 2);
  batch.step(20);
  EXPECT_TRUE(batch.is_live(0));
  EXPECT_FALSE(batch.is_live(1));
  EXPECT_FALSE(batch.status(1).empty());
  EXPECT_NEAR(batch.t()[0], 0.2, 1e-12);
  EXPECT_LE(batch.t()[1], 0.05 + 1e-12);
  EXPECT_EQ(batch.q()[0], batch.q()[2]);
  batch.reset({1});
  EXPECT_TRUE(batch.is_live(1));
  EXPECT_EQ(batch.t()[1], 0.0);
  batch.step(2);
  EXPECT_NEAR(batch.t()[1], 0.02, 1e-12);
}

TEST(Batch, AResetOfOneDoesNotChangeTheOthers) {
  const Mechanism mechanism = load(ready_model("n_four_bar"), {{"n", 4}});
  Batch batch(mechanism, 3, {}, {.step = 1e-3}), undisturbed(mechanism, 3, {}, {.step = 1e-3});
  batch.step(700), undisturbed.step(700);  // past positions that are made alone
  batch.reset({1});
  batch.step(500), undisturbed.step(500);
  const std::size_t width = batch.positions().size();
  for (std::size_t k = 0; k < width; ++k) EXPECT_EQ(batch.q()[2 * width + k], undisturbed.q()[2 * width + k]);
  EXPECT_EQ(batch.t()[1], 0.5);
}

TEST(Batch, OtherStatesAreMovedOntoTheConstraints) {
  const Mechanism mechanism = load(ready_model("four_bar"));
  Batch batch(mechanism, 3, {}, {.step = 1e-3}, 1);
  linkwork::Run run(mechanism, {.step = 1e-3});
  State state = run.state();
  state.q[0] += 0.01, state.v[0] = 2.0;
  run.set_state(state);
  batch.set_state(std::vector<double>(state.q.begin(), state.q.end()), std::vector<double>(state.v.begin(), state.v.end()), {1});
  expect_same(batch, 1, run);
  batch.step(10), run.step(10);
  expect_near(batch, 1, run);
  EXPECT_THROW(batch.set_state(std::vector<double>{1.0}, std::vector<double>{}, {1}), InputError);
  EXPECT_THROW(batch.set_state(std::vector<double>(3, NAN), std::vector<double>(3, 0.0), {1}), InputError);
}

TEST(Batch, RefusesInWords) {
  const Mechanism mechanism = load(ready_model("four_bar"));
  const auto refusal = [&](int count, const Batch::InstanceParameters& parameters) -> std::string {
    try {
      Batch(mechanism, count, parameters);
    } catch (const InputError& error) {
      return error.what();
    }
    return "taken";
  };
  EXPECT_THAT(refusal(0, {}), HasSubstr("a batch of 0 instances"));
  EXPECT_THAT(refusal(2, {{"torqe", {1, 2}}}), HasSubstr("did you mean 'torque'?"));
  EXPECT_THAT(refusal(2, {{"torque", {1, 2, 3}}}), HasSubstr("has 3 values"));
  EXPECT_THAT(refusal(2, {{"torque", {1, NAN}}}), HasSubstr("finite"));
  EXPECT_THAT(refusal(2, {{"l1", {1, 20}}}), HasSubstr("instance 1: "));
  Batch batch(mechanism, 2);
  EXPECT_THROW(batch.value("q.thta"), InputError);
  EXPECT_THROW(batch.reset({2}), InputError);
  EXPECT_THROW(batch.step(-1), InputError);
}

}  // namespace
}  // namespace linkwork
