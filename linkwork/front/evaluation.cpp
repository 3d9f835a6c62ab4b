#include "linkwork/front/evaluation.h"

#include <algorithm>

#include "linkwork/analysis/evaluator.h"
#include "linkwork/analysis/inverse_dynamics.h"
#include "linkwork/tree/rnea.h"

namespace linkwork {

Evaluation::Evaluation(std::unique_ptr<Evaluator> evaluator, std::shared_ptr<EvaluatorPool> pool)
    : evaluator_(std::move(evaluator)), pool_(std::move(pool)) {}
Evaluation::Evaluation(Evaluation&&) noexcept = default;
Evaluation& Evaluation::operator=(Evaluation&&) noexcept = default;
Evaluation::~Evaluation() {
  if (evaluator_) pool_->give_back(std::move(evaluator_));
}

const State& Evaluation::state() const { return evaluator_->state(); }
const VecX<double>& Evaluation::vdot() const { return evaluator_->solution().vdot; }
const VecX<double>& Evaluation::lambda() const { return evaluator_->solution().lambda; }

double Evaluation::vdot(std::string_view coordinate) const {
  const Coordinate& at = evaluator_->names().velocities.at(coordinate);
  const Joint& joint = evaluator_->model().joints[at.joint()];
  std::array<double, 7> q{};
  std::array<double, 6> v{}, a{};
  const VecX<double>& all = vdot();
  update_accelerations(evaluator_->model().tree, all.data(), evaluator_->system().work());
  evaluator_->system().joint_motion(joint, {all.data(), static_cast<std::size_t>(all.size())}, q, v, a);
  return a[static_cast<std::size_t>(at.component)];
}

double Evaluation::lambda(std::string_view row) const {
  const std::vector<std::string> names = rows();
  const auto found = std::ranges::find(names, row);
  if (found == names.end()) throw unknown_name({}, "row", row, names);
  return lambda()[found - names.begin()];
}

std::vector<std::string> Evaluation::rows() const {
  std::vector<std::string> names;
  for (const ConstraintRow& row : evaluator_->model().rows) names.push_back(row.name);
  return names;
}

Load Evaluation::reaction(std::string_view name) {
  const ModelNames& names = evaluator_->names();
  const JointReactions& reactions = evaluator_->reactions();
  const auto load = [](const JointReactions::Reaction& reaction) { return Load{reaction.force, reaction.torque}; };
  if (names.joints.has(name)) return load(reactions.joints()[names.joints.at(name)]);
  if (names.closures.has(name)) return load(reactions.closures()[names.closures.at(name)]);
  std::vector<std::string> known = names.joints.names();
  known.insert(known.end(), names.closures.names().begin(), names.closures.names().end());
  throw unknown_name({}, "joint or closure between bodies", name, known);
}

/// J' F is the generalized force of a wrench F: a row of J for each unit wrench.
MatX<double> Evaluation::jacobian(std::string_view name, const Eigen::Vector3d& at) {
  const Body& body = *evaluator_->names().bodies.at(name);
  const Tree& tree = evaluator_->model().tree;
  MatX<double> J = MatX<double>::Zero(6, tree.nv);
  if (body.node == 0) return J;
  System& system = evaluator_->system();
  const Mat3<double> R_NW = system.X_WN(body.node).R.transpose();
  const Vec3<double> r = body.X_NB * at;
  VecX<double> tau(tree.nv);
  for (int row = 0; row < 6; ++row) {
    const Vec3<double> axis = R_NW.col(row % 3);
    system.work().clear_forces();
    system.work().apply(body.node, row < 3 ? Wrench<double>{r.cross(axis), axis} : Wrench<double>{axis, Vec3<double>::Zero()});
    generalized_forces(tree, system.work(), tau);
    J.row(row) = tau.transpose();
  }
  evaluator_->refresh();
  return J;
}

const MatX<double>& Evaluation::mass_matrix() { return evaluator_->system().mass_matrix(); }

VecX<double> Evaluation::bias() {
  System& system = evaluator_->system();
  system.work().clear_forces();
  VecX<double> c = system.bias();
  evaluator_->refresh();
  return c;
}

VecX<double> Evaluation::applied() {
  const VecX<double> without = bias();
  System& system = evaluator_->system();
  return system.work().tau + without - system.bias();
}

VecX<double> Evaluation::inverse_dynamics(const VecX<double>& vdot, const std::vector<std::string>& actuators) {
  return efforts_for(*evaluator_, vdot, actuators);
}

const MatX<double>& Evaluation::constraint_jacobian() { return evaluator_->system().jacobian(); }
const VecX<double>& Evaluation::constraint_bias() const { return evaluator_->system().terms().b; }

double Evaluation::kinetic_energy() const { return evaluator_->system().kinetic_energy(); }
double Evaluation::potential_energy() const { return evaluator_->system().potential_energy(); }
double Evaluation::power() const { return evaluator_->system().applied_power(); }
const Kinematics& Evaluation::kinematics() const { return evaluator_->kinematics(); }

}  // namespace linkwork
