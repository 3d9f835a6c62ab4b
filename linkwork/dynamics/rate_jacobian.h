#pragma once

#include "linkwork/dynamics/acceleration_derivatives.h"
#include "linkwork/dynamics/equations_of_motion.h"

namespace linkwork {

/// How the rates of y = (q, v, work, z) change with y, exactly: what implicit methods iterate with. Quaternions change on their
/// sphere. What the power depends on does not matter to the motion: its row is zero.
class RateJacobian {
 public:
  explicit RateJacobian(const Model& model);

  /// Whether a model's forces can be differentiated. Its equations of motion may hold more than the model does: see agrees().
  static bool is_known(const Model& model) { return MotionGradient::is_exact(model); }

  Status compute(EquationsOfMotion& equations, const Moment& at, Eigen::Ref<MatX<double>> J);
  /// Whether a difference of rates along some direction is what J says: not so if a formulation or a drift control adds forces,
  /// or takes a part of the state for a function of the rest. Counts as two evaluations.
  bool agrees(EquationsOfMotion& equations, const Moment& at, const Eigen::Ref<const MatX<double>>& J);

 private:
  AccelerationDerivatives derivatives_;
  State state_;
  Derivative rates_;
  Moment moved_;
  VecX<double> there_, back_, along_;
};

}  // namespace linkwork
