#pragma once

#include <array>
#include <chrono>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "linkwork/integrators/tableau.h"
#include "linkwork/modules/assembly_laws.h"
#include "linkwork/modules/assembly_numbers.h"
#include "linkwork/modules/assembly_rows.h"
#include "linkwork/modules/assembly_watch.h"
#include "linkwork/modules/glue.h"
#include "linkwork/simulation/moving_system.h"
#include "linkwork/simulation/settling_system.h"

namespace linkwork {

/// Modules joined by a glue, on one of the ranks that share them. Every rank makes one of the same plan, and runs it.
class AssemblySystem : public MovingSystem, public SettlingSystem, private DifferentialEquation {
 public:
  /// Makes the modules of this rank, placed by what they are measured to cost. Throws InputError, on all ranks alike, for choices
  /// that do not go together. The transport must last as long.
  AssemblySystem(AssemblyPlan plan, const Choice& glue, Transport& transport);

  Workshop& workshop() { return *workshop_; }
  Glue& glue() { return *glue_; }
  /// Whether modules move as in one piece, to rounding: the glue is exact, and what solves the modules.
  bool is_exact() const;
  /// When it was last evaluated.
  double evaluated_at() const { return evaluated_at_; }
  /// Changes the states of this rank's modules: change(module, x).
  template <class Change>
  void change_states(Moment& at, Change change) {
    spread(at.y, x_);
    for (std::size_t i = 0; i < x_.size(); ++i) change(workshop_->modules()[i], x_[i]);
    collect(x_, at.y);
  }
  /// Ranks are what they should be at the instant last evaluated: other things are in force since.
  void remember_ranks();
  /// The system in one piece that knows what is in force, on the first rank of a run in which things come and go; else null.
  System* whole() { return watch_ ? watch_->whole() : nullptr; }

  const Settings& settings() const override { return plan_.settings; }
  const std::vector<std::string>& columns() const override { return rows_->columns(); }
  DifferentialEquation& equations() override { return *this; }
  std::unique_ptr<Integrator> make_integrator() override;
  Moment begin() const override;
  Status start(Moment& at, VecX<double>& rates, Summary& summary, Remarks& remarks) override;
  Watch* watch() override { return watch_.get(); }
  void accept_step(const Moment& at, const VecX<double>& rates, Remarks& remarks) override;
  ConstraintErrors errors() const override { return {glue_->errors().position, glue_->errors().velocity}; }
  std::optional<Energies> energies() override { return energies_; }
  Status record(double t, const std::string& objection, std::vector<double>& row, Remarks& remarks) override;
  Status hear(const std::string& objection) override;
  double seen_until(double t, double until) override;
  Scales scales() const override { return {plan_.length, plan_.energy}; }
  bool at_rest() const override { return glue_->at_rest(); }
  std::string lost() override;
  void mark() override;
  void go_back_to_mark() override;
  void save(const Moment& at, SavedRun& saved) override;
  bool accepts(const SavedRun& saved) override;
  Status restore(const SavedRun& saved, Moment& at, VecX<double>& rates) override;
  /// All ranks set the same.
  void set_input(const std::string& name, std::optional<double> value) override;
  bool is_first_rank() const override { return workshop_->rank() == 0; }
  bool all_go_on(const std::function<bool()>& go_on) override;
  Observer wrapped(Observer observer) override;
  void gather(Remarks& remarks) override;
  bool settles() const override;
  Status settle(Moment& at, VecX<double>& rates) override { return evaluate_with(at, rates, true); }
  void finish(Summary& summary, double seconds) override;

 private:
  class Stepping;

  Status evaluate(Moment& at, VecX<double>& rates) override;
  Status project(Moment& at) override;
  void normalize(VecX<double>& y) const override;
  /// What is not finite is named by the module that is asked about it next.
  bool is_finite(const VecX<double>&) override { return true; }
  double error_norm(const VecX<double>& from, const VecX<double>& to, const VecX<double>& error) override;
  bool is_nearly_singular() const override;
  long evaluations() const override { return evaluations_; }

  Status evaluate_with(Moment& at, VecX<double>& rates, bool projects);
  /// Whether modules are solved by what remembers nothing: formulations that were asked for may.
  bool is_plain() const { return plan_.settings.formulation.name == "auto" && plan_.settings.coordinates.name == "auto"; }
  void choose_integrator();
  void plan_modules();
  void place_modules();
  Placement keep_part(const Way& way, bool balanced_only);
  void check_modules();
  void check_metric();
  void check_watch();
  void make_modules(const Placement& placement);
  void tell_inputs();
  /// Calls visit(number, coupling) for those that this rank evaluates.
  template <class Visit>
  void for_each_coupling(Visit visit) {
    const Hierarchy* const coupled = glue_ ? glue_->coupled() : nullptr;
    for (std::size_t k = 0; coupled != nullptr && k < coupled->couplings().size(); ++k)
      if (coupled->couplings()[k]) visit(k, *coupled->couplings()[k]);
  }
  void hold(const Moment& at, const VecX<double>& rates);
  /// Moves modules that know nothing of one another so that their joints are closed.
  Status close_start(Moment& at, Summary& summary);
  /// The names of rows that follow from others are for the first rank.
  void find_rank(Summary& summary);
  std::size_t part_count() const;  // that are saved
  void keep_account();
  template <class Tell>
  void outside(Tell tell);
  // States of the modules, one after the other.
  void spread(const VecX<double>& y, States& x) const;
  void collect(const States& x, VecX<double>& y) const;

  AssemblyPlan plan_;
  const GlueEntry& entry_;
  Options options_;
  Transport& transport_;
  std::vector<int> leaves_;  // modules in the order in which they are given to ranks
  GroupPlan groups_;
  std::unique_ptr<Workshop> workshop_;
  std::unique_ptr<Glue> glue_;
  std::unique_ptr<AssemblyRows> rows_;
  std::unique_ptr<AssemblyWatch> watch_;      // only if there is something to watch
  const Tableau* tableau_ = nullptr;          // of a Runge-Kutta method that steps it; null: another method does, or the glue
  std::unique_ptr<AssemblyNumbers> numbers_;  // for other methods
  std::unique_ptr<AssemblyLaws> laws_;        // made when something asks for them

  States start_, x_, rates_;
  std::array<States, 3> compared_;  // by error_norm(): from, to, error
  mutable States normalized_;
  long evaluations_ = 0;
  double evaluated_at_ = 0.0;
  std::optional<Energies> energies_;    // of the last row, until something else is evaluated
  std::vector<PairOfSums> error_sums_;  // of squares, and numbers, by module of this rank
  // Since other things came into force: the most rank, and the most that was left of the weakest row; and what is left now.
  int most_rank_ = 0, rank_ = 0;
  double strongest_ = 0.0, weakest_ = 1.0;
  std::vector<int> usual_ranks_;  // of this rank's modules, and of the connections

  std::map<std::string, std::optional<double>> inputs_;  // that were set
  GlueSummary account_;
  std::vector<std::string> notes_;  // of glues that were replaced
  long steps_ = 0;                  // since modules were first made here
  long next_question_ = 1;          // steps until the ranks ask each other whether to go on
  long question_interval_ = 1;
  std::chrono::steady_clock::time_point asked_;
  MeteredTransport::Traffic traffic_before_;  // of modules that were replaced
  double module_seconds_before_ = 0.0;
  long round_trips_before_ = 0;
  double seconds_outside_ = 0.0;  // with the observer: writing, comparing, keeping pace
};

}  // namespace linkwork
