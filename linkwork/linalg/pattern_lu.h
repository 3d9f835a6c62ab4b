#pragma once

#include <Eigen/LU>
#include <memory>

#include "linkwork/linalg/sparse_matrix.h"
#include "linkwork/spatial/vector.h"

namespace linkwork {

/// From this size on a matrix with few entries is factored as a sparse one.
inline constexpr int kSparseFrom = 100;

/// LU factorization of square matrices that share a pattern: dense when they are small or full, else by KLU [Davis2010], which
/// keeps its ordering and, as long as the pivots remain good, its pivot sequence.
class PatternLu {
 public:
  PatternLu();
  ~PatternLu();
  PatternLu(PatternLu&&) noexcept;
  PatternLu& operator=(PatternLu&&) noexcept;

  void set_pattern(int size, std::span<const std::pair<int, int>> places);
  bool is_sparse() const { return sparse_; }
  int size() const { return static_cast<int>(matrix_.rows()); }

  /// To be filled before factor(): entries of the pattern only.
  SparseMatrix& matrix() { return matrix_; }
  void add(int row, int column, double value) { matrix_.coeffRef(row, column) += value; }
  /// False if the matrix is singular.
  bool factor();
  void solve(VecX<double>& x);

 private:
  struct Klu;
  SparseMatrix matrix_;
  bool sparse_ = false;
  MatX<double> dense_;
  Eigen::PartialPivLU<MatX<double>> lu_;
  VecX<double> permuted_;
  std::unique_ptr<Klu> klu_;
};

}  // namespace linkwork
