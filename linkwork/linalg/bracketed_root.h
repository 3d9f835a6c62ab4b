#pragma once

#include <algorithm>
#include <cmath>

namespace linkwork {

/// An interval in which a function turns from positive to not positive.
struct Bracket {
  double low, high;
  double at_low, at_high;  // > 0, <= 0
};

/// Shrinks the bracket to at most `width` by the method "interpolate, truncate, project" [Oliveira2020]: about as many
/// evaluations as the secant method takes, and never more than bisection by more than one. Returns false if f says that it cannot
/// go on, by not being finite.
template <class F>
bool shrink(Bracket& b, double width, F&& f) {
  const double start = b.high - b.low;
  if (!(start > width)) return true;
  const double truncation = 0.2 / start;
  const int most = static_cast<int>(std::ceil(std::log2(start / width))) + 1;
  for (int j = 0; b.high - b.low > width; ++j) {
    const double middle = 0.5 * (b.low + b.high);
    const double radius = std::max(0.0, 0.5 * width * std::exp2(most - j) - 0.5 * (b.high - b.low));
    const double secant = (b.at_low * b.high - b.at_high * b.low) / (b.at_low - b.at_high);
    const double toward = std::copysign(1.0, middle - secant);
    const double cut = truncation * (b.high - b.low) * (b.high - b.low);
    const double truncated = cut <= std::abs(middle - secant) ? secant + toward * cut : middle;
    double x = std::abs(truncated - middle) <= radius ? truncated : middle - toward * radius;
    if (!(x > b.low && x < b.high)) x = middle;
    if (!(x > b.low && x < b.high)) return true;  // no number between them
    const double y = f(x);
    if (!std::isfinite(y)) return false;
    if (y > 0.0)
      b.low = x, b.at_low = y;
    else
      b.high = x, b.at_high = y;
  }
  return true;
}

}  // namespace linkwork
