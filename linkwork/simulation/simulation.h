#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "linkwork/dynamics/state.h"
#include "linkwork/simulation/observer.h"
#include "linkwork/simulation/saved_run.h"
#include "linkwork/simulation/summary.h"

namespace linkwork {

struct AssemblyReport;
struct Model;
struct OneTree;
class EquationsOfMotion;
class MechanismSystem;
class MovingSystem;
class TimeLoop;

/// A run that can be watched, stepped, saved and restored: of a mechanism in one piece, of modules under a glue
/// (AssemblySystem), or of a mechanism moved by its drives (KinematicSystem). It owns what it needs.
class Simulation {
 public:
  /// A mechanism in one piece, made ready to run by its settings: methods chosen, start assembled. Throws InputError if that
  /// cannot be.
  explicit Simulation(Model model);
  explicit Simulation(std::shared_ptr<const Model> model);
  /// The same, run in another tree.
  Simulation(std::shared_ptr<const Model> model, const OneTree& tree);
  explicit Simulation(std::unique_ptr<MovingSystem> system);
  Simulation(Simulation&&) noexcept;
  Simulation& operator=(Simulation&&) noexcept;
  ~Simulation();

  /// Of the rows that observers are told: Settings::columns.
  const std::vector<std::string>& columns() const;
  double t() const;
  /// Where it is. If ranks share it, each has its part of y.
  const Moment& moment() const;
  /// Whether steps have the size of the settings, but for those that events or the end cut short.
  bool has_fixed_steps() const;
  MovingSystem& system();
  /// For those who compute steps of several runs at a time.
  TimeLoop& loop() { return *loop_; }

  /// Who is told of steps and rows from now on.
  void observe(const Observer& observer);
  /// One step, of which the first is preceded by an evaluation of the start. False: it cannot go on, and summary() says why.
  bool step();
  /// Steps up to a time, at which the last one ends.
  bool advance_to(double t);
  /// Steps to the end of the settings, or until it cannot go on; either way the summary says how it went.
  Summary run();
  Summary run(const Observer& observer);
  /// How it went so far.
  Summary summary();

  /// An input keeps the value that it is set to, from now on, until it is released. Throws InputError if there is none of that
  /// name, or if it comes from recorded data.
  void set_input(const std::string& name, double value);
  void release_input(const std::string& name);
  /// Calls `act` at the start and at every multiple of the period: steps end there, and inputs that it sets hold from there on.
  void sample(double period, std::function<void()> act);
  /// Goes on from another instant, which is moved onto the constraints first.
  void jump(const Moment& to);
  bool has_started() const;
  bool ended_by_event() const;
  /// What an output row of this instant would be, with all columns of system().columns().
  std::vector<double> row();

  /// All that is to be known to go on from here, inputs that were set included.
  SavedRun save();
  /// Goes back, or on, to what a run of the same model saved. Throws InputError if it cannot be of that model.
  void restore(const SavedRun& saved);

  // Of a mechanism in one piece, coordinates FA, TA, CE and hybrid included.
  State state() const;
  EquationsOfMotion& equations();
  const AssemblyReport& assembly() const;
  const std::string& coordinates() const;
  /// Whether the formulation is: it then cannot make up for constraints that contradict one another.
  bool is_exact() const;

 private:
  MechanismSystem& mechanism() const;

  std::unique_ptr<TimeLoop> loop_;
};

}  // namespace linkwork
