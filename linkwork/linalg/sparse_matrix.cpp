#include "linkwork/linalg/sparse_matrix.h"

#include <algorithm>

namespace linkwork {

SparseMatrix matrix_of_pattern(int rows, int columns, std::span<const std::pair<int, int>> places) {
  std::vector<Eigen::Triplet<double>> entries;
  entries.reserve(places.size());
  for (const auto& [row, column] : places) entries.emplace_back(row, column, 0.0);
  SparseMatrix matrix(rows, columns);
  matrix.setFromTriplets(entries.begin(), entries.end());
  return matrix;
}

std::vector<std::vector<int>> independent_column_groups(const SparseMatrix& pattern) {
  std::vector<std::vector<int>> groups;
  std::vector<std::vector<char>> taken;  // by group: rows already touched
  for (int column = 0; column < pattern.cols(); ++column) {
    std::size_t g = 0;
    for (; g < groups.size(); ++g) {
      bool free = true;
      for (SparseMatrix::InnerIterator entry(pattern, column); entry && free; ++entry)
        free = taken[g][static_cast<std::size_t>(entry.row())] == 0;
      if (free) break;
    }
    if (g == groups.size()) {
      groups.emplace_back();
      taken.emplace_back(static_cast<std::size_t>(pattern.rows()), 0);
    }
    groups[g].push_back(column);
    for (SparseMatrix::InnerIterator entry(pattern, column); entry; ++entry) taken[g][static_cast<std::size_t>(entry.row())] = 1;
  }
  return groups;
}

}  // namespace linkwork
