#pragma once

#include <span>
#include <string_view>

#include "linkwork/model/spec.h"

namespace linkwork {

/// A constraint on joint coordinates, wherever the bodies are: one row, an expression that must vanish.
struct CoordinateClosureKind {
  std::string_view name;
  std::string_view summary;
  bool holonomic;  // else it stands at velocity level, linear in the velocities
  Expression (*relation)(const ClosureSpec&);
};

/// Null if there is none of that name: closures of all other types are between two frames.
const CoordinateClosureKind* find_coordinate_closure_kind(std::string_view name);
std::span<const CoordinateClosureKind> coordinate_closure_kinds();

}  // namespace linkwork
