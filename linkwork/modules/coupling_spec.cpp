#include "linkwork/modules/coupling_spec.h"

#include <fmt/format.h>

#include <algorithm>

#include "linkwork/model/kinds.h"

namespace linkwork {

namespace {

bool is_identity(const FrameSpec& frame) {
  return frame.at.isZero(0.0) && frame.rotation.isApprox(Eigen::Quaterniond::Identity(), 0.0);
}

/// Of a name with or without a component behind it.
template <class T>
const T* find_named(const std::vector<T>& list, const std::string& name) {
  auto found = std::ranges::find(list, name, &T::name);
  if (found == list.end()) found = std::ranges::find(list, name.substr(0, name.rfind('.')), &T::name);
  return found == list.end() ? nullptr : &*found;
}

}  // namespace

CouplingSpec::CouplingSpec(const Spec& whole, std::string name, const Place& place) : whole_(whole) {
  spec_.name = name;
  spec_.place = place;
  spec_.settings = whole.settings;
  spec_.settings.gravity.setZero();
  spec_.kinds = whole.kinds;
  spec_.changing = whole.changing;
  plan_.name = std::move(name);
  plan_.place = place;
}

void CouplingSpec::use_body(const std::string& body) {
  if (body == "ground" || std::ranges::find(plan_.bodies, body) != plan_.bodies.end()) return;
  plan_.bodies.push_back(body);
  BodySpec stand_in;  // where it is and how it moves is all that matters
  stand_in.name = body;
  stand_in.mass = 1.0;
  stand_in.inertia.setIdentity();
  spec_.bodies.push_back(stand_in);
}

void CouplingSpec::use_coordinate(const std::string& coordinate) {
  if (const JointSpec* const joint = find_named(whole_.joints, coordinate)) use_joint(*joint);
}

/// A joint of a module, whose coordinates are read off the motion of its bodies.
void CouplingSpec::use_joint(const JointSpec& joint) {
  if (!joints_.insert(joint.name).second) return;
  use_body(joint.parent.body);
  use_body(joint.child.body);
  plan_.read_only.push_back(joint.name);
  if (joint.type == "free" && joint.parent.body == "ground" && is_identity(joint.parent) && is_identity(joint.child)) {
    JointSpec own = joint;
    own.position.clear();
    own.velocity.clear();
    own.fixed = false;
    spec_.joints.push_back(std::move(own));
    return;
  }
  JointSpec read;
  read.name = joint.name, read.type = joint.type, read.parent = joint.parent, read.child = joint.child;
  read.axis = joint.axis, read.axis2 = joint.axis2, read.pitch = joint.pitch, read.place = joint.place;
  read.cut = true;
  spec_.joints.push_back(std::move(read));
}

void CouplingSpec::use_sensor(const std::string& variable) {
  const SensorSpec* const sensor = find_named(whole_.sensors, variable);
  if (sensor == nullptr || !sensors_.insert(sensor->name).second) return;
  use_body(sensor->frame.body);
  use_body(sensor->b.body);
  use(sensor->value);
  spec_.sensors.push_back(*sensor);
}

void CouplingSpec::use(const Expression& expression) {
  for (const std::string& variable : expression.variables()) {
    const std::size_t dot = variable.find('.');
    if (dot == std::string::npos || variable.starts_with("@")) continue;
    const std::string name = variable.substr(dot + 1);
    if (variable.starts_with("q.") || variable.starts_with("v.")) {
      use_coordinate(name);
    } else if (variable.starts_with("u.")) {
      const auto input = std::ranges::find(whole_.inputs, name, &InputSpec::name);
      if (input == whole_.inputs.end() || !inputs_.insert(name).second) continue;
      spec_.inputs.push_back(*input);
      spec_.inputs.back().is_copy = true;
    } else if (variable.starts_with("z.")) {
      continue;  // all of them were added before
    } else {
      use_sensor(name);
    }
  }
}

void CouplingSpec::add(const ClosureSpec& closure) {
  if (const CoordinateClosureKind* const kind = find_kind(whole_.kinds->closures, closure.type)) {
    use(kind->relation(closure));
  } else {
    use_body(closure.a.body);
    use_body(closure.b.body);
  }
  if (closure.friction && closure.friction->load) use(*closure.friction->load);
  spec_.closures.push_back(closure);
  plan_.own.push_back(closure.name);
}

void CouplingSpec::add(const JointSpec& joint) {
  joints_.insert(joint.name);
  use_body(joint.parent.body);
  use_body(joint.child.body);
  if (joint.dry_friction && joint.dry_friction->load) use(*joint.dry_friction->load);
  spec_.joints.push_back(joint);
  spec_.joints.back().cut = true;
  spec_.joints.back().fixed = false;
  plan_.own.push_back(joint.name);
}

void CouplingSpec::add(ForceSpec force, const std::string& name) {
  use_body(force.a.body);
  use_body(force.b.body);
  if (!force.joint.empty()) use_coordinate(force.joint);
  use(force.value);
  use(force.law);
  for (const Expression& component : force.force) use(component);
  for (const Expression& component : force.torque) use(component);
  force.name = name;
  spec_.forces.push_back(std::move(force));
  plan_.own.push_back(name);
}

void CouplingSpec::add(const StateSpec& state) {
  use(state.rate);
  spec_.states.push_back(state);
  spec_.states.back().is_copy = true;
}

void CouplingSpec::add(const SensorSpec& sensor) {
  use_sensor(sensor.name);
  plan_.own.push_back(sensor.name);
}

CouplingPlan CouplingSpec::finish() {
  for (const std::string& body : plan_.bodies) {
    const auto is_its = [&](const JointSpec& joint) { return joint.type == "free" && !joint.cut && joint.child.body == body; };
    if (std::ranges::any_of(spec_.joints, is_its)) continue;
    JointSpec free;
    free.name = "(" + body + ")";
    free.type = "free";
    free.child.body = body;
    spec_.joints.push_back(std::move(free));
  }
  plan_.spec = std::make_shared<const Spec>(std::move(spec_));
  return std::move(plan_);
}

}  // namespace linkwork
