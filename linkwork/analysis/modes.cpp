#include <Eigen/Eigenvalues>
#include <algorithm>
#include <cmath>
#include <numbers>

#include "linkwork/analysis/eigenpairs.h"
#include "linkwork/analysis/linear_model.h"
#include "linkwork/tree/kinematics.h"

namespace linkwork {

namespace {

/// How bodies move along velocities of the tree, in a position.
class BodyShapes {
 public:
  BodyShapes(const Model& model, const VecX<double>& q) : model_(model), moving_(model.tree) {
    update_positions(model.tree, q.data(), moving_);
    update_poses(model.tree, moving_);
  }

  std::vector<Mode::BodyShape> of(const Eigen::VectorXcd& shape) {
    std::vector<Mode::BodyShape> bodies;
    for (const Body& body : model_.bodies)
      if (body.node != 0) bodies.push_back({body.name, Eigen::Vector3cd::Zero(), Eigen::Vector3cd::Zero()});
    add(shape.real(), {1.0, 0.0}, bodies);
    add(shape.imag(), {0.0, 1.0}, bodies);
    return bodies;
  }

 private:
  void add(const VecX<double>& v, const std::complex<double>& unit, std::vector<Mode::BodyShape>& to) {
    update_velocities(model_.tree, v.data(), moving_);
    auto moves = to.begin();
    for (const Body& body : model_.bodies) {
      if (body.node == 0) continue;
      const NodeWork<double>& node = moving_[body.node];
      const Mat3<double>& R = moving_.X_WN[static_cast<std::size_t>(body.node)].R;
      moves->moves += unit * (R * (node.v + node.w.cross(body.X_NB.p))).cast<std::complex<double>>();
      moves->turns += unit * (R * node.w).cast<std::complex<double>>();
      ++moves;
    }
  }

  const Model& model_;
  TreeWork<double> moving_;
};

}  // namespace

std::vector<Mode> find_modes(ReducedMotion& motion, const LinearModel& linear, int count) {
  std::vector<Mode> modes;
  if (linear.A.rows() == 0) return modes;
  motion.rates(motion.origin());
  const MatX<double> follow = motion.free_directions();
  const bool all = count <= 0 || 2 * count + 2 >= linear.A.rows();
  const Eigenpairs pairs = all ? all_eigenpairs(linear.A) : lowest_eigenpairs(linear.A, 2 * count);
  const auto np = motion.position_count(), nv = motion.velocity_count();
  std::vector<Eigen::Index> order;
  for (Eigen::Index i = 0; i < pairs.values.size(); ++i)
    if (pairs.values[i].imag() >= 0.0) order.push_back(i);
  std::ranges::stable_sort(order, {}, [&](Eigen::Index i) { return std::abs(pairs.values[i]); });
  BodyShapes bodies(motion.model(), motion.evaluator().state().q);
  bool half_of_rigid_pair = false;  // motions without stiffness come as two eigenvalues near zero
  for (const Eigen::Index i : order) {
    if (!all && std::ssize(modes) == count) break;
    const std::complex<double> value = pairs.values[i];
    const Eigen::VectorXcd vector = pairs.vectors.col(i);
    const bool rigid = std::abs(value) < 1e-6 * std::max(1.0, pairs.largest);
    if (rigid && value.imag() == 0.0) {
      half_of_rigid_pair = !half_of_rigid_pair;
      if (!half_of_rigid_pair) continue;
    }
    // Of a vibration the velocities are value times the positions; those are there for coordinates on which only velocities
    // depend.
    Eigen::VectorXcd shape = follow * vector.segment(np, nv);
    if (rigid) shape = follow * vector.head(std::min(np, nv)).eval();
    const double size = shape.cwiseAbs().maxCoeff();
    if (!(size > 0.0)) continue;  // of the user's states alone
    Eigen::Index at = 0;
    shape.cwiseAbs().maxCoeff(&at);
    shape /= shape[at];
    Mode mode{rigid ? 0.0 : std::abs(value) / (2.0 * std::numbers::pi), rigid ? 0.0 : -value.real() / std::abs(value), {}};
    mode.bodies = bodies.of(shape);
    for (Eigen::Index c = 0; c < shape.size(); ++c)
      mode.shape.emplace_back("q." + motion.model().velocity_name(static_cast<int>(c)), shape[c]);
    modes.push_back(std::move(mode));
  }
  return modes;
}

}  // namespace linkwork
