#include <Eigen/SVD>

#include "linkwork/formulations/catalog.h"
#include "linkwork/formulations/dense_terms.h"

namespace linkwork {

namespace {

/// (1)  M = L L', a_f = M^-1 (tau - c)
/// (2)  vdot = a_f + L^-T (A L^-T)^+ (b - A a_f)       [Udwadia1992], with the Cholesky factor for the square root of M
/// (3)  lambda: the smallest with A' lambda = M (vdot - a_f), so that redundant closures share their load
/// Rows are in units of their scale; rows that contradict one another are met as well as all of them together can be.
class UdwadiaKalaba : public Formulation {
 public:
  explicit UdwadiaKalaba(const Model& model) : n_(model.tree.nv), m_(model.row_count()) {
    if (m_ > 0) svd_ = Eigen::JacobiSVD<MatX<double>>(n_, m_, Eigen::ComputeThinU | Eigen::ComputeThinV);
  }

  Status solve(System& system, Solution& solution) override {
    if (Status status = terms_.update_factored(system, "udwadia-kalaba"); !status.ok()) return status;
    solution.vdot = terms_.force();
    terms_.mass().solveInPlace(solution.vdot);  // (1)
    if (m_ == 0) return terms_.verify(system, "udwadia-kalaba", solution);
    constrain(system, solution);
    return terms_.verify(system, "udwadia-kalaba", solution);
  }

 private:
  void constrain(System& system, Solution& solution) {
    solution.rank = terms_.decide_rank(system, solution.dependent);
    rows_.noalias() = terms_.A().transpose() * terms_.row_unit().asDiagonal();
    terms_.mass().matrixL().solveInPlace(rows_);
    svd_.compute(rows_);

    const int r = solution.rank.rank;
    const auto singular = svd_.singularValues().head(r).array();
    solution.lambda.setZero();
    // The second time takes back what rounding did, which is much where masses differ by decades.
    for (int pass = 0; pass < 2; ++pass) {
      rhs_ = terms_.b();
      rhs_.noalias() -= terms_.A() * solution.vdot;
      rhs_.array() *= terms_.row_unit().array();
      share_.noalias() = svd_.matrixV().leftCols(r).transpose() * rhs_;
      share_.array() /= singular;
      y_.noalias() = svd_.matrixU().leftCols(r) * share_;
      terms_.mass().matrixU().solveInPlace(y_);
      solution.vdot += y_;  // (2)
      share_.array() /= singular;
      rhs_.noalias() = svd_.matrixV().leftCols(r) * share_;  // (3)
      solution.lambda += rhs_.cwiseProduct(terms_.row_unit());
    }
    rhs_ = terms_.b();
    rhs_.noalias() -= terms_.A() * solution.vdot;
    solution.inconsistency = r == m_ ? 0.0 : rhs_.cwiseAbs().maxCoeff();
  }

  int n_, m_;
  DenseTerms terms_;
  MatX<double> rows_;
  Eigen::JacobiSVD<MatX<double>> svd_;
  VecX<double> rhs_, share_, y_;
};

}  // namespace

CatalogEntry<Formulation> udwadia_kalaba_formulation() {
  return {{"udwadia-kalaba",
           "Gauss' principle through the Moore-Penrose inverse; redundant closures share their load",
           "Udwadia1992",
           {}},
          [](const Model& model, const Options&) { return std::make_unique<UdwadiaKalaba>(model); }};
}

}  // namespace linkwork
