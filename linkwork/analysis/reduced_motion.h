#pragma once

#include <memory>
#include <string>
#include <vector>

#include "linkwork/analysis/evaluator.h"
#include "linkwork/dynamics/acceleration_derivatives.h"

namespace linkwork {

/// A mechanism near a state, in coordinates that its constraints leave free: x = (xi, eta, z). xi are changes of independent
/// positions from that state, eta independent velocities, z the user's states. All other positions and velocities follow from
/// the constraints, so that every x is a state that meets them. Of joints that turn in space, xi is a rotation vector in the
/// axes of the child.
///
///   phi(q) = 0 with q_I = q0_I + xi by Newton's method;  A_D v_D = u - A_I eta;  xdot = (xidot, vdot_I, zdot)
class ReducedMotion {
 public:
  explicit ReducedMotion(std::shared_ptr<const Model> model, bool projects = false) : evaluator_(std::move(model), projects) {}

  /// Which rows make coordinates dependent on others: those in force, or those of them that never come and go. With these the
  /// number of free coordinates is the same whatever happens; the others then hold for rates only.
  enum class Rows { kInForce, kPermanent };
  /// Begins at a state that meets the constraints in force (null: as the model starts), which is made to meet them to rounding.
  /// Inputs are as the model has them; with permanent rows as they were set. Throws SimulationError if it is far from that.
  void begin(const State& state, const Modes* modes = nullptr, Rows rows = Rows::kInForce);

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
  /// With inputs as they were set in the evaluator's system.
  VecX<double> rates_as_set(const VecX<double>& x);
  /// x of a state that meets the constraints, and its rates there as an evaluator of the same model has them.
  VecX<double> coordinates_of(const State& state) const;
  VecX<double> rates_of(const Evaluator& evaluator) const;

  // To follow a motion: time, and where the search for positions begins, go with it.
  void set_time(double t) { base_.t = guess_.t = t; }
  void set_guess(const State& state) { guess_ = state; }
  /// Derivatives are those at x from here on. Only if no joint turns in space: x is counted from there then.
  void move_origin(const VecX<double>& x);
  /// How much the dependent velocities change with the independent ones, in units of the mechanism, at most.
  double dependence();
  /// Where x is counted from, in absolute coordinates; 0 where a joint turns in space.
  VecX<double> reference() const;
  /// Whether a position of x is a part of a turn in space.
  bool is_turn(int position) const;
  /// Which coordinates are independent, as velocities: of positions, then of velocities.
  const std::vector<int>& independent_positions() const { return positions_.independent; }
  const std::vector<int>& independent_velocities() const { return velocities_.independent; }
  struct Saved;
  Saved save() const;
  void restore(const Saved& saved, const Modes* modes);
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
  Rows rows_ = Rows::kInForce;
  State base_, guess_, state_;
  Split positions_, velocities_;
  VecX<double> origin_, inputs_;
  std::unique_ptr<AccelerationDerivatives> derivatives_;
  bool derivatives_known_ = false;
};

/// All that x means.
struct ReducedMotion::Saved {
  State base, guess;
  Split positions, velocities;
  VecX<double> origin, inputs;
};

}  // namespace linkwork
