#pragma once

#include <Eigen/SparseCore>
#include <span>
#include <utility>
#include <vector>

namespace linkwork {

/// Compressed columns, rows ascending. The pattern is set once; values change.
using SparseMatrix = Eigen::SparseMatrix<double>;

/// A matrix of zeros that has an entry at each of the given (row, column) places; repeated ones count once.
SparseMatrix matrix_of_pattern(int rows, int columns, std::span<const std::pair<int, int>> places);

inline void set_zero(SparseMatrix& matrix) { std::fill_n(matrix.valuePtr(), matrix.nonZeros(), 0.0); }

/// Columns in groups of which no two have an entry in the same row, so that one difference serves a whole group
/// [Curtis1974]. Greedy, in the given order.
std::vector<std::vector<int>> independent_column_groups(const SparseMatrix& pattern);

}  // namespace linkwork
