#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "linkwork/dynamics/differential_equation.h"
#include "linkwork/model/jet.h"
#include "linkwork/simulation/observer.h"
#include "linkwork/simulation/remarks.h"
#include "linkwork/simulation/saved_run.h"
#include "linkwork/simulation/summary.h"

namespace linkwork {

class Integrator;
struct Settings;

/// What is watched during a run: functions of the instant just evaluated, each positive until something happens.
class Watch {
 public:
  virtual ~Watch() = default;

  /// The instant just evaluated is the start of a step.
  virtual void begin_step(const VecX<double>& rates) = 0;
  /// The least of the functions, each relative to what it is elsewhere in the step: something is due if it is not positive.
  virtual double margin(const VecX<double>& rates) = 0;
  /// All of them at the instant of the last margin() or begin_step(), with their derivatives in time (NaN: not known). The vector
  /// lasts until the next call of a function here.
  virtual const std::vector<Jet>& values(const VecX<double>& rates) = 0;
  /// Marks what is due at the instant just evaluated.
  virtual void mark_due() = 0;
  /// Lets happen what is due. The instant is then evaluated as things are from there on. `tell` is called before and after, if
  /// there is something to see.
  virtual Status happen(Moment& at, VecX<double>& rates, const std::function<void(bool after)>& tell) = 0;
  /// Whether what ended the last step asks for something to happen there.
  virtual bool wants_event() const { return false; }
  /// The first time after t, not after `until`, at which something is known to change; infinity if there is none.
  virtual double next_time(double t, double until) = 0;

  /// Whether expressions are held on the branches they are on, beyond whose ends they may have no value.
  virtual bool holds() const = 0;
  virtual void hold(bool on) = 0;

  /// Which event has asked for the end of the run; empty: none.
  virtual const std::string& stopped_by() const = 0;
  /// What has switched since a time, in words; empty if nothing has.
  virtual std::string busiest(double since) const = 0;

  /// Takes an instant that was computed elsewhere for the one just evaluated; false: more of it is needed than its numbers.
  virtual bool stand_at(const Moment& /*at*/) { return false; }
};

struct ConstraintErrors {
  double position = 0.0, velocity = 0.0;
};

struct Energies {
  double kinetic = 0.0, potential = 0.0;
  double work = 0.0;  // done since the start by what has no potential
};

/// What a run is about: a mechanism in one piece, modules under a glue, or a mechanism moved by its drives. If ranks share it,
/// each has one of its own, all call the same functions in the same order, and what is returned is the same on all.
class MovingSystem {
 public:
  virtual ~MovingSystem() = default;

  virtual const Settings& settings() const = 0;
  /// Of all that a row has: what the run itself needs, and the groups that something was chosen of (ColumnChoice).
  virtual const std::vector<std::string>& columns() const = 0;
  virtual DifferentialEquation& equations() = 0;
  /// What the settings ask for, without memory of steps.
  virtual std::unique_ptr<Integrator> make_integrator() = 0;

  /// Where a run begins: nothing is evaluated yet.
  virtual Moment begin() const = 0;
  /// Evaluates it; names of methods and what is found out about constraints go into the summary.
  virtual Status start(Moment& at, VecX<double>& rates, Summary& summary, Remarks& remarks) = 0;
  /// Null if nothing is watched.
  virtual Watch* watch() { return nullptr; }
  /// The instant last evaluated is where a step ended, or something happened.
  virtual void accept_step(const Moment& at, const VecX<double>& rates, Remarks& remarks) = 0;

  // At the instant last evaluated.
  virtual ConstraintErrors errors() const = 0;
  /// Nothing if they are not known there; if that is known only with a row, then after record().
  virtual std::optional<Energies> energies() = 0;
  /// `objection`: why the run must not go on, which is then known to all ranks and returned.
  virtual Status record(double t, const std::string& objection, std::vector<double>& row, Remarks& remarks) = 0;
  /// The same without a row.
  virtual Status hear(const std::string& objection) { return {objection}; }

  /// Where a step must end so that what happens in time of its own accord is told by its ends (TimeLaws): for systems that have
  /// no EquationsOfMotion, whose laws the loop looks at itself.
  virtual double seen_until(double /*t*/, double until) { return until; }

  /// Sizes by which errors are judged: of the mechanism, m, and of the energy that gravity can move in it, J.
  struct Scales {
    double length = 1.0, energy = 0.0;
  };
  virtual Scales scales() const { return {}; }
  /// What to do about constraints that came apart.
  virtual std::string advice_when_open() const { return "give a smaller step, or the stabilization 'projection'"; }

  /// Why no step can be made any more, however short, because a part of the system is lost; empty: all is well. The same on all
  /// ranks.
  virtual std::string lost() { return {}; }
  /// What is evaluated from a mark on until it goes back there is looked at, and not needed afterwards.
  virtual void mark() {}
  virtual void go_back_to_mark() {}

  /// Whether nothing is held back between steps, so that it can be saved.
  virtual bool at_rest() const { return true; }
  virtual void save(const Moment& at, SavedRun& saved) = 0;
  /// Whether it can be of this system.
  virtual bool accepts(const SavedRun& saved) = 0;
  /// Makes everything anew as it was saved, and evaluates it: what methods remember of earlier steps is not saved, and must not
  /// make a difference.
  virtual Status restore(const SavedRun& saved, Moment& at, VecX<double>& rates) = 0;

  /// What is done at the start and at every multiple of a period, by whom steps are ended: rates may jump there.
  struct Sampled {
    double period;
    std::function<Status()> act;
  };
  virtual std::vector<Sampled> sampled() { return {}; }

  virtual bool is_first_rank() const { return true; }
  /// An input keeps the value that it is set to; nothing: it is as the model has it again. What is evaluated next sees it. Throws
  /// InputError if there is none of that name, or if it comes from recorded data.
  virtual void set_input(const std::string& name, std::optional<double> value);

  /// Whether all ranks want to go on.
  virtual bool all_go_on(const std::function<bool()>& go_on) { return go_on(); }
  /// The observer that is told in place of the given one.
  virtual Observer wrapped(Observer observer) { return observer; }
  /// The remarks of all ranks, in order of time.
  virtual void gather(Remarks& /*remarks*/) {}
  /// What else is to be said at the end of a run that took so long, on the wall.
  virtual void finish(Summary& /*summary*/, double /*seconds*/) {}
};

}  // namespace linkwork
