#pragma once

#include <algorithm>

#include "linkwork/linalg/rank.h"

namespace linkwork {

/// ranked_inverse() of two rows, the most frequent case (planar loops), written out.
inline Rank ranked_inverse_of_two(double* a, const double* scale, char* dependent) {
  const double ratio[2] = {scale[0] > 0.0 ? a[0] / scale[0] : 0.0, scale[1] > 0.0 ? a[3] / scale[1] : 0.0};
  const int p = ratio[1] > ratio[0] ? 1 : 0, q = 1 - p;
  Rank result;
  dependent[0] = dependent[1] = 1;
  if (!(ratio[p] > kRankTolerance)) {
    a[0] = a[1] = a[2] = a[3] = 0.0;
    return result;
  }
  const double first = 1.0 / a[3 * p], factor = a[1] * first, left = a[3 * q] - a[1] * factor;
  dependent[p] = 0;
  result = {1, std::min(result.weakest, ratio[p])};
  a[3 * p] = first;
  a[3 * q] = a[1] = a[2] = 0.0;
  const double second_ratio = scale[q] > 0.0 ? left / scale[q] : 0.0;
  if (!(second_ratio > kRankTolerance)) return result;
  dependent[q] = 0;
  const double second = 1.0 / left;
  a[3 * q] = second;
  a[1] = a[2] = -factor * second;
  a[3 * p] = first + factor * factor * second;
  return {2, std::min(result.weakest, second_ratio)};
}

}  // namespace linkwork
