#include "linkwork/dynamics/impulse_response.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <limits>

#include "linkwork/tree/kinematics.h"
#include "tests/attack/dense_oracle.h"
#include "tests/attack/judge.h"
#include "tests/attack/random_mechanism.h"
#include "tests/oracles/newton_euler_oracle.h"
#include "tests/support/mechanisms.h"
#include "tests/support/tries.h"

namespace linkwork {
namespace {

constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

/// A random mechanism at rest, without weight, in which bodies are by turns as they are and lighter by a factor of 1e5. At rest
/// what forces do to accelerations is what impulses do to velocities, so that the dense solution for accelerations judges both.
std::optional<Spec> at_rest(std::uint64_t seed) {
  Spec spec = test::random_mechanism(seed);
  for (const ClosureSpec& closure : spec.closures)
    for (const char* own_motion : {"drive", "speed-drive", "expression", "pfaffian"})
      if (closure.type == own_motion) return std::nullopt;
  spec.settings.gravity.setZero();
  spec.forces.clear();
  for (JointSpec& joint : spec.joints) {
    joint.velocity.clear();
    joint.damping = joint.stiffness = 0.0;
  }
  for (std::size_t i = seed % 2; i < spec.bodies.size(); i += 2) spec.bodies[i].mass *= 1e-5, spec.bodies[i].inertia *= 1e-5;
  return spec;
}

/// Joints whose coordinate is a number.
std::vector<std::size_t> single_joints(const Spec& spec) {
  std::vector<std::size_t> found;
  for (std::size_t j = 0; j < spec.joints.size(); ++j)
    if (spec.joints[j].type == "revolute" || spec.joints[j].type == "prismatic") found.push_back(j);
  return found;
}

/// By how much a change of velocities differs from what the oracle expects, relative to the largest, beyond what rounding the
/// numbers of the spec makes of it. None near a change of rank, where masses leave the motion open, where rows contradict one
/// another, and where nothing moves.
double error_of(const Spec& spec, const std::function<VecX<double>(System&)>& change_of_rates) {
  const test::DenseOracle oracle(spec);
  const test::DenseOracle::Accelerations expected = oracle.solve();
  const test::Judgement judgement = test::judge(spec, {});
  if (!judgement.left_out.empty()) return kNone;
  long double largest = 0, off = 0;
  for (const char* coordinates : {"TA", "FA"}) {
    Spec its = spec;
    its.settings.coordinates = {coordinates, {}, {}};
    const Model model = build_model(its);
    const State state = test::start_state(model);
    System system(model);
    system.update(state);
    const VecX<double> change = change_of_rates(system);
    VecX<double> x, impulse;
    ImpulseResponse(model).solve(system, change, x, impulse);
    update_accelerations(model.tree, x.data(), system.work());
    const std::vector<test::BodyAcceleration> moved = test::engine_accelerations(spec, system);
    for (std::size_t i = 0; i < moved.size(); ++i) {
      const test::Real3 alpha = moved[i].alpha.cast<test::Real>(), a = moved[i].a.cast<test::Real>();
      largest = std::max({largest, expected.a[i].norm(), expected.alpha[i].norm() * expected.size[i]});
      off = std::max({off, (a - expected.a[i]).norm(), (alpha - expected.alpha[i]).norm() * expected.size[i]});
    }
  }
  if (largest < 1e-9L) return kNone;
  constexpr double kRoundings = 10.0;  // of the given numbers, that may add up
  const double roundings = kRoundings * std::numeric_limits<double>::epsilon() * judgement.sensitivity;
  return std::max(0.0, static_cast<double>(off / largest) - roundings);
}

/// Over random mechanisms; `judge` returns an error, or none. Held to what random attacks hold accelerations to.
void expect_small(const std::function<double(std::uint64_t seed)>& judge, int least) {
  int judged = 0;
  for (std::uint64_t seed = 7000; seed < 7000 + test::tries(200u); ++seed) {
    const double error = judge(seed);
    if (std::isnan(error)) continue;
    ++judged;
    EXPECT_LT(error, 1e-8) << "seed " << seed;
  }
  EXPECT_GE(judged, test::tries(least));
}

TEST(ImpulseResponse, ToForcesOnJointsIsThatOfADenseSolution) {
  expect_small(
      [](std::uint64_t seed) {
        std::optional<Spec> spec = at_rest(seed);
        if (!spec || single_joints(*spec).empty()) return kNone;
        const std::vector<std::size_t> joints = single_joints(*spec);
        const JointSpec& joint = spec->joints[joints[seed % joints.size()]];
        ForceSpec force;
        force.type = joint.type == "revolute" ? "torque" : "force";
        force.joint = joint.name;
        force.value = Expression::constant(1.0);
        spec->forces.push_back(force);
        return error_of(*spec, [](System& system) {
          system.update_forces();
          return VecX<double>::Zero(system.model().row_count()).eval();
        });
      },
      60);
}

TEST(ImpulseResponse, ToJumpsOfRatesIsThatOfADenseSolution) {
  expect_small(
      [](std::uint64_t seed) {
        std::optional<Spec> spec = at_rest(seed);
        if (!spec || single_joints(*spec).empty()) return kNone;
        const std::vector<std::size_t> joints = single_joints(*spec);
        const JointSpec& joint = spec->joints[joints[seed % joints.size()]];
        ClosureSpec drive;
        drive.name = "to_speed";
        drive.type = "speed-drive";
        drive.joints = {joint.name};
        drive.value = Expression::parse("t", {}, Variables::kTime, {});
        spec->closures.push_back(drive);
        return error_of(*spec, [](System& system) { return system.terms().b; });
      },
      60);
}

}  // namespace
}  // namespace linkwork
