#pragma once

#include <random>
#include <vector>

#include "linkwork/dynamics/manifold_projection.h"
#include "linkwork/dynamics/system.h"

namespace linkwork {

/// How willingly the coordinates of a node are moved, relative to one another.
struct Willingness {
  std::vector<double> nodes;  // by node: 0 not at all, 1 as inertia has it

  bool is_uniform() const;
};

/// From how many starts to try, and by how much more each is disturbed than the one before, in units of the coordinates.
struct Starts {
  int count;
  double disturbance;
};

/// Moves states onto the constraints of a model, from far away too. Where all coordinates that may move are alike, the smallest
/// change in the mass metric is made; else coordinates count in their units, unwilling ones for more.
class LoopClosing {
 public:
  explicit LoopClosing(const Model& model);

  const Model& model() const { return model_; }
  /// At the state of the last call of any function below.
  System& system() { return system_; }
  double position_error() const { return model_.largest_error(system_.terms().phi); }
  double velocity_error() const { return model_.largest_error(system_.terms().rate); }
  /// What counts as closed: the user's tolerance less a margin.
  double tolerance() const { return 0.01 * model_.settings.constraint_tolerance; }

  void look_at(const State& state) { system_.update(state); }
  /// By node: whether a row in force can depend on it.
  std::vector<char> in_loops() const;

  /// Gauss-Newton with a limited, then shortened step; from disturbed starts if it gets stuck (at a straight or folded position,
  /// say, where the constraints' gradients point the wrong way). The state becomes the best that was found; returns whether it
  /// is closed.
  bool close_positions(const State& given, const Willingness& willingness, const Starts& starts, State& state);
  bool close_velocities(const Willingness& willingness, State& state);

 private:
  void allow(const Willingness& willingness);
  void descend(State& state);
  void disturb(State& state, double amplitude, std::mt19937& random) const;
  double correct_position(State& state, double fraction);
  const VecX<double>& weighted_change(const VecX<double>& error, bool positions);

  const Model& model_;
  System system_;
  ManifoldProjection projection_;
  bool weighted_ = false;
  VecX<double> column_scale_, row_scale_, change_;
  MatX<double> rows_, bounds_;
  PositionRows position_rows_;
  RowBasis basis_;
};

}  // namespace linkwork
