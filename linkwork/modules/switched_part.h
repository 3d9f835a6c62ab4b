#pragma once

#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "linkwork/dynamics/equations_of_motion.h"
#include "linkwork/modules/shared_modes.h"

namespace linkwork {

/// A part of a whole in which things come and go: a module, or what lies between modules. What is in force is decided elsewhere,
/// for the whole; this makes it so in the part. Friction that slides under a normal force needs that force, which depends on the
/// friction everywhere: the part says what its forces are and is given what they shall be.
class SwitchedPart {
 public:
  /// Both must last as long. `left_out`: rows that are another part's business.
  SwitchedPart(const Model& model, EquationsOfMotion& equations, std::vector<int> left_out = {});

  const Model& model() const { return model_; }
  void take_modes(const SharedModes& shared);
  void hold_branches(bool on) { equations_.system().hold_branches(on); }
  /// Rates have jumped at the instant just evaluated.
  void accept_jump() { equations_.system().accept_turns(true); }

  /// Positions and velocities of its joints, joint by joint, then states of the user's own, at the instant last evaluated.
  std::vector<double> joint_values();
  /// Makes a state (q, v and whatever follows) have such velocities, and positions if they are to change.
  using Jump = std::function<void(std::span<const double> joint_values, bool positions, VecX<double>& x)>;
  void jump(std::span<const double> joint_values, bool positions, VecX<double>& x) const;
  /// How that is done where joints have no coordinates of their own.
  void set_jump(Jump jump) { jump_ = std::move(jump); }

  /// Of frictions that slide under a normal force that is to be found: what it is taken to be, and what then comes of it.
  int load_count() const { return static_cast<int>(loaded_.size()); }
  void loads(std::span<double> to) const;
  void set_loads(std::span<const double> from);
  std::span<const double> found() const { return found_; }
  /// lambda: by row of the model; `dependent`: those that follow from others.
  void find(VecX<double> lambda, const std::vector<char>& dependent);

 private:
  const Model& model_;
  EquationsOfMotion& equations_;
  std::vector<int> left_out_;
  Modes modes_;
  std::optional<SharedModes::Places> places_;
  LoadSharing sharing_;
  Jump jump_;
  std::vector<std::size_t> loaded_;  // frictions
  std::vector<double> found_;
};

}  // namespace linkwork
