#include "linkwork/dynamics/force_balance.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "linkwork/dynamics/constraint_layout.h"
#include "linkwork/tree/rnea.h"

namespace linkwork {

ForceBalance::ForceBalance(const Model& model)
    : change_(VecX<double>::Zero(model.tree.nv)), rows_(VecX<double>::Zero(model.row_count())) {
  constexpr double kUnequal = 1e4;
  double least = std::numeric_limits<double>::infinity(), most = 0.0;
  for (const Node& node : model.tree.nodes)
    if (const double mass = node.inertia.mass; mass > 0.0) least = std::min(least, mass), most = std::max(most, mass);
  needed_ = most > kUnequal * least;
  added_ = rows_;
}

const VecX<double>& ForceBalance::missed(System& system, const VecX<double>& vdot, const VecX<double>& lambda) {
  return missed(system, vdot, lambda, Kind::kForces);
}

const VecX<double>& ForceBalance::missed_impulses(System& system, const VecX<double>& x, const VecX<double>& lambda) {
  return missed(system, x, lambda, Kind::kImpulses);
}

const VecX<double>& ForceBalance::missed(System& system, const VecX<double>& vdot, const VecX<double>& lambda, Kind kind) {
  TreeWork<double>& work = system.work();
  const ConstraintTerms& terms = system.terms();
  tau_ = work.tau;
  applied_ = work.applied;
  const bool any_applied = work.any_applied;
  for (std::size_t g = 0; g < terms.groups.size(); ++g) terms.groups[g].add_to_forces(lambda.data() + terms.first_rows[g], work);
  if (kind == Kind::kForces)
    inverse_dynamics(system.tree(), vdot.data(), work, missed_);
  else
    momentum_change(system.tree(), vdot.data(), work, missed_);
  missed_ -= work.tau;
  work.tau = tau_;
  work.applied = applied_;
  work.any_applied = any_applied;
  return missed_;
}

double ForceBalance::missed_motion(const System& system) {
  change_ = missed_;
  for (int i = 1; i < system.tree().size(); ++i) answer(system.tree(), system.work(), i);
  return change_.cwiseQuotient(system.model().units.velocity).cwiseAbs().maxCoeff();
}

/// A joint's part of change_, a force, becomes what it accelerates the joint by.
void ForceBalance::answer(const Tree& tree, const TreeWork<double>& work, int i) {
  const Node& node = tree.nodes[static_cast<std::size_t>(i)];
  const int nv = velocity_count(node.kind);
  if (nv == 1) {
    change_[node.v] *= work[i].Dinv;
  } else if (nv == 3) {
    change_.segment<3>(node.v) = (work.block(i).IA_inverse.topLeftCorner<3, 3>() * change_.segment<3>(node.v)).eval();
  } else {
    const BlockWork<double>& block = work.block(i);
    Vec6<double> F;
    F << change_.segment<3>(node.v + 3), block.Rq.transpose() * change_.segment<3>(node.v);
    const Vec6<double> A = block.IA_inverse * F;
    change_.segment<3>(node.v) = block.Rq * A.tail<3>();
    change_.segment<3>(node.v + 3) = A.head<3>();
  }
}

double ForceBalance::missed_by_rows(System& system, const VecX<double>& vdot, std::span<const char> left_out) {
  if (rows_.size() == 0) return 0.0;
  if (!loops_) loops_.emplace(cut_loops(system.model()));
  const VecX<double>& unit = system.model().units.row;
  rows_ = system.terms().b;
  sizes_ = rows_;
  loops_->subtract_rates(system.work(), system.terms().groups, vdot, rows_, &sizes_);
  sizes_ += system.terms().b.cwiseAbs();
  const double size = std::max(sizes_.cwiseQuotient(unit).maxCoeff(), std::pow(system.model().speed(system.state().v), 2));
  double most = 0.0;
  for (Eigen::Index row = 0; row < rows_.size(); ++row)
    if (left_out.empty() || left_out[static_cast<std::size_t>(row)] == 0) most = std::max(most, std::abs(rows_[row]) / unit[row]);
  return size > 0.0 ? most / size : 0.0;
}

void ForceBalance::settle(System& system, VecX<double>& vdot, VecX<double>& lambda, Rows rows) {
  const double speed = system.model().speed(system.state().v);
  settle(system, vdot, lambda, rows, Kind::kForces, speed * speed);
}

void ForceBalance::settle_impulses(System& system, VecX<double>& x, VecX<double>& lambda) {
  settle(system, x, lambda, Rows::kMet, Kind::kImpulses, 0.0);
}

/// Where rows depend on one another, or nearly, what is solved for may be rounding itself. It is none if the next round finds
/// much less to do; else all is left as it was.
void ForceBalance::settle(System& system, VecX<double>& vdot, VecX<double>& lambda, Rows rows, Kind kind, double size) {
  if (vdot.size() == 0) return;
  if (!loops_) loops_.emplace(cut_loops(system.model()));
  constexpr int kMostRounds = 5;
  constexpr double kSmall = 1e-3, kEnough = 1e-13;  // of the largest acceleration; what is more than small is no rounding
  constexpr double kGain = 0.1;                     // of the first change, that may be left
  const VecX<double>& unit = system.model().units.velocity;
  size = std::max(size, vdot.cwiseQuotient(unit).cwiseAbs().maxCoeff());
  rows_.setZero();
  given_vdot_ = vdot;
  given_lambda_ = lambda;
  double first = 0.0, before = 2.0 * kSmall * size;
  for (int round = 0; round < kMostRounds; ++round) {
    missed(system, vdot, lambda, kind);
    if (rows == Rows::kMissed) missed_by_rows(system, vdot);
    const double change = correct(system) ? change_.cwiseQuotient(unit).cwiseAbs().maxCoeff() : size;
    if (round == 0) first = change;
    const bool is_less = change < 0.5 * before;
    if (is_less) {
      vdot += change_;
      lambda += added_;
      if (change <= kEnough * size) return;
    }
    before = change;
    if (!is_less) break;
  }
  if (before <= kGain * first) return;
  vdot = given_vdot_;
  lambda = given_lambda_;
}

/// False where a joint moves no inertia, which recursions cannot solve.
bool ForceBalance::correct(System& system) {
  TreeWork<double>& work = system.work();
  for (NodeWork<double>& node : work.nodes) node.n.setZero(), node.f.setZero();
  work.tau = -missed_;
  loops_->inward(system.tree(), work, system.terms().groups, rows_);
  const bool has_inertia = work.massless_node == 0;
  if (has_inertia) loops_->outward(system.tree(), work, change_, added_);
  work.tau = tau_;
  return has_inertia;
}

}  // namespace linkwork
