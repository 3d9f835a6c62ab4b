#include "linkwork/dynamics/motion_residual.h"

#include <algorithm>
#include <cmath>

#include "linkwork/spatial/so3.h"
#include "linkwork/tree/kinematics.h"
#include "linkwork/tree/rnea.h"

namespace linkwork {

namespace {

/// Up to this many coordinates the matrices are taken for full, whatever depends on what.
constexpr int kFullUpTo = 40;

/// Exact derivatives take about as long as the differences of so many groups of coordinates, and fill matrices.
constexpr int kWorthFrom = 3, kDenseUpTo = 1000;

/// Dry friction follows loads that are found for a whole step.
bool is_differentiable(const Model& model) { return MotionGradient::is_exact(model) && model.frictions.empty(); }

/// Sensors may look at velocities too.
bool depends_on_velocity(const BoundExpression& expression) {
  using Kind = Variable::Kind;
  return std::ranges::any_of(expression.slots, [](const Variable& slot) {
    return slot.kind == Kind::kVelocity || slot.kind == Kind::kSensor || slot.kind == Kind::kSensorRate ||
           slot.kind == Kind::kSpanRate || slot.kind == Kind::kBlockOutput;
  });
}

bool has_velocity_forces(const Model& model) {
  return std::ranges::any_of(model.joints, [](const Joint& j) { return j.damping != 0.0 || j.friction != 0.0; }) ||
         !model.frictions.empty() || !model.custom_forces.empty() ||
         std::ranges::any_of(model.springs, [](const Spring& s) { return s.damping != 0.0 || depends_on_velocity(s.law); }) ||
         std::ranges::any_of(model.bushings, [](const Bushing& b) { return b.damping != std::array<double, 6>{}; }) ||
         std::ranges::any_of(model.joint_forces, [](const JointForce& f) { return depends_on_velocity(f.value); }) ||
         std::ranges::any_of(model.wrenches, [](const BodyWrench& w) {
           return std::ranges::any_of(w.force, depends_on_velocity) || std::ranges::any_of(w.torque, depends_on_velocity);
         });
}

/// Coordinates that carry a set of nodes.
class Reach {
 public:
  explicit Reach(const Model& model) : model_(model) {}
  void add_node(int node) {
    for (; node != 0; node = tree().nodes[static_cast<std::size_t>(node)].parent) {
      const Node& at = tree().nodes[static_cast<std::size_t>(node)];
      for (int k = 0; k < velocity_count(at.kind); ++k) dofs_.push_back(at.v + k);
    }
  }
  void add_coordinate(const Coordinate& coordinate) {
    const Joint& joint = model_.joints[coordinate.joint()];
    add_node(joint.parent.node);
    add_node(joint.child.node);
  }
  void add_slots(const BoundExpression& expression) {
    for (const Variable& slot : expression.slots) {
      if (slot.is_coordinate()) add_coordinate(slot.coordinate);
      if (slot.kind != Variable::Kind::kSensor && slot.kind != Variable::Kind::kSensorRate) continue;
      const Sensor& sensor = model_.sensors[static_cast<std::size_t>(slot.index)];
      add_node(sensor.frame.node), add_node(sensor.b.node);
      add_slots(sensor.value);
    }
  }
  /// Every pair of them.
  void add_pairs_to(std::vector<std::pair<int, int>>& places) {
    std::ranges::sort(dofs_);
    const auto repeated = std::unique(dofs_.begin(), dofs_.end());
    dofs_.erase(repeated, dofs_.end());
    for (int r : dofs_)
      for (int c : dofs_) places.emplace_back(r, c);
    dofs_.clear();
  }

 private:
  const Tree& tree() const { return model_.tree; }
  const Model& model_;
  std::vector<int> dofs_;
};

}  // namespace

MotionResidual::MotionResidual(const Model& model)
    : inertial_(model.tree),
      has_velocity_forces_(has_velocity_forces(model)),
      change_(VecX<double>::Zero(model.tree.nv)),
      step_(VecX<double>::Zero(model.tree.nv)) {
  make_patterns(model);
  has_forces_ = has_velocity_forces_ || model.row_count() > 0 || !model.springs.empty() || !model.joint_forces.empty() ||
                !model.wrenches.empty() || !model.bushings.empty() ||
                std::ranges::any_of(model.joints, [](const Joint& j) { return j.stiffness != 0.0; });
  if (has_forces_ && std::ssize(groups_) >= kWorthFrom && model.tree.nv <= kDenseUpTo && is_differentiable(model))
    gradient_ = std::make_unique<MotionGradient>(model);
}

std::vector<std::pair<int, int>> MotionResidual::force_pattern(const Model& model) const {
  std::vector<std::pair<int, int>> places;
  Reach reach(model);
  if (!model.custom_forces.empty() || !model.blocks.empty()) {  // which may look at and act on anything
    for (std::size_t node = 1; node < model.tree.nodes.size(); ++node) reach.add_node(static_cast<int>(node));
    reach.add_pairs_to(places);
    return places;
  }
  for (const FrameClosure& closure : model.frame_closures) {
    reach.add_node(closure.a.node), reach.add_node(closure.b.node);
    reach.add_pairs_to(places);
  }
  for (const CoordinateClosure& closure : model.coordinate_closures) {
    reach.add_slots(closure.phi);
    reach.add_pairs_to(places);
  }
  for (const Spring& spring : model.springs) {
    reach.add_node(spring.a.node), reach.add_node(spring.b.node);
    reach.add_slots(spring.law);
    reach.add_pairs_to(places);
  }
  for (const Bushing& bushing : model.bushings) {
    reach.add_node(bushing.a.node), reach.add_node(bushing.b.node);
    reach.add_pairs_to(places);
  }
  for (const JointForce& force : model.joint_forces) {
    reach.add_coordinate(force.coordinate);
    reach.add_slots(force.value);
    reach.add_pairs_to(places);
  }
  for (const BodyWrench& wrench : model.wrenches) {
    reach.add_node(wrench.at.node);
    for (std::size_t k = 0; k < 3; ++k) reach.add_slots(wrench.force[k]), reach.add_slots(wrench.torque[k]);
    reach.add_pairs_to(places);
  }
  for (std::size_t j = 0; j < model.joints.size(); ++j) {
    const Joint& joint = model.joints[j];
    if (joint.in_state() || (joint.stiffness == 0.0 && joint.damping == 0.0 && joint.friction == 0.0)) continue;
    reach.add_coordinate({JointIndex(j), 0});
    reach.add_pairs_to(places);
  }
  return places;
}

void MotionResidual::make_patterns(const Model& model) {
  const int n = model.tree.nv, m = model.row_count();
  std::vector<std::pair<int, int>> square, rows;
  if (n <= kFullUpTo) {
    for (int r = 0; r < n; ++r)
      for (int c = 0; c < n; ++c) square.emplace_back(r, c);
  } else {
    square = InverseDynamicsDerivatives::pattern(model.tree);
    const auto of_forces = force_pattern(model);
    square.insert(square.end(), of_forces.begin(), of_forces.end());
  }
  const ConstraintLayout& layout = *layout_of(model);
  for (std::size_t g = 0; g < layout.groups.size(); ++g)
    for (int c = 0; c < layout.groups[g].columns(); ++c)
      for (int dof : layout.groups[g].support()) rows.emplace_back(layout.first_rows[g] + c, dof);
  square_ = matrix_of_pattern(n, n, square);
  rows_ = matrix_of_pattern(m, n, rows);
  groups_ = independent_column_groups(square_);
}

void MotionResidual::add_multipliers(System& system, const VecX<double>& lambda) const {
  const ConstraintTerms& terms = system.terms();
  for (std::size_t g = 0; g < terms.groups.size(); ++g)
    terms.groups[g].add_to_forces(lambda.data() + terms.first_rows[g], system.work());
}

void MotionResidual::evaluate(System& system, const State& state, const VecX<double>& vdot, const VecX<double>& lambda,
                              VecX<double>& r) {
  system.update(state);
  system.update_forces();
  add_multipliers(system, lambda);
  inverse_dynamics(system.tree(), vdot.data(), system.work(), r);
  r -= system.work().tau;
}

void MotionResidual::evaluate_forces(System& system, const State& state, const VecX<double>& lambda, VecX<double>& force) {
  system.update(state);
  system.update_forces();
  add_multipliers(system, lambda);
  generalized_forces(system.tree(), system.work(), force);
  force += system.work().tau;
}

void MotionResidual::take_patterns(Linearization& at) const {
  if (at.K.nonZeros() != square_.nonZeros() || at.A.nonZeros() != rows_.nonZeros() || at.K.cols() != square_.cols()) {
    at.K = at.D = at.M = square_;
    at.A = at.G = rows_;
  }
  for (SparseMatrix* matrix : {&at.K, &at.D, &at.M, &at.A, &at.G}) set_zero(*matrix);
}

void MotionResidual::add_jacobian(System& system, SparseMatrix& A) {
  const ConstraintTerms& terms = system.terms();
  for (std::size_t g = 0; g < terms.groups.size(); ++g)
    terms.groups[g].add_rows_to(system.tree(), system.work(), terms.first_rows[g], A);
}

void MotionResidual::set_exact_part(System& system, const State& state, const VecX<double>& vdot, Linearization& at) {
  take_patterns(at);
  system.update(state);
  inertial_.compute(system.tree(), system.work(), state.v, vdot, at.K, at.D, at.M);
  add_jacobian(system, at.A);
}

static void take_entries(const auto& from, SparseMatrix& to) {
  for (int c = 0; c < static_cast<int>(to.cols()); ++c)
    for (SparseMatrix::InnerIterator entry(to, c); entry; ++entry) entry.valueRef() = from(entry.row(), c);
}

void MotionResidual::differentiate(System& system, const State& state, const VecX<double>& vdot, const VecX<double>& lambda,
                                   Linearization& at) {
  take_patterns(at);
  system.update(state);
  system.update_forces();
  gradient_->compute(system, vdot, lambda);
  const int nv = gradient_->first_velocity();
  take_entries(gradient_->force().leftCols(nv), at.K);
  take_entries(gradient_->force().middleCols(nv, nv), at.D);
  take_entries(gradient_->mass(), at.M);
  take_entries(gradient_->rate().leftCols(nv), at.G);
  add_jacobian(system, at.A);
}

void MotionResidual::difference(System& system, const State& state, const VecX<double>& lambda, const std::vector<int>& group,
                                bool by_velocity, Linearization& at) {
  constexpr double kStep = 3e-6;  // near the cube root of rounding: both errors of a central difference are small
  change_.setZero();
  for (int j : group) change_[j] = by_velocity ? kStep * std::max(0.3, std::abs(state.v[j])) : kStep;
  const auto probe = [&](double sign, VecX<double>& force) {
    probe_.t = state.t;
    probe_.q = state.q;
    probe_.v = state.v;
    step_ = sign * change_;
    if (by_velocity)
      probe_.v += step_;
    else
      displace(system.tree(), probe_.q.data(), step_.data());
    evaluate_forces(system, probe_, lambda, force);
  };
  probe(-1.0, force_there_);
  rate_there_ = system.terms().rate;
  probe(1.0, force_);
  SparseMatrix& out = by_velocity ? at.D : at.K;
  for (int j : group) {
    const double scale = 0.5 / change_[j];
    for (SparseMatrix::InnerIterator entry(out, j); entry; ++entry)
      entry.valueRef() -= scale * (force_[entry.row()] - force_there_[entry.row()]);
    if (by_velocity) continue;
    for (SparseMatrix::InnerIterator entry(at.G, j); entry; ++entry)
      entry.valueRef() = scale * (system.terms().rate[entry.row()] - rate_there_[entry.row()]);
  }
}

int MotionResidual::linearize(System& system, const State& state, const VecX<double>& vdot, const VecX<double>& lambda,
                              Linearization& at) {
  if (gradient_) {
    differentiate(system, state, vdot, lambda, at);
    return 1;
  }
  set_exact_part(system, state, vdot, at);
  if (!has_forces_) return 1;
  int evaluations = 1;
  for (const std::vector<int>& group : groups_) {
    difference(system, state, lambda, group, false, at);
    if (has_velocity_forces_) difference(system, state, lambda, group, true, at);
    evaluations += has_velocity_forces_ ? 4 : 2;
  }
  return evaluations;
}

void times_displacement_tangent(const Tree& tree, const VecX<double>& displacement, SparseMatrix& matrix) {
  for (const Node& node : tree.nodes) {
    if (velocity_count(node.kind) < 3) continue;
    const int first = node.v + (node.kind == NodeKind::kFree ? 3 : 0);
    const Mat3<double> T = so3_log_rate(-displacement.segment<3>(first)).inverse();
    SparseMatrix::InnerIterator x(matrix, first), y(matrix, first + 1), z(matrix, first + 2);
    for (; x; ++x, ++y, ++z) {
      const Eigen::RowVector3d turned = Eigen::RowVector3d(x.value(), y.value(), z.value()) * T;
      x.valueRef() = turned.x(), y.valueRef() = turned.y(), z.valueRef() = turned.z();
    }
  }
}

}  // namespace linkwork
