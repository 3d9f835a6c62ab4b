#include "linkwork/dynamics/motion_gradient.h"

#include <algorithm>
#include <cmath>

#include "linkwork/model/expression_functions.h"
#include "linkwork/model/forces/friction.h"

namespace linkwork {

using V3 = Vec3<double>;
using V6 = Vec6<double>;

MotionGradient::MotionGradient(const Model& model)
    : model_(&model),
      memory_(std::make_unique<std::pmr::unsynchronized_pool_resource>()),
      motion_(model.tree),
      cut_(memory_.get()) {
  const int nv = model.tree.nv, rows = model.row_count(), n = columns();
  for (RowMatX* matrix : {&K_, &D_, &M_}) matrix->setZero(nv, nv);
  force_.setZero(nv, n);
  acceleration_.setZero(rows, n);
  rate_.setZero(rows, n);
  states_.setZero(static_cast<Eigen::Index>(model.states.size()), n);
}

bool MotionGradient::is_exact(const Model& model) {
  const auto known = [](const Sensor& sensor) {
    return sensor.kind->name == "point" || sensor.kind->name == "body" || sensor.kind->name == "distance" ||
           sensor.kind->is_expression;
  };
  return model.custom_forces.empty() && model.blocks.empty() && std::ranges::all_of(model.sensors, known);
}

void MotionGradient::compute(System& system, const VecX<double>& vdot, const VecX<double>& lambda) {
  system_ = &system, vdot_ = &vdot, lambda_ = &lambda;
  const int nv = model_->tree.nv;
  cut_.clear();
  sliding_.clear();
  motion_.compute(model_->tree, system.work(), system.state().v, vdot, K_, D_, M_);
  force_.leftCols(nv) = K_;
  force_.middleCols(nv, nv) = D_;
  force_.rightCols(columns() - 2 * nv).setZero();
  acceleration_.setZero();
  rate_.setZero();
  states_.setZero();
  for (const FrameClosure& closure : model_->frame_closures) add_closure(closure);
  for (const CoordinateClosure& closure : model_->coordinate_closures) add_coordinate_closure(closure);
  add_joint_laws();
  add_joint_forces();
  add_springs();
  for (const BodyWrench& wrench : model_->wrenches)
    if (system.modes().forces[static_cast<std::size_t>(wrench.of)] != 0) add_wrench(wrench);
  for (const Bushing& bushing : model_->bushings)
    if (system.modes().forces[static_cast<std::size_t>(bushing.of)] != 0) add_bushing(bushing);
  for (std::size_t k = 0; k < model_->frictions.size(); ++k)
    if (system.modes().friction[k].kind == Modes::Friction::Kind::kSlip) add_friction(k);
  add_states();
  for (const int row : system.inactive_rows()) acceleration_.row(row).setZero();
}

// Where things depend on coordinates.

void MotionGradient::add(const RelativeGradient& relative, const RelativeGradient::Change& gradient, Entries& to) const {
  for (const RelativeGradient::Part& part : relative.parts()) {
    to.emplace_back(part.v, gradient.dot(part.by_q));
    to.emplace_back(first_velocity() + part.v, gradient.dot(part.by_v));
  }
}

const MotionGradient::CutJoint& MotionGradient::cut(const Joint& joint) {
  const auto found = cut_.find(&joint);
  if (found != cut_.end()) return found->second;
  CutJoint made{RelativeGradient(*system_, motion_, joint.parent, joint.child, memory()), {}};
  evaluate_coordinates(*joint.kind, made.relative.dual(), made.rows);
  return cut_.emplace(&joint, std::move(made)).first->second;
}

void MotionGradient::add(const Coordinate& coordinate, double of_value, double of_rate, double of_second_rate, Entries& to) {
  const Joint& joint = model_->joints[coordinate.joint()];
  const auto k = static_cast<std::size_t>(coordinate.component);
  const int simple = joint.kind->has_quaternion() ? joint.kind->nv() - 3 : joint.kind->nv();
  const bool is_turn = of_value != 0.0 && coordinate.component >= simple;  // of a quaternion
  if (joint.in_state()) {
    if (is_turn) {
      const double* const q = system_->state().q.data() + joint.q[static_cast<std::size_t>(simple)];
      for (int axis = 0; axis < 3; ++axis) {
        Quat turn(0.0, 0.0, 0.0, 0.0);
        turn.vec() = 0.5 * V3::Unit(axis);
        const Quat change = Quat(q[0], q[1], q[2], q[3]) * turn;
        const std::array numbers{change.w(), change.x(), change.y(), change.z()};
        to.emplace_back(joint.v[static_cast<std::size_t>(simple + axis)],
                        of_value * numbers[k - static_cast<std::size_t>(simple)]);
      }
    } else if (of_value != 0.0) {
      to.emplace_back(joint.v[k], of_value);
    }
    if (of_rate != 0.0) to.emplace_back(first_velocity() + joint.v[k], of_rate);
    return;
  }
  const auto& [relative, rows] = cut(joint);
  RelativeGradient::Change gradient = RelativeGradient::Change::Zero();
  if (is_turn) {
    for (int axis = 0; axis < 3; ++axis) {
      Quat turn(0.0, 0.0, 0.0, 0.0);
      turn.vec() = 0.5 * V3::Unit(axis);
      const Quat change = turn * Quat(relative.motion().R);
      const std::array numbers{change.w(), change.x(), change.y(), change.z()};
      gradient[axis] = of_value * numbers[k - static_cast<std::size_t>(simple)];
    }
  } else if (of_value != 0.0) {
    gradient += of_value * RelativeGradient::of_value(rows[k].value);
  }
  if (of_rate != 0.0) gradient += of_rate * relative.of_rate(rows[k]);
  if (of_second_rate != 0.0) gradient += of_second_rate * relative.of_second_rate(rows[k]);
  add(relative, gradient, to);
}

void MotionGradient::add(const Variable& slot, double factor, Entries& to) {
  using Kind = Variable::Kind;
  if (factor == 0.0) return;
  switch (slot.kind) {
    case Kind::kPosition:
      return add(slot.coordinate, factor, 0.0, 0.0, to);
    case Kind::kVelocity:
      return add(slot.coordinate, 0.0, factor, 0.0, to);
    case Kind::kInput:
      to.emplace_back(first_input() + slot.index, factor);
      return;
    case Kind::kState:
      to.emplace_back(first_state() + slot.index, factor);
      return;
    case Kind::kSensor:
    case Kind::kSensorRate:
      return add_sensor(model_->sensors[static_cast<std::size_t>(slot.index)], slot.component, slot.kind == Kind::kSensorRate,
                        factor, to);
    case Kind::kSpan:
      return add(*span_->relative, factor * span_->length, to);
    case Kind::kSpanRate:
      return add(*span_->relative, factor * span_->rate, to);
    default:
      return;  // time, parameters; multipliers and errors of rows are in events only
  }
}

void MotionGradient::add(const BoundExpression& expression, double factor, Entries& to) {
  if (expression.expression.is_constant() || factor == 0.0) return;
  std::pmr::vector<Jet> jets(memory());
  jets.reserve(expression.slots.size());
  for (const Variable& slot : expression.slots) jets.emplace_back(system_->value(slot));
  for (std::size_t s = 0; s < jets.size(); ++s) {
    jets[s].d1 = 1.0;
    const double slope = expression.expression.evaluate<Jet>(std::span<const Jet>(jets)).d1;
    jets[s].d1 = 0.0;
    add(expression.slots[s], factor * slope, to);
  }
}

/// Calls visit(velocity coordinate) for all that move a node.
template <class Visit>
void MotionGradient::for_each_carrier(int node, Visit visit) const {
  for (; node != 0; node = model_->tree.nodes[static_cast<std::size_t>(node)].parent) {
    const Node& at = model_->tree.nodes[static_cast<std::size_t>(node)];
    for (int v = at.v; v < at.v + velocity_count(at.kind); ++v) visit(v);
  }
}

void MotionGradient::add_sensor(const Sensor& sensor, int component, bool rate, double factor, Entries& to) {
  if (sensor.kind->is_expression) return add(sensor.value, factor, to);
  if (sensor.kind->name == "distance") {
    const RelativeGradient relative(*system_, motion_, sensor.frame, sensor.b, memory());
    const DualRow row = distance_row(relative.dual());
    return add(relative, factor * (rate ? relative.of_rate(row) : RelativeGradient::of_value(row.value)), to);
  }
  const Pose<double> X = system_->pose(sensor.frame);
  const V6& V = motion_.twist(sensor.frame.node);
  const V3 w = V.head<3>();
  for_each_carrier(sensor.frame.node, [&](int v) {
    const InverseDynamicsDerivatives::Dof& dof = motion_.dof(v);
    const V3 moves = at_point(dof.s, X.p);
    if (rate) {
      const V6 dV = cross_motion(dof.s, V) - dof.w;
      to.emplace_back(v, factor * (at_point(dV, X.p) + w.cross(moves))[component]);
      to.emplace_back(first_velocity() + v, factor * moves[component]);
    } else if (component < 3) {
      to.emplace_back(v, factor * moves[component]);
    } else {
      Quat turn(0.0, 0.0, 0.0, 0.0);
      turn.vec() = 0.5 * dof.s.head<3>();
      const Quat change = turn * Quat(X.R);
      const std::array numbers{change.w(), change.x(), change.y(), change.z()};
      to.emplace_back(v, factor * numbers[static_cast<std::size_t>(component - 3)]);
    }
  });
}

Eigen::RowVectorXd MotionGradient::of(const Variable& variable) {
  Entries entries(memory());
  add(variable, 1.0, entries);
  Eigen::RowVectorXd row = Eigen::RowVectorXd::Zero(columns());
  for (const auto& [column, value] : entries) row[column] += value;
  return row;
}

// Forces.

void MotionGradient::subtract(int v, double along, const Entries& change) {
  for (const auto& [column, value] : change) force_(v, column) -= along * value;
}

void MotionGradient::subtract(const Coordinate& coordinate, double value, const Entries& change) {
  const Joint& joint = model_->joints[coordinate.joint()];
  const auto k = static_cast<std::size_t>(coordinate.component);
  if (joint.in_state()) return subtract(joint.v[k], 1.0, change);
  const auto& [relative, rows] = cut(joint);
  relative.subtract_force(rows[k], value, force_);
  const auto along = relative.directions(rows[k]);
  for (std::size_t i = 0; i < along.size(); ++i) subtract(relative.parts()[i].v, along[i], change);
}

void MotionGradient::add_joint_laws() {
  for (std::size_t j = 0; j < model_->joints.size(); ++j) {
    const Joint& joint = model_->joints[j];
    if (joint.stiffness == 0.0 && joint.damping == 0.0 && joint.friction == 0.0) continue;
    std::array<double, 7> q{};
    std::array<double, 6> v{}, a{};
    system_->joint_motion(joint, {}, q, v, a);
    for (int k = 0; k < joint.kind->nv(); ++k) {
      const double rate = v[static_cast<std::size_t>(k)];
      double by_rate = -joint.damping;
      if (joint.friction != 0.0) by_rate -= joint.friction / kFrictionSpeed / std::pow(std::cosh(rate / kFrictionSpeed), 2);
      const Coordinate coordinate{JointIndex(j), k};
      Entries change(memory());
      add(coordinate, -joint.stiffness, by_rate, 0.0, change);
      const JointLaw law = System::joint_law(joint, q[static_cast<std::size_t>(k)], rate);
      subtract(coordinate, law.elastic + law.lossy, change);
    }
  }
}

void MotionGradient::add_joint_forces() {
  for (const JointForce& force : model_->joint_forces) {
    if (system_->modes().forces[static_cast<std::size_t>(force.of)] == 0) continue;
    Entries change(memory());
    add(force.value, 1.0, change);
    subtract(force.coordinate, system_->evaluate(force.value), change);
  }
}

void MotionGradient::add_springs() {
  for (std::size_t k = 0; k < model_->springs.size(); ++k) {
    const Spring& spring = model_->springs[k];
    if (system_->modes().forces[static_cast<std::size_t>(spring.of)] == 0) continue;
    const RelativeGradient relative(*system_, motion_, spring.a, spring.b, memory());
    const DualRow row = distance_row(relative.dual());
    const RelativeGradient::Change length = RelativeGradient::of_value(row.value), rate = relative.of_rate(row);
    Entries change(memory());
    if (spring.law.expression.is_given()) {
      const Span span{&relative, length, rate};
      span_ = &span;
      add(spring.law, -1.0, change);
      span_ = nullptr;
    } else {
      add(relative, -spring.stiffness * length - spring.damping * rate, change);
    }
    relative.subtract_force(row, -system_->spring_pull(k), force_);
    const auto along = relative.directions(row);
    for (std::size_t i = 0; i < along.size(); ++i) subtract(relative.parts()[i].v, along[i], change);
  }
}

void MotionGradient::add_wrench(const BodyWrench& wrench) {
  const Pose<double> X = system_->pose(wrench.at);
  const Mat3<double> axes = wrench.in_body_axes ? X.R : Mat3<double>::Identity();
  const auto about_origin = [&](const V3& n, const V3& f) {
    V6 W;
    W << n + X.p.cross(f), f;
    return W;
  };
  V3 n = V3::Zero(), f = V3::Zero();
  for (int c = 0; c < 6; ++c) {
    const bool is_torque = c < 3;
    const BoundExpression& value = (is_torque ? wrench.torque : wrench.force)[static_cast<std::size_t>(c % 3)];
    const double size = system_->evaluate(value);
    (is_torque ? n : f) += size * axes.col(c % 3);
    Entries change(memory());
    add(value, 1.0, change);
    if (change.empty()) continue;
    const V6 unit = is_torque ? about_origin(axes.col(c % 3), V3::Zero()) : about_origin(V3::Zero(), axes.col(c % 3));
    for_each_carrier(wrench.at.node, [&](int v) { subtract(v, motion_.dof(v).s.dot(unit), change); });
  }
  const V6 W = about_origin(n, f);
  // Coordinates from the node inward: those met later carry the earlier ones, but for a free node's own.
  std::pmr::vector<int> order(memory());
  for_each_carrier(wrench.at.node, [&](int v) { order.push_back(v); });
  std::pmr::vector<int> node_of(static_cast<std::size_t>(model_->tree.nv), memory());
  for (int i = 1; i < model_->tree.size(); ++i) {
    const Node& node = model_->tree.nodes[static_cast<std::size_t>(i)];
    for (int v = node.v; v < node.v + velocity_count(node.kind); ++v) node_of[static_cast<std::size_t>(v)] = i;
  }
  for (const int j : order) {
    const V6& s_j = motion_.dof(j).s;
    V6 change = V6::Zero();
    if (wrench.in_body_axes)
      change = cross_force(s_j, W);
    else
      change.head<3>() = at_point(s_j, X.p).cross(f);
    const V6 carried = cross_force(s_j, W);
    const int node_j = node_of[static_cast<std::size_t>(j)];
    for (const int k : order) {
      const int node_k = node_of[static_cast<std::size_t>(k)];
      const bool carries = node_j < node_k || (node_j == node_k && motion_.dof(j).stage <= motion_.dof(k).stage);
      force_(k, j) -= motion_.dof(k).s.dot(carries ? V6(change - carried) : change);
    }
  }
}

void MotionGradient::add_bushing(const Bushing& bushing) {
  const RelativeGradient relative(*system_, motion_, bushing.a, bushing.b, memory());
  const DualMotion& m = relative.dual();
  RelativeGradient::DualRows rows;  // as Bushing::rows()
  for (int k = 0; k < 3; ++k) rows[static_cast<std::size_t>(k)] = translation_row(m, V3::Unit(k));
  swing_rows(m, rows[3], rows[4]);
  rows[5] = twist_row(m);
  for (std::size_t k = 0; k < rows.size(); ++k) {
    const Dual rate = rows[k].rate(m);
    Entries change(memory());
    add(relative,
        -bushing.stiffness[k] * RelativeGradient::of_value(rows[k].value) - bushing.damping[k] * RelativeGradient::of_value(rate),
        change);
    relative.subtract_force(rows[k], -bushing.stiffness[k] * rows[k].value.value - bushing.damping[k] * rate.value, force_);
    const auto along = relative.directions(rows[k]);
    for (std::size_t i = 0; i < along.size(); ++i) subtract(relative.parts()[i].v, along[i], change);
  }
}

void MotionGradient::add_friction(std::size_t index) {
  const DryFriction& friction = model_->frictions[index];
  const Eigen::Vector2d s = system_->slip(index);
  const double speed = s.norm(), load = system_->load(index);
  const Eigen::Vector2d force = system_->friction_force(index);
  if (!(speed > 0.0)) return;
  const Eigen::Vector2d along = force.dot(s) <= 0.0 ? Eigen::Vector2d(s / speed) : Eigen::Vector2d(-s / speed);
  const double coefficient = friction.sliding_force(speed);
  const double share = friction.stribeck > 0.0 ? std::exp(-std::pow(speed / friction.stribeck, 2)) : 0.0;
  const double slope = friction.stribeck > 0.0
                           ? -2.0 * (friction.sticking - friction.kinetic) * share * speed / std::pow(friction.stribeck, 2)
                           : 0.0;
  // F = -(coefficient load along + viscous s): the part across s turns with it, the part along s changes with the speed.
  const Eigen::Matrix2d of_direction = (Eigen::Matrix2d::Identity() - along * along.transpose()) / speed;
  const Eigen::Matrix2d by_slip = -coefficient * load * of_direction - slope * load * along * along.transpose() -
                                  friction.viscous * Eigen::Matrix2d::Identity();
  const Eigen::Vector2d by_load = -coefficient * along;
  Entries change(memory());
  if (friction.normal_row < 0) add(friction.load, 1.0, change);
  Sliding& sliding = sliding_.emplace_back();
  sliding.first_row = friction.first_row;
  sliding.change.setZero(friction.rows, columns());
  sliding.by_load = by_load;
  sliding.effect = VecX<double>::Zero(model_->tree.nv);
  for (int i = 0; i < friction.rows; ++i) {
    const auto A = rate_.row(friction.first_row + i).segment(first_velocity(), model_->tree.nv);
    auto moved = sliding.change.row(i);
    for (int j = 0; j < friction.rows; ++j) moved += by_slip(i, j) * rate_.row(friction.first_row + j);
    for (const auto& [column, value] : change) moved[column] += by_load[i] * value;
    force_.noalias() -= A.transpose() * moved;
    sliding.effect -= by_load[i] * A.transpose();
  }
  if (friction.normal_row < 0) return;
  const double normal = friction.side * (*lambda_)[friction.normal_row];
  sliding.normal_row = friction.normal_row;
  sliding.sign = friction.one_sided || normal >= 0.0 ? friction.side : -friction.side;
}

// Constraints.

void MotionGradient::add_closure(const FrameClosure& closure) {
  const RelativeGradient relative(*system_, motion_, closure.a, closure.b, memory());
  RelativeGradient::DualRows rows;
  evaluate(closure, relative.dual(), rows);
  for (int r = 0; r < closure.row_count; ++r) {
    const DualRow& row = rows[static_cast<std::size_t>(r)];
    const int at = closure.first_row + r;
    relative.subtract_force(row, (*lambda_)[at], force_);
    const RelativeGradient::Change of_rate = relative.of_rate(row), of_second_rate = relative.of_second_rate(row);
    for (const RelativeGradient::Part& part : relative.parts()) {
      rate_(at, part.v) += of_rate.dot(part.by_q);
      rate_(at, first_velocity() + part.v) += of_rate.dot(part.by_v);
      acceleration_(at, part.v) += of_second_rate.dot(part.by_q);
      acceleration_(at, first_velocity() + part.v) += of_second_rate.dot(part.by_v);
    }
  }
}

void MotionGradient::add_coordinate_closure(const CoordinateClosure& closure) {
  using Kind = Variable::Kind;
  const auto& slots = closure.phi.slots;
  const auto motion_of = [&](const Coordinate& coordinate) -> Jet {
    const Joint& joint = model_->joints[coordinate.joint()];
    const auto k = static_cast<std::size_t>(coordinate.component);
    if (joint.in_state()) return {system_->state().q[joint.q[k]], system_->state().v[joint.v[k]], (*vdot_)[joint.v[k]]};
    std::array<double, 7> q{};
    std::array<double, 6> v{}, a{};
    system_->joint_motion(joint, {}, q, v, a);
    const auto& [relative, rows] = cut(joint);
    Row row;
    for (int i = 0; i < 3; ++i) row.on_w[i] = rows[k].on_w[i].value, row.on_p[i] = rows[k].on_p[i].value;
    row.gamma = rows[k].gamma.value;
    return {q[k], v[k], row.second_rate(relative.motion())};
  };
  tangents_.assign(slots.size(), JetTangent());
  for (std::size_t s = 0; s < slots.size(); ++s) {
    Jet& at = tangents_[s].f;
    if (slots[s].kind == Kind::kTime) {
      at = {system_->state().t, 1.0, 0.0};
    } else if (slots[s].kind == Kind::kInput) {
      at = system_->input(slots[s].index);
    } else if (slots[s].kind == Kind::kState) {
      at = {system_->user_state(slots[s].index), system_->evaluate(model_->states[static_cast<std::size_t>(slots[s].index)].rate),
            0.0};
    } else if (slots[s].is_coordinate()) {
      const Jet c = motion_of(slots[s].coordinate);
      at = slots[s].kind == Kind::kPosition ? c : Jet{c.d1, c.d2, 0.0};
    } else {
      at = system_->value(slots[s]);
    }
  }
  const std::span<const JetTangent> inputs(tangents_);
  Entries rate(memory()), acceleration(memory());
  const auto unit = [](int order) {
    return order == 0 ? Jet{1.0, 0.0, 0.0} : order == 1 ? Jet{0.0, 1.0, 0.0} : Jet{0.0, 0.0, 1.0};
  };
  for (std::size_t s = 0; s < slots.size(); ++s) {
    const Variable& slot = slots[s];
    const int orders = slot.kind == Kind::kPosition ? 3 : slot.kind == Kind::kVelocity || slot.kind == Kind::kState ? 2 : 1;
    for (int order = 0; order < orders; ++order) {
      tangents_[s].df = unit(order);
      const Jet change = closure.phi.expression.evaluate<JetTangent>(inputs).df;
      tangents_[s].df = {};
      const auto place = [&](double factor, Entries& to) {
        if (factor == 0.0) return;
        if (slot.is_coordinate()) {
          const int o = order + (slot.kind == Kind::kVelocity ? 1 : 0);
          add(slot.coordinate, o == 0 ? factor : 0.0, o == 1 ? factor : 0.0, o == 2 ? factor : 0.0, to);
        } else if (order == 1) {
          add(model_->states[static_cast<std::size_t>(slot.index)].rate, factor, to);
        } else {
          add(slot, factor, to);
        }
      };
      place(closure.holonomic ? change.d1 : change.value, rate);
      place(closure.holonomic ? change.d2 : change.d1, acceleration);
    }
  }
  for (const auto& [column, value] : rate) rate_(closure.row, column) += value;
  for (const auto& [column, value] : acceleration) acceleration_(closure.row, column) += value;

  const double lambda = (*lambda_)[closure.row];
  if (lambda == 0.0) return;
  for (JetTangent& slot : tangents_) slot.f.d1 = slot.f.d2 = 0.0;
  for (std::size_t s = 0; s < slots.size(); ++s) {
    if (!closure.acts_on(slots[s])) continue;
    tangents_[s].f.d1 = 1.0;
    const double slope = closure.phi.expression.evaluate<JetTangent>(inputs).f.d1;
    Entries change(memory());
    for (std::size_t t = 0; t < slots.size(); ++t) {
      tangents_[t].df = unit(0);
      add(slots[t], lambda * closure.phi.expression.evaluate<JetTangent>(inputs).df.d1, change);
      tangents_[t].df = {};
    }
    tangents_[s].f.d1 = 0.0;
    subtract(slots[s].coordinate, lambda * slope, change);
  }
}

void MotionGradient::add_states() {
  for (std::size_t k = 0; k < model_->states.size(); ++k) {
    Entries change(memory());
    add(model_->states[k].rate, 1.0, change);
    for (const auto& [column, value] : change) states_(static_cast<Eigen::Index>(k), column) += value;
  }
}

}  // namespace linkwork
