#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "linkwork/model/keys.h"
#include "linkwork/spatial/motion.h"

namespace linkwork {

class Binding;
struct Force;
struct Model;

/// What the elements of forces do at an instant, each by its number in the model; nothing if it is not in force.
class AppliedForces {
 public:
  virtual ~AppliedForces() = default;
  /// On a joint coordinate.
  virtual double joint_force(std::size_t element) const = 0;
  /// With which a spring pulls its ends together.
  virtual double spring_pull(std::size_t element) const = 0;
  /// On a body at its point, world axes.
  virtual Wrench<double> wrench(std::size_t element) const = 0;
  /// On frame b at its origin, world axes.
  virtual Wrench<double> bushing(std::size_t element) const = 0;
};

/// A type of [[force]]. It is made of elements that the equations of motion know: forces on joint coordinates, springs between
/// two points, wrenches on bodies, bushings.
struct ForceKind {
  std::string_view name;
  std::string_view summary;
  std::vector<KindKey<ForceSpec>> keys;
  /// Adds its elements to Model::joint_forces, springs, wrenches and bushings.
  void (*build)(const ForceSpec&, const Binding&, Model&);
  /// Throws InputError if what the keys say does not go together.
  void (*check)(const ForceSpec&, const KeyPlaces&) = nullptr;
  bool links_modules = false;  // a linear spring, whose ends may be on modules that are solved apart

  /// Columns of the output beside the power that every force has: "<prefix>.<force>", or "<prefix>.<force>.<component>".
  struct Component {
    std::string name;  // may be empty if there is no other
    std::string unit;
  };
  std::string_view prefix = "effort";
  std::vector<Component> components = {};
  void (*read)(const Force&, const AppliedForces&, std::span<double> values) = nullptr;
};

/// By force: its name in columns. One without a name is "force" and its number among all, from 1.
std::vector<std::string> output_names(const std::vector<ForceSpec>& forces);

// In files of their own.
ForceKind joint_torque();
ForceKind joint_force();
ForceKind spring_force();
ForceKind damper_force();
ForceKind wrench_force();
ForceKind bushing_force();

}  // namespace linkwork
