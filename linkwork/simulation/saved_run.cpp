#include "linkwork/simulation/saved_run.h"

#include <algorithm>
#include <cmath>

namespace linkwork {

long first_multiple_after(double interval, double t) {
  constexpr double kMost = 4503599627370496.0;  // 2^52: beyond, a double does not tell neighbours apart
  const double multiples = t / interval;
  if (!(multiples < kMost)) return static_cast<long>(kMost);
  const auto is_later = [&](long n) { return static_cast<double>(n) * interval > t; };
  long n = static_cast<long>(std::max(0.0, std::floor(multiples)));
  while (!is_later(n)) ++n;
  while (n > 0 && is_later(n - 1)) --n;
  return n;
}

}  // namespace linkwork
