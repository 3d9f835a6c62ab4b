#pragma once

#include <string_view>
#include <vector>

#include "linkwork/model/keys.h"

namespace linkwork {

/// A constraint on joint coordinates, wherever the bodies are: one row, an expression that must vanish.
struct CoordinateClosureKind {
  std::string_view name;
  std::string_view summary;
  bool holonomic;  // else it stands at velocity level, linear in the velocities
  std::vector<KindKey<ClosureSpec>> keys;
  Expression (*relation)(const ClosureSpec&);
  /// Throws InputError if what the keys say does not go together.
  void (*check)(const ClosureSpec&, const KeyPlaces&) = nullptr;
  bool can_open = false;   // it may be one-sided
  bool can_slide = false;  // it may have dry friction

  /// Its velocity coordinate k, as an expression.
  static Expression speed(const ClosureSpec& spec, std::size_t k) {
    return Expression::linear({"v." + spec.joints[k]}, {1.0}, 0.0, spec.place);
  }
};

// In files of their own.
CoordinateClosureKind gear_closure();
CoordinateClosureKind drive_closure();
CoordinateClosureKind speed_drive_closure();
CoordinateClosureKind expression_closure();
CoordinateClosureKind pfaffian_closure();
CoordinateClosureKind friction_drive_closure();

}  // namespace linkwork
