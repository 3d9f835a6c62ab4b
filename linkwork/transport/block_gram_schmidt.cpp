#include "linkwork/transport/block_gram_schmidt.h"

#include <Eigen/Cholesky>
#include <algorithm>
#include <cmath>
#include <cstddef>

namespace linkwork {

namespace {

/// What remains of a row of the panel after the rows before it in the panel, relative: below, the Cholesky factorization of P P'
/// loses too many digits.
constexpr double kWellConditioned = 1e-3;

/// A count rounded up to whole registers, within limits.
int rounded(int count, int smallest, int largest) { return std::clamp((count + 7) / 8 * 8, smallest, largest); }

/// The tasks of a sum or message: `length` items, `size` to a task but the last.
struct Tasks {
  int length;
  int size;
  int count() const { return (length + size - 1) / size; }
  int begin(int task) const { return std::min(task * size, length); }
  int width(int task) const { return begin(task + 1) - begin(task); }
};

/// Does the rank's share of the tasks, then exchanges results: `data` has `height` numbers an item.
template <class Work>
void share_tasks(Transport& transport, const Tasks& tasks, int height, double* data, std::vector<int>& ends, Work work) {
  const int size = transport.size();
  const Share mine = share_of(tasks.count(), transport.rank(), size);
  for (int task = mine.begin; task < mine.end; ++task) work(tasks.begin(task), tasks.width(task));
  ends.resize(static_cast<std::size_t>(size));
  for (int r = 0; r < size; ++r) ends[static_cast<std::size_t>(r)] = height * tasks.begin(share_of(tasks.count(), r, size).end);
  transport.gather({data, static_cast<std::size_t>(height) * static_cast<std::size_t>(tasks.length)}, ends);
}

}  // namespace

void BlockGramSchmidt::factor(Transport& transport, const MatX<double>& rows, std::span<const double> scale, double tolerance,
                              Gigsp::Factors& factors) {
  const int m = static_cast<int>(rows.cols());
  n_ = static_cast<int>(rows.rows());
  panel_rows_ = rounded(m / 16, 16, 64);
  tile_ = rounded(m / 16, 16, 128);
  chunk_ = rounded(n_ / 16, 16, 128);
  found_ = 0;
  panel_.resize(panel_rows_ * n_);
  shares_.resize(panel_rows_ * std::min(n_, m));
  factors.clear(n_, m);

  for (int first = 0; first < m; first += panel_rows_) {
    width_ = std::min(panel_rows_, m - first);
    const auto panel_scale = scale.subspan(static_cast<std::size_t>(first), static_cast<std::size_t>(width_));
    read_panel(rows, panel_scale, first);
    project(transport, factors, false);
    S1_ = shares();
    const bool at_once = orthonormalize_at_once(panel_scale, tolerance, factors);
    if (!at_once) orthonormalize_by_row(panel_scale, tolerance, factors);
    if (again_) project(transport, factors, at_once);
    append(first, factors);
  }
}

/// Rows that count for nothing are dependent and take no share of others, as in Gigsp::factor().
void BlockGramSchmidt::read_panel(const MatX<double>& rows, std::span<const double> scale, int first) {
  panel() = rows.middleCols(first, width_).transpose();
  for (int i = 0; i < width_; ++i)
    if (!(scale[static_cast<std::size_t>(i)] > 0.0)) panel().row(i).setZero();
  before_ = panel().rowwise().squaredNorm();
}

/// (1), or (3) with the division by L1 that (2) may have left to be done: S = P Q', then P <- P - S Q, or L1^-1 of both.
void BlockGramSchmidt::project(Transport& transport, const Gigsp::Factors& factors, bool divide) {
  if (width_ == 0) return;
  const auto L1 = L1_.topLeftCorner(divide ? width_ : 0, divide ? width_ : 0).triangularView<Eigen::Lower>();
  Block P = panel(), S = shares();
  share_tasks(transport, {found_, tile_}, width_, S.data(), ends_,
              [&](int at, int width) { S.middleCols(at, width).noalias() = P * factors.A1.middleCols(at, width); });
  share_tasks(transport, {n_, chunk_}, width_, P.data(), ends_, [&](int at, int width) {
    auto part = P.middleCols(at, width);
    if (found_ > 0) part.noalias() -= S * factors.A1.block(at, 0, width, found_).transpose();
    if (divide) L1.solveInPlace(part);
  });
  if (divide && found_ > 0) L1.solveInPlace(S);
}

/// (2) by P P' = L1 L1', if all rows are independent and enough so. The division of P by L1 is left to project(), which shares
/// it.
bool BlockGramSchmidt::orthonormalize_at_once(std::span<const double> scale, double tolerance, Gigsp::Factors& factors) {
  if (found_ + width_ > n_) return false;
  gram_.setZero(width_, width_);
  gram_.selfadjointView<Eigen::Lower>().rankUpdate(panel());
  L1_.setZero(width_, width_);
  again_ = false;
  double weakest = factors.rank.weakest;
  for (int i = 0; i < width_; ++i) {
    for (int j = 0; j < i; ++j) L1_(i, j) = (gram_(i, j) - L1_.row(i).head(j).dot(L1_.row(j).head(j))) / L1_(j, j);
    const double left = gram_(i, i) - L1_.row(i).head(i).squaredNorm();
    const double full = scale[static_cast<std::size_t>(i)];
    if (!(left > kWellConditioned * gram_(i, i)) || !is_independent(left, full, tolerance)) return false;
    L1_(i, i) = std::sqrt(left);
    again_ = again_ || left < 0.5 * before_[i];
    weakest = std::min(weakest, left / full);
  }
  factors.rank.weakest = weakest;
  independent_.resize(static_cast<std::size_t>(width_));
  for (int i = 0; i < width_; ++i) independent_[static_cast<std::size_t>(i)] = i;
  return true;
}

/// (2) row by row, each twice if it loses much of its length. Dependent rows leave the panel; their rows of L1 stay.
void BlockGramSchmidt::orthonormalize_by_row(std::span<const double> scale, double tolerance, Gigsp::Factors& factors) {
  columns_ = panel().transpose();
  L1_.setZero(width_, width_);
  share_.resize(width_);
  independent_.clear();
  again_ = true;
  int kept = 0;
  for (int i = 0; i < width_; ++i) {
    row_ = columns_.col(i);
    const auto earlier = columns_.leftCols(kept);
    auto share = share_.head(kept);
    double before = row_.squaredNorm(), after = before;
    for (int pass = 0; pass < 2; ++pass) {
      share.noalias() = earlier.transpose() * row_;
      row_.noalias() -= earlier * share;
      L1_.row(i).head(kept) += share.transpose();
      after = row_.squaredNorm();
      if (after > 0.5 * before) break;
      before = after;
    }
    const double full = scale[static_cast<std::size_t>(i)];
    if (!is_independent(after, full, tolerance) || found_ + kept == n_) continue;
    const double length = std::sqrt(after);
    columns_.col(kept) = row_ / length;
    L1_(i, kept++) = length;
    independent_.push_back(i);
    factors.rank.weakest = std::min(factors.rank.weakest, after / full);
  }
  width_ = kept;
  panel() = columns_.leftCols(kept).transpose();
}

/// (4) and (5), or their first half if once was enough.
void BlockGramSchmidt::append(int first, Gigsp::Factors& factors) {
  const auto L1 = L1_.leftCols(width_);
  auto R = factors.R.middleRows(first, S1_.rows());
  R.leftCols(found_) = S1_;
  if (width_ == 0) return;
  Block P = panel();
  if (again_) {
    R.leftCols(found_).noalias() += L1 * shares();
    gram_.setZero(width_, width_);
    gram_.selfadjointView<Eigen::Lower>().rankUpdate(P);
    L2_ = gram_.selfadjointView<Eigen::Lower>().llt().matrixL();
    L2_.triangularView<Eigen::Lower>().solveInPlace(P);
    R.middleCols(found_, width_).noalias() = L1 * L2_;
  } else {
    L1_.triangularView<Eigen::Lower>().solveInPlace(P);
    R.middleCols(found_, width_) = L1;
  }
  factors.A1.middleCols(found_, width_) = P.transpose();
  for (int row : independent_) {
    factors.kept.push_back(first + row);
    factors.dependent[static_cast<std::size_t>(first + row)] = 0;
  }
  found_ += width_;
  factors.rank.rank = found_;
}

void divide_by_triangle(Transport& transport, const MatX<double>& L, MatX<double>& rows) {
  const int n = static_cast<int>(rows.rows()), m = static_cast<int>(rows.cols());
  std::vector<int> ends;
  share_tasks(transport, {m, rounded(m / 16, 16, 64)}, n, rows.data(), ends, [&](int at, int width) {
    auto part = rows.middleCols(at, width);
    L.triangularView<Eigen::Lower>().solveInPlace(part);
  });
}

}  // namespace linkwork
