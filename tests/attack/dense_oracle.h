#pragma once

#include <Eigen/Core>
#include <string>
#include <vector>

#include "linkwork/model/spec.h"

namespace linkwork::test {

/// Long enough that what is lost in it does not show in an engine that computes in double.
using Real = long double;
using RealVector = Eigen::Matrix<Real, Eigen::Dynamic, 1>;
using RealRow = Eigen::Matrix<Real, 1, Eigen::Dynamic>;
using RealMatrix = Eigen::Matrix<Real, Eigen::Dynamic, Eigen::Dynamic>;
using Real3 = Eigen::Matrix<Real, 3, 1>;
using Real33 = Eigen::Matrix<Real, 3, 3>;
using Real3X = Eigen::Matrix<Real, 3, Eigen::Dynamic>;

/// A frame in the world, how it moves, and how that depends on the coordinates of the oracle's tree. Accelerations are those at
/// vdot = 0.
struct FrameMotion {
  explicit FrameMotion(int nv) : Jw(Real3X::Zero(3, nv)), Jp(Real3X::Zero(3, nv)), Bw(RealRow::Zero(nv)), Bp(RealRow::Zero(nv)) {}

  Real33 R = Real33::Identity();
  Real3 p = Real3::Zero(), w = Real3::Zero(), v = Real3::Zero(), aw = Real3::Zero(), ap = Real3::Zero();
  Real3X Jw, Jp;
  /// How large the columns of Jw and Jp could be, whatever cancels in them: turns, and lengths of the way from each joint.
  RealRow Bw, Bp;
  Real way = 0;  // length of the way from the origin of the world
};

/// A mechanism by the textbook, at t = 0 and the start that its spec gives. Poses, velocities and their Jacobians by going along
/// the joints one after another, every loop as equations of velocities differentiated by hand, Newton's and Euler's equations of
/// all bodies as one dense least-squares problem (Gauss's principle), rank by singular values; all in extended precision.
/// Nothing is shared with the engine but the reading of the file and the evaluation of expressions.
class DenseOracle {
 public:
  /// Joints hang bodies on bodies in the order of the spec; those that are left over, or are to be cut, close loops.
  explicit DenseOracle(const Spec& spec);

  int coordinates() const { return nv_; }
  int row_count() const { return static_cast<int>(rows_.size()); }
  int rank() const { return rank_; }
  int dof() const { return nv_ - rank_; }
  /// Singular values of the balanced rows, relative to the largest: the smallest that counts, and the largest that does not.
  Real smallest_counted() const { return smallest_counted_; }
  Real largest_left_out() const { return largest_left_out_; }

  const FrameMotion& body(const std::string& name) const;
  FrameMotion frame(const FrameSpec& spec) const;
  /// Velocities of the tree near `wish` that meet the constraints.
  RealVector consistent_velocity(const RealVector& wish) const;
  /// Velocities of a joint's coordinates, of the tree or not, for velocities of the tree.
  std::vector<double> joint_velocity(std::size_t joint, const RealVector& v) const;
  /// A joint's first velocity in the tree; -1: it closes a loop.
  int first_velocity(std::size_t joint) const { return first_[joint]; }

  struct Accelerations {
    RealVector vdot;
    std::vector<Real3> alpha, a;  // by body of the spec: angular, and of the centre of mass
    Real determined = 1;          // how well masses determine the motion: smallest by largest pivot
    Real velocity_error = 0;      // A v - u, relative to its terms
    Real contradiction = 0;       // what dependent rows ask of vdot in vain, likewise
    Real scale = 0;               // the largest acceleration of the mechanism, of gravity and centripetal ones too
    std::vector<Real> size;       // by body: a length that turns its angular acceleration into one of points
    RealVector loads;             // by velocity: the sizes of all that is added up to its generalized force
  };
  /// With these generalized forces beside those of the mechanism.
  Accelerations solve(const RealVector& more = {}) const;

 private:
  struct Term;
  using Terms = std::vector<Term>;
  /// J v = rate; J vdot + bias is its derivative. The constraint is that they are `u` and `acceleration`.
  struct Row {
    RealRow J, bounds;
    Real rate = 0, bias = 0, u = 0, acceleration = 0;

    void add(const Row& other, Real factor);
  };

  static int velocity_count(const std::string& type);
  static std::vector<std::string> components(const std::string& type, bool velocity);
  void place_bodies();
  void go(FrameMotion& f, std::size_t joint, bool backwards) const;
  FrameMotion joint_frame(const JointSpec& joint, bool child) const;
  Row empty_row() const;
  Row row(const Terms& terms) const;
  static Terms slip(const FrameMotion& a, const FrameMotion& b, const Real3& e, const Real3& edot, const Real3& r = Real3::Zero(),
                    const Real3& rdot = Real3::Zero());
  static Terms along(const FrameMotion& a, const FrameMotion& b, int axis);
  static Terms about(const FrameMotion& a, const FrameMotion& b, int axis, bool of_b = false);
  std::vector<Terms> closure_terms(const std::string& type, const FrameMotion& a, const FrameMotion& b, Real pitch,
                                   const ClosureSpec* closure) const;
  void add_rolling(const ClosureSpec& closure, const FrameMotion& a, const FrameMotion& b, std::vector<Terms>& all) const;
  std::vector<Row> velocity_rows(std::size_t joint) const;
  std::pair<std::size_t, int> coordinate(const std::string& name, bool velocity) const;
  Row coordinate_row(const std::string& name) const;
  double position(const std::string& name) const;
  double evaluate(const Expression& expression) const;
  Row relation_row(const ClosureSpec& closure) const;
  void add_closures();
  void find_rank();
  RealVector forces(std::vector<Real3>& force, std::vector<Real3>& torque) const;

  const Spec& spec_;
  int nv_ = 0;
  std::vector<int> first_;
  RealVector v_;
  std::vector<FrameMotion> bodies_;  // [0]: the ground
  std::vector<Row> rows_;
  int rank_ = 0;
  Real smallest_counted_ = 1, largest_left_out_ = 0;
  RealVector row_scale_, column_scale_;  // that balance the rows
  RealMatrix U_, V_;
  RealVector sigma_;
};

}  // namespace linkwork::test
