#pragma once

#include <chrono>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "linkwork/dynamics/integrator.h"
#include "linkwork/simulation/moving_system.h"
#include "linkwork/switching/step_watch.h"

namespace linkwork {

class SettlingSystem;
class TimeLaws;

/// The one loop over time: steps with or without error control, events located, rows, checkpoints, the account of errors and
/// energy, warnings, and what makes it stop.
class TimeLoop {
 public:
  explicit TimeLoop(std::unique_ptr<MovingSystem> system);
  ~TimeLoop();

  MovingSystem& system() const { return *system_; }
  /// Of the rows that observers are told: those chosen.
  const std::vector<std::string>& columns() const { return columns_; }
  const Moment& now() const { return now_; }
  bool has_fixed_steps() const { return !adaptive_ && !integrator_->controls_step(); }
  void observe(const Observer& observer) { observer_ = system_->wrapped(observer); }

  /// Steps until `end` is reached, or for one step; false: it has stopped.
  bool advance(double end, bool one_step);
  /// To the end of the settings, checkpoints included.
  Summary run();
  /// See MovingSystem::set_input(). The next step begins anew.
  void set_input(const std::string& name, std::optional<double> value);
  /// Calls `act` at the start and at every multiple of the period, at which steps then end, before the row of that time.
  void sample(double period, std::function<void()> act);
  /// The row of the instant it is at, beside those of the output.
  std::vector<double> row_now();
  /// Goes on from another instant, which is moved onto the constraints first.
  void jump(const Moment& to);
  bool has_started() const { return started_; }
  bool ended_by_event() const { return watch_ != nullptr && !watch_->stopped_by().empty(); }
  /// As it stands.
  Summary summary();

  // For those who compute steps of several runs at a time.

  /// Begins to step towards `end`, as advance() does; false: it has stopped.
  bool begin(double end);
  bool has_ended() const;
  /// One accepted step, with the rows that fall into it; false: it has stopped, or was interrupted.
  bool step();
  /// A step that can be computed elsewhere: it begins at now(), has the size h, and nothing is sampled on the way. What is
  /// watched is looked at in finish(), which makes the step anew up to an event.
  struct PlainStep {
    double h;
    bool begins_anew;  // rates() are not those at now(): something was set
  };
  std::optional<PlainStep> plain_step();
  const VecX<double>& rates() const { return rates_; }
  /// What such a step has come to. The vectors are swapped away.
  struct DoneStep {
    VecX<double> y, rates;  // at its end
    ConstraintErrors errors;
    Energies energies;
    double turned = 0.0;  // by which any body has turned, at most, rad; 0 if nobody counts turns
    long evaluations = 0;
  };
  bool finish(DoneStep& done);
  /// Has the instant it is at evaluated here, if the last step was computed elsewhere.
  bool come_back();

  SavedRun save();
  void restore(const SavedRun& saved);

 private:
  using Clock = std::chrono::steady_clock;

  bool start();
  bool save_if_due();
  bool go_on_from(const SavedRun& saved);
  void make_integrator();
  double wall_seconds() const;

  // Steps: time_loop.cpp.
  bool begin_anew();
  bool act_on_samples();
  double same_sample() const;
  double natural_step_end() const;
  double next_step_size();
  Status attempt(double h);
  bool take_step(double h);
  bool look_between();
  double estimated_error();
  bool step_over_singularity(double h, bool at_last);
  template <class Try>
  Status with_branches_held(Try attempt);
  Status evaluate(Moment& at, VecX<double>& rates);
  bool evaluate_next();
  bool gets_on();
  std::string blame(double h, const std::string& trouble);
  bool finish_step();
  bool record_inside_step(double until);
  bool record(double t);
  bool take_stock();
  void balance(const Energies& energies);
  void warn_of_garbage(Summary& summary) const;
  double energy_drift() const;
  double usual_energy() const;
  double next_output() const;
  bool stop(const std::string& reason);

  // What comes within a step: event_location.cpp.
  bool find_event();
  bool look_inside();
  bool locate_event(double at_end);
  void mark_due();
  double margin_after(double h);
  bool let_happen();
  void begin_watching();
  void place_inside(double t);

  std::unique_ptr<MovingSystem> system_;
  SettlingSystem* settling_ = nullptr;         // the same, if it is one
  DifferentialEquation* equations_ = nullptr;  // of the system
  const Settings& settings_;                   // of the system
  std::unique_ptr<Integrator> integrator_;
  Watch* watch_ = nullptr;  // of the system
  struct Sampled {
    double period;
    std::function<Status()> act;
    long next = 0;  // a multiple of the period
    double due() const { return static_cast<double>(next) * period; }
  };
  std::vector<Sampled> sampled_;
  std::map<std::string, double> inputs_;  // that were set
  StepWatch step_watch_;
  std::unique_ptr<TimeLaws> time_laws_;  // of a mechanism in one piece, if steps are chosen by their errors
  Observer observer_;

  Moment now_, next_, inside_;
  VecX<double> rates_, next_rates_, inside_rates_;
  bool started_ = false, stopped_ = false, interrupted_ = false, disturbed_ = false;
  double end_ = std::numeric_limits<double>::infinity();  // of what is asked for
  bool adaptive_ = false;
  double h_ = 0.0;        // the next step's size, if adaptive
  double usual_h_ = 0.0;  // what accepted steps were like of late
  double planned_end_ = 0.0, planned_h_ = 0.0;
  long grid_ = 0;  // fixed steps: how many multiples of the step have been passed
  bool event_due_ = false;
  struct Elsewhere {
    ConstraintErrors errors;
    Energies energies;
  };
  std::optional<Elsewhere> elsewhere_;  // where the last step was computed, if not here
  double turned_ = 0.0;                 // since the instant was last evaluated here, at most
  double step_size_ = 0.0;              // of the step in which an event is looked for
  std::string trouble_;                 // why that failed

  double got_to_ = -1.0;        // the time from which on it must get on,
  long evaluations_there_ = 0;  // and how many evaluations there had been
  long evaluations_before_ = 0;
  long outputs_ = 0;  // rows written
  std::vector<double> row_;
  std::vector<std::size_t> chosen_;  // for the output, of the system's columns
  std::vector<std::string> columns_;
  std::vector<double> chosen_row_;
  std::string objection_;  // of the observer

  Summary summary_;
  Remarks remarks_;
  bool energy_known_ = false;
  bool energy_with_rows_ = false;  // known only there
  double energy_start_ = 0.0, potential_start_ = 0.0;
  double imbalance_ = 0.0;  // largest |energy - start - work|
  double exchanged_ = 0.0;  // largest energy seen to move: kinetic, or change of potential
  double work_ = 0.0;
  long next_checkpoint_ = 0;
  double wall_before_ = 0.0;    // before the present call,
  double wall_restored_ = 0.0;  // of it, in what was restored
  Clock::time_point called_;
};

}  // namespace linkwork
