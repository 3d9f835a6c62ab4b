#include <Eigen/QR>

#include "linkwork/formulations/catalog.h"
#include "linkwork/formulations/null_space.h"

namespace linkwork {

namespace {

/// (1)  A' P = [Q1 Q2] [R; 0]              pivoted, R upper triangular of the rank's size (and more columns for dependent rows)
/// (2)  v_p = Q1 R^-T (P' b)               a particular acceleration
/// (3)  vdot = v_p + Q2 (Q2' M Q2)^-1 Q2' (tau - c - M v_p)
/// (4)  R (P' lambda) = Q1' (M vdot + c - tau)
/// [Kim1986], with pivots: without them dependent rows go unnoticed. Terms are scaled as in null_space.h.
class NullspaceQr : public Formulation {
 public:
  explicit NullspaceQr(const Model& model)
      : n_(model.tree.nv),
        m_(model.row_count()),
        qr_(MatX<double>::Zero(n_, std::max(m_, 1))),
        Q_(n_, n_),
        workspace_(n_),
        y_p_(n_) {}

  Status solve(System& system, Solution& solution) override {
    space_.update(system);
    factor(solution);
    const int r = solution.rank.rank;
    const auto R = qr_.matrixQR().topLeftCorner(r, r).template triangularView<Eigen::Upper>();
    const auto& pivots = qr_.colsPermutation().indices();

    picked_.resize(r);
    for (int k = 0; k < r; ++k) picked_[k] = space_.rhs()[pivots[k]];
    R.transpose().solveInPlace(picked_);
    y_p_.noalias() = Q_.leftCols(r) * picked_;                                        // (2)
    Status status = space_.solve(system, y_p_, Q_.rightCols(n_ - r), solution.vdot);  // (3)
    if (!status.ok()) return status;

    picked_.noalias() = Q_.leftCols(r).transpose() * space_.constraint_force();
    R.solveInPlace(picked_);  // (4)
    solution.lambda.setZero();
    for (int k = 0; k < r; ++k) solution.lambda[pivots[k]] = picked_[k] * space_.terms().row_unit()[pivots[k]];
    solution.inconsistency = unmet_acceleration(space_.terms(), solution.vdot, solution.dependent);
    return {};
  }

 private:
  /// (1). A diagonal entry of R is what remains of its row, in units of the row's scale.
  void factor(Solution& solution) {
    solution.rank = {};
    std::fill(solution.dependent.begin(), solution.dependent.end(), char{1});
    if (m_ == 0) {
      Q_.setIdentity();
      return;
    }
    transposed_ = space_.rows().transpose();
    qr_.compute(transposed_);
    qr_.householderQ().evalTo(Q_, workspace_);
    for (int k = 0; k < std::min(n_, m_); ++k) {
      const double remainder = qr_.matrixQR()(k, k) * qr_.matrixQR()(k, k);
      if (!is_independent(remainder, 1.0)) break;
      ++solution.rank.rank;
      solution.rank.weakest = std::min(solution.rank.weakest, remainder);
      solution.dependent[static_cast<std::size_t>(qr_.colsPermutation().indices()[k])] = 0;
    }
  }

  int n_, m_;
  NullSpace space_;
  MatX<double> transposed_;
  Eigen::ColPivHouseholderQR<MatX<double>> qr_;
  MatX<double> Q_;
  VecX<double> workspace_, y_p_, picked_;
};

}  // namespace

CatalogEntry<Formulation> nullspace_qr_formulation() {
  return {{"nullspace-qr", "motions left free by the constraints, from a pivoted QR factorization of A'", "Kim1986", {}},
          [](const Model& model, const Options&) { return std::make_unique<NullspaceQr>(model); }};
}

}  // namespace linkwork
