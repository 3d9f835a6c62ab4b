#pragma once

#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "linkwork/dynamics/equations_of_motion.h"

namespace linkwork {

/// Functions in expressions of forces and closures that jump or have a kink: comparisons, step, sign, floor, mod, abs, min and
/// their like. Between two switch points those that jump are held on the branch they are on, so that integrators see smooth
/// equations; a step ends where a function leaves its branch, and the next one begins on another. What depends on time alone,
/// the model's events included, is looked for ahead.
class SwitchPoints {
 public:
  SwitchPoints(const Model& model, EquationsOfMotion& equations);

  /// Whether there is anything to hold; only events may be there to be looked for ahead.
  bool empty() const { return laws_.empty(); }
  /// Whether something is true of each of the expressions in question.
  bool are_all(const std::function<bool(const BoundExpression&)>& what) const;
  /// Holds the branches that the state just evaluated is on. True: some are others than before, and it must be evaluated again.
  bool take_branches(double t);
  /// Whether one of them belongs to a closure, whose positions and rates may have jumped.
  bool closures_switched() const { return closures_switched_; }

  /// At a state just evaluated, one number for each function: positive on the branch that is held, with its derivative in time
  /// along the motion.
  void append_values(const Derivative& rates, std::vector<Jet>& values) const;

  /// The first time after t, not after `until`, at which something that depends on time alone changes; infinity if there is none.
  double next_time(double t, double until);
  /// What depends on time alone depends on other parameters or branches from t on.
  void look_anew(double t);

  /// Functions that switched so often that they are not held any more: a sentence for each, once.
  std::vector<std::string>& warnings() { return warnings_; }

 private:
  struct Law {
    const BoundExpression* expression;
    std::string who;
    bool is_closure;
    std::vector<char> of_time;  // by switch: depends on time alone
    bool any_of_time = false;
    std::vector<std::vector<double>> recent;  // by switch: when it last switched
  };
  struct TimeValue {
    bool crossed;
    double value, rate;  // positive before
  };

  std::size_t first(const Law& law) const { return static_cast<std::size_t>(law.expression->first_switch); }
  bool is_chatter(Law& law, std::size_t k, double t);
  void set_time_slots(const BoundExpression& expression, double t);
  template <class F>
  double first_crossing(double a, double b, F&& f) const;
  double crossing_of_laws(double a, double b);
  double crossing_of_events(double a, double b);

  static constexpr double kNever = std::numeric_limits<double>::infinity();

  const Model& model_;
  EquationsOfMotion& equations_;
  std::vector<Law> laws_;
  std::vector<const BoundExpression*> timed_events_;
  bool any_of_time_ = false;
  double look_every_;  // s
  double looked_to_ = 0.0;
  double found_ = kNever;
  bool closures_switched_ = false;
  std::vector<std::string> warnings_;
  mutable std::vector<SwitchReading> readings_;
  std::vector<Jet> slots_;
};

}  // namespace linkwork
