#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "linkwork/dynamics/catalog.h"
#include "linkwork/modules/hierarchy.h"
#include "linkwork/modules/workshop.h"

namespace linkwork {

/// Couples modules: finds the forces between them. It sees only their ports and asks the three questions of Module, unless its
/// traits say that it needs more. One object a rank; all ranks call the same functions in the same order.
class Glue {
 public:
  struct Traits {
    bool exact = true;                 // accelerations are those of the system in one piece, to rounding
    bool adaptive = true;              // works with integrators that choose their steps
    bool own_steps = false;            // does the time stepping itself: step() instead of evaluate()
    bool uses_tableau = false;         // ... with the stages of the chosen Runge-Kutta method
    bool needs_equations = false;      // modules must show their equations of motion
    bool solves_modules = false;       // and it solves them itself: formulations and coordinates of modules have no say
    bool needs_gliding = false;        // modules must know which of their numbers are velocities: Module::glide()
    bool takes_couplings = false;      // what lies between modules may be more than constraints of two frames and springs,
                                       // and things may come and go
    bool needs_own_part_only = false;  // a rank need not know of modules and connections that are not its own
    std::string exposes;               // what a module has to show, in words
  };

  explicit Glue(Workshop& workshop)
      : workshop_(workshop),
        results_(workshop.plan().connections.size()),
        spring_potentials_(workshop.plan().springs.size(), 0.0) {}
  virtual ~Glue() = default;

  /// Rates of all states of this rank. Parts of the states that the glue takes for functions of the others are made so.
  virtual Status evaluate(double t, States& x, States& rates) = 0;
  /// Moves states back onto the constraints, if drift control does that. Closely: to rounding, where the tolerance is not good
  /// enough.
  virtual Status project(double /*t*/, States& /*x*/, bool /*closely*/) { return {}; }
  /// Both, of the end of a step: a glue that sees errors with an evaluation need not ask for them first.
  virtual Status project_and_evaluate(double t, States& x, States& rates) {
    if (Status status = project(t, x, false); !status.ok()) return status;
    return evaluate(t, x, rates);
  }
  /// From `from`, whose rates are given, over h; only glues that do the time stepping.
  virtual Status step(double t, double h, const States& from, const States& rates, States& to);

  /// At the start and at rows of the output, last evaluated: why the run must not go on from there, or nothing. All ranks come to
  /// the same conclusion.
  virtual Status check(bool /*at_start*/) { return {}; }
  /// At the last evaluated state.
  const AssemblyErrors& errors() const { return errors_; }
  const std::vector<ConnectionResult>& results() const { return results_; }
  /// By spring; known to the rank that has its first module.
  const std::vector<double>& spring_potentials() const { return spring_potentials_; }
  virtual double weakest() const { return 1.0; }
  /// Independent rows of the connections, at the last evaluated state. All ranks call it.
  virtual int connection_rank() = 0;
  /// Of them and of the modules' own, all together; known to all ranks.
  virtual int total_rank() const { return 0; }
  /// The same of those of the connections alone.
  virtual int known_connection_rank() const { return 0; }
  /// Of a dependent row that asks for another acceleration than those it depends on: in words, or empty.
  virtual std::string contradiction() const { return {}; }
  /// What is to be said of the choice or the course of the run, once.
  virtual std::vector<std::string> remarks() const { return {}; }
  /// Of the last step or window, if it iterates.
  virtual int iterations() const { return 0; }
  /// Whether it holds nothing back between steps, so that the states are all there is to a run.
  virtual bool at_rest() const { return true; }
  /// What it goes on with after a step at whose end it is at rest, the same numbers on every rank: for runs that are resumed.
  virtual std::vector<double> memory() const { return {}; }
  virtual void set_memory(const std::vector<double>& /*memory*/) {}
  /// The hierarchy that has the couplings; null: there are none.
  virtual Hierarchy* coupled() { return nullptr; }
  /// The sum of what all modules have, given those of this rank, in an order that does not depend on who has what. All ranks get
  /// it.
  virtual PairOfSums add_up(std::span<const PairOfSums> own);
  /// Other things are in force in modules and couplings from here on. All ranks call it.
  virtual void modes_changed() {}
  /// Numbers that a module shows of itself in an evaluation, all modules together.
  virtual int numbers_exposed() const = 0;

 protected:
  Workshop& workshop_;
  AssemblyErrors errors_;
  std::vector<ConnectionResult> results_;
  std::vector<double> spring_potentials_;

 private:
  std::vector<double> added_up_;  // scratch: what all modules have, and where each rank's part ends
  std::vector<int> added_up_ends_;
};

struct GlueEntry {
  CatalogInfo info;
  std::function<std::unique_ptr<Glue>(Workshop&, const Options&)> make;
  Glue::Traits traits;
};

/// Drift control under a glue: errors are fed back into accelerations, states are moved back, or neither.
struct DriftControl {
  double on_rate = 0.0, on_phi = 0.0;
  bool positions = false, velocities = false;  // which states are moved
  bool by_mass = true;                         // the smallest change is measured by masses, or else by coordinates
  int times = 0;                               // corrections after each step, whatever the errors are; 0: as many as it takes
  double tolerance = 1e-10;
  double good_enough = 1e-12;  // errors that are left alone

  /// Whether states with these errors are moved.
  bool is_due(const AssemblyErrors& errors) const {
    return times > 0 || (positions && errors.position > good_enough) ||
           (velocities && errors.velocity > good_enough * errors.speed);
  }
};
/// What the settings ask for.
DriftControl drift_control(const Settings& settings);

/// Moves states onto the constraints of modules and joints together, by the smallest change: positions by Newton's method, then
/// velocities. Closely: as far as rounding allows.
Status project_onto_constraints(Workshop& workshop, Hierarchy& hierarchy, const DriftControl& drift, double t, States& x,
                                bool closely = false);

/// Moves the starts of modules that know nothing of one another so that the joints between them are closed, and says by how much.
Status close_joints(Workshop& workshop, double tolerance, double t, States& x, std::vector<std::string>& notes);

/// The largest accelerations of a port by a unit torque and by a unit force on it.
struct PortEase {
  double turning = 0.0, moving = 0.0;
};

/// Exchanges the motion of all ports, and how easily they move: what glues need that work on little more than motions.
class PortBoard {
 public:
  static constexpr int kNumbersPerPort = 20;

  explicit PortBoard(Workshop& workshop);

  /// After ask_kinematics() and ask_response(): all ranks have all motions, and the largest errors.
  Status exchange(AssemblyErrors& errors);
  const PortMotion& motion(const PortRef& port) const;
  const PortEase& ease(const PortRef& port) const;
  const PortMotion motion_of_a(const Connection& connection) const;
  const PortMotion motion_of_b(const Connection& connection) const;

 private:
  Workshop& workshop_;
  std::vector<int> leaves_;
  std::vector<std::vector<PortMotion>> motion_;  // by module, port
  std::vector<std::vector<PortEase>> ease_;
  std::vector<double> message_;
  std::vector<int> ends_;
};

}  // namespace linkwork
