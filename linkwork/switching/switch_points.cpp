#include "linkwork/switching/switch_points.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace linkwork {

namespace {

bool is_of_time(const Variable& slot) { return slot.kind == Variable::Kind::kTime || slot.kind == Variable::Kind::kParameter; }

}  // namespace

SwitchPoints::SwitchPoints(const Model& model, EquationsOfMotion& equations)
    : model_(model), equations_(equations), look_every_(std::min(model.settings.step, model.settings.output_every)) {
  std::size_t most_slots = 0, most_switches = 0;
  for_each_law(model, [&](const BoundExpression& expression, const std::string& who) {
    if (expression.first_switch < 0) return;
    Law law{.expression = &expression, .who = who, .is_closure = false, .of_time = {}, .recent = {}};
    std::vector<char> moving;
    for (const Variable& slot : expression.slots) moving.push_back(is_of_time(slot) ? 0 : 1);
    law.of_time = expression.expression.switches_that_depend(moving);
    for (char& of_time : law.of_time) of_time = of_time == 0 ? 1 : 0;
    law.any_of_time = std::ranges::count(law.of_time, 1) > 0;
    any_of_time_ = any_of_time_ || law.any_of_time;
    law.recent.resize(law.of_time.size());
    for (const CoordinateClosure& closure : model.coordinate_closures)
      law.is_closure = law.is_closure || &closure.phi == &expression;
    most_slots = std::max(most_slots, expression.slots.size());
    most_switches = std::max(most_switches, law.of_time.size());
    laws_.push_back(std::move(law));
  });
  for (const Event& event : model.events) {
    if (event.when.slots.empty() || !std::ranges::all_of(event.when.slots, is_of_time)) continue;
    timed_events_.push_back(&event.when);
    most_slots = std::max(most_slots, event.when.slots.size());
    any_of_time_ = true;
  }
  readings_.resize(most_switches);
  slots_.resize(most_slots);
}

bool SwitchPoints::take_branches(double t) {
  constexpr int kMostPasses = 100;  // a switch may be an argument of another
  System& system = equations_.system();
  const bool began = !system.holds_branches();
  system.hold_branches(true);
  bool changed = began, of_time_changed = began;
  closures_switched_ = false;
  const VecX<double>& vdot = equations_.solution().vdot;
  bool again = true;
  for (int round = 0; again && round < kMostPasses; ++round) {
    again = false;
    for (Law& law : laws_) {
      system.read_switches(*law.expression, vdot, readings_);
      for (std::size_t k = 0; k < law.of_time.size(); ++k) {
        double& held = system.branches()[first(law) + k];
        if (held == Expression::kNotHeld || held == readings_[k].branch) continue;
        held = readings_[k].branch;
        again = changed = true;
        of_time_changed = of_time_changed || law.of_time[k] != 0;
        closures_switched_ = closures_switched_ || law.is_closure;
        if (!began && is_chatter(law, k, t)) held = Expression::kNotHeld;
      }
    }
  }
  if (of_time_changed) look_anew(t);
  return changed;
}

/// So often within one step of the settings: what the function switches drives it back at once.
bool SwitchPoints::is_chatter(Law& law, std::size_t k, double t) {
  constexpr std::size_t kMost = 20;
  std::vector<double>& times = law.recent[k];
  times.push_back(t);
  if (times.size() > kMost) times.erase(times.begin());
  if (times.size() < kMost || times.back() - times.front() >= model_.settings.step) return false;
  const Place& place = law.expression->expression.place();
  warnings_.push_back(fmt::format(
      "{}, \"{}\"{}, switched {} times within {:.3g} s until t = {:.6g} s: what it does drives it back at once; from there on "
      "its "
      "switch points are stepped over, which costs accuracy (for friction there is 'dry_friction')",
      law.who, law.expression->expression.text(), place.line > 0 ? fmt::format(" in {}:{}", place.file, place.line) : "", kMost,
      times.back() - times.front(), t));
  return true;
}

bool SwitchPoints::are_all(const std::function<bool(const BoundExpression&)>& what) const {
  return std::ranges::all_of(laws_, [&](const Law& law) { return what(*law.expression); });
}

void SwitchPoints::append_values(const Derivative& rates, std::vector<Jet>& values) const {
  const System& system = equations_.system();
  for (const Law& law : laws_) {
    system.read_switches(*law.expression, rates.vdot, readings_);
    for (std::size_t k = 0; k < law.of_time.size(); ++k) {
      const double held = equations_.system().branches()[first(law) + k];
      Jet inside = held == Expression::kNotHeld ? Jet(1.0) : readings_[k].inside;
      // At the very end of a branch that still holds, or beyond it by nothing.
      const bool holds = held == Expression::kNotHeld || readings_[k].branch == held;
      inside.value = holds ? std::max(inside.value, std::numeric_limits<double>::min()) : std::min(inside.value, 0.0);
      values.push_back(inside);
    }
  }
}

// --- what depends on time alone

void SwitchPoints::look_anew(double t) {
  looked_to_ = t;
  found_ = kNever;
}

double SwitchPoints::next_time(double t, double until) {
  if (!any_of_time_) return kNever;
  if (found_ <= t) look_anew(t);
  looked_to_ = std::max(looked_to_, t);
  while (found_ == kNever && looked_to_ < until) {
    const double to = std::min(looked_to_ + look_every_, until);
    if (!(to > looked_to_)) break;
    found_ = std::min(crossing_of_laws(looked_to_, to), crossing_of_events(looked_to_, to));
    looked_to_ = to;
  }
  return found_ <= until ? found_ : kNever;
}

void SwitchPoints::set_time_slots(const BoundExpression& expression, double t) {
  for (std::size_t s = 0; s < expression.slots.size(); ++s) {
    const Variable& slot = expression.slots[s];
    if (slot.kind == Variable::Kind::kTime)
      slots_[s] = {t, 1.0, 0.0};
    else if (slot.kind == Variable::Kind::kParameter)
      slots_[s] = equations_.system().modes().parameters[static_cast<std::size_t>(slot.index)];
    else
      slots_[s] = Jet(0.0);  // what depends on it is not asked for
  }
}

/// The first number in (a, b] where f has crossed. One that comes back within the interval shows by the signs of its rate.
template <class F>
double SwitchPoints::first_crossing(double a, double b, F&& f) const {
  const auto middle_of = [](double low, double high) { return low + 0.5 * (high - low); };
  double high = b;
  if (!f(b).crossed) {
    if (!(f(a).rate < 0.0 && f(b).rate > 0.0)) return kNever;
    double low = a;
    for (double middle = middle_of(low, high); middle > low && middle < high; middle = middle_of(low, high)) {
      const TimeValue here = f(middle);
      if (here.crossed) {
        high = middle;
        break;
      }
      (here.rate < 0.0 ? low : high) = middle;
    }
    if (!f(high).crossed) return kNever;
  }
  double low = a;
  for (double middle = middle_of(low, high); middle > low && middle < high; middle = middle_of(low, high))
    (f(middle).crossed ? high : low) = middle;
  return high;
}

double SwitchPoints::crossing_of_laws(double a, double b) {
  double first_time = kNever;
  for (const Law& law : laws_) {
    if (!law.any_of_time) continue;
    const double* const held = equations_.system().branches().data() + first(law);
    for (std::size_t k = 0; k < law.of_time.size(); ++k) {
      if (law.of_time[k] == 0 || held[k] == Expression::kNotHeld) continue;
      const double found = first_crossing(a, std::min(b, first_time), [&](double t) -> TimeValue {
        set_time_slots(*law.expression, t);
        law.expression->expression.read_switches({slots_.data(), law.expression->slots.size()}, held, readings_);
        return {readings_[k].branch != held[k], readings_[k].inside.value, readings_[k].inside.d1};
      });
      first_time = std::min(first_time, found);
    }
  }
  return first_time;
}

double SwitchPoints::crossing_of_events(double a, double b) {
  double first_time = kNever;
  for (const BoundExpression* when : timed_events_) {
    const auto at = [&](double t) {
      set_time_slots(*when, t);
      return when->expression.evaluate<Jet>(std::span<const Jet>(slots_.data(), when->slots.size()));
    };
    const Jet start = at(a);
    const double sign = std::copysign(1.0, start.value != 0.0 ? start.value : start.d1);
    const double found = first_crossing(a, std::min(b, first_time), [&](double t) -> TimeValue {
      const Jet here = at(t);
      return {t > a && sign * here.value <= 0.0, sign * here.value, sign * here.d1};
    });
    first_time = std::min(first_time, found);
  }
  return first_time;
}

}  // namespace linkwork
