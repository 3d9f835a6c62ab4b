#include "linkwork/model/dual_kinds.h"

namespace linkwork {

using V3 = Vec3<double>;

namespace {

constexpr auto kCylindricalClosure = [](const auto& m, double, auto r) {
  r[0] = translation_row(m, V3::UnitX());
  r[1] = translation_row(m, V3::UnitY());
  swing_rows(m, r[2], r[3]);
};
constexpr auto kCylindricalCoordinates = [](const auto& m, auto r) {
  r[0] = twist_row(m);
  r[1] = translation_row(m, V3::UnitZ());
};

}  // namespace

JointKind cylindrical_joint() {
  return {"cylindrical",
          "turns about its axis and slides along it",
          true,
          {"angle", "z"},
          {"angle", "z"},
          {{NodeKind::kPrismatic, V3::UnitZ(), 1}, {NodeKind::kRevolute, V3::UnitZ(), 0}},
          {"x", "y", "rx", "ry"},
          kCylindricalClosure,
          kCylindricalCoordinates};
}

DualJoint cylindrical_dual() { return {"cylindrical", kCylindricalClosure, kCylindricalCoordinates}; }

}  // namespace linkwork
