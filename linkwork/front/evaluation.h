#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "linkwork/dynamics/state.h"
#include "linkwork/model/custom_force.h"
#include "linkwork/simulation/simulation_error.h"

namespace linkwork {

class Evaluator;
class EvaluatorPool;

/// A mechanism at one state: M vdot + bias = applied + A' lambda, and A vdot = b. Vectors and matrices are in the order of
/// Mechanism::velocities(), rows of constraints in that of rows(). Computed when asked for. One thread at a time.
class Evaluation {
 public:
  Evaluation(Evaluation&&) noexcept;
  Evaluation& operator=(Evaluation&&) noexcept;
  ~Evaluation();

  const State& state() const;
  const VecX<double>& vdot() const;
  double vdot(std::string_view coordinate) const;
  /// Multipliers of the constraints: forces and torques of closures along their rows.
  const VecX<double>& lambda() const;
  double lambda(std::string_view row) const;
  std::vector<std::string> rows() const;

  /// What a joint transmits from its parent to its child, or a closure from a to b, at the child's or b's frame, world axes.
  /// Forces along the joint's own motion are not part of it.
  Load reaction(std::string_view joint_or_closure);
  /// Rows 0 to 2: velocity of a point of the body, given in the body's frame; 3 to 5: its angular velocity; world axes.
  MatX<double> jacobian(std::string_view body, const Eigen::Vector3d& at = Eigen::Vector3d::Zero());
  const MatX<double>& mass_matrix();
  /// Coriolis, centrifugal and gravity forces.
  VecX<double> bias();
  /// All forces of the model along the coordinates: springs, dampers, friction, motors, custom forces.
  VecX<double> applied();
  /// See Mechanism::inverse_dynamics.
  VecX<double> inverse_dynamics(const VecX<double>& vdot, const std::vector<std::string>& actuators = {});
  const MatX<double>& constraint_jacobian();
  const VecX<double>& constraint_bias() const;

  double kinetic_energy() const;
  double potential_energy() const;
  /// Of the forces that have no potential.
  double power() const;
  /// Where things are and how they move.
  const Kinematics& kinematics() const;

  // For the library itself.
  Evaluation(std::unique_ptr<Evaluator> evaluator, std::shared_ptr<EvaluatorPool> pool);
  Evaluator& evaluator() { return *evaluator_; }

 private:
  std::unique_ptr<Evaluator> evaluator_;
  std::shared_ptr<EvaluatorPool> pool_;  // that it goes back to
};

}  // namespace linkwork
