#include <fmt/format.h>

#include <Eigen/Cholesky>
#include <Eigen/LU>
#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "linkwork/dynamics/redundancy.h"
#include "linkwork/formulations/catalog.h"
#include "linkwork/linalg/rank.h"

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
      : n_(model.tree.nv), m_(model.row_count()), sigma_(sigma), dependent_(static_cast<std::size_t>(m_), 0) {
    for (int j = 0; j < n_; ++j) columns_.push_back(j);
    weights_ = VecX<double>::Ones(n_);
    v_d_ = b_d_ = VecX<double>::Zero(m_);
    r_ = VecX<double>::Zero(n_);
  }

  Status prepare(System& system, State& state) override {
    system.update(state);
    partition(system);
    if (rank_.rank == 0) return {};
    for (int k = 0; k < rank_.rank; ++k) {
      const int row = rows_[static_cast<std::size_t>(k)];
      v_d_[k] = system.terms().rate[row] + sigma_ * system.terms().phi[row];
    }
    solve_dependent(v_d_);
    for (int k = 0; k < rank_.rank; ++k) state.v[columns_[static_cast<std::size_t>(k)]] -= v_d_[k];  // (1)
    system.update(state);
    return {};
  }

  Status solve(System& system, Solution& solution) override {
    const MatX<double>& M = system.mass_matrix();
    const ConstraintTerms& terms = system.terms();
    const int r = rank_.rank;
    for (int k = 0; k < r; ++k) {
      const int row = rows_[static_cast<std::size_t>(k)];
      b_d_[k] = terms.b[row] - sigma_ * terms.rate[row];
    }
    solve_dependent(b_d_);
    solution.vdot.setZero();
    for (int k = 0; k < r; ++k) solution.vdot[columns_[static_cast<std::size_t>(k)]] = b_d_[k];  // gamma
    force_ = system.work().tau - system.bias();
    r_ = force_;
    r_.noalias() -= M * solution.vdot;
    MS_.noalias() = M * S_;
    reduced_.noalias() = S_.transpose() * MS_;
    rhs_.noalias() = S_.transpose() * r_;
    if (n_ > r) {
      llt_.compute(reduced_);
      if (llt_.info() != Eigen::Success)
        return {
            "formulation 'projection' needs inertia for every motion the constraints leave; use 'lagrange', which says where"};
      llt_.solveInPlace(rhs_);
      solution.vdot.noalias() += S_ * rhs_;  // (2), (3)
    }
    r_ = -force_;
    r_.noalias() += M * solution.vdot;
    solution.lambda.setZero();
    for (int k = 0; k < r; ++k) b_d_[k] = r_[columns_[static_cast<std::size_t>(k)]];
    solve_transposed(b_d_);
    for (int k = 0; k < r; ++k) solution.lambda[rows_[static_cast<std::size_t>(k)]] = b_d_[k];  // (4)
    solution.rank = rank_;
    std::ranges::copy(dependent_, solution.dependent.begin());
    solution.inconsistency = r < m_ ? unmet(system, solution.vdot) : 0.0;
    return {};
  }

  void forget() override { picked_ = false; }

 private:
  /// The largest acceleration a row that was left out asks for in vain.
  double unmet(System& system, const VecX<double>& vdot) const {
    const MatX<double>& A = system.jacobian();
    double largest = 0.0;
    for (int row = 0; row < m_; ++row)
      if (dependent_[static_cast<std::size_t>(row)])
        largest = std::max(largest, std::abs(A.row(row).dot(vdot) - system.terms().b[row]));
    return largest;
  }

  /// Keeps the rows and dependent coordinates of the last state, unless the rank has changed or they have become a bad choice.
  void partition(System& system) {
    if (m_ == 0) {
      if (S_.rows() == 0) S_ = MatX<double>::Identity(n_, n_), size_scratch();
      return;
    }
    const MatX<double>& A = system.jacobian();
    const MatX<double>& M = system.mass_matrix();
    weights_ = M.diagonal().unaryExpr([](double x) { return x > 0.0 ? 1.0 / x : 1.0; });
    const Rank before = rank_;
    rank_ = dependent_rows(A, system.jacobian_bounds(), weights_, rank_test_, now_dependent());
    const bool same_rank = picked_ && rank_.rank == before.rank;
    if (same_rank) {
      factor(A);
      if (largest_ratio() <= kWorstRatio) return;
    }
    pick(A);
    factor(A);
  }

  std::span<char> now_dependent() {
    found_dependent_.resize(dependent_.size());
    return found_dependent_;
  }

  /// Gauss elimination with complete pivoting on the independent rows, the columns scaled by the root of their inertia.
  void pick(const MatX<double>& A) {
    picked_ = true;
    dependent_ = found_dependent_;
    rows_.clear();
    for (int i = 0; i < m_; ++i)
      if (!dependent_[static_cast<std::size_t>(i)]) rows_.push_back(i);
    const int r = rank_.rank;
    work_.resize(r, n_);
    for (int k = 0; k < r; ++k)
      work_.row(k) = A.row(rows_[static_cast<std::size_t>(k)]).cwiseProduct(weights_.cwiseSqrt().transpose());
    for (int j = 0; j < n_; ++j) columns_[static_cast<std::size_t>(j)] = j;
    for (int k = 0; k < r; ++k) {
      Eigen::Index i = 0, j = 0;
      work_.bottomRightCorner(r - k, n_ - k).cwiseAbs().maxCoeff(&i, &j);
      work_.row(k).swap(work_.row(k + i));
      work_.col(k).swap(work_.col(k + j));
      std::swap(rows_[static_cast<std::size_t>(k)], rows_[static_cast<std::size_t>(k + i)]);
      std::swap(columns_[static_cast<std::size_t>(k)], columns_[static_cast<std::size_t>(k + j)]);
      for (int below = k + 1; below < r; ++below)
        work_.row(below).tail(n_ - k) -= work_(below, k) / work_(k, k) * work_.row(k).tail(n_ - k);
    }
  }

  /// A_d and S at this state.
  void factor(const MatX<double>& A) {
    const int r = rank_.rank;
    A_d_.resize(r, r);
    A_i_.resize(r, n_ - r);
    for (int k = 0; k < r; ++k) {
      const int row = rows_[static_cast<std::size_t>(k)];
      for (int j = 0; j < r; ++j) A_d_(k, j) = A(row, columns_[static_cast<std::size_t>(j)]);
      for (int j = r; j < n_; ++j) A_i_(k, j - r) = A(row, columns_[static_cast<std::size_t>(j)]);
    }
    S_.setZero(n_, n_ - r);
    for (int j = r; j < n_; ++j) S_(columns_[static_cast<std::size_t>(j)], j - r) = 1.0;
    if (r > 0) {
      lu_.compute(A_d_);
      ratios_ = lu_.solve(A_i_);
      for (int k = 0; k < r; ++k) S_.row(columns_[static_cast<std::size_t>(k)]) = -ratios_.row(k);
    }
    size_scratch();
  }

  void size_scratch() {
    const Eigen::Index free = S_.cols();
    MS_.resize(n_, free);
    reduced_.resize(free, free);
    rhs_.resize(free);
  }

  /// How fast a dependent coordinate moves with an independent one, each measured by the root of its inertia.
  double largest_ratio() const {
    double largest = 0.0;
    const int r = rank_.rank;
    for (int k = 0; k < r; ++k)
      for (int j = r; j < n_; ++j)
        largest = std::max(largest, std::abs(ratios_(k, j - r)) * std::sqrt(weights_[columns_[static_cast<std::size_t>(j)]] /
                                                                            weights_[columns_[static_cast<std::size_t>(k)]]));
    return std::isfinite(largest) ? largest : kWorstRatio + 1.0;
  }

  void solve_dependent(VecX<double>& x) {
    const int r = rank_.rank;
    if (r == 0) return;
    x_ = lu_.solve(x.head(r));
    x.head(r) = x_;
  }
  void solve_transposed(VecX<double>& x) {
    const int r = rank_.rank;
    if (r == 0) return;
    // (P' L U)' = U' L' P, step by step: Eigen's own transposed solution allocates.
    x_ = x.head(r);
    lu_.matrixLU().triangularView<Eigen::Upper>().transpose().solveInPlace(x_);
    lu_.matrixLU().triangularView<Eigen::UnitLower>().transpose().solveInPlace(x_);
    x.head(r) = lu_.permutationP().transpose() * x_;
  }

  static constexpr double kWorstRatio = 3.0;

  int n_, m_;
  double sigma_;
  bool picked_ = false;
  std::vector<int> rows_;     // the independent rows, in the order of the pivots
  std::vector<int> columns_;  // the coordinates: as many dependent ones first
  std::vector<char> dependent_, found_dependent_;
  Rank rank_;
  RankTest rank_test_;
  MatX<double> work_, A_d_, A_i_, ratios_, S_, MS_, reduced_;
  VecX<double> weights_, v_d_, b_d_, r_, force_, rhs_, x_;
  Eigen::PartialPivLU<MatX<double>> lu_;
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
