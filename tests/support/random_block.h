#pragma once

#include <fmt/format.h>

#include <Eigen/Geometry>
#include <cmath>
#include <random>
#include <string>

#include "tests/support/mechanisms.h"
#include "tests/support/recorded_run.h"

namespace linkwork::test {

constexpr double kG = 9.81;

using V3 = Eigen::Vector3d;

inline std::string text(const V3& v) { return fmt::format("[{:.17g}, {:.17g}, {:.17g}]", v.x(), v.y(), v.z()); }

struct RandomNumbers {
  std::mt19937 engine;
  explicit RandomNumbers(unsigned seed) : engine(seed) {}
  double operator()(double low, double high) { return low + (high - low) * 0.5 * (1.0 + uniform(engine)); }
  V3 direction() {
    V3 v;
    do v = V3((*this)(-1, 1), (*this)(-1, 1), (*this)(-1, 1));
    while (v.norm() < 0.2);
    return v.normalized();
  }
  Eigen::Matrix3d rotation() { return Eigen::AngleAxisd((*this)(0, 3), direction()).toRotationMatrix(); }
};

/// The same mechanism in a world that is turned about its origin: gravity, and every frame on the ground.
inline Spec turned(Spec spec, const Eigen::Matrix3d& turn) {
  const auto move = [&](FrameSpec& frame) {
    if (frame.body != "ground") return;
    frame.at = turn * frame.at;
    frame.rotation = Eigen::Quaterniond(turn) * frame.rotation;
  };
  spec.settings.gravity = turn * spec.settings.gravity;
  for (JointSpec& joint : spec.joints) move(joint.parent), move(joint.child);
  for (ClosureSpec& closure : spec.closures) move(closure.a), move(closure.b);
  return spec;
}

/// A block on feet, on a plane with any normal; gravity leans by `slope` towards `down` in it. Lengths by `scale`, masses by its
/// cube and times by its root: the same motion.
struct Block {
  V3 normal, down;
  double slope = 0.0, mass = 1.0, height = 0.1, reach = 0.3, mu = 0.5, restitution = 0.0, scale = 1.0;
  int feet = 4;
  std::string rest;

  double time(double t) const { return t * std::sqrt(scale); }
  Spec spec(double end, double step = 1e-2) const {
    const double m = mass * std::pow(scale, 3), inertia = 0.02 * mass * std::pow(scale, 5);
    std::string model = fmt::format(
        "[settings]\ngravity = {}\nend = {:.17g}\nstep = {:.17g}\noutput_every = {:.17g}\n[[body]]\nname = \"block\"\n"
        "mass = {:.17g}\ncom = {}\ninertia = [{:.17g}, {:.17g}, {:.17g}]\n[[joint]]\nname = \"f\"\ntype = \"free\"\n"
        "parent = {{ body = \"ground\" }}\nchild = {{ body = \"block\" }}\n",
        text(kG * (std::sin(slope) * down - std::cos(slope) * normal)), time(end), time(step), time(0.05), m,
        text(scale * height * normal), inertia, inertia, inertia);
    const V3 side = normal.cross(down);
    for (int i = 0; i < feet; ++i) {
      const double angle = 2.0 * M_PI * (i + 0.5) / feet;
      model += fmt::format(
          "[[closure]]\nname = \"foot{}\"\ntype = \"point-contact\"\na = {{ body = \"ground\" }}\nb = {{ body = \"block\", at = "
          "{} }}\nnormal = {}\none_sided = \"above\"\nrestitution = {}\ndry_friction = {{ kinetic = {:.17g} }}\n",
          i, text(scale * reach * (std::cos(angle) * down + std::sin(angle) * side)), text(normal), restitution, mu);
    }
    return spec_of(model + rest);
  }
  static Block random(RandomNumbers& r, int feet) {
    Block b;
    b.normal = r.direction();
    b.down = b.normal.cross(r.direction()).normalized();
    b.slope = r(0.2, 0.7);
    b.mass = r(0.2, 20.0);
    b.height = r(0.01, 0.05);
    b.feet = feet;
    return b;
  }
};

/// The last x, y, z of a joint.
inline V3 place(const RecordedRun& run, const std::string& prefix) {
  return {run.last(prefix + "x"), run.last(prefix + "y"), run.last(prefix + "z")};
}

}  // namespace linkwork::test
