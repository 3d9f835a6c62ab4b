#include <cmath>
#include <limits>

#include "linkwork/formulations/catalog.h"
#include "linkwork/formulations/dense_terms.h"

namespace linkwork {

namespace {

constexpr const char* kName = "proximal";

/// (1)  M = L L', a_f = M^-1 (tau - c), G = A M^-1 A', r = b - A a_f, rows in units of their scale
/// (2)  lambda <- lambda + (G + 1/alpha)^-1 (r - G lambda), from 0
/// (3)  vdot = a_f + M^-1 A' lambda
/// The proximal-point form of the augmented Lagrangian [Carpentier2021]: G + 1/alpha is regular whatever the rank, a redundant
/// row's share of r is zero and stays so, and the rest converges by 1/(1 + alpha g) for each eigenvalue g of G. Rows that
/// contradict one another show in a residual that does not fall.
class Proximal : public Formulation {
 public:
  Proximal(const Model& model, double alpha, int iterations, double tolerance)
      : m_(model.row_count()), alpha_(alpha), iterations_(iterations), tolerance_(tolerance) {}

  Status solve(System& system, Solution& solution) override {
    if (Status status = terms_.update_factored(system, kName); !status.ok()) return status;
    solution.vdot = terms_.force();
    terms_.mass().solveInPlace(solution.vdot);
    if (m_ == 0) return {};
    rhs_ = terms_.b();
    rhs_.noalias() -= terms_.A() * solution.vdot;
    rhs_.array() *= terms_.row_unit().array();
    rows_.noalias() = terms_.A().transpose() * terms_.row_unit().asDiagonal();
    terms_.mass().matrixL().solveInPlace(rows_);
    gram_.noalias() = rows_.transpose() * rows_;  // (1)
    solution.rank = terms_.decide_rank(gram_, solution.dependent);
    iterate(solution.lambda);
    y_.noalias() = rows_ * solution.lambda;
    terms_.mass().matrixU().solveInPlace(y_);
    solution.vdot += y_;  // (3)
    solution.lambda.array() *= terms_.row_unit().array();
    solution.inconsistency =
        solution.rank.rank == m_ ? 0.0 : left_.cwiseProduct(terms_.scale().cwiseSqrt()).cwiseAbs().maxCoeff();
    return {};
  }

 private:
  void iterate(VecX<double>& lambda) {
    constexpr double kStagnation = 0.9;
    shifted_ = gram_;
    shifted_.diagonal().array() += 1.0 / alpha_;
    factor_.compute(shifted_);
    lambda.setZero();
    left_ = rhs_;
    const double enough = tolerance_ * rhs_.cwiseAbs().maxCoeff();
    double before = std::numeric_limits<double>::infinity();
    for (int i = 0; i < iterations_; ++i) {
      factor_.solveInPlace(left_);
      lambda += left_;  // (2)
      left_ = rhs_;
      left_.noalias() -= gram_ * lambda;
      const double error = left_.cwiseAbs().maxCoeff();
      if (error <= enough || error > kStagnation * before) return;
      before = error;
    }
  }

  int m_;
  double alpha_;
  int iterations_;
  double tolerance_;
  DenseTerms terms_;
  MatX<double> rows_, gram_, shifted_;
  Eigen::LLT<MatX<double>> factor_;
  VecX<double> rhs_, left_, y_;
};

}  // namespace

CatalogEntry<Formulation> proximal_formulation() {
  return {{kName,
           "regularized Schur complement with proximal iterations; takes redundant rows without a rank decision",
           "Carpentier2021",
           {{"alpha", 1e6, "inverse of the regularization, relative to the masses"},
            {"iterations", 20.0, "the most there may be"},
            {"tolerance", 1e-14, "relative error of the constraints at which iterations end"}}},
          [](const Model& model, const Options& options) {
            const auto in = [&](const char* name, double least, double most) {
              return option_between(options, kName, name, least, most);
            };
            return std::make_unique<Proximal>(model, in("alpha", 1.0, 1e12), static_cast<int>(in("iterations", 1.0, 1e4)),
                                              in("tolerance", 0.0, 1.0));
          }};
}

}  // namespace linkwork
