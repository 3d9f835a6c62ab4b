#pragma once

#include <functional>
#include <span>
#include <string>

namespace linkwork {

class EquationsOfMotion;
class System;
struct SavedRun;

/// Who watches a run. If ranks share it, rows are told to the first one only.
struct Observer {
  /// Called for every output row, in the order of Simulation::columns().
  std::function<void(std::span<const double> row)> row = {};
  /// Called with each row before `row` is: all that the run computes, in the order of MovingSystem::columns(), whatever was
  /// chosen for the output.
  std::function<void(std::span<const double> row)> whole_row = {};
  /// As whole_row: why the run must not go on after it, or empty. If ranks share it: asked on the first one only; the others hear
  /// of it with the next row.
  std::function<std::string(std::span<const double> row)> object = {};
  /// Called after every step.
  std::function<void(double t, double end)> progress = {};
  /// Asked after steps, on every rank if on one: false on any of them stops the run, whose status then is kInterrupted. It can be
  /// resumed: with `checkpoint`, that is called once more.
  std::function<bool()> go_on = {};
  /// Called before something happens to a mechanism in one piece, and after: with everything evaluated at that instant, by the
  /// old rules and by the new.
  std::function<void(EquationsOfMotion& equations, bool after)> event = {};
  /// Called just before `row`, with a mechanism in one piece evaluated at that row's state: for poses of bodies and frames.
  std::function<void(const System& system)> frame = {};
  /// Called at the start and then at the end of the first step that reaches a multiple of the interval and after which nothing is
  /// held back, unless that is the end of the run; by all ranks or none. The run goes on from what was saved: see SavedRun.
  std::function<void(const SavedRun& saved)> checkpoint = {};
  double checkpoint_every = 1.0;  // s of simulated time
};

}  // namespace linkwork
