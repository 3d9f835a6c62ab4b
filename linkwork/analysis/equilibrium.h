#pragma once

#include <memory>
#include <string>
#include <vector>

#include "linkwork/analysis/linear_model.h"

namespace linkwork {

/// Where a mechanism can rest.
struct Equilibrium {
  bool found = false;
  std::string status;     // "found", or why there is none
  int iterations = 0;     // of Newton's method
  double residual = 0.0;  // largest force along a free coordinate, N or N m
  bool stable = false;    // small disturbances do not grow
  State state;
};

/// Near the start of a model. Newton's method on the forces along the free coordinates, from the start; if that does not lead to
/// a stable place, from where the motion takes it when its velocity is taken away at every peak of the kinetic energy. Contacts
/// and dry friction hold as they do where that motion comes to rest. `motion` is then at the place that was found.
Equilibrium find_equilibrium(const std::shared_ptr<const Model>& model, ReducedMotion& motion);

}  // namespace linkwork
