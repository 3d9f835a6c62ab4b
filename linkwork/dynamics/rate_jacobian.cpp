#include "linkwork/dynamics/rate_jacobian.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace linkwork {

namespace {

/// Calls visit(q, dof, dqdot/dv, ddisplacement/dq) for whatever ties the two: simple coordinates one to one, quaternions by N and
/// by its inverse on displacements, 4 N'.
template <class Visit>
void for_each_link(const Tree& tree, const VecX<double>& q, Visit visit) {
  for (const Node& node : tree.nodes) {
    const int count = velocity_count(node.kind), simple = count < 3 ? count : count - 3;
    for (int k = 0; k < simple; ++k) visit(node.q + k, node.v + k, 1.0, 1.0);
    if (count < 3) continue;
    const double* const e = q.data() + node.q + simple;
    const double N[4][3] = {{-e[1], -e[2], -e[3]}, {e[0], -e[3], e[2]}, {e[3], e[0], -e[1]}, {-e[2], e[1], e[0]}};
    for (int i = 0; i < 4; ++i)
      for (int k = 0; k < 3; ++k) visit(node.q + simple + i, node.v + simple + k, 0.5 * N[i][k], 2.0 * N[i][k]);
  }
}

}  // namespace

RateJacobian::RateJacobian(const Model& model) : derivatives_(model) {}

Status RateJacobian::compute(EquationsOfMotion& equations, const Moment& at, Eigen::Ref<MatX<double>> J) {
  const Model& model = equations.model();
  const Tree& tree = model.tree;
  const int nq = tree.nq, nv = tree.nv, first_z = nq + nv + 1, nz = static_cast<int>(model.states.size());
  unpack(at, nq, nv, state_);
  if (Status status = equations.evaluate(state_, rates_); !status.ok()) return status;
  equations.complete();
  System& system = equations.system();
  system.update(state_);
  system.update_forces();
  if (Status status = derivatives_.compute(system, equations.solution()); !status.ok()) return status;

  const MotionGradient& gradient = derivatives_.gradient();
  const RowMatX& vdot = derivatives_.vdot();
  J.setZero();
  for (const Node& node : tree.nodes) {  // N(q) v = W(v) q / 2
    const int count = velocity_count(node.kind);
    if (count < 3) continue;
    const int first = node.q + count - 3;
    const double* const v = state_.v.data() + node.v + count - 3;
    const double W[4][4] = {{0, -v[0], -v[1], -v[2]}, {v[0], 0, v[2], -v[1]}, {v[1], -v[2], 0, v[0]}, {v[2], v[1], -v[0], 0}};
    for (int i = 0; i < 4; ++i)
      for (int k = 0; k < 4; ++k) J(first + i, first + k) = 0.5 * W[i][k];
  }
  for_each_link(tree, state_.q, [&](int q, int dof, double rate, double inverse) {
    J(q, nq + dof) += rate;
    J.block(nq, q, nv, 1) += inverse * vdot.col(dof);
    J.block(first_z, q, nz, 1) += inverse * gradient.states().col(dof);
  });
  J.block(nq, nq, nv, nv) = vdot.middleCols(nv, nv);
  J.block(nq, first_z, nv, nz) = vdot.middleCols(gradient.first_state(), nz);
  J.block(first_z, nq, nz, nv) = gradient.states().middleCols(nv, nv);
  J.block(first_z, first_z, nz, nz) = gradient.states().middleCols(gradient.first_state(), nz);
  return {};
}

bool RateJacobian::agrees(EquationsOfMotion& equations, const Moment& at, const Eigen::Ref<const MatX<double>>& J) {
  constexpr double kStep = 1e-6, kSame = 1e-3;
  const Tree& tree = equations.model().tree;
  const Eigen::Index size = at.y.size(), work = tree.nq + tree.nv;
  if (size != work + 1 + std::ssize(equations.model().states)) return false;
  // Some direction: all coordinates take part in it, none as another.
  VecX<double> turns(tree.nv);
  for (int i = 0; i < tree.nv; ++i) turns[i] = (i % 2 == 0 ? 1.0 : -1.0) * (1.0 + 0.37 * std::fmod(0.618034 * (i + 1), 1.0));
  along_.setZero(size);
  for_each_link(tree, at.y, [&](int q, int dof, double rate, double) {
    along_[q] += rate * turns[dof] * equations.model().units.velocity[dof];
  });
  const double speed = std::max(1.0, equations.model().speed(at.y.segment(tree.nq, tree.nv)));
  for (int i = 0; i < tree.nv; ++i) along_[tree.nq + i] = speed * turns[tree.nv - 1 - i] * equations.model().units.velocity[i];
  for (Eigen::Index i = work + 1; i < size; ++i) along_[i] = std::max(1.0, std::abs(at.y[i]));
  const auto rates_at = [&](double step, VecX<double>& rates) {
    moved_.t = at.t;
    moved_.y = at.y + step * along_;
    equations.normalize(moved_.y);
    return equations.evaluate(moved_, rates).ok();
  };
  if (!rates_at(kStep, there_) || !rates_at(-kStep, back_)) return false;
  there_ = (there_ - back_) / (2.0 * kStep);
  there_[work] = 0.0;
  const VecX<double> expected = J * along_;
  const double size_of_terms = (J.cwiseAbs() * along_.cwiseAbs()).cwiseAbs().maxCoeff();
  return (there_ - expected).cwiseAbs().maxCoeff() <= kSame * (expected.cwiseAbs().maxCoeff() + 1e-3 * size_of_terms);
}

}  // namespace linkwork
