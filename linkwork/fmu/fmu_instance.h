#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "linkwork/fmu/exported_model.h"
#include "linkwork/fmu/fmu_engine.h"

namespace linkwork {

/// An instance of an exported FMU, for both versions of the C interface: variables by value reference, modes, states. What fails
/// throws; the C functions turn that into a status and a message.
class FmuInstance {
 public:
  enum class Kind { kModelExchange, kCoSimulation };
  enum class Mode { kInstantiated, kInitialization, kEvent, kContinuous, kStep, kTerminated };

  FmuInstance(const std::filesystem::path& resources, const std::string& token, Kind kind);

  Kind kind() const { return kind_; }
  Mode mode() const { return mode_; }
  bool is_running() const { return mode_ == Mode::kEvent || mode_ == Mode::kContinuous || mode_ == Mode::kStep; }
  /// Throws std::logic_error unless it is in one of these modes.
  void require(std::initializer_list<Mode> modes) const;

  void set_up(double start, std::optional<double> stop, std::optional<double> tolerance);
  void enter_initialization();
  void exit_initialization();
  void enter_event_mode();
  void enter_continuous_mode();
  void terminate() { mode_ = Mode::kTerminated; }
  void reset();

  double get(std::size_t reference);
  void set(std::size_t reference, double value);

  // Model exchange.
  ExchangeEngine& exchange();
  std::size_t state_count() const { return interface().count(FmuVariable::Role::kState); }
  std::size_t indicator_count() const { return interface().count(FmuVariable::Role::kIndicator); }
  void set_states(const double* x, std::size_t count);
  /// Of unknowns (rates, outputs) along changes of knowns (states, inputs).
  std::vector<double> derivative(const std::vector<std::size_t>& unknowns, const std::vector<std::size_t>& knowns,
                                 const double* along);

  // Co-simulation. False: an event has ended the run.
  bool do_step(double from, double by);
  double time();
  bool is_ended() const { return ended_; }

  // What is between two calls.
  struct State {
    Mode mode = Mode::kInstantiated;
    std::map<std::string, double> parameters = {};
    std::vector<std::optional<double>> inputs = {};
    double start = 0.0;
    bool ended = false;
    std::optional<SavedRun> run = {};
  };
  State save();
  void restore(const State& state);
  static std::string text_of(const State& state);
  static State state_of(const std::string& text);

 private:
  using Role = FmuVariable::Role;

  const FmuInterface& interface() const { return resources_.interface; }
  const FmuVariable& variable(std::size_t reference) const;
  FmuEngine& engine();
  void make_engine();
  double calculated(const std::string& name);
  std::size_t columns_of(const FmuVariable& v);

  FmuResources resources_;
  Kind kind_;
  Mode mode_ = Mode::kInstantiated;
  double start_ = 0.0;
  std::optional<double> stop_, tolerance_;
  std::map<std::string, double> parameters_;  // that were set
  bool parameters_changed_ = false, ended_ = false;
  std::vector<std::optional<double>> inputs_;
  std::unique_ptr<FmuEngine> engine_;
  std::vector<std::size_t> columns_;  // of the engine, by column of the interface
};

}  // namespace linkwork
