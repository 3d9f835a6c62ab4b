#pragma once

#include <array>
#include <optional>
#include <vector>

#include "linkwork/coordinates/elimination_passes.h"
#include "linkwork/coordinates/lane_columns.h"
#include "linkwork/dynamics/system.h"
#include "linkwork/tree/lane_tree.h"

namespace linkwork {

/// The equations of motion of N instances of a mechanism at a time: tree coordinates, cut loops eliminated one by one
/// (formulation schur), states moved back onto the constraints. Each lane has its own time, state, parameters and inputs. The
/// formulas and their order are those of System, Schur and ManifoldProjection, so that results agree up to the rounding of fused
/// operations.
///
/// Only the usual way is gone here. A lane that leaves it (rows that nearly depend on others, joints that move no inertia, digits
/// lost) is marked: what is computed for it then is of no use, and whoever asked must have the instance evaluated alone. What a
/// lane gets does not depend on the other lanes.
template <int N>
class LaneEquations {
 public:
  using Lanes = LanesOf<N>;
  using Mask = LaneMask<N>;
  using Systems = std::array<System*, N>;

  /// Of models that fit together. The systems give the values of expressions, inputs that were set included. Those of lanes that
  /// take part are bound to states of this object; nothing else of them is evaluated.
  explicit LaneEquations(const Systems& systems);

  Eigen::Index size() const { return tree_.nq + tree_.nv + 1; }
  /// Rates of y = (q, v, work) at the times t. `updated`: the last update() was at the same y.
  void evaluate(const Lanes& t, const VecX<Lanes>& y, VecX<Lanes>& rates, bool updated = false);
  /// Positions and velocities back onto the constraints, as far as they are off them; update() at the result is then done.
  void project(VecX<Lanes>& y);
  void normalize(VecX<Lanes>& y) const;
  /// Motion and constraint terms.
  void update(const VecX<Lanes>& y);

  /// Of the state last evaluated.
  struct Stock {
    Lanes position_error, velocity_error, kinetic, potential;
    Lanes fastest;  // angular velocity of a body
  };
  Stock stock(const VecX<Lanes>& y);

  /// By lane: what was left of its rows where they were strongest so far. Rows that have become much weaker are not as usual.
  double strongest(int lane) const { return strongest_[lane]; }
  void set_strongest(int lane, double strongest) { strongest_.set(lane, strongest); }

  /// Only some lanes take part from now on: what the others have is of no use.
  void begin(const Mask& part) { part_ = usual_ = part; }
  /// Those that have gone the usual way since then.
  const Mask& usual() const { return usual_; }

 private:
  using V3 = Vec3<Lanes>;
  struct Frame {
    int node;
    Pose<Lanes> X_NF;
  };
  struct Closure {
    int first_row, row_count;
    Frame a, b;
    const ClosureRows* known;  // of the first lane
    std::array<Vec3<Lanes>, 3> directions;
    Lanes height;
    struct Branch {
      Lanes x, y;
    } to_a, to_b;
    std::vector<Lanes> idle;
    Pose<Lanes> X_AB = {};
    PlanePose<Lanes> in_plane = {};
  };
  struct JointLaw {
    std::size_t joint;
    Lanes damping, stiffness, rest, friction;
    bool has_friction;
  };
  struct Spring {
    Frame a, b;
    Lanes stiffness, damping, length;
  };
  /// An expression, which each lane has with numbers of its own.
  struct Value {
    std::array<const BoundExpression*, N> of = {};  // null: a constant
    bool of_time_only = false;
    Lanes t, value;  // when it was last evaluated, and what it was then
  };
  struct JointTorque {
    std::size_t joint;
    int dof;
    Value value;
  };
  struct BodyForce {
    Frame at;
    bool in_body_axes;
    Wrench<Lanes> constant;                      // at the point, in world or body axes
    std::vector<std::pair<int, Value>> varying;  // components: of the torque, then of the force
  };

  template <class Of>
  Lanes of_each(Of&& of) const {
    Lanes x(0.0);
    for (int lane = 0; lane < N; ++lane) x.set(lane, of(systems_[static_cast<std::size_t>(lane)]->model()));
    return x;
  }
  template <class Of>
  VecX<Lanes> vector_of_each(Of&& of) const;
  template <class Of>
  Frame frame_of_each(Of&& of) const;

  void set_closure(std::size_t closure);
  void set_general_closure(Closure& closure, std::size_t index);
  PlanePose<Lanes> branch_pose(const ClosureRows::Branch& way, const typename Closure::Branch& first) const;
  Pose<Lanes> between(int a, int b);
  template <class Of>
  Value value_of_each(Of&& of) const;
  const Lanes& evaluate(Value& value, const Lanes& t) const;
  void bind_states(const Lanes& t, const VecX<Lanes>& y);
  void apply_forces(const Lanes& t, const VecX<Lanes>& y);
  void apply_joint_laws(const VecX<Lanes>& y);
  void apply_joint_torques(const Lanes& t, const VecX<Lanes>& y);
  void apply_springs();
  void apply_wrenches(const Lanes& t);
  void solve(const VecX<Lanes>& y);
  void respond(const VecX<Lanes>& error);
  void check_rank();
  Mask is_doubtful() const;
  void move_back(VecX<Lanes>& y, const Mask& some);
  Lanes largest_error(const VecX<Lanes>& errors) const;
  Lanes speed(const VecX<Lanes>& y) const;

  Systems systems_;
  std::array<State, N> states_;  // of expressions
  LaneTree<Lanes> tree_;
  TreeWork<Lanes> work_;
  EliminationPasses<Lanes, LaneTree<Lanes>, LaneColumns<Lanes>> loops_;
  std::vector<LaneColumns<Lanes>> groups_;
  std::vector<Closure> closures_;
  std::vector<JointLaw> laws_;
  std::vector<Spring> springs_;
  std::vector<JointTorque> torques_;
  std::vector<BodyForce> wrenches_;
  bool uses_time_ = false, uses_coordinates_ = false;  // values
  Mask unequal_;                                       // masses: Schur holds its results against the rows
  Lanes strongest_;                                    // by lane: the least that was left of a row where it was most
  Lanes good_enough_, constraint_tolerance_, rate_;
  VecX<Lanes> velocity_unit_, row_unit_, tolerance_;
  VecX<Lanes> phi_, rate_of_phi_, b_, vdot_, lambda_, change_, missed_, sizes_;
  Lanes power_;
  Mask part_, usual_;
};

}  // namespace linkwork
