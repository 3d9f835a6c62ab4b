#pragma once

#include <optional>
#include <utility>

#include "linkwork/coordinates/loop_elimination.h"
#include "linkwork/dynamics/force_balance.h"
#include "linkwork/dynamics/partitioned_solution.h"
#include "linkwork/dynamics/redundancy.h"

namespace linkwork {

/// How velocities answer to impulses: M x = tau + A' P, A x = change, with the forces in the system's work taken as impulses.
/// By the recursion, held against both equations; where it has lost digits or rows, as where light bodies carry heavy ones or a
/// joint moves no inertia, by partitioned_solution.h.
class ImpulseResponse {
 public:
  explicit ImpulseResponse(const Model& model);

  /// At the state of a system that is up to date. Dependent rows get P = 0. Returns the largest part of `change` that they ask
  /// for in vain, and in which row (-1: none).
  std::pair<double, int> solve(System& system, const VecX<double>& change, VecX<double>& x, VecX<double>& P);

 private:
  void solve_by_recursion(System& system, const VecX<double>& change, VecX<double>& x, VecX<double>& P);
  bool is_solved(System& system, const VecX<double>& change, const VecX<double>& x, const VecX<double>& P);

  LoopElimination loops_;
  ForceBalance balance_;
  std::optional<PartitionedSolution> partition_;
  std::optional<Solution> solution_;
  VecX<double> missed_, left_, sizes_;
  std::vector<char> dependent_;
};

}  // namespace linkwork
