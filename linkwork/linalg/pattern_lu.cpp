#include "linkwork/linalg/pattern_lu.h"

#include <klu.h>

#include <cmath>

namespace linkwork {

/// What KLU keeps between factorizations.
struct PatternLu::Klu {
  klu_common common;
  klu_symbolic* symbolic = nullptr;
  klu_numeric* numeric = nullptr;

  Klu() { klu_defaults(&common); }
  Klu(const Klu&) = delete;
  Klu& operator=(const Klu&) = delete;
  ~Klu() {
    klu_free_numeric(&numeric, &common);
    klu_free_symbolic(&symbolic, &common);
  }

  bool factor(SparseMatrix& A) {
    constexpr double kWeakPivots = 1e-13;
    const int n = static_cast<int>(A.rows());
    if (symbolic == nullptr) symbolic = klu_analyze(n, A.outerIndexPtr(), A.innerIndexPtr(), &common);
    if (symbolic == nullptr) return false;
    if (numeric != nullptr) {
      const bool again = klu_refactor(A.outerIndexPtr(), A.innerIndexPtr(), A.valuePtr(), symbolic, numeric, &common) != 0;
      if (again && klu_rcond(symbolic, numeric, &common) != 0 && common.rcond > kWeakPivots) return true;
      klu_free_numeric(&numeric, &common);
    }
    numeric = klu_factor(A.outerIndexPtr(), A.innerIndexPtr(), A.valuePtr(), symbolic, &common);
    return numeric != nullptr && common.status == KLU_OK;
  }
};

PatternLu::PatternLu() = default;
PatternLu::~PatternLu() = default;
PatternLu::PatternLu(PatternLu&&) noexcept = default;
PatternLu& PatternLu::operator=(PatternLu&&) noexcept = default;

void PatternLu::set_pattern(int size, std::span<const std::pair<int, int>> places) {
  constexpr double kFull = 0.3;  // more than this part of the entries: dense is faster
  matrix_ = matrix_of_pattern(size, size, places);
  sparse_ = size >= kSparseFrom && static_cast<double>(matrix_.nonZeros()) < kFull * size * size;
  klu_ = sparse_ ? std::make_unique<Klu>() : nullptr;
  if (!sparse_) {
    dense_ = MatX<double>::Zero(size, size);
    lu_ = Eigen::PartialPivLU<MatX<double>>(size);
  }
}

bool PatternLu::factor() {
  if (sparse_) return klu_->factor(matrix_);
  if (size() == 0) return true;
  dense_.setZero();
  for (int column = 0; column < matrix_.cols(); ++column)
    for (SparseMatrix::InnerIterator entry(matrix_, column); entry; ++entry) dense_(entry.row(), column) = entry.value();
  lu_.compute(dense_);
  const auto pivots = lu_.matrixLU().diagonal().cwiseAbs();
  const double smallest = pivots.minCoeff();
  return std::isfinite(smallest) && smallest > 1e-300;
}

void PatternLu::solve(VecX<double>& x) {
  if (size() == 0) return;
  if (sparse_) {
    klu_solve(klu_->symbolic, klu_->numeric, size(), 1, x.data(), &klu_->common);
    return;
  }
  permuted_ = lu_.permutationP() * x;  // in place Eigen would allocate
  x.swap(permuted_);
  lu_.matrixLU().triangularView<Eigen::UnitLower>().solveInPlace(x);
  lu_.matrixLU().triangularView<Eigen::Upper>().solveInPlace(x);
}

}  // namespace linkwork
