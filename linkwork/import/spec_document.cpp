#include "linkwork/import/spec_document.h"

#include <algorithm>
#include <cmath>

namespace linkwork {
namespace {

using Vector = Eigen::Vector3d;

TomlValue triple(const Vector& v) { return std::vector<TomlValue>{v.x(), v.y(), v.z()}; }

template <class List>
TomlValue listing(const List& values) {
  std::vector<TomlValue> items;
  for (const auto& value : values) items.emplace_back(value);
  return items;
}

/// A number for one coordinate, else an array.
TomlValue coordinates(const std::vector<double>& values) { return values.size() == 1 ? TomlValue(values[0]) : listing(values); }

class Writer {
 public:
  explicit Writer(const Spec& spec) : spec_(spec) { document_.files = {spec.place.file}; }

  Document write() {
    TomlValue& root = document_.root;
    root["linkwork"] = 1;
    root["name"] = spec_.name;
    mark(root, spec_.place);
    settings(root["settings"]);
    add("body", spec_.bodies, [&](const BodySpec& body) { return table(body); });
    add("joint", spec_.joints, [&](const JointSpec& joint) { return table(joint); });
    add("closure", spec_.closures, [&](const ClosureSpec& closure) { return table(closure); });
    add("input", spec_.inputs, [&](const InputSpec& input) { return table(input); });
    add("state", spec_.states, [&](const StateSpec& state) { return table(state); });
    add("force", spec_.forces, [&](const ForceSpec& force) { return table(force); });
    add("sensor", spec_.sensors, [&](const SensorSpec& sensor) { return table(sensor); });
    add("visual", spec_.visuals, [&](const VisualSpec& visual) { return table(visual); });
    return std::move(document_);
  }

 private:
  template <class List, class Table>
  void add(const char* key, const List& list, const Table& table) {
    if (list.empty()) return;
    std::vector<TomlValue> tables;
    for (const auto& one : list) {
      tables.push_back(table(one));
      mark(tables.back(), place_of(one));
    }
    document_.root[key] = std::move(tables);
  }

  template <class T>
  static const Place& place_of(const T& one) {
    return one.place;
  }
  static const Place& place_of(const VisualSpec& visual) { return visual.frame.place; }

  /// Everything in it comes from there, unless it already knows better.
  void mark(TomlValue& value, const Place& place) {
    if (value.line == 0) value.file = file(place.file), value.line = place.line, value.column = place.column;
    for (TomlValue& item : value.items) mark(item, place);
    for (TomlEntry& entry : value.entries) {
      mark(entry.value, place);
      entry.line = entry.value.line, entry.column = entry.value.column;
    }
  }

  int file(const std::string& name) {
    auto& files = document_.files;
    const auto known = std::ranges::find(files, name);
    if (known != files.end()) return static_cast<int>(known - files.begin());
    files.push_back(name);
    return static_cast<int>(files.size()) - 1;
  }

  void settings(TomlValue& table) const {
    const Settings usual;
    table["gravity"] = triple(spec_.settings.gravity);
    if (spec_.settings.step != usual.step) table["step"] = spec_.settings.step;
    if (spec_.settings.end != usual.end) table["end"] = spec_.settings.end;
    if (spec_.settings.integrator.name != usual.integrator.name) table["integrator"] = spec_.settings.integrator.name;
    if (spec_.settings.rtol != usual.rtol) table["rtol"] = spec_.settings.rtol;
    if (spec_.settings.atol != usual.atol) table["atol"] = spec_.settings.atol;
    if (spec_.settings.design_tolerance != 0.0) table["design_tolerance"] = spec_.settings.design_tolerance;
  }

  static TomlValue table(const BodySpec& body) {
    TomlValue table;
    table["name"] = body.name;
    table["mass"] = body.mass;
    table["com"] = triple(body.com);
    const Eigen::Matrix3d& I = body.inertia;
    std::vector<TomlValue> inertia{I(0, 0), I(1, 1), I(2, 2)};
    if (I(0, 1) != 0.0 || I(0, 2) != 0.0 || I(1, 2) != 0.0)
      for (const double product : {I(0, 1), I(0, 2), I(1, 2)}) inertia.emplace_back(product);
    table["inertia"] = std::move(inertia);
    if (body.any_inertia) table["any_inertia"] = true;
    return table;
  }

  TomlValue frame(const FrameSpec& frame) {
    TomlValue table;
    table["body"] = frame.body;
    if (!frame.at.isZero(0.0)) table["at"] = triple(frame.at);
    const Eigen::Quaterniond& q = frame.rotation;
    if (!q.vec().isZero(0.0)) table["quat"] = std::vector<TomlValue>{q.w(), q.x(), q.y(), q.z()};
    mark(table, frame.place);
    return table;
  }

  template <class T>
  static void axes(const T& from, TomlValue& table) {
    const bool universal = from.type == "universal";
    if (from.type == "spherical" || from.type == "weld" || from.type == "free" || from.type == "point") return;
    table["axis"] = triple(from.axis);
    if (universal && from.axis2) table["axis2"] = triple(*from.axis2);
    if (from.type == "screw") table["pitch"] = from.pitch;
  }

  TomlValue table(const JointSpec& joint) {
    TomlValue table;
    table["name"] = joint.name;
    table["type"] = joint.type;
    table["parent"] = frame(joint.parent);
    table["child"] = frame(joint.child);
    axes(joint, table);
    if (!joint.position.empty()) table["position"] = coordinates(joint.position);
    if (!joint.velocity.empty()) table["velocity"] = coordinates(joint.velocity);
    if (joint.cut) table["cut"] = true;
    const auto number = [&](const char* key, double value) {
      if (value != 0.0) table[key] = value;
    };
    number("damping", joint.damping);
    number("armature", joint.armature);
    number("stiffness", joint.stiffness);
    number("rest", joint.rest);
    number("friction", joint.friction);
    if (joint.limits) table["limits"] = listing(*joint.limits);
    return table;
  }

  TomlValue table(const ClosureSpec& closure) {
    TomlValue table;
    table["name"] = closure.name;
    table["type"] = closure.type;
    if (closure.type == "gear") {
      table["joints"] = listing(closure.joints);
      table["coefficients"] = listing(closure.coefficients);
      if (closure.offset != 0.0) table["offset"] = closure.offset;
      return table;
    }
    if (closure.type == "drive") {
      table["joint"] = closure.joints.front();
      table["value"] = value_of(closure.value);
      return table;
    }
    if (closure.type == "expression") {
      table["expression"] = closure.value.text();
      return table;
    }
    table["a"] = frame(closure.a);
    table["b"] = frame(closure.b);
    axes(closure, table);
    if (closure.type == "distance") table["length"] = closure.length;
    return table;
  }

  static TomlValue value_of(const Expression& expression) {
    return expression.is_constant() ? TomlValue(expression.constant_value()) : TomlValue(expression.text());
  }

  static TomlValue table(const InputSpec& input) {
    TomlValue table;
    table["name"] = input.name;
    table["value"] = value_of(input.value);
    return table;
  }

  static TomlValue table(const StateSpec& state) {
    TomlValue table;
    table["name"] = state.name;
    table["start"] = state.start;
    table["rate"] = value_of(state.rate);
    return table;
  }

  TomlValue table(const ForceSpec& force) {
    TomlValue table;
    if (!force.name.empty()) table["name"] = force.name;
    table["type"] = force.type;
    if (force.type == "torque" || force.type == "force") {
      table["joint"] = force.joint;
      table["value"] = value_of(force.value);
      return table;
    }
    table["a"] = frame(force.a);
    table["b"] = frame(force.b);
    if (force.type == "bushing") {
      for (const auto& [key, values] :
           {std::pair{"force_stiffness", &force.force_stiffness}, std::pair{"torque_stiffness", &force.torque_stiffness},
            std::pair{"force_damping", &force.force_damping}, std::pair{"torque_damping", &force.torque_damping}})
        if (!values->empty()) table[key] = listing(*values);
      return table;
    }
    if (force.law.is_given()) {
      table["law"] = force.law.text();
      return table;
    }
    table["stiffness"] = force.stiffness;
    table["length"] = force.length;
    if (force.damping != 0.0) table["damping"] = force.damping;
    return table;
  }

  TomlValue table(const SensorSpec& sensor) {
    TomlValue table;
    table["name"] = sensor.name;
    table["type"] = sensor.type;
    if (sensor.type == "expression") {
      table["expression"] = sensor.value.text();
      return table;
    }
    if (sensor.type == "imu") {
      table["frame"] = frame(sensor.frame);
      return table;
    }
    table["body"] = sensor.frame.body;
    if (!sensor.frame.at.isZero(0.0)) table["at"] = triple(sensor.frame.at);
    return table;
  }

  TomlValue table(const VisualSpec& visual) {
    TomlValue table;
    table["shape"] = visual.shape;
    const TomlValue at = frame(visual.frame);
    table.entries.insert(table.entries.end(), at.entries.begin(), at.entries.end());
    if (visual.shape == "box") table["size"] = triple(visual.size);
    if (visual.shape == "ellipsoid") table["radii"] = triple(visual.size);
    if (visual.shape == "mesh") table["file"] = visual.file;
    if (visual.shape == "mesh" && visual.size != Vector::Ones()) table["scale"] = triple(visual.size);
    if (visual.shape == "cylinder" || visual.shape == "capsule" || visual.shape == "sphere") table["radius"] = visual.radius;
    if (visual.shape == "cylinder" || visual.shape == "capsule") table["length"] = visual.length;
    if (visual.color) table["color"] = listing(*visual.color);
    return table;
  }

  const Spec& spec_;
  Document document_;
};

}  // namespace

Document document_of(const Spec& spec) { return Writer(spec).write(); }

}  // namespace linkwork
