#include "linkwork/switching/switching.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace linkwork {

namespace {

using FrictionKind = Modes::Friction::Kind;

constexpr double kSameInstant = 1e-11;  // of the largest value in the step: due at the same time
constexpr std::size_t kMostInAStep = 40;

}  // namespace

Switching::Switching(const Model& model, EquationsOfMotion& equations, bool exact)
    : model_(model),
      now_(model, equations, exact),
      frictions_(now_),
      contacts_(now_, frictions_),
      impulses_(now_),
      actions_(now_, impulses_),
      impacts_(now_, contacts_, frictions_, impulses_),
      settling_(now_, contacts_, frictions_, impulses_, impacts_),
      watched_(model.events.size() + model.contacts.size() + model.frictions.size()) {}

// --- saving

SavedSwitching Switching::save() const {
  SavedSwitching saved{.rows = now_.modes.rows,
                       .forces = now_.modes.forces,
                       .parameters = now_.modes.parameters,
                       .largest_effort = now_.largest_effort,
                       .energy_scale = now_.energy_scale,
                       .records = now_.records,
                       .warnings = now_.warnings,
                       .impacts = impacts_.counts(),
                       .enough = impacts_.enough(),
                       .mobility = frictions_.mobility(),
                       .starting = frictions_.starting()};
  contacts_.save(saved);
  for (const Modes::Friction& friction : now_.modes.friction) {
    saved.friction.push_back(static_cast<int>(friction.kind));
    saved.directions.insert(saved.directions.end(), {friction.direction.x(), friction.direction.y()});
  }
  for (std::size_t k = 0; k < watched_.size(); ++k) {
    const Watched& w = watched_[k];
    saved.watched.insert(saved.watched.end(), {w.value, w.scale, w.sign, w.just_fired ? 1.0 : 0.0, w.offset});
    saved.recent.push_back(is_contact(k) ? impacts_.times()[k - first_contact()] : w.recent);
  }
  return saved;
}

bool Switching::accepts(const SavedSwitching& saved) const {
  const auto is_kind = [](int kind) { return kind >= 0 && kind <= static_cast<int>(FrictionKind::kSlip); };
  if (!std::ranges::all_of(saved.friction, is_kind)) return false;
  const Modes& modes = now_.modes;
  return saved.rows.size() == modes.rows.size() && saved.forces.size() == modes.forces.size() &&
         saved.parameters.size() == modes.parameters.size() && saved.friction.size() == modes.friction.size() &&
         saved.directions.size() == 2 * modes.friction.size() && saved.watched.size() == 5 * watched_.size() &&
         saved.impacts.size() == contacts_.count() && saved.enough.size() == contacts_.count() &&
         saved.recent.size() == watched_.size() && saved.idle.size() == modes.rows.size() &&
         saved.mobility.size() == modes.friction.size() && saved.starting.size() == modes.friction.size();
}

void Switching::restore(const SavedSwitching& saved) {
  Modes& modes = now_.modes;
  modes.rows = saved.rows;
  modes.forces = saved.forces;
  modes.parameters = saved.parameters;
  for (std::size_t k = 0; k < modes.friction.size(); ++k)
    modes.friction[k] = {static_cast<FrictionKind>(saved.friction[k]), {saved.directions[2 * k], saved.directions[2 * k + 1]}};
  for (std::size_t k = 0; k < watched_.size(); ++k) {
    const double* const from = &saved.watched[5 * k];
    watched_[k] = {.value = from[0], .scale = from[1], .sign = from[2], .just_fired = from[3] != 0.0, .offset = from[4]};
    if (!is_contact(k)) watched_[k].recent = saved.recent[k];
  }
  const auto flights = saved.recent.begin() + static_cast<std::ptrdiff_t>(first_contact());
  impacts_.restore(saved.impacts, {flights, flights + std::ssize(model_.contacts)}, saved.enough);
  now_.largest_effort = saved.largest_effort;
  now_.energy_scale = saved.energy_scale;
  now_.records = saved.records;
  now_.warnings = saved.warnings;
  contacts_.restore(saved);
  frictions_.restore(saved.mobility, saved.starting);
  now_.equations.set_modes(modes);
}

// --- watching

void Switching::read() {
  contacts_.read_loads();
  for (std::size_t k = 0; k < watched_.size(); ++k) {
    Watched& w = watched_[k];
    w.raw = k < first_contact() ? now_.system().evaluate(model_.events[k].when, &now_.equations.solution().lambda)
            : is_contact(k)     ? contacts_.value(k - first_contact())
                                : frictions_.value(k - first_friction());
    w.value = w.raw + w.offset;
  }
}

bool Switching::is_armed(std::size_t k) const {
  if (k >= first_contact()) return true;
  const int direction = model_.events[k].direction;
  return direction == 0 || watched_[k].sign * direction < 0.0;
}

/// Positive before the event.
double Switching::margin_of(std::size_t k) const {
  const Watched& w = watched_[k];
  const double value = k < first_contact() ? w.sign * w.value : w.value;
  return w.scale > 0.0 ? value / w.scale : value;
}

/// What may be below zero by rounding, or because it was taken to hold, is no event.
void Switching::set_offsets() {
  constexpr double kSurface = 1e-14, kTakenToHold = 1e-6;
  for (std::size_t k = first_contact(); k < watched_.size(); ++k) {
    Watched& w = watched_[k];
    const double below = std::max(0.0, -w.raw);
    const int row = is_contact(k) ? model_.contacts[k - first_contact()].row : model_.frictions[k - first_friction()].first_row;
    const FrictionKind friction = is_contact(k) ? FrictionKind::kOff : frictions_.kind(k - first_friction());
    w.offset = 0.0;
    if (is_contact(k) ? contacts_.is_closed(k - first_contact()) : friction == FrictionKind::kStick)
      w.offset = now_.rounding_of_force(row) + std::min(2.0 * below, kTakenToHold * now_.largest_force(row));
    else if (is_contact(k) && w.raw < now_.touching(row))
      w.offset = kSurface * model_.units.row[row] + below;
    else if (friction == FrictionKind::kSlip)
      w.offset = std::min(below, now_.still(row));
    w.value = w.raw + w.offset;
  }
}

void Switching::begin_step() {
  frictions_.renew_directions();
  if (frictions_.count() > 0) now_.system().set_modes(now_.modes);
  now_.energy_scale = 0.0;
  read();
  set_offsets();
  for (Watched& w : watched_) {
    w.scale = std::abs(w.value);
    if (w.value != 0.0 && !w.just_fired) w.sign = std::copysign(1.0, w.value);
    w.just_fired = false;
  }
}

double Switching::margin() {
  read();
  double least = 1.0;
  for (std::size_t k = 0; k < watched_.size(); ++k) {
    watched_[k].scale = std::max(watched_[k].scale, std::abs(watched_[k].value));
    if (is_armed(k)) least = std::min(least, margin_of(k));
  }
  return least;
}

void Switching::append_watched(const Derivative& rates, std::vector<Jet>& values) {
  for (std::size_t k = 0; k < watched_.size(); ++k) {
    double sign = 1.0, rate = std::numeric_limits<double>::quiet_NaN();
    if (k < first_contact()) {
      sign = watched_[k].sign;
      rate = now_.system().evaluate_along(model_.events[k].when, rates.vdot, &now_.equations.solution().lambda).d1;
    } else if (is_contact(k)) {
      if (!contacts_.is_closed(k - first_contact())) rate = contacts_.opening(k - first_contact());
    } else if (frictions_.kind(k - first_friction()) == FrictionKind::kOff) {
      rate = 0.0;
    }
    values.emplace_back(sign * watched_[k].value, sign * rate, 0.0);
  }
}

void Switching::mark_due() {
  for (std::size_t k = 0; k < watched_.size(); ++k) watched_[k].due = is_armed(k) && margin_of(k) <= kSameInstant;
}

std::string Switching::name_of(std::size_t k) const {
  return k < first_contact() ? model_.events[k].name
         : is_contact(k)     ? model_.contacts[k - first_contact()].name
                             : model_.frictions[k - first_friction()].name;
}

std::string Switching::busiest(double since) const {
  std::vector<std::string> names;
  for (std::size_t k = 0; k < watched_.size(); ++k)
    if (watched_[k].fired_at >= since)
      names.push_back(fmt::format("{} '{}'", k < first_contact() ? "event" : is_contact(k) ? "contact" : "friction", name_of(k)));
  return listed(names);
}

// --- happening

Status Switching::start(State& state, Derivative& rates) {
  now_.state = &state;
  now_.rates = &rates;
  now_.quiet = true;
  now_.take_modes();
  for (std::size_t c = 0; c < contacts_.count(); ++c)
    if (const double gap = contacts_.gap(c); gap < -now_.fit(model_.contacts[c].row))
      return {fmt::format("contact '{}' is closed too far at the start, by {:.3g}", model_.contacts[c].name, -gap)};
  for (std::size_t k = 0; k < frictions_.count(); ++k)
    if (!model_.frictions[k].one_sided) frictions_.begin(k);
  if (Status status = settling_.settle(); !status.ok()) return status;
  now_.quiet = false;
  read();
  for (Watched& w : watched_) w.just_fired = w.value == 0.0;
  return renew_signs();
}

Status Switching::happen(State& state, Derivative& rates) {
  now_.state = &state;
  now_.rates = &rates;
  const std::size_t before = now_.records.size();
  for (int round = 0;; ++round) {
    for (std::size_t k = 0; k < watched_.size(); ++k) {
      if (!watched_[k].due) continue;
      watched_[k].due = false;
      if (Status status = fire(k); !status.ok()) return status;
    }
    if (Status status = settling_.settle(); !status.ok()) return status;
    read();
    bool more = false;
    for (std::size_t k = 0; k < first_contact(); ++k) {
      watched_[k].due = is_armed(k) && watched_[k].sign * watched_[k].value < -kSameInstant * watched_[k].scale;
      more = more || watched_[k].due;
    }
    if (!more) break;
    if (round == kMostRounds) {
      std::string names;
      for (std::size_t k = 0; k < first_contact(); ++k)
        if (watched_[k].due) names += fmt::format("{}'{}'", names.empty() ? "" : ", ", model_.events[k].name);
      return {fmt::format("events set one another off without end: {}", names)};
    }
  }
  frictions_.leave_instant();
  contacts_.leave_instant();
  const int dof = model_.tree.nv - now_.equations.solution().rank.rank;
  for (std::size_t i = before; i < now_.records.size(); ++i) now_.records[i].dof = dof;
  return renew_signs();
}

/// What becomes of contacts and friction is for settling to decide, of all of them together.
Status Switching::fire(std::size_t k) {
  Watched& w = watched_[k];
  w.just_fired = true;
  w.fired_at = now_.state->t;
  if (k < first_contact()) w.sign = -w.sign;
  if (!is_contact(k) && is_chatter(k))
    return {fmt::format("chatter: '{}' came {} times within {:.3g} s; its condition does not stay as the event leaves it",
                        name_of(k), kMostInAStep, now_.state->t - w.recent.front())};
  if (k < first_contact()) return actions_.act(model_.events[k]);
  if (is_contact(k))
    contacts_.reach_limit(k - first_contact());
  else
    frictions_.reach_limit(k - first_friction(), w.scale);
  return {};
}

/// So many times within one step of the settings.
bool Switching::is_chatter(std::size_t k) {
  std::vector<double>& times = watched_[k].recent;
  times.push_back(now_.state->t);
  if (times.size() > kMostInAStep) times.erase(times.begin());
  return times.size() == kMostInAStep && times.back() - times.front() < model_.settings.step;
}

/// Which side of zero events are on from here: where a moment of motion takes them, if they are at zero now.
Status Switching::renew_signs() {
  const State& state = *now_.state;
  const Derivative& rates = *now_.rates;
  const auto renew = [&](bool just_fired) {
    for (std::size_t k = 0; k < first_contact(); ++k)
      if (watched_[k].just_fired == just_fired && watched_[k].value != 0.0)
        watched_[k].sign = std::copysign(1.0, watched_[k].value);
  };
  bool any = false;
  for (std::size_t k = 0; k < first_contact(); ++k) any = any || watched_[k].just_fired;
  if (any) {
    const double moment = 1e-4 * model_.settings.step;
    probe_ = state;
    probe_.t += moment;
    probe_.q += moment * rates.qdot;
    probe_.v += moment * rates.vdot;
    if (Status status = now_.equations.evaluate(probe_, probe_rates_); !status.ok()) return status;
    read();
    renew(true);
    if (Status status = now_.equations.evaluate(*now_.state, *now_.rates); !status.ok()) return status;
  }
  read();
  renew(false);
  return {};
}

}  // namespace linkwork
