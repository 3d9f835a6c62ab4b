#include "linkwork/model/dual_kinds.h"

namespace linkwork {

using V3 = Vec3<double>;

namespace {

constexpr auto kSphericalClosure = [](const auto& m, double, auto r) {
  for (int i = 0; i < 3; ++i) r[static_cast<std::size_t>(i)] = translation_row(m, V3::Unit(i));
};
constexpr auto kSphericalCoordinates = [](const auto& m, auto r) {
  for (int i = 0; i < 3; ++i) r[static_cast<std::size_t>(i)] = turning_row(m, i);
};

}  // namespace

JointKind spherical_joint() {
  return {"spherical",
          "turns freely about a point",
          false,
          {"w", "x", "y", "z"},
          {"wx", "wy", "wz"},
          {{NodeKind::kSpherical, V3::UnitZ(), 0}},
          {"x", "y", "z"},
          kSphericalClosure,
          kSphericalCoordinates};
}

DualJoint spherical_dual() { return {"spherical", kSphericalClosure, kSphericalCoordinates}; }

}  // namespace linkwork
