#include "linkwork/dynamics/evaluated_forces.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "linkwork/tree/energy.h"

namespace linkwork {

using V3 = Vec3<double>;

EvaluatedForces::EvaluatedForces(const Model& model)
    : EvaluatedConstraints(model),
      loads_(model.frictions.size(), 0.0),
      friction_force_(model.frictions.size(), Eigen::Vector2d::Zero()),
      joint_forces_(model.joint_forces.size()),
      springs_(model.springs.size()),
      wrenches_(model.wrenches.size()),
      bushings_(model.bushings.size()) {
  if (!model.custom_forces.empty()) custom_forces_.emplace(model);
  if (std::ranges::any_of(model.bodies, [&](const Body& body) { return model.is_welded(body); }))
    on_bodies_.resize(model.bodies.size());
  for (std::size_t j = 0; j < model.joints.size(); ++j) {
    const Joint& joint = model.joints[j];
    if (joint.stiffness == 0.0 && joint.damping == 0.0 && joint.friction == 0.0) continue;
    if (!joint.in_state()) cut_joints_with_laws_.emplace_back(j);
    // A quaternion has a component more than the velocity, and no stiffness.
    for (std::size_t k = 0; joint.in_state() && k < joint.v.size(); ++k)
      coordinate_laws_.push_back({joint.stiffness != 0.0 ? joint.q[k] : 0, joint.v[k], &joint});
  }
  for (const JointForce& force : model.joint_forces) {
    const Expression& value = force.value.expression;
    constant_efforts_.push_back(value.is_constant() ? std::optional(value.constant_value()) : std::nullopt);
  }
  for (const BodyWrench& wrench : model.wrenches) {
    WrenchParts& parts = wrench_parts_.emplace_back();
    for (int k = 0; k < 6; ++k) {
      const auto axis = static_cast<std::size_t>(k % 3);
      const BoundExpression& value = k < 3 ? wrench.torque[axis] : wrench.force[axis];
      if (value.expression.is_constant())
        (k < 3 ? parts.constant.n : parts.constant.f)[k % 3] = value.expression.constant_value();
      else
        parts.varying.emplace_back(k, &value);
    }
  }
}

void EvaluatedForces::update_forces() {
  work_.clear_forces();
  if (!on_bodies_.empty()) std::ranges::fill(on_bodies_, Wrench<double>{});
  power_ = 0.0;
  apply_joint_laws();
  if (!joint_forces_.empty()) apply_joint_forces();
  if (!springs_.empty()) apply_springs();
  if (!wrenches_.empty()) apply_wrenches();
  if (!bushings_.empty()) apply_bushings();
  if (custom_forces_) power_ += custom_forces_->apply(*this);
  if (!loads_.empty()) apply_friction();
}

void EvaluatedForces::add_relative_force(const NodeFrame& a, const NodeFrame& b, const Row& row, double force) {
  const Row scaled{0.0, force * row.on_w, force * row.on_p, 0.0};
  const auto [on_a, on_b] = row_wrenches(a, b, between(a.node, b.node), scaled);
  add_wrench(a, on_a);
  add_wrench(b, on_b);
}

void EvaluatedForces::add_coordinate_force(const Coordinate& coordinate, double force) {
  const Joint& joint = model_->joints[coordinate.joint()];
  const auto k = static_cast<std::size_t>(coordinate.component);
  if (joint.in_state()) {
    work_.tau[joint.v[k]] += force;
    return;
  }
  const RelativeMotion m = relative_motion(joint.parent, joint.child);
  std::array<Row, kMaxRows> rows;
  joint.kind->coordinates(m, rows);
  add_relative_force(joint.parent, joint.child, rows[k], force);
}

void EvaluatedForces::apply_joint_laws() {
  const double *const q = state_->q.data(), *const v = state_->v.data();
  for (const CoordinateLaw& law : coordinate_laws_) {
    const double rate = v[law.v];
    const auto [elastic, lossy] = joint_law(*law.joint, q[law.q], rate);
    power_ += lossy * rate;
    work_.tau.data()[law.v] += elastic + lossy;
  }
  for (JointIndex index : cut_joints_with_laws_) {
    const Joint& joint = model_->joints[index()];
    std::array<double, 7> q_cut{};
    std::array<double, 6> v_cut{}, a{};
    joint_motion(joint, {}, q_cut, v_cut, a);
    for (int k = 0; k < joint.kind->nv(); ++k) {
      const auto c = static_cast<std::size_t>(k);
      const auto [elastic, lossy] = joint_law(joint, q_cut[c], v_cut[c]);
      power_ += lossy * v_cut[c];
      add_coordinate_force({index, k}, elastic + lossy);
    }
  }
}

void EvaluatedForces::apply_joint_forces() {
  for (std::size_t k = 0; k < model_->joint_forces.size(); ++k) {
    const JointForce& force = model_->joint_forces[k];
    if (!is_in_force(force.of)) continue;
    const double value = constant_efforts_[k] ? *constant_efforts_[k] : evaluate(force.value);
    if (const Joint& joint = model_->joints[force.coordinate.joint()]; joint.in_state()) {
      const int dof = joint.v[static_cast<std::size_t>(force.coordinate.component)];
      work_.tau[dof] += value;
      joint_forces_[k] = {value, value * state_->v[dof]};
    } else {
      add_coordinate_force(force.coordinate, value);
      joint_forces_[k] = {value, value * coordinate_motion(force.coordinate).rate};
    }
    power_ += joint_forces_[k].power;
  }
}

void EvaluatedForces::apply_springs() {
  update_poses(tree(), work_);
  const Pose<double>* const poses = work_.X_WN.data();
  const auto place = [poses](const NodeFrame& frame) -> V3 {
    return frame.node == 0 ? frame.X_NF.p : poses[frame.node] * frame.X_NF.p;
  };
  // A unit force at an end, along a direction of the world, as a wrench on the node.
  const auto unit_force = [poses](const NodeFrame& frame, const V3& along) -> Wrench<double> {
    const V3 f = frame.node == 0 ? along : V3(poses[frame.node].R.transpose() * along);
    return {frame.X_NF.p.cross(f), f};
  };
  const auto rate_along = [this](const NodeFrame& frame, const Wrench<double>& unit) {
    if (frame.node == 0) return 0.0;
    const NodeWork<double>& node = work_[frame.node];
    return unit.n.dot(node.w) + unit.f.dot(node.v);
  };
  const auto push = [this](const NodeFrame& frame, double force, const Wrench<double>& unit) {
    if (frame.node != 0 || !on_bodies_.empty()) add_wrench(frame, {force * unit.n, force * unit.f});
  };
  for (std::size_t k = 0; k < model_->springs.size(); ++k) {
    const Spring& spring = model_->springs[k];
    if (!is_in_force(spring.of)) continue;
    const V3 span = place(spring.b) - place(spring.a);
    const double length = span.norm();
    const V3 along = length > 0.0 ? V3((1.0 / length) * span) : V3::UnitX();
    const Wrench<double> on_a = unit_force(spring.a, along), on_b = unit_force(spring.b, along);
    const double rate = rate_along(spring.b, on_b) - rate_along(spring.a, on_a);
    if (spring.law.expression.is_given()) {
      spans_[k] = {length, rate};
      const double pull = evaluate(spring.law);
      push(spring.a, pull, on_a);
      push(spring.b, -pull, on_b);
      power_ -= pull * rate;
      springs_[k] = {pull, -pull * rate};
      continue;
    }
    const double push_apart = -spring.stiffness * (length - spring.length) - spring.damping * rate;
    springs_[k] = {-push_apart, push_apart * rate};
    push(spring.a, -push_apart, on_a);
    push(spring.b, push_apart, on_b);
    power_ -= spring.damping * rate * rate;
  }
}

void EvaluatedForces::apply_wrenches() {
  update_poses(tree(), work_);
  const Pose<double>* const poses = work_.X_WN.data();
  for (std::size_t i = 0; i < model_->wrenches.size(); ++i) {
    const BodyWrench& wrench = model_->wrenches[i];
    if (!is_in_force(wrench.of)) continue;
    Wrench<double> F = wrench_parts_[i].constant;  // at the point, in world or body axes
    for (const auto& [k, value] : wrench_parts_[i].varying) (k < 3 ? F.n : F.f)[k % 3] = evaluate(*value);
    const NodeFrame& at = wrench.at;
    Wrench<double> on_node;  // in the node's axes, then about its origin
    if (wrench.in_body_axes)
      on_node = {at.X_NF.R * F.n, at.X_NF.R * F.f};
    else
      on_node = {poses[at.node].R.transpose() * F.n, poses[at.node].R.transpose() * F.f};
    on_node.n += at.X_NF.p.cross(on_node.f);
    add_wrench(wrench.at, on_node);
    wrenches_[i] = {on_node, power(on_node, Twist<double>{work_[wrench.at.node].w, work_[wrench.at.node].v})};
    power_ += wrenches_[i].second;
  }
}

void EvaluatedForces::apply_bushings() {
  for (std::size_t i = 0; i < model_->bushings.size(); ++i) {
    const Bushing& bushing = model_->bushings[i];
    if (!is_in_force(bushing.of)) continue;
    const RelativeMotion m = relative_motion(bushing.a, bushing.b);
    const std::array<Row, 6> rows = Bushing::rows(m);
    Row sum;
    double elastic = 0.0, lossy = 0.0;
    for (std::size_t k = 0; k < rows.size(); ++k) {
      const double rate = rows[k].rate(m), drag = -bushing.damping[k] * rate;
      const double force = drag - bushing.stiffness[k] * rows[k].value;
      sum.on_w += force * rows[k].on_w;
      sum.on_p += force * rows[k].on_p;
      elastic += (force - drag) * rate;
      lossy += drag * rate;
    }
    add_relative_force(bushing.a, bushing.b, sum, 1.0);
    bushings_[i] = {{sum.on_w, sum.on_p}, elastic + lossy};
    power_ += lossy;
  }
}

Wrench<double> EvaluatedForces::bushing(std::size_t element) const {
  const Bushing& bushing = model_->bushings[element];
  if (!is_in_force(bushing.of)) return {};
  const Mat3<double> R = pose(bushing.a).R;
  return {R * bushings_[element].first.n, R * bushings_[element].first.f};
}

Wrench<double> EvaluatedForces::wrench(std::size_t element) const {
  const BodyWrench& wrench = model_->wrenches[element];
  if (!is_in_force(wrench.of)) return {};
  const auto& [n, f] = wrenches_[element].first;
  const Mat3<double>& R_WN = X_WN(wrench.at.node).R;
  return {R_WN * (n - wrench.at.X_NF.p.cross(f)), R_WN * f};
}

double EvaluatedForces::power_of(std::size_t force) const {
  if (!is_in_force(static_cast<int>(force))) return 0.0;
  double power = 0.0;
  const auto add = [&](const auto& elements, std::size_t first, const auto& power_at) {
    for (std::size_t k = first; k < elements.size() && elements[k].of == static_cast<int>(force); ++k) power += power_at(k);
  };
  const Force& own = model_->forces[force];
  add(model_->joint_forces, own.joint_force, [&](std::size_t k) { return joint_forces_[k].power; });
  add(model_->springs, own.spring, [&](std::size_t k) { return springs_[k].power; });
  add(model_->wrenches, own.wrench, [&](std::size_t k) { return wrenches_[k].second; });
  add(model_->bushings, own.bushing, [&](std::size_t k) { return bushings_[k].second; });
  return power;
}

/// The direction of sliding s, on the side where the step began. Where little is left of s it turns to that of then: stages of a
/// step know s to a few digits only, and through s = 0 the law must go on smoothly, to where the event is found.
static Eigen::Vector2d sliding_direction(const Eigen::Vector2d& s, const Eigen::Vector2d& at_start) {
  constexpr double kLittle = 0.1;
  const double before = at_start.norm(), speed = s.norm();
  const Eigen::Vector2d old = at_start / before;
  if (!(speed > 0.0)) return old;
  const Eigen::Vector2d now = s * (std::copysign(1.0, s.dot(old)) / speed);
  const double share = std::max(0.0, 1.0 - speed / (kLittle * before));
  return ((1.0 - share) * now + share * old).normalized();
}

/// What slides is held back by F = -(f(|s|) load + viscous |s|) along its direction.
void EvaluatedForces::apply_friction() {
  for (std::size_t k = 0; k < model_->frictions.size(); ++k) {
    friction_force_[k].setZero();
    const Modes::Friction& mode = modes_.friction[k];
    if (mode.kind != Modes::Friction::Kind::kSlip) continue;
    const DryFriction& friction = model_->frictions[k];
    if (friction.normal_row < 0) loads_[k] = evaluate(friction.load);
    const Eigen::Vector2d s = slip(k);
    const double speed = s.norm();
    const Eigen::Vector2d along = sliding_direction(s, mode.direction);
    const double signed_speed = s.dot(along);
    friction_force_[k] = -(friction.sliding_force(speed) * loads_[k] + friction.viscous * signed_speed) * along;
    std::array<double, kMaxRows> lambda{};
    const std::size_t group = group_of(friction.first_row);
    const int first = friction.first_row - terms_.first_rows[group];
    for (int r = 0; r < friction.rows; ++r) lambda[static_cast<std::size_t>(first + r)] = friction_force_[k][r];
    sliding_[k].add_to_forces(lambda.data(), work_);
    if (!on_bodies_.empty()) add_to_bodies(sliding_[k], terms_.layout->seed_bodies[group], lambda);
    power_ += friction_force_[k].dot(s);
  }
}

void EvaluatedForces::add_to_bodies(const ForceColumns& columns, std::span<const int> bodies, std::span<const double> lambda) {
  for (std::size_t s = 0; s < bodies.size(); ++s)
    on_bodies_[static_cast<std::size_t>(bodies[s])] += columns.resultant(static_cast<int>(s), lambda.data());
}

double EvaluatedForces::potential_energy() const {
  double energy = gravity_energy(tree(), work_, moments_);
  const auto add = [&](double stiffness, double stretch) { energy += 0.5 * stiffness * stretch * stretch; };
  for (const Joint& joint : model_->joints) {
    if (joint.stiffness == 0.0) continue;
    std::array<double, 7> q{};
    std::array<double, 6> v{}, a{};
    joint_motion(joint, {}, q, v, a);
    for (int k = 0; k < joint.kind->nv(); ++k) add(joint.stiffness, q[static_cast<std::size_t>(k)] - joint.rest);
  }
  for (const Spring& spring : model_->springs)
    if (is_in_force(spring.of)) add(spring.stiffness, distance_row(relative_motion(spring.a, spring.b)).value - spring.length);
  for (const Bushing& bushing : model_->bushings) {
    if (!is_in_force(bushing.of)) continue;
    const std::array<Row, 6> rows = Bushing::rows(relative_motion(bushing.a, bushing.b));
    for (std::size_t k = 0; k < rows.size(); ++k) add(bushing.stiffness[k], rows[k].value);
  }
  if (custom_forces_) energy += custom_forces_->potential(*this);
  return energy;
}

}  // namespace linkwork
