#include <fmt/format.h>

#include <Eigen/LU>
#include <algorithm>
#include <cmath>

#include "linkwork/dynamics/redundancy.h"
#include "linkwork/formulations/catalog.h"
#include "linkwork/linalg/rank.h"

namespace linkwork {

namespace {

/// [M -A'; A 0] [vdot; lambda] = [tau - c; b] by dense factorization, [Khan2006] eq. 7 with the sign of lambda used here.
/// With dependent rows the factorization can be silently wrong, so the rank is tested first.
class Lagrange : public Formulation {
 public:
  explicit Lagrange(const Model& model)
      : n_(model.tree.nv),
        m_(model.row_count()),
        kkt_(MatX<double>::Zero(n_ + m_, n_ + m_)),
        rhs_(n_ + m_),
        x_(n_ + m_),
        lu_(n_ + m_) {}

  Status solve(System& system, Solution& solution) override {
    const MatX<double>& M = system.mass_matrix();
    const MatX<double>& A = system.jacobian();
    if (m_ > 0) {
      weights_ = M.diagonal().unaryExpr([](double x) { return x > 0.0 ? 1.0 / x : 1.0; });
      solution.rank = dependent_rows(A, system.jacobian_bounds(), weights_, rank_test_, solution.dependent);
      for (int row : system.inactive_rows()) solution.dependent[static_cast<std::size_t>(row)] = 0;
      if (solution.rank.rank < system.active_rows())
        return {"formulation 'lagrange' needs independent constraint rows; " +
                describe_redundancy(system.model(), solution.dependent) + "; use 'schur', or remove them from the model"};
    }
    kkt_.topLeftCorner(n_, n_) = M;
    kkt_.topRightCorner(n_, m_) = -A.transpose();
    kkt_.bottomLeftCorner(m_, n_) = A;
    // Rows that are not in force are zero: lambda = 0 takes their place.
    kkt_.bottomRightCorner(m_, m_).setZero();
    for (int row : system.inactive_rows()) kkt_(n_ + row, n_ + row) = 1.0;
    rhs_.head(n_) = system.work().tau - system.bias();
    rhs_.tail(m_) = system.terms().b;
    lu_.compute(kkt_);
    Eigen::Index weakest = 0;
    const auto pivots = lu_.matrixLU().diagonal().cwiseAbs();
    if (!(pivots.minCoeff(&weakest) > 1e-14 * pivots.maxCoeff()))
      return {
          fmt::format("the equations of motion are singular: the motion of '{}' has neither inertia nor a constraint; give the "
                      "bodies it moves inertia about that axis, or choose a joint without that motion",
                      system.model().velocity_name(static_cast<int>(std::min<Eigen::Index>(weakest, n_ - 1))))};
    x_ = lu_.solve(rhs_);
    solution.vdot = x_.head(n_);
    solution.lambda = x_.tail(m_);
    return {};
  }

 private:
  int n_, m_;
  MatX<double> kkt_;
  VecX<double> rhs_, x_, weights_;
  RankTest rank_test_;
  Eigen::PartialPivLU<MatX<double>> lu_;
};

}  // namespace

CatalogEntry<Formulation> lagrange_formulation() {
  return {{"lagrange", "the dense system in accelerations and multipliers; needs independent rows", "Khan2006", {}},
          [](const Model& model, const Options&) { return std::make_unique<Lagrange>(model); },
          {.takes_redundant_rows = false}};
}

}  // namespace linkwork
