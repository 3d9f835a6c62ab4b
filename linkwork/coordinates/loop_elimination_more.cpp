#include <array>

#include "linkwork/coordinates/loop_elimination.h"
#include "linkwork/linalg/index.h"
#include "linkwork/model/closures/frame_closure.h"
#include "linkwork/tree/kinematics.h"
#include "linkwork/tree/link_rotation.h"

namespace linkwork {

namespace {

/// A number for each of so many right-hand sides.
constexpr int kSides = 8;
using Sides = std::array<double, kSides>;
using Sides6 = std::array<Sides, 6>;
using Six = std::array<double, 6>;

inline void add(Sides& to, double factor, const Sides& x) {
  for (std::size_t l = 0; l < kSides; ++l) to[l] += factor * x[l];
}
inline void add(Sides6& to, const Six& along, const Sides& x) {
  for (std::size_t i = 0; i < 6; ++i) add(to[i], along[i], x);
}
inline void subtract_dot(Sides& from, const Six& a, const Sides6& b) {
  for (std::size_t i = 0; i < 6; ++i) add(from, -a[i], b[i]);
}

Six wrench_in_world(const Pose<double>& X, const Vec3<double>& n, const Vec3<double>& f) {
  const Vec3<double> force = X.R * f, moment = X.R * n + X.p.cross(force);
  return {moment.x(), moment.y(), moment.z(), force.x(), force.y(), force.z()};
}
Six motion_in_world(const Pose<double>& X, const Vec3<double>& w, const Vec3<double>& v) {
  const Vec3<double> turn = X.R * w, slide = X.R * v + X.p.cross(turn);
  return {turn.x(), turn.y(), turn.z(), slide.x(), slide.y(), slide.z()};
}

/// A joint's coordinate, in the world: its axis s, IA s, and its row of D^-1.
struct Axis {
  Six s, U, Dinv;
};

void set_axes(const Tree& tree, const TreeWork<double>& work, int i, Axis* axes) {
  const Node& node = tree.nodes[at(i)];
  const Pose<double>& X = work.X_WN[at(i)];
  const NodeWork<double>& a = work[i];
  using V3 = Vec3<double>;
  if (velocity_count(node.kind) == 1) {
    const JointAxis axis = joint_axis(node);
    const V3 Uw = node.planar ? V3(0.0, 0.0, a.Uw.z()) : a.Uw, Uf = node.planar ? V3(a.Uf.x(), a.Uf.y(), 0.0) : a.Uf;
    axes[0] = {motion_in_world(X, axis.turn * V3::UnitZ(), axis.slide * V3::UnitZ()), wrench_in_world(X, Uw, Uf), {a.Dinv}};
    return;
  }
  const BlockWork<double>& block = work.block(i);
  const Mat6<double> IA = a.IA.matrix();
  const int nv = velocity_count(node.kind), slides = nv - 3;
  Eigen::Matrix<double, 6, 6> S = Eigen::Matrix<double, 6, 6>::Zero();  // columns in the node's frame
  for (int k = 0; k < slides; ++k) S.col(k).tail<3>() = block.Rq.transpose().col(k);
  for (int k = 0; k < 3; ++k) S(k, slides + k) = 1.0;
  for (int k = 0; k < nv; ++k) {
    const Vec6<double> U = IA * S.col(k);
    axes[k].s = motion_in_world(X, S.col(k).head<3>(), S.col(k).tail<3>());
    axes[k].U = wrench_in_world(X, U.head<3>(), U.tail<3>());
    for (int l = 0; l < nv; ++l)
      axes[k].Dinv[at(l)] = slides == 0 ? block.IA_inverse(k, l) : S.col(k).dot(block.IA_inverse * S.col(l));
  }
}

}  // namespace

void LoopElimination::solve_more(const Tree& tree, TreeWork<double>& work, const RowMatX& tau, const RowMatX& b, RowMatX& x,
                                 RowMatX& y) {
  update_poses(tree, work);
  x.resize(tau.rows(), tau.cols());
  y.setZero(b.rows(), tau.cols());
  std::vector<Axis> axes(at(tree.nv));
  for (int i = 1; i < tree.size(); ++i) set_axes(tree, work, i, axes.data() + tree.nodes[at(i)].v);
  std::vector<Six> K(at(rows_)), KP(at(rows_));  // by row, at the node of its elimination
  for (const int g : order_) {
    const Group& group = groups_[at(g)];
    if (group.K < 0) continue;
    const double* const P = &numbers_[at(group.inverse)];
    for (int c = 0; c < group.columns; ++c) {
      const Wrench<double> own = wrench(group.K, c);
      K[at(group.first_row + c)] = wrench_in_world(work.X_WN[at(group.node)], own.n, own.f);
    }
    for (int c = 0; c < group.columns; ++c) {
      Six sum{};
      for (int l = 0; l < group.columns; ++l)
        for (std::size_t i = 0; i < 6; ++i) sum[i] += P[l * padded(group.columns) + c] * K[at(group.first_row + l)][i];
      KP[at(group.first_row + c)] = sum;
    }
  }

  const auto nodes = static_cast<std::size_t>(tree.size());
  std::vector<Sides6> F(nodes), a(nodes);
  std::vector<Sides> u(axes.size()), rhs(at(rows_)), lambda(at(rows_));
  for (Eigen::Index first = 0; first < tau.cols(); first += kSides) {
    const auto count = static_cast<std::size_t>(std::min<Eigen::Index>(kSides, tau.cols() - first));
    const auto load = [&](const RowMatX& from, std::vector<Sides>& to) {
      for (Eigen::Index r = 0; r < from.rows(); ++r) {
        to[static_cast<std::size_t>(r)] = {};
        std::copy_n(&from(r, first), count, to[static_cast<std::size_t>(r)].begin());
      }
    };
    load(tau, u);
    load(b, rhs);
    std::ranges::fill(F, Sides6{});
    a[0] = {};
    for (int i = tree.size() - 1; i >= 0; --i) {
      const Station& station = stations_[at(i)];
      for (int k = station.first_eliminated; k < station.last_eliminated; ++k) {
        const Group& group = groups_[at(order_[at(k)])];
        const int m = group.columns;
        for (const Later& later : group.later)
          for (int r = 0; r < later.columns; ++r)
            for (int c = 0; c < m; ++c)
              add(rhs[at(later.first_row + r)], -numbers_[at(later.scaled + r * padded(m) + c)], rhs[at(group.first_row + c)]);
        if (group.K < 0) continue;
        for (int c = 0; c < m; ++c) {
          Six against = KP[at(group.first_row + c)];
          for (double& value : against) value = -value;
          add(F[at(i)], against, rhs[at(group.first_row + c)]);
        }
      }
      if (i == 0) break;
      const Node& node = tree.nodes[at(i)];
      const int nv = velocity_count(node.kind);
      const Axis* const axis = &axes[at(node.v)];
      for (int k = 0; k < nv; ++k) subtract_dot(u[at(node.v + k)], axis[k].s, F[at(i)]);
      for (int p = station.first_passage; p < station.last_passage; ++p) {
        const Passage& passage = passages_[at(p)];
        for (int c = 0; c < passage.columns; ++c)
          for (int k = 0; k < nv; ++k)
            add(rhs[at(passage.first_row + c)], -numbers_[at(passage.y + k * padded(passage.columns) + c)], u[at(node.v + k)]);
      }
      if (node.parent == 0) continue;
      Sides6& above = F[at(node.parent)];
      for (std::size_t c = 0; c < 6; ++c) add(above[c], 1.0, F[at(i)][c]);
      for (int k = 0; k < nv; ++k) {
        Sides response{};
        for (int l = 0; l < nv; ++l) add(response, axis[k].Dinv[at(l)], u[at(node.v + l)]);
        add(above, axis[k].U, response);
      }
    }
    for (int i = 0; i < tree.size(); ++i) {
      const Node& node = tree.nodes[at(i)];
      const Station& station = stations_[at(i)];
      const int nv = velocity_count(node.kind);
      if (i > 0) {
        const Axis* const axis = &axes[at(node.v)];
        for (int p = station.first_passage; p < station.last_passage; ++p) {
          const Passage& passage = passages_[at(p)];
          for (int c = 0; c < passage.columns; ++c)
            for (int k = 0; k < nv; ++k)
              add(u[at(node.v + k)], numbers_[at(passage.u + k * padded(passage.columns) + c)],
                  lambda[at(passage.first_row + c)]);
        }
        a[at(i)] = a[at(node.parent)];
        for (int k = 0; k < nv; ++k) subtract_dot(u[at(node.v + k)], axis[k].U, a[at(node.parent)]);
        for (int k = 0; k < nv; ++k) {
          Sides accelerates{};
          for (int l = 0; l < nv; ++l) add(accelerates, axis[k].Dinv[at(l)], u[at(node.v + l)]);
          std::copy_n(accelerates.begin(), count, &x(node.v + k, first));
          add(a[at(i)], axis[k].s, accelerates);
        }
      }
      for (int k = station.last_eliminated; k-- > station.first_eliminated;) {
        const Group& group = groups_[at(order_[at(k)])];
        const int m = group.columns;
        std::array<Sides, kMaxRows> left;
        for (int c = 0; c < m; ++c) {
          left[at(c)] = rhs[at(group.first_row + c)];
          if (group.K >= 0) subtract_dot(left[at(c)], K[at(group.first_row + c)], a[at(i)]);
        }
        for (int r = 0; r < m; ++r) {
          Sides& own = lambda[at(group.first_row + r)];
          own = {};
          for (int c = 0; c < m; ++c) add(own, numbers_[at(group.inverse + r * padded(m) + c)], left[at(c)]);
        }
        for (const Later& later : group.later)
          for (int r = 0; r < later.columns; ++r)
            for (int c = 0; c < m; ++c)
              add(lambda[at(group.first_row + c)], -numbers_[at(later.scaled + r * padded(m) + c)],
                  lambda[at(later.first_row + r)]);
        for (int r = 0; r < m; ++r) std::copy_n(lambda[at(group.first_row + r)].begin(), count, &y(group.first_row + r, first));
      }
    }
  }
}

}  // namespace linkwork
