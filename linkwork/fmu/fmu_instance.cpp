#include "linkwork/fmu/fmu_instance.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "linkwork/io/checkpoint_file.h"
#include "linkwork/io/json_text.h"
#include "linkwork/io/model_parameters.h"
#include "linkwork/simulation/simulation_error.h"

namespace linkwork {

namespace {

const char* in_words(FmuInstance::Mode mode) {
  constexpr const char* kWords[]{"before initialization", "initialization mode", "event mode",
                                 "continuous-time mode",  "step mode",           "after termination"};
  return kWords[static_cast<int>(mode)];
}

}  // namespace

FmuInstance::FmuInstance(const std::filesystem::path& resources, const std::string& token, Kind kind)
    : resources_(read_resources(resources)), kind_(kind), inputs_(interface().count(Role::kInput)) {
  if (token != interface().token)
    throw InputError({}, fmt::format("the token '{}' is not that of this FMU", token), interface().token);
}

void FmuInstance::require(std::initializer_list<Mode> modes) const {
  if (std::ranges::find(modes, mode_) != modes.end()) return;
  throw std::logic_error(fmt::format("this function must not be called in the present mode: {}", in_words(mode_)));
}

const FmuVariable& FmuInstance::variable(std::size_t reference) const {
  if (reference >= interface().variables.size())
    throw InputError({}, fmt::format("there is no variable with the value reference {}", reference));
  return interface().variables[reference];
}

void FmuInstance::set_up(double start, std::optional<double> stop, std::optional<double> tolerance) {
  if (!(start >= 0.0) || !std::isfinite(start)) throw InputError({}, fmt::format("the start time is {}", start), "a number >= 0");
  if (stop && !(*stop > start)) throw InputError({}, fmt::format("the stop time {} is not after the start", *stop));
  start_ = start, stop_ = stop, tolerance_ = tolerance;
  engine_.reset();
}

void FmuInstance::enter_initialization() {
  require({Mode::kInstantiated});
  mode_ = Mode::kInitialization;
}

void FmuInstance::exit_initialization() {
  require({Mode::kInitialization});
  engine();
  mode_ = kind_ == Kind::kModelExchange ? Mode::kEvent : Mode::kStep;
}

void FmuInstance::enter_event_mode() {
  require({Mode::kContinuous, Mode::kEvent});
  mode_ = Mode::kEvent;
}

void FmuInstance::enter_continuous_mode() {
  require({Mode::kEvent});
  mode_ = Mode::kContinuous;
}

void FmuInstance::reset() {
  mode_ = Mode::kInstantiated;
  parameters_.clear();
  inputs_.assign(inputs_.size(), {});
  parameters_changed_ = ended_ = false;
  engine_.reset();
}

/// What runs, made when first asked for and made anew when parameters have changed; if it has begun to run, it goes on from where
/// it is.
FmuEngine& FmuInstance::engine() {
  if (engine_ && !parameters_changed_) return *engine_;
  const std::unique_ptr<FmuEngine> before = is_running() ? std::move(engine_) : nullptr;
  try {
    make_engine();
    if (before) engine_->go_on_from(before->state());
  } catch (...) {
    engine_.reset();
    throw;
  }
  parameters_changed_ = false;
  return *engine_;
}

void FmuInstance::make_engine() {
  const Mechanism mechanism = resources_.model.read(parameters_);
  if (kind_ == Kind::kModelExchange) {
    auto made = std::make_unique<ExchangeEngine>(mechanism, start_, inputs_, stop_ ? *stop_ - start_ : interface().end);
    if (static_cast<std::size_t>(made->state_count()) != state_count() ||
        static_cast<std::size_t>(made->indicator_count()) != indicator_count())
      throw InputError({}, "with these parameters the model has other states than the FMU");
    engine_ = std::move(made);
  } else {
    engine_ = std::make_unique<StepEngine>(mechanism, start_, inputs_, tolerance_);
  }
  const std::vector<std::string>& has = engine_->columns();
  columns_.assign(interface().columns.size(), 0);
  for (const FmuVariable& v : interface().variables) {
    if (v.role != Role::kOutput && v.role != Role::kLocal) continue;
    const auto found = std::ranges::find(has, v.name);
    if (found == has.end()) throw InputError({}, fmt::format("with these parameters the model has no '{}'", v.name));
    columns_[v.index] = static_cast<std::size_t>(found - has.begin());
  }
}

double FmuInstance::calculated(const std::string& name) {
  const Mechanism mechanism = resources_.model.read(parameters_);
  ReadOptions reading{.set = resources_.model.set};
  for (const auto& [parameter, value] : parameters_) reading.set.emplace_back(parameter, fmt::format("{}", value));
  return parameters_of(mechanism.spec(), reading).at(name);
}

double FmuInstance::get(std::size_t reference) {
  const FmuVariable& v = variable(reference);
  const auto index = static_cast<Eigen::Index>(v.index);
  switch (v.role) {
    case Role::kTime:
      return engine_ ? engine_->time() : start_;
    case Role::kInput:
      return inputs_[v.index] ? *inputs_[v.index] : is_running() ? engine().input(v.index) : v.start;
    case Role::kParameter: {
      const auto set = parameters_.find(v.name);
      return set == parameters_.end() ? v.start : set->second;
    }
    case Role::kCalculated:
      return parameters_.empty() ? v.start : calculated(v.name);
    case Role::kOutput:
    case Role::kLocal:
      return engine().row()[columns_[v.index]];
    case Role::kState:
      return engine().states()[index];
    case Role::kRate:
      return engine().rates()[index];
    case Role::kIndicator:
      return exchange().indicators()[v.index];
  }
  return 0.0;
}

void FmuInstance::set(std::size_t reference, double value) {
  const FmuVariable& v = variable(reference);
  if (!std::isfinite(value)) throw InputError({}, fmt::format("'{}' is set to {}", v.name, value), "a finite number");
  const bool before_run = mode_ == Mode::kInstantiated || mode_ == Mode::kInitialization;
  if (v.role == Role::kInput) {
    require({Mode::kInstantiated, Mode::kInitialization, Mode::kEvent, Mode::kContinuous, Mode::kStep});
    inputs_[v.index] = value;
    if (engine_) engine_->set_input(v.index, value);
  } else if (v.role == Role::kParameter) {
    if (!before_run && !(v.tunable && (mode_ == Mode::kEvent || mode_ == Mode::kStep)))
      throw std::logic_error(fmt::format("the parameter '{}' can be set {}", v.name,
                                         v.tunable ? "before the run and in event or step mode" : "before the run only"));
    if (get(reference) == value) return;
    parameters_[v.name] = value;
    parameters_changed_ = true;
  } else if (v.role == Role::kState && kind_ == Kind::kModelExchange && !before_run) {
    VecX<double> x = exchange().states();
    x[static_cast<Eigen::Index>(v.index)] = value;
    exchange().set_states(x);
  } else {
    throw std::logic_error(fmt::format("'{}' cannot be set", v.name));
  }
}

ExchangeEngine& FmuInstance::exchange() {
  if (kind_ != Kind::kModelExchange) throw std::logic_error("this is an instance for co-simulation");
  return static_cast<ExchangeEngine&>(engine());
}

void FmuInstance::set_states(const double* x, std::size_t count) {
  if (count != state_count()) throw InputError({}, fmt::format("there are {} states, not {}", state_count(), count));
  const Eigen::Map<const VecX<double>> given(x, static_cast<Eigen::Index>(count));
  if (!given.allFinite()) throw SimulationError("the states are not finite");
  exchange().set_states(given);
}

std::vector<double> FmuInstance::derivative(const std::vector<std::size_t>& unknowns, const std::vector<std::size_t>& knowns,
                                            const double* along) {
  VecX<double> states = VecX<double>::Zero(static_cast<Eigen::Index>(state_count()));
  VecX<double> inputs = VecX<double>::Zero(std::ssize(inputs_));
  for (std::size_t k = 0; k < knowns.size(); ++k) {
    const FmuVariable& v = variable(knowns[k]);
    if (v.role == Role::kState)
      states[static_cast<Eigen::Index>(v.index)] += along[k];
    else if (v.role == Role::kInput)
      inputs[static_cast<Eigen::Index>(v.index)] += along[k];
    else
      throw InputError({}, fmt::format("'{}' is neither a state nor an input", v.name));
  }
  std::vector<std::size_t> columns;
  for (const std::size_t unknown : unknowns) {
    const FmuVariable& v = variable(unknown);
    if (v.role == Role::kOutput)
      columns.push_back(columns_of(v));
    else if (v.role != Role::kRate)
      throw InputError({}, fmt::format("'{}' is neither a derivative nor an output", v.name));
  }
  const VecX<double> all = exchange().derivative(states, inputs, columns);
  std::vector<double> result;
  Eigen::Index next = states.size();
  for (const std::size_t unknown : unknowns) {
    const FmuVariable& v = variable(unknown);
    result.push_back(v.role == Role::kRate ? all[static_cast<Eigen::Index>(v.index)] : all[next++]);
  }
  return result;
}

std::size_t FmuInstance::columns_of(const FmuVariable& v) {
  engine();
  return columns_[v.index];
}

double FmuInstance::time() { return engine().time(); }

bool FmuInstance::do_step(double from, double by) {
  require({Mode::kStep});
  if (!(by > 0.0) || !std::isfinite(by))
    throw InputError({}, fmt::format("the communication step is {}", by), "a positive number");
  const double now = engine().time();
  if (std::abs(from - now) > 1e-6 * by + 1e-12 * std::abs(now))
    throw InputError({}, fmt::format("the step is to begin at {} s, and the FMU is at {} s", from, now));
  if (ended_) return false;
  ended_ = !static_cast<StepEngine&>(engine()).advance_to(from + by);
  return !ended_;
}

// --- states

FmuInstance::State FmuInstance::save() {
  State state{mode_, parameters_, inputs_, start_, ended_, {}};
  if (is_running()) {
    state.run = engine().save();
    engine().restore(*state.run);  // it goes on from what it saves, as one will that is set to it
  }
  return state;
}

void FmuInstance::restore(const State& state) {
  if (state.inputs.size() != inputs_.size()) throw InputError({}, "the state is of another FMU");
  if (state.parameters != parameters_ || state.start != start_) engine_.reset();
  parameters_ = state.parameters;
  inputs_ = state.inputs;
  start_ = state.start;
  ended_ = state.ended;
  mode_ = Mode::kInitialization;  // an engine that is made now begins at its start
  parameters_changed_ = false;
  if (state.run) engine().restore(*state.run);
  mode_ = state.mode;
}

std::string FmuInstance::text_of(const State& state) {
  nlohmann::ordered_json json{{"mode", static_cast<int>(state.mode)}, {"start", state.start}, {"ended", state.ended}};
  json["parameters"] = state.parameters;
  for (const std::optional<double>& input : state.inputs)
    json["inputs"].push_back(input ? nlohmann::ordered_json(*input) : nlohmann::ordered_json());
  if (state.run) json["run"] = saved_run_text(*state.run);
  return json.dump();
}

FmuInstance::State FmuInstance::state_of(const std::string& text) {
  State state;
  try {
    const nlohmann::ordered_json json = parse_json(text);
    const int mode = json.at("mode").get<int>();
    if (mode < 0 || mode > static_cast<int>(Mode::kTerminated)) throw std::invalid_argument("there is no such mode");
    state.mode = static_cast<Mode>(mode);
    state.start = json.at("start").get<double>();
    state.ended = json.at("ended").get<bool>();
    state.parameters = json.at("parameters").get<std::map<std::string, double>>();
    if (json.contains("inputs"))
      for (const auto& input : json.at("inputs"))
        state.inputs.push_back(input.is_null() ? std::nullopt : std::optional(input.get<double>()));
    if (json.contains("run")) state.run = parse_saved_run(json.at("run").get<std::string>());
  } catch (const InputError&) {
    throw;
  } catch (const std::exception& error) {
    throw InputError({}, fmt::format("the state is damaged: {}", error.what()));
  }
  return state;
}

}  // namespace linkwork
