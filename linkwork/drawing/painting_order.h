#pragma once

#include <cstddef>
#include <vector>

#include "linkwork/spatial/vector.h"

namespace linkwork {

/// A convex polygon, or a straight line (two corners), as it is seen: pixels, and the inverse of its depth. In these coordinates
/// planes stay planes, and what has the larger third one is nearer.
struct Painted {
  std::vector<Vec3<double>> corners;
  std::size_t style = 0;  // of the caller
  bool opaque = true;
};

/// The same, in an order in which painting one over the other shows what the eye would see. What passes through another is cut
/// where they meet, and so is what overlaps in a circle; what one opaque polygon hides is left out. Cuts that would show less
/// than part of a pixel are not made.
std::vector<Painted> painting_order(std::vector<Painted> all);

}  // namespace linkwork
