#pragma once

#include "linkwork/spatial/vector.h"

namespace linkwork {

/// How frame b moves as seen from frame a, expressed in a: all that a closure, a cut joint or a spring needs to know.
/// The accelerations are those at vdot = 0.
struct RelativeMotion {
  Mat3<double> R = Mat3<double>::Identity();
  Vec3<double> p = Vec3<double>::Zero();
  Vec3<double> w = Vec3<double>::Zero();
  Vec3<double> pdot = Vec3<double>::Zero();
  Vec3<double> wdot = Vec3<double>::Zero();
  Vec3<double> pddot = Vec3<double>::Zero();
};

/// A scalar function of the relative pose with its exact derivatives:
///   d/dt value = on_w . w + on_p . pdot,   d2/dt2 value = on_w . wdot + on_p . pddot + gamma.
/// (on_w, on_p) is also the wrench on b, at b's origin in a's axes, that does unit work per unit of value.
struct Row {
  double value = 0.0;
  Vec3<double> on_w = Vec3<double>::Zero();
  Vec3<double> on_p = Vec3<double>::Zero();
  double gamma = 0.0;

  double rate(const RelativeMotion& m) const { return on_w.dot(m.w) + on_p.dot(m.pdot); }
  double second_rate(const RelativeMotion& m) const { return on_w.dot(m.wdot) + on_p.dot(m.pddot) + gamma; }
};

/// The rows closures and joints are made of. The joint axis is z in both frames.

/// b's origin along a unit vector of a.
Row translation_row(const RelativeMotion& m, const Vec3<double>& e);
/// The two components of the smallest rotation that carries a's z to b's z (length = angle between them).
void swing_rows(const RelativeMotion& m, Row& x, Row& y);
/// The three components of the rotation vector of b in a.
void rotation_rows(const RelativeMotion& m, Row& x, Row& y, Row& z);
/// How far the angle between a's x and b's y is from 90 degrees.
Row perpendicular_row(const RelativeMotion& m);
/// The angle of b about z after the swing is taken away, in (-pi, pi].
Row twist_row(const RelativeMotion& m);
/// z - pitch * twist for a screw of `pitch` metres per radian, wrapped to half a turn either way.
Row screw_row(const RelativeMotion& m, double pitch);
/// Distance between the origins.
Row distance_row(const RelativeMotion& m);

/// Velocity along e of that point of b which is at r from b's origin at this instant. Only a rate: it has no value. The point, on
/// b, and the direction change at rdot and edot.
Row slip_row(const RelativeMotion& m, const Vec3<double>& r, const Vec3<double>& rdot, const Vec3<double>& e,
             const Vec3<double>& edot);

/// fa * a + fb * b
Row combine(const Row& a, double fa, const Row& b, double fb);

}  // namespace linkwork
