#include "linkwork/simulation/pacing.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <thread>

#include "linkwork/model/spec.h"

namespace linkwork {

Pacing::Pacing(double factor) {
  summary_.factor = factor;
  for (const double decade : {1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 1e-1})
    for (const double part : {1.0, 2.0, 5.0}) summary_.jitter.push_back({part * decade, 0});
  summary_.jitter.push_back({1.0, 0});
  summary_.jitter.push_back({std::numeric_limits<double>::infinity(), 0});
}

void Pacing::start(double t) {
  started_ = true;
  first_ = t;
  began_ = last_ = Clock::now();
}

void Pacing::wait(double t, const std::function<bool()>& go_on) {
  constexpr double kLongest = 1e9;  // s: more than anyone waits, and not more than a clock can count
  constexpr std::chrono::milliseconds kMoment(50);
  if (!started_) start(t);
  const auto due = began_ + std::chrono::duration_cast<Clock::duration>(
                                std::chrono::duration<double>(std::min(kLongest, (t - first_) / summary_.factor)));
  const auto computed = Clock::now();
  if (computed >= due) ++summary_.overruns;
  last_ = computed;
  while (last_ < due && (!go_on || go_on())) {
    std::this_thread::sleep_until(std::min(due, last_ + kMoment));
    last_ = Clock::now();
  }
  waited_ += std::chrono::duration<double>(last_ - computed).count();
  const double lateness = std::max(0.0, std::chrono::duration<double>(last_ - due).count());
  ++summary_.steps;
  lateness_sum_ += lateness;
  summary_.lateness_max = std::max(summary_.lateness_max, lateness);
  ++std::ranges::find_if(summary_.jitter, [&](const RealTimeSummary::Bin& bin) { return lateness < bin.below; })->steps;
}

RealTimeSummary Pacing::summary() const {
  RealTimeSummary summary = summary_;
  const double elapsed = std::chrono::duration<double>(last_ - began_).count();
  if (summary.steps > 0) summary.lateness_mean = lateness_sum_ / static_cast<double>(summary.steps);
  if (elapsed > 0.0) summary.busy = 1.0 - waited_ / elapsed;
  return summary;
}

void check_pace(double factor, const Settings& settings, bool fixed_steps) {
  constexpr double kLongest = 1e9;  // s
  const Place place{"--realtime", 0, 0};
  if (!(factor > 0.0)) throw InputError(place, fmt::format("the factor is {}", factor), "a positive number");
  if (!(settings.end / factor <= kLongest))
    throw InputError(place, fmt::format("{} s would take {:.3g} s", settings.end, settings.end / factor), "a larger factor");
  if (fixed_steps) return;
  throw InputError(place, fmt::format("integrator '{}' chooses its own steps, which no clock can pace", settings.integrator.name),
                   "an integrator of fixed steps, such as rk4 or semi-implicit-euler, and --step");
}

}  // namespace linkwork
