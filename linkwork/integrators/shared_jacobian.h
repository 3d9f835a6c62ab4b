#pragma once

#include <Eigen/LU>

#include "linkwork/dynamics/differential_equation.h"
#include "linkwork/integrators/shared_equation.h"

namespace linkwork {

/// The matrix 1 - gamma df/dy of an equation that ranks share, or one close to it, for the iterations of implicit methods.
/// Systems of moderate size: all of it, by differences through the evaluation of all, column by column, and factored by every
/// rank for itself, to the same bits. Larger ones: a block for each part, with what the others do to it held, so that whatever is
/// stiff inside the parts is met.
class SharedJacobian {
 public:
  SharedJacobian(SharedEquation& equation, const Settings& settings);

  /// df/dy at a moment whose rates are given; gamma tells how long the steps are.
  Status update(DifferentialEquation& equation, const Moment& at, const VecX<double>& rates, double gamma);
  /// For this gamma.
  void factor(double gamma);
  /// x <- (1 - gamma df/dy)^-1 x, of the numbers of this rank.
  void solve(Eigen::Ref<VecX<double>> x);

 private:
  static constexpr int kMostNumbers = 600;

  bool is_whole() const { return equation_.total() <= kMostNumbers; }
  double change_of(double y, double rate, double gamma) const;
  Status update_whole(DifferentialEquation& equation, const Moment& at, const VecX<double>& rates, double gamma);
  void update_parts(const Moment& at, const VecX<double>& rates, double gamma);

  SharedEquation& equation_;
  std::vector<SharedEquation::Part> parts_;
  double rtol_, atol_;
  std::vector<char> acts_;  // by number of all ranks: whether rates may depend on it
  MatX<double> own_;
  std::vector<MatX<double>> blocks_;  // all, or a part of this rank each
  std::vector<Eigen::PartialPivLU<MatX<double>>> lu_;
  VecX<double> y_, f_, moved_rates_, x_;
  Moment moved_;
};

}  // namespace linkwork
