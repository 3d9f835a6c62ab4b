#include "linkwork/import/robot_parts.h"

#include <fmt/format.h>

#include <Eigen/Eigenvalues>
#include <algorithm>
#include <cmath>
#include <deque>
#include <numbers>
#include <unordered_map>
#include <unordered_set>

#include "linkwork/spatial/unit.h"

namespace linkwork {
namespace {

using P = Pose<double>;
using V3 = Vec3<double>;
using M3 = Mat3<double>;

/// A rotation with its rounding cleaned away where it is almost a quarter turn: files write pi to a few digits more or less.
double snapped(double x) { return std::abs(x) < 1e-15 ? 0.0 : x; }

M3 about(int axis, double angle) {
  const double c = snapped(std::cos(angle)), s = snapped(std::sin(angle));
  const int i = (axis + 1) % 3, j = (axis + 2) % 3;
  M3 R = M3::Identity();
  R(i, i) = c, R(j, j) = c, R(i, j) = -s, R(j, i) = s;
  return R;
}

bool violates_triangle(const M3& inertia) {
  const V3 moments = Eigen::SelfAdjointEigenSolver<M3>(inertia, Eigen::EigenvaluesOnly).eigenvalues();
  return moments[0] + moments[1] < moments[2] - 1e-12 * moments.cwiseAbs().maxCoeff();
}

void for_each_frame(Spec& spec, const auto& visit) {
  for (JointSpec& joint : spec.joints) visit(joint.parent), visit(joint.child);
  for (ClosureSpec& closure : spec.closures)
    if (closure.joints.empty() && !closure.value.is_given()) visit(closure.a), visit(closure.b);
  for (ForceSpec& force : spec.forces) visit(force.a), visit(force.b);
  for (SensorSpec& sensor : spec.sensors) visit(sensor.frame), visit(sensor.b);
  for (PortSpec& port : spec.ports) visit(port.frame);
  for (VisualSpec& visual : spec.visuals) visit(visual.frame);
}

/// Which body each belongs to once those welded together are one, and where it is in it.
class Welding {
 public:
  explicit Welding(const Spec& spec) {
    std::unordered_map<std::string, std::vector<std::pair<const JointSpec*, bool>>> welds;
    for (const JointSpec& joint : spec.joints)
      if (joint.type == "weld") {
        welds[joint.parent.body].emplace_back(&joint, true);
        welds[joint.child.body].emplace_back(&joint, false);
      }
    const auto gather = [&](const std::string& root) {
      if (place_.contains(root)) return;
      place_[root] = {root, P{}};
      std::deque<std::string> next{root};
      for (; !next.empty(); next.pop_front()) {
        const auto found = welds.find(next.front());
        if (found == welds.end()) continue;
        const P X = place_.at(next.front()).second;
        for (const auto& [joint, outward] : found->second) {
          const FrameSpec& here = outward ? joint->parent : joint->child;
          const FrameSpec& there = outward ? joint->child : joint->parent;
          if (place_.contains(there.body)) continue;
          place_[there.body] = {root, X * (pose_of(here) * pose_of(there).inverse())};
          next.push_back(there.body);
        }
      }
    };
    gather("ground");
    // The body a set is called after is the one that hangs on another by a joint that moves, or comes first.
    std::unordered_set<std::string> carried;
    for (const JointSpec& joint : spec.joints)
      if (joint.type != "weld" && !joint.cut) carried.insert(joint.child.body);
    for (const BodySpec& body : spec.bodies)
      if (carried.contains(body.name)) gather(body.name);
    for (const BodySpec& body : spec.bodies) gather(body.name);
  }

  const std::string& body_of(const std::string& name) const { return place_.at(name).first; }
  const P& pose(const std::string& name) const { return place_.at(name).second; }
  bool knows(const std::string& name) const { return place_.contains(name); }

 private:
  std::unordered_map<std::string, std::pair<std::string, P>> place_;
};

void fuse_welds(Spec& spec, ImportNotes& notes) {
  const Welding welding(spec);
  std::map<std::string, std::vector<std::string>> parts;
  std::unordered_map<std::string, BodySpec*> by_name;
  for (BodySpec& body : spec.bodies) by_name[body.name] = &body;
  for (const BodySpec& body : spec.bodies) {
    const std::string& into = welding.body_of(body.name);
    if (into == body.name) continue;
    parts[into].push_back(body.name);
    if (into == "ground") continue;
    const P& X = welding.pose(body.name);
    add_part(*by_name.at(into), body.mass, {X.R, X * body.com}, body.inertia);
  }
  if (parts.empty()) return;
  for_each_frame(spec, [&](FrameSpec& frame) {
    if (!welding.knows(frame.body) || welding.body_of(frame.body) == frame.body) return;
    frame = frame_on(welding.body_of(frame.body), welding.pose(frame.body) * pose_of(frame), frame.place);
  });
  std::erase_if(spec.bodies, [&](const BodySpec& body) { return welding.body_of(body.name) != body.name; });
  std::erase_if(spec.joints, [](const JointSpec& joint) { return joint.type == "weld"; });
  for (const auto& [body, names] : parts)
    notes.hint(fmt::format("{} {} part of '{}', to which {} fixed", listed(names), names.size() == 1 ? "is" : "are", body,
                           names.size() == 1 ? "it is" : "they are"));
}

void judge_masses(Spec& spec, ImportNotes& notes) {
  constexpr double kHeavy = 1e5, kLight = 1e-7;
  std::vector<std::string> massless;
  for (BodySpec& body : spec.bodies) {
    if (body.mass >= kHeavy)
      notes.hint(fmt::format("the body '{}' has a mass of {:g} kg: is it in grams?", body.name, body.mass), body.place);
    if (body.mass < kLight) massless.push_back("'" + body.name + "'");
    if (body.inertia.allFinite() && violates_triangle(body.inertia)) {
      body.any_inertia = true;
      notes.hint(
          fmt::format("no body has the inertia of '{}': one principal moment exceeds the sum of the others; taken as it is",
                      body.name),
          body.place);
    }
  }
  if (!massless.empty())
    notes.hint(fmt::format("{} {} no mass, or next to none", listed(massless), massless.size() == 1 ? "has" : "have"));
}

/// A start outside the limits would be refused.
void judge_limits(Spec& spec, ImportNotes& notes) {
  for (JointSpec& joint : spec.joints) {
    if (!joint.limits || joint.position.empty()) continue;
    const auto [low, high] = *joint.limits;
    if (joint.position[0] >= low && joint.position[0] <= high) continue;
    notes.hint(fmt::format("joint '{}' starts at {:.6g}, outside its limits {:.6g} to {:.6g}, which are left out", joint.name,
                           joint.position[0], low, high),
               joint.place);
    joint.limits.reset();
  }
}

}  // namespace

M3 rpy_rotation(const V3& rpy) { return about(2, rpy[2]) * about(1, rpy[1]) * about(0, rpy[0]); }

M3 quaternion_rotation(const Eigen::Vector4d& wxyz) {
  const Eigen::Vector4d q = unit<4>(wxyz);
  return Eigen::Quaterniond(q[0], q[1], q[2], q[3]).toRotationMatrix();
}

FrameSpec frame_on(const std::string& body, const P& X, const Place& place) {
  FrameSpec frame;
  frame.body = body;
  frame.at = X.p;
  frame.place = place;
  if (X.R == M3::Identity()) return frame;
  Eigen::Vector4d q;
  const Eigen::Quaterniond turn(X.R);
  q << turn.w(), turn.x(), turn.y(), turn.z();
  for (int i = 0; i < 8; ++i) q = unit<4>(q);  // to where it stays, so that it is read as it was written
  frame.rotation = Eigen::Quaterniond(q[0], q[1], q[2], q[3]);
  return frame;
}

P pose_of(const FrameSpec& frame) { return {frame.rotation.toRotationMatrix(), frame.at}; }

std::string allowed_name(const std::string& name) {
  std::string allowed = name;
  for (char& c : allowed)
    if (c == '.' || static_cast<unsigned char>(c) < 0x20 || c == 0x7F) c = '_';
  return allowed;
}

std::string allowed_body_name(const std::string& name) { return name == "ground" ? "ground_" : allowed_name(name); }

std::string variable(const std::string& prefix, const std::string& name) {
  return prefix + "." + (is_identifier(name) ? name : name.find('\'') == std::string::npos ? "'" + name + "'" : '"' + name + '"');
}

Expression expression(const std::string& text, const Place& place) {
  return Expression::parse(text, {}, Variables::kState, place);
}

bool turns(const JointSpec& joint) { return joint.type != "prismatic"; }

void note_joint_sensor(const XmlElement& sensor, const JointSpec& joint, ImportNotes& notes) {
  sensor.use_all();
  const std::string type = sensor.get("type", "?");
  if (type != "force_torque")
    notes.ignore(fmt::format("<sensor> of type {}", type), sensor.place());
  else if (joint.type == "weld")
    notes.hint(fmt::format("{} is in joint '{}', which is fixed: what it transmits is not known", sensor.described(), joint.name),
               sensor.place());
  else
    notes.hint(
        fmt::format("{} is in the columns force.{} and torque.{}, in world axes", sensor.described(), joint.name, joint.name),
        sensor.place());
}

void add_motor(Spec& spec, const std::string& input, const std::string& joint, double gain, const Place& place) {
  const auto found = std::ranges::find(spec.joints, joint, &JointSpec::name);
  spec.inputs.push_back({input, Expression::constant(0.0), nullptr, false, place});
  ForceSpec force;
  force.name = input;
  force.type = found != spec.joints.end() && !turns(*found) ? "force" : "torque";
  force.joint = joint;
  const std::string u = variable("u", input);
  force.value = expression(gain == 1.0 ? u : fmt::format("{}*{}", gain, u), place);
  force.place = place;
  spec.forces.push_back(std::move(force));
}

ClosureSpec gear(const std::string& name, const std::vector<std::string>& joints, const std::vector<double>& coefficients,
                 double offset, const Place& place) {
  ClosureSpec closure;
  closure.name = name;
  closure.place = place;
  for (std::size_t i = 0; i < joints.size(); ++i)
    if (coefficients[i] != 0.0) {
      closure.joints.push_back(joints[i]);
      closure.coefficients.push_back(coefficients[i]);
    }
  if (closure.joints.empty()) throw InputError(place, fmt::format("'{}' couples no joint", name), "a factor other than 0");
  if (closure.joints.size() == 1) {
    closure.type = "drive";
    closure.value = Expression::constant(offset / closure.coefficients[0]);
    closure.coefficients.clear();
  } else {
    closure.type = "gear";
    closure.offset = offset;
  }
  return closure;
}

std::string free_constraint_name(const Spec& spec, const std::string& name) {
  const auto is_taken = [&](const std::string& candidate) {
    return std::ranges::find(spec.joints, candidate, &JointSpec::name) != spec.joints.end() ||
           std::ranges::find(spec.closures, candidate, &ClosureSpec::name) != spec.closures.end();
  };
  if (!is_taken(name)) return name;
  for (int i = 2;; ++i)
    if (const std::string candidate = fmt::format("{}_{}", name, i); !is_taken(candidate)) return candidate;
}

ShapeMass shape_mass(const VisualSpec& shape) {
  constexpr double pi = std::numbers::pi;
  const double r = shape.radius, l = shape.length;
  const auto axial = [](double along, double across) -> M3 { return V3(across, across, along).asDiagonal(); };
  if (shape.shape == "box") {
    const V3 squares = shape.size.cwiseAbs2();
    return {shape.size.prod(), V3::Zero(), M3((V3::Constant(squares.sum()) - squares).asDiagonal()) / 12.0};
  }
  if (shape.shape == "cylinder") return {pi * r * r * l, V3::Zero(), axial(0.5 * r * r, (3.0 * r * r + l * l) / 12.0)};
  if (shape.shape == "sphere") return {4.0 / 3.0 * pi * r * r * r, V3::Zero(), 0.4 * r * r * M3::Identity()};
  if (shape.shape == "ellipsoid") {
    const V3 squares = shape.size.cwiseAbs2();
    return {4.0 / 3.0 * pi * shape.size.prod(), V3::Zero(), M3((V3::Constant(squares.sum()) - squares).asDiagonal()) / 5.0};
  }
  if (shape.shape == "capsule") {  // a cylinder and the two halves of a sphere
    const double tube = pi * r * r * l, ball = 4.0 / 3.0 * pi * r * r * r, all = tube + ball;
    const double along = (tube * 0.5 * r * r + ball * 0.4 * r * r) / all;
    const double across = (tube * (3.0 * r * r + l * l) / 12.0 + ball * (0.4 * r * r + 0.25 * l * l + 0.375 * l * r)) / all;
    return {all, V3::Zero(), axial(along, across)};
  }
  return {};
}

void add_part(BodySpec& body, double mass, const P& X, const M3& inertia) {
  const auto spread = [](double m, const V3& d) -> M3 { return m * (d.squaredNorm() * M3::Identity() - d * d.transpose()); };
  const double total = body.mass + mass;
  M3 turned = inertia;
  if (X.R != M3::Identity()) {
    turned = X.R * inertia * X.R.transpose();
    turned = (0.5 * (turned + turned.transpose())).eval();
  }
  if (body.mass == 0.0 && body.inertia.isZero(0.0)) {
    body.mass = mass, body.com = X.p, body.inertia = turned;
    return;
  }
  const V3 com = total > 0.0 ? V3((body.mass * body.com + mass * X.p) / total) : body.com;
  body.inertia += spread(body.mass, body.com - com) + turned + spread(mass, X.p - com);
  body.mass = total;
  body.com = com;
}

std::map<std::string, P> written_poses(const Spec& spec) {
  std::unordered_map<std::string, std::vector<std::pair<const JointSpec*, bool>>> joints;
  for (const JointSpec& joint : spec.joints) {
    joints[joint.parent.body].emplace_back(&joint, true);
    joints[joint.child.body].emplace_back(&joint, false);
  }
  std::map<std::string, P> poses;
  const auto spread_from = [&](const std::string& root) {
    if (!poses.emplace(root, P{}).second) return;
    std::deque<std::string> next{root};
    for (; !next.empty(); next.pop_front())
      for (const auto& [joint, outward] : joints[next.front()]) {
        if (joint->cut) continue;
        const FrameSpec& here = outward ? joint->parent : joint->child;
        const FrameSpec& there = outward ? joint->child : joint->parent;
        if (poses.emplace(there.body, poses.at(next.front()) * (pose_of(here) * pose_of(there).inverse())).second)
          next.push_back(there.body);
      }
  };
  spread_from("ground");
  for (const BodySpec& body : spec.bodies) spread_from(body.name);
  return poses;
}

void finish_import(Spec& spec, ImportNotes& notes) {
  fuse_welds(spec, notes);
  judge_masses(spec, notes);
  judge_limits(spec, notes);
  if (spec.bodies.empty()) throw InputError(spec.place, "nothing in the file can move", "a link that hangs on a joint");
}

}  // namespace linkwork
