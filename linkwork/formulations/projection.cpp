#include <Eigen/Cholesky>
#include <algorithm>
#include <cmath>
#include <vector>

#include "linkwork/formulations/catalog.h"
#include "linkwork/linalg/coordinate_partition.h"

namespace linkwork {

namespace {

/// Method B of [Khan2006], section 4.2. The state is (q, v_i); velocities are split into dependent and independent ones and
/// satisfy the constraints with a feedback of their error, so that phi decays like exp(-sigma t):
/// (1)  A v = u - sigma phi,  v_d = A_d^-1 (u - sigma phi - A_i v_i)
/// (2)  vdot = S vdot_i + gamma,  S = [-A_d^-1 A_i; 1],  gamma = [A_d^-1 (b - sigma (A v - u)); 0]
/// (3)  S' M S vdot_i = S' (tau - c - M gamma)
/// (4)  A_d' lambda = (M vdot + c - tau)_d
/// gamma follows from the derivative of (1), so no derivative of S is needed. Rows that add nothing to the others are left out.
class VelocityPartition : public Formulation {
 public:
  VelocityPartition(const Model& model, double sigma)
      : n_(model.tree.nv), m_(model.row_count()), sigma_(sigma), partition_(n_, m_) {
    v_d_ = b_d_ = VecX<double>::Zero(m_);
    r_ = VecX<double>::Zero(n_);
  }

  Status prepare(System& system, State& state) override {
    system.update(state);
    partition(system);
    const int r = partition_.rank().rank;
    if (r == 0) return {};
    for (int k = 0; k < r; ++k) {
      const int row = partition_.rows()[static_cast<std::size_t>(k)];
      v_d_[k] = system.terms().rate[row] + sigma_ * system.terms().phi[row];
    }
    partition_.solve(v_d_);
    for (int k = 0; k < r; ++k) state.v[column(k)] -= v_d_[k];  // (1)
    system.update(state);
    return {};
  }

  Status solve(System& system, Solution& solution) override {
    const MatX<double>& M = system.mass_matrix();
    const MatX<double>& S = partition_.S();
    const ConstraintTerms& terms = system.terms();
    const int r = partition_.rank().rank;
    for (int k = 0; k < r; ++k) {
      const int row = partition_.rows()[static_cast<std::size_t>(k)];
      b_d_[k] = terms.b[row] - sigma_ * terms.rate[row];
    }
    partition_.solve(b_d_);
    solution.vdot.setZero();
    for (int k = 0; k < r; ++k) solution.vdot[column(k)] = b_d_[k];  // gamma
    force_ = system.work().tau - system.bias();
    r_ = force_;
    r_.noalias() -= M * solution.vdot;
    MS_.resize(n_, n_ - r);
    reduced_.resize(n_ - r, n_ - r);
    rhs_.resize(n_ - r);
    MS_.noalias() = M * S;
    reduced_.noalias() = S.transpose() * MS_;
    rhs_.noalias() = S.transpose() * r_;
    if (n_ > r) {
      llt_.compute(reduced_);
      if (llt_.info() != Eigen::Success)
        return {
            "formulation 'projection' needs inertia for every motion the constraints leave; use 'lagrange', which says where"};
      llt_.solveInPlace(rhs_);
      solution.vdot.noalias() += S * rhs_;  // (2), (3)
    }
    r_ = -force_;
    r_.noalias() += M * solution.vdot;
    solution.lambda.setZero();
    for (int k = 0; k < r; ++k) b_d_[k] = r_[column(k)];
    partition_.solve_transposed(b_d_);
    for (int k = 0; k < r; ++k) solution.lambda[partition_.rows()[static_cast<std::size_t>(k)]] = b_d_[k];  // (4)
    solution.rank = partition_.rank();
    std::ranges::copy(partition_.dependent_rows(), solution.dependent.begin());
    solution.inconsistency = r < m_ ? unmet(system, solution.vdot) : 0.0;
    return {};
  }

  void forget() override { partition_.forget(); }

 private:
  /// The largest acceleration a row that was left out asks for in vain.
  double unmet(System& system, const VecX<double>& vdot) const {
    const MatX<double>& A = system.jacobian();
    double largest = 0.0;
    for (int row = 0; row < m_; ++row)
      if (partition_.dependent_rows()[static_cast<std::size_t>(row)])
        largest = std::max(largest, std::abs(A.row(row).dot(vdot) - system.terms().b[row]));
    return largest;
  }

  int column(int k) const { return partition_.columns()[static_cast<std::size_t>(k)]; }

  void partition(System& system) {
    if (m_ == 0) return;
    const MatX<double>& A = system.jacobian();
    weights_ = system.mass_matrix().diagonal().unaryExpr([](double x) { return x > 0.0 ? 1.0 / x : 1.0; });
    partition_.update(A, system.jacobian_bounds(), weights_);
  }

  int n_, m_;
  double sigma_;
  CoordinatePartition partition_;
  MatX<double> MS_, reduced_;
  VecX<double> weights_, v_d_, b_d_, r_, force_, rhs_;
  Eigen::LLT<MatX<double>> llt_;
};

}  // namespace

CatalogEntry<Formulation> projection_formulation() {
  return {
      {"projection",
       "independent velocities only; the others follow from the constraints, whose error decays",
       "Khan2006",
       {{"sigma", 30.0, "decay of the constraint error, 1/s; must stay below about 2.5 divided by the step"}}},
      [](const Model& model, const Options& options) { return std::make_unique<VelocityPartition>(model, options.at("sigma")); }};
}

}  // namespace linkwork
