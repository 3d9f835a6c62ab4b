#include "tests/attack/dense_oracle.h"

#include <Eigen/Eigenvalues>
#include <Eigen/QR>
#include <Eigen/SVD>
#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <span>
#include <stdexcept>

#include "linkwork/model/jet.h"
#include "linkwork/spatial/so3.h"

namespace linkwork::test {

namespace {

using Index = Eigen::Index;

constexpr Real kPi = std::numbers::pi_v<Real>;

Real33 rotation(const Eigen::Quaterniond& q) { return q.cast<Real>().normalized().toRotationMatrix(); }

/// The user's axes seen from a joint's frame: its z, or x and y, are the axes.
template <class Kind>
Real33 axes_of(const Kind& spec) {
  const std::string& type = spec.type;
  for (const char* none : {"spherical", "translational", "free", "weld", "point", "distance", "point-contact", "rolling-ball"})
    if (type == none) return Real33::Identity();
  if (type == "universal") {
    Eigen::Matrix3d R;
    R << spec.axis, *spec.axis2, spec.axis.cross(*spec.axis2);
    return R.cast<Real>();
  }
  return rotation_from_z(Eigen::Vector3d(spec.axis)).template cast<Real>();  // which x belongs to z is a convention
}

Real3X crossed(const Real3X& J, const Real3& r) {  // columns J x r
  Real3X result(3, J.cols());
  for (Index k = 0; k < J.cols(); ++k) result.col(k) = Real3(J.col(k)).cross(r);
  return result;
}

void shift(FrameMotion& f, const Real3& r_local) {
  const Real3 r = f.R * r_local;
  f.p += r;
  f.v += f.w.cross(r);
  f.ap += f.aw.cross(r) + f.w.cross(f.w.cross(r));
  f.Jp += crossed(f.Jw, r);
  f.Bp += f.Bw * r.norm();
  f.way += r.norm();
}

void slide(FrameMotion& f, const Real3& axis, Real q, Real v, int column, Real factor) {
  const Real3 e = f.R * axis;
  const Real3 turning = Real(2) * f.w.cross(e) * (factor * v);
  shift(f, axis * (factor * q));
  f.v += e * (factor * v);
  f.ap += turning;
  f.Jp.col(column) += factor * e;
  f.Bp[column] += std::abs(factor);
}

void turn(FrameMotion& f, const Real3& axis, Real q, Real v, int column, Real sign) {
  const Real3 e = f.R * axis;
  f.aw += f.w.cross(e) * (sign * v);
  f.w += e * (sign * v);
  f.Jw.col(column) += sign * e;
  f.Bw[column] = 1;
  f.R = f.R * Eigen::AngleAxis<Real>(sign * q, axis).toRotationMatrix();
}

/// By a rotation whose velocity is given in axes of what is turned.
void turn_freely(FrameMotion& f, const Real33& Q, const Real3& spin, int column, Real sign) {
  if (sign > 0) f.R = f.R * Q;
  const Real3 s = f.R * spin;
  f.aw += sign * f.w.cross(s);
  f.w += sign * s;
  f.Jw.middleCols(column, 3) += sign * f.R;
  f.Bw.segment(column, 3).setOnes();
  if (sign < 0) f.R = f.R * Q.transpose();
}

struct Part {
  enum Kind { kSlide, kTurn, kBall } kind;
  int axis;
  int component;
};

std::vector<Part> parts(const std::string& type) {
  using enum Part::Kind;
  if (type == "revolute") return {{kTurn, 2, 0}};
  if (type == "prismatic") return {{kSlide, 2, 0}};
  if (type == "screw") return {{kSlide, 2, 0}, {kTurn, 2, 0}};
  if (type == "cylindrical") return {{kSlide, 2, 1}, {kTurn, 2, 0}};
  if (type == "universal") return {{kTurn, 0, 0}, {kTurn, 1, 1}};
  if (type == "spherical") return {{kBall, 0, 0}};
  if (type == "planar") return {{kSlide, 0, 0}, {kSlide, 1, 1}, {kTurn, 2, 2}};
  if (type == "translational") return {{kSlide, 0, 0}, {kSlide, 1, 1}, {kSlide, 2, 2}};
  if (type == "free") return {{kSlide, 0, 0}, {kSlide, 1, 1}, {kSlide, 2, 2}, {kBall, 0, 3}};
  if (type == "weld") return {};
  throw std::logic_error("the oracle knows no joint " + type);
}

}  // namespace

/// e . (velocity of a frame's origin), or e . (its angular velocity), with the derivative of e.
struct DenseOracle::Term {
  const FrameMotion* frame;
  bool angular;
  Real3 e, edot;
  Real bound;  // of |e|, whatever cancels in it
};

void DenseOracle::Row::add(const Row& other, Real factor) {
  J += factor * other.J;
  bounds += std::abs(factor) * other.bounds;
  rate += factor * other.rate;
  bias += factor * other.bias;
}

DenseOracle::DenseOracle(const Spec& spec) : spec_(spec) {
  place_bodies();
  add_closures();
  find_rank();
}

std::vector<std::string> DenseOracle::components(const std::string& type, bool velocity) {
  if (type == "cylindrical") return {"angle", "z"};
  if (type == "universal") return {"0", "1"};
  if (type == "planar") return {"x", "y", "angle"};
  if (type == "translational") return {"x", "y", "z"};
  if (type == "spherical")
    return velocity ? std::vector<std::string>{"wx", "wy", "wz"} : std::vector<std::string>{"w", "x", "y", "z"};
  if (type == "free")
    return velocity ? std::vector<std::string>{"x", "y", "z", "wx", "wy", "wz"}
                    : std::vector<std::string>{"x", "y", "z", "qw", "qx", "qy", "qz"};
  if (type == "weld") return {};
  return {""};
}

int DenseOracle::velocity_count(const std::string& type) { return static_cast<int>(components(type, true).size()); }

void DenseOracle::place_bodies() {
  const std::size_t n = spec_.joints.size();
  first_.assign(n, -1);
  std::vector<std::string> known{"ground"};
  const auto is_known = [&](const std::string& body) { return std::ranges::find(known, body) != known.end(); };
  struct Hung {
    std::size_t joint;
    bool backwards;
  };
  std::vector<Hung> order;
  for (bool found = true; found;) {
    found = false;
    for (std::size_t j = 0; j < n; ++j) {
      const JointSpec& joint = spec_.joints[j];
      if (first_[j] >= 0 || joint.cut || is_known(joint.parent.body) == is_known(joint.child.body)) continue;
      const bool backwards = is_known(joint.child.body);
      known.push_back(backwards ? joint.parent.body : joint.child.body);
      first_[j] = nv_;
      nv_ += velocity_count(joint.type);
      order.push_back({j, backwards});
      found = true;
    }
  }
  v_ = RealVector::Zero(nv_);
  for (const Hung& hung : order) {
    const std::vector<double>& given = spec_.joints[hung.joint].velocity;
    for (std::size_t k = 0; k < given.size(); ++k) v_[first_[hung.joint] + static_cast<Index>(k)] = given[k];
  }
  bodies_.assign(spec_.bodies.size() + 1, FrameMotion(nv_));
  for (const Hung& hung : order) {
    const JointSpec& joint = spec_.joints[hung.joint];
    FrameMotion f = body(hung.backwards ? joint.child.body : joint.parent.body);
    go(f, hung.joint, hung.backwards);
    const_cast<FrameMotion&>(body(hung.backwards ? joint.parent.body : joint.child.body)) = std::move(f);
  }
}

const FrameMotion& DenseOracle::body(const std::string& name) const {
  if (name == "ground") return bodies_[0];
  for (std::size_t i = 0; i < spec_.bodies.size(); ++i)
    if (spec_.bodies[i].name == name) return bodies_[i + 1];
  throw std::logic_error("no body " + name);
}

FrameMotion DenseOracle::frame(const FrameSpec& spec) const {
  FrameMotion f = body(spec.body);
  shift(f, spec.at.cast<Real>());
  f.R = f.R * rotation(spec.rotation);
  return f;
}

FrameMotion DenseOracle::joint_frame(const JointSpec& joint, bool child) const {
  FrameMotion f = frame(child ? joint.child : joint.parent);
  f.R = f.R * axes_of(joint);
  return f;
}

void DenseOracle::go(FrameMotion& f, std::size_t j, bool backwards) const {
  const JointSpec& joint = spec_.joints[j];
  const Real33 axes = axes_of(joint);
  const FrameSpec& from = backwards ? joint.child : joint.parent;
  const FrameSpec& to = backwards ? joint.parent : joint.child;
  shift(f, from.at.cast<Real>());
  f.R = f.R * rotation(from.rotation) * axes;
  std::vector<Part> all = parts(joint.type);
  if (backwards) std::ranges::reverse(all);
  const Real sign = backwards ? -1 : 1;
  const auto q = [&](int k) { return joint.position.empty() ? Real(0) : Real(joint.position[static_cast<std::size_t>(k)]); };
  for (const Part& part : all) {
    const int column = first_[j] + part.component;
    const Real3 axis = Real3::Unit(part.axis);
    if (part.kind == Part::kSlide) {
      const Real factor = joint.type == "screw" ? Real(joint.pitch) / (2 * kPi) : Real(1);
      slide(f, axis, q(part.component), v_[column], column, sign * factor);
    } else if (part.kind == Part::kTurn) {
      turn(f, axis, q(part.component), v_[column], column, sign);
    } else {
      const Eigen::Quaternion<Real> Q =
          joint.position.empty()
              ? Eigen::Quaternion<Real>::Identity()
              : Eigen::Quaternion<Real>(q(part.component), q(part.component + 1), q(part.component + 2), q(part.component + 3))
                    .normalized();
      turn_freely(f, Q.toRotationMatrix(), v_.segment(column, 3), column, sign);
    }
  }
  f.R = f.R * (rotation(to.rotation) * axes).transpose();
  shift(f, -to.at.cast<Real>());
}

DenseOracle::Row DenseOracle::empty_row() const { return {RealRow::Zero(nv_), RealRow::Zero(nv_)}; }

DenseOracle::Row DenseOracle::row(const Terms& terms) const {
  Row result = empty_row();
  for (const Term& term : terms) {
    const FrameMotion& f = *term.frame;
    result.J += term.e.transpose() * (term.angular ? f.Jw : f.Jp);
    result.bounds += term.bound * (term.angular ? f.Bw : f.Bp);
    const Real3& velocity = term.angular ? f.w : f.v;
    result.rate += term.e.dot(velocity);
    result.bias += term.edot.dot(velocity) + term.e.dot(term.angular ? f.aw : f.ap);
  }
  return result;
}

/// Velocity along e, as seen from a, of that point of b which is at r from its origin.
DenseOracle::Terms DenseOracle::slip(const FrameMotion& a, const FrameMotion& b, const Real3& e, const Real3& edot,
                                     const Real3& r, const Real3& rdot) {
  const Real3 d = b.p - a.p + r, ddot = b.v - a.v + rdot;
  const Real size = e.norm(), reach = r.norm();
  return {{&b, false, e, edot, size},
          {&b, true, r.cross(e), rdot.cross(e) + r.cross(edot), size * reach},
          {&a, false, -e, -edot, size},
          {&a, true, -d.cross(e), -(ddot.cross(e) + d.cross(edot)), size * (a.way + b.way + reach)}};
}

DenseOracle::Terms DenseOracle::along(const FrameMotion& a, const FrameMotion& b, int axis) {
  const Real3 e = a.R.col(axis);
  return slip(a, b, e, a.w.cross(e));
}

DenseOracle::Terms DenseOracle::about(const FrameMotion& a, const FrameMotion& b, int axis, bool of_b) {
  const FrameMotion& carrier = of_b ? b : a;
  const Real3 e = carrier.R.col(axis), edot = carrier.w.cross(e);
  return {{&b, true, e, edot, 1}, {&a, true, -e, -edot, 1}};
}

std::vector<DenseOracle::Terms> DenseOracle::closure_terms(const std::string& type, const FrameMotion& a, const FrameMotion& b,
                                                           Real pitch, const ClosureSpec* closure) const {
  std::vector<Terms> all;
  const auto is = [&](std::initializer_list<const char*> names) {
    return std::ranges::any_of(names, [&](const char* name) { return type == name; });
  };
  if (is({"revolute", "prismatic", "screw", "cylindrical", "universal", "spherical", "weld", "point", "pin", "point-on-line"}))
    for (int k : {0, 1}) all.push_back(along(a, b, k));
  if (is({"revolute", "universal", "spherical", "weld", "point", "planar", "point-on-plane"})) all.push_back(along(a, b, 2));
  if (is({"revolute", "prismatic", "screw", "cylindrical", "planar", "translational", "weld"}))
    for (int k : {0, 1}) all.push_back(about(a, b, k));
  if (is({"prismatic", "translational", "weld"})) all.push_back(about(a, b, 2));
  if (type == "screw") {
    Terms terms = along(a, b, 2);
    for (Term term : about(a, b, 2)) {
      term.e *= -pitch, term.edot *= -pitch, term.bound *= std::abs(pitch);
      terms.push_back(term);
    }
    all.push_back(terms);
  }
  if (type == "universal") {  // x of a and y of b stay perpendicular
    const Real3 x = a.R.col(0), y = b.R.col(1), xdot = a.w.cross(x), ydot = b.w.cross(y);
    const Real3 n = x.cross(y), ndot = xdot.cross(y) + x.cross(ydot);
    all.push_back({{&a, true, n, ndot, 1}, {&b, true, -n, -ndot, 1}});
  }
  if (type == "distance") {
    const Real3 d = b.p - a.p, ddot = b.v - a.v;
    const Real3 n = d.normalized(), ndot = (ddot - n * n.dot(ddot)) / d.norm();
    all.push_back({{&b, false, n, ndot, 1}, {&a, false, -n, -ndot, 1}});
  }
  if (type == "knife-edge") all.push_back(slip(a, b, b.R.col(2), b.w.cross(Real3(b.R.col(2)))));
  if (is({"point-contact", "rolling", "rolling-ball", "rolling-discs"})) add_rolling(*closure, a, b, all);
  return all;
}

void DenseOracle::add_rolling(const ClosureSpec& closure, const FrameMotion& a, const FrameMotion& b,
                              std::vector<Terms>& all) const {
  const Real3 z = a.R.col(2), zdot = a.w.cross(z);
  const Real radius = closure.radius;
  if (closure.type == "point-contact") {
    for (int k : {2, 0, 1})
      if (k != 2 || closure.contact) all.push_back(along(a, b, k));
  } else if (closure.type == "rolling-ball") {
    if (closure.contact) all.push_back(along(a, b, 2));
    for (int k : {0, 1}) {
      const Real3 e = a.R.col(k);
      all.push_back(slip(a, b, e, a.w.cross(e), -radius * z, -radius * zdot));
    }
  } else if (closure.type == "rolling") {  // the rim is lowest at -radius * up from the centre
    const Real3 e = b.R.col(2), edot = b.w.cross(e);
    const Real c = e.dot(z), cdot = edot.dot(z) + e.dot(zdot);
    const Real s = std::sqrt(1 - c * c), sdot = -c * cdot / s;
    const Real3 up = (z - c * e) / s, updot = (zdot - cdot * e - c * edot - sdot * up) / s;
    const Real3 h = e.cross(z) / s, hdot = (edot.cross(z) + e.cross(zdot) - sdot * h) / s;
    const Real3 side = z.cross(h), sidedot = zdot.cross(h) + z.cross(hdot);
    if (closure.contact) all.push_back(slip(a, b, z, zdot, -radius * up, -radius * updot));
    all.push_back(slip(a, b, h, hdot, -radius * up, -radius * updot));
    all.push_back(slip(a, b, side, sidedot, -radius * up, -radius * updot));
  } else {  // discs
    const Real3 d = b.p - a.p, ddot = b.v - a.v;
    const Real3 n = d.normalized(), ndot = (ddot - n * n.dot(ddot)) / d.norm();
    const Real reach = closure.inside ? radius : -radius;
    const Real3 e = z.cross(n), edot = zdot.cross(n) + z.cross(ndot);
    if (closure.contact) all.push_back({{&b, false, n, ndot, 1}, {&a, false, -n, -ndot, 1}});
    all.push_back(slip(a, b, e, edot, reach * n, reach * ndot));
  }
}

/// Of a joint's velocities, read off its frames if it is not of the tree.
std::vector<DenseOracle::Row> DenseOracle::velocity_rows(std::size_t j) const {
  const JointSpec& joint = spec_.joints[j];
  const int count = velocity_count(joint.type);
  std::vector<Row> all;
  if (first_[j] >= 0) {
    for (int k = 0; k < count; ++k) {
      Row unit = empty_row();
      unit.J[first_[j] + k] = unit.bounds[first_[j] + k] = 1;
      unit.rate = v_[first_[j] + k];
      all.push_back(unit);
    }
    return all;
  }
  const FrameMotion a = joint_frame(joint, false), b = joint_frame(joint, true);
  const auto add = [&](const Terms& terms) { all.push_back(row(terms)); };
  if (joint.type == "revolute" || joint.type == "screw") add(about(a, b, 2));
  if (joint.type == "prismatic") add(along(a, b, 2));
  if (joint.type == "cylindrical") add(about(a, b, 2)), add(along(a, b, 2));
  if (joint.type == "universal") add(about(a, b, 0)), add(about(a, b, 1, true));
  if (joint.type == "spherical")
    for (int k : {0, 1, 2}) add(about(a, b, k, true));
  if (joint.type == "planar") add(along(a, b, 0)), add(along(a, b, 1)), add(about(a, b, 2));
  if (joint.type == "translational")
    for (int k : {0, 1, 2}) add(along(a, b, k));
  return all;
}

std::pair<std::size_t, int> DenseOracle::coordinate(const std::string& name, bool velocity) const {
  for (std::size_t j = 0; j < spec_.joints.size(); ++j) {
    const JointSpec& joint = spec_.joints[j];
    const std::vector<std::string> names = components(joint.type, velocity);
    for (std::size_t k = 0; k < names.size(); ++k)
      if (name == (names[k].empty() ? joint.name : joint.name + "." + names[k])) return {j, static_cast<int>(k)};
  }
  throw std::logic_error("no coordinate " + name);
}

DenseOracle::Row DenseOracle::coordinate_row(const std::string& name) const {
  const auto [joint, component] = coordinate(name, true);
  return velocity_rows(joint)[static_cast<std::size_t>(component)];
}

double DenseOracle::position(const std::string& name) const {
  const auto [joint, component] = coordinate(name, false);
  const std::vector<double>& given = spec_.joints[joint].position;
  return given.empty() ? 0.0 : given[static_cast<std::size_t>(component)];
}

double DenseOracle::evaluate(const Expression& expression) const {
  std::vector<double> slots;
  for (const std::string& name : expression.variables())
    slots.push_back(name == "t"      ? 0.0
                    : name[0] == 'q' ? position(name.substr(2))
                                     : static_cast<double>(coordinate_row(name.substr(2)).rate));
  return expression.evaluate<double>(std::span<const double>(slots));
}

DenseOracle::Row DenseOracle::relation_row(const ClosureSpec& closure) const {
  const Expression& f = closure.value;
  const auto& names = f.variables();
  std::vector<Row> of;  // by variable
  std::vector<Jet> moving;
  for (const std::string& name : names) {
    of.push_back(name == "t" ? empty_row() : coordinate_row(name.substr(2)));
    const double rate = static_cast<double>(of.back().rate), bias = static_cast<double>(of.back().bias);
    moving.push_back(name == "t"      ? Jet(0.0, 1.0, 0.0)
                     : name[0] == 'q' ? Jet(position(name.substr(2)), rate, bias)
                                      : Jet(rate, bias, 0.0));
  }
  const auto value_of = [&](const std::vector<Jet>& slots) { return f.evaluate<Jet>(std::span<const Jet>(slots)); };
  const Jet along = value_of(moving);
  const auto derivative = [&](std::size_t k) {
    std::vector<Jet> slots;
    for (std::size_t i = 0; i < moving.size(); ++i) slots.emplace_back(moving[i].value, i == k ? 1.0 : 0.0, 0.0);
    return value_of(slots).d1;
  };

  Row row = empty_row();
  if (closure.type == "gear") {
    for (std::size_t k = 0; k < closure.joints.size(); ++k) row.add(coordinate_row(closure.joints[k]), closure.coefficients[k]);
  } else if (closure.type == "drive" || closure.type == "speed-drive") {
    row = coordinate_row(closure.joints[0]);
    const bool speed = closure.type == "speed-drive";
    row.u = speed ? along.value : along.d1;
    row.acceleration = speed ? along.d1 : along.d2;
  } else if (closure.type == "friction-drive") {
    const Row first = coordinate_row(closure.joints[0]);
    row = coordinate_row(closure.joints[1]);
    row.add(first, -Real(along.value));
    row.acceleration = Real(along.d1) * first.rate;
  } else {
    const char kind = closure.type == "pfaffian" ? 'v' : 'q';
    for (std::size_t k = 0; k < names.size(); ++k)
      if (names[k][0] == kind) row.add(of[k], derivative(k));
    // d/dt of what must vanish is J v - u; its derivative at vdot = 0 is bias - acceleration.
    const Real value = kind == 'v' ? along.value : along.d1, change = kind == 'v' ? along.d1 : along.d2;
    row.u = row.rate - value;
    row.acceleration = row.bias - change;
  }
  return row;
}

void DenseOracle::add_closures() {
  const auto add = [&](const std::vector<Terms>& all) {
    for (const Terms& terms : all) rows_.push_back(row(terms));
  };
  for (std::size_t j = 0; j < spec_.joints.size(); ++j) {
    if (first_[j] >= 0) continue;
    const JointSpec& joint = spec_.joints[j];
    add(closure_terms(joint.type, joint_frame(joint, false), joint_frame(joint, true), Real(joint.pitch) / (2 * kPi), nullptr));
  }
  for (const ClosureSpec& closure : spec_.closures) {
    const std::array relations{"gear", "drive", "expression", "pfaffian", "speed-drive", "friction-drive"};
    if (std::ranges::find(relations, closure.type) != relations.end()) {
      rows_.push_back(relation_row(closure));
      continue;
    }
    const bool on_plane = closure.type == "point-contact" || closure.type == "rolling" || closure.type == "rolling-ball";
    FrameMotion a = frame(closure.a), b = frame(closure.b);
    const Real33 axes = axes_of(closure);
    a.R = a.R * (on_plane ? Real33(rotation_from_z(closure.normal).cast<Real>()) : axes);
    b.R = b.R * axes;
    add(closure_terms(closure.type, a, b, Real(closure.pitch) / (2 * kPi), &closure));
  }
}

void DenseOracle::find_rank() {
  constexpr Real kCounts = 1e-7L;     // in the middle of what lies between rounding and what is left out
  constexpr Real kRounding = 1e-12L;  // of the given numbers, where small links hang on large ones
  const Index m = static_cast<Index>(rows_.size()), n = nv_;
  RealMatrix A = RealMatrix::Zero(std::max(m, n), n);
  for (Index i = 0; i < m; ++i) {
    const Row& row = rows_[static_cast<std::size_t>(i)];
    for (Index k = 0; k < n; ++k) A(i, k) = std::abs(row.J[k]) > kRounding * row.bounds[k] ? row.J[k] : 0;
  }
  row_scale_ = RealVector::Ones(A.rows());
  column_scale_ = RealVector::Ones(n);
  for (int pass = 0; pass < 30; ++pass) {
    for (Index i = 0; i < A.rows(); ++i)
      if (const Real size = std::sqrt(A.row(i).norm()); size > 0) row_scale_[i] /= size, A.row(i) /= size;
    for (Index k = 0; k < n; ++k)
      if (const Real size = std::sqrt(A.col(k).norm()); size > 0) column_scale_[k] /= size, A.col(k) /= size;
  }
  if (n == 0) return;
  for (Index i = 0; i < m; ++i) {  // rows of rounding only: what they could be
    const Real size = rows_[static_cast<std::size_t>(i)].bounds.transpose().cwiseProduct(column_scale_).maxCoeff();
    if (A.row(i).isZero(0) && size > 0) row_scale_[i] = 1 / size;
  }
  const Eigen::JacobiSVD<RealMatrix> svd(A, Eigen::ComputeThinU | Eigen::ComputeThinV);
  U_ = svd.matrixU(), V_ = svd.matrixV(), sigma_ = svd.singularValues();
  const Real largest = sigma_[0];
  if (!(largest > 0)) return;
  for (Index i = 0; i < n; ++i) {
    const Real relative = sigma_[i] / largest;
    if (relative > kCounts)
      ++rank_, smallest_counted_ = relative;
    else
      largest_left_out_ = std::max(largest_left_out_, relative);
  }
}

RealVector DenseOracle::consistent_velocity(const RealVector& wish) const {
  if (nv_ == 0) return wish;
  RealVector u = RealVector::Zero(row_scale_.size());
  for (std::size_t i = 0; i < rows_.size(); ++i) u[static_cast<Index>(i)] = rows_[i].u;
  const auto Vr = V_.leftCols(rank_);
  const RealVector wished = wish.cwiseQuotient(column_scale_);
  RealVector y = wished - Vr * (Vr.transpose() * wished).eval();
  if (y.norm() < Real(1e-12L) * wished.norm()) y.setZero();  // nothing can move
  const RealVector along = U_.leftCols(rank_).transpose() * row_scale_.cwiseProduct(u);
  y += Vr * along.cwiseQuotient(sigma_.head(rank_));
  return column_scale_.cwiseProduct(y);
}

std::vector<double> DenseOracle::joint_velocity(std::size_t joint, const RealVector& v) const {
  std::vector<double> result;
  for (const Row& row : velocity_rows(joint)) result.push_back(static_cast<double>(row.J.dot(v)));
  return result;
}

/// Forces and torques about the centre of mass on the bodies; returns what acts on coordinates.
RealVector DenseOracle::forces(std::vector<Real3>& force, std::vector<Real3>& torque) const {
  RealVector tau = RealVector::Zero(nv_);
  const auto centre = [&](std::size_t i) {
    return Real3(bodies_[i + 1].p + bodies_[i + 1].R * spec_.bodies[i].com.cast<Real>());
  };
  const auto push = [&](const std::string& name, const Real3& point, const Real3& f, const Real3& n) {
    for (std::size_t i = 0; i < spec_.bodies.size(); ++i) {
      if (spec_.bodies[i].name != name) continue;
      force[i] += f;
      torque[i] += n + (point - centre(i)).cross(f);
    }
  };
  for (std::size_t j = 0; j < spec_.joints.size(); ++j) {
    const JointSpec& joint = spec_.joints[j];
    if (joint.damping == 0.0 && joint.stiffness == 0.0) continue;
    const std::vector<Row> rows = velocity_rows(j);
    for (std::size_t k = 0; k < rows.size(); ++k) {
      Real law = -Real(joint.damping) * rows[k].rate;
      if (joint.stiffness != 0.0)
        law -= Real(joint.stiffness) * ((joint.position.empty() ? Real(0) : Real(joint.position[k])) - Real(joint.rest));
      tau += law * rows[k].J.transpose();
    }
  }
  for (const ForceSpec& f : spec_.forces) {
    if (f.type == "torque" || f.type == "force") {
      tau += Real(evaluate(f.value)) * coordinate_row(f.joint).J.transpose();
    } else if (f.type == "wrench") {
      const FrameMotion at = frame(f.a);
      Real3 F, N;
      for (int k = 0; k < 3; ++k) {
        F[k] = evaluate(f.force[static_cast<std::size_t>(k)]);
        N[k] = evaluate(f.torque[static_cast<std::size_t>(k)]);
      }
      const Real33 R = f.in_body_axes ? body(f.a.body).R : Real33(Real33::Identity());
      push(f.a.body, at.p, R * F, R * N);
    } else {
      const FrameMotion a = frame(f.a), b = frame(f.b);
      const Real3 d = b.p - a.p, n = d.normalized();
      const Real3 pull = (Real(f.stiffness) * (d.norm() - Real(f.length)) + Real(f.damping) * n.dot(b.v - a.v)) * n;
      push(f.a.body, a.p, pull, Real3::Zero());
      push(f.b.body, b.p, -pull, Real3::Zero());
    }
  }
  return tau;
}

DenseOracle::Accelerations DenseOracle::solve(const RealVector& more) const {
  Accelerations result;
  const std::size_t count = spec_.bodies.size();
  const Index n = nv_;
  std::vector<Real3> force(count, Real3::Zero()), torque(count, Real3::Zero());
  const RealVector tau = forces(force, torque);
  RealVector g = tau;
  if (more.size() > 0) g += more;
  result.loads = tau.cwiseAbs();

  // Weighted Jacobian of the bodies' velocities, and what acts against the accelerations at vdot = 0.
  RealMatrix WJ = RealMatrix::Zero(6 * static_cast<Index>(count), n);
  std::vector<FrameMotion> com;
  const Real3 gravity = spec_.settings.gravity.cast<Real>();
  result.scale = gravity.norm();
  for (std::size_t i = 0; i < count; ++i) {
    const BodySpec& body = spec_.bodies[i];
    com.push_back(bodies_[i + 1]);
    FrameMotion& c = com.back();
    shift(c, body.com.cast<Real>());
    const Real mass = body.mass;
    const Real33 I = c.R * body.inertia.cast<Real>() * c.R.transpose();
    const Eigen::SelfAdjointEigenSolver<Real33> principal(I);
    const Real33 root = principal.eigenvalues().cwiseMax(Real(0)).cwiseSqrt().asDiagonal() * principal.eigenvectors().transpose();
    const Index at = 6 * static_cast<Index>(i);
    WJ.middleRows(at, 3) = root * c.Jw;
    WJ.middleRows(at + 3, 3) = std::sqrt(mass) * c.Jp;
    const Real3 moment = torque[i] - c.w.cross(I * c.w) - I * c.aw, push = force[i] + mass * (gravity - c.ap);
    g += c.Jw.transpose() * moment;
    g += c.Jp.transpose() * push;
    result.loads += c.Jw.cwiseAbs().transpose() * moment.cwiseAbs() + c.Jp.cwiseAbs().transpose() * push.cwiseAbs();
    Real size = mass > 0 ? std::sqrt(I.trace() / (2 * mass)) : Real(0);
    const auto reach = [&](const FrameSpec& frame) {
      if (frame.body == body.name) size = std::max(size, Real((frame.at - body.com).norm()));
    };
    for (const JointSpec& joint : spec_.joints) reach(joint.parent), reach(joint.child);
    for (const ClosureSpec& closure : spec_.closures) reach(closure.a), reach(closure.b);
    result.size.push_back(size);
    if (mass > 0) result.scale = std::max(result.scale, force[i].norm() / mass);
  }

  // Forces on joints that cannot move accelerate nothing but by rounding, of what they could do elsewhere.
  constexpr Real kRounding = 1e-6L;  // with tolerances of 1e-8
  for (Index k = 0; k < n; ++k)
    for (std::size_t i = 0; i < count && tau[k] != 0; ++i)
      if (const Real inertia = WJ.col(k).squaredNorm(); inertia > 0)
        result.scale = std::max(result.scale, kRounding * std::abs(tau[k]) * com[i].Jp.col(k).norm() / inertia);

  // vdot = D (V_r y + V_0 z): the rows give y, Gauss's principle z.
  RealVector b(row_scale_.size()), rate = RealVector::Zero(row_scale_.size());
  b.setZero();
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    b[static_cast<Index>(i)] = rows_[i].acceleration - rows_[i].bias;
    rate[static_cast<Index>(i)] = rows_[i].rate - rows_[i].u;
  }
  RealVector vdot = RealVector::Zero(n);
  if (n > 0) {
    const RealVector scaled_b = row_scale_.cwiseProduct(b);
    const RealVector y = (U_.leftCols(rank_).transpose() * scaled_b).cwiseQuotient(sigma_.head(rank_));
    const RealVector left = scaled_b - U_.leftCols(rank_) * (U_.leftCols(rank_).transpose() * scaled_b).eval();
    const Real largest_v = v_.cwiseQuotient(column_scale_).cwiseAbs().maxCoeff();
    result.contradiction = left.cwiseAbs().maxCoeff() / (scaled_b.cwiseAbs().maxCoeff() + largest_v * largest_v + Real(1e-300L));
    result.velocity_error = row_scale_.cwiseProduct(rate).cwiseAbs().maxCoeff() / (largest_v + Real(1e-300L));
    vdot = column_scale_.cwiseProduct(V_.leftCols(rank_) * y);
    const Index free = n - rank_;
    if (free > 0) {
      const RealMatrix N = column_scale_.asDiagonal() * V_.rightCols(free);
      RealMatrix K = WJ * N;
      RealVector balance(free);  // of columns
      for (Index k = 0; k < free; ++k) balance[k] = K.col(k).norm() > 0 ? 1 / K.col(k).norm() : Real(1);
      K = K * balance.asDiagonal();
      const Eigen::ColPivHouseholderQR<RealMatrix> qr(K);
      const RealMatrix R = qr.matrixQR().topRows(std::min(free, K.rows())).template triangularView<Eigen::Upper>();
      if (K.rows() < free) {
        result.determined = 0;
      } else {
        const RealVector pivots = R.diagonal().cwiseAbs();
        result.determined = pivots.minCoeff() / pivots.maxCoeff();
      }
      if (result.determined > Real(1e-15L)) {
        const auto upper = R.template triangularView<Eigen::Upper>();
        const auto P = qr.colsPermutation();
        RealVector z = RealVector::Zero(free);
        for (int pass = 0; pass < 4; ++pass) {  // R'R z = the rest: corrected seminormal equations
          const RealVector rest =
              balance.cwiseProduct(N.transpose() * (g - WJ.transpose() * (WJ * (vdot + N * balance.cwiseProduct(z)))));
          RealVector step = (P.transpose() * rest).eval();
          R.transpose().template triangularView<Eigen::Lower>().solveInPlace(step);
          upper.solveInPlace(step);
          const RealVector unpermuted = P * step;
          z += unpermuted;
        }
        vdot += N * balance.cwiseProduct(z);
      }
    }
  }
  result.vdot = vdot;
  for (std::size_t i = 0; i < count; ++i) {
    const FrameMotion& c = com[i];
    result.alpha.push_back(c.Jw * vdot + c.aw);
    result.a.push_back(c.Jp * vdot + c.ap);
    result.scale =
        std::max({result.scale, result.a[i].norm(), result.size[i] * result.alpha[i].norm(), result.size[i] * c.w.squaredNorm()});
    // Without forces a body that only slides has no acceleration at all, but rounding turns it a little, and it is fast.
    if (result.size[i] > 0) result.scale = std::max(result.scale, c.v.squaredNorm() / result.size[i]);
  }
  if (!(result.scale > 0)) result.scale = 1;  // nothing moves, and nothing makes it
  return result;
}

}  // namespace linkwork::test
