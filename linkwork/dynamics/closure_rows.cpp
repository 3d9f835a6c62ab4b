#include "linkwork/dynamics/closure_rows.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "linkwork/dynamics/system.h"
#include "linkwork/tree/planar.h"

namespace linkwork {

namespace {

using V3 = Vec3<double>;

/// Rows are of the size of 1.
constexpr double kZero = 1e-12;

/// The plane in which a node moves relative to one it hangs on, in that one's axes, and its way from there.
struct Plane {
  Mat3<double> axes = Mat3<double>::Identity();
  double height = 0.0;
  ClosureRows::Branch way;
};

std::optional<Plane> plane_of(const Tree& tree, int index, int root) {
  Plane plane;
  for (int parent = 0; index != root; index = parent) {
    const Node& node = tree.nodes[static_cast<std::size_t>(index)];
    parent = node.parent;
    if (node.kind != NodeKind::kRevolute || (parent != root && (node.has_alpha || node.has_gamma))) return {};
    plane.way.nodes.insert(plane.way.nodes.begin(), index);
    if (parent != root) {
      plane.height += node.p.z();
      continue;
    }
    plane.axes = Eigen::AngleAxisd(std::atan2(node.sg, node.cg), V3::UnitZ()).toRotationMatrix() *
                 Eigen::AngleAxisd(std::atan2(node.sa, node.ca), V3::UnitX()).toRotationMatrix();
    const V3 first = plane.axes.transpose() * node.p;
    plane.way.x = first.x(), plane.way.y = first.y();
    plane.height += first.z();
  }
  return plane;
}

/// A relative motion of the two nodes, all components of which are not zero unless they always are.
struct Trial {
  Pose<double> X_AB;
  RelativeMotion m;  // of the closure's frames

  Trial(const FrameClosure& closure, const Pose<double>& X, const V3& w, const V3& pdot) : X_AB(X) {
    const Mat3<double> Rt = closure.a.X_NF.R.transpose();
    m.R = Rt * X.R * closure.b.X_NF.R;
    m.p = Rt * (X * closure.b.X_NF.p - closure.a.X_NF.p);
    m.w = Rt * w, m.pdot = Rt * pdot;
  }
};

using Trials = std::vector<Trial>;

Trials in_space(const FrameClosure& closure) {
  const auto turned = [](double angle, const V3& about) {
    return Eigen::AngleAxisd(angle, about.normalized()).toRotationMatrix();
  };
  const V3 w(1.0, 2.0, -1.0), pdot(0.8, -1.1, 0.6);
  return {Trial(closure, {Mat3<double>::Identity(), V3(0.3, -0.5, 0.7)}, w, pdot),
          Trial(closure, {turned(0.6, V3(2.0, -1.0, 2.0)), V3(-0.2, 0.9, 0.4)}, pdot, w)};
}

Trials in_plane(const FrameClosure& closure, double height) {
  Trials trials;
  for (double angle : {0.4, -1.3, 2.5})
    trials.emplace_back(closure,
                        Pose<double>{Eigen::AngleAxisd(angle, V3::UnitZ()).toRotationMatrix(), V3(angle, 1.0 - angle, height)},
                        V3(0.0, 0.0, 2.0 - angle), V3(0.5 + angle, -0.7, 0.0));
  return trials;
}

/// The row of b's origin along a direction that is always the same one of a.
bool is_of_point(int r, const FrameClosure& closure, const Trials& trials, V3& direction) {
  std::array<Row, kMaxRows> rows;
  const auto row = static_cast<std::size_t>(r);
  closure.evaluate(trials.front().m, rows);
  const V3 e = rows[row].on_p;
  for (const Trial& trial : trials) {
    closure.evaluate(trial.m, rows);
    const Row& now = rows[row];
    if (now.on_p != e || !now.on_w.isZero(0.0) || now.gamma != 0.0 || now.value != e.dot(trial.m.p)) return false;
  }
  direction = closure.a.X_NF.R * e;
  return true;
}

/// The row never changes, and its force does no work.
bool is_idle(int r, const FrameClosure& closure, const Trials& trials, ClosureRows::Idle& idle) {
  std::array<Row, kMaxRows> rows;
  const V3 turning = closure.a.X_NF.R.transpose() * V3::UnitZ();
  std::optional<double> value;
  for (const Trial& trial : trials) {
    closure.evaluate(trial.m, rows);
    const Row& row = rows[static_cast<std::size_t>(r)];
    if (!value) value = row.value;
    const V3 sideways = row.on_p - row.on_p.dot(turning) * turning;
    const bool works = std::abs(row.on_w.dot(turning)) > kZero || sideways.norm() > kZero;
    if (works || std::abs(row.gamma) > kZero || std::abs(row.value - *value) > kZero) return false;
    idle.value = *value;
    std::tie(idle.on_a, idle.on_b) = row_wrenches(closure.a, closure.b, trial.X_AB, row);
  }
  return true;
}

}  // namespace

PlanePose<double> ClosureRows::Branch::pose(const TreeWork<double>& work) const {
  if (nodes.empty()) return {};
  const NodeWork<double>& first = work[nodes.front()];
  PlanePose<double> X{first.cq, first.sq, x, y};
  for (std::size_t i = 1; i < nodes.size(); ++i) X = planar::placed(X, work[nodes[i]]);
  return X;
}

ClosureRows ClosureRows::of(const Tree& tree, const FrameClosure& closure) {
  ClosureRows found;
  const auto count_point_rows = [&](const Trials& trials) {
    found.working = 0;
    while (found.working < std::min(closure.row_count, 3) &&
           is_of_point(found.working, closure, trials, found.directions[static_cast<std::size_t>(found.working)]))
      ++found.working;
  };
  const int root = common_ancestor(tree, closure.a.node, closure.b.node);
  const std::optional<Plane> of_a = plane_of(tree, closure.a.node, root), of_b = plane_of(tree, closure.b.node, root);
  if (of_a && of_b && closure.a.node != closure.b.node && of_a->axes.isApprox(of_b->axes, kZero)) {
    const double height = of_b->height - of_a->height;
    const Trials trials = in_plane(closure, height);
    count_point_rows(trials);
    int last = closure.row_count;
    for (Idle idle; last > 0 && is_idle(last - 1, closure, trials, idle); --last) found.idle.insert(found.idle.begin(), idle);
    if (last > 0 && last <= found.working) {
      found.kind = root == 0 ? Kind::kPlanar : Kind::kPlanarLoop;
      found.working = last;
      found.height = height + closure.b.X_NF.p.z();
      if (root != 0) found.to_a = of_a->way, found.to_b = of_b->way;
      return found;
    }
    found.idle.clear();
  }
  count_point_rows(in_space(closure));
  if (found.working == closure.row_count)
    found.kind = Kind::kPoint;
  else
    found.working = closure.row_count;
  return found;
}

void ClosureRows::describe(const FrameClosure& closure, ForceColumns& columns) const {
  columns.set_point(closure.b.node, closure.b.X_NF.p);
  columns.set_working(working);
  for (std::size_t i = 0; i < idle.size(); ++i) {
    columns.wrench(0, working + static_cast<int>(i)) = idle[i].on_a;
    columns.wrench(1, working + static_cast<int>(i)) = idle[i].on_b;
  }
  if (kind == Kind::kGeneral) return;
  ForceColumns::Bounds bounds{0.0, 0.0};
  for (int r = 0; r < working; ++r) bounds.force = std::max(bounds.force, directions[static_cast<std::size_t>(r)].squaredNorm());
  bounds.moment = bounds.force * std::max(closure.a.X_NF.p.squaredNorm(), closure.b.X_NF.p.squaredNorm());
  columns.set_bounds(bounds);
}

}  // namespace linkwork
