#pragma once

#include <complex>
#include <optional>
#include <vector>

#include "linkwork/model/model.h"

namespace linkwork {

/// A loop whose joints all turn about, or slide across, one direction, and whose closure holds two points together: a four-bar, a
/// slider-crank, or such a loop with further joints. When all but two coordinates are known, these two follow by formula. Seen in
/// the plane, with x and y the two joints, turns alpha and beta still to be made, and everything else as it stands,
///   alpha L_x + beta L_y = D    (complex numbers, |alpha| = |beta| = 1)
/// is a triangle of which all sides are known; a joint that slides takes the place of a side whose direction is known.
class PlanarLoop {
 public:
  /// Nothing if the loop is of another kind.
  static std::optional<PlanarLoop> of(const Tree& tree, const FrameClosure& closure);

  bool passes(int node) const;
  /// Sets the coordinates of joints x and y so that the loop closes, on the side of the collinear position where q is. False if
  /// the links are too short for that, or stand in line.
  bool close(int x, int y, double* q) const;

 private:
  using Complex = std::complex<double>;
  struct Link {
    int node;
    int parent;  // position among the links; -1: the root
    int q;       // coordinate
    int end;     // of the loop: 0 or 1
    bool slides;
    double sign;        // of a turn about the plane's normal
    Complex offset;     // of the joint in its parent's link, everything at zero
    Complex direction;  // of a slide
  };
  struct Placed {
    Complex origin, heading;
  };

  void place(const double* q) const;
  std::vector<Pose<double>> poses_at_zero(const Tree& tree) const;
  int position(int node) const;
  bool is_above(int upper, int lower) const;

  std::vector<Link> links_;  // parents first
  int tip_[2] = {-1, -1};    // the links that the closure holds together
  Complex point_[2];         // its points there
  mutable std::vector<Placed> placed_;
};

}  // namespace linkwork
