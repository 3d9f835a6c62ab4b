#include "linkwork/switching/time_laws.h"

#include <algorithm>
#include <cmath>

namespace linkwork {

TimeLaws::TimeLaws(const Model& model) : look_every_(std::min(model.settings.step, model.settings.output_every)) {
  std::size_t most_slots = 0;
  const auto add = [&](const BoundExpression& law) {
    if (std::ranges::find(law.slots, Variable::Kind::kTime, &Variable::kind) == law.slots.end()) return;
    laws_.push_back(&law);
    most_slots = std::max(most_slots, law.slots.size());
  };
  for_each_law(model, [&](const BoundExpression& law, const std::string&) { add(law); });
  for (const Input& input : model.inputs) add(input.value);
  slots_.resize(most_slots);
}

double TimeLaws::seen_until(System& system, double t, double until) {
  constexpr double kMostLooks = 1e4;
  const double spacing = std::max(look_every_, (until - t) / kMostLooks);
  for (const BoundExpression* law : laws_) {
    if (!(until - t > spacing)) break;
    for (std::size_t s = 0; s < law->slots.size(); ++s)
      if (law->slots[s].kind != Variable::Kind::kTime) slots_[s] = Jet(system.value(law->slots[s]));
    const double* const held =
        system.holds_branches() && law->first_switch >= 0 ? system.branches().data() + law->first_switch : nullptr;
    while (until - t > spacing && !is_told_by_ends(*law, held, t, until, spacing))
      until = std::max(t + 0.5 * (until - t), t + spacing);
  }
  return until;
}

/// By the cubic polynomial through values and rates at the ends.
bool TimeLaws::is_told_by_ends(const BoundExpression& law, const double* held, double t, double until, double spacing) {
  constexpr double kFollows = 0.1, kRounding = 1e-9;
  const double h = until - t;
  const Jet start = at(law, held, t), end = at(law, held, until);
  double low = std::min(start.value, end.value), high = std::max(start.value, end.value), off = 0.0;
  for (int k = 1; static_cast<double>(k) * spacing < h; ++k) {
    const double s = static_cast<double>(k) * spacing / h, r = 1.0 - s;
    const double value = at(law, held, t + s * h).value;
    const double told =
        r * r * ((1.0 + 2.0 * s) * start.value + h * s * start.d1) + s * s * ((3.0 - 2.0 * s) * end.value - h * r * end.d1);
    low = std::min(low, value), high = std::max(high, value);
    off = std::max(off, std::abs(value - told));
  }
  return !(off > kFollows * (high - low)) || off <= kRounding * std::max(std::abs(low), std::abs(high));
}

Jet TimeLaws::at(const BoundExpression& law, const double* held, double t) {
  for (std::size_t s = 0; s < law.slots.size(); ++s)
    if (law.slots[s].kind == Variable::Kind::kTime) slots_[s] = {t, 1.0, 0.0};
  return law.expression.evaluate<Jet>(std::span<const Jet>(slots_.data(), law.slots.size()), held);
}

}  // namespace linkwork
