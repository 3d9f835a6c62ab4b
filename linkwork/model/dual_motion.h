#pragma once

#include <type_traits>

#include "linkwork/model/relative_motion.h"
#include "linkwork/spatial/dual.h"

namespace linkwork {

/// A relative motion as a function of its turn, displacement and velocities; accelerations enter linearly and are kept apart.
struct DualMotion {
  Mat3<Dual> R;
  Vec3<Dual> p, w, pdot;
};

/// A row as such a function.
struct DualRow {
  Dual value;
  Vec3<Dual> on_w, on_p;
  Dual gamma;

  Dual rate(const DualMotion& m) const { return on_w.dot(m.w) + on_p.dot(m.pdot); }
};

/// The numbers that a motion, RelativeMotion or DualMotion, is made of, and the rows that go with them.
template <class M>
using ScalarOf = typename decltype(M::p)::Scalar;
template <class S>
using RowOf = std::conditional_t<std::is_same_v<S, double>, Row, DualRow>;

/// The angular velocity about an axis of b. Only a rate.
template <class M>
RowOf<ScalarOf<M>> turning_row(const M& m, int axis) {
  using S = ScalarOf<M>;
  return {S(0.0), m.R.col(axis), Vec3<S>::Zero(), S(0.0)};
}

// As for RelativeMotion.
DualRow translation_row(const DualMotion& m, const Vec3<double>& e);
void swing_rows(const DualMotion& m, DualRow& x, DualRow& y);
void rotation_rows(const DualMotion& m, DualRow& x, DualRow& y, DualRow& z);
DualRow perpendicular_row(const DualMotion& m);
DualRow twist_row(const DualMotion& m);
DualRow screw_row(const DualMotion& m, double pitch);
DualRow distance_row(const DualMotion& m);
DualRow slip_row(const DualMotion& m, const Vec3<Dual>& r, const Vec3<Dual>& rdot, const Vec3<Dual>& e, const Vec3<Dual>& edot);

}  // namespace linkwork
