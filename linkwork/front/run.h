#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "linkwork/front/evaluation.h"
#include "linkwork/front/mechanism.h"
#include "linkwork/simulation/summary.h"

namespace linkwork {

class Simulation;
struct SavedRun;
struct Settings;

/// What a run does otherwise than the model's settings say. Methods are named as in a model file, "baumgarte:alpha=5,beta=5".
struct RunOptions {
  std::optional<std::string> coordinates = {}, formulation = {}, stabilization = {}, integrator = {}, glue = {};
  std::optional<double> end = {}, step = {}, max_step = {}, rtol = {}, atol = {};
  std::optional<double> every = {};            // s between two rows
  std::vector<std::string> columns = {};       // of run(): groups, names and patterns, "q", "force.crank.*"; empty: all
  int threads = 1;                             // of run(): that share the modules of a model
  std::optional<double> realtime = {};         // of run(): go no faster than so many seconds per second of the clock
  std::optional<std::string> start_from = {};  // "DIR" or "DIR@t": begin with the state of another run, whose results are there
  std::optional<std::string> start_at = {};    // "equilibrium": begin at rest there
  /// Of run(): a file to save the run in as it goes, for 'linkwork resume'; results are then written to `out` as they come.
  std::optional<std::string> checkpoint = {}, out = {};
  std::optional<double> checkpoint_every = {};  // s; a tenth of the whole
};

/// Throws InputError for what is not a positive number or not known.
void apply(const RunOptions& options, Settings& settings);

using OptionValue = std::variant<double, std::string, std::vector<std::string>>;
/// By the name that the command line has for it, with _ in place of -: "max_step". Throws InputError.
void set_option(RunOptions& options, const std::string& name, const OptionValue& value);
std::vector<std::string> option_names();
/// Those settings that are given, as on a command line: "--max-step", "0.01".
std::vector<std::pair<std::string, std::string>> setting_texts(const RunOptions& options);

/// The rows of a run.
class Results {
 public:
  std::vector<std::string> columns;
  std::vector<double> values;  // row by row
  Summary summary;

  std::size_t rows() const { return columns.empty() ? 0 : values.size() / columns.size(); }
  std::span<const double> row(std::size_t i) const { return std::span(values).subspan(i * columns.size(), columns.size()); }
  /// A column. Throws InputError if there is none of that name.
  Eigen::Map<const VecX<double>, 0, Eigen::InnerStride<>> operator[](std::string_view column) const;
  double at(std::size_t row, std::string_view column) const { return operator[](column)[static_cast<Eigen::Index>(row)]; }

  /// Writes the files of 'linkwork run': the trajectory ("csv", "hdf5" or "mat"), summary.json, scene.json and, if the library
  /// was built with the page, report.html. Throws InputError.
  void save(const std::filesystem::path& folder, const std::string& format = "csv", bool with_report = true) const;
  /// The page that shows the run, one file; empty if the library was built without it.
  std::string report() const;

  // For the library itself.
  struct Source;
  std::shared_ptr<const Source> source;
};

/// Simulates a mechanism to the end, or to where it cannot go on: Results::summary says which. `go_on` is asked after every step;
/// false ends the run.
Results run(const Mechanism& mechanism, const RunOptions& options = {}, const std::function<bool()>& go_on = {});

/// Moves a mechanism by its drives alone, whatever its masses and forces. Of the options only `end`, `every` and `columns` are
/// used.
Results kinematics(const Mechanism& mechanism, const RunOptions& options = {}, const std::function<bool()>& go_on = {});

/// A run step by step. What fails throws SimulationError; the run is then where it was before.
class Run {
 public:
  explicit Run(const Mechanism& mechanism, const RunOptions& options = {});
  Run(Run&&) noexcept;
  Run& operator=(Run&&) noexcept;
  ~Run();
  /// One more of the same mechanism and options, at its start; what does not change is shared. Controllers stay with this one.
  Run another() const;

  const Mechanism& mechanism() const;
  double t() const;
  /// A coordinate of a joint, and its rate, at this instant: "theta", "slide.angle".
  double q(std::string_view coordinate) const;
  double v(std::string_view coordinate) const;
  /// In the order of Mechanism::positions() and velocities(), whatever coordinates it is computed in.
  State state() const;
  /// Goes on from here: a state from elsewhere, which should meet the constraints. Time, q, v and z are taken from it.
  void set_state(const State& state);

  /// An input: read it, or give it a value that it keeps from now on.
  class Input {
   public:
    Input& operator=(double value);
    Input& operator=(const Input& other) { return *this = static_cast<double>(other); }
    operator double() const;
    /// As the model has it again.
    void release();

   private:
    friend class Run;
    Input(Run& run, std::string name) : run_(run), name_(std::move(name)) {}
    Run& run_;
    std::string name_;
  };
  Input input(std::string_view name);

  /// Calls `act` now, if the run has not begun, and at every multiple of the period: steps end there, and inputs that it sets
  /// hold from there to the next time. What it throws ends the step.
  void controller(double period, std::function<void(Run&)> act);

  /// False: an event has ended the run, which cannot go further.
  bool step(long count = 1);
  /// Steps up to a time, at which the last one ends.
  bool advance_to(double t);
  /// To the end of the settings; the summary says how it went.
  Summary run();
  Summary summary();
  void reset();

  /// A run between two steps, inputs included. Of the same mechanism and options only.
  std::shared_ptr<const SavedRun> save();
  void restore(const SavedRun& saved);

  /// What an output row of this instant would be: "force.crank.x", "energy.total".
  const std::vector<std::string>& columns() const;
  std::vector<double> row();
  double value(std::string_view column);
  /// Called with every row of the output from now on.
  void on_row(std::function<void(std::span<const double> row)> take);
  /// Asked after every step from now on: false ends what is under way, which can be gone on with. step() and advance_to() then
  /// return false, as after an event.
  void on_step(std::function<bool()> go_on);
  bool was_interrupted() const;
  /// What goes into Results made of rows of this run.
  std::shared_ptr<const Results::Source> source() const;

  /// At this instant, with everything that is in force in this run.
  Evaluation evaluate();

 private:
  friend Simulation& simulation_of(Run& run);
  struct Parts;
  explicit Run(std::unique_ptr<Parts> parts);
  std::unique_ptr<Parts> parts_;
};

/// For those who step several runs at a time. It is another one after Run::reset().
Simulation& simulation_of(Run& run);

}  // namespace linkwork
