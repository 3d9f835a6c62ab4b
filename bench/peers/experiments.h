#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "bench/peers/mechanism.h"

namespace linkwork::bench {

/// A model of models/, perhaps of a size.
struct Case {
  std::string model;
  long n = 0;
  double budget = 3.0;  // s of processor time that a run of another engine may take
};

struct Plan {
  bool quick = false;
  int rounds = 15;  // of interleaved samples
  std::vector<Peer> peers;
  std::vector<std::string> models;  // only these, if any
};

/// Each gives rows of the report; docs/benchmarks.md says what is in them.
nlohmann::json time_evaluations(const Plan& plan);
nlohmann::json compare_accuracy(const Plan& plan);
nlohmann::json run_loops(const Plan& plan);
nlohmann::json close_redundantly(const Plan& plan);
nlohmann::json close_inconsistently(const Plan& plan);
nlohmann::json start_singular(const Plan& plan);

}  // namespace linkwork::bench
