#pragma once

#include "linkwork/dynamics/catalog.h"
#include "linkwork/dynamics/system.h"

namespace linkwork {

/// Which coordinates a system can be solved in.
std::vector<CatalogInfo> coordinate_choices();

/// Throws InputError if a joint has an armature: it belongs to a coordinate of the tree, which FA does not have.
void check_no_armature(const Model& model);

/// What an evaluation of the equations of motion costs in each kind of coordinates, in machine instructions: estimates by
/// counting, with factors fitted to measurements.
struct CoordinateCosts {
  /// Loops that share joints: they are embedded or cut together.
  struct Cluster {
    std::vector<std::string> closures;
    int joints = 0, rows = 0, independent = 0;
    double cut = 0.0, embedded = 0.0;
    bool embed = false;  // it is cheaper, and possible
  };
  double ta = 0.0, ce = 0.0, automatic = 0.0;  // not a number: not looked into
  std::vector<Cluster> clusters;               // those that could be embedded
  std::vector<char> embed;                     // by group of constraint rows, what "auto" does
};

/// At a state where positions are assembled.
CoordinateCosts predict_costs(const Model& model, const State& state);
/// The same for FA.
double predict_free_body_cost(const Model& model);

}  // namespace linkwork
