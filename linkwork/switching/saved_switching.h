#pragma once

#include <string>
#include <vector>

#include "linkwork/switching/event_record.h"

namespace linkwork {

/// What events, contacts and friction have come to: Modes, and what Switching knows of the past.
struct SavedSwitching {
  std::vector<char> rows = {}, forces = {};
  std::vector<double> parameters = {};
  std::vector<int> friction = {};       // kinds
  std::vector<double> directions = {};  // two a friction
  std::vector<double> watched = {};     // five a function: value, scale, sign, whether it has just fired, offset
  double largest_effort = 0.0, energy_scale = 0.0;
  std::vector<EventRecord> records = {};
  std::vector<std::string> warnings = {};
  std::vector<int> impacts = {};
  std::vector<std::vector<double>> recent = {};
  std::vector<double> enough = {};
  int settled_rank = 0;
  bool redundant = false;
  std::vector<char> idle = {};
  std::vector<double> mobility = {};
  std::vector<char> starting = {};
};

}  // namespace linkwork
