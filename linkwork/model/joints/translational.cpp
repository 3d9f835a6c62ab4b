#include "linkwork/model/dual_kinds.h"

namespace linkwork {

using V3 = Vec3<double>;

namespace {

constexpr auto kTranslationalClosure = [](const auto& m, double, auto r) { rotation_rows(m, r[0], r[1], r[2]); };
constexpr auto kTranslationalCoordinates = [](const auto& m, auto r) {
  for (int i = 0; i < 3; ++i) r[static_cast<std::size_t>(i)] = translation_row(m, V3::Unit(i));
};

}  // namespace

JointKind translational_joint() {
  return {
      "translational",
      "moves freely without turning",
      false,
      {"x", "y", "z"},
      {"x", "y", "z"},
      {{NodeKind::kPrismatic, V3::UnitX(), 0}, {NodeKind::kPrismatic, V3::UnitY(), 1}, {NodeKind::kPrismatic, V3::UnitZ(), 2}},
      {"rx", "ry", "rz"},
      kTranslationalClosure,
      kTranslationalCoordinates};
}

DualJoint translational_dual() { return {"translational", kTranslationalClosure, kTranslationalCoordinates}; }

}  // namespace linkwork
