#pragma once

#include <array>
#include <memory_resource>
#include <vector>

#include "linkwork/dynamics/system.h"
#include "linkwork/model/dual_kinds.h"
#include "linkwork/tree/rnea_derivatives.h"

namespace linkwork {

/// The linear part of a twist, or of its change, at a point of the body.
inline Vec3<double> at_point(const Vec6<double>& motion, const Vec3<double>& p) {
  return motion.tail<3>() + motion.head<3>().cross(p);
}

/// How the relative motion of two frames changes with the coordinates of the joints between them, at true accelerations. All
/// that a closure, a cut joint or a spring needs for its exact derivatives.
class RelativeGradient {
 public:
  /// Changes of R (as a turn), p, w, pdot, wdot, pddot.
  using Change = Eigen::Matrix<double, 18, 1>;
  /// A coordinate on the way from one frame to the other.
  struct Part {
    int v = 0;          // velocity coordinate
    double side = 1.0;  // 1 on the way to b, -1 to a
    int place = 0;      // of its node on that way, counted outward
    int stage = 0;
    Change by_q, by_v;
  };
  using DualRows = std::array<DualRow, kMaxRows>;

  /// What it allocates comes from `memory`.
  RelativeGradient(const System& system, const InverseDynamicsDerivatives& motion, const NodeFrame& a, const NodeFrame& b,
                   std::pmr::memory_resource* memory = std::pmr::get_default_resource());

  const RelativeMotion& motion() const { return m_; }
  /// The same as functions of R, p, w and pdot.
  const DualMotion& dual() const { return dual_; }
  const std::pmr::vector<Part>& parts() const { return parts_; }

  /// Gradients in terms of Change: of a value, a rate, and a second rate of a row.
  static Change of_value(const Dual& x);
  Change of_rate(const DualRow& row) const { return of_value(row.rate(dual_)); }
  Change of_second_rate(const DualRow& row) const;

  /// Subtracts the derivatives of the force that `factor` times the row is, from rows of `force` at coordinates between the
  /// frames; columns are positions, then velocities. The factor is taken as constant.
  void subtract_force(const DualRow& row, double factor, RowMatX& force) const;
  /// S' of the row's force, by part: what `factor` = 1 does along its coordinate.
  std::pmr::vector<double> directions(const DualRow& row) const;

 private:
  Vec6<double> wrench(const DualRow& row) const;

  const InverseDynamicsDerivatives& of_;
  int nv_;
  Mat3<double> R_;  // of frame a in the world
  Vec3<double> p_;  // of b's origin in the world
  RelativeMotion m_;
  DualMotion dual_;
  std::pmr::vector<Part> parts_;
};

}  // namespace linkwork
