#include "linkwork/linalg/block_ldlt.h"

#include <algorithm>
#include <set>

namespace linkwork {

BlockLdlt::BlockLdlt(std::vector<int> block_sizes, std::span<const std::pair<int, int>> coupled) {
  const std::size_t n = block_sizes.size();
  columns_.resize(n);
  position_.resize(n);
  int row = 0;
  std::size_t diagonal = 0;
  for (std::size_t b = 0; b < n; ++b) {
    const int size = block_sizes[b];
    columns_[b] = {static_cast<int>(b), size, row, diagonal, {}};
    row += size;
    diagonal += static_cast<std::size_t>(size * size);
  }
  diagonal_.resize(diagonal);
  inverse_.resize(diagonal);
  dependent_.resize(static_cast<std::size_t>(row));
  inconsistency_.resize(static_cast<std::size_t>(row));
  order_and_fill(coupled);
}

/// Least degree first; eliminating a block couples all its remaining neighbours.
void BlockLdlt::order_and_fill(std::span<const std::pair<int, int>> coupled) {
  const std::size_t n = columns_.size();
  std::vector<std::set<int>> neighbours(n);
  for (const auto& [i, j] : coupled) {
    if (i == j) continue;
    neighbours[static_cast<std::size_t>(i)].insert(j);
    neighbours[static_cast<std::size_t>(j)].insert(i);
  }
  std::set<std::pair<std::size_t, int>> by_degree;
  for (std::size_t b = 0; b < n; ++b) by_degree.insert({neighbours[b].size(), static_cast<int>(b)});
  std::vector<Column> ordered;
  std::vector<std::vector<int>> later(n);
  while (!by_degree.empty()) {
    const int b = by_degree.begin()->second;
    by_degree.erase(by_degree.begin());
    position_[static_cast<std::size_t>(b)] = static_cast<int>(ordered.size());
    ordered.push_back(columns_[static_cast<std::size_t>(b)]);
    const std::set<int> near = std::move(neighbours[static_cast<std::size_t>(b)]);
    later[static_cast<std::size_t>(b)].assign(near.begin(), near.end());
    for (int i : near) {
      auto& of_i = neighbours[static_cast<std::size_t>(i)];
      by_degree.erase({of_i.size(), i});
      of_i.erase(b);
      for (int j : near)
        if (j != i) of_i.insert(j);
      by_degree.insert({of_i.size(), i});
    }
  }
  std::size_t values = 0;
  for (Column& column : ordered) {
    for (int b : later[static_cast<std::size_t>(column.block)])
      column.below.push_back({position_[static_cast<std::size_t>(b)], 0});
    std::ranges::sort(column.below, {}, &Below::row);
    for (Below& below : column.below) {
      below.values = values;
      values += static_cast<std::size_t>(ordered[static_cast<std::size_t>(below.row)].size * column.size);
    }
  }
  columns_ = std::move(ordered);
  off_diagonal_.resize(values);
  scaled_.resize(values);
}

const BlockLdlt::Below* BlockLdlt::find(int row, int column) const {
  const auto& below = columns_[static_cast<std::size_t>(column)].below;
  const auto found = std::ranges::lower_bound(below, row, {}, &Below::row);
  return &*found;
}

void BlockLdlt::set_zero() {
  std::ranges::fill(diagonal_, 0.0);
  std::ranges::fill(off_diagonal_, 0.0);
}

void BlockLdlt::set_block(int i, int j, const double* values) {
  const int pi = position_[static_cast<std::size_t>(i)], pj = position_[static_cast<std::size_t>(j)];
  const Column& ci = columns_[static_cast<std::size_t>(pi)];
  const Column& cj = columns_[static_cast<std::size_t>(pj)];
  if (i == j) {
    std::copy(values, values + ci.size * ci.size, diagonal_.begin() + static_cast<std::ptrdiff_t>(ci.diagonal));
  } else if (pi > pj) {
    std::copy(values, values + ci.size * cj.size, off_diagonal_.begin() + static_cast<std::ptrdiff_t>(find(pi, pj)->values));
  } else {
    double* const out = &off_diagonal_[find(pj, pi)->values];
    for (int r = 0; r < ci.size; ++r)
      for (int c = 0; c < cj.size; ++c) out[c * ci.size + r] = values[r * cj.size + c];
  }
}

Rank BlockLdlt::factor(std::span<const double> scale) {
  Rank total;
  for (std::size_t k = 0; k < columns_.size(); ++k) {
    const Column& column = columns_[k];
    const int nk = column.size;
    double* const P = &inverse_[column.diagonal];
    std::copy(&diagonal_[column.diagonal], &diagonal_[column.diagonal] + nk * nk, P);
    const auto first = static_cast<std::size_t>(column.first_row);
    const std::span<char> dependent(&dependent_[first], static_cast<std::size_t>(nk));
    const Rank block =
        ranked_inverse({P, static_cast<std::size_t>(nk * nk)}, nk, scale.subspan(first, static_cast<std::size_t>(nk)), dependent);
    total.rank += block.rank;
    total.weakest = std::min(total.weakest, block.weakest);
    for (const Below& i : column.below) {
      const int ni = columns_[static_cast<std::size_t>(i.row)].size;
      const double* const A = &off_diagonal_[i.values];
      double* const T = &scaled_[i.values];
      for (int r = 0; r < ni; ++r)
        for (int c = 0; c < nk; ++c) {
          double sum = 0.0;
          for (int l = 0; l < nk; ++l) sum += A[r * nk + l] * P[l * nk + c];
          T[r * nk + c] = sum;
        }
    }
    for (std::size_t a = 0; a < column.below.size(); ++a) {
      const Below& i = column.below[a];
      const int ni = columns_[static_cast<std::size_t>(i.row)].size;
      for (std::size_t b = 0; b <= a; ++b) {
        const Below& j = column.below[b];
        const Column& cj = columns_[static_cast<std::size_t>(j.row)];
        double* const target = a == b ? &diagonal_[cj.diagonal] : &off_diagonal_[find(i.row, j.row)->values];
        const double* const T = &scaled_[i.values];
        const double* const A = &off_diagonal_[j.values];
        for (int r = 0; r < ni; ++r)
          for (int c = 0; c < cj.size; ++c) {
            double sum = 0.0;
            for (int l = 0; l < nk; ++l) sum += T[r * nk + l] * A[c * nk + l];
            target[r * cj.size + c] -= sum;
          }
      }
    }
  }
  return total;
}

void BlockLdlt::solve(const double* rhs, double* x) {
  if (x != rhs) std::copy(rhs, rhs + rows(), x);
  for (const Column& column : columns_) {
    const double* const y = x + column.first_row;
    for (const Below& i : column.below) {
      const Column& ci = columns_[static_cast<std::size_t>(i.row)];
      const double* const T = &scaled_[i.values];
      for (int r = 0; r < ci.size; ++r)
        for (int c = 0; c < column.size; ++c) x[ci.first_row + r] -= T[r * column.size + c] * y[c];
    }
  }
  for (auto column = columns_.rbegin(); column != columns_.rend(); ++column) {
    const int nk = column->size;
    const double* const P = &inverse_[column->diagonal];
    const double* const D = &diagonal_[column->diagonal];
    double* const y = x + column->first_row;
    double z[16];
    for (int r = 0; r < nk; ++r) {
      z[r] = 0.0;
      for (int c = 0; c < nk; ++c) z[r] += P[r * nk + c] * y[c];
    }
    for (int r = 0; r < nk; ++r) {
      const auto row = static_cast<std::size_t>(column->first_row + r);
      inconsistency_[row] = 0.0;
      if (!dependent_[row]) continue;
      double met = 0.0;
      for (int c = 0; c < nk; ++c) met += D[r * nk + c] * z[c];
      inconsistency_[row] = y[r] - met;
    }
    std::copy(z, z + nk, y);
    for (const Below& i : column->below) {
      const Column& ci = columns_[static_cast<std::size_t>(i.row)];
      const double* const T = &scaled_[i.values];
      for (int r = 0; r < ci.size; ++r)
        for (int c = 0; c < nk; ++c) y[c] -= T[r * nk + c] * x[ci.first_row + r];
    }
  }
}

}  // namespace linkwork
