#include "linkwork/transport/row_gram_schmidt.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

namespace linkwork {

namespace {

int owner_of(int row, int m, int size, RowPartition partition) {
  if (partition == RowPartition::kCyclic) return row % size;
  int rank = 0;
  while (share_of(m, rank, size).end <= row) ++rank;
  return rank;
}

}  // namespace

void row_gram_schmidt(Transport& transport, const MatX<double>& rows, std::span<const double> scale, double tolerance,
                      RowPartition partition, Gigsp::Factors& factors) {
  const int n = static_cast<int>(rows.rows()), m = static_cast<int>(rows.cols());
  factors.clear(n, m);
  auto& [A1, R, kept, dependent, rank] = factors;

  std::vector<int> mine;
  for (int i = 0; i < m; ++i)
    if (owner_of(i, m, transport.size(), partition) == transport.rank()) mine.push_back(i);
  MatX<double> left(n, static_cast<Eigen::Index>(mine.size()));  // what is left of them
  for (std::size_t k = 0; k < mine.size(); ++k) left.col(static_cast<Eigen::Index>(k)) = rows.col(mine[k]);

  std::size_t next = 0;  // of mine
  VecX<double> message;  // squared length of what is left, the unit vector, the shares of earlier ones
  for (int i = 0; i < m; ++i) {
    const int found = rank.rank;
    const int owner = owner_of(i, m, transport.size(), partition);
    message.resize(1 + n + found);
    if (owner == transport.rank()) {
      const auto row = left.col(static_cast<Eigen::Index>(next++));
      const double squared = row.squaredNorm();
      message[0] = squared;
      message.segment(1, n) = row / (squared > 0.0 ? std::sqrt(squared) : 1.0);
      message.tail(found) = R.row(i).head(found).transpose();
    }
    transport.broadcast({message.data(), static_cast<std::size_t>(message.size())}, owner);
    R.row(i).head(found) = message.tail(found).transpose();
    const double full = scale[static_cast<std::size_t>(i)];
    if (found == n || !is_independent(message[0], full, tolerance)) continue;
    R(i, found) = std::sqrt(message[0]);
    A1.col(found) = message.segment(1, n);
    kept.push_back(i);
    dependent[static_cast<std::size_t>(i)] = 0;
    rank.weakest = std::min(rank.weakest, message[0] / full);
    ++rank.rank;
    for (std::size_t k = next; k < mine.size(); ++k) {
      auto row = left.col(static_cast<Eigen::Index>(k));
      const double share = A1.col(found).dot(row);
      row -= share * A1.col(found);
      R(mine[k], found) = share;
    }
  }
}

}  // namespace linkwork
