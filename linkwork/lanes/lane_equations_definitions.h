#pragma once

#include <algorithm>

#include "linkwork/coordinates/elimination_recursions.h"
#include "linkwork/coordinates/loop_elimination.h"
#include "linkwork/lanes/lane_equations.h"
#include "linkwork/lanes/point_rows.h"
#include "linkwork/model/forces/friction.h"
#include "linkwork/tree/energy_recursions.h"
#include "linkwork/tree/kinematics_recursions.h"
#include "linkwork/tree/lane_tree_gathering.h"
#include "linkwork/tree/rnea_recursions.h"

/// To be compiled in few places.
namespace linkwork {

namespace lanes {

template <std::size_t N>
std::vector<const Tree*> trees_of(const std::array<System*, N>& systems) {
  std::vector<const Tree*> trees;
  for (const System* const system : systems) trees.push_back(&system->tree());
  return trees;
}

/// The numbers of one lane.
template <class L>
Vec3<double> lane_of(const Vec3<L>& x, int lane) {
  return {x.x()[lane], x.y()[lane], x.z()[lane]};
}

template <class L>
void set_lane(Vec3<L>& x, int lane, const Vec3<double>& from) {
  for (int k = 0; k < 3; ++k) x[k].set(lane, from[k]);
}

template <class L>
L largest(const VecX<L>& x) {
  L most(0.0);
  for (const L& each : x) most = max(most, abs(each));
  return most;
}

/// How b's point moves, seen from and in the axes of a's node: point_motion() in lanes.
template <class L>
struct LanePointMotion {
  Vec3<L> p, pdot, pddot;
};

template <class L>
LanePointMotion<L> lane_point_motion(const NodeWork<L>& a, const NodeWork<L>& b, const Pose<L>& X_AB, const Vec3<L>& r_b) {
  const Vec3<L> turning_b = b.w.cross(r_b), p = X_AB * r_b, turning_a = a.w.cross(p);
  const Vec3<L> pdot = X_AB.R * (b.v + turning_b) - a.v - turning_a;
  const Vec3<L> acceleration_b = b.ap + b.aw.cross(r_b) + b.w.cross(turning_b);
  return {p, pdot, X_AB.R * acceleration_b - a.ap - a.aw.cross(p) - a.w.cross(turning_a + L(2.0) * pdot)};
}

}  // namespace lanes

template <int N>
template <class Of>
auto LaneEquations<N>::vector_of_each(Of&& of) const -> VecX<Lanes> {
  VecX<Lanes> x(of(systems_.front()->model()).size());
  for (Eigen::Index i = 0; i < x.size(); ++i) x[i] = of_each([&](const Model& model) { return of(model)[i]; });
  return x;
}

template <int N>
template <class Of>
auto LaneEquations<N>::frame_of_each(Of&& of) const -> Frame {
  const NodeFrame& first = of(systems_.front()->model());
  Frame frame{first.node, {}};
  for (int k = 0; k < 3; ++k) {
    frame.X_NF.p[k] = of_each([&](const Model& model) { return of(model).X_NF.p[k]; });
    for (int l = 0; l < 3; ++l) frame.X_NF.R(k, l) = of_each([&](const Model& model) { return of(model).X_NF.R(k, l); });
  }
  return frame;
}

template <int N>
LaneEquations<N>::LaneEquations(const Systems& systems)
    : systems_(systems),
      tree_(lanes::trees_of(systems)),
      work_(lane_work<Lanes>(lanes::trees_of(systems))),
      loops_(layout_of(systems.front()->model())->elimination(systems.front()->tree())),
      unequal_(Mask::of(false)),
      strongest_(0.0),
      part_(Mask::of(true)),
      usual_(part_) {
  const Model& first = systems.front()->model();
  const ConstraintLayout& layout = *layout_of(first);
  const auto rows_of = [](const Model& model, std::size_t i) -> const ClosureRows& { return layout_of(model)->closure_rows[i]; };
  for (std::size_t i = 0; i < first.frame_closures.size(); ++i) {
    const FrameClosure& like = first.frame_closures[i];
    Closure closure{like.first_row,
                    like.row_count,
                    frame_of_each([i](const Model& model) -> const NodeFrame& { return model.frame_closures[i].a; }),
                    frame_of_each([i](const Model& model) -> const NodeFrame& { return model.frame_closures[i].b; }),
                    &layout.closure_rows[i],
                    {},
                    of_each([&](const Model& model) { return rows_of(model, i).height; }),
                    {of_each([&](const Model& model) { return rows_of(model, i).to_a.x; }),
                     of_each([&](const Model& model) { return rows_of(model, i).to_a.y; })},
                    {of_each([&](const Model& model) { return rows_of(model, i).to_b.x; }),
                     of_each([&](const Model& model) { return rows_of(model, i).to_b.y; })},
                    {}};
    if (closure.known->kind != ClosureRows::Kind::kGeneral)
      for (int r = 0; r < closure.known->working; ++r)
        for (int k = 0; k < 3; ++k)
          closure.directions[at(r)][k] = of_each([&](const Model& model) { return rows_of(model, i).directions[at(r)][k]; });
    for (std::size_t k = 0; k < closure.known->idle.size(); ++k)
      closure.idle.push_back(of_each([&](const Model& model) { return rows_of(model, i).idle[k].value; }));
    closures_.push_back(std::move(closure));
    std::optional<typename LaneColumns<Lanes>::Bounds> bounds;
    if (layout.groups[i].bounds())
      bounds = {of_each([&](const Model& model) { return layout_of(model)->groups[i].bounds()->moment; }),
                of_each([&](const Model& model) { return layout_of(model)->groups[i].bounds()->force; })};
    groups_.emplace_back(layout.groups[i], bounds);
    loops_.set_reach(static_cast<int>(i), of_each([&](const Model& model) {
                       return layout_of(model)->elimination(model.tree).reach(static_cast<int>(i));
                     }));
  }
  for (std::size_t j = 0; j < first.joints.size(); ++j) {
    const auto number = [&](double Joint::*of) { return of_each([&](const Model& model) { return model.joints[j].*of; }); };
    const JointLaw law{j,    number(&Joint::damping), number(&Joint::stiffness), number(&Joint::rest), number(&Joint::friction),
                       false};
    const auto acts = [](const Lanes& x) { return any(x != Lanes(0.0)); };
    if (!acts(law.damping) && !acts(law.stiffness) && !acts(law.friction)) continue;
    laws_.push_back(law);
    laws_.back().has_friction = acts(law.friction);
  }
  const auto is_active = [&first](int force) { return first.forces[at(force)].active; };
  for (std::size_t k = 0; k < first.springs.size(); ++k)
    if (is_active(first.springs[k].of))
      springs_.push_back({frame_of_each([k](const Model& model) -> const NodeFrame& { return model.springs[k].a; }),
                          frame_of_each([k](const Model& model) -> const NodeFrame& { return model.springs[k].b; }),
                          of_each([k](const Model& model) { return model.springs[k].stiffness; }),
                          of_each([k](const Model& model) { return model.springs[k].damping; }),
                          of_each([k](const Model& model) { return model.springs[k].length; })});
  const auto note_use = [this](const Value& value) {
    const bool varies = value.of.front() != nullptr;
    uses_time_ = uses_time_ || varies;
    uses_coordinates_ = uses_coordinates_ || (varies && !value.of_time_only);
  };
  for (std::size_t k = 0; k < first.joint_forces.size(); ++k) {
    const JointForce& like = first.joint_forces[k];
    if (!is_active(like.of)) continue;
    const std::size_t joint = like.coordinate.joint();
    torques_.push_back(
        {joint, first.joints[joint].v[at(like.coordinate.component)],
         value_of_each([k](const Model& model) -> const BoundExpression& { return model.joint_forces[k].value; })});
    note_use(torques_.back().value);
  }
  for (std::size_t k = 0; k < first.wrenches.size(); ++k) {
    if (!is_active(first.wrenches[k].of)) continue;
    BodyForce& wrench = wrenches_.emplace_back();
    wrench.at = frame_of_each([k](const Model& model) -> const NodeFrame& { return model.wrenches[k].at; });
    wrench.in_body_axes = first.wrenches[k].in_body_axes;
    for (int c = 0; c < 6; ++c) {
      const Value value = value_of_each([&](const Model& model) -> const BoundExpression& {
        const BodyWrench& own = model.wrenches[k];
        return c < 3 ? own.torque[at(c)] : own.force[at(c - 3)];
      });
      if (value.of.front() == nullptr)
        (c < 3 ? wrench.constant.n : wrench.constant.f)[c % 3] = value.value;
      else
        note_use(value), wrench.varying.emplace_back(c, value);
    }
  }
  for (int lane = 0; lane < N; ++lane) {
    unequal_.set(lane, has_unequal_masses(systems[at(lane)]->tree()));
    states_[at(lane)].q.resize(tree_.nq);
    states_[at(lane)].v.resize(tree_.nv);
  }
  good_enough_ =
      of_each([](const Model& model) { return 0.01 * std::min(model.settings.constraint_tolerance, model.settings.rtol); });
  constraint_tolerance_ = of_each([](const Model& model) { return model.settings.constraint_tolerance; });
  rate_ = of_each([](const Model& model) { return model.units.rate; });
  velocity_unit_ = vector_of_each([](const Model& model) -> const VecX<double>& { return model.units.velocity; });
  row_unit_ = vector_of_each([](const Model& model) -> const VecX<double>& { return model.units.row; });
  tolerance_ = vector_of_each([](const Model& model) -> const VecX<double>& { return model.units.tolerance; });
  phi_ = rate_of_phi_ = b_ = lambda_ = missed_ = sizes_ = VecX<Lanes>::Zero(first.row_count());
  vdot_ = change_ = VecX<Lanes>::Zero(tree_.nv);
}

// --- constraints

template <int N>
void LaneEquations<N>::update(const VecX<Lanes>& y) {
  recursions::update_motion(tree_, y.data(), y.data() + tree_.nq, work_);
  for (std::size_t i = 0; i < closures_.size(); ++i) set_closure(i);
}

template <int N>
auto LaneEquations<N>::between(int a, int b) -> Pose<Lanes> {
  recursions::update_poses(tree_, work_);
  const Pose<Lanes>& X_WB = work_.X_WN[at(b)];
  if (a == 0) return X_WB;
  const Pose<Lanes>& X_WA = work_.X_WN[at(a)];
  return {X_WA.R.transpose() * X_WB.R, X_WA.R.transpose() * (X_WB.p - X_WA.p)};
}

template <int N>
auto LaneEquations<N>::branch_pose(const ClosureRows::Branch& way, const typename Closure::Branch& first) const
    -> PlanePose<Lanes> {
  if (way.nodes.empty()) return {};
  const NodeWork<Lanes>& node = work_[way.nodes.front()];
  PlanePose<Lanes> X{node.cq, node.sq, first.x, first.y};
  for (std::size_t i = 1; i < way.nodes.size(); ++i) X = planar::placed(X, work_[way.nodes[i]]);
  return X;
}

template <int N>
void LaneEquations<N>::set_closure(std::size_t i) {
  Closure& closure = closures_[i];
  const ClosureRows& known = *closure.known;
  using Kind = ClosureRows::Kind;
  if (known.kind == Kind::kGeneral) return set_general_closure(closure, i);
  const V3 &r_a = closure.a.X_NF.p, &r_b = closure.b.X_NF.p;
  const V3* const e = closure.directions.data();
  const NodeWork<Lanes>&a = work_[closure.a.node], &b = work_[closure.b.node];
  Lanes *const phi = phi_.data() + closure.first_row, *const rate = rate_of_phi_.data() + closure.first_row;
  Lanes* const rhs = b_.data() + closure.first_row;
  if (known.kind == Kind::kPoint) {
    closure.X_AB = between(closure.a.node, closure.b.node);
    point_rows::set_positions(closure.X_AB, r_a, r_b, e, known.working, phi, groups_[i]);
  } else {
    const bool on_ground = known.kind == Kind::kPlanar;
    const PlanePose<Lanes> A = on_ground ? a.in_plane : branch_pose(known.to_a, closure.to_a);
    const PlanePose<Lanes> B = on_ground ? b.in_plane : branch_pose(known.to_b, closure.to_b);
    const PlanePose<Lanes> X = closure.in_plane = point_rows::between(A, B);
    const Lanes zero(0.0), one(1.0);
    if (!on_ground) {
      closure.X_AB.R << X.c, -X.s, zero, X.s, X.c, zero, zero, zero, one;
      closure.X_AB.p = {X.x, X.y, closure.height - r_b.z()};
    }
    point_rows::set_positions(X, closure.height, r_a, r_b, e, known.working, phi, groups_[i]);
  }
  if (known.kind == Kind::kPlanar) {
    point_rows::set_motion(closure.in_plane, a, b, r_b, e, known.working, rate, rhs);
  } else {
    const lanes::LanePointMotion<Lanes> m = lanes::lane_point_motion(a, b, closure.X_AB, r_b);
    for (int r = 0; r < known.working; ++r) rate[r] = e[r].dot(m.pdot), rhs[r] = -e[r].dot(m.pddot);
  }
  for (int r = known.working; r < closure.row_count; ++r) {
    phi[r] = closure.idle[at(r - known.working)];
    rate[r] = rhs[r] = Lanes(0.0);
  }
}

/// Rows are functions of any kind: each lane's are its own affair.
template <int N>
void LaneEquations<N>::set_general_closure(Closure& closure, std::size_t index) {
  const Pose<Lanes> X_AB = between(closure.a.node, closure.b.node);
  const NodeWork<Lanes>&a = work_[closure.a.node], &b = work_[closure.b.node];
  const lanes::LanePointMotion<Lanes> point = lanes::lane_point_motion(a, b, X_AB, closure.b.X_NF.p);
  const V3 w = X_AB.R * b.w - a.w, wdot = X_AB.R * b.aw - a.aw - a.w.cross(w);
  const auto Rt = closure.a.X_NF.R.transpose();
  const Mat3<Lanes> R = Rt * (X_AB.R * closure.b.X_NF.R);
  const V3 p = Rt * (point.p - closure.a.X_NF.p), turn = Rt * w, pdot = Rt * point.pdot, turn_rate = Rt * wdot,
           pddot = Rt * point.pddot;
  std::array<V3, kMaxRows> on_w, on_p;
  for (int lane = 0; lane < N; ++lane) {
    RelativeMotion m{{},
                     lanes::lane_of(p, lane),
                     lanes::lane_of(turn, lane),
                     lanes::lane_of(pdot, lane),
                     lanes::lane_of(turn_rate, lane),
                     lanes::lane_of(pddot, lane)};
    for (int k = 0; k < 9; ++k) m.R.data()[k] = R.data()[k][lane];
    std::array<Row, kMaxRows> rows;
    systems_[at(lane)]->model().frame_closures[index].evaluate(m, rows);
    for (int r = 0; r < closure.row_count; ++r) {
      const Row& row = rows[at(r)];
      lanes::set_lane(on_w[at(r)], lane, row.on_w);
      lanes::set_lane(on_p[at(r)], lane, row.on_p);
      phi_[closure.first_row + r].set(lane, row.value);
      rate_of_phi_[closure.first_row + r].set(lane, row.rate(m));
      b_[closure.first_row + r].set(lane, -row.second_rate(m));
    }
  }
  const V3& r_b = closure.b.X_NF.p;
  for (int r = 0; r < closure.row_count; ++r) {
    const V3 f_a = closure.a.X_NF.R * on_p[at(r)], n_a = closure.a.X_NF.R * on_w[at(r)];
    const V3 f_b = X_AB.R.transpose() * f_a, n_b = X_AB.R.transpose() * n_a;
    groups_[index].wrench(0, r) = {-(n_a + point.p.cross(f_a)), -f_a};
    groups_[index].wrench(1, r) = {n_b + r_b.cross(f_b), f_b};
  }
}

// --- forces

template <int N>
template <class Of>
auto LaneEquations<N>::value_of_each(Of&& of) const -> Value {
  Value made{.t = Lanes(kNoNumber), .value = Lanes(0.0)};
  bool is_constant = true;
  made.of_time_only = true;
  for (int lane = 0; lane < N; ++lane) {
    const BoundExpression& own = of(systems_[at(lane)]->model());
    made.of[at(lane)] = &own;
    is_constant = is_constant && own.expression.is_constant();
    if (own.expression.is_constant()) made.value.set(lane, own.expression.constant_value());
    for (const Variable& slot : own.slots) made.of_time_only = made.of_time_only && slot.kind == Variable::Kind::kTime;
    made.of_time_only = made.of_time_only && own.first_switch < 0;  // its branch may be another at the same time
  }
  if (is_constant) made.of = {};
  return made;
}

/// Of the states that are bound. What depends on time only is known already in every other stage of most methods.
template <int N>
auto LaneEquations<N>::evaluate(Value& value, const Lanes& t) const -> const Lanes& {
  if (value.of.front() == nullptr) return value.value;
  const Mask is_new = value.of_time_only ? t != value.t : Mask::of(true);
  for (int lane = 0; lane < N; ++lane)
    if (part_[lane] && is_new[lane]) value.value.set(lane, systems_[at(lane)]->evaluate(*value.of[at(lane)]));
  value.t = select(part_, t, value.t);
  return value.value;
}

template <int N>
void LaneEquations<N>::bind_states(const Lanes& t, const VecX<Lanes>& y) {
  for (int lane = 0; lane < N; ++lane) {
    if (!part_[lane]) continue;
    State& state = states_[at(lane)];
    state.t = t[lane];
    for (int i = 0; uses_coordinates_ && i < tree_.nq; ++i) state.q[i] = y[i][lane];
    for (int i = 0; uses_coordinates_ && i < tree_.nv; ++i) state.v[i] = y[tree_.nq + i][lane];
    systems_[at(lane)]->rebind(state);
  }
}

template <int N>
void LaneEquations<N>::apply_forces(const Lanes& t, const VecX<Lanes>& y) {
  work_.tau.setZero();
  if (work_.any_applied) std::ranges::fill(work_.applied, Wrench<Lanes>{});
  work_.any_applied = false;
  power_ = Lanes(0.0);
  apply_joint_laws(y);
  apply_joint_torques(t, y);
  apply_springs();
  apply_wrenches(t);
}

template <int N>
void LaneEquations<N>::apply_joint_laws(const VecX<Lanes>& y) {
  for (const JointLaw& law : laws_) {
    const Joint& joint = systems_.front()->model().joints[law.joint];
    for (int k = 0; k < joint.kind->nv(); ++k) {
      const int dof = joint.v[at(k)];
      const Lanes rate = y[tree_.nq + dof];
      Lanes lossy = -law.damping * rate;
      if (law.has_friction)
        for (int lane = 0; lane < N; ++lane)
          if (law.friction[lane] != 0.0) lossy.set(lane, lossy[lane] + coulomb_force(law.friction[lane], rate[lane]));
      // A quaternion has a component more than the velocity, and no stiffness.
      const Lanes elastic = joint.q.size() == joint.v.size() ? -law.stiffness * (y[joint.q[at(k)]] - law.rest) : Lanes(0.0);
      power_ += lossy * rate;
      work_.tau[dof] += elastic + lossy;
    }
  }
}

template <int N>
void LaneEquations<N>::apply_joint_torques(const Lanes& t, const VecX<Lanes>& y) {
  for (JointTorque& torque : torques_) {
    const Lanes& value = evaluate(torque.value, t);
    work_.tau[torque.dof] += value;
    power_ += value * y[tree_.nq + torque.dof];
  }
}

template <int N>
void LaneEquations<N>::apply_springs() {
  struct End {
    V3 p, v;  // in the world
  };
  const auto end_at = [this](const Frame& frame) -> End {
    const V3& r = frame.X_NF.p;
    if (frame.node == 0) return {r, V3::Zero()};
    const NodeWork<Lanes>& node = work_[frame.node];
    const Pose<Lanes>& X = work_.X_WN[at(frame.node)];
    return {X * r, X.R * (node.v + node.w.cross(r))};
  };
  const auto push = [this](const Frame& frame, const V3& force) {
    if (frame.node == 0) return;
    const V3 f = work_.X_WN[at(frame.node)].R.transpose() * force;
    work_.apply(frame.node, {frame.X_NF.p.cross(f), f});
  };
  if (!springs_.empty()) recursions::update_poses(tree_, work_);
  for (const Spring& spring : springs_) {
    const End a = end_at(spring.a), b = end_at(spring.b);
    const V3 span = b.p - a.p;
    const Lanes length = span.norm();
    usual_ &= length > Lanes(0.0);
    const V3 along = span / length;
    const Lanes rate = along.dot(b.v - a.v);
    const Lanes push_apart = -spring.stiffness * (length - spring.length) - spring.damping * rate;
    const V3 force = push_apart * along;
    push(spring.a, -force);
    push(spring.b, force);
    power_ -= spring.damping * rate * rate;
  }
}

template <int N>
void LaneEquations<N>::apply_wrenches(const Lanes& t) {
  if (!wrenches_.empty()) recursions::update_poses(tree_, work_);
  for (BodyForce& wrench : wrenches_) {
    Wrench<Lanes> F = wrench.constant;
    for (auto& [c, value] : wrench.varying) (c < 3 ? F.n : F.f)[c % 3] = evaluate(value, t);
    const int node = wrench.at.node;
    const Mat3<Lanes> R_NE = wrench.in_body_axes ? wrench.at.X_NF.R : Mat3<Lanes>(work_.X_WN[at(node)].R.transpose());
    const Wrench<Lanes> on_node = Pose<Lanes>{R_NE, wrench.at.X_NF.p} * F;
    if (node != 0) work_.apply(node, on_node);
    power_ += power(on_node, Twist<Lanes>{work_[node].w, work_[node].v});
  }
}

// --- accelerations

template <int N>
void LaneEquations<N>::evaluate(const Lanes& t, const VecX<Lanes>& y, VecX<Lanes>& rates, bool updated) {
  if (!updated) update(y);
  if (uses_time_) bind_states(t, y);
  apply_forces(t, y);
  solve(y);
  rates.resize(size());
  recursions::position_rates(tree_, y.data(), y.data() + tree_.nq, rates.data());
  Lanes sum(0.0);
  for (int i = 0; i < tree_.nv; ++i) {
    rates[tree_.nq + i] = vdot_[i];
    sum += abs(vdot_[i]);
  }
  rates[tree_.nq + tree_.nv] = power_;
  usual_ &= is_finite(sum + power_);
}

/// The same as Schur::solve() where nothing needs mending.
template <int N>
void LaneEquations<N>::solve(const VecX<Lanes>& y) {
  recursions::update_bias_wrenches(tree_, work_);
  loops_.inward(tree_, work_, groups_, b_);
  loops_.outward(tree_, work_, vdot_, lambda_);
  if (phi_.size() == 0) return;
  strongest_ = select(part_, max(strongest_, loops_.rank().weakest), strongest_);
  check_rank();
  const Mask doubtful = is_doubtful();
  if (!any(doubtful)) return;
  missed_ = b_;
  sizes_.setZero();
  loops_.subtract_rates(work_, groups_, vdot_, missed_, &sizes_);
  Lanes size = speed(y), most(0.0);
  size *= size;
  for (Eigen::Index row = 0; row < b_.size(); ++row) {
    size = max(size, (sizes_[row] + abs(b_[row])) / row_unit_[row]);
    most = max(most, abs(missed_[row]) / row_unit_[row]);
  }
  const Lanes accepted = min(max(Lanes(1e-9) * sqrt(loops_.rank().weakest), Lanes(1e-12)), Lanes(1e-11));
  usual_ &= (!doubtful) | (most <= Lanes(0.1) * accepted * size);
}

/// Where rows come near to depending on others, more is to be looked at than here: EquationsOfMotion::is_nearly_singular().
template <int N>
void LaneEquations<N>::check_rank() {
  constexpr double kWeaker = 1e-3, kVeryWeak = 1e-7;
  if (phi_.size() > 0) usual_ &= loops_.rank().weakest >= max(Lanes(kVeryWeak), Lanes(kWeaker) * strongest_);
}

/// As Schur sees it.
template <int N>
auto LaneEquations<N>::is_doubtful() const -> Mask {
  constexpr double kWeak = 1e-3;
  return unequal_ | (loops_.rank().weakest < Lanes(kWeak));
}

// --- drift

template <int N>
auto LaneEquations<N>::largest_error(const VecX<Lanes>& errors) const -> Lanes {
  Lanes most(0.0);
  for (Eigen::Index row = 0; row < errors.size(); ++row) most = max(most, abs(errors[row]) / tolerance_[row]);
  return most;
}

template <int N>
auto LaneEquations<N>::speed(const VecX<Lanes>& y) const -> Lanes {
  Lanes fastest = rate_;
  for (int i = 0; i < tree_.nv; ++i) fastest = max(fastest, abs(y[tree_.nq + i]) / velocity_unit_[i]);
  return fastest;
}

template <int N>
void LaneEquations<N>::respond(const VecX<Lanes>& error) {
  loops_.inward_unforced(tree_, work_, groups_, error);
  loops_.outward(tree_, work_, change_, lambda_);
  check_rank();
}

template <int N>
void LaneEquations<N>::project(VecX<Lanes>& y) {
  constexpr int kMostIterations = 10;
  update(y);
  if (phi_.size() == 0) return;
  Lanes error = largest_error(phi_);
  Mask off = error > good_enough_;
  for (int i = 0; i < kMostIterations && any(off); ++i) {
    respond(phi_);
    move_back(y, off);
    update(y);
    const Lanes before = error;
    error = largest_error(phi_);
    off &= (error > good_enough_) & !(error > Lanes(0.5) * before);  // rounding, or rows that cannot be met
  }
  usual_ &= error <= constraint_tolerance_;
  const Mask fast = largest_error(rate_of_phi_) > good_enough_ * speed(y);
  if (!any(fast)) return;
  respond(rate_of_phi_);
  for (int i = 0; i < tree_.nv; ++i) y[tree_.nq + i] -= select(fast, change_[i], Lanes(0.0));
  update(y);
}

/// q <- q (+) -change, in some lanes.
template <int N>
void LaneEquations<N>::move_back(VecX<Lanes>& y, const Mask& some) {
  if (tree_.nq == tree_.nv) {  // no quaternions
    for (int i = 0; i < tree_.nv; ++i) y[i] -= select(some, change_[i], Lanes(0.0));
    return;
  }
  for (int lane = 0; lane < N; ++lane) {
    if (!some[lane]) continue;
    State& state = states_[at(lane)];
    for (int i = 0; i < tree_.nq; ++i) state.q[i] = y[i][lane];
    for (int i = 0; i < tree_.nv; ++i) state.v[i] = -change_[i][lane];
    displace(systems_[at(lane)]->tree(), state.q.data(), state.v.data());
    for (int i = 0; i < tree_.nq; ++i) y[i].set(lane, state.q[i]);
  }
}

template <int N>
void LaneEquations<N>::normalize(VecX<Lanes>& y) const {
  for (const LaneNode<Lanes>& node : tree_.nodes) {
    if (node.kind != NodeKind::kSpherical && node.kind != NodeKind::kFree) continue;
    Lanes* const q = y.data() + node.q + (node.kind == NodeKind::kFree ? 3 : 0);
    const Lanes length = sqrt((q[0] * q[0] + q[1] * q[1]) + (q[2] * q[2] + q[3] * q[3]));
    for (int k = 0; k < 4; ++k) q[k] /= length;
  }
}

template <int N>
auto LaneEquations<N>::stock(const VecX<Lanes>& y) -> Stock {
  recursions::update_poses(tree_, work_);
  Stock stock{lanes::largest(phi_), lanes::largest(rate_of_phi_), recursions::kinetic_energy(tree_, work_),
              recursions::gravity_energy(tree_, work_), Lanes(0.0)};
  const auto add = [&](const Lanes& stiffness, const Lanes& stretch) {
    stock.potential += Lanes(0.5) * stiffness * stretch * stretch;
  };
  for (const JointLaw& law : laws_) {
    const Joint& joint = systems_.front()->model().joints[law.joint];
    if (joint.q.size() == joint.v.size())
      for (const int q : joint.q) add(law.stiffness, y[q] - law.rest);
  }
  for (const Spring& spring : springs_) {
    const V3 p = between(spring.a.node, spring.b.node) * spring.b.X_NF.p - spring.a.X_NF.p;
    add(spring.stiffness, V3(spring.a.X_NF.R.transpose() * p).norm() - spring.length);
  }
  for (const NodeWork<Lanes>& node : work_.nodes) stock.fastest = max(stock.fastest, node.w.squaredNorm());
  stock.fastest = sqrt(stock.fastest);
  return stock;
}

}  // namespace linkwork
