#include "linkwork/model/dual_kinds.h"

namespace linkwork {

using V3 = Vec3<double>;

namespace {

constexpr auto kWeldClosure = [](const auto& m, double, auto r) {
  for (int i = 0; i < 3; ++i) r[static_cast<std::size_t>(i)] = translation_row(m, V3::Unit(i));
  rotation_rows(m, r[3], r[4], r[5]);
};
constexpr auto kWeldCoordinates = [](const auto&, auto) {};

}  // namespace

JointKind weld_joint() {
  return {"weld",
          "no motion: the child is fixed to the parent",
          false,
          {},
          {},
          {},
          {"x", "y", "z", "rx", "ry", "rz"},
          kWeldClosure,
          kWeldCoordinates};
}

DualJoint weld_dual() { return {"weld", kWeldClosure, kWeldCoordinates}; }

}  // namespace linkwork
