#pragma once

#include <string>
#include <vector>

#include "linkwork/dynamics/evaluated_forces.h"

namespace linkwork {

/// The model evaluated at a state: kinematics, signals, constraint terms, applied forces, a layer each. Formulations ask it for
/// what they need; dense matrices are computed only when asked for. One per thread.
class System final : public EvaluatedForces {
 public:
  explicit System(const Model& model);

  /// Dense quantities, on demand.
  const MatX<double>& mass_matrix();
  const VecX<double>& bias();  // c, with applied wrenches taken in; the applied generalized force is work().tau

  double kinetic_energy() const;

  /// Names the first thing at the state just evaluated that is not a finite number, with its expression; empty: there is none.
  std::string describe_not_finite();

  /// What evaluations take over from earlier ones, beside the state and the modes: turns that angles have made, loads of
  /// friction to start from, branches. A run that is to go on with the same bits needs it.
  std::vector<double> memory() const;
  void set_memory(const std::vector<double>& memory);

 private:
  MatX<double> M_;
  VecX<double> c_;
};

}  // namespace linkwork
