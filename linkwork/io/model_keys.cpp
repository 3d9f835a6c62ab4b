#include "linkwork/io/model_keys.h"

#include <algorithm>
#include <functional>
#include <stdexcept>

#include "linkwork/model/closures/frame_closure.h"
#include "linkwork/model/joints/joint_kind.h"

namespace linkwork {
namespace {

using Names = std::vector<std::string>;
using enum KeyKind;

template <class Kinds, class Wanted>
Names names_of(const Kinds& kinds, Wanted&& wanted) {
  Names names;
  for (const auto& kind : kinds) {
    if (wanted(kind)) names.emplace_back(kind.name);
  }
  return names;
}

template <class Kinds>
Names names_of(const Kinds& kinds) {
  return names_of(kinds, [](const auto&) { return true; });
}

Names joint_types(const std::function<bool(const JointKind&)>& wanted) { return names_of(joint_kinds(), wanted); }

/// Adds the keys that kinds bring along. Those that several have in common stand once.
template <class Kinds>
void add_keys(std::vector<Key>& keys, const Kinds& kinds) {
  for (const auto& kind : kinds) {
    for (const auto& key : kind.keys) {
      const auto same = std::ranges::find_if(keys, [&](const Key& k) {
        return k.name == key.name && k.kind == key.kind && k.required == key.required && k.summary == key.summary;
      });
      if (same != keys.end())
        same->types.emplace_back(kind.name);
      else
        keys.push_back({key.name, key.kind, key.required, key.summary, {std::string(kind.name)}, key.choices});
    }
  }
}

/// Closures between two frames: the joint types except free, which has no rows, and the closures proper.
Names frame_closure_types(bool with_axis_only) {
  Names names = joint_types([&](const JointKind& kind) { return !kind.rows.empty() && (kind.has_axis || !with_axis_only); });
  for (const FrameClosureKind& kind : frame_closure_kinds())
    if (kind.has_axis || !with_axis_only) names.emplace_back(kind.name);
  return names;
}

Names joined(Names a, const Names& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

const Key kRepeatKey{"repeat", kRepeat, kOptional, "makes one table for each value of an index"};
const Key kComplianceKey{
    "compliance", kTable, kOptional,
    "its virtual springs and dampers in the formulation `compliance`, in place of the formulation's options"};

const std::string kAxisSummary = "its axis in both frames; default `[0, 0, 1]`, universal `[1, 0, 0]`";
const Key kSecondAxisKey{
    "axis2", kAxis, kOptional, "second axis, perpendicular to the first; has a default if the first is x, y or z", {"universal"}};
const Key kPitchKey{"pitch", kNonzero, kRequired, "advance along the axis in a full turn, m", {"screw"}};
const char* const kImpactLaw =
    "what returns the share `restitution`: `newton`, the speed, or `poisson`, the impulse; default `newton`";

const Key kActiveKey{"active", kBoolean, kOptional, "whether it is in force at the start; events switch it; default `true`"};

KeyTable model_keys() {
  return {"model",
          "model",
          "",
          {{"linkwork", kVersion, kRequired, "version of the format"},
           {"name", kText, kOptional, "name of the model; without it the file's name"},
           {"parameters", kNumberTable, kOptional, "named numbers for use in expressions"},
           {"settings", kTable, kOptional, "how the model is simulated unless the command line says otherwise"},
           {"body", kTables, kOptional, "rigid bodies"},
           {"joint", kTables, kOptional, "joints, of the tree or closing loops"},
           {"closure", kTables, kOptional, "constraints that are not joints"},
           {"force", kTables, kOptional, "forces and torques"},
           {"sensor", kTables, kOptional, "additional output columns"},
           {"visual", kTables, kOptional, "shapes that are only drawn"},
           {"input", kTables, kOptional, "numbers that come from outside"},
           {"state", kTables, kOptional, "continuous states of your own"},
           {"fmu", kTables, kOptional, "programs of others (FMI): controllers, motors, hydraulics"},
           {"table", kTables, kOptional, "measured curves, which expressions call by their names"},
           {"event", kTables, kOptional, "what happens when something crosses zero"},
           {"port", kTables, kOptional, "frames offered for connections"},
           {"module", kTables, kOptional, "other model files used as parts"},
           {"connection", kTables, kOptional, "constraints and springs between ports"}}};
}

KeyTable settings_keys() {
  return {
      "settings",
      "settings",
      "",
      {{"gravity", kVector, kOptional, "acceleration of free fall, m/s²; default `[0, -9.81, 0]`"},
       {"end", kPositive, kOptional, "time at which the simulation ends, s; default `10`"},
       {"step", kPositive, kOptional, "step size, or the first one of adaptive integrators, s; default `1e-3`"},
       {"max_step", kPositive, kOptional, "longest step of integrators that choose their own, s; default: none"},
       {"rtol", kPositive, kOptional, "relative tolerance of adaptive integrators; default `1e-6`"},
       {"atol", kPositive, kOptional, "absolute tolerance of adaptive integrators; default `1e-9`"},
       {"output_every", kPositive, kOptional, "time between two rows of output, s; default `0.01`"},
       {"constraint_tolerance", kPositive, kOptional,
        "how well constraints must hold: in m and rad if given, else lengths relative to the longest distance within a body; "
        "default `1e-10`"},
       {"design_tolerance", kNotNegative, kOptional,
        "how far frames may be moved, m, to make redundant constraints agree that rounded data set against each other; default "
        "`0`"},
       {"coordinates", kCatalogChoice, kOptional, "which coordinates the system is solved in; default `\"auto\"`"},
       {"formulation", kCatalogChoice, kOptional, "how accelerations are found; default `\"auto\"`"},
       {"stabilization", kCatalogChoice, kOptional, "what keeps the constraints from drifting; default `\"projection\"`"},
       {"integrator", kCatalogChoice, kOptional, "the time stepping method; default `\"rk4\"`"},
       {"glue", kCatalogChoice, kOptional, "what joins modules that are solved apart; default `\"auto\"`"},
       {"columns", kTexts, kOptional,
        "what is written: groups (`q`, `v`, `a`, `lambda`, `reactions`, `efforts`, `inputs`, `states`, `energy`, `errors`, "
        "`sensors`), names, or patterns such as `force.crank.*`; default all"},
       {"network", kTable, kOptional, "how modules on other hosts are reached"}}};
}

KeyTable network_keys() {
  return {"network",
          "network settings",
          "",
          {{"ca", kText, kOptional, "certificate of the authority that signs those of hosts, a file; default `LINKWORK_CA`"},
           {"cert", kText, kOptional, "certificate of this side, a file; default `LINKWORK_CERT`"},
           {"key", kText, kOptional, "its private key, a file; default `LINKWORK_KEY`"},
           {"timeout", kPositive, kOptional, "how long to wait for an answer, and for a host that was lost, s; default `10`"}}};
}

KeyTable body_keys() {
  return {"body",
          "body",
          "",
          {{"name", kName, kRequired, "name of the body, its own among bodies"},
           {"mass", kNotNegative, kOptional, "mass, kg; required unless `solid` has one"},
           {"com", kVector, kOptional, "centre of mass in the body frame, m; default `[0, 0, 0]`"},
           {"inertia", kInertia, kOptional, "about the centre of mass, body axes, kg m²; default zero"},
           {"any_inertia", kBoolean, kOptional, "lets pass an inertia that no body has, as rounded data give; default `false`"},
           {"solid", kTable, kOptional, "a shape, for the drawing and, if it has a mass or density, for mass, com and inertia"},
           kRepeatKey}};
}

KeyTable solid_keys() {
  const Names lines{"rod", "cylinder"};
  const Names round{"cylinder", "sphere"};
  const Names centered{"box", "sphere"};
  return {"solid",
          "solid",
          "shape",
          {{"shape", kOneOf, kRequired, "the shape", {}, {"rod", "cylinder", "box", "sphere", "point"}},
           {"from", kVector, kOptional, "where its axis begins, body frame, m; default `[0, 0, 0]`", lines},
           {"to", kVector, kRequired, "where its axis ends, m", lines},
           {"center", kVector, kOptional, "its centre, m; default `[0, 0, 0]`", centered},
           {"size", kPositiveVector, kRequired, "edge lengths along the body axes, m", {"box"}},
           {"radius", kPositive, kRequired, "radius, m", round},
           {"at", kVector, kOptional, "where it is, m; default `[0, 0, 0]`", {"point"}},
           {"mass", kNotNegative, kOptional, "mass, kg"},
           {"density", kPositive, kOptional, "instead of mass: mass per volume, kg/m³", {"cylinder", "box", "sphere"}},
           {"density", kPositive, kOptional, "instead of mass: mass per length, kg/m", {"rod"}}}};
}

KeyTable frame_keys() {
  return {"frame",
          "frame",
          "",
          {{"body", kReference, kRequired, "name of the body the frame is fixed to, or `\"ground\"`"},
           {"at", kVector, kOptional, "its origin in the body frame, m; default `[0, 0, 0]`"},
           {"rpy", kVector, kOptional, "its rotation as roll, pitch, yaw: about the body's x, then y, then z, rad"},
           {"quat", kQuaternion, kOptional, "or as a quaternion"}}};
}

KeyTable joint_keys() {
  const Names with_axis = joint_types([](const JointKind& kind) { return kind.has_axis; });
  const Names moving = joint_types([](const JointKind& kind) { return kind.nv() > 0; });
  const Names plain = joint_types([](const JointKind& kind) { return kind.nv() > 0 && !kind.has_quaternion(); });
  const Names single = joint_types([](const JointKind& kind) { return kind.nv() == 1; });
  return {"joint",
          "joint",
          "type",
          {{"name", kName, kRequired, "name of the joint, its own among joints, closures and connections"},
           {"type", kOneOf, kRequired, "the type of joint", {}, joint_types([](const JointKind&) { return true; })},
           {"parent", kFrame, kRequired, "the frame it starts from"},
           {"child", kFrame, kRequired, "the frame it carries"},
           {"axis", kAxis, kOptional, kAxisSummary, with_axis},
           kSecondAxisKey,
           kPitchKey,
           {"position", kCoordinates, kOptional, "start value of its coordinates; default zero, no rotation", moving},
           {"velocity", kCoordinates, kOptional, "start value of its velocities; default zero", moving},
           {"fixed", kBoolean, kOptional,
            "whether assembly must keep its start position, and its velocity if given; default `false`", moving},
           {"cut", kBoolean, kOptional, "whether it must be a joint that closes a loop; default `false`"},
           kComplianceKey,
           {"damping", kNotNegative, kOptional, "force or torque per velocity; default `0`", moving},
           {"armature", kNotNegative, kOptional, "inertia of a rotor that moves as the coordinate does; default `0`", single},
           {"stiffness", kNotNegative, kOptional, "force or torque per displacement from `rest`; default `0`", plain},
           {"rest", kNumber, kOptional, "coordinate at which the stiffness gives no force; default `0`", plain},
           {"friction", kNotNegative, kOptional, "force or torque of dry friction, rounded off at rest; default `0`", plain},
           {"dry_friction", kTable, kOptional, "dry friction that can hold the joint at rest: forces or torques", single},
           {"limits", kLimits, kOptional,
            "least and greatest value of its coordinates: a run that leaves them says so; nothing stops it without `restitution`",
            plain},
           {"restitution", kNotNegative, kOptional, "makes `limits` stops, from which this share of the speed returns: 0 to 1",
            single},
           {"impact_law", kOneOf, kOptional, kImpactLaw, single, {"newton", "poisson"}},
           kRepeatKey}};
}

/// What closures between frames, those of connections too, say of planes, of contact and of friction. `relations`: closures on
/// coordinates that are among them.
void add_contact_keys(std::vector<Key>& keys, const std::vector<CoordinateClosureKind>& relations) {
  const auto frames = frame_closure_kinds();
  const Names on_plane = names_of(frames, [](const FrameClosureKind& kind) { return kind.on_plane; });
  const Names with_contact = names_of(frames, [](const FrameClosureKind& kind) { return kind.has_contact_row(); });
  const Names one_sided = joined(names_of(frames, [](const FrameClosureKind& kind) { return kind.can_open(); }),
                                 names_of(relations, [](const CoordinateClosureKind& kind) { return kind.can_open; }));
  const Names sliding = joined(names_of(frames, [](const FrameClosureKind& kind) { return !kind.is_holonomic(); }),
                               names_of(relations, [](const CoordinateClosureKind& kind) { return kind.can_slide; }));
  keys.insert(keys.end(), {{"normal", kAxis, kOptional, "normal of the plane, in frame a; default `[0, 0, 1]`", on_plane},
                           {"contact", kBoolean, kOptional,
                            "whether it keeps the bodies in contact too, or joints do; default `true`", with_contact}});
  add_keys(keys, frames);
  add_keys(keys, relations);
  keys.insert(keys.end(),
              {kActiveKey,
               {"one_sided",
                kOneOf,
                kOptional,
                "it only keeps its (first) row from falling below zero, or rising above it",
                one_sided,
                {"above", "below"}},
               {"restitution", kNotNegative, kOptional,
                "share of the speed that returns from an impact of a one-sided closure: 0 to 1; default `0`", one_sided},
               {"impact_law", kOneOf, kOptional, kImpactLaw, one_sided, {"newton", "poisson"}},
               {"dry_friction", kTable, kOptional, "lets it slide: coefficients of friction", sliding}});
}

KeyTable closure_keys(const std::vector<CoordinateClosureKind>& relations) {
  const Names between_frames = frame_closure_types(false);
  KeyTable table{"closure",
                 "closure",
                 "type",
                 {{"name", kName, kRequired, "name of the closure, its own among joints, closures and connections"},
                  {"type", kOneOf, kRequired, "the type of closure", {}, joined(between_frames, names_of(relations))},
                  {"a", kFrame, kRequired, "the first frame", between_frames},
                  {"b", kFrame, kRequired, "the second frame", between_frames},
                  {"axis", kAxis, kOptional, kAxisSummary, frame_closure_types(true)},
                  kSecondAxisKey,
                  kPitchKey}};
  add_contact_keys(table.keys, relations);
  table.keys.insert(table.keys.end(), {kComplianceKey, kRepeatKey});
  return table;
}

KeyTable dry_friction_keys() {
  return {"dry_friction",
          "dry_friction",
          "",
          {{"static", kNotNegative, kOptional, "what holds at rest at most; default `kinetic`"},
           {"kinetic", kNotNegative, kRequired, "what opposes sliding"},
           {"stribeck", kPositive, kOptional, "speed over which the one turns into the other; default: at once"},
           {"viscous", kNotNegative, kOptional, "what is added per speed, as a force; default `0`"},
           {"load", kExpressionOfState, kOptional,
            "of closures: the force that presses the bodies together, N; default: that of its own contact"}}};
}

KeyTable event_keys() {
  return {"event",
          "event",
          "",
          {{"name", kName, kRequired, "name of the event, its own among events"},
           {"when", kExpressionOfEvent, kRequired, "what must cross zero"},
           {"direction", kOneOf, kOptional, "which way; default `\"both\"`", {}, {"rising", "falling", "both"}},
           {"do", kActions, kRequired, "what then happens, in this order"},
           kRepeatKey}};
}

KeyTable compliance_keys() {
  return {"compliance",
          "compliance",
          "",
          {{"stiffness", kNotNegative, kOptional,
            "force or torque per error of a row; default: option `stiffness` of the formulation"},
           {"damping", kNotNegative, kOptional,
            "force or torque per rate of the error; default: option `damping` of the formulation"}}};
}

KeyTable connection_keys(std::vector<ForceKind> forces) {
  std::erase_if(forces, [](const ForceKind& kind) { return !kind.links_modules; });
  for (ForceKind& kind : forces) leave_out_ends(kind);
  const Names constraints = frame_closure_types(false);
  KeyTable table{"connection",
                 "connection",
                 "type",
                 {{"name", kName, kRequired, "name of the connection, its own among joints, closures and connections"},
                  {"type", kOneOf, kRequired, "the type of closure, or of force", {}, joined(constraints, names_of(forces))},
                  {"a", kReference, kRequired, "the first port, or `\"ground\"` for the world frame"},
                  {"b", kReference, kRequired, "the second port, or `\"ground\"`"},
                  {"axis", kAxis, kOptional, kAxisSummary, frame_closure_types(true)},
                  kSecondAxisKey,
                  kPitchKey}};
  add_contact_keys(table.keys, {});
  add_keys(table.keys, forces);
  Key compliance = kComplianceKey;
  compliance.types = constraints;
  table.keys.insert(table.keys.end(), {compliance, kRepeatKey});
  return table;
}

KeyTable force_keys(const std::vector<ForceKind>& kinds) {
  KeyTable table{
      "force",
      "force",
      "type",
      {{"name", kName, kOptional, "name of the force"}, {"type", kOneOf, kRequired, "the type of force", {}, names_of(kinds)}}};
  add_keys(table.keys, kinds);
  table.keys.insert(table.keys.end(), {kActiveKey, kRepeatKey});
  return table;
}

KeyTable sensor_keys(const std::vector<SensorKind>& kinds) {
  KeyTable table{"sensor",
                 "sensor",
                 "type",
                 {{"name", kName, kRequired, "name of the sensor, its own among sensors"},
                  {"type", kOneOf, kRequired, "what it shows", {}, names_of(kinds)}}};
  add_keys(table.keys, kinds);
  table.keys.push_back(kRepeatKey);
  return table;
}

KeyTable visual_keys() {
  KeyTable table = frame_keys();
  table.name = table.title = "visual";
  table.selector = "shape";
  table.keys.insert(table.keys.begin(),
                    {"shape", kOneOf, kRequired, "the shape", {}, {"box", "cylinder", "capsule", "sphere", "ellipsoid", "mesh"}});
  table.keys.insert(
      table.keys.end(),
      {{"size", kPositiveVector, kRequired, "edge lengths along the axes of the frame, m", {"box"}},
       {"radii", kPositiveVector, kRequired, "half axes, m", {"ellipsoid"}},
       {"radius", kPositive, kRequired, "radius, m", {"cylinder", "capsule", "sphere"}},
       {"length", kNotNegative, kRequired, "length along z, of a capsule without its caps, m", {"cylinder", "capsule"}},
       {"file", kText, kRequired, "a file of triangles, `.stl`, `.obj` or `.dae`, relative to this one", {"mesh"}},
       {"scale", kVector, kOptional, "what its coordinates are multiplied by; default `[1, 1, 1]`", {"mesh"}},
       {"color", kNumbers, kOptional, "red, green, blue and, if given, opacity, from 0 to 1; default: the mesh's own, or grey"},
       kRepeatKey});
  return table;
}

/// What inputs and tables say about data.
void add_data_keys(std::vector<Key>& keys) {
  keys.insert(keys.end(),
              {{"interpolation", kOneOf, kOptional, "between the points; default `\"linear\"`", {}, {"linear", "cubic", "hold"}},
               {"extrapolation",
                kOneOf,
                kOptional,
                "beyond them: the value at the end, or an error; default `\"hold\"`",
                {},
                {"hold", "error"}},
               {"scale", kNumber, kOptional, "what values are multiplied by; default `1`"},
               {"offset", kNumber, kOptional, "what is then added to them; default `0`"}});
}

KeyTable input_keys() {
  KeyTable table{"input",
                 "input",
                 "",
                 {{"name", kName, kRequired, "name of the input, its own among inputs"},
                  {"value", kExpressionOfTime, kOptional, "its value until something sets it; default `0`"},
                  {"file", kText, kOptional,
                   "in place of `value`: recorded data, a file of comma-separated values with a line of "
                   "names, relative to this one"},
                  {"column", kText, kOptional, "name of the column of values; default: the second"},
                  {"time", kText, kOptional, "name of the column of times, s; default: the first"}}};
  add_data_keys(table.keys);
  table.keys.push_back(kRepeatKey);
  return table;
}

KeyTable state_keys() {
  return {"state",
          "state",
          "",
          {{"name", kName, kRequired, "name of the state, its own among states"},
           {"start", kNumber, kOptional, "its value at the start; default `0`"},
           {"rate", kExpressionOfState, kRequired, "its derivative in time"},
           kRepeatKey}};
}

KeyTable fmu_keys() {
  return {"fmu",
          "fmu",
          "",
          {{"name", kName, kRequired, "name of the FMU: expressions use its outputs as `y.<name>.<output>`"},
           {"file", kText, kRequired, "its file, relative to this one; running it means trusting it"},
           {"inputs", kExpressionTable, kOptional, "an expression for each of its inputs that is not left at its start value"},
           {"parameters", kValueTable, kOptional, "values for its parameters and start values"},
           {"outputs", kValueTable, kOptional, "further names for its variables, where their own cannot stand in expressions"},
           {"type",
            kOneOf,
            kOptional,
            "model exchange or co-simulation; default: the first that it offers, `cs` with `step`",
            {},
            {"me", "cs"}},
           {"step", kPositive, kOptional, "co-simulation: time between two exchanges, s; default: what the FMU says"},
           {"interpolation", kOneOf, kOptional, "co-simulation: inputs over a step; default `hold`", {}, {"hold", "linear"}},
           kRepeatKey}};
}

KeyTable table_keys() {
  KeyTable table{"table",
                 "table",
                 "",
                 {{"name", kName, kRequired, "name of the table: expressions call it as a function"},
                  {"x", kNumbers, kOptional, "arguments, increasing; required without `file`"},
                  {"y", kNumbers, kOptional, "a value for each; required without `file`"},
                  {"file", kText, kOptional, "a file of comma-separated values with a line of names, relative to this one"},
                  {"columns", kTexts, kOptional, "names of the columns of x and y; default: the first two"}}};
  add_data_keys(table.keys);
  return table;
}

KeyTable port_keys() {
  KeyTable table = frame_keys();
  table.name = table.title = "port";
  table.keys.insert(table.keys.begin(), {"name", kName, kRequired, "name of the port, its own among ports"});
  table.keys.push_back(kRepeatKey);
  return table;
}

KeyTable module_keys() {
  return {"module",
          "module",
          "",
          {{"name", kName, kRequired, "what its names are prefixed with"},
           {"file", kText, kOptional, "its model file, or an `.fmu` with ports, relative to this one"},
           {"remote", kText, kOptional, "in place of `file`: where another host serves it, `\"linkwork://host:port/part\"`"},
           {"parameters", kNumberTable, kOptional, "values for parameters of that file"},
           kRepeatKey}};
}

std::string code(const std::string& text) { return "`" + text + "`"; }

std::string comma_separated(const Names& names) {
  std::string list;
  for (const std::string& name : names) list += (list.empty() ? "" : ", ") + name;
  return list;
}

std::string cell_of_value(const Key& key) {
  if (key.kind == kName) return "a name";
  if (key.kind != kOneOf) return std::string(in_words(key.kind));
  Names choices;
  for (const std::string& choice : key.choices) choices.push_back(code("\"" + choice + "\""));
  return "one of " + comma_separated(choices);
}

/// The types that have the key, or those that do not if these are fewer.
std::string cell_of_types(const KeyTable& table, const Key& key) {
  Names with, without;
  for (const std::string& type : table.types()) (applies(key, type) ? with : without).push_back(type);
  if (without.empty()) return "all";
  return without.size() < with.size() ? "all but " + comma_separated(without) : comma_separated(with);
}

}  // namespace

void leave_out_ends(ForceKind& kind) {
  std::erase_if(kind.keys, [](const KindKey<ForceSpec>& key) { return key.name == "a" || key.name == "b"; });
}

bool applies(const Key& key, std::string_view type) {
  return key.types.empty() || std::find(key.types.begin(), key.types.end(), type) != key.types.end();
}

const Key* KeyTable::find(std::string_view key) const {
  const auto found = std::find_if(keys.begin(), keys.end(), [&](const Key& k) { return k.name == key; });
  return found == keys.end() ? nullptr : &*found;
}

const Key* KeyTable::find(std::string_view key, std::string_view type) const {
  const auto found = std::find_if(keys.begin(), keys.end(), [&](const Key& k) { return k.name == key && applies(k, type); });
  return found == keys.end() ? nullptr : &*found;
}

const std::vector<std::string>& KeyTable::types() const {
  static const std::vector<std::string> none;
  const Key* const key = find(selector);
  return key == nullptr ? none : key->choices;
}

std::vector<std::string> KeyTable::types_with(std::string_view key) const {
  std::vector<std::string> names;
  for (const std::string& type : types()) {
    if (find(key, type) != nullptr) names.push_back(type);
  }
  return names;
}

std::vector<std::string> KeyTable::key_names(std::string_view type) const {
  std::vector<std::string> names;
  for (const Key& key : keys) {
    if (applies(key, type)) names.push_back(key.name);
  }
  return names;
}

std::vector<KeyTable> key_tables(const Kinds& kinds) {
  return {model_keys(),
          settings_keys(),
          network_keys(),
          body_keys(),
          solid_keys(),
          joint_keys(),
          frame_keys(),
          closure_keys(kinds.closures),
          force_keys(kinds.forces),
          sensor_keys(kinds.sensors),
          visual_keys(),
          input_keys(),
          state_keys(),
          fmu_keys(),
          table_keys(),
          port_keys(),
          module_keys(),
          connection_keys(kinds.forces),
          compliance_keys(),
          dry_friction_keys(),
          event_keys()};
}

const std::vector<KeyTable>& key_tables() {
  static const std::vector<KeyTable> tables = key_tables(*standard_kinds());
  return tables;
}

const KeyTable& key_table(const std::vector<KeyTable>& tables, std::string_view name) {
  if (const KeyTable* const found = find_kind(tables, name)) return *found;
  throw std::logic_error("no table of keys is named " + std::string(name));
}

const KeyTable& key_table(std::string_view name) { return key_table(key_tables(), name); }

std::string keys_as_markdown(const KeyTable& table) {
  const bool typed = !table.selector.empty();
  std::string text = typed ? "| key | of | value | meaning |\n|---|---|---|---|\n" : "| key | value | meaning |\n|---|---|---|\n";
  for (const Key& key : table.keys) {
    text += "| " + code(key.name) + (key.required ? " (required)" : "");
    if (typed) text += " | " + cell_of_types(table, key);
    text += " | " + cell_of_value(key) + " | " + key.summary + " |\n";
  }
  return text;
}

}  // namespace linkwork
