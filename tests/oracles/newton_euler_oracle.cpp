#include "tests/oracles/newton_euler_oracle.h"

#include <Eigen/QR>
#include <cmath>
#include <numbers>
#include <stdexcept>

namespace linkwork::test {

namespace {

using V3 = Vec3<double>;
using M3 = Mat3<double>;

struct Moving {  // a body in the world
  M3 R = M3::Identity();
  V3 p = V3::Zero(), c = V3::Zero(), w = V3::Zero(), v = V3::Zero();  // origin, center of mass, and its velocity
  int column = -1;                                                    // of its unknowns; -1: ground
};

class Equations {
 public:
  Equations(const Spec& spec, const System& system) : spec_(spec) {
    const Model& model = system.model();
    bodies_.resize(model.bodies.size());
    for (std::size_t i = 1; i < model.bodies.size(); ++i) {
      const Body& body = model.bodies[i];
      const Pose<double> X = system.pose({body.node, body.X_NB});
      const NodeWork<double>& node = system.work()[body.node];
      Moving& m = bodies_[i];
      m.R = X.R;
      m.p = X.p;
      m.c = X * spec.bodies[i - 1].com;
      m.w = system.X_WN(body.node).R * node.w;
      m.v = system.X_WN(body.node).R * node.v + m.w.cross(m.c - system.X_WN(body.node).p);
      m.column = 6 * static_cast<int>(i - 1);
    }
    const int n = 6 * static_cast<int>(spec.bodies.size());
    M_ = MatX<double>::Zero(n, n);
    f_ = VecX<double>::Zero(n);
    for (std::size_t i = 1; i < bodies_.size(); ++i) {
      const BodySpec& body = spec.bodies[i - 1];
      const Moving& m = bodies_[i];
      const M3 I = m.R * body.inertia * m.R.transpose();
      M_.block<3, 3>(m.column, m.column) = I;
      M_.block<3, 3>(m.column + 3, m.column + 3) = body.mass * M3::Identity();
      f_.segment<3>(m.column) = -m.w.cross(I * m.w);
      f_.segment<3>(m.column + 3) = body.mass * spec.settings.gravity;
    }
  }

  const Moving& body(const std::string& name) const {
    if (name == "ground") return bodies_[0];
    for (std::size_t i = 0; i < spec_.bodies.size(); ++i)
      if (spec_.bodies[i].name == name) return bodies_[i + 1];
    throw std::logic_error("no body " + name);
  }

  struct Point {
    const Moving* body;
    V3 p, v;         // world
    V3 centripetal;  // acceleration beyond alpha x r + a_com
    M3 R;            // frame axes
  };
  Point point(const FrameSpec& frame) const {
    const Moving& m = body(frame.body);
    const V3 p = m.p + m.R * frame.at;
    const V3 r = p - m.c;
    return {&m, p, m.v + m.w.cross(r), m.w.cross(m.w.cross(r)), m.R * frame.rotation.toRotationMatrix()};
  }

  void add_row(const VecX<double>& row, double rhs) {
    rows_.push_back(row);
    rhs_.push_back(rhs);
  }
  VecX<double> zero() const { return VecX<double>::Zero(M_.rows()); }
  /// row += e . (acceleration of the point), without the centripetal part.
  static void add_point(VecX<double>& row, const Point& x, const V3& e, double sign) {
    if (x.body->column < 0) return;
    row.segment<3>(x.body->column) += sign * (x.p - x.body->c).cross(e);
    row.segment<3>(x.body->column + 3) += sign * e;
  }
  static void add_angular(VecX<double>& row, const Moving& m, const V3& e, double sign) {
    if (m.column >= 0) row.segment<3>(m.column) += sign * e;
  }

  /// e . (p_b - p_a) is constant, e fixed to a's body.
  void translation(const Point& a, const Point& b, const V3& e, double also_turn = 0.0, const V3& axis = V3::Zero()) {
    const V3 w = a.body->w, d = b.p - a.p;
    VecX<double> row = zero();
    add_point(row, b, e, 1.0);
    add_point(row, a, e, -1.0);
    add_angular(row, *a.body, e.cross(d), 1.0);  // (alpha_a x e) . d
    double rhs = -(e.dot(b.centripetal - a.centripetal) + 2.0 * w.cross(e).dot(b.v - a.v) + w.cross(w.cross(e)).dot(d));
    if (also_turn != 0.0) {  // screw: minus pitch times the relative angular acceleration about the axis
      add_angular(row, *b.body, axis, -also_turn);
      add_angular(row, *a.body, axis, also_turn);
      rhs += also_turn * w.cross(axis).dot(b.body->w - w);
    }
    add_row(row, rhs);
  }
  /// e . (w_b - w_a) = 0, e fixed to a's body.
  void rotation(const Point& a, const Point& b, const V3& e) {
    VecX<double> row = zero();
    add_angular(row, *b.body, e, 1.0);
    add_angular(row, *a.body, e, -1.0);
    add_row(row, -a.body->w.cross(e).dot(b.body->w - a.body->w));
  }
  /// x_a . y_b = 0 for axes of the two bodies.
  void perpendicular(const Point& a, const Point& b, const V3& x, const V3& y) {
    const V3 wa = a.body->w, wb = b.body->w;
    VecX<double> row = zero();
    add_angular(row, *a.body, x.cross(y), 1.0);
    add_angular(row, *b.body, y.cross(x), 1.0);
    add_row(row, -(wa.cross(wa.cross(x)).dot(y) + x.dot(wb.cross(wb.cross(y))) + 2.0 * wa.cross(x).dot(wb.cross(y))));
  }
  void distance(const Point& a, const Point& b) {
    const V3 d = b.p - a.p, rate = b.v - a.v;
    VecX<double> row = zero();
    add_point(row, b, d, 1.0);
    add_point(row, a, d, -1.0);
    add_row(row, -(d.dot(b.centripetal - a.centripetal) + rate.squaredNorm()));
  }

  void constrain(const std::string& type, const FrameSpec& fa, const FrameSpec& fb, const V3& axis,
                 const std::optional<V3>& axis2, double pitch) {
    const Point a = point(fa), b = point(fb);
    const V3 z = a.R * axis;
    const V3 x = z.unitOrthogonal(), y = z.cross(x);
    const bool all = type == "revolute" || type == "spherical" || type == "weld" || type == "universal" || type == "point";
    if (all)
      for (int k = 0; k < 3; ++k) translation(a, b, V3::Unit(k));
    if (type == "prismatic" || type == "screw" || type == "cylindrical" || type == "pin" || type == "point-on-line") {
      translation(a, b, x);
      translation(a, b, y);
    }
    if (type == "planar" || type == "point-on-plane") translation(a, b, z);
    if (type == "screw") translation(a, b, z, pitch / (2.0 * std::numbers::pi), z);
    if (type == "distance") distance(a, b);
    if (type == "revolute" || type == "screw" || type == "cylindrical" || type == "planar") {
      rotation(a, b, x);
      rotation(a, b, y);
    }
    if (type == "prismatic" || type == "translational" || type == "weld")
      for (int k = 0; k < 3; ++k) rotation(a, b, V3::Unit(k));
    if (type == "universal") perpendicular(a, b, z, b.R * *axis2);
  }

  void apply(const JointSpec& joint, double force) {
    const Point a = point(joint.parent), b = point(joint.child);
    const V3 z = a.R * joint.axis;
    const bool turns = joint.type == "revolute";
    for (const auto& [x, sign] : {std::pair{&b, 1.0}, std::pair{&a, -1.0}}) {
      if (x->body->column < 0) continue;
      if (turns) {
        f_.segment<3>(x->body->column) += sign * force * z;
      } else {
        f_.segment<3>(x->body->column) += (b.p - x->body->c).cross(sign * force * z);
        f_.segment<3>(x->body->column + 3) += sign * force * z;
      }
    }
  }

  void apply(const BodyWrenchAt& wrench) {
    const Moving& m = body(wrench.body);
    f_.segment<3>(m.column) += wrench.torque + (wrench.point - m.c).cross(wrench.force);
    f_.segment<3>(m.column + 3) += wrench.force;
  }

  std::vector<BodyAcceleration> solve() const {
    const auto n = M_.rows(), m = static_cast<Eigen::Index>(rows_.size());
    MatX<double> K = MatX<double>::Zero(n + m, n + m);
    VecX<double> r(n + m);
    K.topLeftCorner(n, n) = M_;
    r.head(n) = f_;
    for (Eigen::Index i = 0; i < m; ++i) {
      const VecX<double>& row = rows_[static_cast<std::size_t>(i)];
      K.row(n + i).head(n) = row.transpose();
      K.col(n + i).head(n) = -row;
      r[n + i] = rhs_[static_cast<std::size_t>(i)];
    }
    Eigen::CompleteOrthogonalDecomposition<MatX<double>> factor;
    factor.setThreshold(1e-11);
    factor.compute(K);
    VecX<double> x = factor.solve(r);
    x += factor.solve(r - K * x);
    std::vector<BodyAcceleration> result;
    for (Eigen::Index i = 0; i < n; i += 6) result.push_back({x.segment<3>(i), x.segment<3>(i + 3)});
    return result;
  }

 private:
  const Spec& spec_;
  std::vector<Moving> bodies_;
  MatX<double> M_;
  VecX<double> f_;
  std::vector<VecX<double>> rows_;
  std::vector<double> rhs_;
};

}  // namespace

std::vector<BodyAcceleration> newton_euler_oracle(const Spec& spec, const System& system, const OracleForces& forces) {
  Equations equations(spec, system);
  for (const JointSpec& j : spec.joints) equations.constrain(j.type, j.parent, j.child, j.axis, j.axis2, j.pitch);
  for (const ClosureSpec& c : spec.closures) equations.constrain(c.type, c.a, c.b, c.axis, c.axis2, c.pitch);
  for (const auto& [joint, force] : forces.joints) equations.apply(spec.joints[static_cast<std::size_t>(joint)], force);
  for (const BodyWrenchAt& wrench : forces.wrenches) equations.apply(wrench);
  return equations.solve();
}

std::vector<BodyAcceleration> engine_accelerations(const Spec& spec, const System& system) {
  std::vector<BodyAcceleration> result;
  for (std::size_t i = 1; i < system.model().bodies.size(); ++i) {
    const Body& body = system.model().bodies[i];
    const NodeWork<double>& node = system.work()[body.node];
    const V3 r = body.X_NB * spec.bodies[i - 1].com;  // in the node's frame
    const V3 aw = node.aw + node.dw, ap = node.ap + node.dv;
    const V3 a = ap + aw.cross(r) + node.w.cross(node.w.cross(r));
    const Mat3<double>& R = system.X_WN(body.node).R;
    result.push_back({R * aw, R * a + spec.settings.gravity});
  }
  return result;
}

}  // namespace linkwork::test
