#pragma once

#include <memory>
#include <string>
#include <vector>

#include "linkwork/analysis/acceleration_derivatives.h"
#include "linkwork/analysis/evaluator.h"

namespace linkwork {

/// A mechanism near a state, in coordinates that its constraints leave free: x = (xi, eta, z). xi are changes of independent
/// positions from that state, eta independent velocities, z the user's states. All other positions and velocities follow from
/// the constraints, so that every x is a state that meets them. Of joints that turn in space, xi is a rotation vector in the
/// axes of the child.
///
///   phi(q) = 0 with q_I = q0_I + xi by Newton's method;  A_D v_D = u - A_I eta;  xdot = (xidot, vdot_I, zdot)
class ReducedMotion {
 public:
  explicit ReducedMotion(std::shared_ptr<const Model> model) : evaluator_(std::move(model)) {}

  /// Begins at a state that meets the constraints in force (null: as the model starts), which is made to meet them to rounding.
  /// Throws SimulationError if it is far from that.
  void begin(const State& state, const Modes* modes = nullptr);

  int position_count() const { return static_cast<int>(positions_.independent.size()); }
  int velocity_count() const { return static_cast<int>(velocities_.independent.size()); }
  int state_count() const { return static_cast<int>(model().states.size()); }
  int size() const { return position_count() + velocity_count() + state_count(); }
  int input_count() const { return static_cast<int>(evaluator_.settable().size()); }
  /// "q.theta", "v.theta", "z.filter".
  std::vector<std::string> names() const;
  /// Where it begins; and what a small change of each of its numbers is.
  const VecX<double>& origin() const { return origin_; }
  VecX<double> steps() const;
  const VecX<double>& inputs() const { return inputs_; }

  /// The whole state. Throws SimulationError if there is none.
  const State& state_at(const VecX<double>& x);
  /// Everything evaluated at it: xdot.
  VecX<double> rates(const VecX<double>& x, const VecX<double>& inputs);
  VecX<double> rates(const VecX<double>& x) { return rates(x, inputs_); }
  /// What the forces of the model do along the free velocities, at rest: zero at an equilibrium. After rates().
  VecX<double> free_forces();
  /// How all velocities follow from the independent ones.
  MatX<double> free_directions();

  /// Where it begins: exact derivatives of everything by q, v, inputs and the user's states; columns as MotionGradient has them.
  /// Only if MotionGradient::is_exact().
  AccelerationDerivatives& derivatives();
  /// How q, v, inputs and the user's states, the columns of the derivatives, follow from x there.
  MatX<double> tangent();
  /// d(xdot)/d(such columns), there.
  MatX<double> rate_derivatives();

  Evaluator& evaluator() { return evaluator_; }
  const Model& model() const { return evaluator_.model(); }

 private:
  struct Split {
    std::vector<int> rows;  // independent ones
    std::vector<int> dependent, independent;
  };
  Split split(bool positions);
  VecX<double> displacement(const State& state) const;

  Evaluator evaluator_;
  State base_, state_;
  Split positions_, velocities_;
  VecX<double> origin_, inputs_;
  std::unique_ptr<AccelerationDerivatives> derivatives_;
  bool derivatives_known_ = false;
};

}  // namespace linkwork
