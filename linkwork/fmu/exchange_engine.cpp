#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "linkwork/fmu/fmu_engine.h"
#include "linkwork/simulation/assembly.h"
#include "linkwork/simulation/mechanism_watch.h"
#include "linkwork/simulation/simulation_error.h"
#include "linkwork/spatial/so3.h"
#include "linkwork/tree/kinematics.h"

namespace linkwork {

namespace {

bool turns_in_space(const Tree& tree) {
  return std::ranges::any_of(tree.nodes,
                             [](const Node& node) { return node.kind == NodeKind::kSpherical || node.kind == NodeKind::kFree; });
}

std::shared_ptr<const Model> with_columns(const Model& model) {
  auto chosen = std::make_shared<Model>(model);
  chosen->settings.columns = fmu_columns();
  return chosen;
}

void check(const Status& status) {
  if (!status.ok()) throw SimulationError(status.trouble);
}

}  // namespace

std::vector<std::string> fmu_columns() { return {"q", "v", "states", "sensors"}; }

ExchangeEngine::ExchangeEngine(const Mechanism& mechanism, double t, const std::vector<std::optional<double>>& inputs,
                               double horizon)
    : model_(with_columns(*mechanism.model())),
      motion_(model_, true),
      recorder_(motion_.model()),
      inputs_(inputs),
      t_(t),
      horizon_(horizon) {
  exact_ = MotionGradient::is_exact(motion_.model()) && !turns_in_space(motion_.model().tree);
  if (MechanismWatch::is_needed(motion_.model()))
    watch_ = std::make_unique<MechanismWatch>(motion_.model(), motion_.evaluator().equations(), true);
  AssemblyReport report;
  State state = assemble(motion_.model(), report);
  state.t = t;
  start(std::move(state));
}

ExchangeEngine::~ExchangeEngine() = default;

void ExchangeEngine::apply_inputs() {
  System& system = motion_.evaluator().system();
  const std::vector<int>& settable = motion_.evaluator().settable();
  for (std::size_t k = 0; k < inputs_.size(); ++k)
    inputs_[k] ? system.set_input(settable[k], *inputs_[k]) : system.release_input(settable[k]);
}

/// At the start, or where parameters have changed: decides what is in force.
void ExchangeEngine::start(State state) {
  Evaluator& evaluator = motion_.evaluator();
  evaluator.set_modes(nullptr);
  apply_inputs();
  if (state.z.size() < std::ssize(motion_.model().states)) evaluator.equations().start(state);
  evaluator.evaluate(state);
  if (watch_) {
    Derivative rates = evaluator.rates();
    state = evaluator.state();
    check(watch_->start(state, rates));
  }
  begin(state);
}

/// Chooses coordinates at a state.
void ExchangeEngine::begin(const State& state) {
  t_ = state.t;
  System& system = motion_.evaluator().system();
  const Modes modes = system.modes();
  apply_inputs();
  motion_.begin(state, &modes, ReducedMotion::Rows::kPermanent);
  reference_ = motion_.reference();
  x_ = motion_.origin() + reference_;
  evaluated_ = row_known_ = poor_ = false;
  evaluate();
  system.accept_turns(true);
  if (!watch_) return;
  watch_->begin_step(packed_rates_);
  indicator_count_ = static_cast<int>(watch_->values(packed_rates_).size());
}

void ExchangeEngine::evaluate() {
  if (evaluated_) return;
  motion_.set_time(t_);
  apply_inputs();
  const auto rates = [&] { return motion_.rates_as_set(reduced(x_)); };
  try {
    rates_ = rates();
  } catch (const SimulationError&) {
    if (!watch_ || !watch_->holds()) throw;
    watch_->hold(false);  // a branch that is held may have no value beyond its end
    try {
      rates_ = rates();
    } catch (const SimulationError&) {
      watch_->hold(true);
      throw;
    }
    watch_->hold(true);
  }
  pack(motion_.evaluator().rates(), packed_rates_);
  evaluated_ = true;
  row_known_ = false;
}

VecX<double> ExchangeEngine::rates() {
  evaluate();
  return rates_;
}

State ExchangeEngine::state() {
  evaluate();
  return motion_.evaluator().state();
}

void ExchangeEngine::go_on_from(const State& state) { start(state); }

void ExchangeEngine::set_input(std::size_t input, std::optional<double> value) {
  if (inputs_[input] == value) return;
  inputs_[input] = value;
  evaluated_ = false;
}

double ExchangeEngine::input(std::size_t input) {
  if (inputs_[input]) return *inputs_[input];
  evaluate();
  return motion_.evaluator().system().input(motion_.evaluator().settable()[input]).value;
}

void ExchangeEngine::set_time(double t) {
  if (t == t_) return;
  t_ = t;
  evaluated_ = false;
}

void ExchangeEngine::set_states(const VecX<double>& x) {
  if (x == x_) return;
  x_ = x;
  evaluated_ = false;
}

const std::vector<double>& ExchangeEngine::row() {
  evaluate();
  if (!row_known_) read_row();
  return row_;
}

void ExchangeEngine::read_row() {
  recorder_.record(motion_.evaluator().equations(), t_, row_);
  row_known_ = true;
}

VecX<double> ExchangeEngine::nominals() const {
  const VecX<double>& unit = motion_.model().units.velocity;
  VecX<double> nominals = VecX<double>::Ones(motion_.size());
  const int np = motion_.position_count();
  for (int k = 0; k < np; ++k) nominals[k] = unit[motion_.independent_positions()[static_cast<std::size_t>(k)]];
  for (int k = 0; k < motion_.velocity_count(); ++k)
    nominals[np + k] = unit[motion_.independent_velocities()[static_cast<std::size_t>(k)]];
  return nominals;
}

std::vector<double> ExchangeEngine::indicators() {
  evaluate();
  std::vector<double> values;
  if (!watch_) return values;
  watch_->margin(packed_rates_);
  for (const Jet& value : watch_->values(packed_rates_)) values.push_back(value.value);
  return values;
}

bool ExchangeEngine::complete_step() {
  constexpr double kPoor = 20.0, kBetter = 0.5, kFarTurned = 0.7;
  evaluate();
  Evaluator& evaluator = motion_.evaluator();
  evaluator.equations().accept_step();
  motion_.set_guess(evaluator.state());
  bool far = false;
  for (int k = 0; k < motion_.position_count(); ++k) far = far || (motion_.is_turn(k) && std::abs(x_[k]) > kFarTurned);
  if (const double dependence = motion_.dependence(); dependence > kPoor && !far) {
    ReducedMotion other(model_);  // whether another choice is a better one
    const Modes modes = evaluator.system().modes();
    other.begin(evaluator.state(), &modes, ReducedMotion::Rows::kPermanent);
    far = other.dependence() < kBetter * dependence;
  }
  // What rows that come and go have drifted by.
  const ConstraintTerms& terms = evaluator.system().terms();
  const double drift = std::max(motion_.model().largest_error(terms.phi), motion_.model().largest_error(terms.rate));
  poor_ = far || drift > 1e3 * motion_.model().settings.constraint_tolerance;
  if (watch_) watch_->begin_step(packed_rates_);
  return poor_;
}

ExchangeEngine::Happened ExchangeEngine::handle_events() {
  Happened happened;
  evaluate();
  const VecX<double> before = x_;
  Evaluator& evaluator = motion_.evaluator();
  State state = evaluator.state();
  bool anew = poor_;
  if (watch_) {
    const std::size_t records = watch_->switching() ? watch_->switching()->records().size() : 0;
    anew = watch_->margin(packed_rates_) <= 0.0 || anew;
    watch_->mark_due();
    Moment at;
    pack(state, at);
    VecX<double> rates = packed_rates_;
    check(watch_->happen(at, rates, [](bool) {}));
    unpack(at, state.q.size(), state.v.size(), state);
    if (watch_->switching())
      for (std::size_t k = records; k < watch_->switching()->records().size(); ++k) {
        happened.what += (happened.what.empty() ? "" : ", ") + watch_->switching()->records()[k].name;
        anew = true;
      }
  }
  if (poor_) {
    check(evaluator.equations().project(state));
    evaluator.evaluate(state);
  }
  if (anew)
    begin(state);
  else if (watch_)
    evaluated_ = false, evaluate(), watch_->begin_step(packed_rates_);
  happened.states_changed = x_ != before;
  if (watch_) {
    happened.stopped = !watch_->stopped_by().empty();
    const double until = t_ + horizon_;
    const double next = watch_->next_time(t_, until);
    happened.next_time = std::isfinite(next) ? next : until;
  }
  return happened;
}

// --- saving

SavedRun ExchangeEngine::save() {
  evaluate();
  SavedRun saved{.t = t_};
  const ReducedMotion::Saved motion = motion_.save();
  const auto numbers = [](const VecX<double>& v) { return std::vector<double>(v.begin(), v.end()); };
  const auto part = [&](const State& state) {
    Moment at;
    pack(state, at);
    return SavedPart{numbers(at.y), {state.t}};
  };
  const auto places = [](const std::vector<int>& list) { return std::vector<double>(list.begin(), list.end()); };
  saved.parts = {part(motion.base), part(motion.guess)};
  for (const auto& split : {motion.positions, motion.velocities}) {
    saved.parts.push_back({places(split.rows), places(split.dependent)});
    saved.parts.push_back({places(split.independent), {}});
  }
  saved.parts.push_back({numbers(motion.origin), numbers(motion.inputs)});
  saved.parts.push_back({numbers(x_), numbers(reference_)});
  saved.parts.push_back({{poor_ ? 1.0 : 0.0}, motion_.evaluator().system().memory()});
  if (watch_ && watch_->switching()) saved.switching = watch_->switching()->save();
  const std::vector<int>& settable = motion_.evaluator().settable();
  for (std::size_t k = 0; k < inputs_.size(); ++k)
    if (inputs_[k]) saved.inputs[motion_.model().inputs[static_cast<std::size_t>(settable[k])].name] = *inputs_[k];
  return saved;
}

void ExchangeEngine::restore(const SavedRun& saved) {
  const Tree& tree = motion_.model().tree;
  const auto refuse = [] { throw SimulationError("what was saved is not of this model"); };
  if (saved.parts.size() != 9 || std::ssize(saved.parts[7].x) != motion_.size() ||
      saved.parts[7].memory.size() != saved.parts[7].x.size() ||
      saved.parts[8].memory.size() != motion_.evaluator().system().memory().size() || saved.parts[8].x.empty())
    refuse();
  if (watch_ && watch_->switching() && !watch_->switching()->accepts(saved.switching)) refuse();
  const auto vector = [](const std::vector<double>& v) {
    return VecX<double>(Eigen::Map<const VecX<double>>(v.data(), std::ssize(v)));
  };
  const auto state = [&](const SavedPart& part) {
    if (std::ssize(part.x) < tree.nq + tree.nv + 1 || part.memory.size() != 1) refuse();
    State read;
    unpack(Moment{part.memory[0], vector(part.x)}, tree.nq, tree.nv, read);
    return read;
  };
  const auto places = [&](const std::vector<double>& v, int below) {
    std::vector<int> list;
    for (const double place : v) {
      if (!(place >= 0.0 && place < below)) refuse();
      list.push_back(static_cast<int>(place));
    }
    return list;
  };
  ReducedMotion::Saved motion = motion_.save();
  motion.base = state(saved.parts[0]), motion.guess = state(saved.parts[1]);
  std::size_t next = 2;
  for (auto* const split : {&motion.positions, &motion.velocities}) {
    split->rows = places(saved.parts[next].x, motion_.model().row_count());
    split->dependent = places(saved.parts[next].memory, tree.nv);
    split->independent = places(saved.parts[next + 1].x, tree.nv);
    next += 2;
  }
  motion.origin = vector(saved.parts[6].x), motion.inputs = vector(saved.parts[6].memory);
  System& system = motion_.evaluator().system();
  if (watch_) watch_->restore(saved.switching, saved.t);
  const Modes modes = system.modes();
  motion_.restore(motion, &modes);
  system.set_memory(saved.parts[8].memory);
  t_ = saved.t;
  x_ = vector(saved.parts[7].x), reference_ = vector(saved.parts[7].memory);
  poor_ = saved.parts[8].x[0] != 0.0;
  const std::vector<int>& settable = motion_.evaluator().settable();
  for (std::size_t k = 0; k < inputs_.size(); ++k) {
    const auto set = saved.inputs.find(motion_.model().inputs[static_cast<std::size_t>(settable[k])].name);
    inputs_[k] = set == saved.inputs.end() ? std::nullopt : std::optional(set->second);
  }
  evaluated_ = row_known_ = false;
}

// --- derivatives

VecX<double> ExchangeEngine::derivative(const VecX<double>& along_states, const VecX<double>& along_inputs,
                                        const std::vector<std::size_t>& columns) {
  evaluate();
  if (exact_) return exact_derivative(along_states, along_inputs, columns);
  const VecX<double> x = x_;
  VecX<double> u(std::ssize(inputs_));
  for (std::size_t k = 0; k < inputs_.size(); ++k) u[static_cast<Eigen::Index>(k)] = input(k);
  // (8 (f(h) - f(-h)) - (f(2h) - f(-2h))) / 12 h, with a step that suits the unit of what changes most.
  const double size = std::max(along_states.size() > 0 ? along_states.cwiseQuotient(nominals()).cwiseAbs().maxCoeff() : 0.0,
                               along_inputs.size() > 0 ? along_inputs.cwiseAbs().maxCoeff() : 0.0);
  if (!(size > 0.0)) return VecX<double>::Zero(motion_.size() + std::ssize(columns));
  const double h = 1e-4 / size;
  const auto at = [&](double by) { return response(x + by * along_states, u + by * along_inputs, columns); };
  const VecX<double> result = (8.0 * (at(h) - at(-h)) - (at(2.0 * h) - at(-2.0 * h))) / (12.0 * h);
  x_ = x;
  evaluated_ = false;
  apply_inputs();
  return result;
}

VecX<double> ExchangeEngine::response(const VecX<double>& x, const VecX<double>& inputs,
                                      const std::vector<std::size_t>& columns) {
  VecX<double> all(motion_.size() + std::ssize(columns));
  all.head(motion_.size()) = motion_.rates(reduced(x), inputs);
  if (!columns.empty()) read_row();
  for (std::size_t k = 0; k < columns.size(); ++k) all[motion_.size() + static_cast<Eigen::Index>(k)] = row_[columns[k]];
  row_known_ = false;
  return all;
}

/// Columns of sensors, by their place in the row.
VecX<double> ExchangeEngine::exact_derivative(const VecX<double>& along_states, const VecX<double>& along_inputs,
                                              const std::vector<std::size_t>& columns) {
  const ReducedMotion::Saved before = motion_.save();
  motion_.move_origin(reduced(x_));
  const MatX<double> T = motion_.tangent();
  MotionGradient& gradient = motion_.derivatives().gradient();
  VecX<double> along = T * along_states;
  const std::vector<int>& settable = motion_.evaluator().settable();
  for (std::size_t k = 0; k < settable.size(); ++k)
    along[gradient.first_input() + settable[k]] += along_inputs[static_cast<Eigen::Index>(k)];
  VecX<double> result(motion_.size() + std::ssize(columns));
  result.head(motion_.size()) = motion_.rate_derivatives() * along;
  const Model& model = motion_.model();
  std::size_t first = recorder_.columns().size();
  for (const Sensor& sensor : model.sensors) first -= sensor.kind->components.size();
  for (std::size_t c = 0; c < columns.size(); ++c) {
    std::size_t component = columns[c] - first, sensor = 0;
    while (component >= model.sensors[sensor].kind->components.size())
      component -= model.sensors[sensor++].kind->components.size();
    const Variable variable{Variable::Kind::kSensor, {}, static_cast<int>(sensor), static_cast<int>(component)};
    result[motion_.size() + static_cast<Eigen::Index>(c)] = gradient.of(variable).dot(along);
  }
  const Modes modes = motion_.evaluator().system().modes();
  motion_.restore(before, &modes);
  evaluated_ = row_known_ = false;
  return result;
}

}  // namespace linkwork
