#include "linkwork/dynamics/system.h"

#include <algorithm>
#include <cmath>
#include <limits>
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
  if (!model.custom_forces.empty()) custom_forces_.emplace(model);
  std::size_t slots = 0, within = 0;  // of sensors and rates, which may be needed while others are evaluated
  const auto fit = [&](const BoundExpression& e) { slots = std::max(slots, e.slots.size()); };
  for (const CoordinateClosure& closure : model.coordinate_closures) fit(closure.phi);
  for (const JointForce& force : model.joint_forces) fit(force.value);
  for (const Spring& spring : model.springs) fit(spring.law);
  for (const BodyWrench& wrench : model.wrenches)
    for (std::size_t k = 0; k < 3; ++k) fit(wrench.force[k]), fit(wrench.torque[k]);
  for (const DryFriction& friction : model.frictions) fit(friction.load);
  for (const Sensor& sensor : model.sensors) fit(sensor.value), within += sensor.value.slots.size();
  for (const UserState& state : model.states) fit(state.rate), within += state.rate.slots.size();
  for (const Input& input : model.inputs) input_jets_.resize(std::max(input_jets_.size(), input.value.slots.size()));
  for (const Event& event : model.events) {
    fit(event.when);
    for (const Action& action : event.actions) fit(action.value);
  }
  for (std::size_t j = 0; j < model.joints.size(); ++j) {
    const Joint& joint = model.joints[j];
    if (joint.stiffness != 0.0 || joint.damping != 0.0 || joint.friction != 0.0) joints_with_laws_.emplace_back(j);
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
  X_AB_.resize(model.frame_closures.size());
  in_plane_AB_.resize(X_AB_.size());
  slots_.resize(slots + within);
  jets_.resize(slots);
  inputs_.resize(model.inputs.size());
  spans_.resize(model.springs.size());
  joint_forces_.resize(model.joint_forces.size());
  springs_.resize(model.springs.size());
  wrenches_.resize(model.wrenches.size());
  bushings_.resize(model.bushings.size());
  for (std::size_t j = 0; j < model.joints.size(); ++j) {
    const Joint& joint = model.joints[j];
    first_angle_.push_back(turns_.angle.size());
    turns_.angle.insert(turns_.angle.end(), joint.start.begin(), joint.start.end());
    bool turns = false;
    for (std::size_t k = 0; k < joint.kind->positions.size(); ++k) turns = turns || joint.kind->is_angle(k);
    if (turns && !joint.in_state()) turning_.emplace_back(j);
  }
  turns_.rate.assign(turns_.angle.size(), 0.0);
  branches_.assign(static_cast<std::size_t>(model.switch_count), 0.0);
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

std::vector<double> System::memory() const {
  std::vector<double> memory{turns_.counted ? 1.0 : 0.0, turns_.time, turns_.since, turns_.seen};
  for (const std::vector<double>* part : {&turns_.angle, &turns_.rate, &loads_, &branches_})
    memory.insert(memory.end(), part->begin(), part->end());
  for (const std::optional<double>& input : inputs_) memory.push_back(input.value_or(std::numeric_limits<double>::quiet_NaN()));
  return memory;
}

void System::set_memory(const std::vector<double>& memory) {
  turns_.counted = memory[0] != 0.0, turns_.time = memory[1], turns_.since = memory[2], turns_.seen = memory[3];
  auto from = memory.begin() + 4;
  for (std::vector<double>* part : {&turns_.angle, &turns_.rate, &loads_, &branches_}) {
    std::copy_n(from, part->size(), part->begin());
    from += static_cast<std::ptrdiff_t>(part->size());
  }
  for (std::optional<double>& input : inputs_) {
    input = std::isnan(*from) ? std::nullopt : std::optional(*from);
    ++from;
  }
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
  update_closures(true);
}

void System::update_positions(const State& state) {
  state_ = &state;
  linkwork::update_positions(tree(), state.q.data(), work_);
  update_closures(false);
}

void System::update_motion(const State& state) {
  state_ = &state;
  update_velocities(tree(), state.v.data(), work_);
  for (std::size_t i = 0; i < model_->frame_closures.size(); ++i) {
    if (set_simple_motion(i)) continue;
    const FrameClosure& closure = model_->frame_closures[i];
    std::array<Row, kMaxRows> rows;
    const RelativeMotion m = relative_motion(closure.a, closure.b);
    closure.evaluate(m, rows);
    set_motion_terms(i, m, rows);
  }
  std::size_t group = model_->frame_closures.size();
  for (const CoordinateClosure& closure : model_->coordinate_closures)
    evaluate_coordinate_closure(closure, terms_.groups[group++]);
  deactivate_rows();
}

void System::update_closures(bool with_motion) {
  for (std::size_t i = 0; i < model_->frame_closures.size(); ++i) {
    if (set_simple_positions(i)) {
      if (with_motion) set_simple_motion(i);
      continue;
    }
    const FrameClosure& closure = model_->frame_closures[i];
    X_AB_[i] = between(closure.a.node, closure.b.node);
    std::array<Row, kMaxRows> rows;
    RelativeMotion m;
    if (with_motion) {
      m = relative_motion(closure.a, closure.b);
    } else {
      m.R.noalias() = closure.a.X_NF.R.transpose() * (X_AB_[i].R * closure.b.X_NF.R);
      m.p.noalias() = closure.a.X_NF.R.transpose() * (X_AB_[i] * closure.b.X_NF.p - closure.a.X_NF.p);
    }
    closure.evaluate(m, rows);
    set_position_terms(i, rows);
    if (with_motion) set_motion_terms(i, m, rows);
  }
  std::size_t group = model_->frame_closures.size();
  for (const CoordinateClosure& closure : model_->coordinate_closures)
    evaluate_coordinate_closure(closure, terms_.groups[group++]);
  deactivate_rows();
}

bool System::set_simple_positions(std::size_t i) {
  const ClosureRows::Kind kind = terms_.closure_rows[i].kind;
  if (kind == ClosureRows::Kind::kPlanar || kind == ClosureRows::Kind::kPlanarLoop)
    set_planar_positions(i);
  else if (kind == ClosureRows::Kind::kPoint)
    set_point_positions(i);
  return kind != ClosureRows::Kind::kGeneral;
}

bool System::set_simple_motion(std::size_t i) {
  const ClosureRows::Kind kind = terms_.closure_rows[i].kind;
  if (kind == ClosureRows::Kind::kPlanar)
    set_planar_motion(i);
  else if (kind != ClosureRows::Kind::kGeneral)
    set_point_motion(i);
  return kind != ClosureRows::Kind::kGeneral;
}

void System::set_point_positions(std::size_t i) {
  const FrameClosure& closure = model_->frame_closures[i];
  X_AB_[i] = between(closure.a.node, closure.b.node);
  const V3 &r_a = closure.a.X_NF.p, &r_b = closure.b.X_NF.p;
  const Pose<double>& X_AB = X_AB_[i];
  const V3 p = X_AB * r_b, gap = p - r_a;
  ForceColumns& columns = terms_.groups[i];
  for (int r = 0; r < closure.row_count; ++r) {
    const V3& e = terms_.closure_rows[i].directions[static_cast<std::size_t>(r)];
    const V3 f_b = X_AB.R.transpose() * e;
    terms_.phi[closure.first_row + r] = e.dot(gap);
    columns.wrench(0, r) = {e.cross(p), -e};
    columns.wrench(1, r) = {r_b.cross(f_b), f_b};
  }
}

void System::set_point_motion(std::size_t i) {
  const FrameClosure& closure = model_->frame_closures[i];
  const PointMotion m = point_motion(work_[closure.a.node], work_[closure.b.node], X_AB_[i], closure.b.X_NF.p);
  double *const rate = terms_.rate.data() + closure.first_row, *const rhs = terms_.b.data() + closure.first_row;
  const ClosureRows& known = terms_.closure_rows[i];
  for (int r = 0; r < known.working; ++r) {
    const V3& e = known.directions[static_cast<std::size_t>(r)];
    rate[r] = e.dot(m.pdot);
    rhs[r] = -e.dot(m.pddot);
  }
  for (int r = known.working; r < closure.row_count; ++r) rate[r] = rhs[r] = 0.0;
}

/// The same as for points in space, with turns about z only.
void System::set_planar_positions(std::size_t i) {
  const FrameClosure& closure = model_->frame_closures[i];
  const ClosureRows& known = terms_.closure_rows[i];
  const bool on_ground = known.kind == ClosureRows::Kind::kPlanar;
  const PlanePose<double> A = on_ground ? work_[closure.a.node].in_plane : known.to_a.pose(work_);
  const PlanePose<double> B = on_ground ? work_[closure.b.node].in_plane : known.to_b.pose(work_);
  const V3 &r_a = closure.a.X_NF.p, &r_b = closure.b.X_NF.p;
  const double dx = B.x - A.x, dy = B.y - A.y, c = A.c * B.c + A.s * B.s, s = A.c * B.s - A.s * B.c;
  const double x = A.c * dx + A.s * dy, y = A.c * dy - A.s * dx;
  if (on_ground) {
    in_plane_AB_[i] = {c, s, x, y};
  } else {
    X_AB_[i].R << c, -s, 0.0, s, c, 0.0, 0.0, 0.0, 1.0;
    X_AB_[i].p = {x, y, known.height - r_b.z()};
  }
  const V3 p(x + (c * r_b.x() - s * r_b.y()), y + (s * r_b.x() + c * r_b.y()), known.height);
  ForceColumns& columns = terms_.groups[i];
  double* const phi = terms_.phi.data() + closure.first_row;
  for (int r = 0; r < known.working; ++r) {
    const V3& e = known.directions[static_cast<std::size_t>(r)];
    const V3 f_b(c * e.x() + s * e.y(), c * e.y() - s * e.x(), e.z());
    phi[r] = e.dot(p - r_a);
    columns.wrench(0, r) = {e.cross(p), -e};
    columns.wrench(1, r) = {r_b.cross(f_b), f_b};
  }
  for (std::size_t k = 0; k < known.idle.size(); ++k) phi[known.working + static_cast<int>(k)] = known.idle[k].value;
}

void System::set_planar_motion(std::size_t i) {
  const FrameClosure& closure = model_->frame_closures[i];
  const ClosureRows& known = terms_.closure_rows[i];
  const NodeWork<double>&a = work_[closure.a.node], &b = work_[closure.b.node];
  const PlanePose<double>& X = in_plane_AB_[i];
  const double rx = closure.b.X_NF.p.x(), ry = closure.b.X_NF.p.y();
  const double px = X.x + (X.c * rx - X.s * ry), py = X.y + (X.s * rx + X.c * ry);
  const double wa = a.w.z(), wb = b.w.z(), waa = wa * wa, wbb = wb * wb;
  const double ux = b.v.x() - wb * ry, uy = b.v.y() + wb * rx;
  const double vx = (X.c * ux - X.s * uy) - a.v.x() + wa * py, vy = (X.s * ux + X.c * uy) - a.v.y() - wa * px;
  const double gx = b.ap.x() - wbb * rx, gy = b.ap.y() - wbb * ry;
  const double ax = (X.c * gx - X.s * gy) - a.ap.x() + waa * px + 2.0 * wa * vy;
  const double ay = (X.s * gx + X.c * gy) - a.ap.y() + waa * py - 2.0 * wa * vx;
  double *const rate = terms_.rate.data() + closure.first_row, *const rhs = terms_.b.data() + closure.first_row;
  for (int r = 0; r < known.working; ++r) {
    const V3& e = known.directions[static_cast<std::size_t>(r)];
    rate[r] = e.x() * vx + e.y() * vy;
    rhs[r] = -(e.x() * ax + e.y() * ay);
  }
  for (int r = known.working; r < closure.row_count; ++r) rate[r] = rhs[r] = 0.0;
}

RelativeMotion System::relative_motion(const NodeFrame& frame_a, const NodeFrame& frame_b, bool with_vdot) const {
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

V3 System::velocity(const NodeFrame& frame) const {
  const NodeWork<double>& node = work_[frame.node];
  return X_WN(frame.node).R * (node.v + node.w.cross(frame.X_NF.p));
}

V3 System::angular_velocity(const NodeFrame& frame) const { return frame.X_NF.R.transpose() * work_[frame.node].w; }

V3 System::specific_force(const NodeFrame& frame) const {
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

void System::set_position_terms(std::size_t i, std::span<const Row> rows) {
  const FrameClosure& closure = model_->frame_closures[i];
  ForceColumns& columns = terms_.groups[i];
  for (int r = 0; r < closure.row_count; ++r) {
    const Row& row = rows[static_cast<std::size_t>(r)];
    terms_.phi[closure.first_row + r] = row.value;
    std::tie(columns.wrench(0, r), columns.wrench(1, r)) = row_wrenches(closure.a, closure.b, X_AB_[i], row);
  }
}

void System::set_motion_terms(std::size_t i, const RelativeMotion& m, std::span<const Row> rows) {
  const FrameClosure& closure = model_->frame_closures[i];
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
  const double rate = rows[k].rate(m);
  return {unwrapped(joint, k, rows[k].value, rate), rate, rows[k].second_rate(m)};
}

double System::unwrapped(const Joint& joint, std::size_t component, double angle, double rate) const {
  if (!joint.kind->is_angle(component)) return angle;
  const std::size_t at = first_angle_[static_cast<std::size_t>(&joint - model_->joints.data())] + component;
  const double elapsed = turns_.counted ? state_->t - turns_.time : 0.0;
  const double expected = turns_.angle[at] + elapsed * 0.5 * (turns_.rate[at] + rate);
  return expected + std::remainder(angle - expected, 2.0 * std::numbers::pi);
}

void System::accept_turns(bool rates_jump) {
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
  turns_.counted = true;
  turns_.time = state_->t;
  turns_.since = 0.0;
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
    } else if (slots[s].kind == Kind::kInput) {
      jets[s] = input(slots[s].index);
    } else if (slots[s].kind == Kind::kState) {
      jets[s] = {user_state(slots[s].index), evaluate(model_->states[static_cast<std::size_t>(slots[s].index)].rate), 0.0};
    } else {
      const CoordinateMotion c = coordinate_motion(slots[s].coordinate);
      jets[s] = slots[s].kind == Kind::kPosition ? Jet{c.value, c.rate, c.second_rate} : Jet{c.rate, c.second_rate, 0.0};
    }
  }
  const double* const held = held_by(closure.phi);
  const Jet phi = closure.phi.expression.evaluate<Jet>(inputs, held);
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
    const double slope = closure.phi.expression.evaluate<Jet>(inputs, held).d1;
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
    std::array<Row, kMaxRows> rows;
    joint.kind->coordinates(m, rows);
    Row& row = rows[static_cast<std::size_t>(slots[s].coordinate.component)];
    row.on_w *= slope;
    row.on_p *= slope;
    std::tie(columns.wrench(node_seed, 0), columns.wrench(node_seed + 1, 0)) =
        row_wrenches(joint.parent, joint.child, between(joint.parent.node, joint.child.node), row);
    node_seed += 2;
  }
  if (closure.holonomic) return;
  // What is left of f without velocities is -u.
  for (std::size_t s = 0; s < slots.size(); ++s)
    if (slots[s].kind == Kind::kVelocity) jets[s].value = 0.0;
  terms_.u[closure.row] = -closure.phi.expression.evaluate<Jet>(inputs, held).value;
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
  std::array<Row, kMaxRows> rows;
  joint.kind->coordinates(m, rows);
  for (std::size_t k = 0; k < joint.kind->velocities.size(); ++k) {
    v[k] = rows[k].rate(m);
    a[k] = rows[k].second_rate(m);
  }
  for (std::size_t k = 0; k < joint.kind->positions.size(); ++k)
    if (joint.kind->is_angle(k)) q[k] = unwrapped(joint, k, q[k], v[k]);
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
