#pragma once

#include "linkwork/dynamics/system.h"
#include "linkwork/linalg/block_ldlt.h"

namespace linkwork {

/// How the tree answers to constraint forces: A M^-1 A' by recursion, its sparse factorization with rank decisions, and the two
/// products with A around it. Shared by the Schur formulation, projections and assembly.
class ConstraintResponse {
 public:
  explicit ConstraintResponse(const Model& model);

  /// Reduces the columns of A, builds and factors A M^-1 A'. Needs the system's articulated inertias (aba_*).
  void factor(System& system);
  const Rank& rank() const { return rank_; }
  const std::vector<char>& dependent() const { return schur_.dependent(); }
  /// By row: what of the last right-hand side the dependent rows could not meet.
  const std::vector<double>& inconsistency() const { return schur_.inconsistency(); }

  /// lambda with A M^-1 A' lambda = rhs.
  void solve(const VecX<double>& rhs, VecX<double>& lambda) { schur_.solve(rhs.data(), lambda.data()); }
  /// out = A M^-1 x, for a reduced x (TreeWork::u).
  void apply(const System& system, const VecX<double>& u, VecX<double>& out) const;
  /// u += F A' lambda: what aba_forward() then turns into M^-1 A' lambda.
  void add_force(const System& system, const VecX<double>& lambda, VecX<double>& u) const;

 private:
  struct Pair {
    int a, b;
    std::vector<std::pair<int, int>> common;
  };
  std::vector<Pair> pairs_;  // coupled groups, a == b included
  BlockLdlt schur_;
  std::vector<double> scale_;
  Rank rank_;
};

}  // namespace linkwork
