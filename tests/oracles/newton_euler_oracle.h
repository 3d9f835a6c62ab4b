#pragma once

#include "linkwork/dynamics/system.h"
#include "linkwork/model/spec.h"

namespace linkwork::test {

/// Accelerations of all bodies by the textbook: Newton's and Euler's equations of every body in world axes about its center of
/// mass, every joint and closure as constraint equations differentiated by hand, one dense least-squares solve. It shares
/// nothing with the recursions or with the closures' rows but the bodies' poses and velocities.
struct BodyAcceleration {
  Vec3<double> alpha;  // angular
  Vec3<double> a;      // of the center of mass
};

struct BodyWrenchAt {
  std::string body;
  Vec3<double> point, force, torque;  // world
};

/// What acts beside gravity: a generalized force on revolute or prismatic joints (by position in the spec), wrenches on bodies.
struct OracleForces {
  std::vector<std::pair<int, double>> joints;
  std::vector<BodyWrenchAt> wrenches;
};

/// The system must be up to date at a consistent state.
std::vector<BodyAcceleration> newton_euler_oracle(const Spec& spec, const System& system, const OracleForces& forces = {});

/// The same quantities as the engine computed them; after update_accelerations().
std::vector<BodyAcceleration> engine_accelerations(const Spec& spec, const System& system);

}  // namespace linkwork::test
