#pragma once

#include <compare>
#include <cstddef>

namespace linkwork {

/// An index that cannot be mistaken for another kind of index. Negative: none.
template <class Tag>
struct Index {
  int value = -1;

  constexpr Index() = default;
  constexpr explicit Index(int v) : value(v) {}
  constexpr explicit Index(std::size_t v) : value(static_cast<int>(v)) {}
  constexpr explicit operator bool() const { return value >= 0; }
  constexpr std::size_t operator()() const { return static_cast<std::size_t>(value); }
  constexpr auto operator<=>(const Index&) const = default;
};

using BodyIndex = Index<struct BodyTag>;
using JointIndex = Index<struct JointTag>;
using ClosureIndex = Index<struct ClosureTag>;
using NodeIndex = Index<struct NodeTag>;  // of the kernel tree; 0 is the ground

}  // namespace linkwork
