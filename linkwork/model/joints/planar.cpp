#include "linkwork/model/dual_kinds.h"

namespace linkwork {

using V3 = Vec3<double>;

namespace {

constexpr auto kPlanarClosure = [](const auto& m, double, auto r) {
  r[0] = translation_row(m, V3::UnitZ());
  swing_rows(m, r[1], r[2]);
};
constexpr auto kPlanarCoordinates = [](const auto& m, auto r) {
  r[0] = translation_row(m, V3::UnitX());
  r[1] = translation_row(m, V3::UnitY());
  r[2] = twist_row(m);
};

}  // namespace

JointKind planar_joint() {
  return {"planar",
          "moves in the plane across its axis and turns about it",
          true,
          {"x", "y", "angle"},
          {"x", "y", "angle"},
          {{NodeKind::kPrismatic, V3::UnitX(), 0}, {NodeKind::kPrismatic, V3::UnitY(), 1}, {NodeKind::kRevolute, V3::UnitZ(), 2}},
          {"z", "rx", "ry"},
          kPlanarClosure,
          kPlanarCoordinates};
}

DualJoint planar_dual() { return {"planar", kPlanarClosure, kPlanarCoordinates}; }

}  // namespace linkwork
