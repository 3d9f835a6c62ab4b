#pragma once

#include <Eigen/Geometry>

#include "linkwork/model/tree.h"
#include "linkwork/spatial/so3.h"

namespace linkwork {

/// Calls simple(first position, first velocity, count) and turn(first of the quaternion, first angular velocity) for all joints.
template <class Simple, class Turn>
void for_each_part(const Tree& tree, Simple simple, Turn turn) {
  for (const Node& node : tree.nodes) {
    const int turns = velocity_count(node.kind) >= 3 ? 3 : 0, others = velocity_count(node.kind) - turns;
    if (others > 0) simple(node.q, node.v, others);
    if (turns > 0) turn(node.q + others, node.v + others);
  }
}

/// Calls turn(first of the quaternion, first angular velocity) for every joint that turns in space.
template <class Turn>
void for_each_turn(const Tree& tree, Turn turn) {
  for_each_part(tree, [](int, int, int) {}, turn);
}

/// The rotation that the quaternion at q[first] stands for.
inline Mat3<double> rotation(const VecX<double>& q, int first) {
  return Eigen::Quaterniond(q[first], q[first + 1], q[first + 2], q[first + 3]).normalized().toRotationMatrix();
}

/// What leads from one position to another, as velocities would within a unit of time.
inline VecX<double> displacement(const Tree& tree, const VecX<double>& from, const VecX<double>& to) {
  VecX<double> d(tree.nv);
  for_each_part(
      tree, [&](int q, int v, int count) { d.segment(v, count) = to.segment(q, count) - from.segment(q, count); },
      [&](int q, int v) { d.segment<3>(v) = so3_log(rotation(from, q).transpose() * rotation(to, q)); });
  return d;
}

}  // namespace linkwork
