#pragma once

#include <Eigen/Cholesky>
#include <string_view>

#include "linkwork/dynamics/force_balance.h"
#include "linkwork/dynamics/formulation.h"
#include "linkwork/linalg/coordinate_partition.h"

namespace linkwork {

/// Accelerations by splitting the coordinates into dependent and independent ones, with S = [-A_d^-1 A_i; 1]:
/// (1)  vdot = S vdot_i + gamma,  gamma = [A_d^-1 b; 0]
/// (2)  S' M S vdot_i = S' (tau - c - M gamma)
/// (3)  A_d' lambda = (M vdot + c - tau)_d
/// Coordinates are chosen by the geometry alone, so masses may differ by any factor. Rows that add nothing to the others are
/// left out.
class PartitionedSolution {
 public:
  explicit PartitionedSolution(const Model& model);

  /// The split at the system's state.
  void update(System& system);
  const CoordinatePartition& partition() const { return partition_; }
  CoordinatePartition& partition() { return partition_; }
  int column(int k) const { return partition_.columns()[static_cast<std::size_t>(k)]; }

  /// (1) to (3), after update(). Trouble if a motion the constraints leave has no inertia; `formulation` is for its words.
  Status solve(System& system, const VecX<double>& b, std::string_view formulation, Solution& solution);
  /// The same for impulses, M x = tau + A' P and A x = b, with the forces in the system's work taken as impulses.
  Status solve_impulses(System& system, const VecX<double>& b, Solution& solution);

 private:
  Status solve_forced(System& system, const VecX<double>& b, std::string_view formulation, Solution& solution);
  void judge(System& system, const VecX<double>& b, Solution& solution) const;

  int n_, m_;
  CoordinatePartition partition_;
  MatX<double> MS_, reduced_;
  VecX<double> weights_, b_d_, r_, force_, rhs_;
  Eigen::LLT<MatX<double>> llt_;
  ForceBalance forces_;
};

}  // namespace linkwork
