#include "linkwork/simulation/switching.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "linkwork/dynamics/diagnosis.h"

namespace linkwork {

namespace {

using FrictionKind = Modes::Friction::Kind;

constexpr double kSameInstant = 1e-11;  // of the largest value in the step: due at the same time
constexpr double kTouching = 1e-9;      // m, rad: a contact that is neither open nor closed yet
constexpr double kStill = 1e-9;         // m/s, rad/s
constexpr int kMostRounds = 20;
constexpr std::size_t kMostInAStep = 40;

std::size_t at(int i) { return static_cast<std::size_t>(i); }

std::string joined(const std::vector<Action>& actions) {
  std::string text;
  for (const Action& action : actions) text += (text.empty() ? "" : ", ") + action.text;
  return text;
}

}  // namespace

Switching::Switching(const Model& model, EquationsOfMotion& equations)
    : model_(model),
      equations_(equations),
      projection_(model),
      modes_(model),
      watched_(model.events.size() + model.contacts.size() + model.frictions.size()),
      last_impact_(model.contacts.size(), -1e300),
      impacts_(model.contacts.size(), 0),
      recent_(watched_.size()) {}

// --- saving

SavedSwitching Switching::save() const {
  SavedSwitching saved{.rows = modes_.rows,
                       .joint_forces = modes_.joint_forces,
                       .springs = modes_.springs,
                       .wrenches = modes_.wrenches,
                       .parameters = modes_.parameters,
                       .largest_force = largest_force_,
                       .records = records_,
                       .warnings = warnings_,
                       .last_impact = last_impact_,
                       .impacts = impacts_,
                       .recent = recent_};
  for (const Modes::Friction& friction : modes_.friction) {
    saved.friction.push_back(static_cast<int>(friction.kind));
    saved.directions.insert(saved.directions.end(), {friction.direction.x(), friction.direction.y()});
  }
  for (const Watched& w : watched_)
    saved.watched.insert(saved.watched.end(), {w.value, w.scale, w.sign, w.just_fired ? 1.0 : 0.0});
  return saved;
}

bool Switching::accepts(const SavedSwitching& saved) const {
  const auto is_kind = [](int kind) { return kind >= 0 && kind <= static_cast<int>(FrictionKind::kSlip); };
  if (!std::ranges::all_of(saved.friction, is_kind)) return false;
  return saved.rows.size() == modes_.rows.size() && saved.joint_forces.size() == modes_.joint_forces.size() &&
         saved.springs.size() == modes_.springs.size() && saved.wrenches.size() == modes_.wrenches.size() &&
         saved.parameters.size() == modes_.parameters.size() && saved.friction.size() == modes_.friction.size() &&
         saved.directions.size() == 2 * modes_.friction.size() && saved.watched.size() == 4 * watched_.size() &&
         saved.last_impact.size() == last_impact_.size() && saved.impacts.size() == impacts_.size() &&
         saved.recent.size() == recent_.size();
}

void Switching::restore(const SavedSwitching& saved) {
  modes_.rows = saved.rows;
  modes_.joint_forces = saved.joint_forces;
  modes_.springs = saved.springs;
  modes_.wrenches = saved.wrenches;
  modes_.parameters = saved.parameters;
  for (std::size_t k = 0; k < modes_.friction.size(); ++k)
    modes_.friction[k] = {static_cast<FrictionKind>(saved.friction[k]), {saved.directions[2 * k], saved.directions[2 * k + 1]}};
  for (std::size_t k = 0; k < watched_.size(); ++k) {
    const double* const from = &saved.watched[4 * k];
    watched_[k] = {.value = from[0], .scale = from[1], .sign = from[2], .just_fired = from[3] != 0.0};
  }
  largest_force_ = saved.largest_force;
  records_ = saved.records;
  warnings_ = saved.warnings;
  last_impact_ = saved.last_impact;
  impacts_ = saved.impacts;
  recent_ = saved.recent;
  equations_.set_modes(modes_);
}

// --- watching

double Switching::slack() const { return 1e-11 * std::max(1.0, largest_force_); }

double Switching::contact_value(const Contact& contact) {
  return is_closed(contact) ? contact.side * lambda(contact.row) + slack() : contact.side * system().error(contact.row);
}

double Switching::friction_limit(std::size_t k) {
  const DryFriction& friction = model_.frictions[k];
  if (friction.normal_row < 0) return friction.sticking * system().evaluate(friction.load);
  const double normal = friction.side * lambda(friction.normal_row);
  return friction.sticking * (friction.one_sided ? std::max(0.0, normal) : std::abs(normal));
}

double Switching::friction_needed(std::size_t k) const {
  const DryFriction& friction = model_.frictions[k];
  return friction.rows == 1 ? std::abs(lambda(friction.first_row))
                            : std::hypot(lambda(friction.first_row), lambda(friction.first_row + 1));
}

double Switching::friction_value(std::size_t k) {
  const Modes::Friction& mode = modes_.friction[k];
  if (mode.kind == FrictionKind::kOff) return 1.0;
  if (mode.kind == FrictionKind::kSlip) return system().slip(k).dot(mode.direction.normalized());
  return friction_limit(k) - friction_needed(k) + slack();
}

void Switching::read() {
  equations_.complete();
  for (std::size_t k = 0; k < watched_.size(); ++k) {
    double& value = watched_[k].value;
    if (k < first_contact())
      value = system().evaluate(model_.events[k].when, &equations_.solution().lambda);
    else if (k < first_friction())
      value = contact_value(model_.contacts[k - first_contact()]);
    else
      value = friction_value(k - first_friction());
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

void Switching::begin_step() {
  renew_directions();
  if (!modes_.friction.empty()) system().set_modes(modes_);
  read();
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
  const double unknown = std::numeric_limits<double>::quiet_NaN();
  for (std::size_t k = 0; k < watched_.size(); ++k) {
    double sign = 1.0, rate = unknown;
    if (k < first_contact()) {
      sign = watched_[k].sign;
      rate = system().evaluate_along(model_.events[k].when, rates.vdot, &equations_.solution().lambda).d1;
    } else if (k < first_friction()) {
      const Contact& contact = model_.contacts[k - first_contact()];
      if (!is_closed(contact)) rate = contact.side * system().error_rate(contact.row);
    } else if (modes_.friction[k - first_friction()].kind == FrictionKind::kOff) {
      rate = 0.0;
    }
    values.emplace_back(sign * watched_[k].value, sign * rate, 0.0);
  }
}

void Switching::mark_due() {
  for (std::size_t k = 0; k < watched_.size(); ++k) watched_[k].due = is_armed(k) && margin_of(k) <= kSameInstant;
}

// --- happening

Status Switching::evaluate() {
  equations_.set_modes(modes_);
  if (state_->z.size() > 0) equations_.start(*state_);
  Status status = equations_.evaluate(*state_, *rates_);
  equations_.complete();
  const VecX<double>& force = equations_.solution().lambda;
  if (force.size() > 0) largest_force_ = std::max(largest_force_, force.cwiseAbs().maxCoeff());
  return status;
}

void Switching::take_modes() {
  equations_.set_modes(modes_);
  system().update(*state_);
}

void Switching::set_rows(int first, int count, bool on) {
  for (int r = first; r < first + count; ++r) modes_.rows[at(r)] = on;
}

void Switching::keep(EventRecord record) {
  constexpr std::size_t kMost = 100'000;
  record.t = state_->t;
  record.dof = -1;
  if (!quiet_ && records_.size() < kMost) records_.push_back(std::move(record));
}

Status Switching::start(State& state, Derivative& rates) {
  state_ = &state;
  rates_ = &rates;
  quiet_ = true;
  take_modes();
  for (std::size_t c = 0; c < model_.contacts.size(); ++c) {
    const Contact& contact = model_.contacts[c];
    const double gap = contact.side * system().error(contact.row);
    if (gap < -std::max(1e-8, 100.0 * model_.settings.constraint_tolerance))
      return {fmt::format("contact '{}' is closed too far at the start, by {:.3g}", contact.name, -gap)};
    if (gap > kTouching || contact.side * system().error_rate(contact.row) >= -kStill) continue;
    quiet_ = false;
    if (Status status = strike(c); !status.ok()) return status;
    quiet_ = true;
    take_modes();
  }
  for (std::size_t k = 0; k < model_.frictions.size(); ++k)
    if (!model_.frictions[k].one_sided) begin_friction(k);
  if (Status status = settle(); !status.ok()) return status;
  quiet_ = false;
  read();
  for (Watched& w : watched_) w.just_fired = w.value == 0.0;
  return renew_signs();
}

Status Switching::happen(State& state, Derivative& rates) {
  state_ = &state;
  rates_ = &rates;
  const std::size_t before = records_.size();
  for (int round = 0;; ++round) {
    for (std::size_t k = 0; k < watched_.size(); ++k) {
      if (!watched_[k].due) continue;
      watched_[k].due = false;
      if (Status status = fire(k); !status.ok()) return status;
    }
    if (Status status = settle(); !status.ok()) return status;
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
  const int dof = model_.tree.nv - equations_.solution().rank.rank;
  for (std::size_t i = before; i < records_.size(); ++i) records_[i].dof = dof;
  return renew_signs();
}

Status Switching::fire(std::size_t k) {
  watched_[k].just_fired = true;
  if (k < first_contact()) watched_[k].sign = -watched_[k].sign;
  const bool is_contact = k >= first_contact() && k < first_friction();
  if (!is_contact && is_chatter(k)) {
    const std::string name = k < first_contact() ? model_.events[k].name : model_.frictions[k - first_friction()].name;
    return {fmt::format("chatter: '{}' came {} times within {:.3g} s; its condition does not stay as the event leaves it", name,
                        kMostInAStep, state_->t - recent_[k].front())};
  }
  if (k < first_contact()) return act(model_.events[k]);
  if (k >= first_friction()) {
    const std::size_t f = k - first_friction();
    if (modes_.friction[f].kind == FrictionKind::kSlip) return try_to_stick(f);
    const DryFriction& friction = model_.frictions[f];
    const Eigen::Vector2d held(lambda(friction.first_row), friction.rows > 1 ? lambda(friction.first_row + 1) : 0.0);
    slide(f, -held.normalized());
    keep({.name = friction.name, .what = "slides"});
    return {};
  }
  const std::size_t c = k - first_contact();
  if (!is_closed(model_.contacts[c])) return strike(c);
  open(c);
  keep({.name = model_.contacts[c].name, .what = "opens"});
  return {};
}

/// So many times within one step of the settings.
bool Switching::is_chatter(std::size_t k) {
  std::vector<double>& times = recent_[k];
  times.push_back(state_->t);
  if (times.size() > kMostInAStep) times.erase(times.begin());
  return times.size() == kMostInAStep && times.back() - times.front() < model_.settings.step;
}

/// Which side of zero events are on from here: where a moment of motion takes them, if they are at zero now.
Status Switching::renew_signs() {
  const auto needs_probe = [&](std::size_t k) { return watched_[k].just_fired; };
  bool any = false;
  for (std::size_t k = 0; k < first_contact(); ++k) any = any || needs_probe(k);
  if (any) {
    const double moment = 1e-4 * model_.settings.step;
    probe_ = *state_;
    probe_.t += moment;
    probe_.q += moment * rates_->qdot;
    probe_.v += moment * rates_->vdot;
    if (Status status = equations_.evaluate(probe_, probe_rates_); !status.ok()) return status;
    read();
    for (std::size_t k = 0; k < first_contact(); ++k)
      if (needs_probe(k) && watched_[k].value != 0.0) watched_[k].sign = std::copysign(1.0, watched_[k].value);
    if (Status status = equations_.evaluate(*state_, *rates_); !status.ok()) return status;
  }
  read();
  for (std::size_t k = 0; k < first_contact(); ++k)
    if (!needs_probe(k) && watched_[k].value != 0.0) watched_[k].sign = std::copysign(1.0, watched_[k].value);
  return {};
}

// --- impulses

/// v <- v + M^-1 A' P so that the rates of the rows in force change as asked. The work of the impulse is P . (A v- + A v+)/2.
Status Switching::change_rates(const VecX<double>& change, EventRecord& record) {
  const ConstraintTerms& terms = system().terms();
  if (terms.rows() == 0) return {};
  before_ = state_->v;
  rate_before_ = terms.rate;
  const auto [unmet, row] = projection_.apply_impulse(system(), *state_, change, impulse_);
  system().update(*state_);
  const double work = impulse_.dot(terms.u + 0.5 * (rate_before_ + terms.rate));
  state_->work += work;
  record.energy += work;
  const double jump = before_.size() > 0 ? (state_->v - before_).cwiseAbs().maxCoeff() : 0.0;
  record.velocity_jump = std::max(record.velocity_jump, jump);
  add_impulse(impulse_, record);
  const double speed = std::max(1.0, state_->v.cwiseAbs().maxCoeff());
  if (unmet <= 1e-8 * speed) return {};
  const int worst[]{row};
  const std::vector<std::string> against = closures_against(system(), worst);
  return {fmt::format("'{}' cannot take effect: no velocity satisfies it{}, it is off by {:.3g}", model_.rows[at(row)].closure,
                      against.empty() ? "" : " together with " + listed(against), unmet)};
}

Status Switching::remove_rates(EventRecord& record) {
  change_ = -system().terms().rate;
  return change_rates(change_, record);
}

void Switching::add_impulse(const VecX<double>& impulse, EventRecord& record) const {
  constexpr double kNone = 1e-14;
  for (int row = 0; row < model_.row_count(); ++row) {
    if (std::abs(impulse[row]) <= kNone || model_.rows[at(row)].internal) continue;
    const std::string& name = model_.rows[at(row)].name;
    const auto known = std::ranges::find(record.impulses, name, &std::pair<std::string, double>::first);
    if (known != record.impulses.end())
      known->second += impulse[row];
    else
      record.impulses.emplace_back(name, impulse[row]);
  }
}

// --- events of the model

Status Switching::act(const Event& event) {
  EventRecord record{.name = event.name, .what = joined(event.actions)};
  for (const Action& action : event.actions) {
    using Target = Action::Target;
    const double potential = system().potential_energy();
    switch (action.target) {
      case Target::kRows:
        if (Status status = switch_rows(event, action, record); !status.ok()) return status;
        break;
      case Target::kJointForce:
        modes_.joint_forces[at(action.first)] = action.on;
        break;
      case Target::kSpring:
        modes_.springs[at(action.first)] = action.on;
        break;
      case Target::kWrench:
        modes_.wrenches[at(action.first)] = action.on;
        break;
      case Target::kParameter:
        modes_.parameters[at(action.first)] = system().evaluate(action.value, &equations_.solution().lambda);
        break;
      case Target::kBounce: {
        const double restitution = system().evaluate(action.value, &equations_.solution().lambda);
        if (Status status = bounce(action.first, action.count, restitution, record); !status.ok()) return status;
        break;
      }
      case Target::kKick:
        kick(action, record);
        break;
      case Target::kStop:
        stopped_by_ = event.name;
        break;
    }
    take_modes();
    const double change = system().potential_energy() - potential;
    state_->work += change;
    record.energy += change;
  }
  // A constraint that moves otherwise than before, by a parameter or a drive, strikes too.
  if (Status status = remove_rates(record); !status.ok()) return {fmt::format("event '{}': {}", event.name, status.trouble)};
  keep(std::move(record));
  return {};
}

Status Switching::switch_rows(const Event& event, const Action& action, EventRecord& record) {
  std::vector<char> was_on(modes_.rows.begin() + action.first, modes_.rows.begin() + action.first + action.count);
  set_rows(action.first, action.count, action.on);
  take_modes();
  if (!action.on || std::ranges::count(was_on, 0) == 0) return {};
  const std::string who = fmt::format("event '{}' switches on '{}'", event.name, model_.rows[at(action.first)].closure);
  if (Status status = check_closed(who, action.first, action.count); !status.ok()) return status;
  if (Status status = remove_rates(record); !status.ok()) return {who + ", but " + status.trouble};
  const Diagnosis diagnosis = diagnose(model_, *state_, modes_);
  const std::string contradiction = describe_contradiction(model_, diagnosis);
  if (!contradiction.empty()) return {who + ", but " + contradiction};
  bool redundant = false;
  for (int r = action.first; r < action.first + action.count; ++r)
    redundant = redundant || diagnosis.rows[at(r)].kind != RowDiagnosis::Kind::kIndependent;
  if (!redundant) return {};
  std::string text = fmt::format("at t = {:.6g} s {}, which makes the mechanism over-constrained", state_->t, who);
  for (const std::string& sentence : describe_dependence(model_, diagnosis)) text += "; " + sentence;
  warnings_.push_back(std::move(text));
  return {};
}

/// Positions do not jump: what is switched on must fit where the mechanism is.
Status Switching::check_closed(const std::string& who, int first, int count) {
  const double tolerance = std::max(1e-8, 100.0 * model_.settings.constraint_tolerance);
  for (int r = first; r < first + count; ++r) {
    const double error = std::abs(system().terms().phi[r]);
    if (error > tolerance)
      return {fmt::format("{}, but its row '{}' is off by {:.3g} there: it can only close where it fits", who,
                          model_.rows[at(r)].name, error)};
  }
  return {};
}

/// The closure's rates return with their share; it need not be in force before or after.
Status Switching::bounce(int first, int count, double restitution, EventRecord& record) {
  const Modes kept = modes_;
  set_rows(first, count, true);
  take_modes();
  change_ = -system().terms().rate;
  for (int r = first; r < first + count; ++r)
    if (kept.rows[at(r)] == 0) change_[r] *= 1.0 + restitution;
  Status status = change_rates(change_, record);
  modes_ = kept;
  take_modes();
  return status;
}

void Switching::kick(const Action& action, EventRecord& record) {
  const double size = system().evaluate(action.value, &equations_.solution().lambda);
  const Joint& joint = model_.joints[action.coordinate.joint()];
  const auto rate = [&] {
    std::array<double, 7> q{};
    std::array<double, 6> v{}, a{};
    system().joint_motion(joint, {}, q, v, a);
    return v[at(action.coordinate.component)];
  };
  take_modes();
  const double before = rate();
  system().work().clear_forces();
  system().add_coordinate_force(action.coordinate, size);
  projection_.respond_to_forces(system(), change_, impulse_);
  state_->v += change_;
  system().update(*state_);
  const double work = size * 0.5 * (before + rate()) + impulse_.dot(system().terms().u);
  state_->work += work;
  record.energy += work;
  if (change_.size() > 0) record.velocity_jump = std::max(record.velocity_jump, change_.cwiseAbs().maxCoeff());
  add_impulse(impulse_, record);
  record.impulses.emplace_back(coordinate_name(joint, joint.kind->velocities[at(action.coordinate.component)]), size);
}

// --- contacts

std::size_t Switching::friction_of(const Contact& contact) const {
  for (std::size_t k = 0; k < model_.frictions.size(); ++k)
    if (model_.frictions[k].one_sided && model_.frictions[k].name == contact.name) return k;
  return model_.frictions.size();
}

void Switching::open(std::size_t c) {
  const Contact& contact = model_.contacts[c];
  set_rows(contact.row, 1 + contact.along, false);
  const std::size_t k = friction_of(contact);
  if (k == model_.frictions.size()) return;
  set_rows(model_.frictions[k].first_row, model_.frictions[k].rows, false);
  modes_.friction[k].kind = FrictionKind::kOff;
}

void Switching::close(std::size_t c) {
  const Contact& contact = model_.contacts[c];
  set_rows(contact.row, 1 + contact.along, true);
  if (const std::size_t k = friction_of(contact); k < model_.frictions.size()) begin_friction(k);
}

/// An open contact has closed with some speed.
Status Switching::strike(std::size_t c) {
  const Contact& contact = model_.contacts[c];
  take_modes();
  const double approach = -contact.side * system().error_rate(contact.row);
  const bool too_often = is_chatter(first_contact() + c);
  if (approach < kStill && !too_often) return {};  // it only touches; settle() decides
  ++impacts_[c];
  // It would leave by less than positions can tell, or come back at once.
  constexpr double kLowest = 1e-13, kSlowest = 1e-7;
  const double rebound = contact.restitution * approach, flight = contact.restitution * (state_->t - last_impact_[c]);
  const bool shakes = too_often || rebound < kSlowest || rebound * flight < 8.0 * kLowest;
  last_impact_[c] = state_->t;
  const double restitution = shakes ? 0.0 : contact.restitution;
  EventRecord record{.name = contact.name, .what = restitution > 0.0 ? "bounces" : "closes"};
  if (shakes && contact.restitution > 0.0 && !quiet_)
    warnings_.push_back(fmt::format("contact '{}' struck {} times, ever faster: from t = {:.6g} s on it is taken to rest",
                                    contact.name, impacts_[c], state_->t));
  if (Status status = impact(c, restitution, record); !status.ok()) return status;
  if (restitution == 0.0) close(c);
  take_modes();
  renew_directions();
  keep(std::move(record));
  return {};
}

/// Newton's law of impact. Other contacts that are closed hold unless they would have to pull: then they let go.
Status Switching::impact(std::size_t c, double restitution, EventRecord& record) {
  const Contact& contact = model_.contacts[c];
  const VecX<double> v = state_->v;
  const double work = state_->work;
  const std::size_t k = friction_of(contact);
  const bool rubs = k < model_.frictions.size();
  const EventRecord empty = record;
  for (std::size_t trial = 0; trial <= model_.contacts.size(); ++trial) {
    const Modes kept = modes_;
    set_rows(contact.row, 1 + contact.along, true);
    if (rubs) set_rows(model_.frictions[k].first_row, model_.frictions[k].rows, true);
    take_modes();
    const double approach = system().terms().rate[contact.row];
    change_ = -system().terms().rate;
    change_[contact.row] = -(1.0 + restitution) * approach;
    Status status = change_rates(change_, record);
    modes_ = kept;
    if (!status.ok()) return status;
    if (rubs) {
      const DryFriction& friction = model_.frictions[k];
      double across = 0.0;
      for (int r = 0; r < friction.rows; ++r) across = std::hypot(across, impulse_[friction.first_row + r]);
      if (across > friction.sticking * std::abs(impulse_[contact.row]) * (1.0 + 1e-12)) {
        state_->v = v;
        state_->work = work;
        record = empty;
        take_modes();
        slide_through(contact, k, -(1.0 + restitution) * approach, record);
      }
    }
    bool pulls = false;
    for (std::size_t other = 0; other < model_.contacts.size(); ++other) {
      const Contact& resting = model_.contacts[other];
      if (other == c || !is_closed(resting) || resting.side * impulse_[resting.row] >= -1e-12) continue;
      open(other);
      pulls = true;
    }
    if (!pulls) break;
    state_->v = v;
    state_->work = work;
    record = empty;
  }
  take_modes();
  return {};
}

/// Friction cannot stop the sliding: the impulses across are the kinetic share of the normal one, P = P_n (A_n' - mu A_t' d).
void Switching::slide_through(const Contact& contact, std::size_t k, double change, EventRecord& record) {
  const DryFriction& friction = model_.frictions[k];
  const Eigen::Vector2d slip = system().slip(k);
  const Eigen::Vector2d along = slip.normalized();
  const double mu = friction.sliding_force(slip.norm());
  const Modes kept = modes_;
  set_rows(contact.row, 1, true);
  set_rows(friction.first_row, friction.rows, true);
  take_modes();
  std::size_t group = 0;
  const ConstraintTerms& terms = system().terms();
  while (group + 1 < terms.first_rows.size() && terms.first_rows[group + 1] <= contact.row) ++group;
  const ForceColumns columns = terms.groups[group];
  const int first = terms.first_rows[group];
  modes_ = kept;
  take_modes();
  std::array<double, kMaxRows> unit{};
  unit[at(contact.row - first)] = 1.0;
  for (int r = 0; r < friction.rows; ++r) unit[at(friction.first_row - first + r)] = -mu * contact.side * along[r];
  const double normal_before = system().error_rate(contact.row);
  system().work().clear_forces();
  columns.add_to_forces(unit.data(), system().work());
  projection_.respond_to_forces(system(), change_, impulse_);
  const VecX<double> response = change_;
  state_->v += response;
  system().update(*state_);
  const double normal = change / (system().error_rate(contact.row) - normal_before);
  state_->v += (normal - 1.0) * response;
  system().update(*state_);
  impulse_ *= normal;
  impulse_[contact.row] = normal;
  const Eigen::Vector2d across = -mu * contact.side * normal * along;
  for (int r = 0; r < friction.rows; ++r) impulse_[friction.first_row + r] = across[r];
  const double work = normal * 0.5 * (normal_before + system().error_rate(contact.row)) +
                      across.dot(0.5 * (slip + system().slip(k))) + impulse_.dot(system().terms().u);
  state_->work += work;
  record.energy += work;
  record.velocity_jump = std::max(record.velocity_jump, (normal * response).cwiseAbs().maxCoeff());
  add_impulse(impulse_, record);
}

// --- friction

void Switching::slide(std::size_t k, const Eigen::Vector2d& direction) {
  modes_.friction[k].kind = FrictionKind::kSlip;
  modes_.friction[k].direction = direction;
  set_rows(model_.frictions[k].first_row, model_.frictions[k].rows, false);
}

/// Sticks where nothing moves; settle() finds out whether it holds.
void Switching::begin_friction(std::size_t k) {
  const Eigen::Vector2d slip = system().slip(k);
  if (slip.norm() > kStill) {
    slide(k, slip.normalized());
    return;
  }
  modes_.friction[k].kind = FrictionKind::kStick;
  set_rows(model_.frictions[k].first_row, model_.frictions[k].rows, true);
}

/// Sliding has come to an end, or has turned round.
Status Switching::try_to_stick(std::size_t k) {
  const DryFriction& friction = model_.frictions[k];
  const Eigen::Vector2d slip = system().slip(k);
  if (slip.norm() > std::max(1e-6 * watched_[first_friction() + k].scale, kStill)) {
    modes_.friction[k].direction = slip;  // it turned aside between two steps
    return {};
  }
  modes_.friction[k].kind = FrictionKind::kStick;
  set_rows(friction.first_row, friction.rows, true);
  take_modes();
  EventRecord record{.name = friction.name, .what = "sticks"};
  if (Status status = remove_rates(record); !status.ok()) return status;
  if (Status status = evaluate(); !status.ok()) return status;
  if (friction_needed(k) > friction_limit(k) + slack()) {
    const Eigen::Vector2d held(lambda(friction.first_row), friction.rows > 1 ? lambda(friction.first_row + 1) : 0.0);
    slide(k, -held.normalized());
    record.what = "turns round";
  }
  keep(std::move(record));
  return {};
}

void Switching::renew_directions() {
  for (std::size_t k = 0; k < model_.frictions.size(); ++k) {
    if (modes_.friction[k].kind != FrictionKind::kSlip) continue;
    const Eigen::Vector2d slip = system().slip(k);
    if (slip.norm() > kStill) modes_.friction[k].direction = slip;
  }
}

/// Closes what touches, then lets go of what cannot hold, until everything that holds does so by a force it can bear.
Status Switching::settle() {
  take_modes();
  std::vector<char> was_closed;
  for (const Contact& contact : model_.contacts) was_closed.push_back(is_closed(contact));
  bool closed_any = false;
  for (std::size_t c = 0; c < model_.contacts.size(); ++c) {
    const Contact& contact = model_.contacts[c];
    if (was_closed[c] != 0 || std::abs(system().error(contact.row)) > kTouching) continue;
    const double rate = contact.side * system().error_rate(contact.row);
    if (rate < -kStill) {
      if (Status status = strike(c); !status.ok()) return status;
      continue;
    }
    if (rate > kStill) continue;
    close(c);
    closed_any = true;
  }
  if (closed_any) {
    take_modes();
    EventRecord unseen;
    if (Status status = remove_rates(unseen); !status.ok()) return status;
  }
  for (int round = 0; round < 2 * static_cast<int>(watched_.size()) + 2; ++round) {
    if (Status status = evaluate(); !status.ok()) return status;
    if (!release()) break;
  }
  for (std::size_t c = 0; c < model_.contacts.size(); ++c) {
    const Contact& contact = model_.contacts[c];
    if (is_closed(contact) == (was_closed[c] != 0)) continue;
    const bool reported = !records_.empty() && records_.back().t == state_->t && records_.back().name == contact.name;
    if (!reported) keep({.name = contact.name, .what = is_closed(contact) ? "closes" : "opens"});
  }
  return {};
}

/// Lets go of the one thing that is worst off; false if nothing is.
bool Switching::release() {
  std::size_t worst = watched_.size();
  double least = -0.5 * slack();
  for (std::size_t c = 0; c < model_.contacts.size(); ++c)
    if (const Contact& contact = model_.contacts[c]; is_closed(contact) && contact.side * lambda(contact.row) < least)
      least = contact.side * lambda(contact.row), worst = c;
  if (worst < watched_.size()) {
    open(worst);
    return true;
  }
  least = -slack();
  for (std::size_t k = 0; k < model_.frictions.size(); ++k)
    if (modes_.friction[k].kind == FrictionKind::kStick && friction_limit(k) - friction_needed(k) < least)
      least = friction_limit(k) - friction_needed(k), worst = k;
  if (worst == watched_.size()) return false;
  const DryFriction& friction = model_.frictions[worst];
  const Eigen::Vector2d held(lambda(friction.first_row), friction.rows > 1 ? lambda(friction.first_row + 1) : 0.0);
  slide(worst, -held.normalized());
  keep({.name = friction.name, .what = "slides"});
  return true;
}

}  // namespace linkwork
