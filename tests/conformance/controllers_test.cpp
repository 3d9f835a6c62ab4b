// Controllers in C++, as expressions, tables and states of the model: the same law must give the same motion, and all that they
// do must be found in the balance of energy and in the output.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "linkwork/linkwork.h"
#include "tests/support/mechanisms.h"

namespace lw = linkwork;

namespace {

using Eigen::Vector3d;
using testing::Contains;
using testing::HasSubstr;
using testing::Not;

/// Two links with a motor at the first, in the plane; the second hangs on a spring.
lw::Builder arm() {
  lw::Builder b("arm");
  const auto upper = b.body("upper", lw::rod({0, 0, 0}, {0.8, 0, 0}, 1.5));
  const auto lower = b.body("lower", lw::rod({0, 0, 0}, {0.5, 0, 0}, 0.8));
  b.revolute("shoulder", b.ground(), upper).position(0.3);
  b.revolute("elbow", upper.at(0.8, 0, 0), lower).position(-0.5).damping(0.05);
  b.spring(b.ground().at(0, 1, 0), lower.at(0.4, 0, 0), 12.0, 0.9, 0.1);
  return b;
}

double largest(const lw::Results& a, const lw::Results& b, const char* column) {
  return (a[column] - b[column]).cwiseAbs().maxCoeff();
}

constexpr double kGain = 60.0, kDamping = 9.0, kIntegral = 25.0, kTarget = 0.7;

lw::Results with_law(const std::function<void(lw::Builder&)>& add, const lw::RunOptions& options) {
  lw::Builder b = arm();
  add(b);
  return lw::run(b.build(), options);
}

/// A PID controller in C++ at 1 kHz. Its integral is a sum over the samples, as Euler's method makes it of a state.
lw::Results in_code(const lw::RunOptions& options) {
  lw::Builder b = arm();
  b.torque("shoulder", "u.motor").input("motor");
  lw::Run run(b.build(), options);
  lw::Results rows;
  rows.columns = run.columns();
  run.on_row([&](std::span<const double> row) { rows.values.insert(rows.values.end(), row.begin(), row.end()); });
  double sum = 0.0;
  run.controller(1e-3, [&](lw::Run& now) {
    const double error = kTarget - now.q("shoulder");
    now.input("motor") = kGain * error - kDamping * now.v("shoulder") + kIntegral * sum;
    sum += 1e-3 * error;
  });
  run.advance_to(*options.end);
  return rows;
}

/// Euler's method looks at the law where a step begins, as sampling does: all forms are then the same motion.
TEST(Controllers, AtOneKilohertzInCodeAreTheLawAsExpressionTableAndState) {
  const lw::RunOptions options{.integrator = "euler", .end = 0.5, .step = 1e-3, .every = 1e-3};
  const lw::Results sampled = in_code(options);
  const lw::Results state = with_law(
      [](lw::Builder& b) {
        b.state("sum", "0.7 - q.shoulder");
        b.torque("shoulder", "60*(0.7 - q.shoulder) - 9*v.shoulder + 25*z.sum");
      },
      options);
  const lw::Results table = with_law(
      [](lw::Builder& b) {
        b.table("gain", {-20, 0, 20}, {-1200, 0, 1200});
        b.sensor("error", "0.7 - q.shoulder");
        b.state("sum", "s.error");
        b.torque("shoulder", "gain(s.error) - 9*v.shoulder + 25*z.sum");
      },
      options);
  const lw::Results custom = with_law(
      [](lw::Builder& b) {
        b.state("sum", "0.7 - q.shoulder");
        b.force({"pid", [](const lw::Kinematics& k, lw::Forces& f) {
                   f.on_joint("shoulder",
                              kGain * (kTarget - k.q("shoulder")) - kDamping * k.v("shoulder") + kIntegral * k.state("sum"));
                 }});
      },
      options);
  ASSERT_EQ(sampled.rows(), 501U);
  for (const lw::Results* other : {&state, &table, &custom}) {
    ASSERT_EQ(other->rows(), sampled.rows());
    for (const char* column : {"q.shoulder", "q.elbow", "v.shoulder", "v.elbow"})
      EXPECT_LT(largest(sampled, *other, column), 1e-12) << column;
  }
  EXPECT_GT(std::abs(sampled["q.shoulder"].tail(1)[0] - 0.3), 0.1);  // it does something
}

/// With finer sampling the law in code becomes the expression, in first order of the period.
TEST(Controllers, InCodeConvergeToTheExpressionWithTheirPeriod) {
  const lw::RunOptions options{.integrator = "rk4", .end = 0.4, .step = 1e-3, .every = 0.1};
  const lw::Results law = with_law([](lw::Builder& b) { b.torque("shoulder", "60*(0.7 - q.shoulder) - 9*v.shoulder"); }, options);
  const auto error = [&](double period) {
    lw::Builder b = arm();
    b.torque("shoulder", "u.motor").input("motor");
    lw::Run run(b.build(), options);
    run.controller(
        period, [](lw::Run& now) { now.input("motor") = kGain * (kTarget - now.q("shoulder")) - kDamping * now.v("shoulder"); });
    run.advance_to(0.4);
    return std::abs(run.q("shoulder") - law["q.shoulder"].tail(1)[0]);
  };
  const double coarse = error(4e-3), fine = error(1e-3);
  EXPECT_LT(fine, 2e-3);
  EXPECT_NEAR(coarse / fine, 4.0, 0.5);
}

/// Custom forces with and without potential, an input that changes, states, tables, springs with laws: nothing is lost.
lw::Builder with_everything(const std::vector<double>& efforts = {-50, -20, 0, 30, 45}) {
  lw::Builder b = arm();
  b.input("push", "3*sin(4*t)");
  b.state("lag", "20*(s.error - z.lag)");
  b.state("heat", "0.3*v.shoulder^2");
  b.sensor("error", "0.7 - q.shoulder");
  b.table("curve", {-2, -1, 0, 1, 2}, efforts).set("interpolation", "cubic");
  b.torque("shoulder", "curve(z.lag) - 2*v.shoulder + u.push").set("name", "motor");
  b.force({"drag",
           [](const lw::Kinematics& k, lw::Forces& f) {
             const Vector3d v = k.velocity("lower", {0.5, 0, 0});
             f.on("lower", {-0.6 * v.norm() * v, -0.02 * k.twist("lower").angular}, {0.5, 0, 0});
             f.on_joint("elbow", -0.1 * k.v("elbow"));
           },
           {},
           {},
           {"lower", "elbow"}});
  b.force({"band", [](const lw::Kinematics& k, lw::Forces& f) { f.on_joint("elbow", -4.0 * std::sin(k.q("elbow"))); },
           [](const lw::Kinematics& k) { return -4.0 * std::cos(k.q("elbow")); }});
  return b;
}

TEST(Controllers, CustomForcesInputsAndStatesCloseTheEnergyBalance) {
  const auto drift = [](const lw::Mechanism& m, const char* coordinates, double step) {
    return lw::run(m, {.coordinates = coordinates, .integrator = "rk4", .end = 1.0, .step = step}).summary.energy_drift;
  };
  const lw::Mechanism smooth = with_everything({-20, -10, 0, 10, 20}).build(), kinked = with_everything().build();
  for (const char* coordinates : {"TA", "FA"}) {
    EXPECT_LT(drift(smooth, coordinates, 1e-3), 1e-9) << coordinates;
    EXPECT_NEAR(drift(smooth, coordinates, 2e-3) / drift(smooth, coordinates, 1e-3), 16.0, 1.5)
        << coordinates;                                                // the order of rk4
    EXPECT_LT(drift(kinked, coordinates, 1e-3), 2e-9) << coordinates;  // the third derivative of that table jumps at its points
  }
  // The same with an input that is set: its jumps are no work.
  lw::Builder b = with_everything();
  b.torque("elbow", "u.live").input("live");
  lw::Run run(b.build(), {.integrator = "rk4", .step = 1e-3});
  run.controller(0.02, [](lw::Run& now) { now.input("live") = -0.5 * now.v("elbow"); });
  run.advance_to(1.0);
  EXPECT_LT(run.summary().energy_drift, 1e-9);
}

/// All powers together are what the kinetic energy and that of gravity change by: Simpson's rule over two rows each.
TEST(CustomForceColumns, HavePowersThatAccountForTheEnergy) {
  const lw::Mechanism m = with_everything().build();
  const lw::Results run = lw::run(m, {.integrator = "rk4", .end = 0.4, .step = 1e-3, .every = 1e-3});
  for (const char* column : {"power.drag", "power.band", "power.motor", "power.elbow", "power.force1"})
    ASSERT_THAT(run.columns, Contains(column));
  const auto gravity_and_kinetic = [&](std::size_t i) {
    const double q1 = run.at(i, "q.shoulder"), q2 = q1 + run.at(i, "q.elbow");
    return run.at(i, "energy.kinetic") + 9.81 * (1.5 * 0.4 * std::sin(q1) + 0.8 * (0.8 * std::sin(q1) + 0.25 * std::sin(q2)));
  };
  double work = 0.0;
  for (std::size_t i = 2; i < run.rows(); i += 2) {
    for (const std::string& column : run.columns)
      if (column.starts_with("power."))
        work += 1e-3 / 3.0 * (run.at(i - 2, column) + 4.0 * run.at(i - 1, column) + run.at(i, column));
    EXPECT_NEAR(work, gravity_and_kinetic(i) - gravity_and_kinetic(0), 1e-8) << i;  // Simpson's rule is off by 3.5e-9
  }
}

TEST(CustomForceColumns, ShowWhatTheyDoToBodiesAndJoints) {
  const lw::Results run = lw::run(with_everything().build(), {.integrator = "rk4", .end = 0.2, .step = 1e-3});
  for (std::size_t i = 0; i < run.rows(); ++i) {
    const double q2 = run.at(i, "q.shoulder") + run.at(i, "q.elbow"), w1 = run.at(i, "v.shoulder"),
                 w2 = w1 + run.at(i, "v.elbow");
    const double q1 = run.at(i, "q.shoulder");
    const Vector3d arm(0.5 * std::cos(q2), 0.5 * std::sin(q2), 0.0);
    const Vector3d v(-0.8 * w1 * std::sin(q1) - w2 * arm.y(), 0.8 * w1 * std::cos(q1) + w2 * arm.x(), 0.0);
    const Vector3d f = -0.6 * v.norm() * v;
    EXPECT_NEAR(run.at(i, "load.drag.lower.fx"), f.x(), 1e-12);
    EXPECT_NEAR(run.at(i, "load.drag.lower.fy"), f.y(), 1e-12);
    EXPECT_NEAR(run.at(i, "load.drag.lower.fz"), 0.0, 1e-12);
    EXPECT_NEAR(run.at(i, "load.drag.lower.tz"), arm.cross(f).z() - 0.02 * w2, 1e-12);
    EXPECT_NEAR(run.at(i, "effort.drag.elbow"), -0.1 * run.at(i, "v.elbow"), 1e-12);
    EXPECT_NEAR(run.at(i, "power.band"), -4.0 * std::sin(run.at(i, "q.elbow")) * run.at(i, "v.elbow"), 1e-11);
  }
}

TEST(CustomForceColumns, OfNamesThatAreNotThereOrTakenAreRefused) {
  const auto refusal = [](lw::CustomForce force) -> std::string {
    lw::Builder b = arm();
    b.torque("shoulder", 1.0).set("name", "motor");
    force.apply = [](const lw::Kinematics&, lw::Forces&) {};
    b.force(std::move(force));
    try {
      b.build();
    } catch (const lw::InputError& error) {
      return error.what();
    }
    return "accepted";
  };
  EXPECT_EQ(refusal({"drag", {}, {}, {}, {"lower", "shoulder"}}), "accepted");
  EXPECT_THAT(refusal({"drag", {}, {}, {}, {"lowr"}}),
              HasSubstr("unknown body or joint coordinate 'lowr'; did you mean 'lower'?"));
  EXPECT_THAT(refusal({"motor", {}}), HasSubstr("the name 'motor' is taken by another force; expected a name of its own"));
}

TEST(CustomForceColumns, OfAJointsOwnLawAreToldApart) {
  lw::Builder b = arm();
  b.force({"elbow", [](const lw::Kinematics& k, lw::Forces& f) { f.on_joint("elbow", -k.v("elbow")); }});
  const lw::Results run = lw::run(b.build(), {.end = 0.05});
  EXPECT_THAT(run.columns, Contains("power.elbow"));
  EXPECT_THAT(run.columns, Contains("power.elbow.joint"));
  EXPECT_NEAR(run.at(3, "power.elbow"), -std::pow(run.at(3, "v.elbow"), 2), 1e-12);
}

/// It is not the step that is to blame.
TEST(Controllers, OfDataThatEndStopTheRunThereAndSayWhy) {
  lw::Builder b = arm();
  b.table("plan", {0, 0.2}, {0, 1}).set("extrapolation", "error");
  b.torque("shoulder", "plan(t)");
  const lw::Results run = lw::run(b.build(), {.end = 1.0, .step = 1e-3});
  EXPECT_FALSE(run.summary.completed);
  EXPECT_THAT(run.summary.status, HasSubstr("'plan' is asked for its value at"));
  EXPECT_THAT(run.summary.status, Not(HasSubstr("too long")));
}

}  // namespace
