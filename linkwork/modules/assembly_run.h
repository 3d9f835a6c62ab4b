#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "linkwork/integrators/tableau.h"
#include "linkwork/modules/glue.h"
#include "linkwork/modules/saved_assembly.h"

namespace linkwork {

/// Who watches a run of modules. Rows are told to rank 0 only.
struct AssemblyObserver {
  std::function<void(std::span<const double> row)> row = {};
  std::function<void(double t, double end)> progress = {};
  /// Asked after steps, on every rank if on one: false on any of them stops the run, as with Observer.
  std::function<bool()> go_on = {};
  /// Why the run must not go on after a row, or empty; asked on rank 0 only. Other ranks hear of it with the next row.
  std::function<std::string(std::span<const double> row)> object = {};
  /// Called at the start and then at the end of the first step that reaches a multiple of the interval and after which the glue
  /// is at rest, unless that is the end of the run; by all ranks or none. The run goes on from what was saved.
  std::function<void(const SavedAssembly& saved)> checkpoint = {};
  double checkpoint_every = 1.0;  // s of simulated time
};

/// Where a run is: with it, and the plan, it can go on.
struct RunState {
  double t = 0.0;
  long steps = 0, rejected_steps = 0, evaluations = 0;
  long outputs = 0;      // rows written
  double h = 0.0;        // the next step's size, if adaptive
  double usual_h = 0.0;  // what accepted steps were like of late
  States x;              // of the modules of this rank
};

/// A run of modules joined by a glue, on one of the ranks that share it. Every rank makes one of the same plan, and runs it.
class AssemblyRun {
 public:
  /// Makes the modules of this rank, placed by what they are measured to cost. Throws InputError, on all ranks alike, for choices
  /// that do not go together.
  AssemblyRun(const AssemblyPlan& plan, const Choice& glue, Transport& transport);

  /// Of the output, of all modules; the same on every rank.
  const std::vector<std::string>& columns() const { return columns_; }
  const RunState& state() const { return state_; }
  RunState& state() { return state_; }
  Workshop& workshop() { return *workshop_; }
  Glue& glue() { return *glue_; }
  /// Rates of the states, at the present ones.
  Status evaluate(States& rates);
  bool has_fixed_steps() const { return !adaptive_; }
  bool glue_is_exact() const { return entry_.traits.exact; }

  /// Takes the place of the start: run() then goes on from what an earlier run of the same plan and glue saved. All ranks call
  /// it. Throws InputError, on all of them, if it cannot be of that plan.
  void resume(const SavedAssembly& saved);

  /// Runs to the end of the settings, or until it cannot go on. The summary is complete on rank 0.
  Summary run(const AssemblyObserver& observer = {});

 private:
  void choose_integrator();
  void place_modules(Transport& transport);
  void check_modules();
  void gather_columns();
  bool go_on_from(const SavedAssembly& saved);
  SavedAssembly save();
  void save_modules(SavedAssembly& saved);
  bool save_if_due();
  void make_modules(const Placement& placement);
  void make_glue();
  bool evaluate_start();
  bool advance();
  double next_step_size() const;
  bool take_step(double h);
  Status attempt(double h);
  Status runge_kutta(double h);
  double estimated_error();
  bool finish_step();
  bool all_go_on();
  void interpolate(double theta);
  bool record_inside_step(double until);
  bool record();
  void balance(double kinetic, double potential, double work);
  int owner(const PortRef& a, const PortRef& b) const;
  void look();
  double next_output() const { return static_cast<double>(state_.outputs) * settings_.output_every; }
  template <class Tell>
  void outside(Tell tell);
  bool stop(const std::string& reason);
  bool hear_objection();
  void summarize(double seconds);

  const AssemblyPlan& plan_;
  const Settings& settings_;
  const GlueEntry& entry_;
  Options options_;
  Transport& transport_;
  GroupTree tree_;
  std::unique_ptr<Workshop> workshop_;
  std::unique_ptr<Glue> glue_;
  const Tableau* tableau_ = nullptr;
  bool adaptive_ = false;

  RunState state_;
  States next_, inside_, rates_, next_rates_, inside_rates_;
  std::vector<std::vector<VecX<double>>> stages_;  // rates by module and stage
  double next_t_ = 0.0;
  std::vector<double> error_sums_;  // of squares, and numbers, by module
  std::vector<int> error_ends_;

  std::vector<std::string> columns_;
  std::vector<double> output_;  // of all ranks
  std::vector<int> output_ends_;
  std::vector<std::pair<std::size_t, std::size_t>> column_numbers_;  // columns, and their numbers in the output
  std::vector<std::size_t> energy_numbers_;                          // by leaf: the first of three
  std::vector<std::size_t> spring_numbers_;
  std::size_t first_total_ = 0;  // of the columns that are totals
  std::vector<double> row_;
  AssemblyObserver observer_;
  Summary summary_;
  std::string objection_;  // of the observer, on rank 0
  bool stopped_ = false;
  GlueSummary modules_;
  double energy_start_ = 0.0, potential_start_ = 0.0, imbalance_ = 0.0, exchanged_ = 0.0;
  int start_rank_ = 0;
  std::vector<std::string> remarks_;  // of glues that were replaced
  std::optional<SavedAssembly> resumed_;
  bool interrupted_ = false;
  long next_question_ = 1;  // steps until the ranks ask each other whether to go on
  long question_interval_ = 1;
  std::chrono::steady_clock::time_point asked_;
  long next_checkpoint_ = 0;
  bool warned_singular_ = false;
  double wall_before_ = 0.0;  // in an earlier run
  long steps_before_ = 0;
  MeteredTransport::Traffic traffic_before_;  // in this run, of modules that were replaced
  double module_seconds_before_ = 0.0;
  double seconds_outside_ = 0.0;  // with the observer: writing, comparing, keeping pace
  std::chrono::steady_clock::time_point started_;
};

}  // namespace linkwork
