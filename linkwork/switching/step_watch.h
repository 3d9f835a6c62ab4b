#pragma once

#include <optional>
#include <span>
#include <vector>

#include "linkwork/model/jet.h"

namespace linkwork {

/// Functions that are positive until something happens, at both ends of a step and inside it. One that comes down and goes up
/// again may have been below zero in between: this tells where to look.
class StepWatch {
 public:
  /// Values with their derivatives in time (NaN: not known) at the start of a step.
  void begin(std::span<const Jet> values, double t);
  /// At its end, where all are positive that count.
  void end(std::span<const Jet> values, double t);
  /// Where inside the step something may be below zero; nothing if there is no such place, or it was looked at closely enough.
  std::optional<double> suspicion() const;
  /// What was found there. True: one is not positive.
  bool look(std::span<const Jet> values, double t);

 private:
  struct Point {
    double t = 0.0, value = 0.0, rate = 0.0;
  };
  struct Function {
    Point low, high;       // between them is the least value, if it is inside
    double before = 0.0;   // the value one step earlier
    bool is_open = false;  // whether it is still to be looked at
    bool rate_known = true;
  };
  static double least_between(const Point& low, const Point& high);
  void suspect(Function& f) const;

  std::vector<Function> functions_;
};

}  // namespace linkwork
