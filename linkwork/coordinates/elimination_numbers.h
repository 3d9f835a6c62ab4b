#pragma once

#include <algorithm>
#include <array>

#include "linkwork/coordinates/elimination_plan.h"
#include "linkwork/linalg/index.h"
#include "linkwork/linalg/rank.h"
#include "linkwork/model/closures/frame_closure.h"
#include "linkwork/spatial/lanes.h"

/// What EliminationPasses does with rows of numbers by column.
namespace linkwork {

namespace recursions {

/// Columns at a time: of a double four in the lanes of one vector, of lanes one.
template <class S>
inline constexpr int kTogether = kIsLanes<S> ? 1 : kColumnsAtATime;
template <class S>
constexpr int steps(int columns) {
  return kIsLanes<S> || columns <= 1 ? columns : 1 + (columns - 1) / kTogether<S>;
}
/// Places of numbers are aligned, vectors on the stack need not be.
using Unaligned [[gnu::vector_size(32), gnu::aligned(8)]] = double;
using FourColumns = LanesOf<kColumnsAtATime>;
inline FourColumns load(const double* x) { return FourColumns(FourColumns::Vector(*reinterpret_cast<const Unaligned*>(x))); }
inline void store(const FourColumns& a, double* x) { *reinterpret_cast<Unaligned*>(x) = a.v; }
template <int N>
const LanesOf<N>& load(const LanesOf<N>* x) {
  return *x;
}
template <int N>
void store(const LanesOf<N>& a, LanesOf<N>* x) {
  *x = a;
}
/// What load() gives of numbers S.
template <class S>
using Loaded = std::conditional_t<kIsLanes<S>, S, FourColumns>;

/// Of the part that counts: a spherical joint's is in the upper left block, the rest zero.
template <class S>
S largest_of_diagonal(const Mat6<S>& A) {
  using std::max;
  S most = A(0, 0);
  for (int k = 1; k < 6; ++k) most = max(most, A(k, k));
  return most;
}

/// Lambda += u y', or = if `first`. The frequent sizes are written out: a loop costs more than what it does.
template <class S>
[[gnu::always_inline]] inline void add_outer(int rows, int columns, bool first, const S* u, const S* y, S* Lambda) {
  using Lanes = Loaded<S>;
  constexpr int w = kTogether<S>;
  const auto add = [first](const S& factor, const Lanes& own, S* to) {
    const Lanes term = Lanes(factor) * own;
    store(first ? term : load(to) + term, to);
  };
  if (!kIsLanes<S> && columns <= kColumnsAtATime) {
    const Lanes own = load(y);
    if (rows == 2) {
      add(u[0], own, Lambda), add(u[1], own, Lambda + kColumnsAtATime);
      return;
    }
    for (int r = 0; r < rows; ++r, Lambda += kColumnsAtATime) add(u[r], own, Lambda);
  } else if (columns == 2) {
    for (int r = 0; r < rows; ++r, Lambda += kColumnsAtATime) add(u[r], load(y), Lambda), add(u[r], load(y + w), Lambda + w);
  } else {
    const int count = steps<S>(columns), stride = padded(columns);
    for (int r = 0; r < rows; ++r, Lambda += stride)
      for (int k = 0; k < count; ++k) add(u[r], load(y + k * w), Lambda + k * w);
  }
}

/// The same of few columns that stand in one vector.
[[gnu::always_inline]] inline void add_outer_of_few(int rows, bool first, const double* u, const double* y, double* Lambda) {
  const FourColumns own = load(y);
  do {
    const FourColumns term = FourColumns(*u) * own;
    store(first ? term : load(Lambda) + term, Lambda);
    ++u, Lambda += kColumnsAtATime;
  } while (--rows > 0);
}

/// The same, of kCount u and y that stand one after the other.
template <int kCount, class S>
[[gnu::always_inline]] inline void add_outers(int rows, int columns, bool first, const S* u, const S* y, S* Lambda) {
  using Lanes = Loaded<S>;
  constexpr int w = kTogether<S>;
  const int stride = padded(columns), u_stride = padded(rows), count = steps<S>(columns);
  for (int k = 0; k < count; ++k) {
    std::array<Lanes, at(kCount)> own;
    for (int l = 0; l < kCount; ++l) own[at(l)] = load(y + l * stride + k * w);
    S* to = Lambda + k * w;
    for (int r = 0; r < rows; ++r, to += stride) {
      Lanes sum = Lanes(u[r]) * own[0];
      if (!first) sum += load(to);
      for (int l = 1; l < kCount; ++l) sum += Lanes(u[l * u_stride + r]) * own[at(l)];
      store(sum, to);
    }
  }
}

/// A x, of a matrix that is the same for all columns.
template <class Matrix, class Lanes>
[[gnu::always_inline]] inline Vec3<Lanes> times(const Matrix& A, const Vec3<Lanes>& x) {
  const auto row = [&](int k) { return Lanes(A(k, 0)) * x.x() + Lanes(A(k, 1)) * x.y() + Lanes(A(k, 2)) * x.z(); };
  return {row(0), row(1), row(2)};
}

/// The same as ranked_inverse(), lane by lane. Returns by lane the weakest pivot relative to its row's scale, 0 where rows depend
/// on others.
template <int N>
LanesOf<N> ranked_inverse_in_lanes(LanesOf<N>* a, int m, const LanesOf<N>* scale) {
  using Lanes = LanesOf<N>;
  const Lanes zero(0.0), one(1.0), tolerance(kRankTolerance);
  const auto ratio = [&](int p) { return select(scale[p] > zero, a[p * m + p] / scale[p], zero); };
  if (m == 2) {
    const Lanes ratio0 = ratio(0), ratio1 = ratio(1);
    const LaneMask<N> second_first = ratio1 > ratio0;
    const Lanes best = select(second_first, ratio1, ratio0);
    const Lanes first = one / select(second_first, a[3], a[0]), factor = a[1] * first;
    const Lanes left = select(second_first, a[0], a[3]) - a[1] * factor, left_scale = select(second_first, scale[0], scale[1]);
    const Lanes left_ratio = select(left_scale > zero, left / left_scale, zero), second = one / left;
    const Lanes whole = first + factor * factor * second;
    a[0] = select(second_first, second, whole), a[3] = select(second_first, whole, second);
    a[1] = a[2] = -factor * second;
    return select((best > tolerance) & (left_ratio > tolerance), min(min(one, best), left_ratio), zero);
  }
  // Sweeps with the pivots that a lane chooses. What other lanes choose as well is done with it; the rest have a turn of their
  // own. So what a lane gets does not depend on the others.
  constexpr int kMost = kMaxRows;
  std::array<Lanes, kMost * kMost> given;
  std::copy_n(a, m * m, given.data());
  LaneMask<N> left = LaneMask<N>::of(true);
  Lanes weakest_of_all = zero;
  for (int lane = 0; lane < N; ++lane) {
    if (!left[lane]) continue;
    std::array<Lanes, kMost* kMost> own = given;
    std::array<bool, kMost> swept{};
    Lanes weakest = one;
    LaneMask<N> alike = left;
    for (int count = 0; count < m; ++count) {
      Lanes best = tolerance, place(-1.0);
      for (int i = 0; i < m; ++i) {
        if (swept[at(i)]) continue;
        const Lanes pivot = own[at(i * m + i)], each = select(scale[i] > zero, pivot / scale[i], zero);
        const LaneMask<N> is_better = each > best;
        best = select(is_better, each, best), place = select(is_better, Lanes(i), place);
      }
      alike &= !(place != Lanes(place[lane]));
      const int p = static_cast<int>(place[lane]);
      if (p < 0) {  // nothing is left of the other rows
        weakest = zero;
        break;
      }
      const Lanes inverse = one / own[at(p * m + p)];
      for (int i = 0; i < m; ++i) {
        if (i == p) continue;
        const Lanes factor = own[at(i * m + p)] * inverse;
        for (int j = 0; j < m; ++j)
          if (j != p) own[at(i * m + j)] -= factor * own[at(p * m + j)];
        own[at(i * m + p)] = factor;
      }
      for (int j = 0; j < m; ++j)
        if (j != p) own[at(p * m + j)] = own[at(j * m + p)];
      own[at(p * m + p)] = -inverse;
      swept[at(p)] = true;
      weakest = min(weakest, best);
    }
    for (int i = 0; i < m * m; ++i) a[i] = select(alike, -own[at(i)], a[i]);
    weakest_of_all = select(alike, weakest, weakest_of_all);
    left &= !alike;
  }
  return weakest_of_all;
}

}  // namespace recursions

}  // namespace linkwork
