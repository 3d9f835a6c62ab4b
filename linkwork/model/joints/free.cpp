#include "linkwork/model/dual_kinds.h"

namespace linkwork {

using V3 = Vec3<double>;

namespace {

constexpr auto kFreeClosure = [](const auto&, double, auto) {};
constexpr auto kFreeCoordinates = [](const auto& m, auto r) {
  for (int i = 0; i < 3; ++i) {
    r[static_cast<std::size_t>(i)] = translation_row(m, V3::Unit(i));
    r[static_cast<std::size_t>(i + 3)] = turning_row(m, i);
  }
};

}  // namespace

JointKind free_joint() {
  return {"free",
          "no constraint: the child floats",
          false,
          {"x", "y", "z", "qw", "qx", "qy", "qz"},
          {"x", "y", "z", "wx", "wy", "wz"},
          {{NodeKind::kFree, V3::UnitZ(), 0}},
          {},
          kFreeClosure,
          kFreeCoordinates};
}

DualJoint free_dual() { return {"free", kFreeClosure, kFreeCoordinates}; }

}  // namespace linkwork
