#include "bench/peers/translation.h"

#include <fmt/format.h>

#include <map>
#include <stdexcept>

namespace linkwork::bench {
namespace {

using Frame = Pose<double>;

Triple triple(const Vec3<double>& p) { return {p.x(), p.y(), p.z()}; }

std::array<double, 9> by_rows(const Mat3<double>& m) {
  return {m(0, 0), m(0, 1), m(0, 2), m(1, 0), m(1, 1), m(1, 2), m(2, 0), m(2, 1), m(2, 2)};
}

Placement placement(const Frame& frame) { return {by_rows(frame.R), triple(frame.p)}; }

[[noreturn]] void refuse(const std::string& what) { throw std::runtime_error("cannot be translated: " + what); }

OfTime of_time(const Expression& expression, const std::string& of) {
  if (expression.is_constant()) return [value = expression.constant_value()](double) { return value; };
  if (expression.variables() != std::vector<std::string>{"t"}) refuse(of + " depends on more than time");
  return [expression](double t) { return expression.evaluate<double>(std::span<const double>(&t, 1)); };
}

class Translator {
 public:
  Translator(const Spec& spec, const Model& model) : spec_(spec), model_(model) {
    out_.nq = model.tree.nq;
    out_.nv = model.tree.nv;
    out_.gravity = triple(spec.settings.gravity);
    out_.bodies.emplace_back().name = "ground";
    known_.emplace("ground", Known{0, Frame{}});
  }

  Mechanism run() {
    if (!model_.coordinate_closures.empty()) refuse("the closure " + model_.coordinate_closures.front().name);
    if (model_.has_events()) refuse("things that come and go");
    add_bodies();
    for (const FrameClosure& closure : model_.frame_closures) add_loop(closure);
    for (const ForceSpec& force : spec_.forces) add_force(force);
    return out_;
  }

 private:
  struct Known {
    int index;
    Frame X_BM;  // the frame that stands for the body's own: its joint's outboard frame
  };

  /// A frame that the model has on a node, seen from the user's body.
  Frame on_body(const std::string& body, const NodeFrame& frame) const {
    for (const Body& candidate : model_.bodies)
      if (candidate.name == body) {
        if (candidate.node != frame.node) refuse("a joint of several nodes at " + body);
        return candidate.X_NB.inverse() * frame.X_NF;
      }
    refuse("the body " + body);
  }

  const Known& known(const std::string& body) const { return known_.at(body); }
  Placement placed(const std::string& body, const NodeFrame& frame) const {
    return placement(known(body).X_BM.inverse() * on_body(body, frame));
  }
  Triple point(const FrameSpec& at) const { return triple(known(at.body).X_BM.inverse() * Vec3<double>(at.at)); }

  /// Parents first: joints may be written in any order.
  void add_bodies() {
    for (bool found = true; found;) {
      found = false;
      for (std::size_t k = 0; k < spec_.joints.size(); ++k) {
        const JointSpec& joint = spec_.joints[k];
        if (model_.joints[k].cut || known_.contains(joint.child.body) || !known_.contains(joint.parent.body)) continue;
        add_body(joint, model_.joints[k]);
        found = true;
      }
    }
    if (known_.size() != spec_.bodies.size() + 1) refuse("a tree that runs through a joint from child to parent");
  }

  void add_body(const JointSpec& joint, const Joint& built) {
    static const std::map<std::string, JointType, std::less<>> types{
        {"revolute", JointType::kRevolute}, {"prismatic", JointType::kPrismatic}, {"free", JointType::kFree}};
    const auto type = types.find(joint.type);
    if (type == types.end() || !built.in_state()) refuse(fmt::format("the joint {} ({})", joint.name, joint.type));
    if (joint.friction != 0.0 || joint.dry_friction || joint.restitution) refuse("friction or stops of " + joint.name);
    if (type->second == JointType::kFree && joint.parent.body != "ground") refuse("a free joint between bodies");
    const Frame X_BM = on_body(joint.child.body, built.child);
    PeerBody body{joint.child.body,
                  known(joint.parent.body).index,
                  placed(joint.parent.body, built.parent),
                  type->second,
                  built.q.front(),
                  built.v.front(),
                  joint.stiffness,
                  joint.damping,
                  joint.rest};
    for (const BodySpec& given : spec_.bodies) {
      if (given.name != body.name) continue;
      body.mass = given.mass;
      body.com = triple(X_BM.inverse() * Vec3<double>(given.com));
      body.inertia = by_rows(X_BM.R.transpose() * given.inertia * X_BM.R);
    }
    known_.emplace(body.name, Known{static_cast<int>(out_.bodies.size()), X_BM});
    body_of_joint_.emplace(joint.name, static_cast<int>(out_.bodies.size()));
    out_.bodies.push_back(body);
  }

  void add_loop(const FrameClosure& closure) {
    static const std::map<std::string_view, LoopType> types{
        {"pin", LoopType::kPin}, {"spherical", LoopType::kBall}, {"revolute", LoopType::kRevolute}};
    const auto type = types.find(closure.kind ? closure.kind->name : closure.joint_kind->name);
    if (type == types.end() || closure.left_out != 0) refuse("the closure " + closure.name);
    const auto [a, b] = ends(closure.name);
    out_.loops.push_back(
        {closure.name, type->second, known(a).index, known(b).index, placed(a, closure.a), placed(b, closure.b)});
  }

  std::pair<std::string, std::string> ends(const std::string& name) const {
    for (const ClosureSpec& closure : spec_.closures)
      if (closure.name == name) return {closure.a.body, closure.b.body};
    for (const JointSpec& joint : spec_.joints)
      if (joint.name == name) return {joint.parent.body, joint.child.body};
    refuse("the closure " + name);
  }

  void add_force(const ForceSpec& force) {
    if (force.type == "spring" || force.type == "damper") {
      out_.springs.push_back({known(force.a.body).index, known(force.b.body).index, point(force.a), point(force.b),
                              force.stiffness, force.damping, force.length});
    } else if (force.type == "wrench" && !force.in_body_axes) {
      PeerWrench wrench{known(force.a.body).index, point(force.a), {}, {}};
      for (std::size_t i = 0; i < 3; ++i) {
        wrench.force[i] = of_time(force.force[i], "a wrench");
        wrench.torque[i] = of_time(force.torque[i], "a wrench");
      }
      out_.wrenches.push_back(wrench);
    } else if (const auto body = body_of_joint_.find(force.joint); body != body_of_joint_.end()) {
      out_.motors.push_back({body->second, of_time(force.value, "the force on " + force.joint)});
    } else {
      refuse("a force of type " + force.type);
    }
  }

  const Spec& spec_;
  const Model& model_;
  Mechanism out_;
  std::map<std::string, Known> known_;
  std::map<std::string, int> body_of_joint_;
};

}  // namespace

Mechanism translate(const Spec& spec, const Model& model) { return Translator(spec, model).run(); }

PeerState peer_state(const State& state) { return {state.t, {state.q.begin(), state.q.end()}, {state.v.begin(), state.v.end()}}; }

State linkwork_state(const PeerState& state) {
  using Values = Eigen::Map<const VecX<double>>;
  return {state.t, Values(state.q.data(), std::ssize(state.q)), Values(state.v.data(), std::ssize(state.v)), 0.0, {}};
}

}  // namespace linkwork::bench
