#pragma once

#include <span>
#include <vector>

#include "linkwork/dynamics/constraint_terms.h"
#include "linkwork/dynamics/evaluated_signals.h"

namespace linkwork {

/// The constraints at a state. The third layer of System.
class EvaluatedConstraints : public EvaluatedSignals {
 public:
  /// Kinematics and constraint terms (phi, rate, b and the columns of A).
  void update(const State& state);
  /// The same in two parts, for those who set velocities in between: poses, phi, u and the columns of A; then the rest.
  void update_positions(const State& state);
  void update_motion(const State& state);
  /// Nothing was changed since the last update: one at an equal state need not compute anything.
  void keep() { kept_ = Kept::kAll; }
  /// The same of positions: velocities were changed.
  void keep_positions() { kept_ = Kept::kPositions; }
  /// Whether an update in two parts costs no more than one, and gives the same bits: nothing is evaluated twice.
  bool is_made_of_parts() const { return has_simple_closures_ && inactive_.empty() && !model_->has_events(); }

  ConstraintTerms& terms() { return terms_; }
  const ConstraintTerms& terms() const { return terms_; }
  /// Dense, on demand.
  const MatX<double>& jacobian();
  const MatX<double>& jacobian_bounds();

  /// How fast a friction slides, by row; by position in Model::frictions.
  Eigen::Vector2d slip(std::size_t friction) const;

 protected:
  explicit EvaluatedConstraints(const Model& model);

  std::size_t group_of(int row) const { return static_cast<std::size_t>(terms_.layout->group_of[static_cast<std::size_t>(row)]); }

  ConstraintTerms terms_;
  std::vector<ForceColumns> sliding_;  // by friction: columns of its group while it slides

 private:
  /// What the last update did that need not be done at this state. Of itself a state cannot tell whether it has changed.
  Kept kept_at(const State& state) const {
    if (kept_ == Kept::kNothing || &state == state_ || state.t != state_->t || state.q != state_->q) return Kept::kNothing;
    if (kept_ == Kept::kAll && state.v == state_->v && state.z == state_->z) return Kept::kAll;
    return is_made_of_parts() ? Kept::kPositions : Kept::kNothing;
  }
  void update_closures(bool with_motion);
  void set_position_terms(std::size_t closure, std::span<const Row> rows);
  void set_motion_terms(std::size_t closure, const RelativeMotion& m, std::span<const Row> rows);
  /// Position terms, or those of velocity, of closures that are evaluated in a simpler way; false: of none such.
  bool set_simple_positions(std::size_t closure);
  bool set_simple_motion(std::size_t closure);
  void set_point_positions(std::size_t closure);
  void set_point_motion(std::size_t closure);
  void set_planar_positions(std::size_t closure);
  void set_planar_motion(std::size_t closure);
  void evaluate_coordinate_closure(const CoordinateClosure& closure, ForceColumns& columns);
  void deactivate_rows();

  bool has_simple_closures_;                    // all of them, evaluated in a simpler way
  std::vector<Pose<double>> X_AB_;              // by closure between frames, but kPlanar: of its nodes
  std::vector<PlanePose<double>> in_plane_AB_;  // kPlanar: heading of b in a, and b's origin
  MatX<double> A_, bounds_;
};

}  // namespace linkwork
