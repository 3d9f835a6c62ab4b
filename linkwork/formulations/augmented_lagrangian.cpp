#include <cmath>
#include <limits>

#include "linkwork/formulations/catalog.h"
#include "linkwork/formulations/dense_terms.h"

namespace linkwork {

namespace {

constexpr const char* kAugmentedLagrangian = "augmented-lagrangian";
constexpr int kUsualIterations = 20;

struct Penalty {
  double alpha;
  int iterations;
  double tolerance;
  double omega, xi;
};

/// With the penalties P = alpha / scale, one per row, so that alpha compares with the masses, and from vdot = lambda = 0:
/// (1)  (M + A' P A) d = r + A' P e,   r = tau - c + A' lambda - M vdot,   e = b* - A vdot
/// (2)  vdot <- vdot + d,   lambda <- lambda + P (e - A d), and again
/// with b* = b - 2 xi omega (A v - u) - omega^2 phi. [Bayo1988], written for corrections so that it takes back rounding as well.
/// The error falls by about alpha per iteration, less for rows near a singular position: where it stays, alpha is raised. Nothing
/// is kept from one state to the next, so that accelerations depend on nothing but the state.
class AugmentedLagrangian : public Formulation {
 public:
  AugmentedLagrangian(const Model& model, const Penalty& penalty) : m_(model.row_count()), penalty_(penalty) {}

  Status solve(System& system, Solution& solution) override {
    terms_.update(system);
    const ConstraintTerms& c = system.terms();
    target_ = c.b - 2.0 * penalty_.xi * penalty_.omega * c.rate - penalty_.omega * penalty_.omega * c.phi;
    // Rows that depend on others are met with them; how well is of no interest, as they may be rounding only.
    solution.rank = terms_.decide_rank(system, solution.dependent);
    measure_ = terms_.row_unit();
    for (Eigen::Index i = 0; i < m_; ++i)
      if (solution.dependent[static_cast<std::size_t>(i)] != 0) measure_[i] = 0.0;
    if (!find_penalty(solution))
      return {
          "formulation 'augmented-lagrangian': a motion has neither inertia nor a constraint; give its body inertia, or "
          "use 'lagrange', which names it"};
    if (m_ == 0) return terms_.verify(system, kAugmentedLagrangian, solution);
    solution.inconsistency = solution.rank.rank == m_ ? 0.0 : error_.cwiseAbs().maxCoeff();
    // Who limits iterations, or feeds errors back, asks for something else than the exact solution.
    return limited_ || penalty_.omega > 0.0 ? Status{} : terms_.verify(system, kAugmentedLagrangian, solution);
  }

 private:
  static constexpr double kEnough = 1e-11;  // of the constraints, relative

  bool find_penalty(Solution& solution) {
    constexpr double kRaise = 100.0, kMost = 1e12;
    solution.lambda.setZero();
    solution.vdot.setZero();
    for (double alpha = penalty_.alpha;; alpha *= kRaise) {
      weights_ = alpha * terms_.row_unit().cwiseAbs2();
      weighted_.noalias() = weights_.asDiagonal() * terms_.A();
      matrix_ = terms_.M();
      matrix_.noalias() += terms_.A().transpose() * weighted_;
      factor_.compute(matrix_);
      if (factor_.info() != Eigen::Success) return alpha > penalty_.alpha;
      if (iterate(solution) <= kEnough || limited_ || alpha >= kMost) return true;
    }
  }

  /// Returns the error that is left.
  double iterate(Solution& solution) {
    constexpr double kStagnation = 0.5;
    double before = std::numeric_limits<double>::infinity();
    limited_ = false;
    for (int i = 0;; ++i) {
      pushed_ = terms_.force();
      pushed_.noalias() += terms_.A().transpose() * solution.lambda;
      pushed_.noalias() -= terms_.M() * solution.vdot;
      met_.noalias() = terms_.A() * solution.vdot;
      error_ = target_ - met_;
      const double size = std::max(in_units(target_), in_units(met_));
      const double error = size > 0.0 ? in_units(error_) / size : 0.0;
      limited_ = i == penalty_.iterations && i < kUsualIterations && error > kEnough;
      if (i == penalty_.iterations || (i > 1 && (error <= penalty_.tolerance || !(error < kStagnation * before)))) return error;
      before = error;
      pushed_.noalias() += weighted_.transpose() * error_;
      factor_.solveInPlace(pushed_);  // (1)
      solution.vdot += pushed_;
      error_.noalias() -= terms_.A() * pushed_;
      solution.lambda += weights_.cwiseProduct(error_);  // (2)
    }
  }

  double in_units(const VecX<double>& x) const { return m_ == 0 ? 0.0 : x.cwiseProduct(measure_).cwiseAbs().maxCoeff(); }

  int m_;
  Penalty penalty_;
  bool limited_ = false;  // iterations came to an end before they had done what they can
  DenseTerms terms_;
  MatX<double> matrix_, weighted_;
  Eigen::LLT<MatX<double>> factor_;
  VecX<double> target_, measure_, weights_, pushed_, met_, error_;
};

}  // namespace

CatalogEntry<Formulation> augmented_lagrangian_formulation() {
  return {{kAugmentedLagrangian,
           "penalties made exact by iterating on the multipliers; takes redundant rows and singular positions",
           "Bayo1988",
           {{"alpha", 1e4, "penalty to begin with, relative to the masses", numbers_between(1.0, 1e12)},
            {"iterations", kUsualIterations, "the most there may be with one penalty", whole_numbers(1.0, 1e4)},
            {"tolerance", 1e-13, "relative error of the constraints at which iterations end", numbers_between(0.0, 1.0)},
            {"omega", 0.0, "frequency with which constraint errors are fed back, 1/s; 0 leaves that to the stabilization",
             numbers_between(0.0, 1e9)},
            {"xi", 1.0, "damping ratio of that feedback", numbers_between(0.0, 1e9)}}},
          [](const Model& model, const Options& options) {
            return std::make_unique<AugmentedLagrangian>(
                model, Penalty{options.at("alpha"), static_cast<int>(options.at("iterations")), options.at("tolerance"),
                               options.at("omega"), options.at("xi")});
          }};
}

}  // namespace linkwork
