// What acts on a mechanism: efforts, loads and powers of its forces. All powers together must account for its energy.

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "linkwork/modules/model_run.h"
#include "linkwork/simulation/kinematics.h"
#include "tests/attack/random_mechanism.h"
#include "tests/support/mechanisms.h"
#include "tests/support/tries.h"

namespace linkwork {
namespace {

using testing::Contains;
using testing::HasSubstr;

/// Runs with a row per step; springs get a sensor of their length each.
KeptRun run_densely(Spec spec, const std::string& coordinates, double end, int steps = 200) {
  spec.settings.coordinates = {coordinates, {}, {}};
  spec.settings.integrator = {"rk4", {}, {}};
  spec.settings.end = end;
  spec.settings.step = spec.settings.output_every = end / steps;
  for (std::size_t k = 0; k < spec.forces.size(); ++k) {
    const ForceSpec& force = spec.forces[k];
    SensorSpec sensor;
    if (force.type == "spring" || force.type == "damper") {
      sensor.name = fmt::format("length{}", k);
      sensor.type = "distance";
      sensor.frame = force.a;
      sensor.b = force.b;
    } else if (force.type == "bushing") {
      sensor.name = fmt::format("end{}", k);
      sensor.type = "point";
      sensor.frame = force.b;
    } else {
      continue;
    }
    spec.sensors.push_back(sensor);
  }
  return run_model(spec);
}

/// Of springs and of joints, by row: what powers of forces have in them and work without a potential has not.
std::vector<double> elastic_energy(const Spec& spec, const KeptRun& run) {
  std::vector<double> energy(run.rows.size(), 0.0);
  const auto add = [&](const std::string& column, double stiffness, double rest) {
    const std::vector<double> at = run[column];
    for (std::size_t i = 0; i < energy.size(); ++i) energy[i] += 0.5 * stiffness * std::pow(at[i] - rest, 2);
  };
  for (std::size_t k = 0; k < spec.forces.size(); ++k)
    if (spec.forces[k].type == "spring" && !spec.forces[k].law.is_given() && spec.forces[k].active)
      add(fmt::format("d.length{}", k), spec.forces[k].stiffness, spec.forces[k].length);
  for (std::size_t k = 0; k < spec.forces.size(); ++k) {
    const ForceSpec& force = spec.forces[k];
    if (force.type != "bushing" || !force.active) continue;
    EXPECT_EQ(force.a.body, "ground") << "only of such bushings the energy is known here";
    EXPECT_TRUE(force.a.rotation.isApprox(Eigen::Quaterniond::Identity()) && force.torque_stiffness.empty());
    for (std::size_t c = 0; c < force.force_stiffness.size(); ++c)
      add(fmt::format("p.end{}.{}", k, "xyz"[c]), force.force_stiffness[c], force.a.at[static_cast<Eigen::Index>(c)]);
  }
  for (const JointSpec& joint : spec.joints)
    if (joint.stiffness != 0.0)
      for (const std::string& component : find_joint_kind(joint.type)->positions)
        add("q." + joint.name + (component.empty() ? "" : "." + component), joint.stiffness, joint.rest);
  return energy;
}

/// The largest difference between what powers add up to (Simpson's rule) and the change of kinetic energy and potential energy of
/// gravity, relative to the largest energy or work there. Between events: what happens at an instant may do work of its own.
double imbalance(const Spec& spec, const KeptRun& run) {
  const std::vector<double> elastic = elastic_energy(spec, run), total = run["energy.total"], kinetic = run["energy.kinetic"],
                            t = run["t"];
  std::vector<double> power(t.size(), 0.0);
  for (const std::string& column : run.columns)
    if (column.starts_with("power."))
      for (std::size_t i = 0; i < power.size(); ++i)
        power[i] += run.rows[i][static_cast<std::size_t>(&column - run.columns.data())];
  double work = 0.0, change = 0.0, worst = 0.0, largest = 1e-9;
  for (std::size_t i = 2; i < t.size(); i += 2) {
    const auto is_inside = [&](const EventRecord& event) { return event.t > t[i - 2] - 1e-12 && event.t < t[i] + 1e-12; };
    const bool evenly = std::abs((t[i] - t[i - 1]) - (t[i - 1] - t[i - 2])) < 1e-9 * t.back();
    if (!evenly || std::ranges::any_of(run.summary.events, is_inside)) continue;
    work += (t[i] - t[i - 2]) / 6.0 * (power[i - 2] + 4.0 * power[i - 1] + power[i]);
    change += (total[i] - elastic[i]) - (total[i - 2] - elastic[i - 2]);
    worst = std::max(worst, std::abs(work - change));
    largest = std::max({largest, std::abs(work), std::abs(change), kinetic[i]});
  }
  return worst / largest;
}

class PowersOnModel : public testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(Library, PowersOnModel, testing::ValuesIn(test::library_models()),
                         [](const auto& model) { return model.param; });

TEST_P(PowersOnModel, AddUpToTheChangeOfEnergyInAllCoordinates) {
  // A long chain takes minutes in FA, and tells no more than a short one.
  const Spec spec = GetParam() == "chain_modules" ? test::library_spec(GetParam(), {{"n", "2"}, {"cells", "2"}})
                                                  : test::library_spec(GetParam());
  int judged = 0;
  for (const char* const coordinates : {"TA", "CE", "FA", "auto"}) {
    KeptRun run;
    try {
      run = run_densely(spec, coordinates, 0.02);
    } catch (const InputError&) {
      continue;  // not every model can
    }
    if (!run.summary.completed) continue;
    ++judged;
    EXPECT_LT(imbalance(spec, run), 1e-6) << coordinates << ", glue " << run.summary.glue;
  }
  EXPECT_GE(judged, 1);
}

/// Where something happens: over a time in which it does.
TEST(Powers, AddUpToTheChangeOfEnergyBetweenEvents) {
  int happened = 0;
  for (const std::string& model : test::library_models()) {
    Spec spec = test::library_spec(model);
    if (spec.events.empty() && std::ranges::none_of(spec.closures, [](const ClosureSpec& c) { return c.side || c.friction; }) &&
        std::ranges::none_of(spec.joints, [](const JointSpec& j) { return j.restitution || j.dry_friction; }))
      continue;
    spec.settings.glue = {"none", {}, {}};
    const KeptRun run = run_densely(spec, "TA", std::min(spec.settings.end, 1.0), 2000);
    ASSERT_TRUE(run.summary.completed) << model << ": " << run.summary.status;
    happened += static_cast<int>(run.summary.events.size());
    EXPECT_LT(imbalance(spec, run), 1e-5) << model << ", " << run.summary.events.size() << " events";
  }
  EXPECT_GT(happened, 10);
}

TEST(Powers, AddUpToTheChangeOfEnergyOfRandomMechanisms) {
  int judged = 0;
  for (std::uint64_t seed = 1; seed <= test::tries(60u); ++seed) {
    const Spec spec = test::random_mechanism(seed);
    for (const char* const coordinates : {"TA", "CE", "FA"}) {
      KeptRun run;
      try {
        run = run_densely(spec, coordinates, 1e-3);
      } catch (const InputError&) {
        continue;
      }
      // What the time stepping itself is off by is no matter of the powers.
      if (!run.summary.completed || !run.summary.events.empty() || !(run.summary.energy_drift < 1e-9)) continue;
      ++judged;
      EXPECT_LT(imbalance(spec, run), 1e-5) << "seed " << seed << " in " << coordinates;
    }
  }
  EXPECT_GT(judged, test::tries(60));
}

constexpr const char* kSwinging = R"(
[settings]
end = 0.5
step = 1e-3
[[body]]
name = "arm"
mass = 2.0
com = [0.3, 0, 0]
inertia = [0.1, 0.2, 0.2]
[[joint]]
name = "theta"
type = "revolute"
parent = { body = "ground" }
child = { body = "arm" }
damping = 0.1
stiffness = 2.0
[[force]]
name = "motor"
type = "torque"
joint = "theta"
value = "3*t"
[[force]]
name = "rope"
type = "spring"
a = { body = "ground", at = [1, 1, 0] }
b = { body = "arm", at = [0.6, 0, 0] }
stiffness = 10
length = 0.5
damping = 0.2
[[force]]
type = "wrench"
body = "arm"
at = [0.6, 0.1, 0]
force = ["1 + t", 0, 0]
torque = [0, 0, "v.theta"]
axes = "body"
[[force]]
name = "theta"
type = "damper"
a = { body = "ground", at = [1, -1, 0] }
b = { body = "arm", at = [0.6, 0, 0] }
damping = 0.7
)";

TEST(Efforts, AreWhatTheForcesAreByTheirLaws) {
  const KeptRun run = run_model(test::spec_of(kSwinging));
  const std::vector<double> t = run["t"], q = run["q.theta"], v = run["v.theta"];
  for (std::size_t i = 0; i < t.size(); ++i) {
    const Vec3<double> tip(0.6 * std::cos(q[i]), 0.6 * std::sin(q[i]), 0.0);
    const Vec3<double> tip_v = v[i] * Vec3<double>(-tip.y(), tip.x(), 0.0);
    EXPECT_NEAR(run["effort.motor"][i], 3.0 * t[i], 1e-12);
    EXPECT_NEAR(run["power.motor"][i], 3.0 * t[i] * v[i], 1e-12);
    const Vec3<double> rope = tip - Vec3<double>(1, 1, 0), damper = tip - Vec3<double>(1, -1, 0);
    const double rate = rope.normalized().dot(tip_v);
    EXPECT_NEAR(run["effort.rope"][i], 10.0 * (rope.norm() - 0.5) + 0.2 * rate, 1e-11);  // tension is positive
    EXPECT_NEAR(run["power.rope"][i], -run["effort.rope"][i] * rate, 1e-11);
    EXPECT_NEAR(run["effort.theta"][i], 0.7 * damper.normalized().dot(tip_v), 1e-11);
    // A force has the joint's name.
    EXPECT_NEAR(run["effort.theta.joint"][i], -2.0 * q[i] - 0.1 * v[i], 1e-12);
    EXPECT_NEAR(run["power.theta.joint"][i], (-2.0 * q[i] - 0.1 * v[i]) * v[i], 1e-12);
    // One without a name; world axes, at the point.
    const double push = 1.0 + t[i];
    EXPECT_NEAR(run["load.force3.fx"][i], push * std::cos(q[i]), 1e-12);
    EXPECT_NEAR(run["load.force3.fy"][i], push * std::sin(q[i]), 1e-12);
    EXPECT_NEAR(run["load.force3.fz"][i], 0.0, 1e-12);
    EXPECT_NEAR(run["load.force3.tx"][i], 0.0, 1e-12);
    EXPECT_NEAR(run["load.force3.tz"][i], v[i], 1e-12);
    EXPECT_NEAR(run["power.force3"][i], -0.1 * push * v[i] + v[i] * v[i], 1e-11);
  }
}

TEST(Efforts, OfForcesThatAreNotInForceAreZero) {
  std::string text = kSwinging;
  for (const char* const before : {"type = \"spring\"", "type = \"wrench\"", "value = \"3*t\""})
    text.insert(text.find(before), "active = false\n");
  text += R"(
[[event]]
name = "later"
when = "t - 0.25"
do = ["on rope"]
)";
  const KeptRun run = run_model(test::spec_of(text));
  for (std::size_t i = 0; i < run.rows.size(); ++i) {
    for (const char* const column : {"effort.motor", "power.motor", "load.force3.fx", "load.force3.tz", "power.force3"})
      EXPECT_EQ(run[column][i], 0.0) << column;
    const bool on = run["t"][i] > 0.2501;
    if (std::abs(run["t"][i] - 0.25) > 1e-4) {
      EXPECT_EQ(run["effort.rope"][i] != 0.0, on) << run["t"][i];
    }
  }
}

/// Springs within modules, between them, and to the ground.
TEST(Efforts, OfModulesAreThoseOfOnePiece) {
  int compared = 0;
  for (const std::string& name : test::library_models()) {
    Spec spec = test::library_spec(name);
    if (spec.modules.empty()) continue;
    // A spring across.
    ForceSpec spring;
    spring.type = "spring";
    spring.a.body = spec.bodies.front().name;
    spring.b.body = spec.bodies.back().name;
    spring.a.at = Vec3<double>(0.1, 0.2, -0.1);
    spring.b.at = Vec3<double>(-0.2, 0.1, 0.3);
    spring.stiffness = 3.0;
    spring.damping = 0.1;
    spring.length = 0.4;
    spec.forces.push_back(spring);
    spec.settings.end = 0.01;
    spec.settings.step = spec.settings.output_every = 1e-3;
    spec.settings.glue = {"none", {}, {}};
    const KeptRun whole = run_model(spec);
    spec.settings.glue = {"auto", {}, {}};
    const KeptRun parts = run_model(spec, 2);
    if (parts.summary.glue == "none") continue;
    ++compared;
    const std::string own = fmt::format("effort.force{}", spec.forces.size());
    EXPECT_THAT(parts.columns, Contains(own)) << name;
    const auto names = [](const KeptRun& run) {  // which joints are cut, and have multipliers, may differ
      std::set<std::string> all(run.columns.begin(), run.columns.end());
      std::erase_if(all, [](const std::string& column) { return column.starts_with("lambda."); });
      return all;
    };
    EXPECT_EQ(names(whole), names(parts)) << name;
    for (const std::string& column : whole.columns) {
      if (!column.starts_with("effort.") && !column.starts_with("load.") && !column.starts_with("power.")) continue;
      const std::vector<double> a = whole[column], b = parts[column];
      for (std::size_t i = 0; i < a.size(); ++i) EXPECT_NEAR(a[i], b[i], 1e-8 * (1.0 + std::abs(a[i]))) << name << ' ' << column;
    }
    EXPECT_LT(parts.summary.energy_drift, 1e-5) << name;
  }
  EXPECT_GE(compared, 3);
}

// --- which columns there are

KeptRun with_columns(Spec spec, const std::vector<std::string>& columns, int threads = 1) {
  spec.settings.columns = columns;
  return run_model(spec, threads);
}

TEST(Columns, OfASubsetAreThoseOfAllToTheLastBit) {
  for (const auto& [name, coordinates, threads] : {std::tuple{"four_bar", "TA", 1},
                                                   {"quick_return", "CE", 1},
                                                   {"bricard", "FA", 1},
                                                   {"excavator", "auto", 1},
                                                   {"rover_modules", "auto", 2}}) {
    Spec spec = test::library_spec(name);
    spec.settings.coordinates = {coordinates, {}, {}};
    spec.settings.end = 0.05;
    const KeptRun all = run_model(spec, threads);
    for (const char* const group : {"q", "v", "a", "lambda", "reactions", "efforts", "inputs", "states", "energy", "errors",
                                    "sensors", "force.*", "*.x", "power.*"}) {
      KeptRun some;
      try {
        some = with_columns(spec, {group, "energy.total"}, threads);
      } catch (const InputError& error) {
        EXPECT_THAT(error.what(), HasSubstr("no column fits")) << name;
        continue;
      }
      EXPECT_EQ(some.columns.front(), "t");
      EXPECT_THAT(some.columns, Contains("energy.total"));
      ASSERT_EQ(some.rows.size(), all.rows.size());
      for (const std::string& column : some.columns) EXPECT_EQ(some[column], all[column]) << name << ' ' << column;
      EXPECT_EQ(some.summary.energy_drift, all.summary.energy_drift) << name << ' ' << group;
      EXPECT_EQ(some.summary.final_state, all.summary.final_state);
    }
  }
}

TEST(Columns, AreChosenByGroupsNamesAndPatterns) {
  const Spec spec = test::spec_of(kSwinging);
  const auto columns = [&](const std::vector<std::string>& chosen) { return with_columns(spec, chosen).columns; };
  using Names = std::vector<std::string>;
  EXPECT_EQ(columns({"q"}), (Names{"t", "q.theta"}));
  EXPECT_EQ(columns({"t"}), (Names{"t"}));
  EXPECT_EQ(columns({"?.theta"}), (Names{"t", "q.theta", "v.theta", "a.theta"}));
  EXPECT_EQ(columns({"force.*.y", "v.theta"}), (Names{"t", "v.theta", "force.theta.y"}));
  EXPECT_EQ(columns({"load.force3.t*"}), (Names{"t", "load.force3.tx", "load.force3.ty", "load.force3.tz"}));
  EXPECT_EQ(columns({"sensors", "errors"}), (Names{"t", "error.position", "error.velocity"}));
  EXPECT_EQ(columns({"*"}), run_model(spec).columns);
}

TEST(Columns, ThatAreNotThereAreRefusedWithTheNearest) {
  const Spec spec = test::spec_of(kSwinging);
  const auto refusal = [&](const std::string& pattern) -> std::string {
    try {
      with_columns(spec, {"q", pattern});
    } catch (const InputError& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_THAT(refusal("reaction"), HasSubstr("did you mean 'reactions'?"));
  EXPECT_THAT(refusal("q.thet"), HasSubstr("did you mean 'q.theta'?"));
  EXPECT_THAT(refusal("effort.moter"), HasSubstr("did you mean 'effort.motor'?"));
  EXPECT_THAT(refusal("crank.nonsense.*"), HasSubstr("no column fits 'crank.nonsense.*'; expected groups (q, v, a, "));
  EXPECT_THAT(refusal(""), HasSubstr("no column fits ''"));
}

TEST(Columns, OfKinematicsHaveNoForces) {
  Spec spec = test::library_spec("four_bar_driven");
  for (const std::vector<std::string>& chosen : {std::vector<std::string>{}, {"q", "reactions", "efforts", "lambda"}}) {
    spec.settings.columns = chosen;
    const Simulation motion = kinematic_motion(build_model(spec));
    EXPECT_THAT(motion.columns(), Contains(HasSubstr("q.")));
    for (const std::string& column : motion.columns())
      for (const char* const prefix : {"force.", "torque.", "lambda.", "effort.", "load.", "power."})
        EXPECT_FALSE(column.starts_with(prefix)) << column;
  }
}

}  // namespace
}  // namespace linkwork
