#pragma once

#include <string>
#include <utility>
#include <vector>

namespace linkwork {

/// Something that happened at an instant of a run.
struct EventRecord {
  double t = 0.0;
  std::string name;                                           // of the event, contact or friction
  std::string what;                                           // "on latch", "closes", "slides"
  double velocity_jump = 0.0;                                 // largest change of a velocity coordinate
  std::vector<std::pair<std::string, double>> impulses = {};  // by row or joint: "latch.x", N s
  double energy = 0.0;                                        // what the energy changed by
  int dof = 0;                                                // degrees of freedom from then on
};

}  // namespace linkwork
