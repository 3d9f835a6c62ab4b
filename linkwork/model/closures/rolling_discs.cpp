#include "linkwork/model/dual_kinds.h"

namespace linkwork {

namespace {

/// Two discs in one plane, across z. With n from a's centre to b's, they touch at r = -radius n from b's centre, or at
/// r = radius n if b rolls inside a, and roll along z x n.
template <class M, class S = ScalarOf<M>>
void disc_on_disc(const M& m, const ClosureGeometry& geometry, std::span<RowOf<S>> rows) {
  using V3 = Vec3<S>;
  const S distance = at_least<S>(m.p.norm(), 1e-12);
  const V3 n = m.p / distance, ndot = (m.pdot - n * n.dot(m.pdot)) / distance;
  const double reach = geometry.inside ? geometry.radius : -geometry.radius;
  const V3 z = V3::UnitZ();
  rows[0] = distance_row(m);
  rows[0].value -= geometry.gap;
  rows[1] = slip_row(m, reach * n, reach * ndot, z.cross(n), z.cross(ndot));
}

void check_rolling_discs(const ClosureSpec& spec, const KeyPlaces& at) {
  if (!spec.contact) return;
  if (spec.radius_a == 0.0) throw InputError(at(""), "the closure has no 'radius_a'", "it, or contact = false");
  if (spec.inside && spec.radius_a <= spec.radius)
    throw InputError(at("radius_a"), "'radius_a' is not larger than 'radius', though b rolls inside a", "a larger radius");
}

}  // namespace

constexpr static auto kRollingDiscsRows = [](const auto& m, const ClosureGeometry& geometry, auto rows) { disc_on_disc(m, geometry, rows); };

FrameClosureKind rolling_discs_closure() {
  return {.name = "rolling-discs",
          .summary = "a disc b rolls without slip on the disc a, on its outside or inside, in one plane across the axis",
          .has_axis = true,
          .rows = {"normal", "slip"},
          .evaluate = kRollingDiscsRows,
          .holonomic_rows = 1,
          .keys = {{"radius", KeyKind::kPositive, kRequired, "radius of the wheel, ball or disc b, m", &ClosureSpec::radius},
                   {"radius_a", KeyKind::kPositive, kOptional, "radius of the disc a, m; required unless `contact = false`",
                    &ClosureSpec::radius_a},
                   {"inside", KeyKind::kBoolean, kOptional, "whether b rolls inside a; default `false`", &ClosureSpec::inside}},
          .check = check_rolling_discs};
}

DualClosure rolling_discs_dual() { return {"rolling-discs", kRollingDiscsRows}; }

}  // namespace linkwork
