#include "linkwork/model/dual_kinds.h"

namespace linkwork {

using V3 = Vec3<double>;

namespace {

constexpr auto kScrewClosure = [](const auto& m, double pitch, auto r) {
  r[0] = translation_row(m, V3::UnitX());
  r[1] = translation_row(m, V3::UnitY());
  r[2] = screw_row(m, pitch);
  swing_rows(m, r[3], r[4]);
};
constexpr auto kScrewCoordinates = [](const auto& m, auto r) { r[0] = twist_row(m); };

}  // namespace

JointKind screw_joint() {
  return {"screw",
          "turns about its axis and advances by its pitch each turn",
          true,
          {""},
          {""},
          {{NodeKind::kHelical, V3::UnitZ(), 0}},
          {"x", "y", "screw", "rx", "ry"},
          kScrewClosure,
          kScrewCoordinates};
}

DualJoint screw_dual() { return {"screw", kScrewClosure, kScrewCoordinates}; }

}  // namespace linkwork
