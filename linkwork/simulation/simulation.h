#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "linkwork/dynamics/catalog.h"
#include "linkwork/dynamics/equations_of_motion.h"
#include "linkwork/dynamics/integrator.h"
#include "linkwork/formulations/embedding.h"
#include "linkwork/simulation/assembly.h"
#include "linkwork/simulation/recorder.h"
#include "linkwork/simulation/saved_run.h"
#include "linkwork/simulation/summary.h"
#include "linkwork/switching/step_watch.h"
#include "linkwork/switching/switch_points.h"
#include "linkwork/switching/switching.h"

namespace linkwork {

/// Who watches a run.
struct Observer {
  /// Called for every output row, in the order of Recorder::columns().
  std::function<void(std::span<const double> row)> row = {};
  /// Called after every step.
  std::function<void(double t, double end)> progress = {};
  /// Asked after every step: false stops the run, whose status then is kInterrupted. It can be resumed: with `checkpoint`, that
  /// is called once more.
  std::function<bool()> go_on = {};
  /// Called before something happens, and after: with everything evaluated at that instant, by the old rules and by the new.
  std::function<void(EquationsOfMotion& equations, bool after)> event = {};
  /// Called just before `row`, with the system evaluated at that row's state: for poses of bodies and frames.
  std::function<void(const System& system)> frame = {};
  /// Called at the start and then at the end of the first step that reaches a multiple of the interval, unless that is the end of
  /// the run. The run goes on from what was saved: see SavedRun.
  std::function<void(const SavedRun& saved)> checkpoint = {};
  double checkpoint_every = 1.0;  // s of simulated time
};

/// A model made ready to run by its settings: methods chosen, start assembled. Throws InputError if that cannot be.
class Simulation {
 public:
  explicit Simulation(const Model& model);

  const std::vector<std::string>& columns() const { return recorder_.columns(); }
  const AssemblyReport& assembly() const { return assembly_; }
  const State& state() const { return state_; }
  EquationsOfMotion& equations() { return *equations_; }
  /// FA, TA, CE, or hybrid: some loops embedded.
  const std::string& coordinates() const { return summary_.coordinates; }
  /// Whether the formulation is: it then cannot make up for constraints that contradict one another.
  bool is_exact() const { return exact_; }
  /// Whether steps have the size of the settings, but for those that events cut short.
  bool has_fixed_steps() const { return !adaptive_ && !integrator_->controls_step(); }

  /// Takes the place of the start: run() then goes on from what an earlier run of the same model saved. Throws InputError if it
  /// cannot be of that model.
  void resume(const SavedRun& saved);
  /// Runs to the end of the settings, or until it cannot go on; either way the summary says how it went.
  Summary run(const Observer& observer = {});

 private:
  void choose_methods();
  std::optional<EmbeddingChoice> chosen_embedding(const CatalogEntry<Integrator>& integrator) const;
  Choice chosen_formulation(std::span<const Equations> takes);
  void make_methods();
  bool go_on_from(const SavedRun& saved);
  SavedRun save() const;
  bool save_if_due();
  bool has_ended() const;
  bool evaluate_start();
  bool diagnose_start();
  bool advance();
  Status attempt(double h);
  bool take_step(double h);
  double estimated_error() const;
  bool step_over_singularity(double h, bool at_last);
  double natural_step_end() const;
  double next_step_size();
  Status evaluate_held(State& state, Derivative& rates);
  bool gets_on();
  bool evaluate_next();
  bool watches() const { return switching_ || switches_; }
  void read_watched(const Derivative& rates);
  void begin_watching();
  double margin(const Derivative& rates);
  bool find_event();
  bool look_inside();
  bool locate_event(double at_end);
  void mark_due();
  double margin_after(double h);
  bool let_happen();
  bool switch_over(bool& switched);
  void place_inside(double t);
  std::string blame(double h, const std::string& trouble);
  bool finish_step();
  bool record_inside_step(double until);
  bool look();
  void warn_of_garbage();
  void record();
  void check_limits();
  void warn(std::string text);
  bool stop(const std::string& reason);
  double next_output() const;

  const Settings& settings_;
  AssemblyReport assembly_;
  State state_;
  std::unique_ptr<const Model> augmented_;  // with coordinates FA
  const Model& model_;                      // that is run
  State next_, inside_;
  Derivative rates_, next_rates_, inside_rates_;
  Choice formulation_, stabilization_;
  std::optional<EmbeddingChoice> embedding_;
  std::unique_ptr<EquationsOfMotion> equations_;
  std::unique_ptr<Integrator> integrator_;
  std::unique_ptr<Switching> switching_;    // only if there is something to watch
  std::unique_ptr<SwitchPoints> switches_;  // likewise
  StepWatch watch_;
  std::vector<Jet> watched_;
  std::vector<double> switch_scale_;  // by function of switches_: its largest value in the step
  double planned_end_ = 0.0, planned_h_ = 0.0;
  double switching_margin_ = 1.0;
  bool event_due_ = false;
  double step_size_ = 0.0;  // of the step in which an event is looked for
  std::string trouble_;     // why that failed
  Recorder recorder_;
  Observer observer_;
  Summary summary_;
  bool adaptive_ = false;
  bool exact_ = true;
  double usual_h_ = 0.0;        // what accepted steps were like of late
  double h_ = 0.0;              // the next step's size, if adaptive
  long outputs_ = 0;            // rows written
  long grid_ = 0;               // fixed steps: how many multiples of the step have been passed
  double got_to_ = -1.0;        // the time from which on it must get on,
  long evaluations_there_ = 0;  // and how many evaluations there had been
  double energy_start_ = 0.0;
  double potential_start_ = 0.0;
  double imbalance_ = 0.0;  // largest |energy - start - work|
  double exchanged_ = 0.0;  // largest energy seen to move: kinetic, or change of potential
  int start_rank_ = 0;
  bool warned_rank_ = false;
  bool warned_remark_ = false;
  bool warned_singular_ = false;
  std::vector<char> warned_limit_;
  std::optional<SavedRun> resumed_;  // in place of the start
  bool interrupted_ = false;
  long next_checkpoint_ = 0;
  long evaluations_before_ = 0;  // before the methods were last made
  double wall_before_ = 0.0;     // in an earlier run
  std::chrono::steady_clock::time_point started_;
};

}  // namespace linkwork
