#include <cmath>
#include <limits>

#include "linkwork/formulations/catalog.h"
#include "linkwork/formulations/dense_terms.h"

namespace linkwork {

namespace {

constexpr const char* kProximal = "proximal";

/// (1)  M = L L', a_f = M^-1 (tau - c), G = A M^-1 A', r = b - A vdot from vdot = a_f, rows in units of their scale
/// (2)  lambda <- lambda + (G + 1/alpha)^-1 (r - G lambda), from 0
/// (3)  vdot <- vdot + M^-1 A' lambda, and again from r, which takes back what rounding did
/// The proximal-point form of the augmented Lagrangian [Carpentier2021]: G + 1/alpha is regular whatever the rank, a redundant
/// row's share of r is zero and stays so, and the rest converges by 1/(1 + alpha g) for each eigenvalue g of G; where that is
/// slow, alpha is raised. Rows that contradict one another show in a residual that does not fall.
class Proximal : public Formulation {
 public:
  Proximal(const Model& model, double alpha, int iterations, double tolerance)
      : m_(model.row_count()), alpha_(alpha), iterations_(iterations), tolerance_(tolerance) {}

  Status solve(System& system, Solution& solution) override {
    if (Status status = terms_.update_factored(system, kProximal); !status.ok()) return status;
    solution.vdot = terms_.force();
    terms_.mass().solveInPlace(solution.vdot);
    if (m_ == 0) return terms_.verify(system, kProximal, solution);
    // Rows that depend on others are met with them; how well is of no interest, as they may be rounding only.
    solution.rank = terms_.decide_rank(system, solution.dependent);
    counts_.setOnes(m_);
    for (Eigen::Index i = 0; i < m_; ++i)
      if (solution.dependent[static_cast<std::size_t>(i)] != 0) counts_[i] = 0.0;
    rows_.noalias() = terms_.A().transpose() * terms_.row_unit().asDiagonal();
    terms_.mass().matrixL().solveInPlace(rows_);
    gram_.noalias() = rows_.transpose() * rows_;  // (1)
    solution.lambda.setZero();
    double before = std::numeric_limits<double>::infinity();
    for (;;) {
      rhs_ = terms_.b();
      rhs_.noalias() -= terms_.A() * solution.vdot;
      rhs_.array() *= terms_.row_unit().array();
      const double error = size(rhs_);
      if (!(error < 0.5 * before)) break;
      before = error;
      iterate();
      y_.noalias() = rows_ * lambda_;
      terms_.mass().matrixU().solveInPlace(y_);
      solution.vdot += y_;  // (3)
      solution.lambda += lambda_.cwiseProduct(terms_.row_unit());
    }
    solution.inconsistency = solution.rank.rank == m_ ? 0.0 : rhs_.cwiseProduct(terms_.scale().cwiseSqrt()).cwiseAbs().maxCoeff();
    return terms_.verify(system, kProximal, solution);
  }

 private:
  double size(const VecX<double>& x) const { return x.cwiseProduct(counts_).cwiseAbs().maxCoeff(); }

  void iterate() {
    constexpr double kStagnation = 0.5, kRaise = 1e3, kMost = 1e13, kEnough = 1e-11;
    lambda_.setZero(m_);
    left_ = rhs_;
    const double wanted = size(rhs_);
    for (double alpha = alpha_;; alpha *= kRaise) {
      shifted_ = gram_;
      shifted_.diagonal().array() += 1.0 / alpha;
      factor_.compute(shifted_);
      double error = size(left_), before = std::numeric_limits<double>::infinity();
      for (int i = 0; i < iterations_ && error > tolerance_ * wanted && error < kStagnation * before; ++i) {
        before = error;
        factor_.solveInPlace(left_);
        lambda_ += left_;  // (2)
        left_ = rhs_;
        left_.noalias() -= gram_ * lambda_;
        error = size(left_);
      }
      if (error <= kEnough * wanted || alpha >= kMost) return;
    }
  }

  int m_;
  double alpha_;
  int iterations_;
  double tolerance_;
  DenseTerms terms_;
  MatX<double> rows_, gram_, shifted_;
  Eigen::LLT<MatX<double>> factor_;
  VecX<double> rhs_, lambda_, left_, y_, counts_;
};

}  // namespace

CatalogEntry<Formulation> proximal_formulation() {
  return {{kProximal,
           "regularized Schur complement with proximal iterations; takes redundant rows without a rank decision",
           "Carpentier2021",
           {{"alpha", 1e6, "inverse of the regularization to begin with, relative to the masses", numbers_between(1.0, 1e12)},
            {"iterations", 20.0, "the most there may be with one alpha", whole_numbers(1.0, 1e4)},
            {"tolerance", 1e-14, "relative error of the constraints at which iterations end", numbers_between(0.0, 1.0)}}},
          [](const Model& model, const Options& options) {
            return std::make_unique<Proximal>(model, options.at("alpha"), static_cast<int>(options.at("iterations")),
                                              options.at("tolerance"));
          }};
}

}  // namespace linkwork
