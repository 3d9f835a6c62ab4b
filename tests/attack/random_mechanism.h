#pragma once

#include <cstdint>
#include <string>

#include "linkwork/model/spec.h"

namespace linkwork::test {

/// A mechanism that depends on the seed only: trees and loops of all joint and closure types about oblique axes, single and
/// redundant, in mechanisms that move by their dimensions only (planar and spherical linkages, parallelograms, Bennett, Bricard,
/// Sarrus, coaxial hinges), with masses and lengths over decades, forces of all kinds, and a start that meets all constraints.
Spec random_mechanism(std::uint64_t seed);

/// What a user would write; reading it gives the same spec, to the last bit.
std::string to_toml(const Spec& spec);

}  // namespace linkwork::test
