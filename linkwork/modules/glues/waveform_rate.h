#pragma once

#include <vector>

#include "linkwork/spatial/vector.h"

namespace linkwork {

/// Constraints between modules as waveform relaxation sees them at one instant: each module's rows G on the accelerations of its
/// ports, their response D, and which module follows in each row. Modules take their turns in `order`.
struct WaveCoupling {
  std::vector<MatX<double>> G, D;  // by module; all rows of the whole
  std::vector<int> follower;       // by row
  std::vector<int> order;

  /// By how much an error of accelerations and multipliers is multiplied in each iteration, in the end, whatever the window: the
  /// spectral radius of one turn of all modules, multipliers relaxed by `weight`. Of two modules it is that of W_B^-1 W_A.
  double contraction(double weight) const;
  /// False: a module that is to follow cannot move that way.
  bool can_follow() const;
  /// The weight with which errors shrink fastest.
  double best_weight() const;

 private:
  int row_count() const { return static_cast<int>(follower.size()); }
  MatX<double> following(std::size_t module) const;
};

}  // namespace linkwork
