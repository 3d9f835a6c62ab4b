#include "linkwork/model/dual_kinds.h"

namespace linkwork {

using V3 = Vec3<double>;

namespace {

constexpr auto kRevoluteClosure = [](const auto& m, double, auto r) {
  for (int i = 0; i < 3; ++i) r[static_cast<std::size_t>(i)] = translation_row(m, V3::Unit(i));
  swing_rows(m, r[3], r[4]);
};
constexpr auto kRevoluteCoordinates = [](const auto& m, auto r) { r[0] = twist_row(m); };

}  // namespace

JointKind revolute_joint() {
  return {"revolute",
          "turns about its axis",
          true,
          {""},
          {""},
          {{NodeKind::kRevolute, V3::UnitZ(), 0}},
          {"x", "y", "z", "rx", "ry"},
          kRevoluteClosure,
          kRevoluteCoordinates};
}

DualJoint revolute_dual() { return {"revolute", kRevoluteClosure, kRevoluteCoordinates}; }

}  // namespace linkwork
