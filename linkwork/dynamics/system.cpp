#include "linkwork/dynamics/system.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "linkwork/tree/crba.h"
#include "linkwork/tree/energy.h"
#include "linkwork/tree/rnea.h"

namespace linkwork {

using V3 = Vec3<double>;

System::System(const Model& model)
    : model_(&model),
      work_(model.tree),
      terms_(model),
      modes_(model),
      error_(VecX<double>::Zero(model.row_count())),
      error_rate_(error_),
      loads_(model.frictions.size(), 0.0),
      friction_force_(model.frictions.size(), Eigen::Vector2d::Zero()) {
  std::size_t slots = 0;
  const auto fit = [&](const BoundExpression& e) { slots = std::max(slots, e.slots.size()); };
  for (const CoordinateClosure& closure : model.coordinate_closures) fit(closure.phi);
  for (const JointForce& force : model.joint_forces) fit(force.value);
  for (const BodyWrench& wrench : model.wrenches)
    for (std::size_t k = 0; k < 3; ++k) fit(wrench.force[k]), fit(wrench.torque[k]);
  for (const Sensor& sensor : model.sensors) fit(sensor.value);
  for (const DryFriction& friction : model.frictions) fit(friction.load);
  for (const Event& event : model.events) {
    fit(event.when);
    for (const Action& action : event.actions) fit(action.value);
  }
  for (std::size_t j = 0; j < model.joints.size(); ++j) {
    const Joint& joint = model.joints[j];
    if (joint.stiffness != 0.0 || joint.damping != 0.0 || joint.friction != 0.0) joints_with_laws_.emplace_back(j);
  }
  slots_.resize(slots);
  jets_.resize(slots);
  for (const Joint& joint : model.joints) {
    first_angle_.push_back(last_angle_.size());
    last_angle_.insert(last_angle_.end(), joint.start.begin(), joint.start.end());
  }
  for (std::size_t g = 0; g < terms_.groups.size(); ++g)
    group_of_.insert(group_of_.end(), static_cast<std::size_t>(terms_.groups[g].columns()), static_cast<int>(g));
  for (const DryFriction& friction : model.frictions)
    sliding_.push_back(terms_.groups[static_cast<std::size_t>(group_of_[static_cast<std::size_t>(friction.first_row)])]);
  set_modes(modes_);
}

void System::set_modes(const Modes& modes) {
  modes_ = modes;
  inactive_.clear();
  for (int row = 0; row < terms_.rows(); ++row)
    if (!is_active(row)) inactive_.push_back(row);
}

/// Takes the rows that are not in force out of the terms. Their errors can still be asked for, and those that slide keep their
/// columns for the friction.
void System::deactivate_rows() {
  if (inactive_.empty() && !model_->has_events()) return;
  error_ = terms_.phi;
  error_rate_ = terms_.rate;
  for (std::size_t k = 0; k < model_->frictions.size(); ++k)
    if (modes_.friction[k].kind == Modes::Friction::Kind::kSlip)
      sliding_[k] = terms_.groups[static_cast<std::size_t>(group_of_[static_cast<std::size_t>(model_->frictions[k].first_row)])];
  for (int row : inactive_) {
    const auto g = static_cast<std::size_t>(group_of_[static_cast<std::size_t>(row)]);
    terms_.groups[g].clear(row - terms_.first_rows[g]);
    terms_.phi[row] = terms_.rate[row] = terms_.u[row] = terms_.b[row] = 0.0;
  }
}

Eigen::Vector2d System::slip(std::size_t friction) const {
  const DryFriction& f = model_->frictions[friction];
  return {error_rate_[f.first_row], f.rows > 1 ? error_rate_[f.first_row + 1] : 0.0};
}

void System::update(const State& state) {
  state_ = &state;
  linkwork::update_motion(tree(), state.q.data(), state.v.data(), work_);
  std::size_t group = 0;
  std::array<Row, kMaxRows> rows;
  for (const FrameClosure& closure : model_->frame_closures) {
    const RelativeMotion m = relative_motion(closure.a, closure.b);
    closure.evaluate(m, rows);
    set_position_terms(closure, m, rows, terms_.groups[group++]);
    set_motion_terms(closure, m, rows);
  }
  for (const CoordinateClosure& closure : model_->coordinate_closures)
    evaluate_coordinate_closure(closure, terms_.groups[group++]);
  deactivate_rows();
}

void System::update_positions(const State& state) {
  state_ = &state;
  linkwork::update_positions(tree(), state.q.data(), work_);
  std::size_t group = 0;
  std::array<Row, kMaxRows> rows;
  for (const FrameClosure& closure : model_->frame_closures) {
    RelativeMotion m;
    const Pose<double> X_WA = pose(closure.a), X_WB = pose(closure.b);
    m.R.noalias() = X_WA.R.transpose() * X_WB.R;
    m.p.noalias() = X_WA.R.transpose() * (X_WB.p - X_WA.p);
    closure.evaluate(m, rows);
    set_position_terms(closure, m, rows, terms_.groups[group++]);
  }
  for (const CoordinateClosure& closure : model_->coordinate_closures)
    evaluate_coordinate_closure(closure, terms_.groups[group++]);
  deactivate_rows();
}

void System::update_motion(const State& state) {
  state_ = &state;
  update_velocities(tree(), state.v.data(), work_);
  std::array<Row, kMaxRows> rows;
  for (const FrameClosure& closure : model_->frame_closures) {
    const RelativeMotion m = relative_motion(closure.a, closure.b);
    closure.evaluate(m, rows);
    set_motion_terms(closure, m, rows);
  }
  std::size_t group = model_->frame_closures.size();
  for (const CoordinateClosure& closure : model_->coordinate_closures)
    evaluate_coordinate_closure(closure, terms_.groups[group++]);
  deactivate_rows();
}

namespace {

struct PointMotion {  // world axes
  Mat3<double> R;
  V3 p, w, v, wdot, a;
};

PointMotion point_motion(const System& system, const NodeFrame& frame, bool with_vdot) {
  const Pose<double>&X_WN = system.X_WN(frame.node), &X_NF = frame.X_NF;
  const NodeWork<double>& node = system.work()[frame.node];
  const Mat3<double>& R = X_WN.R;
  const V3& r = X_NF.p;
  const V3 aw = with_vdot ? V3(node.aw + node.dw) : node.aw;
  const V3 ap = with_vdot ? V3(node.ap + node.dv) : node.ap;
  const V3 turning = node.w.cross(r);
  return {R * X_NF.R, X_WN.p + R * r, R * node.w, R * (node.v + turning), R * aw, R * (ap + aw.cross(r) + node.w.cross(turning))};
}

}  // namespace

RelativeMotion System::relative_motion(const NodeFrame& frame_a, const NodeFrame& frame_b, bool with_vdot) const {
  const PointMotion a = point_motion(*this, frame_a, with_vdot);
  const PointMotion b = point_motion(*this, frame_b, with_vdot);
  const V3 d = b.p - a.p;
  const V3 w = b.w - a.w;
  const V3 ddot = b.v - a.v - a.w.cross(d);
  const V3 wdot = b.wdot - a.wdot - a.w.cross(w);
  const V3 dddot = b.a - a.a - a.wdot.cross(d) - 2.0 * a.w.cross(ddot) - a.w.cross(a.w.cross(d));
  const auto Rt = a.R.transpose();
  return {Rt * b.R, Rt * d, Rt * w, Rt * ddot, Rt * wdot, Rt * dddot};
}

V3 System::velocity(const NodeFrame& frame) const { return point_motion(*this, frame, false).v; }

std::pair<Wrench<double>, Wrench<double>> row_wrenches(const System& system, const NodeFrame& a, const NodeFrame& b,
                                                       const RelativeMotion& m, const Row& row) {
  const Mat3<double>& R_WA = system.X_WN(a.node).R;
  const Mat3<double>& R_WB = system.X_WN(b.node).R;
  const V3 f_a = a.X_NF.R * row.on_p, n_a = a.X_NF.R * row.on_w;  // axes of a's node
  const V3 f_b = R_WB.transpose() * (R_WA * f_a), n_b = R_WB.transpose() * (R_WA * n_a);
  const V3 point_a = a.X_NF * m.p;  // where b's origin is, in a's node
  return {{-(n_a + point_a.cross(f_a)), -f_a}, {n_b + b.X_NF.p.cross(f_b), f_b}};
}

void System::set_position_terms(const FrameClosure& closure, const RelativeMotion& m, std::span<const Row> rows,
                                ForceColumns& columns) {
  columns.set_point(pose(closure.b).p);
  for (int r = 0; r < closure.row_count; ++r) {
    const Row& row = rows[static_cast<std::size_t>(r)];
    terms_.phi[closure.first_row + r] = row.value;
    std::tie(columns.wrench(0, r), columns.wrench(1, r)) = row_wrenches(*this, closure.a, closure.b, m, row);
  }
}

void System::set_motion_terms(const FrameClosure& closure, const RelativeMotion& m, std::span<const Row> rows) {
  for (int r = 0; r < closure.row_count; ++r) {
    const Row& row = rows[static_cast<std::size_t>(r)];
    terms_.rate[closure.first_row + r] = row.rate(m);
    terms_.b[closure.first_row + r] = -row.second_rate(m);
  }
}

System::CoordinateMotion System::coordinate_motion(const Coordinate& coordinate) const {
  const Joint& joint = model_->joints[coordinate.joint()];
  const auto k = static_cast<std::size_t>(coordinate.component);
  if (joint.in_state()) return {state_->q[joint.q[k]], state_->v[joint.v[k]], 0.0};
  const RelativeMotion m = relative_motion(joint.parent, joint.child);
  std::array<Row, kMaxRows> rows;
  joint.kind->coordinates(m, rows);
  return {unwrapped(joint, k, rows[k].value), rows[k].rate(m), rows[k].second_rate(m)};
}

double System::unwrapped(const Joint& joint, std::size_t component, double angle) const {
  if (!joint.kind->is_angle(component)) return angle;
  double& last = last_angle_[first_angle_[static_cast<std::size_t>(&joint - model_->joints.data())] + component];
  last += std::remainder(angle - last, 2.0 * std::numbers::pi);
  return last;
}

void System::evaluate_coordinate_closure(const CoordinateClosure& closure, ForceColumns& columns) {
  using Kind = Variable::Kind;
  const auto& slots = closure.phi.slots;
  const std::span<Jet> jets(jets_.data(), slots.size());
  const std::span<const Jet> inputs(jets);
  for (std::size_t s = 0; s < slots.size(); ++s) {
    if (slots[s].kind == Kind::kTime) {
      jets[s] = {state_->t, 1.0, 0.0};
    } else if (slots[s].kind == Kind::kParameter) {
      jets[s] = modes_.parameters[static_cast<std::size_t>(slots[s].index)];
    } else {
      const CoordinateMotion c = coordinate_motion(slots[s].coordinate);
      jets[s] = slots[s].kind == Kind::kPosition ? Jet{c.value, c.rate, c.second_rate} : Jet{c.rate, c.second_rate, 0.0};
    }
  }
  const Jet phi = closure.phi.expression.evaluate<Jet>(inputs);
  terms_.phi[closure.row] = closure.holonomic ? phi.value : 0.0;
  terms_.rate[closure.row] = closure.holonomic ? phi.d1 : phi.value;
  terms_.b[closure.row] = closure.holonomic ? -phi.d2 : -phi.d1;
  terms_.u[closure.row] = 0.0;

  for (Jet& jet : jets) jet = {jet.value, 0.0, 0.0};
  int dof_seed = 0, node_seed = 0;
  for (std::size_t s = 0; s < slots.size(); ++s) {
    const bool is_rate_in_time = closure.holonomic && slots[s].kind == Kind::kTime;
    if (!is_rate_in_time && !closure.acts_on(slots[s])) continue;
    jets[s].d1 = 1.0;
    const double slope = closure.phi.expression.evaluate<Jet>(inputs).d1;
    jets[s].d1 = 0.0;
    if (is_rate_in_time) {
      terms_.u[closure.row] = -slope;
      continue;
    }
    const Joint& joint = model_->joints[slots[s].coordinate.joint()];
    if (joint.in_state()) {
      columns.force(dof_seed++, 0) = slope;
      continue;
    }
    const RelativeMotion m = relative_motion(joint.parent, joint.child);
    columns.set_point(pose(joint.child).p);
    std::array<Row, kMaxRows> rows;
    joint.kind->coordinates(m, rows);
    Row& row = rows[static_cast<std::size_t>(slots[s].coordinate.component)];
    row.on_w *= slope;
    row.on_p *= slope;
    std::tie(columns.wrench(node_seed, 0), columns.wrench(node_seed + 1, 0)) =
        row_wrenches(*this, joint.parent, joint.child, m, row);
    node_seed += 2;
  }
  if (closure.holonomic) return;
  // What is left of f without velocities is -u.
  for (std::size_t s = 0; s < slots.size(); ++s)
    if (slots[s].kind == Kind::kVelocity) jets[s].value = 0.0;
  terms_.u[closure.row] = -closure.phi.expression.evaluate<Jet>(inputs).value;
}

double System::evaluate(const BoundExpression& expression, const VecX<double>* lambda) const {
  using Kind = Variable::Kind;
  if (expression.expression.is_constant()) return expression.expression.constant_value();
  for (std::size_t s = 0; s < expression.slots.size(); ++s) {
    const Variable& slot = expression.slots[s];
    switch (slot.kind) {
      case Kind::kTime:
        slots_[s] = state_->t;
        break;
      case Kind::kParameter:
        slots_[s] = modes_.parameters[static_cast<std::size_t>(slot.index)];
        break;
      case Kind::kMultiplier:
        slots_[s] = lambda ? (*lambda)[slot.index] : 0.0;
        break;
      case Kind::kError:
        slots_[s] = error_[slot.index];
        break;
      case Kind::kErrorRate:
        slots_[s] = error_rate_[slot.index];
        break;
      case Kind::kPoint:
        slots_[s] = pose(model_->sensors[static_cast<std::size_t>(slot.index)].frame).p[slot.axis];
        break;
      case Kind::kPointVelocity:
        slots_[s] = velocity(model_->sensors[static_cast<std::size_t>(slot.index)].frame)[slot.axis];
        break;
      case Kind::kPosition:
      case Kind::kVelocity: {
        const Joint& joint = model_->joints[slot.coordinate.joint()];
        std::array<double, 7> q{};
        std::array<double, 6> v{}, a{};
        joint_motion(joint, {}, q, v, a);
        const auto k = static_cast<std::size_t>(slot.coordinate.component);
        slots_[s] = slot.kind == Kind::kPosition ? q[k] : v[k];
      }
    }
  }
  return expression.expression.evaluate<double>(std::span<const double>(slots_.data(), expression.slots.size()));
}

void System::joint_motion(const Joint& joint, std::span<const double> vdot, std::span<double> q, std::span<double> v,
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
  for (std::size_t k = 0; k < joint.kind->positions.size(); ++k) q[k] = unwrapped(joint, k, q[k]);
  std::array<Row, kMaxRows> rows;
  joint.kind->coordinates(m, rows);
  for (std::size_t k = 0; k < joint.kind->velocities.size(); ++k) {
    v[k] = rows[k].rate(m);
    a[k] = rows[k].second_rate(m);
  }
}

double System::kinetic_energy() const { return linkwork::kinetic_energy(tree(), work_); }

double System::potential_energy() const {
  update_poses(tree(), work_);
  double energy = gravity_energy(tree(), work_);
  const auto add = [&](double stiffness, double stretch) { energy += 0.5 * stiffness * stretch * stretch; };
  for (const Joint& joint : model_->joints) {
    if (joint.stiffness == 0.0) continue;
    std::array<double, 7> q{};
    std::array<double, 6> v{}, a{};
    joint_motion(joint, {}, q, v, a);
    for (int k = 0; k < joint.kind->nv(); ++k) add(joint.stiffness, q[static_cast<std::size_t>(k)] - joint.rest);
  }
  for (std::size_t k = 0; k < model_->springs.size(); ++k) {
    const Spring& spring = model_->springs[k];
    if (modes_.springs[k] != 0) add(spring.stiffness, distance_row(relative_motion(spring.a, spring.b)).value - spring.length);
  }
  return energy;
}

const MatX<double>& System::mass_matrix() {
  linkwork::mass_matrix(tree(), work_, M_);
  return M_;
}

const VecX<double>& System::bias() {
  bias_forces(tree(), work_, c_);
  return c_;
}

const MatX<double>& System::jacobian() {
  A_.setZero(terms_.rows(), tree().nv);
  for (std::size_t g = 0; g < terms_.groups.size(); ++g) terms_.groups[g].add_rows_to(tree(), work_, terms_.first_rows[g], A_);
  return A_;
}

const MatX<double>& System::jacobian_bounds() {
  update_poses(tree(), work_);  // for lever arms
  bounds_.setZero(terms_.rows(), tree().nv);
  for (std::size_t g = 0; g < terms_.groups.size(); ++g)
    terms_.groups[g].add_bounds_to(tree(), work_, terms_.first_rows[g], bounds_);
  return bounds_;
}

}  // namespace linkwork
