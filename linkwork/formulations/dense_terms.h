#pragma once

#include <Eigen/Cholesky>
#include <optional>
#include <string_view>

#include "linkwork/dynamics/catalog.h"
#include "linkwork/dynamics/force_balance.h"
#include "linkwork/dynamics/formulation.h"
#include "linkwork/dynamics/redundancy.h"
#include "linkwork/linalg/ranked_rows.h"

namespace linkwork {

/// What formulations on dense matrices share: the terms of M vdot = force + A' lambda, A vdot = b, and the scales that rank
/// decisions and penalties are relative to.
class DenseTerms {
 public:
  /// M, A, b and force = tau - c at the system's state, and scales by M_jj.
  void update(System& system);
  /// The same with M = L L', and scales by L_jj^2: the inertia of a joint with the joints after it held. A motion without
  /// inertia is trouble, and named.
  Status update_factored(System& system, std::string_view formulation);

  const MatX<double>& M() const { return *M_; }
  const MatX<double>& A() const { return *A_; }
  const VecX<double>& b() const { return *b_; }
  const VecX<double>& force() const { return force_; }
  const Eigen::LLT<MatX<double>>& mass() const { return mass_; }
  /// By velocity: 1/sqrt(inertia), 1 where there is none. By row: the squared length of rank.h, and 1/sqrt of it.
  const VecX<double>& velocity_unit() const { return velocity_unit_; }
  const VecX<double>& scale() const { return scale_; }
  const VecX<double>& row_unit() const { return row_unit_; }
  std::span<const double> scales() const { return {scale_.data(), static_cast<std::size_t>(scale_.size())}; }

  /// Rank and dependent rows at the system's state. Rows that act on nothing but rounding are left out: their unit is 0.
  Rank decide_rank(System& system, std::span<char> dependent);

  /// Trouble if the solution is not one: A vdot = b, as far as the rows agree, and M vdot = force + A' lambda, of which it takes
  /// back what rounding did.
  Status verify(System& system, std::string_view formulation, Solution& solution);

 private:
  void scale_rows(System& system);
  bool contradict(System& system);

  const MatX<double>* M_ = nullptr;
  const MatX<double>* A_ = nullptr;
  const VecX<double>* b_ = nullptr;
  const Model::Units* units_ = nullptr;
  VecX<double> force_, weights_, velocity_unit_, scale_, row_unit_;
  VecX<double> vdot_size_, row_size_, unmet_;
  double usual_ = 0.0;  // a usual acceleration, 1/s^2
  RowRank rank_;
  RankedRows rows_;
  std::optional<ForceBalance> forces_;
  Eigen::LLT<MatX<double>> mass_;
};

/// The largest acceleration that dependent rows ask for in vain.
double unmet_acceleration(const DenseTerms& terms, const VecX<double>& vdot, std::span<const char> dependent);

}  // namespace linkwork
