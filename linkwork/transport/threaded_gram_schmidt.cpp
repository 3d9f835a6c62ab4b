#include "linkwork/transport/threaded_gram_schmidt.h"

#include <cstddef>

namespace linkwork {

ThreadedGramSchmidt::ThreadedGramSchmidt(int threads)
    : team_(threads), processes_(static_cast<std::size_t>(threads)), workers_(static_cast<std::size_t>(threads) - 1) {}

void ThreadedGramSchmidt::factor(const MatX<double>& triangle, MatX<double>& rows, std::span<const double> scale,
                                 double tolerance, Gigsp::Factors& factors) {
  for (Worker& worker : workers_) worker.rows = rows;
  team_.run([&](Transport& transport) {
    const auto rank = static_cast<std::size_t>(transport.rank());
    MatX<double>& mine = rank == 0 ? rows : workers_[rank - 1].rows;
    divide_by_triangle(transport, triangle, mine);
    processes_[rank].factor(transport, mine, scale, tolerance, rank == 0 ? factors : workers_[rank - 1].factors);
  });
}

}  // namespace linkwork
