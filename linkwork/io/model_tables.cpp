#include "linkwork/io/model_tables.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "linkwork/io/data_file.h"
#include "linkwork/io/model_keys.h"
#include "linkwork/io/solids.h"
#include "linkwork/model/closures/frame_closure.h"

namespace linkwork {
namespace {

using Eigen::Vector3d;

FrameSpec read_frame(const TableReader& table, std::string_view key, References& references) {
  FrameSpec frame = read_frame(table.table(key, key_table("frame")));
  references.add_body(frame);
  return frame;
}

/// Notes a joint's coordinate that a key names.
void add_coordinate(References& references, KeyKind kind, const std::string& name, const Place& place) {
  if (kind == KeyKind::kPosition || kind == KeyKind::kPositions) references.add_coordinate(name, place);
  if (kind == KeyKind::kVelocity || kind == KeyKind::kVelocities) references.add_velocity(name, place);
}

/// Reads a value of the type of the field that its key belongs to.
class FieldReader {
 public:
  FieldReader(const TableReader& table, std::string_view key, KeyKind kind, References& references)
      : table_(table), key_(key), kind_(kind), references_(references) {}

  void read(bool& target) const { target = kind_ == KeyKind::kOneOf ? table_.is_last_choice(key_) : table_.boolean(key_); }
  void read(double& target) const { target = table_.number(key_); }
  void read(std::vector<double>& target) const { target = table_.numbers(key_); }
  void read(std::string& target) const {
    target = table_.text(key_);
    add_coordinate(references_, kind_, target, table_.place(key_));
  }
  void read(std::vector<std::string>& target) const {
    if (kind_ == KeyKind::kPosition || kind_ == KeyKind::kVelocity) {
      read(target.emplace_back());
      return;
    }
    target = table_.texts(key_);
    for (std::size_t i = 0; i < target.size(); ++i)
      add_coordinate(references_, kind_, target[i], table_.scope().place(table_.value(key_).items[i]));
  }
  void read(FrameSpec& target) const {
    if (kind_ == KeyKind::kFrame) {
      target = read_frame(table_, key_, references_);
    } else if (kind_ == KeyKind::kBody) {
      target.body = table_.text(key_);
      target.place = table_.place(key_);
      references_.add_body(target);
    } else {
      target.at = table_.vector(key_);
    }
  }
  void read(Expression& target) const {
    target = table_.expression(key_);
    references_.add_variables(target);
  }
  void read(std::array<Expression, 3>& target) const {
    target = table_.expressions(key_);
    for (const Expression& component : target) references_.add_variables(component);
  }

 private:
  const TableReader& table_;
  std::string_view key_;
  KeyKind kind_;
  References& references_;
};

/// What a kind's own keys say, checked.
template <class Kind, class T>
void read_keys(const TableReader& table, const Kind& kind, T& target, References& references) {
  for (const KindKey<T>& key : kind.keys) {
    if (!table.has(key.name)) continue;
    std::visit(
        [&](auto field) {
          if constexpr (std::is_same_v<decltype(field), std::monostate>)
            target.numbers[key.name] = table.number(key.name);
          else
            FieldReader(table, key.name, key.kind, references).read(target.*field);
        },
        key.field);
  }
}

KeyPlaces places_in(const TableReader& table) {
  return {[&table](std::string_view key) { return table.has(key); },
          [&table](std::string_view key) { return table.has(key) ? table.place(key) : table.place(); }};
}

void check_two_bodies(const FrameSpec& a, const FrameSpec& b, const TableReader& table, const std::string& what) {
  if (a.body != b.body) return;
  throw InputError(b.place.line > 0 ? b.place : table.place(), fmt::format("the {} is between '{}' and itself", what, a.body),
                   "two different bodies");
}

Vector3d default_second_axis(const Vector3d& axis, const TableReader& table) {
  constexpr double kRounding = 1e-12;
  for (int i = 0; i < 3; ++i) {
    if (std::abs(axis[i]) >= 1.0 - kRounding) return Vector3d::Unit((i + 1) % 3);
  }
  throw InputError(table.place("axis"), "a universal joint about a slanted axis has no default second axis",
                   "axis2 = [x, y, z], perpendicular to axis");
}

/// axis, axis2 and pitch: joints, closures and connections have the same.
template <class T>
void read_axes(const TableReader& table, T& target) {
  constexpr double kPerpendicular = 1e-9;
  const bool universal = table.type() == "universal";
  if (universal) target.axis = Vector3d::UnitX();
  if (table.has("axis")) target.axis = table.axis("axis");
  table.read("pitch", target.pitch);
  if (!universal) return;
  target.axis2 = table.has("axis2") ? table.axis("axis2") : default_second_axis(target.axis, table);
  const double cosine = target.axis.dot(*target.axis2);
  if (std::abs(cosine) > kPerpendicular) {
    const std::string_view given = table.has("axis2") ? "axis2" : "axis";
    table.fail(given, fmt::format("is not perpendicular to the other axis (the cosine is {:.3g})", cosine),
               "axis2 perpendicular to axis within 1e-9");
  }
  target.axis2 = (*target.axis2 - cosine * target.axis).normalized();
}

ComplianceSpec read_compliance(const TableReader& table) {
  ComplianceSpec compliance;
  if (!table.has("compliance")) return compliance;
  const TableReader gains = table.table("compliance", key_table("compliance"));
  if (gains.has("stiffness")) compliance.stiffness = gains.number("stiffness");
  if (gains.has("damping")) compliance.damping = gains.number("damping");
  return compliance;
}

double read_restitution(const TableReader& table) {
  const double restitution = table.number("restitution");
  if (restitution > 1.0) table.fail("restitution", fmt::format("is {}", restitution), "a number from 0 to 1");
  return restitution;
}

bool is_poisson(const TableReader& table) {
  if (!table.has("impact_law")) return false;
  if (!table.has("restitution")) table.fail("impact_law", "is given without 'restitution'", "both, or neither");
  return table.text("impact_law") == "poisson";
}

FrictionSpec read_friction(const TableReader& table, References& references) {
  const TableReader keys = table.table("dry_friction", key_table("dry_friction"));
  FrictionSpec friction;
  friction.sticking = friction.kinetic = keys.number("kinetic");
  keys.read("static", friction.sticking);
  keys.read("stribeck", friction.stribeck);
  keys.read("viscous", friction.viscous);
  if (friction.sticking < friction.kinetic)
    keys.fail("static", fmt::format("is {}, less than 'kinetic'", friction.sticking), "a number not below 'kinetic'");
  if (!keys.has("load")) return friction;
  friction.load = keys.expression("load");
  references.add_variables(*friction.load);
  return friction;
}

/// "on latch", split at the first space.
std::pair<std::string, std::string> split(std::string_view text, std::string_view separator) {
  const std::size_t at = text.find(separator);
  const auto trimmed = [](std::string_view part) {
    const std::size_t first = part.find_first_not_of(" \t"), last = part.find_last_not_of(" \t");
    return first == std::string_view::npos ? std::string() : std::string(part.substr(first, last - first + 1));
  };
  if (at == std::string_view::npos) return {trimmed(text), ""};
  return {trimmed(text.substr(0, at)), trimmed(text.substr(at + separator.size()))};
}

ActionSpec read_action(const TableReader& table, const TomlValue& item, References& references) {
  using Kind = ActionSpec::Kind;
  const Place place = table.scope().place(item);
  const auto refuse = [&](const std::string& what) -> InputError {
    return InputError(place, what, std::string(in_words(KeyKind::kActions)));
  };
  if (item.kind != TomlValue::Kind::kString) throw refuse("an action is " + item.description());
  const std::string text = table.scope().text(item);
  const auto [verb, rest] = split(text, " ");
  ActionSpec action;
  action.place = place;
  std::string value;
  if (verb == "stop" && rest.empty()) return action;
  if (verb == "on" || verb == "off") {
    action.kind = verb == "on" ? Kind::kOn : Kind::kOff;
    action.name = rest;
  } else if (verb == "set") {
    action.kind = Kind::kSet;
    std::tie(action.name, value) = split(rest, "=");
  } else if (verb == "bounce") {
    action.kind = Kind::kBounce;
    std::tie(action.name, value) = split(rest, " with ");
    if (value.empty()) value = "0";
  } else if (verb == "kick") {
    action.kind = Kind::kKick;
    std::tie(action.name, value) = split(rest, " by ");
    references.add_velocity(action.name, place);
  } else {
    throw refuse(fmt::format("'{}' is no action", text));
  }
  const bool has_value = action.kind != Kind::kOn && action.kind != Kind::kOff;
  if (action.name.empty() || (has_value && value.empty())) throw refuse(fmt::format("'{}' is incomplete", text));
  if (!has_value) return action;
  action.value = Expression::parse(value, table.scope().constants(), Variables::kEvent, place, table.scope().vocabulary());
  references.add_variables(action.value);
  return action;
}

/// Mass properties

SolidSpec read_solid(const TableReader& table) {
  SolidSpec solid;
  solid.shape = table.type();
  for (const std::string_view key : {"from", "center", "at"}) table.read(key, solid.from);
  table.read("to", solid.to);
  table.read("size", solid.size);
  table.read("radius", solid.radius);
  if (table.has("to") && (solid.to - solid.from).norm() == 0.0)
    table.fail("to", "is the same point as 'from'", "two different points");
  return solid;
}

void check_finite(const MassProperties& properties, const Place& place) {
  if (std::isfinite(properties.mass) && properties.com.allFinite() && properties.inertia.allFinite()) return;
  throw InputError(place, "the solid's mass or inertia is not a finite number", "smaller sizes, mass or density");
}

void take_mass_from_solid(BodySpec& body, const TableReader& table, const TableReader& solid) {
  if (solid.has("mass") && solid.has("density")) {
    throw InputError(solid.place("density"), "the solid has both 'mass' and 'density'", "one of them");
  }
  for (const std::string_view key : {"mass", "com", "inertia"}) {
    if (table.has(key)) {
      table.fail(key, fmt::format("is given beside a solid with a {}", solid.has("mass") ? "mass" : "density"),
                 "mass, com and inertia either from the solid or from the body");
    }
  }
  const double mass = solid.has("mass") ? solid.number("mass") : solid.number("density") * extent(*body.solid);
  const MassProperties properties = mass_properties(*body.solid, mass);
  check_finite(properties, solid.place());
  body.mass = properties.mass;
  body.com = properties.com;
  body.inertia = properties.inertia;
}

Eigen::Matrix3d read_inertia(const TableReader& table, bool any) {
  const std::vector<double> m = table.numbers("inertia");
  if (m.size() != 3 && m.size() != 6) table.fail("inertia", "is " + table.value("inertia").description());
  Eigen::Matrix3d inertia = Vector3d(m[0], m[1], m[2]).asDiagonal();
  if (m.size() == 6) {
    inertia(0, 1) = inertia(1, 0) = m[3];
    inertia(0, 2) = inertia(2, 0) = m[4];
    inertia(1, 2) = inertia(2, 1) = m[5];
  }
  check_inertia(inertia, table.place("inertia"), any);
  return inertia;
}

/// What rolls, slides, or opens and closes.
void read_contact(const TableReader& table, References& references, ClosureSpec& closure) {
  if (table.has("normal")) closure.normal = table.axis("normal");
  table.read("contact", closure.contact);
  table.read("active", closure.active);
  if (table.has("one_sided")) {
    closure.side = table.text("one_sided") == "above" ? 1.0 : -1.0;
    if (!closure.contact) table.fail("one_sided", "is given though 'contact' is false", "contact = true");
    if (!closure.active) table.fail("one_sided", "is given though 'active' is false: it closes by itself", "one of them");
  }
  if (table.has("restitution")) {
    if (!closure.side) table.fail("restitution", "is given without 'one_sided'", "one_sided = \"above\" or \"below\"");
    closure.restitution = read_restitution(table);
  }
  closure.poisson = is_poisson(table);
  if (table.has("dry_friction")) {
    if (!closure.active) table.fail("dry_friction", "is given though 'active' is false", "one of them");
    closure.friction = read_friction(table, references);
  }
}

/// All but the frames and what comes and goes.
ClosureSpec closure_without_frames(const TableReader& table) {
  ClosureSpec closure;
  closure.name = table.text("name");
  closure.type = table.type();
  closure.place = table.place();
  read_axes(table, closure);
  References none;  // its own keys are lengths
  if (const FrameClosureKind* const kind = find_frame_closure_kind(closure.type)) read_keys(table, *kind, closure, none);
  closure.compliance = read_compliance(table);
  return closure;
}

void check_between_frames(const ClosureSpec& closure, const TableReader& table) {
  const FrameClosureKind* const kind = find_frame_closure_kind(closure.type);
  if (kind != nullptr && kind->check != nullptr) kind->check(closure, places_in(table));
}

/// Data

std::shared_ptr<const Curve> curve_of(const TableReader& table, DataColumns data) {
  auto interpolation = Curve::Interpolation::kLinear;
  if (table.has("interpolation") && table.text("interpolation") == "cubic") interpolation = Curve::Interpolation::kCubic;
  if (table.has("interpolation") && table.text("interpolation") == "hold") interpolation = Curve::Interpolation::kHold;
  const bool ends = table.has("extrapolation") && table.is_last_choice("extrapolation");
  if (interpolation != Curve::Interpolation::kHold && data.x.size() < 2)
    throw InputError(table.place(), "there is only one point", "at least 2, or interpolation = \"hold\"");
  double scale = 1.0, offset = 0.0;
  table.read("scale", scale);
  table.read("offset", offset);
  for (double& y : data.y) y = scale * y + offset;
  return std::make_shared<const Curve>(table.text("name"), std::move(data.x), std::move(data.y), interpolation,
                                       ends ? Curve::Beyond::kError : Curve::Beyond::kHold);
}

/// Keys that mean something only beside another.
void check_goes_with(const TableReader& table, std::initializer_list<const char*> keys, const std::string& other) {
  for (const char* key : keys)
    if (table.has(key) && !table.has(other)) table.fail(key, "is given without '" + other + "'", "both, or neither");
}

DataColumns written_points(const TableReader& table) {
  for (const char* key : {"x", "y"})
    if (!table.has(key)) throw InputError(table.place(), fmt::format("the table has no '{}'", key), "x and y, or a file");
  DataColumns data{table.numbers("x"), table.numbers("y")};
  if (data.x.empty()) table.fail("x", "is empty", "at least 2 numbers");
  if (data.y.size() != data.x.size())
    table.fail("y", "is " + table.value("y").description(), fmt::format("{} numbers, one for each of 'x'", data.x.size()));
  for (std::size_t i = 1; i < data.x.size(); ++i)
    if (!(data.x[i] > data.x[i - 1]))
      throw InputError(table.scope().place(table.value("x").items[i]),
                       fmt::format("'x' is {} after {}", data.x[i], data.x[i - 1]), "numbers that increase");
  return data;
}

/// Joint coordinates

/// A number for joints with one coordinate, an array for others.
std::vector<double> read_coordinates(const TableReader& table, std::string_view key, const std::vector<std::string>& components) {
  if (components.size() == 1) {
    if (table.value(key).kind == TomlValue::Kind::kArray) table.fail(key, "is " + table.value(key).description(), "a number");
    return {table.number(key)};
  }
  const std::string expected = fmt::format("an array of {} numbers: [{}]", components.size(), listed(components));
  if (table.value(key).kind != TomlValue::Kind::kArray || table.value(key).items.size() != components.size()) {
    table.fail(key, "is " + table.value(key).description(), expected);
  }
  return table.numbers(key);
}

/// Scales the quaternion, which is the last four numbers, to length 1.
void normalize_quaternion(std::vector<double>& position, const TableReader& table) {
  Eigen::Map<Eigen::Vector4d> quaternion(position.data() + position.size() - 4);
  const double largest = quaternion.cwiseAbs().maxCoeff();
  if (largest == 0.0) table.fail("position", "has a quaternion that is zero", "a quaternion w, x, y, z, such as 1, 0, 0, 0");
  quaternion = (quaternion / largest).normalized().eval();
}

std::array<double, 2> read_limits(const TableReader& table, const std::vector<double>& position) {
  const std::vector<double> limits = table.numbers("limits");
  if (limits.size() != 2) table.fail("limits", "is " + table.value("limits").description());
  if (!(limits[0] < limits[1])) table.fail("limits", fmt::format("is [{}, {}]", limits[0], limits[1]));
  for (const double coordinate : position) {
    if (coordinate >= limits[0] && coordinate <= limits[1]) continue;
    table.fail("position", fmt::format("is {}, outside the limits", coordinate), fmt::format("{} to {}", limits[0], limits[1]));
  }
  return {limits[0], limits[1]};
}

}  // namespace

Settings read_settings(const TableReader& table) {
  Settings settings;
  table.read("gravity", settings.gravity);
  table.read("end", settings.end);
  table.read("step", settings.step);
  table.read("max_step", settings.max_step);
  table.read("rtol", settings.rtol);
  table.read("atol", settings.atol);
  table.read("output_every", settings.output_every);
  table.read("constraint_tolerance", settings.constraint_tolerance);
  settings.tolerance_in_metres = table.has("constraint_tolerance");
  table.read("design_tolerance", settings.design_tolerance);
  table.read("coordinates", settings.coordinates);
  table.read("formulation", settings.formulation);
  table.read("stabilization", settings.stabilization);
  table.read("integrator", settings.integrator);
  table.read("glue", settings.glue);
  if (table.has("columns")) {
    settings.columns = table.texts("columns");
    settings.columns_place = table.place("columns");
    if (settings.columns.empty()) table.fail("columns", "is empty", "groups, names or patterns of columns, or no such key");
  }
  return settings;
}

BodySpec read_body(const TableReader& table) {
  BodySpec body;
  body.name = table.text("name");
  body.place = table.place();
  if (body.name == "ground") table.fail("name", "is 'ground', the body that does not move", "another name");
  bool solid_has_mass = false;
  if (table.has("solid")) {
    const TableReader solid = table.table("solid", key_table("solid"));
    body.solid = read_solid(solid);
    solid_has_mass = solid.has("mass") || solid.has("density");
    if (solid_has_mass) take_mass_from_solid(body, table, solid);
  }
  if (solid_has_mass) return body;
  if (!table.has("mass")) {
    throw InputError(table.place(), fmt::format("the body '{}' has no 'mass'", body.name),
                     "mass, or a solid with mass or density");
  }
  table.read("mass", body.mass);
  table.read("com", body.com);
  table.read("any_inertia", body.any_inertia);
  if (table.has("inertia")) body.inertia = read_inertia(table, body.any_inertia);
  return body;
}

JointSpec read_joint(const TableReader& table, References& references) {
  JointSpec joint;
  const JointKind& kind = *find_joint_kind(table.type());
  joint.name = table.text("name");
  joint.type = table.type();
  joint.place = table.place();
  joint.parent = read_frame(table, "parent", references);
  joint.child = read_frame(table, "child", references);
  check_two_bodies(joint.parent, joint.child, table, "joint");
  read_axes(table, joint);
  if (table.has("position")) joint.position = read_coordinates(table, "position", kind.positions);
  if (table.has("velocity")) joint.velocity = read_coordinates(table, "velocity", kind.velocities);
  if (kind.has_quaternion() && !joint.position.empty()) normalize_quaternion(joint.position, table);
  table.read("fixed", joint.fixed);
  table.read("cut", joint.cut);
  table.read("damping", joint.damping);
  table.read("stiffness", joint.stiffness);
  table.read("rest", joint.rest);
  table.read("friction", joint.friction);
  table.read("armature", joint.armature);
  if (table.has("limits")) joint.limits = read_limits(table, joint.position);
  if (table.has("restitution")) {
    if (!joint.limits) table.fail("restitution", "is given without 'limits'", "limits = [least, greatest]");
    joint.restitution = read_restitution(table);
  }
  joint.poisson = is_poisson(table);
  if (table.has("dry_friction")) {
    joint.dry_friction = read_friction(table, references);
    if (joint.dry_friction->load) table.fail("dry_friction", "of a joint has a 'load'", "forces or torques, which need none");
    if (joint.friction != 0.0) table.fail("dry_friction", "is given beside 'friction'", "one of them");
  }
  joint.compliance = read_compliance(table);
  return joint;
}

ClosureSpec read_closure(const TableReader& table, const Kinds& kinds, References& references) {
  ClosureSpec closure = closure_without_frames(table);
  const CoordinateClosureKind* const relation = find_kind(kinds.closures, closure.type);
  if (relation != nullptr) {
    read_keys(table, *relation, closure, references);
  } else {
    closure.a = read_frame(table, "a", references);
    closure.b = read_frame(table, "b", references);
    check_two_bodies(closure.a, closure.b, table, "closure");
  }
  read_contact(table, references, closure);
  if (relation != nullptr && relation->check != nullptr) relation->check(closure, places_in(table));
  check_between_frames(closure, table);
  return closure;
}

ClosureSpec read_connection(const TableReader& table, References& references) {
  ClosureSpec closure = closure_without_frames(table);
  read_contact(table, references, closure);
  check_between_frames(closure, table);
  return closure;
}

EventSpec read_event(const TableReader& table, References& references) {
  EventSpec event;
  event.name = table.text("name");
  event.place = table.place();
  event.when = table.expression("when");
  references.add_variables(event.when);
  if (event.when.is_constant()) table.fail("when", "never changes", "an expression of time or state");
  if (table.has("direction"))
    event.direction = table.text("direction") == "rising" ? 1 : table.text("direction") == "falling" ? -1 : 0;
  const TomlValue& actions = table.value("do");
  if (actions.kind != TomlValue::Kind::kArray || actions.items.empty()) table.fail("do", "is " + actions.description());
  for (const TomlValue& item : actions.items) event.actions.push_back(read_action(table, item, references));
  return event;
}

std::string parameter_set_by(std::string_view action) {
  const auto [verb, rest] = split(action, " ");
  return verb == "set" ? split(rest, "=").first : "";
}

ForceSpec read_force(const TableReader& table, const Kinds& kinds, References& references, bool between_ports) {
  ForceKind kind = *find_kind(kinds.forces, table.type());
  if (between_ports) leave_out_ends(kind);
  ForceSpec force;
  table.read("name", force.name);
  table.read("active", force.active);
  force.type = table.type();
  force.place = table.place();
  read_keys(table, kind, force, references);
  if (!between_ports && table.has("a") && table.has("b")) check_two_bodies(force.a, force.b, table, force.type);
  if (kind.check != nullptr) kind.check(force, places_in(table));
  return force;
}

SensorSpec read_sensor(const TableReader& table, const Kinds& kinds, References& references) {
  SensorSpec sensor;
  sensor.name = table.text("name");
  sensor.type = table.type();
  sensor.place = table.place();
  read_keys(table, *find_kind(kinds.sensors, sensor.type), sensor, references);
  if (table.has("a") && table.has("b")) check_two_bodies(sensor.frame, sensor.b, table, "sensor");
  return sensor;
}

InputSpec read_input(const TableReader& table, const LoadData& load) {
  InputSpec input;
  input.name = table.text("name");
  input.place = table.place();
  check_goes_with(table, {"column", "time", "interpolation", "extrapolation", "scale", "offset"}, "file");
  if (table.has("value")) input.value = table.expression("value");
  if (!table.has("file")) return input;
  if (table.has("value")) table.fail("file", "is given beside 'value'", "one of them");
  const auto wanted = [&](std::string_view key, std::size_t position) -> ColumnRequest {
    if (!table.has(key)) return {"", table.place("file"), position};
    return {table.text(key), table.place(key)};
  };
  const std::string file = table.text("file");
  input.data = curve_of(table, read_columns(load(file, table.place("file")), file, wanted("time", 0), wanted("column", 1)));
  return input;
}

StateSpec read_state(const TableReader& table, References& references) {
  StateSpec state{table.text("name"), 0.0, table.expression("rate"), table.place()};
  table.read("start", state.start);
  references.add_variables(state.rate);
  return state;
}

std::shared_ptr<const Curve> read_table(const TableReader& table, const LoadData& load) {
  const std::string name = table.text("name");
  if (!is_identifier(name) || is_reserved_name(name) || table.scope().constants().contains(name))
    table.fail("name", "is '" + name + "'",
               "letters, digits and _, not starting with a digit, and no name of a function or parameter");
  check_goes_with(table, {"columns"}, "file");
  if (!table.has("file")) return curve_of(table, written_points(table));
  for (const char* key : {"x", "y"})
    if (table.has(key)) table.fail(key, "is given beside 'file'", "one of them");
  ColumnRequest x{"", table.place("file"), 0}, y{"", table.place("file"), 1};
  if (table.has("columns")) {
    const std::vector<std::string> names = table.texts("columns");
    if (names.size() != 2) table.fail("columns", "is " + table.value("columns").description(), "2 names, of x and y");
    x.name = names[0], y.name = names[1];
    x.place = y.place = table.place("columns");
  }
  const std::string file = table.text("file");
  return curve_of(table, read_columns(load(file, table.place("file")), file, x, y));
}

}  // namespace linkwork
