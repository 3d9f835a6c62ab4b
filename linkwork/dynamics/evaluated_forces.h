#pragma once

#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "linkwork/dynamics/custom_forces.h"
#include "linkwork/dynamics/evaluated_constraints.h"
#include "linkwork/model/forces/force_kind.h"
#include "linkwork/model/forces/friction.h"
#include "linkwork/tree/energy.h"

namespace linkwork {

/// What a joint's own stiffness, damping and friction do along one of its coordinates.
struct JointLaw {
  double elastic = 0.0, lossy = 0.0;
};

/// What acts on the model at a state beside its constraints. The fourth layer of System.
class EvaluatedForces : public EvaluatedConstraints, public AppliedForces {
 public:
  /// Applied forces: tau and applied wrenches. After update().
  void update_forces();
  /// Power of the applied forces that have no potential. After update_forces(), as all that follows.
  double applied_power() const { return power_; }
  double potential_energy() const;

  // Of single elements of forces.
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
  /// The same of custom forces, by position in Model::custom_forces.
  std::span<const double> custom_powers() const { return custom_forces_ ? custom_forces_->powers() : std::span<const double>(); }
  /// Those of their columns: CustomForces::shown().
  std::span<const double> custom_loads() const { return custom_forces_ ? custom_forces_->shown() : std::span<const double>(); }
  /// The same of a joint's own stiffness, damping and friction on one of its coordinates.
  static JointLaw joint_law(const Joint& joint, double q, double rate) {
    JointLaw law{0.0, -joint.damping * rate};
    if (joint.friction != 0.0) law.lossy += coulomb_force(joint.friction, rate);
    if (joint.stiffness != 0.0) law.elastic = -joint.stiffness * (q - joint.rest);
    return law;
  }

  /// Where bodies are welded together as one node, by body: what acts on each, about the node's origin in its axes. Empty if
  /// there are none such.
  std::span<const Wrench<double>> on_bodies() const { return on_bodies_; }

  /// Sliding friction, by position in Model::frictions: the load it was last computed with, and the force on its rows.
  double load(std::size_t friction) const { return loads_[friction]; }
  void set_load(std::size_t friction, double load) { loads_[friction] = load; }
  Eigen::Vector2d friction_force(std::size_t friction) const { return friction_force_[friction]; }

  /// For forces that are computed elsewhere: add to what acts, and nothing to the power. F is about the node's origin, in its
  /// axes.
  void add_wrench(int node, int body, const Wrench<double>& F) {
    if (node != 0) work_.apply(node, F);
    if (!on_bodies_.empty()) on_bodies_[static_cast<std::size_t>(body)] += F;
  }
  void add_coordinate_force(const Coordinate& coordinate, double force);

 protected:
  explicit EvaluatedForces(const Model& model);

  std::vector<double> loads_;                  // by friction
  std::optional<CustomForces> custom_forces_;  // if there are any

 private:
  mutable std::vector<FirstMoment<double>> moments_;  // scratch
  void add_wrench(const NodeFrame& at, const Wrench<double>& F) { add_wrench(at.node, at.body, F); }
  void add_relative_force(const NodeFrame& a, const NodeFrame& b, const Row& row, double force);
  void apply_joint_laws();
  void apply_joint_forces();
  void apply_springs();
  void apply_wrenches();
  void apply_bushings();
  void apply_friction();
  void add_to_bodies(const ForceColumns& columns, std::span<const int> bodies, std::span<const double> lambda);

  std::vector<Wrench<double>> on_bodies_;
  std::vector<Eigen::Vector2d> friction_force_;
  /// Stiffness, damping or friction along a coordinate of the state. `q` is of no account without stiffness.
  struct CoordinateLaw {
    int q, v;
    const Joint* joint;
  };
  std::vector<CoordinateLaw> coordinate_laws_;
  std::vector<JointIndex> cut_joints_with_laws_;
  /// Of a wrench on a body: what never changes, and the components that do, torque first.
  struct WrenchParts {
    Wrench<double> constant;
    std::vector<std::pair<int, const BoundExpression*>> varying;
  };
  std::vector<WrenchParts> wrench_parts_;                // by wrench
  std::vector<std::optional<double>> constant_efforts_;  // by joint force
  /// What elements did when forces were last updated; of those not in force, nothing that counts.
  struct Done {
    double value = 0.0, power = 0.0;
  };
  std::vector<Done> joint_forces_, springs_;
  std::vector<std::pair<Wrench<double>, double>> wrenches_;  // on the node, in its axes; power
  std::vector<std::pair<Wrench<double>, double>> bushings_;  // on b at its origin, in the axes of a; power
  double power_ = 0.0;
};

}  // namespace linkwork
