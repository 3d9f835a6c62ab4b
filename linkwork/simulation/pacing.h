#pragma once

#include <chrono>
#include <functional>

#include "linkwork/simulation/summary.h"

namespace linkwork {

struct Settings;

/// Keeps a run from being faster than the clock on the wall, and takes note of where it is slower.
class Pacing {
 public:
  /// factor: simulated seconds a second.
  explicit Pacing(double factor);

  /// The simulated time is t now: the clock starts.
  void start(double t);
  /// A step has been computed that ends at t: waits until it is that late, or until it is told not to go on. The first call
  /// starts the clock if nobody has.
  void wait(double t, const std::function<bool()>& go_on = {});

  RealTimeSummary summary() const;

 private:
  using Clock = std::chrono::steady_clock;

  bool started_ = false;
  Clock::time_point began_, last_;
  double first_ = 0.0;  // simulated time at the start
  double waited_ = 0.0, lateness_sum_ = 0.0;
  RealTimeSummary summary_;
};

/// Throws InputError unless a run of these settings can keep pace.
void check_pace(double factor, const Settings& settings, bool fixed_steps);

}  // namespace linkwork
