#pragma once

#include <cstdint>

namespace linkwork {

// Numbers by their place: any of them can be computed alone, in any order, and they are the same on every machine, to the last
// bit. The functions of the standard library are not: neither its distributions nor log and exp are defined so far.

/// A number between 0 and 1, ends excluded: the index-th of a stream, by a chain of mixing functions [Steele2014].
double uniform_number(std::uint64_t seed, std::uint64_t stream, std::uint64_t index);

/// The place of `index` in a random order of 0, ..., count - 1: a Feistel network on the next power of four, walked until it
/// lands within [Black2002].
std::uint64_t shuffled(std::uint64_t seed, std::uint64_t stream, std::uint64_t index, std::uint64_t count);

/// The most dimensions that sobol_number() knows.
inline constexpr int kSobolDimensions = 21;
/// Between 0 and 1: a coordinate of the index-th point of Sobol's sequence, in the order of Gray codes, with the direction
/// numbers of [Joe2008]. The seed shifts all points of a coordinate alike, bit by bit; 0 does not. index < 2^32.
double sobol_number(std::uint64_t seed, int dimension, std::uint64_t index);

/// The number that a standard normal variable does not exceed with probability p, 0 < p < 1: [Wichura1988], good to 1e-15.
double normal_quantile(double p);

/// exp(x), good to some units of the last place.
double portable_exp(double x);

}  // namespace linkwork
