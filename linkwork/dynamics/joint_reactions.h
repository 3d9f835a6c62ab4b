#pragma once

#include <array>
#include <optional>
#include <span>
#include <vector>

#include "linkwork/dynamics/system.h"

namespace linkwork {

/// A wrench on a node from outside the model, in world axes, about a point of the node.
struct OutsideWrench {
  NodeFrame at;
  Vec3<double> torque, force;
};

/// What joints transmit: the force and torque of the parent on the child that keep the joint together, at the child's frame, in
/// world axes. Forces along a joint's own motion (motors, springs, friction, gears) are not among them.
///
/// Joints of the tree: with F_i the wrench that node i needs to move as it does, less what else acts on it, the sum over all
/// nodes beyond a joint goes through the joint, sum F = C mu + B tau: C are the rows that the joint has as a closure, B those of
/// its coordinates. C mu is the reaction. Cut joints: their rows times lambda. Welds that make bodies one node: the same sum over
/// the bodies beyond the weld, each with its own inertia, what acts on it, and what goes through the joints that hang on it.
class JointReactions {
 public:
  explicit JointReactions(const Model& model);

  struct Reaction {
    Vec3<double> force = Vec3<double>::Zero(), torque = Vec3<double>::Zero();
  };
  /// At an evaluated state with its accelerations (update_accelerations()) and multipliers.
  void update(System& system, const VecX<double>& lambda, std::span<const OutsideWrench> outside = {});
  /// Of a change of the multipliers alone: what motion and applied forces ask for is left out.
  void update_change(System& system, const VecX<double>& lambda);

  /// By joint.
  const std::vector<Reaction>& joints() const { return joints_; }
  /// What a joint transmits as multipliers of the rows that it would have as a closure.
  void multipliers(const System& system, std::size_t joint, std::span<double> lambda) const;
  /// By closure between frames, cut joints among them.
  const std::vector<Reaction>& closures() const { return closures_; }
  /// Those that are no joints.
  const std::vector<std::size_t>& other_closures() const { return other_closures_; }

 private:
  /// A weld that makes two bodies one node.
  struct Weld {
    std::size_t joint;
    std::size_t body, on;  // further from the ground, and nearer
    bool reversed;         // the joint's child is the nearer one
  };
  void find_welds();
  void add_multipliers(System& system, const VecX<double>& lambda);
  void add(const NodeFrame& at, const Vec3<double>& torque_at_origin, const Vec3<double>& force);
  void pass_down(System& system, const VecX<double>& lambda);
  void pass_through_welds(const System& system);
  Reaction closure_reaction(const System& system, const FrameClosure& closure, const VecX<double>& lambda) const;
  /// Of a joint that moves along and about axes of its frame on the parent, whatever its position: which these are.
  struct Freedom {
    std::array<bool, 3> slides{}, turns{};
  };
  static std::optional<Freedom> freedom_of(const JointKind& kind);
  static Reaction share_of_axes(const System& system, const Joint& joint, const Freedom& freedom, const Wrench<double>& through);
  Reaction share_of_joint(const System& system, const Joint& joint, const Wrench<double>& through) const;

  const Model& model_;
  std::vector<int> closure_of_;  // by joint: the closure between frames it is; -1: it is in the tree
  std::vector<std::size_t> other_closures_;
  std::vector<Wrench<double>> needed_;   // by node: world axes, about the world's origin
  std::vector<Weld> welds_;              // the outermost first
  std::vector<std::size_t> hangs_on_;    // by node: the body that its joint hangs on; only if there are welds
  std::vector<Wrench<double>> on_body_;  // by body: the same as needed_; only if there are welds
  std::vector<Reaction> joints_, closures_;
  std::vector<std::optional<Freedom>> freedoms_;  // by joint; none: the share must be solved for
};

}  // namespace linkwork
