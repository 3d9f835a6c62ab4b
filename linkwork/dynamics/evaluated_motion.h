#pragma once

#include <span>
#include <utility>
#include <vector>

#include "linkwork/dynamics/state.h"
#include "linkwork/model/model.h"
#include "linkwork/tree/kinematics.h"

namespace linkwork {

/// The model moved to a state: poses, relative motions, and the coordinates of joints, wherever they come from. The first layer
/// of System, which updates it.
class EvaluatedMotion : public Observation {
 public:
  const Model& model() const { return *model_; }
  const Tree& tree() const { return model_->tree; }
  const State& state() const { return *state_; }
  /// The evaluated state now lives here (it was swapped or copied).
  void rebind(const State& state) { state_ = &state; }
  bool is_of(const State& state) const { return state_ == &state; }
  TreeWork<double>& work() { return work_; }
  const TreeWork<double>& work() const { return work_; }

  /// Of a node in the world; computed for all of them when first asked for.
  const Pose<double>& X_WN(int node) const {
    update_poses(tree(), work_);
    return work_.X_WN[static_cast<std::size_t>(node)];
  }
  Pose<double> pose(const NodeFrame& frame) const override { return X_WN(frame.node) * frame.X_NF; }
  /// Node b in node a's frame.
  Pose<double> between(int a, int b) const {
    const Pose<double>& X_WB = X_WN(b);
    if (a == 0) return X_WB;
    const Pose<double>& X_WA = X_WN(a);
    return {X_WA.R.transpose() * X_WB.R, X_WA.R.transpose() * (X_WB.p - X_WA.p)};
  }
  /// Velocity of a frame's origin, world axes.
  Vec3<double> velocity(const NodeFrame& frame) const override;
  Vec3<double> angular_velocity(const NodeFrame& frame) const override;
  /// After update_accelerations().
  Vec3<double> specific_force(const NodeFrame& frame) const override;
  /// With accelerations at vdot = 0, or, after aba_forward(), the true ones.
  RelativeMotion relative_motion(const NodeFrame& a, const NodeFrame& b, bool with_vdot = false) const;

  /// A joint's coordinates, wherever they come from. vdot empty: the acceleration at vdot = 0.
  void joint_motion(const Joint& joint, std::span<const double> vdot, std::span<double> q, std::span<double> v,
                    std::span<double> a) const;

  /// The state just evaluated is where the motion has come to: turns of angles are counted from here. A little motion need not be
  /// counted at once, unless rates jump here.
  void accept_turns(bool rates_jump = false);

 protected:
  explicit EvaluatedMotion(const Model& model);

  struct CoordinateMotion {
    double value, rate, second_rate;
  };
  CoordinateMotion coordinate_motion(const Coordinate& coordinate) const;

  struct Turns {
    bool counted = false;             // whether a state was accepted yet
    double time = 0.0;                // of the last accepted state
    double since = 0.0;               // turned since then, at most
    double seen = 0.0;                // when a state was last offered
    std::vector<double> angle, rate;  // there, by joint and component; see first_angle_
  };

  const Model* model_;
  const State* state_ = nullptr;
  mutable TreeWork<double> work_;  // poses are filled in on demand
  Turns turns_;
  enum class Kept { kNothing, kPositions, kAll };
  Kept kept_ = Kept::kNothing;  // what has not changed since the last update

 private:
  /// Angles read off relative motions are known up to full turns: the one nearest to where the motion since the last accepted
  /// state has taken it is meant, theta0 + (t - t0) (thetadot0 + thetadot) / 2. However often it is read makes no difference.
  double unwrapped(const Joint& joint, std::size_t component, double angle, double rate) const;

  std::vector<std::size_t> first_angle_;  // by joint
  std::vector<JointIndex> turning_;       // joints whose angles are read off relative motions
};

/// How b's point r_b moves, seen from and in the axes of a's node. X_AB is as EvaluatedMotion::between().
struct PointMotion {
  Vec3<double> p, pdot, pddot;
};
template <class NodeMotion>
PointMotion point_motion(const NodeMotion& a, const NodeMotion& b, const Pose<double>& X_AB, const Vec3<double>& r_b) {
  const Vec3<double> turning_b = b.w.cross(r_b), p = X_AB * r_b, turning_a = a.w.cross(p);
  const Vec3<double> pdot = X_AB.R * (b.v + turning_b) - a.v - turning_a;
  const Vec3<double> acceleration_b = b.ap + b.aw.cross(r_b) + b.w.cross(turning_b);
  return {p, pdot, X_AB.R * acceleration_b - a.ap - a.aw.cross(p) - a.w.cross(turning_a + 2.0 * pdot)};
}

/// The wrenches of a row on the nodes of its two frames, each in its node's frame. X_AB is as EvaluatedMotion::between().
std::pair<Wrench<double>, Wrench<double>> row_wrenches(const NodeFrame& a, const NodeFrame& b, const Pose<double>& X_AB,
                                                       const Row& row);

}  // namespace linkwork
