#include "linkwork/tree/kinematics.h"

#include <cmath>

#include "linkwork/spatial/so3.h"
#include "linkwork/tree/link_rotation.h"

namespace linkwork {

namespace {

template <class S>
Mat3<S> rotation_of(const S* q) {
  return Eigen::Quaternion<S>(q[0], q[1], q[2], q[3]).normalized().toRotationMatrix();
}

/// R_WN from R_WP by turning columns: R_WP Rz(gamma) Rx(alpha) Rz(theta).
template <class S>
Mat3<S> turned(const Mat3<S>& R_WP, const Node& node, const NodeWork<S>& work) {
  Mat3<S> R = R_WP;
  const auto turn = [&R](int i, int j, S c, S s) {
    const Vec3<S> a = R.col(i);
    R.col(i) = c * a + s * R.col(j);
    R.col(j) = c * R.col(j) - s * a;
  };
  if (node.has_gamma) turn(0, 1, S(node.cg), S(node.sg));
  if (node.has_alpha) turn(1, 2, S(node.ca), S(node.sa));
  turn(0, 1, work.cq, work.sq);
  return R;
}

template <class S>
Vec3<S> axis_in_parent(const Node& node) {
  return {S(node.sg * node.sa), S(-node.cg * node.sa), S(node.ca)};
}

}  // namespace

template <class S>
void update_positions(const Tree& tree, const S* q, TreeWork<S>& work) {
  for (int i = 1; i < tree.size(); ++i) {
    const Node& node = tree.nodes[static_cast<std::size_t>(i)];
    NodeWork<S>& a = work[i];
    const S* const qi = q + node.q;
    a.p = node.p.template cast<S>();
    if (node.kind == NodeKind::kRevolute || node.kind == NodeKind::kHelical) {
      const S angle = S(node.theta0) + qi[0];
      a.cq = std::cos(angle);
      a.sq = std::sin(angle);
    }
    if (node.kind == NodeKind::kPrismatic) a.p += qi[0] * axis_in_parent<S>(node);
    if (node.kind == NodeKind::kHelical) a.p += (S(node.pitch) * qi[0]) * axis_in_parent<S>(node);
    const Pose<S>& parent = work[node.parent].X_WN;
    if (velocity_count(node.kind) == 1) {
      a.X_WN.R = turned(parent.R, node, a);
    } else {
      BlockWork<S>& block = work.block(i);
      const Mat3<S> R_PF = node.R_PF.template cast<S>();
      const bool floats = node.kind == NodeKind::kFree;
      block.Rq = rotation_of(qi + (floats ? 3 : 0));
      block.R = R_PF * block.Rq;
      if (floats) a.p += R_PF * Eigen::Map<const Vec3<S>>(qi);
      a.X_WN.R = parent.R * block.R;
    }
    a.X_WN.p = parent.p + parent.R * a.p;
  }
}

template <class S>
void update_velocities(const Tree& tree, const S* v, TreeWork<S>& work) {
  work[0].av = -tree.gravity.template cast<S>();
  for (int i = 1; i < tree.size(); ++i) {
    const Node& node = tree.nodes[static_cast<std::size_t>(i)];
    NodeWork<S>& a = work[i];
    const NodeWork<S>& parent = work[node.parent];
    a.w = parent.w, a.v = parent.v, a.aw = parent.aw, a.av = parent.av;
    link::motion_to_child(tree, work, i, a.w, a.v);
    link::motion_to_child(tree, work, i, a.aw, a.av);
    const S* const vi = v + node.v;
    // A = X A_parent + V x (S v) + (dS/dt) v
    switch (node.kind) {
      case NodeKind::kRevolute:
        a.aw.x() += a.w.y() * vi[0], a.aw.y() -= a.w.x() * vi[0];
        a.av.x() += a.v.y() * vi[0], a.av.y() -= a.v.x() * vi[0];
        a.w.z() += vi[0];
        break;
      case NodeKind::kPrismatic:
        a.av.x() += a.w.y() * vi[0], a.av.y() -= a.w.x() * vi[0];
        a.v.z() += vi[0];
        break;
      default: {
        Vec3<S> w = Vec3<S>::Zero(), l = Vec3<S>::Zero();
        add_joint_motion(tree, work, i, vi, w, l);
        a.aw += a.w.cross(w);
        a.av += a.w.cross(l) + a.v.cross(w);
        if (node.kind == NodeKind::kFree) a.av -= w.cross(l);
        a.w += w, a.v += l;
      }
    }
  }
}

template <class S>
void update_accelerations(const Tree& tree, const S* vdot, TreeWork<S>& work) {
  for (int i = 1; i < tree.size(); ++i) {
    const Node& node = tree.nodes[static_cast<std::size_t>(i)];
    NodeWork<S>& a = work[i];
    a.dw = work[node.parent].dw, a.dv = work[node.parent].dv;
    link::motion_to_child(tree, work, i, a.dw, a.dv);
    add_joint_motion(tree, work, i, vdot + node.v, a.dw, a.dv);
  }
}

template <class S>
void position_rates(const Tree& tree, const S* q, const S* v, S* qdot) {
  for (int i = 1; i < tree.size(); ++i) {
    const Node& node = tree.nodes[static_cast<std::size_t>(i)];
    const S* qi = q + node.q;
    const S* vi = v + node.v;
    S* out = qdot + node.q;
    if (velocity_count(node.kind) == 1) {
      out[0] = vi[0];
      continue;
    }
    if (node.kind == NodeKind::kFree) {
      for (int k = 0; k < 3; ++k) out[k] = vi[k];
      qi += 3, vi += 3, out += 3;
    }
    const S h(0.5);
    out[0] = h * (-qi[1] * vi[0] - qi[2] * vi[1] - qi[3] * vi[2]);
    out[1] = h * (qi[0] * vi[0] + qi[2] * vi[2] - qi[3] * vi[1]);
    out[2] = h * (qi[0] * vi[1] + qi[3] * vi[0] - qi[1] * vi[2]);
    out[3] = h * (qi[0] * vi[2] + qi[1] * vi[1] - qi[2] * vi[0]);
  }
}

namespace {

/// Calls visit(node, pointer to its quaternion).
template <class Visit>
void for_each_quaternion(const Tree& tree, double* q, Visit&& visit) {
  for (const Node& node : tree.nodes) {
    if (node.kind == NodeKind::kSpherical) visit(node, q + node.q);
    if (node.kind == NodeKind::kFree) visit(node, q + node.q + 3);
  }
}

}  // namespace

void normalize_quaternions(const Tree& tree, double* q) {
  for_each_quaternion(tree, q, [](const Node&, double* turn) { Eigen::Map<Eigen::Vector4d>(turn).normalize(); });
}

void displace(const Tree& tree, double* q, const double* dv) {
  for (const Node& node : tree.nodes) {
    const int simple = node.kind == NodeKind::kSpherical ? 0 : node.kind == NodeKind::kFree ? 3 : velocity_count(node.kind);
    for (int k = 0; k < simple; ++k) q[node.q + k] += dv[node.v + k];
  }
  for_each_quaternion(tree, q, [&](const Node& node, double* turn) {
    const double* const spin = dv + node.v + (node.kind == NodeKind::kFree ? 3 : 0);
    const Vec3<double> phi(spin[0], spin[1], spin[2]);
    const double angle = phi.norm();
    const double half_sinc = angle < 1e-8 ? 0.5 : std::sin(0.5 * angle) / angle;
    const Quat step(std::cos(0.5 * angle), half_sinc * phi.x(), half_sinc * phi.y(), half_sinc * phi.z());
    const Quat moved = (Quat(turn[0], turn[1], turn[2], turn[3]) * step).normalized();
    turn[0] = moved.w(), turn[1] = moved.x(), turn[2] = moved.y(), turn[3] = moved.z();
  });
}

template void update_positions<double>(const Tree&, const double*, TreeWork<double>&);
template void update_positions<long double>(const Tree&, const long double*, TreeWork<long double>&);
template void update_velocities<double>(const Tree&, const double*, TreeWork<double>&);
template void update_velocities<long double>(const Tree&, const long double*, TreeWork<long double>&);
template void update_accelerations<double>(const Tree&, const double*, TreeWork<double>&);
template void update_accelerations<long double>(const Tree&, const long double*, TreeWork<long double>&);
template void position_rates<double>(const Tree&, const double*, const double*, double*);
template void position_rates<long double>(const Tree&, const long double*, const long double*, long double*);

}  // namespace linkwork
