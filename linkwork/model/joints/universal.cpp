#include <cmath>

#include "linkwork/model/dual_kinds.h"

namespace linkwork {

using V3 = Vec3<double>;

namespace {

constexpr auto kUniversalClosure = [](const auto& m, double, auto r) {
  for (int i = 0; i < 3; ++i) r[static_cast<std::size_t>(i)] = translation_row(m, V3::Unit(i));
  r[3] = perpendicular_row(m);
};
constexpr auto kUniversalCoordinates = [](const auto& m, auto r) {
  using S = ScalarOf<std::decay_t<decltype(m)>>;
  using std::atan2;
  // R = Rx(q0) Ry(q1), w = v0 x_a + v1 y_b: exact where the axes are perpendicular.
  r[0] = {atan2(m.R(2, 1), m.R(1, 1)), Vec3<S>::UnitX(), Vec3<S>::Zero(), S(0.0)};
  r[1] = {atan2(m.R(0, 2), m.R(0, 0)), m.R.col(1), Vec3<S>::Zero(), S(0.0)};
};

}  // namespace

JointKind universal_joint() {
  return {"universal",
          "turns about a first axis of the parent, then about a second one, perpendicular to it, of the child",
          true,
          {"0", "1"},
          {"0", "1"},
          {{NodeKind::kRevolute, V3::UnitX(), 0}, {NodeKind::kRevolute, V3::UnitY(), 1}},
          {"x", "y", "z", "r"},
          kUniversalClosure,
          kUniversalCoordinates};
}

DualJoint universal_dual() { return {"universal", kUniversalClosure, kUniversalCoordinates}; }

}  // namespace linkwork
