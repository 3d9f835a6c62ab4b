#include <fmt/format.h>

#include <Eigen/LU>
#include <algorithm>
#include <cmath>

#include "linkwork/dynamics/redundancy.h"
#include "linkwork/formulations/catalog.h"
#include "linkwork/formulations/dense_terms.h"

namespace linkwork {

namespace {

/// [M -A'; A 0] [vdot; lambda] = [tau - c; b] by dense factorization, [Khan2006] eq. 7 with the sign of lambda used here.
/// With dependent rows the factorization can be silently wrong, so the rank is tested first. Velocities are in units of
/// 1/sqrt(M_jj) and rows in units of their scale.
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
    terms_.update(system);
    if (m_ > 0) {
      solution.rank = terms_.decide_rank(system, solution.dependent);
      for (int row : system.inactive_rows()) solution.dependent[static_cast<std::size_t>(row)] = 0;
      if (solution.rank.rank < system.active_rows())
        return {"formulation 'lagrange' needs independent constraint rows; " +
                describe_redundancy(system.model(), solution.dependent) + "; use 'schur', or remove them from the model"};
    }
    const auto S = terms_.row_unit().asDiagonal();
    const auto W = terms_.velocity_unit().asDiagonal();
    kkt_.topLeftCorner(n_, n_) = W * terms_.M() * W;
    kkt_.bottomLeftCorner(m_, n_) = S * terms_.A() * W;
    kkt_.topRightCorner(n_, m_) = -kkt_.bottomLeftCorner(m_, n_).transpose();
    // Rows that are not in force are zero: lambda = 0 takes their place.
    kkt_.bottomRightCorner(m_, m_).setZero();
    for (int row : system.inactive_rows()) kkt_(n_ + row, n_ + row) = 1.0;
    lu_.compute(kkt_);
    Eigen::Index weakest = 0;
    const auto pivots = lu_.matrixLU().diagonal().cwiseAbs();
    if (!(pivots.minCoeff(&weakest) > 1e-14 * pivots.maxCoeff()))
      return {
          fmt::format("the equations of motion are singular: the motion of '{}' has neither inertia nor a constraint; give the "
                      "bodies it moves inertia about that axis, or choose a joint without that motion",
                      system.model().velocity_name(static_cast<int>(std::min<Eigen::Index>(weakest, n_ - 1))))};
    solution.vdot.setZero();
    solution.lambda.setZero();
    for (int pass = 0; pass < 2; ++pass) {  // the second time takes back what rounding did
      rhs_.head(n_) = terms_.force();
      rhs_.head(n_).noalias() -= terms_.M() * solution.vdot;
      rhs_.head(n_).noalias() += terms_.A().transpose() * solution.lambda;
      rhs_.tail(m_) = terms_.b();
      rhs_.tail(m_).noalias() -= terms_.A() * solution.vdot;
      rhs_.head(n_).array() *= terms_.velocity_unit().array();
      rhs_.tail(m_).array() *= terms_.row_unit().array();
      x_ = lu_.solve(rhs_);
      solution.vdot += x_.head(n_).cwiseProduct(terms_.velocity_unit());
      solution.lambda += x_.tail(m_).cwiseProduct(terms_.row_unit());
    }
    return terms_.verify(system, "lagrange", solution);
  }

 private:
  int n_, m_;
  MatX<double> kkt_;
  VecX<double> rhs_, x_;
  DenseTerms terms_;
  Eigen::PartialPivLU<MatX<double>> lu_;
};

}  // namespace

CatalogEntry<Formulation> lagrange_formulation() {
  return {{"lagrange", "the dense system in accelerations and multipliers; needs independent rows", "Khan2006", {}},
          [](const Model& model, const Options&) { return std::make_unique<Lagrange>(model); },
          {.takes_redundant_rows = false}};
}

}  // namespace linkwork
