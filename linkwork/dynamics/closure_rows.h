#pragma once

#include <array>
#include <vector>

#include "linkwork/model/model.h"
#include "linkwork/tree/force_columns.h"

namespace linkwork {

/// What the rows of a closure between frames have in common, whatever the state: the way to evaluate them. Most closures of
/// loops only hold a point of b along fixed directions of a, and many of these are of planar loops.
struct ClosureRows {
  enum class Kind {
    kGeneral,
    kPoint,       // all rows are of b's origin along fixed directions of a's node
    kPlanarLoop,  // the working ones are, and the loop's joints turn about parallel axes; the others never change
    kPlanar       // the same, the axes are fixed in the ground, and all nodes planar
  };
  Kind kind = Kind::kGeneral;
  int working = 0;                         // the first rows; those behind them do no work on the joints
  std::array<Vec3<double>, 3> directions;  // of working rows
  double height = 0.0;                     // planar: of b's origin above a's node
  /// kPlanarLoop: the way from the lowest node that contains the loop to one of its ends.
  struct Branch {
    std::vector<int> nodes;   // outward
    double x = 0.0, y = 0.0;  // place of the first in the plane
    PlanePose<double> pose(const TreeWork<double>& work) const;
  };
  Branch to_a, to_b;
  struct Idle {
    double value;
    Wrench<double> on_a, on_b;  // at some state
  };
  std::vector<Idle> idle;  // rows behind the working ones

  static ClosureRows of(const Tree& tree, const FrameClosure& closure);
  /// Tells the columns of the rows what is known of them.
  void describe(const FrameClosure& closure, ForceColumns& columns) const;
};

}  // namespace linkwork
