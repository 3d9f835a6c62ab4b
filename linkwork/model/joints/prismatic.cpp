#include "linkwork/model/dual_kinds.h"

namespace linkwork {

using V3 = Vec3<double>;

namespace {

constexpr auto kPrismaticClosure = [](const auto& m, double, auto r) {
  r[0] = translation_row(m, V3::UnitX());
  r[1] = translation_row(m, V3::UnitY());
  rotation_rows(m, r[2], r[3], r[4]);
};
constexpr auto kPrismaticCoordinates = [](const auto& m, auto r) { r[0] = translation_row(m, V3::UnitZ()); };

}  // namespace

JointKind prismatic_joint() {
  return {"prismatic",
          "slides along its axis",
          true,
          {""},
          {""},
          {{NodeKind::kPrismatic, V3::UnitZ(), 0}},
          {"x", "y", "rx", "ry", "rz"},
          kPrismaticClosure,
          kPrismaticCoordinates};
}

DualJoint prismatic_dual() { return {"prismatic", kPrismaticClosure, kPrismaticCoordinates}; }

}  // namespace linkwork
