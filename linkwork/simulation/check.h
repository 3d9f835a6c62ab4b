#pragma once

#include <string>
#include <vector>

#include "linkwork/dynamics/diagnosis.h"
#include "linkwork/model/model.h"
#include "linkwork/simulation/assembly.h"
#include "linkwork/simulation/coordinate_choice.h"

namespace linkwork {

/// What can be said of a model without running it, at its assembled start.
struct CheckReport {
  struct Closure {
    std::string name;
    std::string type;
    int rows = 0;
    bool closes_loop = false;  // between two frames: a cut joint, or a closure that is not about joint coordinates
    bool is_cut_joint = false;
    std::vector<std::string> redundant;  // names of its rows that add nothing to the others
  };
  int bodies = 0;  // without the ground
  int joints = 0;
  int coordinates = 0;  // velocities of the spanning tree
  int rows = 0;
  int rank = 0;
  int dof = 0;
  std::vector<Closure> closures;
  Diagnosis diagnosis;
  AssemblyReport assembly;
  std::vector<std::string> warnings;  // joints outside their limits, contradictions that an inexact formulation smooths over
  std::string formulation;
  std::string formulation_reason;
  std::string in_coordinates;  // FA, TA, CE or hybrid
  CoordinateCosts costs;
  double free_body_cost = 0.0;
  std::string trouble;  // why a run would stop at once; empty: it would not

  int loops() const;
  std::vector<std::string> redundant() const;
};

/// Throws InputError if no start satisfies the constraints, naming them, or if a method is not known.
CheckReport check(const Model& model);

}  // namespace linkwork
