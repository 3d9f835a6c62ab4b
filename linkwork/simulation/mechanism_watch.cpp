#include "linkwork/simulation/mechanism_watch.h"

#include <algorithm>
#include <cmath>

namespace linkwork {

bool is_of_state(const Model& model, const BoundExpression& expression) {
  using Kind = Variable::Kind;
  return std::ranges::all_of(expression.slots, [&](const Variable& slot) {
    if (slot.is_coordinate()) return model.joints[slot.coordinate.joint()].in_state();
    return slot.kind == Kind::kTime || slot.kind == Kind::kParameter || slot.kind == Kind::kInput;
  });
}

MechanismWatch::MechanismWatch(const Model& model, EquationsOfMotion& equations, bool exact) : equations_(equations) {
  if (model.has_events()) switching_ = std::make_unique<Switching>(model, equations, exact);
  if (has_switches(model)) switches_ = std::make_unique<SwitchPoints>(model, equations);
  blocks_ = equations.system().blocks();
  const auto fits = [&](const BoundExpression& expression) { return is_of_state(model, expression); };
  is_of_state_ = blocks_ == nullptr && model.contacts.empty() && model.frictions.empty() &&
                 std::ranges::all_of(model.events, fits, &Event::when) && (!switches_ || switches_->are_all(fits));
}

bool MechanismWatch::stand_at(const Moment& at) {
  if (!is_of_state_) return false;
  unpack(at, equations_.model().tree.nq, equations_.model().tree.nv, state_);
  equations_.system().rebind(state_);
  return true;
}

const std::string& MechanismWatch::stopped_by() const {
  if (blocks_ != nullptr && !blocks_->stopped_by().empty()) return blocks_->stopped_by();
  return switching_ ? switching_->stopped_by() : nothing_;
}

void MechanismWatch::accept_step() {
  if (blocks_ != nullptr) blocks_->complete_step(equations_.system());
}

void MechanismWatch::append_blocks() {
  if (blocks_ == nullptr) return;
  std::vector<double> numbers;
  blocks_->append_watched(equations_.system(), numbers);
  for (const double number : numbers) values_.emplace_back(number, std::numeric_limits<double>::quiet_NaN(), 0.0);
}

/// What they do then may switch expressions over, too.
Status MechanismWatch::let_blocks_happen(bool& switched) {
  if (std::string trouble = blocks_->happen(equations_.system(), state_.z); !trouble.empty()) return {std::move(trouble)};
  if (Status status = equations_.evaluate(state_, rates_); !status.ok()) return status;
  bool again = false;
  Status status = switch_over(state_, rates_, again);
  switched = switched || again;
  return status;
}

const Derivative& MechanismWatch::unpacked(const VecX<double>& rates) {
  unpack(rates, equations_.model().tree.nq, equations_.model().tree.nv, rates_);
  return rates_;
}

Status MechanismWatch::start(State& state, Derivative& rates) {
  bool switched = false;
  if (Status status = switch_over(state, rates, switched); !status.ok() || !switching_) return status;
  return switching_->start(state, rates);
}

void MechanismWatch::restore(const SavedSwitching& saved, double t) {
  if (switching_) switching_->restore(saved);
  if (switches_) hold(true), switches_->look_anew(t);
}

std::vector<std::string> MechanismWatch::warnings() const {
  std::vector<std::string> all;
  if (switching_) all = switching_->warnings();
  if (switches_) all.insert(all.end(), switches_->warnings().begin(), switches_->warnings().end());
  return all;
}

void MechanismWatch::begin_step(const VecX<double>& rates) {
  if (switching_) switching_->begin_step();
  if (blocks_ != nullptr) blocks_->begin_step(equations_.system());
  values(rates);
  scale_.assign(values_.size(), 0.0);
  for (std::size_t k = 0; k < values_.size(); ++k) scale_[k] = std::abs(values_[k].value);
}

const std::vector<Jet>& MechanismWatch::values(const VecX<double>& rates) {
  values_.clear();
  unpacked(rates);
  if (switches_) switches_->append_values(rates_, values_);
  append_blocks();
  if (switching_) switching_->append_watched(rates_, values_);
  return values_;
}

double MechanismWatch::margin(const VecX<double>& rates) {
  double least = switching_margin_ = switching_ ? switching_->margin() : 1.0;
  if ((!switches_ || switches_->empty()) && blocks_ == nullptr) return least;
  values_.clear();
  if (switches_) switches_->append_values(unpacked(rates), values_);
  append_blocks();
  for (std::size_t k = 0; k < values_.size(); ++k) {
    scale_[k] = std::max(scale_[k], std::abs(values_[k].value));
    least = std::min(least, values_[k].value / std::max(scale_[k], 1e-100));
  }
  return least;
}

void MechanismWatch::mark_due() {
  if (switching_) switching_->mark_due();
}

double MechanismWatch::next_time(double t, double until) {
  const double of_laws = switches_ ? switches_->next_time(t, until) : std::numeric_limits<double>::infinity();
  const double of_blocks = blocks_ != nullptr ? blocks_->next_time() : std::numeric_limits<double>::infinity();
  return of_blocks > t && of_blocks <= until ? std::min(of_laws, of_blocks) : of_laws;
}

Status MechanismWatch::happen(Moment& at, VecX<double>& rates, const std::function<void(bool after)>& tell) {
  constexpr double kSameInstant = 1e-11;
  const bool happens = switching_ && switching_margin_ <= kSameInstant;
  bool switched = false;
  if (happens) tell(false);
  unpack(at, equations_.model().tree.nq, equations_.model().tree.nv, state_);
  unpacked(rates);
  equations_.system().rebind(state_);
  if (happens)
    if (Status status = switching_->happen(state_, rates_); !status.ok()) return status;
  if (switches_ && happens) switches_->look_anew(state_.t);
  if (Status status = switch_over(state_, rates_, switched); !status.ok()) return status;
  if (blocks_ != nullptr)
    if (Status status = let_blocks_happen(switched); !status.ok()) return status;
  // Forces that jump may open contacts and let friction slide.
  if (switched && switching_)
    if (Status status = switching_->happen(state_, rates_); !status.ok()) return status;
  pack(state_, at);
  pack(rates_, rates);
  equations_.system().accept_turns(true);
  rank_ = equations_.solution().rank.rank;
  if (happens) tell(true);
  return {};
}

/// Puts expressions that switch onto the branches of the state just evaluated. What a closure that jumps does to velocities is
/// work of its drive. A branch that is held may have no value beyond its end.
Status MechanismWatch::switch_over(State& state, Derivative& rates, bool& switched) {
  switched = switches_ && switches_->take_branches(state.t);
  if (!switched) return {};
  System& system = equations_.system();
  if (switches_->closures_switched()) {
    const double before = system.kinetic_energy() + system.potential_energy();
    if (Status status = equations_.project(state); !status.ok()) return status;
    system.update(state);
    state.work += system.kinetic_energy() + system.potential_energy() - before;
  }
  Status status = equations_.evaluate(state, rates);
  if (status.ok() || !holds()) return status;
  hold(false);
  status = equations_.evaluate(state, rates);
  hold(true);
  return status;
}

}  // namespace linkwork
