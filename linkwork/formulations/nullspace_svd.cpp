#include <Eigen/SVD>

#include "linkwork/formulations/catalog.h"
#include "linkwork/formulations/null_space.h"

namespace linkwork {

namespace {

/// (1)  A = U D V'                         D: as many singular values as the rank
/// (2)  vdot = A^+ b + V2 (V2' M V2)^-1 V2' (tau - c - M A^+ b),  A^+ = V1 D^-1 U1'
/// (3)  lambda = U1 D^-1 V1' (M vdot + c - tau)      the smallest of all possible ones, in the scaled rows
/// [Singh1985]. Terms are scaled as in null_space.h.
class NullspaceSvd : public Formulation {
 public:
  explicit NullspaceSvd(const Model& model)
      : n_(model.tree.nv), m_(model.row_count()), y_p_(n_), V_(MatX<double>::Identity(n_, n_)) {
    if (m_ > 0) svd_ = Eigen::JacobiSVD<MatX<double>>(m_, n_, Eigen::ComputeThinU | Eigen::ComputeFullV);
  }

  Status solve(System& system, Solution& solution) override {
    space_.update(system);
    const int r = factor(system, solution);
    share_.resize(r);
    y_p_.setZero();
    if (r > 0) {
      share_.noalias() = svd_.matrixU().leftCols(r).transpose() * space_.rhs();
      share_.array() /= svd_.singularValues().head(r).array();
      y_p_.noalias() = V_.leftCols(r) * share_;
    }
    Status status = space_.solve(system, y_p_, V_.rightCols(n_ - r), solution.vdot);  // (2)
    if (!status.ok()) return status;
    solution.lambda.setZero();
    if (r == 0) return space_.terms().verify(system, "nullspace-svd", solution);
    share_.noalias() = V_.leftCols(r).transpose() * space_.constraint_force();
    share_.array() /= svd_.singularValues().head(r).array();
    solution.lambda.noalias() = svd_.matrixU().leftCols(r) * share_;  // (3)
    solution.lambda.array() *= space_.terms().row_unit().array();
    solution.inconsistency = unmet_acceleration(space_.terms(), solution.vdot, solution.dependent);
    return space_.terms().verify(system, "nullspace-svd", solution);
  }

 private:
  int factor(System& system, Solution& solution) {
    if (m_ == 0) return 0;
    solution.rank = space_.terms().decide_rank(system, solution.dependent);
    svd_.compute(space_.rows());
    V_ = svd_.matrixV();
    return solution.rank.rank;
  }

  int n_, m_;
  NullSpace space_;
  Eigen::JacobiSVD<MatX<double>> svd_;
  VecX<double> y_p_, share_;
  MatX<double> V_;
};

}  // namespace

CatalogEntry<Formulation> nullspace_svd_formulation() {
  return {{"nullspace-svd", "motions left free by the constraints, from a singular value decomposition of A", "Singh1985", {}},
          [](const Model& model, const Options&) { return std::make_unique<NullspaceSvd>(model); }};
}

}  // namespace linkwork
