#include "linkwork/model/joint_state.h"

#include <algorithm>
#include <numeric>

#include "linkwork/model/joints/joint_kind.h"
#include "linkwork/spatial/so3.h"

namespace linkwork {

void mirror(JointValues& values, int positions) {
  using V = Eigen::Map<Vec3<double>>;
  const bool floats = positions == 7;
  double* const turn = values.q.data() + (floats ? 3 : 0);
  V spin(values.v.data() + (floats ? 3 : 0)), spin_rate(values.a.data() + (floats ? 3 : 0));
  const Quat given(turn[0], turn[1], turn[2], turn[3]), back = given.conjugate();
  const Vec3<double> w = spin, w_rate = spin_rate;
  spin = -(given * w);
  spin_rate = -(given * w_rate);
  for (int k = 1; k < 4; ++k) turn[k] = -turn[k];
  if (!floats) return;
  V x(values.q.data()), xdot(values.v.data()), xddot(values.a.data());
  // The parent's place in the child is s = -R' x.
  const Vec3<double> s = -(back * x), own = back * xdot, sdot = -own - w.cross(s);
  xddot = (-(back * xddot) + w.cross(own) - w_rate.cross(s) - w.cross(sdot)).eval();
  xdot = sdot;
  x = s;
}

JointPlace::JointPlace(const Tree& tree, const Joint& joint) {
  if (joint.cut) return;
  nq = joint.kind->nq(), nv = joint.kind->nv();
  mirrored = !joint.in_state();
  if (mirrored) {
    const Node& node = tree.nodes[static_cast<std::size_t>(joint.parent.node)];
    std::iota(q.begin(), q.begin() + nq, node.q);
    std::iota(v.begin(), v.begin() + nv, node.v);
  } else {
    std::ranges::copy(joint.q, q.begin());
    std::ranges::copy(joint.v, v.begin());
  }
}

void JointPlace::write(JointValues values, double* to_q, double* to_v, double* to_vdot) const {
  if (mirrored) mirror(values, nq);
  for (std::size_t k = 0; to_q != nullptr && k < static_cast<std::size_t>(nq); ++k) to_q[q[k]] = values.q[k];
  for (std::size_t k = 0; k < static_cast<std::size_t>(nv); ++k) {
    if (to_v != nullptr) to_v[v[k]] = values.v[k];
    if (to_vdot != nullptr) to_vdot[v[k]] = values.a[k];
  }
}

void write_joint(const Tree& tree, const Joint& joint, const double* values, double* to_q, double* to_v) {
  JointValues of;
  std::copy_n(values, joint.kind->nq(), of.q.begin());
  std::copy_n(values + joint.kind->nq(), joint.kind->nv(), of.v.begin());
  JointPlace(tree, joint).write(of, to_q, to_v);
}

void write_joints(const Model& model, std::span<const double> values, double* to_q, double* to_v) {
  std::size_t at = 0;
  for (const Joint& joint : model.joints) {
    write_joint(model.tree, joint, values.data() + at, to_q, to_v);
    at += joint.kind->positions.size() + joint.kind->velocities.size();
  }
}

}  // namespace linkwork
