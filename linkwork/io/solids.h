#pragma once

#include <Eigen/Core>

#include "linkwork/model/spec.h"

namespace linkwork {

struct MassProperties {
  double mass = 0.0;
  Eigen::Vector3d com = Eigen::Vector3d::Zero();
  Eigen::Matrix3d inertia = Eigen::Matrix3d::Zero();  // about the center of mass
};

/// What a density is multiplied with: the volume, or the length of a rod.
double extent(const SolidSpec& solid);
/// Of a homogeneous solid; the rod is a line, the point has no size.
MassProperties mass_properties(const SolidSpec& solid, double mass);

/// Throws InputError unless a rigid body can have this inertia: principal moments not negative, none larger than the sum of
/// the other two, if that is not let pass.
void check_inertia(const Eigen::Matrix3d& inertia, const Place& place, bool any = false);

}  // namespace linkwork
