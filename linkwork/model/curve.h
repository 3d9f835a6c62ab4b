#pragma once

#include <string>
#include <vector>

#include "linkwork/model/jet.h"

namespace linkwork {

/// A function that is given by points: measured, or recorded in time.
class Curve {
 public:
  enum class Interpolation { kLinear, kCubic, kHold };
  enum class Beyond { kHold, kError };  // outside the points: the value at the end, or NaN
  struct Value {
    double f, df, ddf;
  };

  /// Of cubic splines the first and the last two pieces are one polynomial each (not-a-knot), so that polynomials up to degree 3
  /// are met exactly. x must increase; throws std::logic_error if there are no points.
  Curve(std::string name, std::vector<double> x, std::vector<double> y, Interpolation interpolation, Beyond beyond);

  const std::string& name() const { return name_; }
  double first() const { return x_.front(); }
  double last() const { return x_.back(); }
  bool covers(double x) const { return x >= first() && x <= last(); }
  Value at(double x) const;

  /// Between its branches it has jumps or kinks: between points if they are few (kMostBranches), and at its ends. A curve that is
  /// held has jumps; `held` is its value on a branch.
  static constexpr std::size_t kMostBranches = 256;
  bool jumps() const { return interpolation_ == Interpolation::kHold && x_.size() <= kMostBranches; }
  double branch(double x) const;
  double held(double branch) const;
  /// How far x is inside a branch: positive there.
  Jet inside(const Jet& x, double branch) const;

 private:
  std::size_t piece(double x) const;  // of x inside
  void find_slopes();
  bool has_branches_inside() const { return interpolation_ != Interpolation::kCubic && x_.size() <= kMostBranches; }

  std::string name_;
  std::vector<double> x_, y_, slope_;  // slopes at the points, of cubic splines
  Interpolation interpolation_;
  Beyond beyond_;
};

}  // namespace linkwork
