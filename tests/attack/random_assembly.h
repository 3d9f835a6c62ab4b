#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "linkwork/model/spec.h"

namespace linkwork::test {

/// A random mechanism cut into modules at random: whatever lies between bodies of different modules becomes a joint, closure,
/// force or relation between them. Bodies have inertia about all axes, and those that nothing of their own module carries a free
/// joint. With `events`: stops, dry friction and kicks at random, in modules and between them.
Spec random_assembly(std::uint64_t seed, bool events);

/// Ways to run one, and the assembly that is to be run in one of them.
const std::vector<std::string>& assembly_modes();
Spec assembly_in(const std::string& mode, std::uint64_t seed);

/// How a run of its modules differs from the one in one piece.
struct AssemblyVerdict {
  enum class Kind { kSame, kLeftOut, kRefused, kDiffers } kind = Kind::kSame;
  double difference = 0.0;  // the largest of a position or velocity, relative to its size or 1
  std::string words;
};
/// With the settings of the spec, but for the glue. Left out: what one piece cannot run either, or comes close to being singular.
AssemblyVerdict compare_with_one_piece(const Spec& spec, double tolerance);

}  // namespace linkwork::test
