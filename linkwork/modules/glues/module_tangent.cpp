#include "linkwork/modules/glues/module_tangent.h"

#include <algorithm>
#include <cmath>

namespace linkwork {

void ModuleTangent::update(WorkingModule& module, double t, const VecX<double>& x, double p, double r) {
  constexpr double kSmall = 1e-7;
  ModuleEquations& equations = *module.module->equations();
  const int n = equations.velocity_count(), first = equations.first_velocity();
  const auto force_at = [&](const VecX<double>& at) -> VecX<double> {
    const bool known = module.module->kinematics(t, at, module.motion).ok() && equations.show().ok();
    if (!known) return VecX<double>::Constant(n, std::nan(""));
    return equations.force;
  };
  const VecX<double> at_rest = force_at(x);
  MatX<double> tangent(n, n);
  for (int j = 0; j < n; ++j) {
    VecX<double> moved = x;
    equations.displace(kSmall * VecX<double>::Unit(n, j), moved);
    tangent.col(j) = -p / kSmall * (force_at(moved) - at_rest);
    moved = x;
    const double dv = kSmall * std::max(1.0, std::abs(x[first + j]));
    moved[first + j] += dv;
    tangent.col(j) -= r / dv * (force_at(moved) - at_rest);
  }
  change_ = 0.5 * (tangent + tangent.transpose());
  if (!change_.allFinite()) change_.setZero();
  force_at(x);
  // Where springs push things apart, the mass alone is the better guide.
  Kbar_.compute(equations.M + change_);
  if (!Kbar_.isPositive()) change_.setZero();
}

void ModuleTangent::respond(WorkingModule& module, const VecX<double>& accelerations) {
  constexpr double kDependent = 1e-10;
  ModuleEquations& equations = *module.module->equations();
  equations.show();  // what is not finite shows in the response
  A_ = equations.A, J_ = equations.J, b_ = equations.b;
  Kbar_.compute(equations.M + change_);
  KJ_ = Kbar_.solve(J_.transpose());
  KA_ = Kbar_.solve(A_.transpose());
  free_ = Kbar_.solve(equations.force + change_ * accelerations);
  if (A_.rows() > 0) {
    rows_.setThreshold(kDependent);
    rows_.compute(A_ * KA_);
    free_ += KA_ * rows_.solve(b_ - A_ * free_);
    KJ_ -= KA_ * rows_.solve(A_ * KJ_);
  }
  module.response.D.noalias() = J_ * KJ_;
  module.response.D = (0.5 * (module.response.D + module.response.D.transpose())).eval();
  module.response.R = J_ * free_ + equations.Jdot_v;
}

VecX<double> ModuleTangent::advance(const WorkingModule& module) const { return free_ + KJ_ * module.Q; }

}  // namespace linkwork
