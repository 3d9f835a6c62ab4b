#pragma once

#include <array>
#include <span>
#include <vector>

#include "linkwork/dynamics/constraint_terms.h"
#include "linkwork/dynamics/custom_forces.h"
#include "linkwork/dynamics/modes.h"
#include "linkwork/dynamics/state.h"
#include "linkwork/model/forces/force_kind.h"
#include "linkwork/model/jet.h"
#include "linkwork/model/model.h"
#include "linkwork/tree/kinematics.h"

namespace linkwork {

/// What a joint's own stiffness, damping and friction do along one of its coordinates.
struct JointLaw {
  double elastic = 0.0, lossy = 0.0;
};

/// The model evaluated at a state: kinematics, applied forces, constraint terms. Formulations ask it for what they need;
/// dense matrices are computed only when asked for. One per thread.
class System final : public Observation, public AppliedForces {
 public:
  explicit System(const Model& model);

  const Model& model() const { return *model_; }
  const Tree& tree() const { return model_->tree; }

  /// What is in force. Rows that are not have zeros throughout: no phi, rate or b, and no force.
  const Modes& modes() const { return modes_; }
  void set_modes(const Modes& modes);
  bool is_active(int row) const { return modes_.rows[static_cast<std::size_t>(row)] != 0; }
  int active_rows() const { return terms_.rows() - static_cast<int>(inactive_.size()); }
  std::span<const int> inactive_rows() const { return inactive_; }
  /// phi and A v - u of all rows, of those that are not in force too.
  double error(int row) const { return error_[row]; }
  double error_rate(int row) const { return error_rate_[row]; }

  /// Kinematics and constraint terms (phi, rate, b and the columns of A).
  void update(const State& state);
  /// The same in two parts, for those who set velocities in between: poses, phi, u and the columns of A; then the rest.
  void update_positions(const State& state);
  void update_motion(const State& state);
  /// Applied forces: tau and applied wrenches. After update().
  void update_forces();

  const State& state() const { return *state_; }
  /// The evaluated state now lives here (it was swapped or copied).
  void rebind(const State& state) { state_ = &state; }
  TreeWork<double>& work() { return work_; }
  const TreeWork<double>& work() const { return work_; }
  /// Of a node in the world; computed for all of them when first asked for.
  const Pose<double>& X_WN(int node) const {
    update_poses(tree(), work_);
    return work_.X_WN[static_cast<std::size_t>(node)];
  }
  ConstraintTerms& terms() { return terms_; }
  const ConstraintTerms& terms() const { return terms_; }

  /// Dense quantities, on demand.
  const MatX<double>& mass_matrix();
  const VecX<double>& bias();  // c, with applied wrenches taken in; the applied generalized force is work().tau
  const MatX<double>& jacobian();
  const MatX<double>& jacobian_bounds();

  double kinetic_energy() const;
  double potential_energy() const;
  /// Power of the applied forces that have no potential. After update_forces().
  double applied_power() const { return power_; }

  // Of single elements of forces, after update_forces().
  double joint_force(std::size_t element) const override {
    return is_in_force(model_->joint_forces[element].of) ? joint_forces_[element].value : 0.0;
  }
  double spring_pull(std::size_t element) const override {
    return is_in_force(model_->springs[element].of) ? springs_[element].value : 0.0;
  }
  Wrench<double> wrench(std::size_t element) const override;
  Wrench<double> bushing(std::size_t element) const override;
  /// Work that a force does on the mechanism in unit time, with or without a potential.
  double power_of(std::size_t force) const;
  /// The same of a joint's own stiffness, damping and friction on one of its coordinates.
  static JointLaw joint_law(const Joint& joint, double q, double rate);

  /// A joint's coordinates, wherever they come from. vdot empty: the acceleration at vdot = 0.
  void joint_motion(const Joint& joint, std::span<const double> vdot, std::span<double> q, std::span<double> v,
                    std::span<double> a) const;
  /// An input keeps the value that it is set to until it is set again or released. Those with recorded data cannot be set.
  void set_input(int input, double value) { inputs_[static_cast<std::size_t>(input)] = value; }
  void release_input(int input) { inputs_[static_cast<std::size_t>(input)].reset(); }
  /// With its first derivatives in time: of an input that was set they are zero.
  Jet input(int input) const;
  double user_state(int state) const {
    return state < state_->z.size() ? state_->z[state] : model_->states[static_cast<std::size_t>(state)].start;
  }
  /// Rates of the user's states, Model::states, at the state last given to update(); as many numbers as there are.
  void state_rates(std::span<double> rates) const;

  double value(const Variable& variable) const { return slot_value(variable, nullptr); }
  /// lambda: for expressions that use multipliers.
  double evaluate(const BoundExpression& expression, const VecX<double>* lambda = nullptr) const;
  /// Its value and first derivative in time along the motion with accelerations vdot. The derivative is NaN where the expression
  /// asks for more: multipliers, rates of rows, accelerations of points or of cut joints.
  Jet evaluate_along(const BoundExpression& expression, const VecX<double>& vdot, const VecX<double>* lambda) const;

  /// Functions in expressions that jump (Model::switch_count, Expression::evaluate) stay on these branches while they are held.
  std::vector<double>& branches() { return branches_; }
  void hold_branches(bool hold) { held_ = hold ? branches_.data() : nullptr; }
  bool holds_branches() const { return held_ != nullptr; }
  /// Where the functions of an expression stand that switch. Derivatives as with evaluate_along().
  void read_switches(const BoundExpression& expression, const VecX<double>& vdot, std::span<SwitchReading> at) const;
  /// Names the first thing at the state just evaluated that is not a finite number, with its expression; empty: there is none.
  std::string describe_not_finite();
  Pose<double> pose(const NodeFrame& frame) const override { return X_WN(frame.node) * frame.X_NF; }
  /// Node b in node a's frame.
  Pose<double> between(int a, int b) const {
    const Pose<double>& X_WB = X_WN(b);
    if (a == 0) return X_WB;
    const Pose<double>& X_WA = X_WN(a);
    return {X_WA.R.transpose() * X_WB.R, X_WA.R.transpose() * (X_WB.p - X_WA.p)};
  }
  /// Velocity of a frame's origin, world axes.
  Vec3<double> velocity(const NodeFrame& frame) const override;
  Vec3<double> angular_velocity(const NodeFrame& frame) const override;
  /// After update_accelerations().
  Vec3<double> specific_force(const NodeFrame& frame) const override;
  double value(const BoundExpression& expression) const override { return evaluate(expression); }

  /// Sliding friction, by position in Model::frictions: the load it was last computed with, and the force on its rows.
  double load(std::size_t friction) const { return loads_[friction]; }
  void set_load(std::size_t friction, double load) { loads_[friction] = load; }
  Eigen::Vector2d friction_force(std::size_t friction) const { return friction_force_[friction]; }
  /// How fast it slides, by row.
  Eigen::Vector2d slip(std::size_t friction) const;
  /// Adds a generalized force, and nothing to the power.
  void add_coordinate_force(const Coordinate& coordinate, double force);

  /// The state just evaluated is where the motion has come to: turns of angles are counted from here. A little motion need not be
  /// counted at once, unless rates jump here.
  void accept_turns(bool rates_jump = false);

  /// What evaluations take over from earlier ones, beside the state and the modes: turns that angles have made, loads of
  /// friction to start from, branches. A run that is to go on with the same bits needs it.
  std::vector<double> memory() const;
  void set_memory(const std::vector<double>& memory);

  /// With accelerations at vdot = 0, or, after aba_forward(), the true ones.
  RelativeMotion relative_motion(const NodeFrame& a, const NodeFrame& b, bool with_vdot = false) const;

 private:
  struct CoordinateMotion {
    double value, rate, second_rate;
  };
  CoordinateMotion coordinate_motion(const Coordinate& coordinate) const;
  void update_closures(bool with_motion);
  void set_position_terms(std::size_t closure, std::span<const Row> rows);
  void set_motion_terms(std::size_t closure, const RelativeMotion& m, std::span<const Row> rows);
  /// Position terms, or those of velocity, of closures that are evaluated in a simpler way; false: of none such.
  bool set_simple_positions(std::size_t closure);
  bool set_simple_motion(std::size_t closure);
  void set_point_positions(std::size_t closure);
  void set_point_motion(std::size_t closure);
  void set_planar_positions(std::size_t closure);
  void set_planar_motion(std::size_t closure);
  void evaluate_coordinate_closure(const CoordinateClosure& closure, ForceColumns& columns);
  void deactivate_rows();
  void add_relative_force(const NodeFrame& a, const NodeFrame& b, const Row& row, double force);
  void apply_joint_laws();
  void apply_joint_forces();
  void apply_springs();
  void apply_wrenches();
  void apply_bushings();
  void apply_friction();
  void apply_custom_forces() {
    if (custom_forces_) power_ += custom_forces_->apply(*this);
  }

  const Model* model_;
  const State* state_ = nullptr;
  mutable TreeWork<double> work_;  // poses are filled in on demand
  ConstraintTerms terms_;
  std::vector<Pose<double>> X_AB_;              // by closure between frames, but kPlanar: of its nodes
  std::vector<PlanePose<double>> in_plane_AB_;  // kPlanar: heading of b in a, and b's origin
  Modes modes_;
  std::vector<int> inactive_;          // rows
  std::vector<int> group_of_;          // by row
  VecX<double> error_, error_rate_;    // of all rows
  std::vector<ForceColumns> sliding_;  // by friction: columns of its group while it slides
  std::vector<double> loads_;          // by friction
  std::vector<Eigen::Vector2d> friction_force_;
  std::vector<JointIndex> joints_with_laws_;  // stiffness, damping or friction
  /// Of a wrench on a body: what never changes, and the components that do, torque first.
  struct WrenchParts {
    Wrench<double> constant;
    std::vector<std::pair<int, const BoundExpression*>> varying;
  };
  std::vector<WrenchParts> wrench_parts_;  // by wrench
  /// What elements did when forces were last updated; of those not in force, nothing that counts.
  struct Done {
    double value = 0.0, power = 0.0;
  };
  std::vector<Done> joint_forces_, springs_;
  std::vector<std::pair<Wrench<double>, double>> wrenches_;  // on the node, in its axes; power
  std::vector<std::pair<Wrench<double>, double>> bushings_;  // on b at its origin, in the axes of a; power
  double power_ = 0.0;
  std::optional<CustomForces> custom_forces_;  // if there are any
  MatX<double> M_, A_, bounds_;
  VecX<double> c_;
  /// Angles read off relative motions are known up to full turns: the one nearest to where the motion since the last accepted
  /// state has taken it is meant, theta0 + (t - t0) (thetadot0 + thetadot) / 2. However often it is read makes no difference.
  double unwrapped(const Joint& joint, std::size_t component, double angle, double rate) const;
  const double* held_by(const BoundExpression& law) const {
    return held_ != nullptr && law.first_switch >= 0 ? held_ + law.first_switch : nullptr;
  }
  std::span<const Jet> slots_along(const BoundExpression& expression, const VecX<double>& vdot, const VecX<double>* lambda) const;
  double slot_value(const Variable& slot, const VecX<double>* lambda) const;
  double sensor_value(const Variable& slot, bool rate) const;
  bool is_in_force(int force) const { return modes_.forces[static_cast<std::size_t>(force)] != 0; }

  struct Turns {
    bool counted = false;             // whether a state was accepted yet
    double time = 0.0;                // of the last accepted state
    double since = 0.0;               // turned since then, at most
    double seen = 0.0;                // when a state was last offered
    std::vector<double> angle, rate;  // there, by joint and component; see first_angle_
  };
  Turns turns_;
  std::vector<std::size_t> first_angle_;  // by joint
  std::vector<JointIndex> turning_;       // joints whose angles are read off relative motions
  std::vector<double> branches_;
  const double* held_ = nullptr;               // branches_, or none
  std::vector<std::optional<double>> inputs_;  // those that were set
  /// Values of the expressions being evaluated: a sensor's within that of an expression which uses it.
  mutable std::vector<double> slots_;
  mutable std::size_t slots_used_ = 0;
  mutable std::vector<Jet> jets_, input_jets_;
  std::vector<std::pair<double, double>> spans_;  // by spring with a law: distance of its ends, and its rate
};

/// How b's point r_b moves, seen from and in the axes of a's node. X_AB is as System::between().
struct PointMotion {
  Vec3<double> p, pdot, pddot;
};
template <class NodeMotion>
PointMotion point_motion(const NodeMotion& a, const NodeMotion& b, const Pose<double>& X_AB, const Vec3<double>& r_b) {
  const Vec3<double> turning_b = b.w.cross(r_b), p = X_AB * r_b, turning_a = a.w.cross(p);
  const Vec3<double> pdot = X_AB.R * (b.v + turning_b) - a.v - turning_a;
  const Vec3<double> acceleration_b = b.ap + b.aw.cross(r_b) + b.w.cross(turning_b);
  return {p, pdot, X_AB.R * acceleration_b - a.ap - a.aw.cross(p) - a.w.cross(turning_a + 2.0 * pdot)};
}

/// The wrenches of a row on the nodes of its two frames, each in its node's frame. X_AB is as System::between().
std::pair<Wrench<double>, Wrench<double>> row_wrenches(const NodeFrame& a, const NodeFrame& b, const Pose<double>& X_AB,
                                                       const Row& row);

}  // namespace linkwork
