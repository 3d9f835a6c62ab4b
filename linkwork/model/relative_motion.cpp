#include "linkwork/model/row_formulas.h"

namespace linkwork {

Row translation_row(const RelativeMotion& m, const Vec3<double>& e) { return formulas::translation_row(m, e); }
Row perpendicular_row(const RelativeMotion& m) { return formulas::perpendicular_row(m); }
Row twist_row(const RelativeMotion& m) { return formulas::twist_row(m); }
Row screw_row(const RelativeMotion& m, double pitch) { return formulas::screw_row(m, pitch); }
Row distance_row(const RelativeMotion& m) { return formulas::distance_row(m); }
void swing_rows(const RelativeMotion& m, Row& x, Row& y) { formulas::swing_rows(m, x, y); }
void rotation_rows(const RelativeMotion& m, Row& x, Row& y, Row& z) { formulas::rotation_rows(m, x, y, z); }
Row slip_row(const RelativeMotion& m, const Vec3<double>& r, const Vec3<double>& rdot, const Vec3<double>& e,
             const Vec3<double>& edot) {
  return formulas::slip_row(m, r, rdot, e, edot);
}

DualRow translation_row(const DualMotion& m, const Vec3<double>& e) { return formulas::translation_row(m, e); }
DualRow perpendicular_row(const DualMotion& m) { return formulas::perpendicular_row(m); }
DualRow twist_row(const DualMotion& m) { return formulas::twist_row(m); }
DualRow screw_row(const DualMotion& m, double pitch) { return formulas::screw_row(m, pitch); }
DualRow distance_row(const DualMotion& m) { return formulas::distance_row(m); }
void swing_rows(const DualMotion& m, DualRow& x, DualRow& y) { formulas::swing_rows(m, x, y); }
void rotation_rows(const DualMotion& m, DualRow& x, DualRow& y, DualRow& z) { formulas::rotation_rows(m, x, y, z); }
DualRow slip_row(const DualMotion& m, const Vec3<Dual>& r, const Vec3<Dual>& rdot, const Vec3<Dual>& e, const Vec3<Dual>& edot) {
  return formulas::slip_row(m, r, rdot, e, edot);
}

Row combine(const Row& a, double fa, const Row& b, double fb) { return formulas::combine<double>(a, fa, b, fb); }

}  // namespace linkwork
