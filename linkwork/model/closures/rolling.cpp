#include "linkwork/model/dual_kinds.h"

namespace linkwork {

namespace {

/// A disc of radius rho about the axis e, its centre at p, on the plane z = 0. With c = e_z and s = |e x z|, the rim is lowest at
///   r = -rho (z - c e) / s
/// from the centre, at the height p_z - rho s; the disc rolls along h = e x z / s and could slide across, along z x h.
template <class M, class S = ScalarOf<M>>
void disc_on_plane(const M& m, const ClosureGeometry& geometry, std::span<RowOf<S>> rows) {
  using V3 = Vec3<S>;
  constexpr double kFlat = 1e-9;  // a disc lying on its side touches everywhere
  const V3 z = V3::UnitZ(), e = m.R.col(2), edot = m.w.cross(e);
  const S c = e.z(), cdot = edot.z();
  const S s = at_least<S>(e.cross(z).norm(), kFlat), sdot = -c * cdot / s;
  const V3 up = (z - c * e) / s, updot = (-cdot * e - c * edot - sdot * up) / s;
  const V3 r = -geometry.radius * up, rdot = -geometry.radius * updot;
  const V3 h = e.cross(z) / s, hdot = (edot.cross(z) - sdot * h) / s;
  rows[0] = slip_row(m, r, rdot, z, V3::Zero());
  rows[0].value = m.p.z() - geometry.radius * s;
  rows[1] = slip_row(m, r, rdot, h, hdot);
  rows[2] = slip_row(m, r, rdot, z.cross(h), z.cross(hdot));
}

}  // namespace

constexpr static auto kRollingRows = [](const auto& m, const ClosureGeometry& geometry, auto rows) { disc_on_plane(m, geometry, rows); };

FrameClosureKind rolling_closure() {
  return {.name = "rolling",
          .summary = "a disc or wheel b about the axis rolls without slip on the plane a, in any position but flat",
          .has_axis = true,
          .rows = {"normal", "forward", "side"},
          .evaluate = kRollingRows,
          .holonomic_rows = 1,
          .on_plane = true,
          .keys = {{"radius", KeyKind::kPositive, kRequired, "radius of the wheel, ball or disc b, m", &ClosureSpec::radius}}};
}

DualClosure rolling_dual() { return {"rolling", kRollingRows}; }

}  // namespace linkwork
