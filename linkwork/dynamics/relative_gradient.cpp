#include "linkwork/dynamics/relative_gradient.h"

#include <algorithm>

namespace linkwork {

// In world axes about the world's origin, with xi the twist of a change of pose, a frame a and what is seen from it change by
//   eta = xi_b - xi_a,  nu = dV_b - dV_a - xi_a x V,  V = V_b - V_a,
//   dA = dA_b - dA_a - dV_a x V - V_a x (dV_b - dV_a) - xi_a x A,  A = A_b - A_a - V_a x V.

namespace {

using V3 = Vec3<double>;
using V6 = Vec6<double>;

int depth_of(const Tree& tree, int node) {
  int depth = 0;
  for (; node != 0; node = tree.nodes[static_cast<std::size_t>(node)].parent) ++depth;
  return depth;
}

}  // namespace

RelativeGradient::RelativeGradient(const System& system, const InverseDynamicsDerivatives& motion, const NodeFrame& a,
                                   const NodeFrame& b, std::pmr::memory_resource* memory)
    : of_(motion), nv_(system.tree().nv), parts_(memory) {
  const Tree& tree = system.tree();
  const Pose<double> X_WA = system.pose(a), X_WB = system.pose(b);
  R_ = X_WA.R, p_ = X_WB.p;
  const V6 &Va = motion.twist(a.node), &Vb = motion.twist(b.node);
  const V6 V = Vb - Va, A = motion.acceleration(b.node) - motion.acceleration(a.node) - cross_motion(Va, V);
  const auto turned = R_.transpose();
  m_.R = turned * X_WB.R;
  m_.p = turned * (p_ - X_WA.p);
  m_.w = turned * V.head<3>();
  m_.pdot = turned * at_point(V, p_);
  m_.wdot = turned * A.head<3>();
  m_.pddot = turned * at_point(A, p_) + m_.w.cross(m_.pdot);
  const auto seed = [](const V3& x, std::size_t first) {
    return Vec3<Dual>(Dual::along(x.x(), first), Dual::along(x.y(), first + 1), Dual::along(x.z(), first + 2));
  };
  dual_.p = seed(m_.p, 3), dual_.w = seed(m_.w, 6), dual_.pdot = seed(m_.pdot, 9);
  for (int c = 0; c < 3; ++c) {
    const Mat3<double> turns = -skew<double>(m_.R.col(c));  // d col = theta x col
    for (int r = 0; r < 3; ++r) {
      dual_.R(r, c) = m_.R(r, c);
      for (int k = 0; k < 3; ++k) dual_.R(r, c).d[static_cast<std::size_t>(k)] = turns(r, k);
    }
  }

  const auto change = [&](const V6& eta, const V6& nu, const V6& dA) {
    Change d;
    const V3 dp = turned * at_point(eta, p_), dw = turned * nu.head<3>(), dpdot = turned * at_point(nu, p_) + m_.w.cross(dp);
    d << turned * eta.head<3>(), dp, dw, dpdot, turned * dA.head<3>(),
        turned * at_point(dA, p_) + m_.wdot.cross(dp) + dw.cross(m_.pdot) + m_.w.cross(dpdot);
    return d;
  };
  int end_a = a.node, end_b = b.node;
  for (int da = depth_of(tree, end_a), db = depth_of(tree, end_b); end_a != end_b;) {
    const bool at_a = da > db;
    int& end = at_a ? end_a : end_b;
    --(at_a ? da : db);
    const Node& node = tree.nodes[static_cast<std::size_t>(end)];
    const int place = at_a ? da : db;
    const int of = at_a ? a.node : b.node;
    const V6 &Vi = motion.twist(of), &Ai = motion.acceleration(of);
    for (int v = node.v; v < node.v + velocity_count(node.kind); ++v) {
      const InverseDynamicsDerivatives::Dof& dof = motion.dof(v);
      Part part{v, at_a ? -1.0 : 1.0, place, dof.stage, {}, {}};
      const V6 dV = cross_motion(dof.s, Vi) - dof.w, dAi = cross_motion(dof.s, Ai) - dof.y + cross_motion(Vi, dof.w);
      const V6 dAv = dof.z - cross_motion(Vi, dof.s);
      if (at_a) {
        part.by_q = change(-dof.s, -dV - cross_motion(dof.s, V),
                           -dAi - cross_motion(dV, V) + cross_motion(Va, dV) - cross_motion(dof.s, A));
        part.by_v = change(V6::Zero(), -dof.s, -dAv - cross_motion(dof.s, V) + cross_motion(Va, dof.s));
      } else {
        part.by_q = change(dof.s, dV, dAi - cross_motion(Va, dV));
        part.by_v = change(V6::Zero(), dof.s, dAv - cross_motion(Va, dof.s));
      }
      parts_.push_back(part);
    }
    end = node.parent;
  }
}

RelativeGradient::Change RelativeGradient::of_value(const Dual& x) {
  Change gradient = Change::Zero();
  std::ranges::copy(x.d, gradient.data());
  return gradient;
}

RelativeGradient::Change RelativeGradient::of_second_rate(const DualRow& row) const {
  Dual x = row.gamma;
  Change gradient;
  for (int i = 0; i < 3; ++i) {
    x += row.on_w[i] * m_.wdot[i] + row.on_p[i] * m_.pddot[i];
    gradient[12 + i] = row.on_w[i].value;
    gradient[15 + i] = row.on_p[i].value;
  }
  gradient.head<12>() = Eigen::Map<const Eigen::Matrix<double, 12, 1>>(x.d.data());
  return gradient;
}

V6 RelativeGradient::wrench(const DualRow& row) const {
  V3 n, f;
  for (int i = 0; i < 3; ++i) n[i] = row.on_w[i].value, f[i] = row.on_p[i].value;
  V6 W;
  const V3 force = R_ * f;
  W << R_ * n + p_.cross(force), force;
  return W;
}

std::pmr::vector<double> RelativeGradient::directions(const DualRow& row) const {
  const V6 W = wrench(row);
  std::pmr::vector<double> along(parts_.get_allocator().resource());
  along.reserve(parts_.size());
  for (const Part& part : parts_) along.push_back(part.side * of_.dof(part.v).s.dot(W));
  return along;
}

void RelativeGradient::subtract_force(const DualRow& row, double factor, RowMatX& force) const {
  if (factor == 0.0) return;
  const V6 W = factor * wrench(row);
  const V3 f = W.tail<3>();
  // How the wrench changes when a stands still.
  const auto moved = [&](const Change& d) {
    V3 dn = V3::Zero(), df = V3::Zero();
    for (int i = 0; i < 3; ++i)
      for (int k = 0; k < 12; ++k) {
        dn[i] += factor * row.on_w[i].d[static_cast<std::size_t>(k)] * d[k];
        df[i] += factor * row.on_p[i].d[static_cast<std::size_t>(k)] * d[k];
      }
    const V3 turned = R_ * df;
    V6 dW;
    dW << R_ * dn + p_.cross(turned) + (R_ * d.segment<3>(3)).cross(f), turned;
    return dW;
  };
  for (const Part& j : parts_) {
    const V6& s_j = of_.dof(j.v).s;
    const V6 carried = cross_force(s_j, W);
    V6 by_q = moved(j.by_q);
    if (j.side < 0.0) by_q += carried;
    const V6 by_v = moved(j.by_v);
    for (const Part& k : parts_) {
      const V6& s_k = of_.dof(k.v).s;
      const bool carries = j.side == k.side && (j.place < k.place || (j.place == k.place && j.stage <= k.stage));
      force(k.v, j.v) -= k.side * s_k.dot(carries ? V6(by_q - carried) : by_q);
      force(k.v, nv_ + j.v) -= k.side * s_k.dot(by_v);
    }
  }
}

}  // namespace linkwork
