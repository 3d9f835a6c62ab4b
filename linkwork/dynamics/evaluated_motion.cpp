#include "linkwork/dynamics/evaluated_motion.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace linkwork {

using V3 = Vec3<double>;

EvaluatedMotion::EvaluatedMotion(const Model& model) : model_(&model), work_(model.tree) {
  for (std::size_t j = 0; j < model.joints.size(); ++j) {
    const Joint& joint = model.joints[j];
    first_angle_.push_back(turns_.angle.size());
    turns_.angle.insert(turns_.angle.end(), joint.start.begin(), joint.start.end());
    bool turns = false;
    for (std::size_t k = 0; k < joint.kind->positions.size(); ++k) turns = turns || joint.kind->is_angle(k);
    if (turns && !joint.in_state()) turning_.emplace_back(j);
  }
  turns_.rate.assign(turns_.angle.size(), 0.0);
}

RelativeMotion EvaluatedMotion::relative_motion(const NodeFrame& frame_a, const NodeFrame& frame_b, bool with_vdot) const {
  struct NodeMotion {
    V3 w, v, aw, ap;
  };
  const auto motion = [&](int node) {
    const NodeWork<double>& n = work_[node];
    return with_vdot ? NodeMotion{n.w, n.v, n.aw + n.dw, n.ap + n.dv} : NodeMotion{n.w, n.v, n.aw, n.ap};
  };
  const NodeMotion a = motion(frame_a.node), b = motion(frame_b.node);
  const Pose<double> X_AB = between(frame_a.node, frame_b.node);
  const PointMotion point = point_motion(a, b, X_AB, frame_b.X_NF.p);
  const V3 w = X_AB.R * b.w - a.w;
  const V3 wdot = X_AB.R * b.aw - a.aw - a.w.cross(w);
  const auto Rt = frame_a.X_NF.R.transpose();
  return {Rt * (X_AB.R * frame_b.X_NF.R), Rt * (point.p - frame_a.X_NF.p), Rt * w, Rt * point.pdot, Rt * wdot, Rt * point.pddot};
}

V3 EvaluatedMotion::velocity(const NodeFrame& frame) const {
  const NodeWork<double>& node = work_[frame.node];
  return X_WN(frame.node).R * (node.v + node.w.cross(frame.X_NF.p));
}

V3 EvaluatedMotion::angular_velocity(const NodeFrame& frame) const { return frame.X_NF.R.transpose() * work_[frame.node].w; }

V3 EvaluatedMotion::specific_force(const NodeFrame& frame) const {
  const V3 acceleration = relative_motion({}, frame, true).pddot;
  return pose(frame).R.transpose() * (acceleration - model_->settings.gravity);
}

std::pair<Wrench<double>, Wrench<double>> row_wrenches(const NodeFrame& a, const NodeFrame& b, const Pose<double>& X_AB,
                                                       const Row& row) {
  const V3 f_a = a.X_NF.R * row.on_p, n_a = a.X_NF.R * row.on_w;  // axes of a's node
  const V3 f_b = X_AB.R.transpose() * f_a, n_b = X_AB.R.transpose() * n_a;
  const V3 point_a = X_AB * b.X_NF.p;  // where b's origin is, in a's node
  return {{-(n_a + point_a.cross(f_a)), -f_a}, {n_b + b.X_NF.p.cross(f_b), f_b}};
}

EvaluatedMotion::CoordinateMotion EvaluatedMotion::coordinate_motion(const Coordinate& coordinate) const {
  const Joint& joint = model_->joints[coordinate.joint()];
  const auto k = static_cast<std::size_t>(coordinate.component);
  if (joint.in_state()) return {state_->q[joint.q[k]], state_->v[joint.v[k]], 0.0};
  const RelativeMotion m = relative_motion(joint.parent, joint.child);
  std::array<Row, kMaxRows> rows;
  joint.kind->coordinates(m, rows);
  const double rate = rows[k].rate(m);
  return {unwrapped(joint, k, rows[k].value, rate), rate, rows[k].second_rate(m)};
}

double EvaluatedMotion::unwrapped(const Joint& joint, std::size_t component, double angle, double rate) const {
  if (!joint.kind->is_angle(component)) return angle;
  const std::size_t at = first_angle_[static_cast<std::size_t>(&joint - model_->joints.data())] + component;
  const double elapsed = turns_.counted ? state_->t - turns_.time : 0.0;
  const double expected = turns_.angle[at] + elapsed * 0.5 * (turns_.rate[at] + rate);
  return expected + std::remainder(angle - expected, 2.0 * std::numbers::pi);
}

void EvaluatedMotion::accept_turns(bool rates_jump) {
  constexpr double kLittle = 1.0;  // rad
  if (turning_.empty()) return;
  double fastest = 0.0;
  for (const NodeWork<double>& node : work_.nodes) fastest = std::max(fastest, node.w.squaredNorm());
  turns_.since += 2.0 * std::sqrt(fastest) * (state_->t - turns_.seen);
  turns_.seen = state_->t;
  if (turns_.counted && turns_.since < kLittle && !rates_jump) return;
  for (JointIndex index : turning_) {
    std::array<double, 7> q{};
    std::array<double, 6> v{}, a{};
    const Joint& joint = model_->joints[index()];
    joint_motion(joint, {}, q, v, a);
    for (std::size_t k = 0; k < joint.kind->positions.size(); ++k) {
      if (!joint.kind->is_angle(k)) continue;
      turns_.angle[first_angle_[index()] + k] = q[k];
      turns_.rate[first_angle_[index()] + k] = v[k];
    }
  }
  kept_ = Kept::kNothing;
  turns_.counted = true;
  turns_.time = state_->t;
  turns_.since = 0.0;
}

void EvaluatedMotion::joint_motion(const Joint& joint, std::span<const double> vdot, std::span<double> q, std::span<double> v,
                                   std::span<double> a) const {
  if (joint.in_state()) {
    for (std::size_t k = 0; k < joint.q.size(); ++k) q[k] = state_->q[joint.q[k]];
    for (std::size_t k = 0; k < joint.v.size(); ++k) {
      v[k] = state_->v[joint.v[k]];
      a[k] = vdot.empty() ? 0.0 : vdot[static_cast<std::size_t>(joint.v[k])];
    }
    return;
  }
  const RelativeMotion m = relative_motion(joint.parent, joint.child, !vdot.empty());
  joint_positions(*joint.kind, m, q);
  std::array<Row, kMaxRows> rows;
  joint.kind->coordinates(m, rows);
  for (std::size_t k = 0; k < joint.kind->velocities.size(); ++k) {
    v[k] = rows[k].rate(m);
    a[k] = rows[k].second_rate(m);
  }
  for (std::size_t k = 0; k < joint.kind->positions.size(); ++k)
    if (joint.kind->is_angle(k)) q[k] = unwrapped(joint, k, q[k], v[k]);
}

}  // namespace linkwork
