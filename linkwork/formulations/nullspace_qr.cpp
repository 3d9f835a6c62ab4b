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
    factor(system, solution);
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
    return space_.terms().verify(system, "nullspace-qr", solution);
  }

 private:
  /// (1). The first pivots are independent rows, as many as there are.
  void factor(System& system, Solution& solution) {
    solution.rank = {};
    if (m_ == 0) {
      Q_.setIdentity();
      return;
    }
    transposed_ = space_.rows().transpose();
    qr_.compute(transposed_);
    qr_.householderQ().evalTo(Q_, workspace_);
    solution.rank = space_.terms().decide_rank(system, solution.dependent);
    std::fill(solution.dependent.begin(), solution.dependent.end(), char{1});
    for (int k = 0; k < solution.rank.rank; ++k)
      solution.dependent[static_cast<std::size_t>(qr_.colsPermutation().indices()[k])] = 0;
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
