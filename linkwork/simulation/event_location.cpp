#include <algorithm>
#include <cmath>

#include "linkwork/dynamics/equations_of_motion.h"
#include "linkwork/linalg/bracketed_root.h"
#include "linkwork/simulation/time_loop.h"

// What comes within a step: found, located, and let happen.

namespace linkwork {

void TimeLoop::begin_watching() {
  watch_->begin_step(rates_);
  step_watch_.begin(watch_->values(rates_), now_.t);
}

/// If something comes within the step just made, the step is made again so that it ends there.
bool TimeLoop::find_event() {
  event_due_ = false;
  if (!watch_) return true;
  step_size_ = next_.t - now_.t;
  const double at_end = watch_->margin(next_rates_);
  return at_end > 0.0 ? look_inside() : locate_event(at_end);
}

/// Something may have come and gone within the step. What has is located; if nothing is due there (an event that waits for the
/// other direction), the step ends there all the same, so that the next one sees it come back.
bool TimeLoop::look_inside() {
  constexpr int kMostLooks = 8;
  step_watch_.end(watch_->values(next_rates_), next_.t);
  if (!step_watch_.suspicion()) return true;
  bool found = false;
  double t = 0.0;
  for (int i = 0; i < kMostLooks && !found && step_watch_.suspicion(); ++i) {
    t = *step_watch_.suspicion();
    place_inside(t);
    Status status = equations_->project(inside_);
    if (status.ok()) status = evaluate(inside_, inside_rates_);
    if (!status.ok()) break;
    watch_->margin(inside_rates_);
    found = step_watch_.look(watch_->values(inside_rates_), t);
  }
  const double whole = step_size_;
  if (!found) {
    const Status status = evaluate(next_, next_rates_);
    return status.ok() || stop(status.trouble);
  }
  const double there = margin_after(t - now_.t);
  if (!std::isfinite(there)) return stop(trouble_);
  if (there <= 0.0) {
    step_size_ = t - now_.t;
    return locate_event(there);
  }
  const bool turned = std::ranges::any_of(watch_->values(next_rates_), [](const Jet& f) { return !(f.value > 0.0); });
  if (turned || std::isfinite(margin_after(whole))) return true;
  return stop(trouble_);
}

bool TimeLoop::locate_event(double at_end) {
  constexpr double kWidth = 1e-12;  // relative to the step
  trouble_.clear();
  Bracket bracket{0.0, step_size_, 1.0, at_end};
  const auto f = [&](double h) { return margin_after(h); };
  // The step may have been made to end here. What has just happened leaves zeros behind: the bracket must begin where nothing is
  // due.
  double low = (1.0 - kWidth) * step_size_;
  for (bool just_before = true; low > kWidth * step_size_; low *= 0.5) {
    const double value = f(low);
    if (!std::isfinite(value)) return stop(trouble_);
    if (value > 0.0) {
      bracket.low = low, bracket.at_low = value;
      break;
    }
    bracket.high = low, bracket.at_high = value;
    if (just_before) low = step_size_;
    just_before = false;
  }
  if (bracket.low > 0.0 && !shrink(bracket, kWidth * step_size_, f)) return stop(trouble_);
  if (!std::isfinite(margin_after(bracket.high))) return stop(trouble_);
  mark_due();
  return true;
}

void TimeLoop::mark_due() {
  watch_->mark_due();
  event_due_ = true;
}

/// The step anew, over h only; next_ is then evaluated there. NaN if it cannot be made.
double TimeLoop::margin_after(double h) {
  Status status;
  const double t = h == planned_h_ ? planned_end_ : now_.t + h;
  if (integrator_->controls_step())
    integrator_->interpolate(t, next_);
  else
    status = attempt(h);
  if (status.ok()) status = equations_->project(next_);
  if (status.ok()) status = evaluate(next_, next_rates_);
  if (status.ok()) return watch_->margin(next_rates_);
  trouble_ = status.trouble;
  return std::numeric_limits<double>::quiet_NaN();
}

/// At the instant just reached.
bool TimeLoop::let_happen() {
  event_due_ = false;
  EquationsOfMotion* const motion = equations_->equations_of_motion();
  const auto tell = [&](bool after) {
    if (observer_.event && motion) observer_.event(*motion, after);
  };
  if (Status status = watch_->happen(now_, rates_, tell); !status.ok()) return stop(status.trouble);
  integrator_->forget();
  return true;
}

/// inside_ between now_ and next_: by the integrator's own interpolation, or a cubic Hermite polynomial.
void TimeLoop::place_inside(double t) {
  if (integrator_->interpolates()) {
    integrator_->interpolate(t, inside_);
    return;
  }
  const double h = next_.t - now_.t, theta = (t - now_.t) / h, s = 1.0 - theta;
  const double h00 = s * s * (1.0 + 2.0 * theta), h10 = h * theta * s * s, h01 = 1.0 - h00, h11 = -h * theta * theta * s;
  inside_.y = h00 * now_.y + h10 * rates_ + h01 * next_.y + h11 * next_rates_;
  inside_.t = t;
  equations_->normalize(inside_.y);
}

}  // namespace linkwork
