#include "linkwork/dynamics/evaluated_constraints.h"

#include <algorithm>
#include <array>

namespace linkwork {

using V3 = Vec3<double>;

EvaluatedConstraints::EvaluatedConstraints(const Model& model)
    : EvaluatedSignals(model),
      terms_(model),
      has_simple_closures_(
          model.coordinate_closures.empty() &&
          std::ranges::none_of(terms_.closure_rows,
                               [](const ClosureRows& rows) { return rows.kind == ClosureRows::Kind::kGeneral; })),
      X_AB_(model.frame_closures.size()),
      in_plane_AB_(X_AB_.size()) {
  for (const DryFriction& friction : model.frictions) sliding_.push_back(terms_.groups[group_of(friction.first_row)]);
}

/// Takes the rows that are not in force out of the terms. Their errors can still be asked for, and those that slide keep their
/// columns for the friction.
void EvaluatedConstraints::deactivate_rows() {
  error_ = terms_.phi;
  error_rate_ = terms_.rate;
  for (std::size_t k = 0; k < model_->frictions.size(); ++k)
    if (modes_.friction[k].kind == Modes::Friction::Kind::kSlip)
      sliding_[k] = terms_.groups[group_of(model_->frictions[k].first_row)];
  for (int row : inactive_) {
    const auto g = group_of(row);
    terms_.groups[g].clear(row - terms_.first_rows[g]);
    terms_.phi[row] = terms_.rate[row] = terms_.u[row] = terms_.b[row] = 0.0;
  }
}

Eigen::Vector2d EvaluatedConstraints::slip(std::size_t friction) const {
  const DryFriction& f = model_->frictions[friction];
  return {error_rate_[f.first_row], f.rows > 1 ? error_rate_[f.first_row + 1] : 0.0};
}

void EvaluatedConstraints::set_point_positions(std::size_t i) {
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

void EvaluatedConstraints::set_point_motion(std::size_t i) {
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

/// Number by number: as a whole it would be put together elsewhere first.
static void set(V3& a, double x, double y, double z) { a.x() = x, a.y() = y, a.z() = z; }

/// The same as for points in space, with turns about z only.
inline void EvaluatedConstraints::set_planar_positions(std::size_t i) {
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
  const double rx = r_b.x(), ry = r_b.y(), rz = r_b.z(), px = x + (c * rx - s * ry), py = y + (s * rx + c * ry),
               pz = known.height;
  const double gx = px - r_a.x(), gy = py - r_a.y(), gz = pz - r_a.z();
  ForceColumns& columns = terms_.groups[i];
  Wrench<double>*const on_a = &columns.wrench(0, 0), *const on_b = &columns.wrench(1, 0);
  double* const phi = terms_.phi.data() + closure.first_row;
  for (int r = 0; r < known.working; ++r) {
    const V3& e = known.directions[static_cast<std::size_t>(r)];
    const double ex = e.x(), ey = e.y(), ez = e.z(), fx = c * ex + s * ey, fy = c * ey - s * ex;
    phi[r] = ex * gx + (ey * gy + ez * gz);
    set(on_a[r].n, ey * pz - ez * py, ez * px - ex * pz, ex * py - ey * px);
    set(on_a[r].f, -ex, -ey, -ez);
    set(on_b[r].n, ry * ez - rz * fy, rz * fx - rx * ez, rx * fy - ry * fx);
    set(on_b[r].f, fx, fy, ez);
  }
  for (std::size_t k = 0; k < known.idle.size(); ++k) phi[known.working + static_cast<int>(k)] = known.idle[k].value;
}

inline void EvaluatedConstraints::set_planar_motion(std::size_t i) {
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

inline bool EvaluatedConstraints::set_simple_positions(std::size_t i) {
  const ClosureRows::Kind kind = terms_.closure_rows[i].kind;
  if (kind == ClosureRows::Kind::kPlanar || kind == ClosureRows::Kind::kPlanarLoop)
    set_planar_positions(i);
  else if (kind == ClosureRows::Kind::kPoint)
    set_point_positions(i);
  return kind != ClosureRows::Kind::kGeneral;
}

inline bool EvaluatedConstraints::set_simple_motion(std::size_t i) {
  const ClosureRows::Kind kind = terms_.closure_rows[i].kind;
  if (kind == ClosureRows::Kind::kPlanar)
    set_planar_motion(i);
  else if (kind != ClosureRows::Kind::kGeneral)
    set_point_motion(i);
  return kind != ClosureRows::Kind::kGeneral;
}

void EvaluatedConstraints::update(const State& state) {
  const Kept kept = kept_at(state);
  if (kept == Kept::kPositions) return update_motion(state);
  kept_ = Kept::kNothing;
  state_ = &state;
  if (kept == Kept::kAll) return;
  linkwork::update_motion(tree(), state.q.data(), state.v.data(), work_);
  update_closures(true);
}

void EvaluatedConstraints::update_positions(const State& state) {
  kept_ = Kept::kNothing;
  state_ = &state;
  linkwork::update_positions(tree(), state.q.data(), work_);
  update_closures(false);
}

void EvaluatedConstraints::update_motion(const State& state) {
  kept_ = Kept::kNothing;
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
  if (!inactive_.empty() || model_->has_events()) deactivate_rows();
}

void EvaluatedConstraints::update_closures(bool with_motion) {
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
  if (!inactive_.empty() || model_->has_events()) deactivate_rows();
}

void EvaluatedConstraints::set_position_terms(std::size_t i, std::span<const Row> rows) {
  const FrameClosure& closure = model_->frame_closures[i];
  ForceColumns& columns = terms_.groups[i];
  for (int r = 0; r < closure.row_count; ++r) {
    const Row& row = rows[static_cast<std::size_t>(r)];
    terms_.phi[closure.first_row + r] = row.value;
    std::tie(columns.wrench(0, r), columns.wrench(1, r)) = row_wrenches(closure.a, closure.b, X_AB_[i], row);
  }
}

void EvaluatedConstraints::set_motion_terms(std::size_t i, const RelativeMotion& m, std::span<const Row> rows) {
  const FrameClosure& closure = model_->frame_closures[i];
  for (int r = 0; r < closure.row_count; ++r) {
    const Row& row = rows[static_cast<std::size_t>(r)];
    terms_.rate[closure.first_row + r] = row.rate(m);
    terms_.b[closure.first_row + r] = -row.second_rate(m);
  }
}

void EvaluatedConstraints::evaluate_coordinate_closure(const CoordinateClosure& closure, ForceColumns& columns) {
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

const MatX<double>& EvaluatedConstraints::jacobian() {
  A_.setZero(terms_.rows(), tree().nv);
  for (std::size_t g = 0; g < terms_.groups.size(); ++g) terms_.groups[g].add_rows_to(tree(), work_, terms_.first_rows[g], A_);
  return A_;
}

const MatX<double>& EvaluatedConstraints::jacobian_bounds() {
  update_poses(tree(), work_);  // for lever arms
  bounds_.setZero(terms_.rows(), tree().nv);
  for (std::size_t g = 0; g < terms_.groups.size(); ++g)
    terms_.groups[g].add_bounds_to(tree(), work_, terms_.first_rows[g], bounds_);
  return bounds_;
}

}  // namespace linkwork
