#include "linkwork/switching/step_watch.h"

#include <algorithm>
#include <cmath>

namespace linkwork {

void StepWatch::begin(std::span<const Jet> values, double t) {
  const bool same = functions_.size() == values.size();
  functions_.resize(values.size());
  for (std::size_t k = 0; k < values.size(); ++k) {
    Function& f = functions_[k];
    f.before = same ? f.low.value : values[k].value;
    f.low = {t, values[k].value, values[k].d1};
    f.is_open = false;
  }
}

void StepWatch::end(std::span<const Jet> values, double t) {
  for (std::size_t k = 0; k < values.size(); ++k) {
    Function& f = functions_[k];
    f.high = {t, values[k].value, values[k].d1};
    f.rate_known = std::isfinite(f.low.rate) && std::isfinite(f.high.rate);
    f.is_open = f.low.value > 0.0 && f.high.value > 0.0;
    if (!f.is_open) continue;
    if (f.rate_known) {
      suspect(f);
    } else {
      // A function that the steps resolve dips by no more than it changes from step to step.
      const double change = std::max(std::abs(f.high.value - f.low.value), std::abs(f.low.value - f.before));
      f.is_open = std::min(f.low.value, f.high.value) < change;
    }
  }
}

/// The cubic polynomial through values and rates has its minimum where its derivative a s^2 + b s + c turns positive.
double StepWatch::least_between(const Point& low, const Point& high) {
  const double h = high.t - low.t, slope = (high.value - low.value) / h;
  const double c = low.rate, b = 2.0 * (3.0 * slope - 2.0 * low.rate - high.rate), a = 3.0 * (low.rate + high.rate - 2.0 * slope);
  const double root = std::sqrt(std::max(0.0, b * b - 4.0 * a * c));
  const double s = b + root != 0.0 ? -2.0 * c / (b + root) : 0.5;
  return low.t + h * std::clamp(s, 0.05, 0.95);
}

/// It comes down at one end and goes up at the other; how far down the polynomial says, of which half is believed.
void StepWatch::suspect(Function& f) const {
  f.is_open = f.low.rate < 0.0 && f.high.rate > 0.0;
  if (!f.is_open) return;
  const double h = f.high.t - f.low.t, s = (least_between(f.low, f.high) - f.low.t) / h, r = 1.0 - s;
  const double least = r * r * (1.0 + 2.0 * s) * f.low.value + h * s * r * r * f.low.rate +
                       s * s * (3.0 - 2.0 * s) * f.high.value - h * s * s * r * f.high.rate;
  f.is_open = least < 0.5 * std::min(f.low.value, f.high.value);
}

std::optional<double> StepWatch::suspicion() const {
  for (const Function& f : functions_)
    if (f.is_open) return f.rate_known ? least_between(f.low, f.high) : 0.5 * (f.low.t + f.high.t);
  return {};
}

bool StepWatch::look(std::span<const Jet> values, double t) {
  bool found = false;
  for (std::size_t k = 0; k < values.size(); ++k) {
    Function& f = functions_[k];
    if (f.low.value > 0.0 && f.high.value > 0.0 && !(values[k].value > 0.0)) found = true;
    if (!f.is_open || t <= f.low.t || t >= f.high.t) continue;
    const Point here{t, values[k].value, values[k].d1};
    if (!f.rate_known || !std::isfinite(here.rate)) {
      f.is_open = false;
      continue;
    }
    (here.rate < 0.0 ? f.low : f.high) = here;
    // Close enough: what is left of the interval cannot take it to zero at the rates seen.
    suspect(f);
  }
  return found;
}

}  // namespace linkwork
