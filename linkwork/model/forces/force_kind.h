#pragma once

#include <string_view>
#include <vector>

#include "linkwork/model/keys.h"

namespace linkwork {

class Binding;
struct Model;

/// A type of [[force]]. It is made of elements that the equations of motion know: forces on joint coordinates, springs between
/// two points, wrenches on bodies.
struct ForceKind {
  std::string_view name;
  std::string_view summary;
  std::vector<KindKey<ForceSpec>> keys;
  /// Adds its elements to Model::joint_forces, springs and wrenches.
  void (*build)(const ForceSpec&, const Binding&, Model&);
  /// Throws InputError if what the keys say does not go together.
  void (*check)(const ForceSpec&, const KeyPlaces&) = nullptr;
  bool links_modules = false;  // a linear spring, whose ends may be on modules that are solved apart
};

// In files of their own.
ForceKind joint_torque();
ForceKind joint_force();
ForceKind spring_force();
ForceKind damper_force();
ForceKind wrench_force();

}  // namespace linkwork
