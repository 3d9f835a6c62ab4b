#include <cmath>
#include <limits>

#include "linkwork/formulations/catalog.h"
#include "linkwork/formulations/dense_terms.h"

namespace linkwork {

namespace {

constexpr const char* kName = "augmented-lagrangian";

struct Penalty {
  double alpha;
  int iterations;
  double tolerance;
  double omega, xi;
};

/// With the penalties P = alpha / scale, one a row, so that alpha compares with the masses:
/// (1)  (M + A' P A) vdot = tau - c + A' (lambda + P b*),   b* = b - 2 xi omega (A v - u) - omega^2 phi
/// (2)  lambda <- lambda + P (b* - A vdot), and again
/// [Bayo1988]. The error falls by about alpha an iteration, less for rows near a singular position. lambda starts from 0 at each
/// state, so that accelerations depend on nothing but the state.
class AugmentedLagrangian : public Formulation {
 public:
  AugmentedLagrangian(const Model& model, const Penalty& penalty) : m_(model.row_count()), penalty_(penalty) {}

  Status solve(System& system, Solution& solution) override {
    terms_.update(system);
    const ConstraintTerms& c = system.terms();
    target_ = c.b - 2.0 * penalty_.xi * penalty_.omega * c.rate - penalty_.omega * penalty_.omega * c.phi;
    weights_ = penalty_.alpha * terms_.row_unit().cwiseAbs2();
    weighted_.noalias() = weights_.asDiagonal() * terms_.A();
    matrix_ = terms_.M();
    matrix_.noalias() += terms_.A().transpose() * weighted_;
    factor_.compute(matrix_);
    if (factor_.info() != Eigen::Success)
      return {
          "formulation 'augmented-lagrangian': a motion has neither inertia nor a constraint; give its body inertia, or "
          "use 'lagrange', which names it"};
    iterate(solution);
    if (m_ > 0) take_stock(solution);
    return {};
  }

 private:
  void iterate(Solution& solution) {
    constexpr double kStagnation = 0.9;
    solution.lambda.setZero();
    double before = std::numeric_limits<double>::infinity();
    for (int i = 0; i < penalty_.iterations; ++i) {
      pushed_ = solution.lambda + weights_.cwiseProduct(target_);
      solution.vdot = terms_.force();
      solution.vdot.noalias() += terms_.A().transpose() * pushed_;
      factor_.solveInPlace(solution.vdot);  // (1)
      if (m_ == 0) return;
      met_.noalias() = terms_.A() * solution.vdot;
      error_ = target_ - met_;
      solution.lambda += weights_.cwiseProduct(error_);  // (2)
      const double error = in_units(error_);
      if (error <= penalty_.tolerance * std::max(in_units(target_), in_units(met_)) || error > kStagnation * before) return;
      before = error;
    }
  }

  double in_units(const VecX<double>& x) const { return x.cwiseProduct(terms_.row_unit()).cwiseAbs().maxCoeff(); }

  void take_stock(Solution& solution) {
    rows_ = terms_.row_unit().asDiagonal() * terms_.A() * terms_.velocity_unit().asDiagonal();
    gram_.noalias() = rows_ * rows_.transpose();
    solution.rank = terms_.decide_rank(gram_, solution.dependent);
    solution.inconsistency = solution.rank.rank == m_ ? 0.0 : error_.cwiseAbs().maxCoeff();
  }

  int m_;
  Penalty penalty_;
  DenseTerms terms_;
  MatX<double> matrix_, weighted_, rows_, gram_;
  Eigen::LLT<MatX<double>> factor_;
  VecX<double> target_, weights_, pushed_, met_, error_;
};

}  // namespace

CatalogEntry<Formulation> augmented_lagrangian_formulation() {
  return {{kName,
           "penalties made exact by iterating on the multipliers; takes redundant rows and singular positions",
           "Bayo1988",
           {{"alpha", 1e4, "penalty, relative to the masses"},
            {"iterations", 20.0, "the most there may be"},
            {"tolerance", 1e-13, "relative error of the constraints at which iterations end"},
            {"omega", 0.0, "frequency with which constraint errors are fed back, 1/s; 0 leaves that to the stabilization"},
            {"xi", 1.0, "damping ratio of that feedback"}}},
          [](const Model& model, const Options& options) {
            const auto in = [&](const char* name, double least, double most) {
              return option_between(options, kName, name, least, most);
            };
            return std::make_unique<AugmentedLagrangian>(
                model, Penalty{in("alpha", 1.0, 1e12), static_cast<int>(in("iterations", 1.0, 1e4)), in("tolerance", 0.0, 1.0),
                               in("omega", 0.0, 1e9), in("xi", 0.0, 1e9)});
          }};
}

}  // namespace linkwork
