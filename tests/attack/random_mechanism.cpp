#include "tests/attack/random_mechanism.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <numbers>
#include <random>
#include <regex>

#include "linkwork/io/model_file.h"
#include "linkwork/spatial/so3.h"
#include "tests/attack/dense_oracle.h"

namespace linkwork::test {

namespace {

struct Random {
  explicit Random(std::uint64_t seed) : engine(seed) {}

  double uniform(double low = -1.0, double high = 1.0) {
    return low + (high - low) * static_cast<double>(engine() >> 11) * 0x1p-53;
  }
  int below(int n) { return static_cast<int>(engine() % static_cast<std::uint64_t>(n)); }
  int between(int low, int high) { return low + below(high - low + 1); }
  bool chance(double p) { return uniform(0.0, 1.0) < p; }
  double decades(double low, double high) { return std::pow(10.0, uniform(low, high)); }
  template <class T>
  const T& pick(const std::vector<T>& all) {
    return all[static_cast<std::size_t>(below(static_cast<int>(all.size())))];
  }
  Real3 direction() {
    for (;;) {
      const Real3 x(uniform(), uniform(), uniform());
      if (x.norm() < 1 && x.norm() > 0.1L) return x.normalized();
    }
  }
  Real33 rotation() { return Eigen::AngleAxis<Real>(uniform(0.3, 2.8), direction()).toRotationMatrix(); }
  /// Across a direction.
  Real3 across(const Real3& z) { return z.cross(direction_off(z)).normalized(); }
  Real3 direction_off(const Real3& z) {
    for (;;) {
      const Real3 x = direction();
      if (x.cross(z).norm() > 0.4L) return x;
    }
  }

  std::mt19937_64 engine;
};

struct Where {
  Real33 R = Real33::Identity();
  Real3 p = Real3::Zero();

  Where operator*(const Where& x) const { return {R * x.R, p + R * x.p}; }
  Where inverse() const { return {R.transpose(), -(R.transpose() * p)}; }
};

Where turned(const Real3& axis, Real angle) { return {Eigen::AngleAxis<Real>(angle, axis).toRotationMatrix(), Real3::Zero()}; }
Where moved(const Real3& by) { return {Real33::Identity(), by}; }

/// A joint of a chain: its type, and where it is in the world, with its axis along z.
struct Link {
  std::string type;
  Where at;
};

class Generator {
 public:
  explicit Generator(std::uint64_t seed) : random_(seed * 0x9E3779B97F4A7C15ull + 0x5851F42D4C957F2Dull) {
    random_.engine.discard(16);
    spec_.name = fmt::format("random-{}", seed);
    aligned_ = random_.chance(0.06);
    mass_spread_ = random_.pick(std::vector<double>{0.0, 0.5, 1.5, 3.0, 3.0});
    length_spread_ = random_.pick(std::vector<double>{0.0, 0.3, 1.0, 1.5});
    most_bodies_ = random_.between(1, 12);
    most_closures_ = random_.between(0, 4);
    bodies_.push_back({});
    size_.push_back(1);
  }

  Spec make() {
    const int parts = random_.between(1, 3);
    for (int k = 0; k < parts; ++k) add_part();
    if (spec_.bodies.empty()) add_tree(1);
    const int extra = random_.chance(0.4) ? random_.between(1, 2) : 0;
    for (int k = 0; k < extra && closures_ < most_closures_; ++k) {
      if (random_.chance(0.5))
        double_a_joint();
      else
        add_closure(random_.pick(kClosures));
    }
    if (random_.chance(0.3)) relate();
    if (random_.chance(0.1)) relate();
    set_gravity();
    set_velocities();
    add_forces();
    return spec_;
  }

 private:
  static inline const std::vector<std::string> kJoints{"revolute", "revolute",      "revolute",  "prismatic",
                                                       "screw",    "cylindrical",   "universal", "spherical",
                                                       "planar",   "translational", "free",      "weld"};
  static inline const std::vector<std::string> kClosures{
      "revolute",      "prismatic", "screw",        "cylindrical",   "universal",  "spherical",     "planar",
      "translational", "weld",      "pin",          "point",         "distance",   "point-on-line", "point-on-plane",
      "point-contact", "rolling",   "rolling-ball", "rolling-discs", "knife-edge", "distance",      "point-on-plane"};

  // --- bodies and joints ---

  int room() const { return most_bodies_ - static_cast<int>(spec_.bodies.size()); }
  std::string name_of(int body) const { return body == 0 ? "ground" : spec_.bodies[static_cast<std::size_t>(body - 1)].name; }
  Real3 point(const Real3& near, Real size) { return near + random_.direction() * (size * Real(random_.uniform(0.2, 1.0))); }
  Real new_size() { return Real(random_.decades(-length_spread_, length_spread_)); }
  Where somewhere(const Real3& near, Real size) { return {random_.rotation(), point(near, size)}; }
  int any_body() { return random_.below(static_cast<int>(bodies_.size())); }

  int add_body(const Real3& near, Real size) {
    BodySpec body;
    body.name = fmt::format("b{}", spec_.bodies.size() + 1);
    bodies_.push_back(aligned_ ? Where{Real33::Identity(), near} : somewhere(near, Real(0.5) * size));
    size_.push_back(size);
    body.mass = random_.decades(-mass_spread_, mass_spread_);
    const Where& X = bodies_.back();
    body.com = (X.inverse() * moved(point(near, Real(0.4) * size))).p.cast<double>();
    // Point masses about the centre: one gives none, two a rod, more a full body.
    const int kind = random_.below(10);
    const int points = kind == 0 ? 0 : kind < 4 ? 2 : 6;
    Eigen::Matrix3d I = Eigen::Matrix3d::Zero();
    Eigen::Vector3d x = Eigen::Vector3d::Zero();
    for (int k = 0; k < points; ++k) {
      if (k % 2 == 0)
        x = (random_.direction() * size * Real(random_.uniform(0.1, 0.6))).cast<double>();
      else
        x = -x;
      I += body.mass / points * (x.squaredNorm() * Eigen::Matrix3d::Identity() - x * x.transpose());
    }
    body.inertia = I;
    spec_.bodies.push_back(body);
    return static_cast<int>(bodies_.size()) - 1;
  }

  template <class Kind>
  Real33 choose_axes(Kind& kind, bool has_axis) {
    if (!has_axis) return Real33::Identity();
    const bool plain = aligned_ || random_.chance(0.05);
    if (kind.type == "universal") {
      const Real33 R = plain ? Real33(Real33::Identity()) : random_.rotation();
      kind.axis = R.col(0).cast<double>().normalized();
      Eigen::Vector3d second = R.col(1).cast<double>();
      kind.axis2 = (second - second.dot(kind.axis) * kind.axis).normalized();
      Eigen::Matrix3d axes;
      axes << kind.axis, *kind.axis2, kind.axis.cross(*kind.axis2);
      return axes.cast<Real>();
    }
    kind.axis = plain ? Eigen::Vector3d::UnitZ() : Eigen::Vector3d(random_.direction().cast<double>().normalized());
    return Real33(linkwork::rotation_from_z(kind.axis).template cast<Real>());
  }
  static bool has_axis(const std::string& type) {
    for (const char* none : {"spherical", "translational", "free", "weld", "point", "distance", "point-contact", "rolling-ball"})
      if (type == none) return false;
    return true;
  }

  FrameSpec frame(int body, const Where& at, const Real33& axes) const {
    const Where local = bodies_[static_cast<std::size_t>(body)].inverse() * at;
    FrameSpec result;
    result.body = name_of(body);
    result.at = local.p.cast<double>();
    const Eigen::Quaternion<Real> q(Real33(local.R * axes.transpose()));
    result.rotation = q.cast<double>().normalized();
    return result;
  }

  /// Coordinates of a joint, and where they bring its child.
  Where displacement(const std::string& type, Real size, double pitch, std::vector<double>& q) {
    const auto angle = [&] { return q.emplace_back(random_.uniform(-2.2, 2.2)); };
    const auto length = [&] { return q.emplace_back(random_.uniform() * static_cast<double>(size)); };
    const Real3 x = Real3::UnitX(), y = Real3::UnitY(), z = Real3::UnitZ();
    const auto ball = [&] {
      const Eigen::Quaternion<Real> turn(random_.rotation());
      const Eigen::Quaterniond Q = turn.cast<double>().normalized();
      for (double c : {Q.w(), Q.x(), Q.y(), Q.z()}) q.push_back(c);
      return Where{Q.cast<Real>().normalized().toRotationMatrix(), Real3::Zero()};
    };
    if (type == "revolute") return turned(z, angle());
    if (type == "prismatic") return moved(length() * z);
    if (type == "screw") {
      const Real turn = angle();
      return moved(turn * Real(pitch) / (2 * std::numbers::pi_v<Real>)*z) * turned(z, turn);
    }
    if (type == "cylindrical") {
      const Where about = turned(z, angle());
      return moved(length() * z) * about;
    }
    if (type == "universal") {
      const Where first = turned(x, angle());
      return first * turned(y, angle());
    }
    if (type == "spherical") return ball();
    if (type == "planar" || type == "translational" || type == "free") {
      const Real a = length(), b = length();
      if (type == "planar") return moved(a * x + b * y) * turned(z, angle());
      const Where by = moved(a * x + b * y + length() * z);
      return type == "free" ? by * ball() : by;
    }
    return {};
  }

  /// A joint whose parent's frame is at a place of the world.
  void join(const std::string& type, int parent, int child, const Where& at, bool cut = false) {
    JointSpec joint;
    joint.name = fmt::format("j{}", spec_.joints.size() + 1);
    joint.type = type;
    joint.cut = cut;
    if (random_.chance(0.25)) std::swap(parent, child);
    const Real33 axes = choose_axes(joint, has_axis(type));
    const Real size = std::max(size_[static_cast<std::size_t>(parent)], size_[static_cast<std::size_t>(child)]);
    if (type == "screw") joint.pitch = static_cast<double>(size) * random_.decades(-1.0, 0.5) * (random_.chance(0.5) ? 1 : -1);
    const Where beyond = at * displacement(type, size, joint.pitch, joint.position);
    joint.parent = frame(parent, at, axes);
    joint.child = frame(child, beyond, axes);
    if (type != "weld" && type != "free") joints_.push_back({spec_.joints.size(), parent, child, at});
    spec_.joints.push_back(std::move(joint));
  }

  /// Poses as the numbers of the spec give them.
  void settle() {
    const DenseOracle oracle(spec_);
    for (std::size_t i = 1; i < bodies_.size(); ++i) {
      const FrameMotion& X = oracle.body(name_of(static_cast<int>(i)));
      bodies_[i] = {X.R, X.p};
    }
  }

  void close(const std::string& type, int a, int b, const Where& at) {
    settle();
    ++closures_;
    ClosureSpec closure;
    closure.name = fmt::format("c{}", ++named_);
    closure.type = type;
    if (random_.chance(0.3) && has_joint_kind(type)) std::swap(a, b);
    const Real size = std::max(size_[static_cast<std::size_t>(a)], size_[static_cast<std::size_t>(b)]);
    if (type == "screw") closure.pitch = static_cast<double>(size) * random_.decades(-1.0, 0.5);
    const Real33 axes = choose_axes(closure, has_axis(type));
    const Real3 x = at.R.col(0), y = at.R.col(1), z = at.R.col(2);
    const auto in_plane = [&] { return Real3((x * Real(random_.uniform()) + y * Real(random_.uniform())) * size); };
    Where beyond{random_.rotation(), at.p};
    Real33 axes_a = axes;
    if (has_joint_kind(type)) {
      std::vector<double> q;
      beyond = at * displacement(type, size, closure.pitch, q);
    } else if (type == "pin" || type == "point-on-line") {
      beyond.p += z * size * Real(random_.uniform());
    } else if (type == "distance") {
      beyond.p = point(at.p, size);
      closure.length = static_cast<double>((beyond.p - at.p).norm());
    } else if (type == "point-on-plane") {
      beyond.p += in_plane();
    } else if (type == "point-contact" || type == "rolling" || type == "rolling-ball") {
      closure.normal = random_.direction().cast<double>().normalized();
      axes_a = rotation_from_z(closure.normal).cast<Real>();
      beyond.p += in_plane();
      closure.radius = static_cast<double>(size) * random_.uniform(0.1, 1.0);
      Real height = 0;
      if (type == "rolling-ball") height = closure.radius;
      if (type == "rolling") {
        beyond.R = at.R * turned(random_.across(Real3::UnitZ()), Real(random_.uniform(0.4, 2.7))).R;
        height = Real(closure.radius) * Real3(beyond.R.col(2)).cross(z).norm();
      }
      beyond.p += height * z;
    } else if (type == "rolling-discs") {
      closure.radius = static_cast<double>(size) * random_.uniform(0.1, 1.0);
      closure.inside = random_.chance(0.3);
      closure.radius_a = closure.radius * (closure.inside ? random_.uniform(1.3, 3.0) : random_.uniform(0.3, 3.0));
      beyond.R = at.R * turned(Real3::UnitZ(), Real(random_.uniform(-2.0, 2.0))).R;
      const Real gap =
          closure.inside ? Real(closure.radius_a) - Real(closure.radius) : Real(closure.radius_a) + Real(closure.radius);
      beyond.p += gap * random_.across(z);
    }
    closure.a = frame(a, at, axes_a);
    closure.b = frame(b, beyond, axes);
    spec_.closures.push_back(std::move(closure));
  }

  static bool has_joint_kind(const std::string& type) {
    return std::ranges::find(kJoints, type) != kJoints.end() && type != "free";
  }

  // --- chains ---

  /// New bodies and joints from one body to another; the last of the joints closes the loop.
  void chain(int from, int to, const std::vector<Link>& links, const std::vector<std::string>& instead = {}) {
    Real size = 0;
    for (const Link& link : links) size = std::max(size, (link.at.p - links[0].at.p).norm());
    int last = from;
    for (std::size_t k = 0; k + 1 < links.size(); ++k) {
      const Real3 middle = (links[k].at.p + links[k + 1].at.p) / 2;
      const Real own = std::max((links[k].at.p - links[k + 1].at.p).norm(), Real(0.1) * size);
      const int next = add_body(middle, own > 0 ? own : Real(1));
      join(links[k].type, last, next, links[k].at);
      last = next;
    }
    const Link& closing = links.back();
    if (!instead.empty() && random_.chance(0.6)) {
      close(random_.pick(instead), last, to, closing.at);
    } else if (random_.chance(0.5) && closing.type != "free") {
      close(closing.type, last, to, closing.at);
    } else {
      settle();
      ++closures_;
      join(closing.type, last, to, closing.at, random_.chance(0.3));
    }
  }

  Where with_axis(const Real3& p, const Real3& axis) {
    const Real3 x = random_.across(axis);
    Real33 R;
    R << x, axis.cross(x), axis;
    return {R, p};
  }

  // --- parts ---

  void add_part() {
    if (room() <= 0) return;
    if (closures_ >= most_closures_) return add_tree(random_.between(1, room()));
    struct Way {
      int bodies;
      void (Generator::*add)();
    };
    static const std::vector<Way> ways{
        {1, &Generator::add_some_tree},   {1, &Generator::add_some_tree},     {3, &Generator::add_planar},
        {3, &Generator::add_planar},      {3, &Generator::add_parallelogram}, {1, &Generator::add_door},
        {3, &Generator::add_bennett},     {5, &Generator::add_bricard},       {5, &Generator::add_sarrus},
        {3, &Generator::add_spherical},   {3, &Generator::add_sliders},       {2, &Generator::add_coaxial},
        {4, &Generator::add_schoenflies}, {2, &Generator::add_ring},          {2, &Generator::add_ring},
        {4, &Generator::add_platform}};
    for (;;) {
      const Way& way = random_.pick(ways);
      if (way.bodies > room()) continue;
      (this->*way.add)();
      return;
    }
  }

  Real3 base_point(int base) { return point(bodies_[static_cast<std::size_t>(base)].p, size_[static_cast<std::size_t>(base)]); }

  void add_tree(int count) {
    for (int k = 0; k < count; ++k) {
      const int on = any_body();
      const Real size = new_size();
      const Where at = somewhere(base_point(on), Real(0.1) * size);
      join(random_.pick(kJoints), on, add_body(point(at.p, size), size), at);
    }
  }
  void add_some_tree() { add_tree(random_.between(1, std::min(room(), 5))); }

  void add_planar() {
    const int base = any_body();
    const Real size = new_size();
    const Real3 n = random_.direction(), x = random_.across(n), y = n.cross(x), centre = base_point(base);
    std::vector<int> in_plane{base};
    const int loops = random_.between(1, 3);
    for (int loop = 0; loop < loops && closures_ < most_closures_ && room() >= 2; ++loop) {
      const int joints = random_.between(std::min(room() + 1, loop == 0 ? 4 : 3), std::min(room() + 1, 6));
      if (joints < 3) return;
      std::vector<Link> links;
      const double phase = random_.uniform(-3.0, 3.0);
      int slides = 0;
      for (int k = 0; k < joints; ++k) {
        const Real angle = phase + 2 * std::numbers::pi * (k + random_.uniform(-0.3, 0.3)) / joints;
        const Real3 p = centre + size * Real(random_.uniform(0.5, 1.5)) * (std::cos(angle) * x + std::sin(angle) * y) +
                        n * size * Real(random_.uniform(-0.5, 0.5));
        const Real turn = random_.uniform(-3.0, 3.0);
        if (slides < 2 && random_.chance(0.15))
          ++slides, links.push_back({"prismatic", with_axis(p, std::cos(turn) * x + std::sin(turn) * y)});
        else
          links.push_back({"revolute", with_axis(p, n)});
      }
      const int before = static_cast<int>(bodies_.size());
      int to = random_.pick(in_plane);
      const int from = random_.pick(in_plane);
      if (joints == 3 && to == from) to = in_plane.back();
      const bool turns = links.back().type == "revolute";
      chain(from, to, links,
            turns ? std::vector<std::string>{"revolute", "revolute", "pin", "point", "spherical", "cylindrical"}
                  : std::vector<std::string>{});
      for (int k = before; k < static_cast<int>(bodies_.size()); ++k) in_plane.push_back(k);
    }
  }

  void add_parallelogram() {
    const int base = any_body();
    const Real size = new_size();
    const Real3 n = random_.direction(), x = random_.across(n), y = n.cross(x), p = base_point(base);
    const Real3 rung = size * Real(random_.uniform(0.3, 2.0)) * (x + Real(random_.uniform(0.4, 1.0)) * y);
    const auto hinge = [&](const Real3& at) {
      return Link{"revolute", with_axis(at + n * size * Real(random_.uniform(-0.3, 0.3)), n)};
    };
    const Real3 second = p + size * Real(random_.uniform(0.5, 2.0)) * y;
    chain(base, base, {hinge(p), hinge(p + rung), hinge(second + rung), hinge(second)}, {"pin", "point", "cylindrical"});
    const int coupler = static_cast<int>(bodies_.size()) - 2;
    const int more = random_.between(0, 2);
    for (int k = 0; k < more && room() > 0 && closures_ < most_closures_; ++k) {
      const Real3 foot = p + size * (Real(random_.uniform(0.5, 3.0)) * y + Real(random_.uniform()) * x);
      chain(base, coupler, {hinge(foot), hinge(foot + rung)}, {"pin", "revolute"});
    }
  }

  void add_door() {
    const int base = any_body();
    const Real size = new_size();
    const Where at = somewhere(base_point(base), size);
    const std::string type = random_.pick(std::vector<std::string>{"revolute", "revolute", "prismatic", "cylindrical", "screw"});
    join(type, base, add_body(point(at.p, size), size), at);
    const int more = random_.between(1, 2);
    for (int k = 0; k < more; ++k) double_joint(joints_.size() - 1);
  }

  void add_bennett() {
    const int base = any_body();
    const Real size = new_size();
    const Real alpha = random_.uniform(0.5, 1.2), beta = random_.uniform(1.4, 2.4);
    const Real a = size, b = size * std::sin(beta) / std::sin(alpha);
    const Real theta = random_.uniform(0.6, 2.4);
    const Real other = 2 * std::atan(std::sin((beta + alpha) / 2) / std::sin((beta - alpha) / 2) / std::tan(theta / 2));
    const Where base_at = somewhere(base_point(base), Real(0.2) * size);
    const std::array<Real, 4> lengths{a, b, a, b}, twists{alpha, beta, alpha, beta};
    for (int variant = 0; variant < 8; ++variant) {
      const Real first = (variant & 1) ? -theta : theta, second = (variant & 2) ? -other : other;
      const bool shifted = (variant & 4) != 0;
      const std::array<Real, 4> angles =
          shifted ? std::array{first, second, -first, -second} : std::array{second, first, -second, -first};
      Where at = base_at;
      std::vector<Link> links;
      for (std::size_t k = 0; k < 4; ++k) {
        links.push_back({"revolute", at * moved(Real3::UnitZ() * size * Real(random_.uniform(-0.3, 0.3)))});
        at = at * turned(Real3::UnitZ(), angles[k]) * moved(lengths[k] * Real3::UnitX()) * turned(Real3::UnitX(), twists[k]);
      }
      if ((at.p - base_at.p).norm() + (at.R - base_at.R).norm() * size > 1e-12L * size) continue;
      chain(base, base, links);
      return;
    }
  }

  void add_bricard() {
    const int base = any_body();
    const Real size = new_size();
    const Real3 centre = base_point(base);
    std::vector<Where> half;
    for (int k = 0; k < 3; ++k) half.push_back(somewhere(centre, size));
    const Real3 axis = random_.direction(), through = point(centre, size);
    std::vector<Link> links;
    if (random_.chance(0.5)) {  // a half-turn about a line carries each axis into the one after the next but one
      const auto image = [&](const Where& x) {
        return moved(through) * turned(axis, std::numbers::pi_v<Real>) * moved(-through) * x;
      };
      for (const Where& x : half) links.push_back({"revolute", x});
      for (const Where& x : half) links.push_back({"revolute", image(x)});
    } else {  // a plane that holds two of the axes mirrors the others
      const auto mirrored = [&](const Where& x) {
        const Real3 z = x.R.col(2), p = x.p - through;
        return with_axis(through + p - 2 * axis * axis.dot(p), (z - 2 * axis * axis.dot(z)).normalized());
      };
      const auto in_mirror = [&] {
        const Real3 u = random_.across(axis), w = random_.across(axis);
        return with_axis(through + size * w, u);
      };
      links.push_back({"revolute", in_mirror()});
      links.push_back({"revolute", half[0]});
      links.push_back({"revolute", half[1]});
      links.push_back({"revolute", in_mirror()});
      links.push_back({"revolute", mirrored(half[1])});
      links.push_back({"revolute", mirrored(half[0])});
    }
    chain(base, base, links);
  }

  void add_sarrus() {
    const int base = any_body();
    const Real size = new_size();
    const Real3 first = random_.direction(), second = random_.direction_off(first), centre = base_point(base);
    std::vector<Link> links;
    for (int k = 0; k < 6; ++k) links.push_back({"revolute", with_axis(point(centre, size), k < 3 ? first : second)});
    chain(base, base, links);
  }

  void add_spherical() {
    const int base = any_body();
    const Real size = new_size();
    const Real3 centre = base_point(base);
    const int joints = random_.between(4, std::min(room() + 1, 6));
    std::vector<Link> links;
    for (int k = 0; k < joints; ++k) {
      const Real3 axis = random_.direction();
      links.push_back({"revolute", with_axis(centre + axis * size * Real(random_.uniform(0.3, 1.0)), axis)});
    }
    chain(base, base, links);
  }

  void add_sliders() {
    const int base = any_body();
    const Real size = new_size();
    const Real3 centre = base_point(base);
    const int joints = random_.between(4, std::min(room() + 1, 5));
    std::vector<Link> links;
    for (int k = 0; k < joints; ++k)
      links.push_back({random_.chance(0.1) ? "translational" : "prismatic", somewhere(centre, size)});
    chain(base, base, links);
  }

  void add_coaxial() {  // turnbuckles: screws, slides and turns about one axis
    const int base = any_body();
    const Real size = new_size();
    const Real3 axis = random_.direction(), centre = base_point(base);
    const std::vector<std::string> types{"revolute", "screw", "prismatic", "cylindrical", "screw"};
    const int joints = random_.between(3, std::min(room() + 1, 4));
    std::vector<Link> links;
    for (int k = 0; k < joints; ++k) {
      const std::string type = random_.pick(types);
      const Real3 off = type == "prismatic" ? Real3(size * random_.across(axis)) : Real3(Real3::Zero());
      links.push_back({type, with_axis(centre + axis * size * Real(random_.uniform()) + off, axis)});
    }
    chain(base, base, links);
  }

  void add_schoenflies() {  // all translations, and turns about one direction
    const int base = any_body();
    const Real size = new_size();
    const Real3 axis = random_.direction(), centre = base_point(base);
    std::vector<Link> links;
    const int joints = random_.between(5, std::min(room() + 1, 6));
    for (int k = 0; k < joints; ++k)
      links.push_back(k < 2 ? Link{"revolute", with_axis(point(centre, size), axis)}
                            : Link{"prismatic", somewhere(centre, size)});
    for (std::size_t k = links.size(); k-- > 1;)
      std::swap(links[k], links[static_cast<std::size_t>(random_.below(static_cast<int>(k) + 1))]);
    chain(base, base, links);
  }

  void add_ring() {  // any joints, with as much freedom as a loop takes and some more
    const int base = any_body();
    const Real size = new_size();
    const Real3 centre = base_point(base);
    const int joints = random_.between(3, std::min(room() + 1, 7));
    std::vector<Link> links;
    for (int k = 0; k < joints; ++k) {
      std::string type = random_.pick(kJoints);
      if (type == "free" || type == "weld") type = "spherical";
      links.push_back({type, somewhere(centre, size)});
    }
    chain(base, random_.chance(0.7) ? base : any_body(), links);
  }

  void add_platform() {
    const int base = any_body();
    const Real size = new_size();
    const Real3 centre = base_point(base), top = point(centre, 2 * size);
    const std::vector<std::vector<std::string>> legs{{"universal", "prismatic", "spherical"},
                                                     {"revolute", "spherical", "spherical"},
                                                     {"revolute", "revolute", "spherical"},
                                                     {"prismatic", "spherical", "spherical"},
                                                     {"spherical", "spherical"},
                                                     {"universal", "cylindrical", "universal"}};
    const auto& leg = random_.pick(legs);
    const int bodies = static_cast<int>(leg.size()) - 1;
    int platform = -1;
    for (int k = 0; k < 3 && room() >= bodies + (platform < 0 ? 1 : 0); ++k) {
      std::vector<Link> links;
      for (std::size_t j = 0; j < leg.size(); ++j)
        links.push_back(
            {leg[j],
             somewhere(centre + (top - centre) * (Real(static_cast<int>(j)) / Real(static_cast<int>(leg.size()) - 1)), size)});
      if (platform >= 0) {
        if (closures_ >= most_closures_) return;
        chain(base, platform, links);
        continue;
      }
      int last = base;
      for (const Link& link : links) {
        const int next = add_body(point(link.at.p, size), size);
        join(link.type, last, next, link.at);
        last = next;
      }
      platform = last;
    }
  }

  // --- redundancy ---

  struct Joined {
    std::size_t joint;
    int parent, child;
    Where at;  // the parent's frame
  };

  void double_a_joint() {
    if (!joints_.empty()) double_joint(static_cast<std::size_t>(random_.below(static_cast<int>(joints_.size()))));
  }

  /// A closure that asks for nothing that the joint does not ask for already, or for less.
  void double_joint(std::size_t which) {
    settle();
    const Joined joined = joints_[which];
    const JointSpec joint = spec_.joints[joined.joint];
    const Real size = size_[static_cast<std::size_t>(joined.child)];
    const FrameMotion parent = DenseOracle(spec_).frame(joint.parent);
    Where at{parent.R * (has_axis(joint.type) && joint.type != "universal" ? Real33(rotation_from_z(joint.axis).cast<Real>())
                                                                           : Real33(Real33::Identity())),
             parent.p};
    const Real3 z = at.R.col(2);
    const Real3 along = z * size * Real(random_.uniform());
    const std::string& type = joint.type;
    const int a = joined.parent, b = joined.child;
    const auto pick = [&](std::initializer_list<const char*> names) {
      return random_.pick(std::vector<std::string>(names.begin(), names.end()));
    };
    if (type == "revolute") {
      at.p += along;
      close_still(pick({"revolute", "revolute", "cylindrical", "point", "pin", "spherical", "planar"}), a, b, at);
    } else if (type == "prismatic") {
      at.p = point(at.p, size);
      close_still(pick({"prismatic", "prismatic", "translational", "cylindrical", "planar"}), a, b, at);
    } else if (type == "cylindrical") {
      at.p += along;
      close_still(pick({"cylindrical", "pin"}), a, b, at);
    } else if (type == "spherical") {
      close_still(pick({"spherical", "point", "distance"}), a, b, at);
    } else if (type == "planar") {
      at.p = point(at.p, size);
      close_still(pick({"planar", "point-on-plane"}), a, b, at);
    } else if (type == "translational") {
      at.p = point(at.p, size);
      close_still("translational", a, b, at);
    } else if (type == "screw") {
      at.p += along;
      close_still("screw", a, b, at, joint.pitch);
    }
  }

  /// With both frames at one place: no coordinate of the closure is displaced, so that it asks for what the axis asks for.
  void close_still(const std::string& type, int a, int b, const Where& at, double pitch = 0.0) {
    settle();
    ++closures_;
    ClosureSpec closure;
    closure.name = fmt::format("c{}", ++named_);
    closure.type = type;
    closure.pitch = pitch;
    const Real33 axes = choose_axes(closure, has_axis(type));
    Where other = at;
    if (type == "distance") {  // from the centre of a ball to a point of the other body
      other.p = point(at.p, size_[static_cast<std::size_t>(b)]);
      closure.length = static_cast<double>((other.p - at.p).norm());
    }
    closure.a = frame(a, at, axes);
    closure.b = frame(b, other, axes);
    spec_.closures.push_back(std::move(closure));
  }

  void add_closure(const std::string& type) {
    if (bodies_.size() < 3 && spec_.joints.empty()) return;
    for (int trial = 0; trial < 20; ++trial) {
      const int a = any_body(), b = any_body();
      if (a == b || welded(a, b)) continue;
      close(type, a, b, somewhere(base_point(b), size_[static_cast<std::size_t>(b)]));
      return;
    }
  }

  bool welded(int a, int b) const {
    std::vector<int> part{a};
    for (std::size_t k = 0; k < part.size(); ++k)
      for (const JointSpec& joint : spec_.joints) {
        if (joint.type != "weld") continue;
        for (int other = 0; other < static_cast<int>(bodies_.size()); ++other) {
          const bool joins = (joint.parent.body == name_of(part[k]) && joint.child.body == name_of(other)) ||
                             (joint.child.body == name_of(part[k]) && joint.parent.body == name_of(other));
          if (joins && std::ranges::find(part, other) == part.end()) part.push_back(other);
        }
      }
    return std::ranges::find(part, b) != part.end();
  }

  // --- relations of coordinates ---

  struct Coordinate {
    std::string name;
    double value;
    bool is_length;
  };
  /// Components that are numbers have no place in expressions.
  std::vector<Coordinate> coordinates(bool in_expressions) const {
    std::vector<Coordinate> all;
    for (const JointSpec& joint : spec_.joints) {
      const auto add = [&](const std::string& component, std::size_t k, bool length) {
        all.push_back({component.empty() ? joint.name : joint.name + "." + component, joint.position[k], length});
      };
      if (joint.type == "revolute" || joint.type == "screw") add("", 0, false);
      if (joint.type == "prismatic") add("", 0, true);
      if (joint.type == "cylindrical") add("angle", 0, false), add("z", 1, true);
      if (joint.type == "universal" && !in_expressions) add("0", 0, false), add("1", 1, false);
      if (joint.type == "planar") add("x", 0, true), add("y", 1, true), add("angle", 2, false);
      if (joint.type == "translational") add("x", 0, true), add("y", 1, true), add("z", 2, true);
    }
    return all;
  }

  static Expression expression(const std::string& text, Variables allowed) { return Expression::parse(text, {}, allowed, {}); }

  void relate() {
    const int kind = random_.below(6);
    const std::vector<Coordinate> all = coordinates(kind >= 2 && kind <= 4);
    if (all.empty()) return;
    const int rank = DenseOracle(spec_).rank();
    const Coordinate first = random_.pick(all), second = random_.pick(all);
    const double factor = random_.uniform(0.3, 2.0);
    ClosureSpec closure;
    closure.name = fmt::format("c{}", ++named_);
    const std::string rate = number(random_.uniform()), growth = number(random_.uniform());
    if (kind == 0 && first.name != second.name) {
      closure.type = "gear";
      closure.joints = {first.name, second.name};
      closure.coefficients = {1.0, factor};
      closure.offset = first.value + factor * second.value;
    } else if (kind == 1) {
      closure.type = "drive";
      closure.joints = {first.name};
      closure.value = expression(fmt::format("{} + {}*t + {}*t^2", number(first.value), rate, growth), Variables::kTime);
    } else if (kind == 2 && first.name != second.name) {
      closure.type = "expression";
      const double offset = first.value + factor * std::sin(second.value) + 0.3 * first.value * second.value;
      closure.value = expression(fmt::format("q.{0} + {2}*sin(q.{1}) + 0.3*q.{0}*q.{1} - {3} + {4}*sin(t)", first.name,
                                             second.name, number(factor), number(offset), rate),
                                 Variables::kTimeAndPositions);
    } else if (kind == 3 && first.name != second.name) {
      closure.type = "pfaffian";
      closure.value =
          expression(fmt::format("v.{0}*(1 + 0.2*sin(q.{1})) + {2}*v.{1} - {3}", first.name, second.name, number(factor), rate),
                     Variables::kState);
    } else if (kind == 4 && first.name != second.name) {
      closure.type = "friction-drive";
      closure.joints = {first.name, second.name};
      closure.value = expression(fmt::format("{} + 0.3*cos(q.{})", number(factor), first.name), Variables::kTimeAndPositions);
    } else {
      closure.type = "speed-drive";
      closure.joints = {first.name};
      closure.value = expression(fmt::format("{} + {}*t", rate, growth), Variables::kTime);
    }
    spec_.closures.push_back(std::move(closure));
    // What depends on other rows would contradict them in motion.
    const DenseOracle with(spec_);
    if (with.rank() != rank + 1 || with.smallest_counted() < 1e-3L) spec_.closures.pop_back();
  }

  // --- motion and forces ---

  static std::string number(double x) { return x < 0 ? fmt::format("({})", x) : fmt::format("{}", x); }

  void set_gravity() { spec_.settings.gravity = (random_.direction() * Real(random_.chance(0.1) ? 0.0 : 9.81)).cast<double>(); }

  void set_velocities() {
    const DenseOracle oracle(spec_);
    const bool at_rest = random_.chance(0.1);  // as far as drives let it
    const double speed = random_.decades(-1.0, 1.0);
    RealVector wish = RealVector::Zero(oracle.coordinates());
    for (std::size_t j = 0; j < spec_.joints.size(); ++j) {
      const int first = oracle.first_velocity(j);
      if (first < 0) continue;
      const std::string& type = spec_.joints[j].type;
      Real size = 1;
      for (std::size_t i = 1; i < bodies_.size(); ++i)
        if (name_of(static_cast<int>(i)) == spec_.joints[j].child.body) size = size_[i];
      const int count = static_cast<int>(oracle.joint_velocity(j, wish).size());
      const int lengths = type == "prismatic" ? 1 : type == "planar" ? 2 : type == "translational" || type == "free" ? 3 : 0;
      for (int k = 0; k < count; ++k) {
        const bool is_length = k < lengths || (type == "cylindrical" && k == 1);
        wish[first + k] = at_rest ? Real(0) : Real(speed * random_.uniform()) * (is_length ? size : Real(1));
      }
    }
    const RealVector v = oracle.consistent_velocity(wish);
    for (std::size_t j = 0; j < spec_.joints.size(); ++j) spec_.joints[j].velocity = oracle.joint_velocity(j, v);
  }

  void add_forces() {
    const int count = random_.chance(0.3) ? 0 : random_.between(1, 3);
    for (int k = 0; k < count; ++k) add_force();
  }

  void add_force() {
    const int body = 1 + random_.below(static_cast<int>(spec_.bodies.size()));
    const auto index = static_cast<std::size_t>(body);
    const BodySpec& on = spec_.bodies[index - 1];
    const double weight = on.mass * 9.81 * random_.decades(-1.0, 1.0), length = static_cast<double>(size_[index]);
    ForceSpec force;
    force.name = fmt::format("f{}", spec_.forces.size() + 1);
    const int kind = random_.below(5);
    const auto place = [&](int where) {
      FrameSpec f;
      f.body = name_of(where);
      f.at = (random_.direction() * size_[static_cast<std::size_t>(where)]).cast<double>();
      return f;
    };
    if (kind == 0) {
      force.type = "wrench";
      force.a = place(body);
      force.in_body_axes = random_.chance(0.5);
      for (std::size_t i = 0; i < 3; ++i) {
        force.force[i] = Expression::constant(weight * random_.uniform());
        force.torque[i] = Expression::constant(weight * length * random_.uniform());
      }
    } else if (kind <= 2) {
      int other = any_body();
      if (other == body) other = 0;
      force.type = kind == 1 ? "spring" : "damper";
      force.a = place(body);
      force.b = place(other);
      if (kind == 1) force.stiffness = weight / length, force.length = length * random_.uniform(0.0, 1.0);
      if (kind == 2 || random_.chance(0.5)) force.damping = weight / length * random_.uniform(0.01, 0.5);
    } else {
      const std::vector<Coordinate> all = coordinates(true);
      if (all.empty()) return;
      const Coordinate which = random_.pick(all);
      if (kind == 3) {
        force.type = which.is_length ? "force" : "torque";
        force.joint = which.name;
        const double size = which.is_length ? weight : weight * length;
        force.value = expression(fmt::format("{}*cos(t) + {}*sin(q.{}) - {}*v.{}", number(size), number(0.3 * size), which.name,
                                             number(0.1 * size), which.name),
                                 Variables::kState);
      } else {
        JointSpec& joint = spec_.joints[static_cast<std::size_t>(random_.below(static_cast<int>(spec_.joints.size())))];
        const bool slides = joint.type == "prismatic" || joint.type == "translational";
        const double unit = slides ? weight / length : weight * length;
        if (joint.type != "weld") joint.damping = unit * random_.uniform(0.01, 0.3);
        if (joint.type != "weld" && joint.type != "spherical" && joint.type != "free") {
          joint.stiffness = unit * random_.uniform(0.1, 2.0);
          joint.rest = random_.uniform() * (slides ? length : 1.0);
        }
        return;
      }
    }
    spec_.forces.push_back(std::move(force));
  }

  Random random_;
  Spec spec_;
  std::vector<Where> bodies_;  // [0]: the ground
  std::vector<Real> size_;
  std::vector<Joined> joints_;
  bool aligned_ = false;
  double mass_spread_ = 0.0, length_spread_ = 0.0;
  int most_bodies_ = 0, most_closures_ = 0;
  int closures_ = 0, named_ = 0;
};

}  // namespace

Spec random_mechanism(std::uint64_t seed) {
  Spec spec = Generator(seed).make();
  return read_model_text(to_toml(spec), spec.name + ".toml");
}

Units random_units(std::uint64_t seed) {
  Random random(seed ^ 0xA5A5A5A5u);
  const double mass = random.decades(-12.0, 12.0);
  return {mass, random.decades(-9.0, 9.0)};
}

namespace {

class UnitChange {
 public:
  UnitChange(const Spec& spec, const Units& units) : spec_(spec), mass_(units.mass), length_(units.length) {}

  Spec changed() {
    Spec spec = spec_;
    spec.settings.gravity *= length_;
    for (BodySpec& body : spec.bodies) {
      body.mass *= mass_;
      body.com *= length_;
      body.inertia *= mass_ * length_ * length_;
    }
    for (JointSpec& joint : spec.joints) change(joint);
    for (ClosureSpec& closure : spec.closures) change(closure);
    for (ForceSpec& force : spec.forces) change(force);
    return spec;
  }

 private:
  static bool is_length(const std::string& type, std::size_t component) {
    if (type == "prismatic" || type == "translational") return true;
    if (type == "cylindrical") return component == 1;
    if (type == "planar") return component < 2;
    return type == "free" && component < 3;
  }
  /// Of a coordinate by its name: "joint" or "joint.component".
  double unit(const std::string& name) const {
    for (const JointSpec& joint : spec_.joints) {
      if (name == joint.name) return is_length(joint.type, 0) ? length_ : 1.0;
      if (!name.starts_with(joint.name + ".")) continue;
      const std::string component = name.substr(joint.name.size() + 1);
      const bool length = component == "x" || component == "y" || component == "z";
      return length && joint.type != "spherical" ? length_ : 1.0;
    }
    return 1.0;
  }
  /// The expression of the old numbers.
  Expression of_old(const Expression& expression, Variables allowed, double factor) const {
    if (expression.is_constant()) return Expression::constant(factor * expression.constant_value());
    static const std::regex variable(R"([qv]\.([A-Za-z0-9_]+(\.[A-Za-z]+)?))");
    const std::string& text = expression.text();
    std::string changed;
    auto from = text.cbegin();
    for (std::sregex_iterator it(text.begin(), text.end(), variable), end; it != end; ++it) {
      changed.append(from, text.cbegin() + it->position());
      changed += fmt::format("({}/{})", it->str(), unit((*it)[1].str()));
      from = text.cbegin() + it->position() + it->length();
    }
    changed.append(from, text.cend());
    return Expression::parse(fmt::format("{}*({})", factor, changed), {}, allowed, {});
  }

  void change(JointSpec& joint) const {
    joint.parent.at *= length_;
    joint.child.at *= length_;
    joint.pitch *= length_;
    for (std::size_t k = 0; k < joint.position.size(); ++k) joint.position[k] *= is_length(joint.type, k) ? length_ : 1.0;
    for (std::size_t k = 0; k < joint.velocity.size(); ++k) joint.velocity[k] *= is_length(joint.type, k) ? length_ : 1.0;
    const double law = is_length(joint.type, 0) && joint.type != "planar" ? mass_ : mass_ * length_ * length_;
    joint.damping *= law;
    joint.stiffness *= law;
    joint.rest *= is_length(joint.type, 0) ? length_ : 1.0;
  }

  void change(ClosureSpec& closure) const {
    closure.a.at *= length_;
    closure.b.at *= length_;
    for (double* length : {&closure.pitch, &closure.length, &closure.radius, &closure.radius_a}) *length *= length_;
    for (std::size_t k = 0; k < closure.coefficients.size(); ++k) closure.coefficients[k] /= unit(closure.joints[k]);
    if (closure.type == "drive" || closure.type == "speed-drive")
      closure.value = of_old(closure.value, Variables::kTime, unit(closure.joints[0]));
    if (closure.type == "friction-drive")
      closure.value = of_old(closure.value, Variables::kTimeAndPositions, unit(closure.joints[1]) / unit(closure.joints[0]));
    if (closure.type == "expression") closure.value = of_old(closure.value, Variables::kTimeAndPositions, 1.0);
    if (closure.type == "pfaffian") closure.value = of_old(closure.value, Variables::kState, 1.0);
  }

  void change(ForceSpec& force) const {
    const double newton = mass_ * length_;
    force.a.at *= length_;
    force.b.at *= length_;
    force.length *= length_;
    force.stiffness *= mass_;
    force.damping *= mass_;
    if (!force.joint.empty()) force.value = of_old(force.value, Variables::kState, newton * length_ / unit(force.joint));
    for (Expression& f : force.force) f = of_old(f, Variables::kState, newton);
    for (Expression& n : force.torque) n = of_old(n, Variables::kState, newton * length_);
  }

  const Spec& spec_;
  double mass_, length_;
};

}  // namespace

Spec in_units(const Spec& spec, const Units& units) {
  return read_model_text(to_toml(UnitChange(spec, units).changed()), spec.name + ".toml");
}

namespace {

std::string vector_text(const Eigen::Vector3d& x) { return fmt::format("[{}, {}, {}]", x.x(), x.y(), x.z()); }

std::string frame_text(const FrameSpec& frame) {
  const Eigen::Quaterniond& q = frame.rotation;
  return fmt::format("{{ body = \"{}\", at = {}, quat = [{}, {}, {}, {}] }}", frame.body, vector_text(frame.at), q.w(), q.x(),
                     q.y(), q.z());
}

std::string value_text(const Expression& value) {
  return value.is_constant() ? fmt::format("{}", value.constant_value()) : "\"" + value.text() + "\"";
}

/// A number for one coordinate, an array for several.
std::string values_text(const std::vector<double>& values) {
  return values.size() == 1 ? fmt::format("{}", values[0]) : fmt::format("[{}]", fmt::join(values, ", "));
}

class Writer {
 public:
  void line(std::string_view key, std::string_view value) { text_ += fmt::format("{} = {}\n", key, value); }
  void name(std::string_view key, std::string_view value) { text_ += fmt::format("{} = \"{}\"\n", key, value); }
  void number(std::string_view key, double value, double otherwise = 0.0) {
    if (value != otherwise) line(key, fmt::format("{}", value));
  }
  void table(std::string_view kind) { text_ += fmt::format("\n[[{}]]\n", kind); }

  void body(const BodySpec& body) {
    table("body");
    name("name", body.name);
    line("mass", fmt::format("{}", body.mass));
    line("com", vector_text(body.com));
    const Eigen::Matrix3d& I = body.inertia;
    line("inertia", fmt::format("[{}, {}, {}, {}, {}, {}]", I(0, 0), I(1, 1), I(2, 2), I(0, 1), I(0, 2), I(1, 2)));
  }

  template <class Kind>
  void axes(const Kind& kind) {
    if (kind.axis != Eigen::Vector3d::UnitZ() || kind.axis2) line("axis", vector_text(kind.axis));
    if (kind.axis2) line("axis2", vector_text(*kind.axis2));
    number("pitch", kind.pitch);
  }

  void joint(const JointSpec& joint) {
    table("joint");
    name("name", joint.name);
    name("type", joint.type);
    line("parent", frame_text(joint.parent));
    line("child", frame_text(joint.child));
    axes(joint);
    if (!joint.position.empty()) line("position", values_text(joint.position));
    if (!joint.velocity.empty()) line("velocity", values_text(joint.velocity));
    if (joint.cut) line("cut", "true");
    number("damping", joint.damping);
    number("stiffness", joint.stiffness);
    number("rest", joint.rest);
  }

  void closure(const ClosureSpec& closure) {
    table("closure");
    name("name", closure.name);
    name("type", closure.type);
    const std::string& type = closure.type;
    if (type == "gear" || type == "friction-drive") line("joints", fmt::format("[\"{}\"]", fmt::join(closure.joints, "\", \"")));
    if (type == "gear") {
      line("coefficients", fmt::format("[{}]", fmt::join(closure.coefficients, ", ")));
      number("offset", closure.offset);
    } else if (type == "friction-drive") {
      line("ratio", value_text(closure.value));
    } else if (type == "drive" || type == "speed-drive") {
      name("joint", closure.joints[0]);
      line("value", value_text(closure.value));
    } else if (type == "expression" || type == "pfaffian") {
      line("expression", value_text(closure.value));
    } else {
      line("a", frame_text(closure.a));
      line("b", frame_text(closure.b));
      axes(closure);
      number("length", closure.length);
      if (closure.normal != Eigen::Vector3d::UnitZ()) line("normal", vector_text(closure.normal));
      if (type.starts_with("rolling")) number("radius", closure.radius);
      number("radius_a", closure.radius_a);
      if (closure.inside) line("inside", "true");
    }
  }

  void force(const ForceSpec& force) {
    table("force");
    name("name", force.name);
    name("type", force.type);
    if (force.type == "torque" || force.type == "force") {
      name("joint", force.joint);
      line("value", value_text(force.value));
    } else if (force.type == "wrench") {
      name("body", force.a.body);
      line("at", vector_text(force.a.at));
      for (const auto& [key, values] : {std::pair{"force", &force.force}, std::pair{"torque", &force.torque}})
        line(key, fmt::format("[{}, {}, {}]", value_text((*values)[0]), value_text((*values)[1]), value_text((*values)[2])));
      if (force.in_body_axes) name("axes", "body");
    } else {
      line("a", frame_text(force.a));
      line("b", frame_text(force.b));
      if (force.type == "spring") {
        line("stiffness", fmt::format("{}", force.stiffness));
        line("length", fmt::format("{}", force.length));
      }
      line("damping", fmt::format("{}", force.damping));
    }
  }

  std::string text_;
};

}  // namespace

std::string to_toml(const Spec& spec) {
  Writer writer;
  writer.line("linkwork", "1");
  writer.name("name", spec.name);
  writer.line("settings.gravity", vector_text(spec.settings.gravity));
  for (const BodySpec& body : spec.bodies) writer.body(body);
  for (const JointSpec& joint : spec.joints) writer.joint(joint);
  for (const ClosureSpec& closure : spec.closures) writer.closure(closure);
  for (const ForceSpec& force : spec.forces) writer.force(force);
  return writer.text_;
}

}  // namespace linkwork::test
