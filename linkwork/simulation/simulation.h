#pragma once

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
#include "linkwork/simulation/summary.h"
#include "linkwork/simulation/switching.h"

namespace linkwork {

/// Who watches a run.
struct Observer {
  /// Called for every output row, in the order of Recorder::columns().
  std::function<void(std::span<const double> row)> row = {};
  /// Called after every step.
  std::function<void(double t, double end)> progress = {};
  /// Asked after every step: false stops the run.
  std::function<bool()> go_on = {};
  /// Called before something happens, and after: with everything evaluated at that instant, by the old rules and by the new.
  std::function<void(EquationsOfMotion& equations, bool after)> event = {};
  /// Called just before `row`, with the system evaluated at that row's state: for poses of bodies and frames.
  std::function<void(const System& system)> frame = {};
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

  /// Runs to the end of the settings, or until it cannot go on; either way the summary says how it went.
  Summary run(const Observer& observer = {});

 private:
  void choose_methods();
  std::optional<EmbeddingChoice> chosen_embedding(const CatalogEntry<Integrator>& integrator) const;
  Choice chosen_formulation(std::span<const Equations> takes);
  bool evaluate_start();
  bool diagnose_start();
  bool advance();
  Status attempt(double h);
  bool take_step(double h);
  double estimated_error() const;
  bool step_over_singularity();
  double next_step_size() const;
  bool evaluate_next();
  bool find_event();
  double margin_after(double h);
  bool let_happen();
  bool finish_step();
  bool record_inside_step(double until);
  void look();
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
  std::unique_ptr<EquationsOfMotion> equations_;
  std::unique_ptr<Integrator> integrator_;
  std::unique_ptr<Switching> switching_;  // only if there is something to watch
  bool event_due_ = false;
  double step_size_ = 0.0;  // of the step in which an event is looked for
  std::string trouble_;     // why that failed
  Recorder recorder_;
  Observer observer_;
  Summary summary_;
  bool adaptive_ = false;
  bool exact_ = true;
  double usual_h_ = 0.0;  // what accepted steps were like of late
  double h_ = 0.0;        // the next step's size, if adaptive
  long outputs_ = 0;      // rows written
  long grid_ = 0;         // fixed steps: how many multiples of the step have been passed
  double energy_start_ = 0.0;
  double potential_start_ = 0.0;
  double imbalance_ = 0.0;  // largest |energy - start - work|
  double exchanged_ = 0.0;  // largest energy seen to move: kinetic, or change of potential
  int start_rank_ = 0;
  bool warned_rank_ = false;
  bool warned_remark_ = false;
  bool warned_singular_ = false;
  std::vector<char> warned_limit_;
};

}  // namespace linkwork
