#include "linkwork/simulation/time_loop.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "linkwork/dynamics/equations_of_motion.h"
#include "linkwork/dynamics/not_finite.h"
#include "linkwork/model/input_error.h"
#include "linkwork/model/spec.h"
#include "linkwork/simulation/columns.h"
#include "linkwork/simulation/settling_system.h"
#include "linkwork/switching/time_laws.h"

namespace linkwork {

namespace {

/// Relative: times that rounding alone separates.
constexpr double kSameTime = 4e-16;

}  // namespace

TimeLoop::TimeLoop(std::unique_ptr<MovingSystem> system)
    : system_(std::move(system)), settings_(system_->settings()), now_(system_->begin()), h_(settings_.step) {
  equations_ = &system_->equations();
  settling_ = dynamic_cast<SettlingSystem*>(system_.get());
  make_integrator();
  if (!system_->columns().empty()) chosen_ = ColumnChoice(settings_).among(system_->columns());
  for (const std::size_t c : chosen_) columns_.push_back(system_->columns()[c]);
  for (MovingSystem::Sampled& sampled : system_->sampled())
    sampled_.push_back({sampled.period, [this, act = std::move(sampled.act)] {
                          disturbed_ = true;
                          return act();
                        }});
}

TimeLoop::~TimeLoop() = default;

void TimeLoop::make_integrator() {
  integrator_ = system_->make_integrator();
  adaptive_ = integrator_->estimates_error();
  equations_ = &system_->equations();
  watch_ = system_->watch();
  step_watch_ = {};
  EquationsOfMotion* const motion = equations_->equations_of_motion();
  const bool chooses_steps = !has_fixed_steps() && !integrator_->stops_at_rows();
  time_laws_ = motion && chooses_steps ? std::make_unique<TimeLaws>(motion->model()) : nullptr;
}

double TimeLoop::wall_seconds() const { return wall_before_ + std::chrono::duration<double>(Clock::now() - called_).count(); }

bool TimeLoop::begin(double end) {
  called_ = Clock::now();
  end_ = end;
  if (std::exchange(interrupted_, false)) summary_.status = Summary().status;
  return !stopped_ && start();
}

bool TimeLoop::advance(double end, bool one_step) {
  bool going = begin(end);
  if (one_step)
    going = going && !has_ended() && step();
  else
    while (going && !has_ended()) going = step();
  wall_before_ = wall_seconds();
  return going;
}

Summary TimeLoop::run() {
  if (begin(settings_.end) && save_if_due())
    while (!has_ended() && step() && save_if_due()) {
    }
  if (interrupted_ && observer_.checkpoint && system_->at_rest())
    if (const SavedRun saved = save(); system_->lost().empty()) observer_.checkpoint(saved);
  Summary done = summary();
  wall_before_ = done.wall_seconds;
  return done;
}

Summary TimeLoop::summary() {
  if (!stopped_)
    if (const Status status = system_->hear(objection_); !status.ok()) stop(status.trouble);  // to the last row
  const bool by_event = ended_by_event() && summary_.status == "done";
  Summary summary = summary_;
  Remarks remarks = remarks_;
  summary.completed = !stopped_ && (now_.t >= settings_.end || by_event);
  if (by_event) summary.status = fmt::format("ended at t = {:.9g} s by event '{}'", now_.t, watch_->stopped_by());
  summary.evaluations = evaluations_before_ + equations_->evaluations();
  if (integrator_->controls_step()) summary.rejected_steps += integrator_->rejected_steps();
  summary.simulated_seconds = now_.t;
  if (energy_known_) summary.energy_drift = energy_drift();
  const std::vector<std::string>& columns = system_->columns();
  for (std::size_t c = 0; outputs_ > 0 && c < columns.size(); ++c)
    if (columns[c].starts_with("q.") || columns[c].starts_with("v.")) summary.final_state.emplace_back(columns[c], row_[c]);
  summary.wall_seconds = wall_seconds();
  system_->gather(remarks);
  for (const Remarks::Remark& remark : remarks.all()) summary.warnings.push_back(remark.text);
  system_->finish(summary, summary.wall_seconds - wall_restored_);
  warn_of_garbage(summary);
  return summary;
}

/// What rests exchanges rounding only, and is held to the energy that it has.
double TimeLoop::energy_drift() const {
  constexpr double kNothing = 1e-12;
  const double energy = usual_energy();
  if (exchanged_ > kNothing * energy) return imbalance_ / exchanged_;
  return energy > 0.0 ? imbalance_ / energy : imbalance_;
}

double TimeLoop::usual_energy() const {
  return std::abs(potential_start_) + exchanged_ + std::abs(work_) + system_->scales().energy;
}

/// A run that goes to its end need not have gone right.
void TimeLoop::warn_of_garbage(Summary& summary) const {
  constexpr double kMuchEnergy = 1e-3, kRounding = 1e-9, kWideOpen = 1e-2;
  const MovingSystem::Scales scales = system_->scales();
  if (summary.energy_drift > kMuchEnergy && imbalance_ > kRounding * usual_energy())
    summary.warnings.push_back(fmt::format(
        "the energy is off by {:.2g} of what was exchanged: the motion cannot be trusted; {}", summary.energy_drift,
        has_fixed_steps() ? "give a smaller step, or an integrator with error control" : "give smaller rtol and atol"));
  if (const double open = summary.position_error_max; open > kWideOpen * scales.length)
    summary.warnings.push_back(
        fmt::format("the constraints were off by up to {:.2g}: the mechanism came apart; {}", open, system_->advice_when_open()));
}

bool TimeLoop::has_ended() const { return now_.t >= end_ || ended_by_event(); }

bool TimeLoop::stop(const std::string& reason) {
  stopped_ = true;
  summary_.status = fmt::format("stopped at t = {:.9g} s: {}", now_.t, reason);
  return false;
}

// --- start, save, go on

bool TimeLoop::start() {
  if (started_) return true;
  started_ = true;
  if (const Status status = system_->start(now_, rates_, summary_, remarks_); !status.ok()) return stop(status.trouble);
  if (watch_) begin_watching();
  next_ = inside_ = now_;
  next_rates_ = inside_rates_ = rates_;
  if (!act_on_samples() || !take_stock() || !record(now_.t)) return false;
  const Status status = system_->hear(objection_);
  return status.ok() || stop(status.trouble);
}

bool TimeLoop::save_if_due() {
  if (!observer_.checkpoint || has_ended() || !system_->at_rest()) return true;
  const double reached = now_.t + 1e-9 * settings_.step;
  const auto due = [&] { return static_cast<double>(next_checkpoint_) * observer_.checkpoint_every; };
  if (due() > reached) return true;
  next_checkpoint_ = first_multiple_after(observer_.checkpoint_every, reached);
  const SavedRun saved = save();
  if (const std::string lost = system_->lost(); !lost.empty()) return stop(lost);  // the last checkpoint is still good
  observer_.checkpoint(saved);
  return go_on_from(saved);
}

SavedRun TimeLoop::save() {
  if (!started_) start();
  come_back();
  SavedRun saved{.t = now_.t,
                 .outputs = outputs_,
                 .grid = grid_,
                 .h = h_,
                 .usual_h = usual_h_,
                 .evaluations = evaluations_before_ + equations_->evaluations(),
                 .energy_start = energy_start_,
                 .potential_start = potential_start_,
                 .imbalance = imbalance_,
                 .exchanged = exchanged_,
                 .energy_known = energy_known_,
                 .row = row_,
                 .next_checkpoint = next_checkpoint_,
                 .wall_seconds = wall_seconds(),
                 .summary = summary_};
  saved.inputs = inputs_;
  Remarks remarks = remarks_;
  system_->gather(remarks);
  saved.remarks = remarks.all();
  if (interrupted_) saved.summary.status = Summary().status;
  if (integrator_->controls_step()) saved.summary.rejected_steps += integrator_->rejected_steps();
  system_->save(now_, saved);
  return saved;
}

void TimeLoop::restore(const SavedRun& saved) {
  const bool on_grid = saved.grid == first_multiple_after(settings_.step, saved.t + 1e-9 * settings_.step) - 1;
  if (!system_->accepts(saved) || !on_grid || (system_->is_first_rank() && saved.row.size() != system_->columns().size()))
    throw InputError({}, "what was saved is not of this model: its states, its time or its columns do not fit");
  called_ = Clock::now();
  wall_before_ = wall_restored_ = saved.wall_seconds;
  started_ = true;
  stopped_ = interrupted_ = false;
  go_on_from(saved);
}

/// Methods are made anew: what they remember of earlier steps is not saved, and must not make a difference.
bool TimeLoop::go_on_from(const SavedRun& saved) {
  outputs_ = saved.outputs;
  grid_ = saved.grid;
  h_ = saved.h;
  usual_h_ = saved.usual_h;
  energy_start_ = saved.energy_start;
  potential_start_ = saved.potential_start;
  imbalance_ = saved.imbalance;
  exchanged_ = saved.exchanged;
  energy_known_ = saved.energy_known;
  row_ = saved.row;
  next_checkpoint_ = saved.next_checkpoint;
  summary_ = saved.summary;
  remarks_.set(saved.remarks);
  for (const auto& [name, value] : inputs_)
    if (!saved.inputs.contains(name)) system_->set_input(name, {});
  for (const auto& [name, value] : saved.inputs) system_->set_input(name, value);
  inputs_ = saved.inputs;
  for (Sampled& sampled : sampled_) sampled.next = first_multiple_after(sampled.period, saved.t + same_sample());
  elsewhere_.reset();
  const Status status = system_->restore(saved, now_, rates_);
  make_integrator();
  evaluations_before_ = saved.evaluations;
  next_ = inside_ = now_;
  next_rates_ = inside_rates_ = rates_;
  if (!status.ok()) return stop(status.trouble);
  energy_with_rows_ = !system_->energies();
  if (watch_) begin_watching();
  return true;
}

// --- steps

/// One accepted step, with the rows that fall into it.
bool TimeLoop::step() {
  if (!come_back() || !gets_on() || (disturbed_ && !begin_anew())) return false;
  const double h = next_step_size();
  if (watch_ && h <= kSameTime * std::max(1.0, std::abs(now_.t))) {
    next_ = now_;
    next_.t = planned_end_;
    if (!evaluate_next()) return false;
    watch_->margin(next_rates_);
    mark_due();
    return finish_step();
  }
  if (!take_step(h) || !look_between()) return false;
  if (settling_ != nullptr && settling_->settles()) {
    const Status status = settling_->settle(next_, next_rates_);
    return (status.ok() || stop(blame(next_.t - now_.t, status.trouble))) && find_event() && finish_step();
  }
  if (Status status = equations_->project(next_); !status.ok()) return stop(blame(next_.t - now_.t, status.trouble));
  return evaluate_next() && find_event() && finish_step();
}

std::optional<TimeLoop::PlainStep> TimeLoop::plain_step() {
  if (!started_ || stopped_ || !sampled_.empty() || !has_fixed_steps()) return {};
  if (watch_ && (disturbed_ || next_step_size() <= kSameTime * std::max(1.0, std::abs(now_.t)))) return {};
  return PlainStep{next_step_size(), disturbed_};
}

bool TimeLoop::finish(DoneStep& done) {
  disturbed_ = false;
  next_.t = planned_end_;
  next_.y.swap(done.y), next_rates_.swap(done.rates);
  elsewhere_ = {done.errors, done.energies};
  turned_ += done.turned, evaluations_before_ += done.evaluations;
  if (!watch_) return finish_step();
  const long evaluations = equations_->evaluations();
  if ((!watch_->stand_at(next_) && !evaluate_next()) || !find_event()) return false;
  if (equations_->evaluations() != evaluations) elsewhere_.reset(), turned_ = 0.0;  // it was evaluated here after all
  return finish_step();
}

/// The rates of the step that was computed elsewhere are gone on with: where and when it is looked at makes no difference.
bool TimeLoop::come_back() {
  if (!elsewhere_) return true;
  elsewhere_.reset();
  turned_ = 0.0;
  if (disturbed_) return true;  // it will be evaluated before it is used
  --evaluations_before_;        // it has been counted
  if (const Status status = evaluate(now_, inside_rates_); !status.ok()) return stop(status.trouble);
  system_->accept_step(now_, rates_, remarks_);
  return true;
}

void TimeLoop::set_input(const std::string& name, std::optional<double> value) {
  system_->set_input(name, value);
  if (value)
    inputs_[name] = *value;
  else
    inputs_.erase(name);
  disturbed_ = true;
}

void TimeLoop::sample(double period, std::function<void()> act) {
  const long next = started_ ? first_multiple_after(period, now_.t + same_sample()) : 0;
  sampled_.push_back({period,
                      [act = std::move(act)]() -> Status {
                        act();
                        return {};
                      },
                      next});
}

void TimeLoop::jump(const Moment& to) {
  if (!started_) start();
  elsewhere_.reset();
  now_ = to;
  equations_->normalize(now_.y);
  if (const Status status = equations_->project(now_); !status.ok()) stop(status.trouble);
  grid_ = first_multiple_after(settings_.step, now_.t + same_sample()) - 1;
  outputs_ = first_multiple_after(settings_.output_every, now_.t);
  for (Sampled& sampled : sampled_) sampled.next = first_multiple_after(sampled.period, now_.t - same_sample());
  energy_known_ = false;
  disturbed_ = true;
}

/// Times closer than this are one.
double TimeLoop::same_sample() const { return 1e-9 * settings_.step; }

bool TimeLoop::act_on_samples() {
  for (std::size_t i = 0; i < sampled_.size(); ++i) {
    if (sampled_[i].due() > now_.t + same_sample()) continue;
    sampled_[i].next = first_multiple_after(sampled_[i].period, now_.t + same_sample());
    if (const Status status = sampled_[i].act(); !status.ok()) return stop(status.trouble);
  }
  return !disturbed_ || begin_anew();
}

bool TimeLoop::begin_anew() {
  disturbed_ = false;
  if (const Status status = evaluate(now_, rates_); !status.ok()) return stop(status.trouble);
  integrator_->forget();
  if (watch_) begin_watching();
  return true;
}

double TimeLoop::natural_step_end() const {
  const double left = end_ - now_.t;
  if (integrator_->stops_at_rows()) return next_output() < end_ * (1.0 - 1e-12) ? next_output() : end_;
  if (integrator_->controls_step()) return end_;
  if (!adaptive_) {
    // Steps end at multiples of the step, computed anew each time so that errors do not add up.
    const double target = static_cast<double>(grid_ + 1) * settings_.step;
    return target > end_ - 1e-9 * settings_.step ? end_ : target;
  }
  const double h = std::min(h_, settings_.max_step);
  return h > left * (1.0 - 1e-12) ? end_ : now_.t + std::min(h, 0.5 * std::max(left, h));
}

double TimeLoop::next_step_size() {
  planned_end_ = natural_step_end();
  if (watch_) planned_end_ = std::min(planned_end_, watch_->next_time(now_.t, planned_end_));
  for (const Sampled& sampled : sampled_)
    if (sampled.due() < planned_end_ - same_sample()) planned_end_ = sampled.due();
  return planned_h_ = planned_end_ - now_.t;
}

/// A branch that is held may have no value beyond its end: sqrt(x) where x > 0 was held.
template <class Try>
Status TimeLoop::with_branches_held(Try attempt) {
  Status status = attempt();
  if (status.ok() || !watch_ || !watch_->holds()) return status;
  watch_->hold(false);
  status = attempt();
  watch_->hold(true);
  return status;
}

Status TimeLoop::evaluate(Moment& at, VecX<double>& rates) {
  return with_branches_held([&] { return equations_->evaluate(at, rates); });
}

Status TimeLoop::attempt(double h) {
  return with_branches_held([&]() -> Status {
    if (Status status = integrator_->step(*equations_, now_, rates_, h, next_); !status.ok()) return status;
    if (std::abs(next_.t - planned_end_) <= kSameTime * std::max(1.0, std::abs(planned_end_))) next_.t = planned_end_;
    if (equations_->is_finite(next_.y)) return {};
    return {"the state is not finite" + because_not_finite(*equations_, next_)};
  });
}

/// The integrator's estimate in units of the tolerances: a step is good enough below 1.
double TimeLoop::estimated_error() {
  const double error = equations_->error_norm(now_.y, next_.y, integrator_->error());
  return std::isfinite(error) ? error : 1e6;
}

/// From now_ to next_, in the adaptive case with as many attempts as it takes.
bool TimeLoop::take_step(double h) {
  constexpr double kSafety = 0.9, kMostGrowth = 5.0, kMostShrink = 0.2, kLastResort = 1e-6;
  for (;;) {
    const Status status = attempt(h);
    if (!adaptive_) return status.ok() ? true : stop(blame(h, status.trouble));
    if (!status.ok())
      if (const std::string lost = system_->lost(); !lost.empty()) return stop(lost);
    const double error = status.ok() ? estimated_error() : 1e6;
    const double factor = kSafety * std::pow(std::max(error, 1e-10), -1.0 / integrator_->order());
    const double next = h * std::clamp(factor, kMostShrink, kMostGrowth);
    if (error <= 1.0) {
      const bool cut_short = h == planned_h_ && h < 0.999 * std::min(h_, settings_.max_step);  // by a switch point
      h_ = cut_short ? std::max(next, h_) : next;
      usual_h_ = std::max(h, 0.995 * usual_h_);
      return true;
    }
    ++summary_.rejected_steps;
    h = next;
    const bool at_last = h < kLastResort * usual_h_;
    if (h < 0.1 * usual_h_ && equations_->is_nearly_singular() && step_over_singularity(h, at_last)) return true;
    if (h < 1e-14 * std::max(1.0, std::abs(now_.t)))
      return stop(fmt::format("the step size fell to {:.2g} s without meeting rtol and atol{}", h,
                              status.ok() ? "" : ": " + status.trouble));
  }
}

/// Forces may have come and gone in time between the instants that the integrator looked at: the step is then made again,
/// shorter.
bool TimeLoop::look_between() {
  if (has_fixed_steps() || integrator_->stops_at_rows() || (time_laws_ && time_laws_->empty())) return true;
  for (;;) {
    const double end = time_laws_ ? time_laws_->seen_until(equations_->equations_of_motion()->system(), now_.t, next_.t)
                                  : system_->seen_until(now_.t, next_.t);
    if (!(end < next_.t)) return true;
    integrator_->forget();
    if (!take_step(end - now_.t)) return false;
  }
}

/// At a singular position accelerations are lost in rounding, and it may be that no step is short enough; a step of usual size
/// gets across. It is taken if its error is tolerable, or at last, in words, if no shorter one will do. Returns whether it was.
bool TimeLoop::step_over_singularity(double h, bool at_last) {
  constexpr double kTolerable = 100.0;
  const double over = std::min(usual_h_, planned_h_);
  const Status status = attempt(over);
  const double error = status.ok() ? estimated_error() : 1e6;
  if (error > kTolerable && !(at_last && status.ok())) return false;
  h_ = usual_h_;
  if (error > kTolerable)
    remarks_.add(
        now_.t, "singular step",
        fmt::format("a singular position at t = {:.6g} s was crossed by a step of {:.2g} s whose error is {:.2g} times "
                    "what rtol and atol allow: steps down to {:.2g} s were no better; what follows may be off by that much",
                    now_.t, over, error, h));
  return true;
}

bool TimeLoop::evaluate_next() {
  const Status status = evaluate(next_, next_rates_);
  return status.ok() || stop(blame(next_.t - now_.t, status.trouble));
}

/// Time must get on: else something switches on and off without end.
bool TimeLoop::gets_on() {
  constexpr long kMost = 10'000;  // evaluations
  const double least = std::min(1e-9 * settings_.end, 1e-6 * settings_.step);
  const long evaluations = equations_->evaluations();
  if (now_.t - got_to_ > least || evaluations < evaluations_there_) {
    got_to_ = now_.t;
    evaluations_there_ = evaluations;
  }
  if (evaluations - evaluations_there_ < kMost) return true;
  const std::string busy = watch_ ? watch_->busiest(got_to_) : "";
  std::string why = busy.empty() ? "" : ": what keeps switching is " + busy;
  if (why.empty() && equations_->equations_of_motion() != nullptr) {  // what is ahead may have no number
    inside_ = now_;
    inside_.t += settings_.step;
    if (const Status ahead = equations_->evaluate(inside_, inside_rates_); !ahead.ok()) why = ": a step ahead " + ahead.trouble;
  }
  return stop(
      fmt::format("{} evaluations advanced the time by less than {:.2g} s{}", evaluations - evaluations_there_, least, why));
}

/// A fixed step that fails may only be too long: the same interval is tried in short ones before the mechanism is blamed.
std::string TimeLoop::blame(double h, const std::string& trouble) {
  constexpr int kPieces = 64;
  constexpr double kLeftOver = 1e-6;  // of a step, that ended at something else before
  if (!has_fixed_steps() || !integrator_->can_repeat() || h < kLeftOver * settings_.step) return trouble;
  Moment at = now_;
  VecX<double> rates = rates_;
  integrator_->forget();
  Status status = equations_->evaluate(at, rates);
  for (int i = 0; status.ok() && i < kPieces; ++i) {
    status = integrator_->step(*equations_, at, rates, h / kPieces, inside_);
    if (status.ok() && !equations_->is_finite(inside_.y)) return trouble;
    if (status.ok()) status = equations_->project(inside_);
    if (status.ok()) status = equations_->evaluate(inside_, rates);
    std::swap(at, inside_);
  }
  if (!status.ok()) return trouble;
  return fmt::format(
      "the step of {:.3g} s is too long: in steps of {:.3g} s the mechanism passes here without trouble; give a "
      "smaller step (over the long one, {})",
      h, h / kPieces, trouble);
}

bool TimeLoop::finish_step() {
  ++summary_.steps;
  const double tie = 1e-9 * (next_.t - now_.t);
  if (next_output() < next_.t - tie) {
    if (!record_inside_step(next_.t - tie)) return false;
    if (Status status = evaluate(next_, next_rates_); !status.ok()) return stop(status.trouble);
  }
  std::swap(now_, next_);
  std::swap(rates_, next_rates_);
  if (!elsewhere_) system_->accept_step(now_, rates_, remarks_);
  event_due_ = event_due_ || (watch_ && watch_->wants_event());
  grid_ = first_multiple_after(settings_.step, now_.t + 1e-9 * settings_.step) - 1;
  if (event_due_ && !let_happen()) return false;
  if (watch_) begin_watching();
  if (!act_on_samples() || !take_stock()) return false;
  constexpr double kMuch = 0.5;  // rad: turns are counted well before one is over
  const bool row_is_due = next_output() <= now_.t + tie || has_ended();
  if ((row_is_due || turned_ > kMuch) && !come_back()) return false;
  if (row_is_due && !record(now_.t)) return false;
  if (observer_.progress) observer_.progress(now_.t, end_);
  interrupted_ = !has_ended() && observer_.go_on && !system_->all_go_on(observer_.go_on);
  if (interrupted_) summary_.status = kInterrupted;
  return !interrupted_;
}

// --- rows and accounts

double TimeLoop::next_output() const { return static_cast<double>(outputs_) * settings_.output_every; }

/// Rows between now_ and next_.
bool TimeLoop::record_inside_step(double until) {
  for (system_->mark(); next_output() < until; system_->go_back_to_mark()) {
    place_inside(next_output());
    if (Status status = equations_->project(inside_); !status.ok()) return stop(status.trouble);
    if (Status status = evaluate(inside_, inside_rates_); !status.ok()) return stop(status.trouble);
    if (!record(inside_.t)) return false;
  }
  return true;
}

/// Of the instant last evaluated. Round times are written as such. The instant keeps its own: an event may lie between the two.
bool TimeLoop::record(double t) {
  const bool is_round = std::abs(t - next_output()) <= 1e-9 * std::max(settings_.step, usual_h_);
  const Status status = system_->record(is_round ? next_output() : t, objection_, row_, remarks_);
  if (!status.ok()) return stop(status.trouble);
  if (const auto odd = std::ranges::find_if_not(row_, [](double x) { return std::isfinite(x); }); odd != row_.end())
    remarks_.add(t, "numbers",
                 fmt::format("'{}' is not a finite number at t = {:.6g} s",
                             system_->columns()[static_cast<std::size_t>(odd - row_.begin())], t));
  ++outputs_;
  if (energy_with_rows_)
    if (const std::optional<Energies> energies = system_->energies()) balance(*energies);
  EquationsOfMotion* const motion = equations_->equations_of_motion();
  if (observer_.frame && motion) observer_.frame(motion->system());
  if (!system_->is_first_rank()) return true;
  if (observer_.whole_row) observer_.whole_row(row_);
  if (observer_.row) {
    chosen_row_.clear();
    for (const std::size_t c : chosen_) chosen_row_.push_back(row_[c]);
    observer_.row(chosen_row_);
  }
  if (observer_.object) objection_ = observer_.object(row_);
  return true;
}

std::vector<double> TimeLoop::row_now() {
  std::vector<double> row;
  if (!started_) start();
  come_back();
  if (disturbed_) begin_anew();
  Remarks unsaid;
  system_->record(now_.t, {}, row, unsaid);
  return row;
}

/// Of the instant last evaluated. False: it is none that a run could go on from.
bool TimeLoop::take_stock() {
  const ConstraintErrors errors = elsewhere_ ? elsewhere_->errors : system_->errors();
  const std::optional<Energies> energies = elsewhere_ ? elsewhere_->energies : system_->energies();
  const Energies known = energies.value_or(Energies{});
  // Comparisons with what is not a number are false, and would not show it.
  if (!std::isfinite(errors.position + errors.velocity + known.kinetic + known.potential + known.work))
    return stop(fmt::format("energies or constraint errors are not finite: kinetic {}, potential {}, work {}{}", known.kinetic,
                            known.potential, known.work, because_not_finite(*equations_)));
  summary_.position_error_max = std::max(summary_.position_error_max, errors.position);
  summary_.velocity_error_max = std::max(summary_.velocity_error_max, errors.velocity);
  energy_with_rows_ = !energies;
  if (energies) balance(*energies);
  return true;
}

void TimeLoop::balance(const Energies& energies) {
  const auto [kinetic, potential, work] = energies;
  if (!energy_known_) energy_start_ = kinetic + potential - work, potential_start_ = potential;
  energy_known_ = true;
  work_ = work;
  exchanged_ = std::max({exchanged_, kinetic, std::abs(potential - potential_start_)});
  imbalance_ = std::max(imbalance_, std::abs(kinetic + potential - energy_start_ - work));
}

}  // namespace linkwork
