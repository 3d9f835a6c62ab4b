#pragma once

#include <span>
#include <vector>

#include "linkwork/transport/block_gram_schmidt.h"
#include "linkwork/transport/thread_team.h"

namespace linkwork {

/// BlockGramSchmidt on threads of this process. The result is the same for any number of them.
class ThreadedGramSchmidt {
 public:
  explicit ThreadedGramSchmidt(int threads);

  /// rows <- L^-1 rows, with L the lower triangle of `triangle`; then the factors of these, as Gigsp::factor() makes them.
  void factor(const MatX<double>& triangle, MatX<double>& rows, std::span<const double> scale, double tolerance,
              Gigsp::Factors& factors);

 private:
  /// What a thread beside the caller has for itself.
  struct Worker {
    MatX<double> rows;
    Gigsp::Factors factors;
  };

  ThreadTeam team_;
  std::vector<BlockGramSchmidt> processes_;  // by rank
  std::vector<Worker> workers_;              // by rank, from 1
};

}  // namespace linkwork
