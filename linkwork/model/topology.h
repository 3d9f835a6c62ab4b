#pragma once

#include <vector>

#include "linkwork/model/spec.h"

namespace linkwork {

/// Which joints form the spanning tree and which are cut. Body 0 is the ground, body i is spec.bodies[i - 1].
struct Topology {
  struct Loop {
    int joint;   // the cut one
    int length;  // joints in the loop, the cut one included
  };
  std::vector<int> order;        // bodies, depth first, without the ground
  std::vector<int> parent_body;  // by body
  std::vector<int> via_joint;    // by body: the tree joint that carries it
  std::vector<bool> cut;         // by joint
  std::vector<Loop> loops;
};

/// Chooses cuts that leave small loops; among equals those that leave few rows, shallow trees, and joints that carry
/// start values, forces or drives in the tree. `cut = true` overrides. Bodies that hang on nothing are an error.
Topology choose_topology(const Spec& spec);

}  // namespace linkwork
