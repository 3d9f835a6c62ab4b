#pragma once

#include <cstdint>
#include <string>

#include "linkwork/model/spec.h"

namespace linkwork::test {

/// A mechanism that depends on the seed only: trees and loops of all joint and closure types about oblique axes, single and
/// redundant, in mechanisms that move by their dimensions only (planar and spherical linkages, parallelograms, Bennett, Bricard,
/// Sarrus, coaxial hinges), with masses and lengths over decades, forces of all kinds, and a start that meets all constraints.
Spec random_mechanism(std::uint64_t seed);

/// Units in which a mechanism is written: how many kilograms and metres its own are.
struct Units {
  double mass = 1.0, length = 1.0;
};
/// Masses from 1e-12 to 1e12, lengths from 1e-9 to 1e9.
Units random_units(std::uint64_t seed);
/// The same mechanism in other units; its accelerations are the same, in them.
Spec in_units(const Spec& spec, const Units& units);

/// What a user would write.
std::string to_toml(const Spec& spec);

}  // namespace linkwork::test
