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

Switching::Switching(const Model& model, EquationsOfMotion& equations, bool exact)
    : model_(model),
      equations_(equations),
      projection_(model),
      modes_(model),
      watched_(model.events.size() + model.contacts.size() + model.frictions.size()),
      exact_(exact),
      problem_(model),
      lambda_(VecX<double>::Zero(model.row_count())),
      idle_(model.rows.size(), 0),
      impacts_(model.contacts.size(), 0),
      recent_(watched_.size()),
      fired_at_(watched_.size(), -1e300),
      at_limit_(watched_.size(), 0),
      ended_(model.frictions.size(), 0),
      mobility_(model.frictions.size(), 0.0),
      starting_(model.frictions.size(), 0) {
  for (const Contact& contact : model.contacts) {
    int found = -1;
    for (std::size_t k = 0; k < model.frictions.size(); ++k)
      if (model.frictions[k].one_sided && model.frictions[k].name == contact.name) found = static_cast<int>(k);
    friction_of_.push_back(found);
  }
}

// --- saving

SavedSwitching Switching::save() const {
  SavedSwitching saved{.rows = modes_.rows,
                       .forces = modes_.forces,
                       .parameters = modes_.parameters,
                       .largest_force = largest_force_,
                       .energy_scale = energy_scale_,
                       .records = records_,
                       .warnings = warnings_,
                       .impacts = impacts_,
                       .recent = recent_,
                       .settled_rank = settled_rank_,
                       .redundant = redundant_,
                       .idle = idle_,
                       .mobility = mobility_,
                       .starting = starting_};
  for (const Modes::Friction& friction : modes_.friction) {
    saved.friction.push_back(static_cast<int>(friction.kind));
    saved.directions.insert(saved.directions.end(), {friction.direction.x(), friction.direction.y()});
  }
  for (const Watched& w : watched_)
    saved.watched.insert(saved.watched.end(), {w.value, w.scale, w.sign, w.just_fired ? 1.0 : 0.0, w.offset});
  return saved;
}

bool Switching::accepts(const SavedSwitching& saved) const {
  const auto is_kind = [](int kind) { return kind >= 0 && kind <= static_cast<int>(FrictionKind::kSlip); };
  if (!std::ranges::all_of(saved.friction, is_kind)) return false;
  return saved.rows.size() == modes_.rows.size() && saved.forces.size() == modes_.forces.size() &&
         saved.parameters.size() == modes_.parameters.size() && saved.friction.size() == modes_.friction.size() &&
         saved.directions.size() == 2 * modes_.friction.size() && saved.watched.size() == 5 * watched_.size() &&
         saved.impacts.size() == impacts_.size() && saved.recent.size() == recent_.size() && saved.idle.size() == idle_.size() &&
         saved.mobility.size() == mobility_.size() && saved.starting.size() == starting_.size();
}

void Switching::restore(const SavedSwitching& saved) {
  modes_.rows = saved.rows;
  modes_.forces = saved.forces;
  modes_.parameters = saved.parameters;
  for (std::size_t k = 0; k < modes_.friction.size(); ++k)
    modes_.friction[k] = {static_cast<FrictionKind>(saved.friction[k]), {saved.directions[2 * k], saved.directions[2 * k + 1]}};
  for (std::size_t k = 0; k < watched_.size(); ++k) {
    const double* const from = &saved.watched[5 * k];
    watched_[k] = {.value = from[0], .scale = from[1], .sign = from[2], .just_fired = from[3] != 0.0, .offset = from[4]};
  }
  largest_force_ = saved.largest_force;
  energy_scale_ = saved.energy_scale;
  records_ = saved.records;
  warnings_ = saved.warnings;
  impacts_ = saved.impacts;
  recent_ = saved.recent;
  settled_rank_ = saved.settled_rank;
  redundant_ = saved.redundant;
  idle_ = saved.idle;
  mobility_ = saved.mobility;
  starting_ = saved.starting;
  equations_.set_modes(modes_);
}

// --- watching

double Switching::slack() const { return 1e-11 * std::max(1.0, largest_force_); }

double Switching::contact_value(const Contact& contact) {
  if (!is_closed(contact)) return contact.side * system().error(contact.row);
  return carries_nothing(contact.row) ? largest_force_ : contact.side * lambda(contact.row);
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
  return friction_limit(k) - friction_needed(k);
}

void Switching::read() {
  equations_.complete();
  lambda_ = equations_.solution().lambda;
  if (exact_ && (redundant_ || equations_.solution().rank.rank != settled_rank_)) share_loads();
  if (!modes_.friction.empty()) energy_scale_ = std::max(energy_scale_, system().kinetic_energy());
  for (std::size_t k = 0; k < watched_.size(); ++k) {
    double& value = watched_[k].value;
    if (k < first_contact())
      value = system().evaluate(model_.events[k].when, &equations_.solution().lambda);
    else if (k < first_friction())
      value = contact_value(model_.contacts[k - first_contact()]);
    else
      value = friction_value(k - first_friction());
    value += watched_[k].offset;
  }
}

/// Whether everything that is closed presses and what sticks stays within its limits, by the multipliers at hand.
bool Switching::holds() {
  for (const Contact& contact : model_.contacts)
    if (is_closed(contact) && contact_value(contact) < 0.0) return false;
  for (std::size_t k = 0; k < modes_.friction.size(); ++k)
    if (modes_.friction[k].kind == FrictionKind::kStick && friction_value(k) < 0.0) return false;
  return true;
}

/// Where rows repeat one another, multipliers are not unique, and those of dependent rows say nothing: forces hold if some
/// distribution of them does.
void Switching::share_loads() {
  if (holds()) return;
  std::vector<ContactPoint> points = points_in_force();
  if (points.empty()) return;
  problem_.assemble(system(), modes_, std::move(points));
  problem_.find_redundancy();
  if (problem_.is_redundant()) problem_.share(lambda_);
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
    const double raw = w.value - w.offset, below = std::max(0.0, -raw);
    w.offset = 0.0;
    if (k < first_friction() ? is_closed(model_.contacts[k - first_contact()])
                             : modes_.friction[k - first_friction()].kind == FrictionKind::kStick)
      w.offset = slack() + std::min(2.0 * below, kTakenToHold * largest_force_);
    else if (k < first_friction() && raw < kTouching)
      w.offset = kSurface + below;
    else if (k >= first_friction() && modes_.friction[k - first_friction()].kind == FrictionKind::kSlip)
      w.offset = std::min(below, kStill);
    w.value = raw + w.offset;
  }
}

void Switching::begin_step() {
  renew_directions();
  if (!modes_.friction.empty()) system().set_modes(modes_);
  energy_scale_ = 0.0;
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
  for (const Contact& contact : model_.contacts) {
    const double gap = contact.side * system().error(contact.row);
    if (gap < -std::max(1e-8, 100.0 * model_.settings.constraint_tolerance))
      return {fmt::format("contact '{}' is closed too far at the start, by {:.3g}", contact.name, -gap)};
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
  std::ranges::fill(ended_, 0);
  std::ranges::fill(at_limit_, 0);
  const int dof = model_.tree.nv - equations_.solution().rank.rank;
  for (std::size_t i = before; i < records_.size(); ++i) records_[i].dof = dof;
  return renew_signs();
}

Status Switching::fire(std::size_t k) {
  watched_[k].just_fired = true;
  fired_at_[k] = state_->t;
  if (k < first_contact()) watched_[k].sign = -watched_[k].sign;
  const bool is_contact = k >= first_contact() && k < first_friction();
  if (!is_contact && is_chatter(k)) {
    const std::string name = k < first_contact() ? model_.events[k].name : model_.frictions[k - first_friction()].name;
    return {fmt::format("chatter: '{}' came {} times within {:.3g} s; its condition does not stay as the event leaves it", name,
                        kMostInAStep, state_->t - recent_[k].front())};
  }
  if (k < first_contact()) return act(model_.events[k]);
  // What becomes of contacts and friction is for settle() to decide, of all of them together.
  at_limit_[k] = 1;
  if (k < first_friction()) return {};
  const std::size_t f = k - first_friction();
  if (modes_.friction[f].kind != FrictionKind::kSlip) return {};
  const Eigen::Vector2d slip = system().slip(f);
  ended_[f] = slip.norm() <= std::max(1e-6 * watched_[k].scale, kStill);
  if (ended_[f] == 0) modes_.friction[f].direction = slip;  // it turned aside between two steps
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
      case Target::kForce:
        modes_.forces[at(action.first)] = action.on;
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

// --- contacts and friction

void Switching::open(std::size_t c) {
  const Contact& contact = model_.contacts[c];
  set_rows(contact.row, 1 + contact.along, false);
  const int k = friction_of_[c];
  if (k < 0) return;
  set_rows(model_.frictions[at(k)].first_row, model_.frictions[at(k)].rows, false);
  modes_.friction[at(k)].kind = FrictionKind::kOff;
}

void Switching::slide(std::size_t k, const Eigen::Vector2d& direction) {
  modes_.friction[k].kind = FrictionKind::kSlip;
  modes_.friction[k].direction = direction;
  starting_[k] = 1;
  set_rows(model_.frictions[k].first_row, model_.frictions[k].rows, false);
}

void Switching::stick(std::size_t k) {
  modes_.friction[k].kind = FrictionKind::kStick;
  set_rows(model_.frictions[k].first_row, model_.frictions[k].rows, true);
}

void Switching::begin_friction(std::size_t k) {
  if (const Eigen::Vector2d slip = system().slip(k); slip.norm() > kStill)
    slide(k, slip);
  else
    stick(k);
}

/// In a plane, the slower it slides the faster friction turns the direction of sliding. Below the speed that friction changes in
/// one step it follows with a delay of about a step, which no method finds stiff: see sliding_direction().
void Switching::renew_directions() {
  constexpr double kLittle = 0.1;  // as there: below that share of the direction's length the direction is kept
  for (std::size_t k = 0; k < model_.frictions.size(); ++k) {
    Modes::Friction& mode = modes_.friction[k];
    if (mode.kind != FrictionKind::kSlip) continue;
    const Eigen::Vector2d slip = system().slip(k);
    const double speed = slip.norm();
    const bool may_be_slow = starting_[k] != 0 && model_.frictions[k].rows > 1;
    const double slow = may_be_slow ? mobility_[k] * system().friction_force(k).norm() * model_.settings.step : 0.0;
    if (speed >= slow) {
      starting_[k] = 0;
      if (speed > kStill) mode.direction = slip;
      continue;
    }
    Eigen::Vector2d direction = mode.direction.normalized();
    if (speed > kStill && slip.dot(direction) > 0.0) direction = (slip / slow + (1.0 - speed / slow) * direction).normalized();
    mode.direction = slow / kLittle * direction;
  }
}

/// How a friction takes part in the problem of forces: sticking, or sliding at a speed.
void Switching::add_friction(ContactPoint& point, std::size_t k, bool as_in_force) {
  const Eigen::Vector2d slip = system().slip(k);
  const FrictionKind kind = modes_.friction[k].kind;
  point.friction = static_cast<int>(k);
  point.lets_go = kind == FrictionKind::kStick && at_limit_[first_friction() + k] != 0;
  if (model_.frictions[k].normal_row < 0) point.load = system().evaluate(model_.frictions[k].load);
  const bool slides =
      as_in_force ? kind == FrictionKind::kSlip : kind != FrictionKind::kStick && ended_[k] == 0 && slip.norm() > kStill;
  if (!slides) return;
  const bool is_slow = slip.norm() <= kStill;
  point.slides = std::max(slip.norm(), 1e-300);
  point.along = (is_slow ? modes_.friction[k].direction : slip).normalized();
}

/// Contacts that are closed and frictions that stick, as they are.
std::vector<ContactPoint> Switching::points_in_force() {
  std::vector<ContactPoint> points;
  for (std::size_t c = 0; c < model_.contacts.size(); ++c) {
    if (!is_closed(model_.contacts[c])) continue;
    ContactPoint& point = points.emplace_back(ContactPoint{.contact = static_cast<int>(c)});
    if (friction_of_[c] >= 0) add_friction(point, at(friction_of_[c]), true);
  }
  for (std::size_t k = 0; k < model_.frictions.size(); ++k)
    if (!model_.frictions[k].one_sided && modes_.friction[k].kind == FrictionKind::kStick)
      add_friction(points.emplace_back(), k, true);
  return points;
}

/// All that is closed or touches without speed, and frictions at rest: what the forces of this instant are to be found for.
std::vector<ContactPoint> Switching::points_at_rest() {
  std::vector<ContactPoint> points;
  for (std::size_t c = 0; c < model_.contacts.size(); ++c) {
    const Contact& contact = model_.contacts[c];
    const bool touches =
        contact.side * system().error(contact.row) <= kTouching && std::abs(system().error_rate(contact.row)) <= kStill;
    if (!is_closed(contact) && !touches) continue;
    ContactPoint& point = points.emplace_back(ContactPoint{.contact = static_cast<int>(c)});
    point.gives_way = is_closed(contact) && at_limit_[first_contact() + c] != 0;
    if (friction_of_[c] >= 0) add_friction(point, at(friction_of_[c]), false);
  }
  for (std::size_t k = 0; k < model_.frictions.size(); ++k) {
    if (model_.frictions[k].one_sided) continue;
    ContactPoint point;
    add_friction(point, k, false);
    if (!(point.slides > 0.0)) points.push_back(point);
  }
  return points;
}

std::vector<std::size_t> Switching::closing_contacts() {
  std::vector<std::size_t> closing;
  for (std::size_t c = 0; c < model_.contacts.size(); ++c) {
    const Contact& contact = model_.contacts[c];
    if (!is_closed(contact) && contact.side * system().error(contact.row) <= kTouching &&
        contact.side * system().error_rate(contact.row) < -kStill)
      closing.push_back(c);
  }
  return closing;
}

/// Finds what holds, opens, sticks and slides from here on. First everything that strikes does so, together; then forces are
/// found for all points at rest, together.
Status Switching::settle() {
  const Modes before = modes_;
  struck_.assign(model_.contacts.size(), 0);
  sticking_ = {};
  for (int round = 0; round <= kMostRounds; ++round) {
    take_modes();
    if (const std::vector<std::size_t> closing = closing_contacts(); !closing.empty()) {
      if (Status status = strike(closing); !status.ok()) return status;
      continue;
    }
    bool again = false;
    if (Status status = exact_ ? decide(again) : decide_each(); !status.ok()) return status;
    if (again) continue;
    report_changes(before);
    return note_redundancy();
  }
  std::string names;
  for (std::size_t c : closing_contacts()) names += fmt::format("{}'{}'", names.empty() ? "" : ", ", model_.contacts[c].name);
  return {fmt::format("impacts at one instant set one another off without end: {}", names)};
}

/// The forces of all points at rest, and what follows.
Status Switching::decide(bool& again) {
  const std::vector<ContactPoint> points = points_at_rest();
  if (points.empty()) return evaluate();
  problem_.assemble(system(), modes_, points);
  const Modes kept = modes_;
  modes_ = problem_.without_points();
  if (Status status = evaluate(); !status.ok()) return status;
  const bool solved = problem_.solve_forces(rates_->vdot, equations_.solution().lambda);
  modes_ = kept;
  if (!solved) {
    again = true;
    if (const int p = problem_.jammed(); p >= 0) return jam(points[at(p)]);
    return {"no forces fit the contacts and friction at " + names_of(points)};
  }
  if (const int p = problem_.ambiguous(); p >= 0) {
    const std::string& name = model_.contacts[at(points[at(p)].contact)].name;
    warn_once(fmt::format("contact '{}' may open", name),
              fmt::format("at t = {:.6g} s contact '{}' may open or press, its friction allows both (Painleve's paradox): it is "
                          "taken to {}",
                          state_->t, name, problem_.found(at(p)) == ContactProblem::State::kOpen ? "open" : "press"));
  }
  for (std::size_t p = 0; p < points.size(); ++p) {
    const bool opens = points[p].contact >= 0 && problem_.found(p) == ContactProblem::State::kOpen;
    if (opens) {
      open(at(points[p].contact));
      continue;
    }
    if (points[p].contact >= 0) {
      const Contact& contact = model_.contacts[at(points[p].contact)];
      set_rows(contact.row, 1 + contact.along, true);
    }
    if (points[p].friction < 0) continue;
    if (problem_.found(p) == ContactProblem::State::kSlides)
      slide(at(points[p].friction),
            points[p].slides > 0.0 ? Eigen::Vector2d(points[p].slides * points[p].along) : problem_.direction(p));
    else
      stick(at(points[p].friction));
  }
  if (Status status = stop_what_holds(kept); !status.ok()) return status;
  if (Status status = evaluate(); !status.ok()) return status;
  return release_all();
}

/// What holds from here on has come to rest but for rounding, which is taken away. What would take a jolt does not hold: it only
/// passes through zero, as a slider does at dead centre.
Status Switching::stop_what_holds(const Modes& before) {
  constexpr double kGentle = 1e-8;  // of the kinetic energy in the step
  bool any = false;
  for (std::size_t r = 0; r < modes_.rows.size(); ++r) any = any || (modes_.rows[r] != 0 && before.rows[r] == 0);
  take_modes();
  if (!any) return {};
  const VecX<double> v = state_->v;
  const double work = state_->work, energy = system().kinetic_energy();
  Status status = remove_rates(sticking_);
  const bool gentle = status.ok() && energy - system().kinetic_energy() <= kGentle * energy_scale_;
  if (gentle || std::ranges::count(ended_, 0) == std::ssize(ended_)) return status;
  state_->v = v;
  state_->work = work;
  sticking_ = {};
  for (std::size_t p = 0; p < problem_.points().size(); ++p) {
    const int k = problem_.points()[p].friction;
    if (k < 0 || ended_[at(k)] == 0 || modes_.friction[at(k)].kind != FrictionKind::kStick) continue;
    const Eigen::Vector2d free = problem_.free_motion(p);
    slide(at(k), free.norm() > 0.0 ? Eigen::Vector2d(free.normalized()) : Eigen::Vector2d(-modes_.friction[at(k)].direction));
  }
  take_modes();
  return {};
}

/// By the formulation's own multipliers, each for itself: for springs in place of constraints, where they are unique.
Status Switching::decide_each() {
  for (std::size_t c = 0; c < model_.contacts.size(); ++c) {
    const Contact& contact = model_.contacts[c];
    const double gap = contact.side * system().error(contact.row);
    const bool due = quiet_ || watched_[first_contact() + c].just_fired;
    if (is_closed(contact) || gap > kTouching || !due || contact.side * system().error_rate(contact.row) > kStill) continue;
    set_rows(contact.row, 1 + contact.along, true);
    if (friction_of_[c] >= 0) begin_friction(at(friction_of_[c]));
  }
  for (std::size_t k = 0; k < model_.frictions.size(); ++k)
    if (ended_[k] != 0 && modes_.friction[k].kind == FrictionKind::kSlip) stick(k);
  if (Status status = evaluate(); !status.ok()) return status;
  return release_all();
}

/// Lets go of what cannot hold, one after another: the last word of the equations themselves.
Status Switching::release_all() {
  for (int round = 0; round < 2 * static_cast<int>(watched_.size()) + 2; ++round) {
    settled_rank_ = -1;
    for (Watched& w : watched_) w.offset = 0.0;
    read();
    if (!release()) break;
    if (Status status = evaluate(); !status.ok()) return status;
  }
  return {};
}

/// Lets go of the one thing that is worst off; false if nothing is.
bool Switching::release() {
  const double most = exact_ ? 1e-6 * largest_force_ : 0.5 * slack();
  std::size_t worst = watched_.size();
  double least = -most;
  for (std::size_t c = 0; c < model_.contacts.size(); ++c)
    if (const Contact& contact = model_.contacts[c]; is_closed(contact) && contact_value(contact) < least)
      least = contact_value(contact), worst = c;
  if (worst < watched_.size()) {
    open(worst);
    return true;
  }
  for (std::size_t k = 0; k < model_.frictions.size(); ++k)
    if (modes_.friction[k].kind == FrictionKind::kStick && friction_value(k) < least) least = friction_value(k), worst = k;
  if (worst == watched_.size()) return false;
  const DryFriction& friction = model_.frictions[worst];
  const Eigen::Vector2d held(lambda(friction.first_row), friction.rows > 1 ? lambda(friction.first_row + 1) : 0.0);
  slide(worst, -held.normalized());
  return true;
}

/// Whether loads are shared between more rows than it takes, and which rows carry nothing at this position.
Status Switching::note_redundancy() {
  settled_rank_ = equations_.solution().rank.rank;
  redundant_ = false;
  std::ranges::fill(idle_, 0);
  for (std::size_t k = 0; k < mobility_.size(); ++k) mobility_[k] = problem_.mobility(system(), model_.frictions[k].first_row);
  if (!exact_) return {};
  std::vector<ContactPoint> points = points_in_force();
  if (points.empty()) return {};
  problem_.assemble(system(), modes_, std::move(points));
  problem_.find_redundancy();
  redundant_ = problem_.is_redundant();
  idle_ = problem_.vanishing();
  return {};
}

void Switching::report_changes(const Modes& before) {
  for (std::size_t c = 0; c < model_.contacts.size(); ++c) {
    const Contact& contact = model_.contacts[c];
    const bool was_closed = before.rows[at(contact.row)] != 0;
    if (is_closed(contact) == was_closed || struck_[c] != 0) continue;
    keep({.name = contact.name, .what = is_closed(contact) ? "closes" : "opens"});
  }
  for (std::size_t k = 0; k < model_.frictions.size(); ++k) {
    const FrictionKind was = before.friction[k].kind, is = modes_.friction[k].kind;
    EventRecord record{.name = model_.frictions[k].name, .what = ""};
    if (was == FrictionKind::kStick && is == FrictionKind::kSlip) record.what = "slides";
    if (was == FrictionKind::kSlip && is == FrictionKind::kStick) {
      record = std::exchange(sticking_, {});
      record.name = model_.frictions[k].name;
      record.what = "sticks";
    }
    if (was == FrictionKind::kSlip && is == FrictionKind::kSlip && ended_[k] != 0 &&
        before.friction[k].direction.dot(modes_.friction[k].direction) < 0.0)
      record.what = "turns round";
    if (!record.what.empty()) keep(std::move(record));
  }
}

std::string Switching::names_of(const std::vector<ContactPoint>& points) const {
  std::vector<std::string> names;
  for (const ContactPoint& point : points)
    names.push_back(point.contact >= 0 ? model_.contacts[at(point.contact)].name : model_.frictions[at(point.friction)].name);
  return listed(names);
}

/// Unless a warning that contains `about` was given before.
void Switching::warn_once(const std::string& about, const std::string& text) {
  if (std::ranges::none_of(warnings_, [&](const std::string& known) { return known.find(about) != std::string::npos; }))
    warnings_.push_back(text);
}

std::string Switching::busiest(double since) const {
  std::vector<std::string> names;
  for (std::size_t k = 0; k < watched_.size(); ++k) {
    if (fired_at_[k] < since) continue;
    names.push_back(k < first_contact()    ? "event '" + model_.events[k].name + "'"
                    : k < first_friction() ? "contact '" + model_.contacts[k - first_contact()].name + "'"
                                           : "friction '" + model_.frictions[k - first_friction()].name + "'");
  }
  return listed(names);
}

// --- impacts

/// Whether the flights of a contact have become so short that it has come to rest: they shrink by a ratio, of which their sum
/// follows.
bool Switching::comes_to_rest(std::size_t c, double rebound) {
  constexpr double kLowest = 1e-13, kSlowest = 1e-7;  // positions cannot tell
  std::vector<double>& times = recent_[first_contact() + c];
  times.push_back(state_->t);
  if (times.size() > kMostInAStep) times.erase(times.begin());
  if (rebound < kSlowest) return true;
  const std::size_t n = times.size();
  if (n < 4) return false;
  const double first = times[n - 3] - times[n - 4], second = times[n - 2] - times[n - 3], third = times[n - 1] - times[n - 2];
  const double ratio = std::max(second / first, third / second);
  if (!(ratio < 1.0)) return false;
  const double left = third * ratio / (1.0 - ratio);  // in time, until the flights have added up
  return rebound * third * ratio < 8.0 * kLowest || left < 1e-13 * std::max(1.0, std::abs(state_->t));
}

/// The impact of all contacts that are closed or closing. Friction under a given force takes no part: it has no impulse.
Status Switching::strike(const std::vector<std::size_t>& closing) {
  std::vector<ContactPoint> points;
  Modes modes = modes_;
  for (std::size_t c = 0; c < model_.contacts.size(); ++c) {
    const Contact& contact = model_.contacts[c];
    const double rate = contact.side * system().error_rate(contact.row);
    const bool touches = contact.side * system().error(contact.row) <= kTouching && rate <= kStill;
    if (!is_closed(contact) && !touches) continue;
    ContactPoint& point = points.emplace_back(ContactPoint{.contact = static_cast<int>(c), .friction = friction_of_[c]});
    if (std::ranges::find(closing, c) == closing.end()) continue;
    ++impacts_[c];
    point.is_closing = true;
    const bool rests = comes_to_rest(c, -rate * contact.restitution);
    point.restitution = rests ? 0.0 : contact.restitution;
    if (rests && contact.restitution > 0.0)
      warn_once(fmt::format("contact '{}' struck", contact.name),
                fmt::format("contact '{}' struck {} times, ever faster: from t = {:.6g} s on it is taken to rest", contact.name,
                            impacts_[c], state_->t));
  }
  for (std::size_t k = 0; k < model_.frictions.size(); ++k) {
    const DryFriction& friction = model_.frictions[k];
    if (friction.one_sided) continue;
    if (friction.normal_row >= 0) {
      points.push_back({.friction = static_cast<int>(k)});
      continue;
    }
    for (int r = 0; r < friction.rows; ++r) modes.rows[at(friction.first_row + r)] = 0;
  }
  problem_.assemble(system(), modes, points);
  if (!problem_.solve_impulses()) return {"no impulses fit the impact at " + names_of(points)};
  const double energy = system().kinetic_energy();
  state_->v += problem_.response();
  const VecX<double>& impulses = problem_.multipliers();
  const double drives = impulses.dot(system().terms().u);
  const double jump = problem_.response().cwiseAbs().maxCoeff();
  const bool was_quiet = std::exchange(quiet_, false);
  bool first = true;
  for (std::size_t p = 0; p < points.size(); ++p) {
    const double work = problem_.work(p) + (first ? drives : 0.0);
    state_->work += work;
    if (points[p].contact < 0 || !points[p].is_closing) {
      continue;
    }
    const Contact& contact = model_.contacts[at(points[p].contact)];
    EventRecord record{.name = contact.name, .what = points[p].restitution > 0.0 ? "bounces" : "closes"};
    record.velocity_jump = jump;
    record.energy = work;
    VecX<double> own = first ? impulses : VecX<double>::Zero(impulses.size());
    for (std::size_t other = 0; other < points.size(); ++other)
      for (int r : rows_of(points[other])) own[r] = other == p || (first && !points[other].is_closing) ? impulses[r] : 0.0;
    add_impulse(own, record);
    keep(std::move(record));
    struck_[at(points[p].contact)] = 1;
    first = false;
  }
  quiet_ = was_quiet;
  take_modes();
  if (system().kinetic_energy() > energy * (1.0 + 1e-9) + drives)
    warn_once("Newton's law of impact with this friction",
              fmt::format("contact '{}' at t = {:.6g} s: Newton's law of impact with this friction adds energy ({:.3g} J)",
                          model_.contacts[closing.front()].name, state_->t, system().kinetic_energy() - energy));
  for (const ContactPoint& point : points) {
    if (point.contact < 0) continue;
    const Contact& contact = model_.contacts[at(point.contact)];
    if (contact.side * system().error_rate(contact.row) > kStill) {
      open(at(point.contact));
      continue;
    }
    set_rows(contact.row, 1 + contact.along, true);
    if (point.friction >= 0) begin_friction(at(point.friction));
  }
  for (std::size_t k = 0; k < model_.frictions.size(); ++k)
    if (!model_.frictions[k].one_sided) begin_friction(k);
  return {};
}

std::vector<int> Switching::rows_of(const ContactPoint& point) const {
  std::vector<int> rows;
  if (point.contact >= 0) {
    const Contact& contact = model_.contacts[at(point.contact)];
    for (int r = 0; r <= contact.along; ++r) rows.push_back(contact.row + r);
  }
  if (point.friction >= 0) {
    const DryFriction& friction = model_.frictions[at(point.friction)];
    for (int r = 0; r < friction.rows; ++r) rows.push_back(friction.first_row + r);
  }
  return rows;
}

/// A contact that slides, and whose friction presses it on more than anything holds it off: no force fits. What happens is an
/// impact without a collision, which stops the sliding [Brogliato2016].
Status Switching::jam(const ContactPoint& point) {
  const Contact& contact = model_.contacts[at(point.contact)];
  const std::string why = fmt::format("at t = {:.6g} s no force fits the sliding contact '{}' (Painleve's paradox, inconsistent)",
                                      state_->t, contact.name);
  stick(at(point.friction));
  set_rows(contact.row, 1 + contact.along, true);
  take_modes();
  EventRecord record{.name = contact.name, .what = "jams"};
  if (Status status = remove_rates(record); !status.ok()) return {why + ": " + status.trouble};
  double across = 0.0;
  const DryFriction& friction = model_.frictions[at(point.friction)];
  for (int r = 0; r < friction.rows; ++r) across = std::hypot(across, impulse_[friction.first_row + r]);
  const double normal = contact.side * impulse_[contact.row];
  if (across > friction.sticking * normal * (1.0 + 1e-9)) return {why + ", and no impulse stops it either"};
  const bool was_quiet = std::exchange(quiet_, false);
  keep(std::move(record));
  quiet_ = was_quiet;
  warn_once(fmt::format("sliding contact '{}'", contact.name), why + ": an impact without collision stops the sliding");
  return {};
}

}  // namespace linkwork
