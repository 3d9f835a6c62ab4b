#pragma once

#include <string>
#include <vector>

#include "linkwork/dynamics/status.h"
#include "linkwork/dynamics/system.h"
#include "linkwork/linalg/rank.h"

namespace linkwork {

/// Constrained accelerations, multipliers, and what was found out about the constraint rows.
struct Solution {
  explicit Solution(const Model& model)
      : vdot(VecX<double>::Zero(model.tree.nv)),
        lambda(VecX<double>::Zero(model.row_count())),
        dependent(static_cast<std::size_t>(model.row_count()), 0) {}

  VecX<double> vdot;
  VecX<double> lambda;
  VecX<double> zdot;           // of State::z, by formulations that have it
  double virtual_power = 0.0;  // of springs and dampers that a formulation puts in place of constraints
  Rank rank;
  std::vector<char> dependent;  // by row: 1 if it adds nothing to the others at this state
  double inconsistency = 0.0;   // largest acceleration a dependent row asks for in vain
  std::string remark;           // what the run should say of this evaluation
};

/// The kinds of equations of motion a formulation gives and an integrator takes: accelerations of an ordinary differential
/// equation, or the residual of a differential-algebraic one of the given index.
enum class Equations { kAcceleration, kIndex1, kIndex2, kIndex3 };

/// One way to solve M vdot + c = tau + A' lambda, A vdot = b. Owns its scratch; allocates nothing after the first call.
class Formulation {
 public:
  struct Traits {
    Equations gives = Equations::kAcceleration;
    bool exact = true;                 // accelerations and A' lambda are those of the constrained system, to rounding
    bool takes_redundant_rows = true;  // else it refuses them in words
    bool lives_on_errors = false;      // constraint forces answer to phi and A v - u, which drift control must not take away
  };

  virtual ~Formulation() = default;
  /// Sets State::z of a consistent start, if the formulation integrates more than the motion.
  virtual void start(System&, State&) {}
  /// Brings the system up to date with a state, of which it may first change what depends on the rest: velocities or positions
  /// that the constraints determine.
  virtual Status prepare(System& system, State& state) {
    system.update(state);
    return {};
  }
  /// The system is up to date, forces included, and terms().b adjusted by the stabilization.
  virtual Status solve(System& system, Solution& solution) = 0;
  /// Multipliers that solve() left out because the motion does not need them. The system is as solve() left it.
  virtual void complete(System&, Solution&) {}
  /// A step was taken: the time to change what must stay the same within steps. The system holds the new state's evaluation.
  virtual void accept_step(System&) {}
  /// Other rows are in force from here on (System::modes()): what was kept from earlier evaluations is out of date.
  virtual void forget() {}
  /// Whether prepare() makes every state meet the constraints, so that there is nothing to stabilize.
  virtual bool holds_constraints() const { return false; }
};

}  // namespace linkwork
