#pragma once

#include <array>
#include <span>

#include "linkwork/model/model.h"

namespace linkwork {

/// Positions, velocities and accelerations of a joint, in the order of its kind.
struct JointValues {
  std::array<double, 7> q{};
  std::array<double, 6> v{}, a{};
};

/// Of a spherical or free joint (4 or 7 positions) as seen from its child instead of its parent.
void mirror(JointValues& values, int positions);

/// Where a state has the coordinates of a joint: also of those that the tree runs through from child to parent, which has them as
/// seen from there. Cut joints have no place.
struct JointPlace {
  JointPlace(const Tree& tree, const Joint& joint);

  std::array<int, 7> q{};
  std::array<int, 6> v{};
  int nq = 0, nv = 0;
  bool mirrored = false;

  /// Null: not asked for.
  void write(JointValues values, double* to_q, double* to_v, double* to_vdot = nullptr) const;
};

/// All joints' values, one after another, positions before velocities, in a state. Null: not asked for.
void write_joints(const Model& model, std::span<const double> values, double* to_q, double* to_v);
/// One joint's.
void write_joint(const Tree& tree, const Joint& joint, const double* values, double* to_q, double* to_v);

}  // namespace linkwork
