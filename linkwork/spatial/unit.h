#pragma once

#include <cmath>
#include <limits>

#include "linkwork/spatial/vector.h"

namespace linkwork {

/// A vector scaled to length 1. One that has it up to rounding stays as it is, so that what was written is read with the same
/// bits; others are divided by their largest number first, so that neither tiny nor huge ones lose digits.
template <int N>
Eigen::Matrix<double, N, 1> unit(const Eigen::Matrix<double, N, 1>& v) {
  constexpr double kRounding = 4.0 * std::numeric_limits<double>::epsilon();
  if (std::abs(v.squaredNorm() - 1.0) <= kRounding) return v;
  return (v / v.cwiseAbs().maxCoeff()).normalized();
}

}  // namespace linkwork
