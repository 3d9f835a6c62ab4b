#include "linkwork/modules/connection.h"

namespace linkwork {

namespace {

using V3 = Vec3<double>;
using V6 = Eigen::Matrix<double, 6, 1>;

V3 three(const double* x) { return x ? V3(x[0], x[1], x[2]) : V3(V3::Zero()); }

/// How b moves as seen from a frame with a's origin and the axes R_WA, as System::relative_motion() has it.
RelativeMotion relative(const Mat3<double>& R_WA, const PortMotion& a, const PortMotion& b, const Mat3<double>& R_WB,
                        const double* xdd_a, const double* xdd_b) {
  const V3 d = b.p - a.p;
  const V3 w = b.w - a.w;
  const V3 ddot = b.v - a.v - a.w.cross(d);
  const V3 a_wdot = three(xdd_a), b_wdot = three(xdd_b);
  const V3 a_a = three(xdd_a ? xdd_a + 3 : nullptr), b_a = three(xdd_b ? xdd_b + 3 : nullptr);
  const V3 wdot = b_wdot - a_wdot - a.w.cross(w);
  const V3 dddot = b_a - a_a - a_wdot.cross(d) - 2.0 * a.w.cross(ddot) - a.w.cross(a.w.cross(d));
  const auto Rt = R_WA.transpose();
  return {Rt * R_WB, Rt * d, Rt * w, Rt * ddot, Rt * wdot, Rt * dddot};
}

/// A frame of a port's body, and how it moves.
struct SeenFrame {
  SeenFrame(const PortMotion& port, const std::optional<Pose<double>>& in_port, const double* port_xdd)
      : motion(&port), xdd(port_xdd) {
    if (!in_port) return;
    own = motion_at(port, in_port);
    motion = &own;
    r = port.R * in_port->p;
    const V3 wdot = three(port_xdd), a = three(port_xdd ? port_xdd + 3 : nullptr);
    const V3 there = a + wdot.cross(r) + port.w.cross(port.w.cross(r));
    own_xdd = {wdot.x(), wdot.y(), wdot.z(), there.x(), there.y(), there.z()};
    xdd = own_xdd.data();
  }
  SeenFrame(const SeenFrame&) = delete;
  SeenFrame& operator=(const SeenFrame&) = delete;

  /// A wrench on it, at the port's origin.
  void take_to_port(V6& wrench) const {
    const V3 f = wrench.tail<3>();
    wrench.head<3>() += r.cross(f);
  }

  const PortMotion* motion;  // the port's or `own`
  const double* xdd;
  PortMotion own;
  V3 r = V3::Zero();  // from the port's origin
  std::array<double, 6> own_xdd{};
};

/// The wrenches on the two ports that belong to one of b's, at b's origin, in the axes R_WA.
void split(const Mat3<double>& R_WA, const V3& d, const V3& on_w, const V3& on_p, V6& on_a, V6& on_b) {
  const V3 n = R_WA * on_w, f = R_WA * on_p;
  on_b << n, f;
  on_a << -(n + d.cross(f)), -f;
}

}  // namespace

PortMotion motion_at(const PortMotion& port, const std::optional<Pose<double>>& in_port) {
  if (!in_port) return port;
  const V3 r = port.R * in_port->p;
  return {port.R * in_port->R, port.p + r, port.w, port.v + port.w.cross(r)};
}

PortMotion resting(const Pose<double>& frame) { return {frame.R, frame.p, V3::Zero(), V3::Zero()}; }

void evaluate(const Connection& connection, const PortMotion& port_a, const PortMotion& port_b, const double* xdd_a,
              const double* xdd_b, ConnectionRows& rows) {
  const SeenFrame a_frame(port_a, connection.in_a, xdd_a), b_frame(port_b, connection.in_b, xdd_b);
  const PortMotion &a = *a_frame.motion, &b = *b_frame.motion;
  rows.R_WA = a.R * connection.axes;
  const Mat3<double> R_WB = b.R * connection.axes;
  const RelativeMotion m = relative(rows.R_WA, a, b, R_WB, a_frame.xdd, b_frame.xdd);
  if (connection.kind)
    connection.kind->evaluate(m, connection.geometry, rows.rows);
  else
    connection.joint_kind->closure(m, connection.geometry.pitch, rows.rows);
  const V3 d = b.p - a.p;
  for (std::size_t r = 0; r < static_cast<std::size_t>(connection.row_count()); ++r) {
    const Row& row = rows.rows[r];
    rows.phi[r] = row.value;
    rows.rate[r] = row.rate(m);
    rows.second_rate[r] = row.second_rate(m);
    split(rows.R_WA, d, row.on_w, row.on_p, rows.on_a[r], rows.on_b[r]);
    if (connection.in_a) a_frame.take_to_port(rows.on_a[r]);
    if (connection.in_b) b_frame.take_to_port(rows.on_b[r]);
  }
}

void set_reaction(const ConnectionRows& rows, int count, ConnectionResult& result) {
  V3 force = V3::Zero(), torque = V3::Zero();
  for (std::size_t r = 0; r < static_cast<std::size_t>(count); ++r) {
    force += result.lambda[r] * rows.rows[r].on_p;
    torque += result.lambda[r] * rows.rows[r].on_w;
  }
  result.force = rows.R_WA * force;
  result.torque = rows.R_WA * torque;
}

SpringForces spring_forces(const SpringLink& spring, const PortMotion& port_a, const PortMotion& port_b) {
  const SeenFrame a_frame(port_a, spring.in_a, nullptr), b_frame(port_b, spring.in_b, nullptr);
  const PortMotion &a = *a_frame.motion, &b = *b_frame.motion;
  const RelativeMotion m = relative(a.R, a, b, b.R, nullptr, nullptr);
  const Row row = distance_row(m);
  const double stretch = row.value - spring.length;
  const double force = -spring.stiffness * stretch - spring.damping * row.rate(m);
  SpringForces result;
  split(a.R, b.p - a.p, force * row.on_w, force * row.on_p, result.on_a, result.on_b);
  if (spring.in_a) a_frame.take_to_port(result.on_a);
  if (spring.in_b) b_frame.take_to_port(result.on_b);
  result.potential = 0.5 * spring.stiffness * stretch * stretch;
  return result;
}

}  // namespace linkwork
