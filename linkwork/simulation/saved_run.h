#pragma once

#include <string>
#include <vector>

#include "linkwork/simulation/summary.h"
#include "linkwork/switching/saved_switching.h"

namespace linkwork {

/// The number of the first multiple of an interval > 0 that is later than t >= 0. Of an interval so short that multiples cannot
/// be told apart near t, some number whose multiple is not later: everything is then due at once.
long first_multiple_after(double interval, double t);

/// What runs in one piece and runs of modules have in common between two steps.
struct SavedProgress {
  double t = 0.0;
  long outputs = 0;      // rows written
  double h = 0.0;        // the next step's size, if adaptive
  double usual_h = 0.0;  // what accepted steps were like of late
  double energy_start = 0.0, potential_start = 0.0, imbalance = 0.0, exchanged = 0.0;
  int start_rank = 0;
  std::vector<double> row = {};  // the last one written
  long next_checkpoint = 0;      // its time is a multiple of the interval
  double wall_seconds = 0.0;
  Summary summary = {};  // as far as it is known
};

/// A run between two steps: with it and the model, it can go on. The run itself goes on from what it saves, with methods made
/// anew, so that it makes no difference whether it was interrupted, whatever the methods remember of earlier steps.
struct SavedRun {
  SavedProgress progress = {};
  std::vector<double> q = {}, v = {}, z = {};
  double work = 0.0;
  std::vector<double> memory = {};  // System::memory()
  long grid = 0;
  long evaluations = 0;
  bool warned_rank = false, warned_remark = false, warned_singular = false;
  std::vector<char> warned_limit = {};
  SavedSwitching switching = {};
};

}  // namespace linkwork
