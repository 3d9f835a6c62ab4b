#pragma once

#include <random>
#include <vector>

#include "linkwork/dynamics/system.h"

namespace linkwork {

/// Closes loops within the limits of joints, where LoopClosing found nothing or left them: Gauss-Newton steps that stop at
/// limits, on loops that are taken in one after another, from starts spread over what the limits allow. The same input gives the
/// same result. Dense: for mechanisms of some hundred coordinates.
class LimitedClosing {
 public:
  /// movable: by node, whether its coordinates may be changed.
  LimitedClosing(const Model& model, const std::vector<char>& movable);

  static bool can_take(const Model& model);

  /// The state is changed only if it returns true: loops are closed, and what the limits of joints in the tree allow is kept.
  bool close(const State& given, State& state);
  /// Whether all joints, cut ones too, are within their limits.
  bool keeps_limits(const State& state);

 private:
  bool descend(State& state, int rows);
  void look_at(const State& state, int rows);
  double size() const { return phi_.norm(); }
  double largest_error() const {
    const Eigen::Index n = phi_.size();
    return n == 0 ? 0.0
                  : (phi_.cwiseProduct(model_.units.row.head(n)))
                        .cwiseQuotient(model_.units.tolerance.head(n))
                        .cwiseAbs()
                        .maxCoeff();
  }
  State start(const State& given, int attempt, std::mt19937& random) const;
  void into_limits(State& state) const;
  VecX<double> step(const State& state);

  struct Dof {
    int v = 0, q = -1;  // q: -1 without limits
    double low = 0, high = 0;
  };
  const Model& model_;
  System system_;
  std::vector<Dof> dofs_;  // that may move
  std::vector<int> rows_;  // by closure, where its rows end
  VecX<double> phi_;
  MatX<double> J_;
};

}  // namespace linkwork
