#pragma once

#include <map>
#include <memory>
#include <memory_resource>
#include <utility>
#include <vector>

#include "linkwork/dynamics/formulation.h"
#include "linkwork/dynamics/relative_gradient.h"
#include "linkwork/model/jet_tangent.h"

namespace linkwork {

/// Exact first derivatives of the equations of motion at a state, with accelerations and multipliers held:
///   force = d(M vdot + c - tau - A' lambda),  acceleration = d(A vdot - b),  rate = d(A v - u),  states = d zdot.
/// Columns are displacements of the joints as displace() makes them, velocities, inputs, and the user's states. No differences
/// are taken: inertial terms by the recursion of rnea_derivatives.h, rows of closures by numbers with derivatives, expressions by
/// jets.
class MotionGradient {
 public:
  explicit MotionGradient(const Model& model);

  /// Whether a model is made of nothing but what can be differentiated: no forces or sensors of a program's own, and no sensor
  /// that shows accelerations.
  static bool is_exact(const Model& model);

  /// The system was evaluated there, forces included; all multipliers are known.
  void compute(System& system, const VecX<double>& vdot, const VecX<double>& lambda);

  int columns() const { return first_state() + static_cast<int>(model_->states.size()); }
  int first_velocity() const { return model_->tree.nv; }
  int first_input() const { return 2 * model_->tree.nv; }
  int first_state() const { return first_input() + static_cast<int>(model_->inputs.size()); }

  const RowMatX& force() const { return force_; }
  const RowMatX& acceleration() const { return acceleration_; }  // zero for rows that are not in force
  const RowMatX& rate() const { return rate_; }                  // of all rows; by velocities it is A
  const RowMatX& states() const { return states_; }
  const RowMatX& mass() const { return M_; }
  /// Of a number that expressions can use: a coordinate, a velocity, a component of a sensor. Only after compute().
  Eigen::RowVectorXd of(const Variable& variable);

  /// Friction that slides: how its force on its rows changes at a constant load; and if that is a normal force, whose multiplier
  /// it is and what grows with it.
  struct Sliding {
    int first_row = 0;
    RowMatX change;           // of the force on its rows
    int normal_row = -1;      // -1: the load is known
    double sign = 1.0;        // load = sign * lambda
    Eigen::Vector2d by_load;  // of the force on its rows
    VecX<double> effect;      // of the load on `force`
  };
  const std::vector<Sliding>& sliding() const { return sliding_; }

 private:
  using Entries = std::pmr::vector<std::pair<int, double>>;  // column, derivative
  struct CutJoint {
    RelativeGradient relative;
    RelativeGradient::DualRows rows;
  };
  struct Span {  // of the spring whose law is being differentiated
    const RelativeGradient* relative;
    RelativeGradient::Change length, rate;
  };

  void add_closure(const FrameClosure& closure);
  void add_coordinate_closure(const CoordinateClosure& closure);
  void add_joint_laws();
  void add_joint_forces();
  void add_springs();
  void add_wrench(const BodyWrench& wrench);
  void add_bushing(const Bushing& bushing);
  void add_friction(std::size_t index);
  void add_states();

  const CutJoint& cut(const Joint& joint);
  void add(const RelativeGradient& relative, const RelativeGradient::Change& gradient, Entries& to) const;
  /// Factors of the coordinate's value, rate and second rate.
  void add(const Coordinate& coordinate, double of_value, double of_rate, double of_second_rate, Entries& to);
  void add(const Variable& slot, double factor, Entries& to);
  void add(const BoundExpression& expression, double factor, Entries& to);
  void add_sensor(const Sensor& sensor, int component, bool rate, double factor, Entries& to);
  /// Subtracts a force along a coordinate, of which the size is `value` and changes as given.
  void subtract(const Coordinate& coordinate, double value, const Entries& change);
  void subtract(int v, double along, const Entries& change);
  template <class Visit>
  void for_each_carrier(int node, Visit visit) const;

  std::pmr::memory_resource* memory() const { return memory_.get(); }

  const Model* model_;
  std::unique_ptr<std::pmr::unsynchronized_pool_resource> memory_;  // kept from one compute() to the next
  System* system_ = nullptr;
  const VecX<double>* vdot_ = nullptr;
  const VecX<double>* lambda_ = nullptr;
  InverseDynamicsDerivatives motion_;
  RowMatX K_, D_, M_, force_, acceleration_, rate_, states_;
  std::pmr::map<const Joint*, CutJoint> cut_;
  const Span* span_ = nullptr;
  std::vector<Sliding> sliding_;
  std::vector<JetTangent> tangents_;
};

}  // namespace linkwork
