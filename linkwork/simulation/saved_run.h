#pragma once

#include <map>
#include <string>
#include <vector>

#include "linkwork/simulation/remarks.h"
#include "linkwork/simulation/summary.h"
#include "linkwork/switching/saved_switching.h"

namespace linkwork {

/// The number of the first multiple of an interval > 0 that is later than t >= 0. Of an interval so short that multiples cannot
/// be told apart near t, some number whose multiple is not later: everything is then due at once.
long first_multiple_after(double interval, double t);

/// A mechanism in one piece, or a module, between two steps.
struct SavedPart {
  std::vector<double> x = {};       // what is integrated
  std::vector<double> memory = {};  // what its output depends on beside: turns that angles have made
};

/// A run between two steps, complete on every rank that shares it: with it and the model it can go on, on any number of ranks.
/// The run itself goes on from what it saves, with methods made anew, so that it makes no difference whether it was interrupted,
/// whatever the methods remember of earlier steps.
struct SavedRun {
  double t = 0.0;
  long outputs = 0;      // rows written
  long grid = 0;         // multiples of the step that have been passed
  double h = 0.0;        // the next step's size, if adaptive
  double usual_h = 0.0;  // what accepted steps were like of late
  long evaluations = 0;
  double energy_start = 0.0, potential_start = 0.0, imbalance = 0.0, exchanged = 0.0;
  bool energy_known = false;
  std::vector<double> row = {};  // the last one written
  long next_checkpoint = 0;      // its time is a multiple of the interval
  double wall_seconds = 0.0;
  std::map<std::string, double> inputs = {};  // that were set; not in files, whose runs have nobody to set any
  std::vector<Remarks::Remark> remarks = {};
  Summary summary = {};  // as far as it is known

  // Of the system.
  std::vector<SavedPart> parts = {};
  int start_rank = 0;
  SavedSwitching switching = {};
  std::vector<std::string> blocks = {};      // RunningBlocks::save()
  std::vector<double> glue = {};             // Glue::memory()
  std::vector<std::string> glue_notes = {};  // Glue::remarks(), so far
};

}  // namespace linkwork
