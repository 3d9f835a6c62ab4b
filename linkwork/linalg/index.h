#pragma once

#include <cstddef>

namespace linkwork {

/// An index as containers take it. Indices are int in this library, negative for none.
constexpr std::size_t at(int i) { return static_cast<std::size_t>(i); }

}  // namespace linkwork
