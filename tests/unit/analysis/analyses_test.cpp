// Equilibria, linear models, modes and inverse dynamics against closed forms and against runs.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <Eigen/Eigenvalues>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <numbers>
#include <unsupported/Eigen/MatrixFunctions>

#include "linkwork/analysis/equilibrium.h"
#include "linkwork/analysis/inverse_dynamics.h"
#include "linkwork/io/motion_file.h"
#include "linkwork/linkwork.h"
#include "linkwork/simulation/simulation_error.h"
#include "tests/support/mechanisms.h"

namespace linkwork {
namespace {

using Eigen::Vector3d;
using testing::HasSubstr;

constexpr double kGravity = 9.81;

Mechanism library(const std::string& name, const Parameters& set = {}) {
  return load(test::source_dir() / "models" / (name + ".toml"), set);
}

struct FoundRest {
  explicit FoundRest(const Mechanism& mechanism)
      : motion(mechanism.model()), found(find_equilibrium(mechanism.model(), motion)) {}
  ReducedMotion motion;
  Equilibrium found;
};

double hertz(double omega_squared) { return std::sqrt(omega_squared) / (2.0 * std::numbers::pi); }

/// A parallelogram on two cranks, about an oblique axis; closed by a pin, or by a whole revolute joint, most of whose rows are
/// redundant.
Mechanism parallelogram(const char* closure, double crank, double coupler, double length) {
  const Eigen::Quaterniond turned = Eigen::AngleAxisd(0.7, Vector3d(1, 0, 0)) * Eigen::AngleAxisd(0.0, Vector3d(0, 0, 1));
  Builder b("parallelogram");
  b.setting("gravity", list(Vector3d(turned * Vector3d(0, -kGravity, 0))));
  const Frame ground = b.ground().turned(turned);
  const auto left = b.body("left", rod({0, 0, 0}, {length, 0, 0}, crank)),
             right = b.body("right", rod({0, 0, 0}, {length, 0, 0}, crank));
  const auto bar = b.body("bar", rod({0, 0, 0}, {0.8, 0, 0}, coupler));
  b.revolute("a", ground, left).position(-1.2);
  b.revolute("b", b.ground().at(turned * Vector3d(0.8, 0, 0)).turned(turned), right).position(-1.2);
  b.revolute("c", left.at(length, 0, 0), bar).position(1.2);
  b.closure(closure, "d", bar.at(0.8, 0, 0), right.at(length, 0, 0));
  return b.build();
}

TEST(Modes, OfAParallelogramHaveTheClosedFormAndNoEigenvaluesOfItsRedundantRows) {
  for (const char* closure : {"pin", "revolute"})
    for (const auto& [crank, coupler, length] : {std::tuple{1.0, 2.0, 0.5}, {3.0, 0.7, 1.3}}) {
      FoundRest rest(parallelogram(closure, crank, coupler, length));
      ASSERT_TRUE(rest.found.found) << rest.found.status;
      EXPECT_TRUE(rest.found.stable);
      EXPECT_LT(rest.found.residual, 1e-10);
      const LinearModel linear = linearize(rest.motion);
      EXPECT_EQ(linear.A.rows(), 2);
      const double stiffness = kGravity * (crank * length + coupler * length);
      const double inertia = 2.0 * crank * length * length / 3.0 + coupler * length * length;
      const std::vector<Mode> modes = find_modes(rest.motion, linear);
      ASSERT_EQ(modes.size(), 1U);
      EXPECT_NEAR(modes[0].frequency_hz, hertz(stiffness / inertia), 1e-8 * modes[0].frequency_hz) << closure;
      EXPECT_NEAR(modes[0].damping_ratio, 0.0, 1e-9);
    }
}

TEST(Modes, OfADampedPairOfMassesAreThoseOfTheDenseProblem) {
  const double m1 = 2.0, m2 = 0.7, k1 = 300.0, k2 = 90.0, c1 = 1.5, c2 = 0.4;
  Builder b("masses");
  b.setting("gravity", list(Vector3d(0, 0, 0)));
  const auto first = b.body("first", mass(m1)), second = b.body("second", mass(m2));
  b.prismatic("x", b.ground(), first).axis({1, 0, 0}).stiffness(k1).damping(c1).position(0.1);
  b.prismatic("y", first, second).axis({1, 0, 0}).stiffness(k2).damping(c2).position(-0.2);
  b.force("x", "u.push").input("push");
  b.sensor("sum", "q.x + q.y + 3*u.push");
  FoundRest rest(b.build());
  ASSERT_TRUE(rest.found.found);
  const LinearModel linear = linearize(rest.motion);
  Eigen::Matrix2d M, K, C;  // in x and y, y relative to x
  M << m1 + m2, m2, m2, m2;
  K << k1, 0, 0, k2;
  C << c1, 0, 0, c2;
  Eigen::Matrix4d A = Eigen::Matrix4d::Zero();
  A.topRightCorner(2, 2).setIdentity();
  A.bottomLeftCorner(2, 2) = -M.inverse() * K;
  A.bottomRightCorner(2, 2) = -M.inverse() * C;
  EXPECT_EQ(linear.states, (std::vector<std::string>{"q.x", "q.y", "v.x", "v.y"}));
  EXPECT_LT((linear.A - A).norm(), 1e-8 * A.norm());
  EXPECT_LT((linear.B.col(0).tail(2) - M.inverse().col(0)).norm(), 1e-9);
  EXPECT_LT((linear.C - Eigen::RowVector4d(1, 1, 0, 0)).norm(), 1e-10);
  EXPECT_NEAR(linear.D(0, 0), 3.0, 1e-10);
  const Eigen::Vector4cd values = Eigen::EigenSolver<Eigen::Matrix4d>(A).eigenvalues();
  const std::vector<Mode> modes = find_modes(rest.motion, linear);
  ASSERT_EQ(modes.size(), 2U);
  for (const Mode& mode : modes) {
    double nearest = INFINITY;
    for (const auto& value : values)
      nearest = std::min(nearest, std::abs(std::abs(value) / (2 * std::numbers::pi) - mode.frequency_hz) +
                                      std::abs(-value.real() / std::abs(value) - mode.damping_ratio));
    EXPECT_LT(nearest, 1e-8);
  }
}

TEST(Modes, OfATopOnABallAreItsTwoPendulumsAndItsSpin) {
  const Vector3d com(0.0, 0.0, -0.4);
  const Eigen::Matrix3d inertia = Vector3d(0.02, 0.05, 0.03).asDiagonal();
  Builder b("top");
  b.setting("gravity", list(Vector3d(0, 0, -kGravity)));
  const auto top = b.body("top", mass(1.5, com, inertia));
  b.spherical("ball", b.ground().turned(Eigen::Quaterniond(0.8, 0.6, 0, 0)), top).position({0.8, -0.55, 0.1, 0.05});
  FoundRest rest(b.build());
  ASSERT_TRUE(rest.found.found) << rest.found.status;
  const std::vector<Mode> modes = find_modes(rest.motion, linearize(rest.motion));
  ASSERT_EQ(modes.size(), 3U);
  const double torque = 1.5 * kGravity * 0.4, arm = 1.5 * 0.16;
  EXPECT_EQ(modes[0].frequency_hz, 0.0);
  EXPECT_NEAR(modes[1].frequency_hz, hertz(torque / (0.05 + arm)), 1e-7);
  EXPECT_NEAR(modes[2].frequency_hz, hertz(torque / (0.02 + arm)), 1e-7);
}

/// Small disturbances of the nonlinear motion follow the matrix exponential of A, also about states that move.
TEST(LinearModel, FollowsTheNonlinearMotionOfSmallDisturbances) {
  for (const char* name : {"four_bar", "spatial_slider_crank", "ring"}) {
    const Mechanism m = library(name);
    ReducedMotion motion(m.model());
    linkwork::Run run(m, {.coordinates = "TA", .step = 1e-4});
    run.advance_to(0.05);
    motion.begin(run.state());
    const LinearModel linear = linearize(motion);
    const VecX<double> x0 = motion.origin(), f0 = motion.rates(x0);
    std::mt19937 random(3);
    const VecX<double> change = 1e-4 * test::uniform_vector(random, motion.size());
    const double error = (motion.rates(x0 + change) - f0 - linear.A * change).norm();
    const double half = (motion.rates(x0 + 0.5 * change) - f0 - 0.5 * (linear.A * change)).norm();
    EXPECT_LT(error, 1e-4 * (linear.A * change).norm() + 1e-9) << name;
    if (error > 1e-9) {
      EXPECT_NEAR(half / error, 0.25, 0.05) << name;  // what is left is of second order
    }
  }
}

TEST(LinearModel, HasAStateForEachFreedomOnEveryReadyModel) {
  int models = 0;
  for (const std::string& name : test::library_models()) {
    const Mechanism m = library(name);
    if (!m.spec().modules.empty() || m.velocities().size() > 80 || m.model()->has_events()) continue;
    SCOPED_TRACE(name);
    ReducedMotion motion(m.model());
    motion.begin(m.start());
    const LinearModel linear = linearize(motion);
    EXPECT_TRUE(linear.A.allFinite() && linear.B.allFinite() && linear.C.allFinite());
    EXPECT_EQ(linear.A.rows(), motion.size());
    const bool holonomic = std::ranges::all_of(m.model()->rows, &ConstraintRow::holonomic);
    if (holonomic) {
      EXPECT_EQ(motion.position_count(), motion.velocity_count());
    }
    ++models;
  }
  EXPECT_GT(models, 20);
}

TEST(Equilibrium, OfAScissorLiftOnASpringHasTheReactionsOfHandStatics) {
  // Two bars crossed in the middle; A pinned to the ground, B slides on it; the table rests on the far ends. A spring holds B.
  const double length = 1.0, weight = 20.0 * kGravity, k = 4000.0, rest = 0.2;
  Builder b("scissor");
  b.setting("gravity", list(Vector3d(0, -kGravity, 0)));
  const auto one = b.body("one", rod({0, 0, 0}, {length, 0, 0}, 1e-9)), two = b.body("two", rod({0, 0, 0}, {length, 0, 0}, 1e-9));
  const auto foot = b.body("foot", mass(1e-9)), table = b.body("table", box({0, 0, 0}, {1, 0.1, 0.1}, 20.0));
  b.revolute("a", b.ground(), one).position(0.6);
  b.prismatic("slide", b.ground(), foot).axis({1, 0, 0}).position(0.8).stiffness(k, rest);
  b.revolute("heel", foot, two).position(std::numbers::pi - 0.6);
  b.pin("middle", one.at(0.5 * length, 0, 0), two.at(0.5 * length, 0, 0));
  b.prismatic("lift", b.ground(), table).axis({0, 1, 0}).position(0.56);
  b.closure("point-on-plane", "support", table, one.at(length, 0, 0)).axis({0, 1, 0});
  FoundRest found(b.build());
  ASSERT_TRUE(found.found.found) << found.found.status;
  // All of the table on bar one's end: with the angle a, W L cos a = F L sin a (virtual work of W sin a - and of the spring).
  const double x = found.found.state.q[1];
  const double angle = found.found.state.q[0], pull = k * (x - rest);
  EXPECT_NEAR(weight * std::cos(angle), -pull * -std::sin(angle) * 1.0, 1e-6 * weight);
  EXPECT_LT(found.found.residual, 1e-7);
}

TEST(Equilibrium, IsNotInventedWhereThereIsNone) {
  Builder b("falling");
  const auto stone = b.body("stone", mass(1.0));
  b.prismatic("fall", b.ground(), stone).axis({0, 1, 0});
  FoundRest rest(b.build());
  EXPECT_FALSE(rest.found.found);
  EXPECT_THAT(rest.found.status, HasSubstr("no equilibrium"));
}

TEST(Equilibrium, OfABlockOnTheFloorIsWhereFrictionAndContactHoldIt) {
  const Mechanism m = library("stick_slip_disc");
  FoundRest rest(m);
  if (rest.found.found) {
    EXPECT_LT(rest.found.residual, 1e-8);
  }
}

/// The efforts of inverse dynamics, played back as recorded inputs, give the motion again.
TEST(Inverse, PlayedForwardGivesTheMotionAgain) {
  for (const auto& [name, joints] : {std::pair<const char*, std::vector<std::string>>{"four_bar", {"theta"}},
                                     {"stewart", {"extend1", "extend2", "extend3", "extend4", "extend5", "extend6"}},
                                     {"double_pendulum", {"upper", "lower"}}}) {
    SCOPED_TRACE(name);
    const Mechanism m = library(name);
    const std::filesystem::path folder = std::filesystem::path(testing::TempDir()) / (std::string("linkwork_inverse_") + name);
    std::filesystem::create_directories(folder);
    // A smooth motion of the motors about the start.
    std::ofstream file(folder / "motion.csv");
    file << "t";
    for (const std::string& joint : joints) file << ",q." << joint;
    file << "\n";
    file.precision(17);
    const State start = m.start();
    const std::vector<std::string> positions = m.positions();
    for (int i = 0; i <= 400; ++i) {
      const double t = 0.0025 * i;
      file << t;
      for (std::size_t k = 0; k < joints.size(); ++k) {
        const auto at = std::ranges::find(positions, joints[k]) - positions.begin();
        file << "," << start.q[at] + 0.03 * (1.0 + 0.2 * static_cast<double>(k)) * (1.0 - std::cos(3.0 * t)) * std::sin(2.0 * t);
      }
      file << "\n";
    }
    file.close();
    Spec driven = m.spec();
    add_drives(driven, folder / "motion.csv", false);
    driven.settings.output_every = 0.0025;
    const auto model = std::make_shared<const Model>(build_model(driven));
    const InverseMotion inverse = inverse_motion(model, joints);
    ASSERT_EQ(inverse.rows.size(), 401U);
    // Forward: the same model without drives, pushed by cubic splines of the efforts.
    Mechanism pushed = m;
    std::vector<std::shared_ptr<Curve>> curves;
    for (std::size_t k = 0; k < joints.size(); ++k) {
      std::vector<double> t, effort;
      for (const auto& row : inverse.rows) t.push_back(row[0]), effort.push_back(row[k + 1]);
      curves.push_back(std::make_shared<Curve>("e", t, effort, Curve::Interpolation::kCubic, Curve::Beyond::kHold));
    }
    pushed = pushed.with(CustomForce{"motors", [&joints = joints, &curves](const Kinematics& at, Forces& f) {
                                       for (std::size_t k = 0; k < joints.size(); ++k)
                                         f.on_joint(joints[k], curves[k]->at(at.t()).f);
                                     }});
    linkwork::Run forward(pushed, {.coordinates = "TA", .step = 1e-3});
    State begin = forward.state();
    const std::vector<std::string> velocities = m.velocities();
    for (const std::string& joint : joints) begin.v[std::ranges::find(velocities, joint) - velocities.begin()] = 0.0;
    forward.set_state(begin);
    forward.advance_to(0.5);
    for (std::size_t k = 0; k < joints.size(); ++k) {
      const double expected = inverse.rows[200][1 + joints.size() + k];
      EXPECT_NEAR(forward.q(joints[k]), expected, 2e-6) << joints[k];
    }
  }
}

TEST(Inverse, NamesActuatorsThatAreTooFewAndSharesAmongTooMany) {
  const auto model = library("four_bar_driven").model();
  const InverseMotion one = inverse_motion(model, {});
  const std::vector<std::string> joints = library("four_bar_driven").velocities();
  const InverseMotion all = inverse_motion(model, joints);
  EXPECT_THAT(all.notes.front(), HasSubstr("least squares"));
  for (std::size_t r = 0; r < one.rows.size(); r += 20) {
    double shared = 0.0;
    for (std::size_t k = 0; k < joints.size(); ++k) shared += std::pow(all.rows[r][k + 1], 2);
    EXPECT_LE(std::sqrt(shared), std::abs(one.rows[r][1]) * (1.0 + 1e-9));
  }
  EXPECT_THROW(inverse_motion(library("double_pendulum").model(), {}), InputError);
  EXPECT_THROW(inverse_motion(model, {"nothing"}), InputError);
}

}  // namespace
}  // namespace linkwork
