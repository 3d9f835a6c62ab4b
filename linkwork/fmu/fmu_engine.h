#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "linkwork/analysis/reduced_motion.h"
#include "linkwork/front/run.h"
#include "linkwork/simulation/recorder.h"
#include "linkwork/simulation/saved_run.h"

namespace linkwork {

class MechanismWatch;

/// What runs in an instance of an exported FMU, from its start on. What fails throws SimulationError or InputError.
class FmuEngine {
 public:
  virtual ~FmuEngine() = default;

  virtual double time() const = 0;
  /// Of the inputs that can be set, by their position; nothing: as the model has it.
  virtual void set_input(std::size_t input, std::optional<double> value) = 0;
  virtual double input(std::size_t input) = 0;
  /// The row of this instant, by column.
  virtual const std::vector<std::string>& columns() const = 0;
  virtual const std::vector<double>& row() = 0;
  /// In independent coordinates.
  virtual VecX<double> states() = 0;
  virtual VecX<double> rates() = 0;
  virtual SavedRun save() = 0;
  virtual void restore(const SavedRun& saved) = 0;
  /// Goes on from the instant of another engine, whose model has other parameters.
  virtual State state() = 0;
  virtual void go_on_from(const State& state) = 0;
};

/// Positions of absolute coordinates in x, and turns counted from a rotation: a mechanism in the states of a model exchange FMU.
/// Rows that come and go make no coordinate dependent, so that the number of states stays; the choice of coordinates is made anew
/// in event mode, when it has become a poor one.
class ExchangeEngine : public FmuEngine {
 public:
  /// Begins at t, with inputs as given.
  ExchangeEngine(const Mechanism& mechanism, double t, const std::vector<std::optional<double>>& inputs, double horizon);
  ~ExchangeEngine() override;

  double time() const override { return t_; }
  void set_input(std::size_t input, std::optional<double> value) override;
  double input(std::size_t input) override;
  const std::vector<std::string>& columns() const override { return recorder_.columns(); }
  const std::vector<std::string>& units() const { return recorder_.units(); }
  const std::vector<double>& row() override;
  VecX<double> states() override { return x_; }
  VecX<double> rates() override;
  SavedRun save() override;
  void restore(const SavedRun& saved) override;
  State state() override;
  void go_on_from(const State& state) override;

  int state_count() const { return motion_.size(); }
  int indicator_count() const { return indicator_count_; }
  VecX<double> nominals() const;
  void set_time(double t);
  void set_states(const VecX<double>& x);
  std::vector<double> indicators();
  /// A step has ended here. True: something is to be done in event mode.
  bool complete_step();
  struct Happened {
    bool states_changed = false, stopped = false;
    std::optional<double> next_time;
    std::string what;  // names of what has happened
  };
  /// Lets happen what is due.
  Happened handle_events();
  /// Derivatives of rates, then columns (by number), along changes of states and inputs.
  VecX<double> derivative(const VecX<double>& along_states, const VecX<double>& along_inputs,
                          const std::vector<std::size_t>& columns);
  /// Whether they are exact, else differences of fourth order.
  bool has_exact_derivatives() const { return exact_; }

 private:
  void start(State state);
  void begin(const State& state);
  void evaluate();
  VecX<double> reduced(const VecX<double>& x) const { return x - reference_; }
  void read_row();
  void apply_inputs();
  VecX<double> response(const VecX<double>& x, const VecX<double>& inputs, const std::vector<std::size_t>& columns);
  VecX<double> exact_derivative(const VecX<double>& along_states, const VecX<double>& along_inputs,
                                const std::vector<std::size_t>& columns);

  std::shared_ptr<const Model> model_;
  ReducedMotion motion_;
  std::unique_ptr<MechanismWatch> watch_;
  Recorder recorder_;
  std::vector<std::optional<double>> inputs_;
  double t_ = 0.0, horizon_;
  VecX<double> x_, rates_, reference_, packed_rates_;
  bool evaluated_ = false, row_known_ = false, exact_ = false, poor_ = false;
  int indicator_count_ = 0;
  std::vector<double> row_;
};

/// A run that is stepped from outside.
class StepEngine : public FmuEngine {
 public:
  StepEngine(const Mechanism& mechanism, double t, const std::vector<std::optional<double>>& inputs,
             std::optional<double> tolerance);

  double time() const override { return run_.t(); }
  void set_input(std::size_t input, std::optional<double> value) override;
  double input(std::size_t input) override;
  const std::vector<std::string>& columns() const override { return run_.columns(); }
  const std::vector<double>& row() override;
  VecX<double> states() override;
  VecX<double> rates() override;
  SavedRun save() override { return *run_.save(); }
  void restore(const SavedRun& saved) override;
  State state() override { return run_.state(); }
  void go_on_from(const State& state) override;

  /// False: an event has ended the run.
  bool advance_to(double t);

 private:
  ReducedMotion& motion();

  Run run_;
  std::vector<std::string> names_;
  std::vector<std::optional<double>> inputs_;
  std::unique_ptr<ReducedMotion> motion_;  // for its states
  bool row_known_ = false;
  std::vector<double> row_;
};

/// Names of the inputs of a mechanism that can be set.
std::vector<std::string> settable_inputs(const Mechanism& mechanism);
/// The columns that an FMU shows.
std::vector<std::string> fmu_columns();

}  // namespace linkwork
