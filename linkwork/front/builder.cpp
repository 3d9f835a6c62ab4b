#include "linkwork/front/builder.h"

#include <fmt/format.h>

#include <algorithm>

#include "linkwork/front/mechanism_parts.h"
#include "linkwork/io/model_file.h"

namespace linkwork {

namespace {

template <class Numbers>
Value list_of(const Numbers& items) {
  std::vector<Value> values;
  for (const auto& item : items) values.emplace_back(item);
  return values;
}

Value table_of(const Keys& keys) {
  Value table;
  for (const auto& [key, value] : keys) table[key] = value;
  return table;
}

Matter solid(const char* shape, Keys keys, double mass) {
  keys.insert(keys.begin(), {"shape", shape});
  keys.emplace_back("mass", mass);
  return {{{"solid", table_of(keys)}}};
}

/// Messages name the table that a value stands in as a file's name and line would.
void label(Value& value, int file) {
  value.file = file;
  for (Value& item : value.items) label(item, file);
  for (TomlEntry& entry : value.entries) label(entry.value, file);
}

}  // namespace

Value list(const Eigen::Vector3d& vector) { return list_of(vector); }
Value list(const std::vector<double>& numbers) { return list_of(numbers); }
Value list(const std::vector<std::string>& texts) { return list_of(texts); }

Matter rod(const Eigen::Vector3d& from, const Eigen::Vector3d& to, double mass) {
  return solid("rod", {{"from", list(from)}, {"to", list(to)}}, mass);
}
Matter cylinder(const Eigen::Vector3d& from, const Eigen::Vector3d& to, double radius, double mass) {
  return solid("cylinder", {{"from", list(from)}, {"to", list(to)}, {"radius", radius}}, mass);
}
Matter box(const Eigen::Vector3d& center, const Eigen::Vector3d& size, double mass) {
  return solid("box", {{"center", list(center)}, {"size", list(size)}}, mass);
}
Matter sphere(const Eigen::Vector3d& center, double radius, double mass) {
  return solid("sphere", {{"center", list(center)}, {"radius", radius}}, mass);
}
Matter point_mass(const Eigen::Vector3d& at, double mass) { return solid("point", {{"at", list(at)}}, mass); }

Matter mass(double mass, const Eigen::Vector3d& com, const Eigen::Matrix3d& inertia) {
  const std::vector<double> six{inertia(0, 0), inertia(1, 1), inertia(2, 2), inertia(0, 1), inertia(0, 2), inertia(1, 2)};
  Keys keys{{"mass", mass}, {"com", list(com)}};
  if (!inertia.isZero(0.0)) keys.emplace_back("inertia", list(six));
  return {keys};
}

Frame Frame::at(const Eigen::Vector3d& point) const {
  Frame frame = *this;
  frame.at_ = point;
  return frame;
}

Frame Frame::turned(const Eigen::Quaterniond& rotation) const {
  Frame frame = *this;
  frame.rotation_ = rotation;
  return frame;
}

Value Frame::value() const {
  Value value = table_of({{"body", body_}});
  if (!at_.isZero(0.0)) value["at"] = list(at_);
  if (rotation_.coeffs() != Eigen::Quaterniond::Identity().coeffs())
    value["quat"] = list(std::vector{rotation_.w(), rotation_.x(), rotation_.y(), rotation_.z()});
  return value;
}

Builder::Builder(std::string name) : name_(std::move(name)) {
  root_["linkwork"] = 1;
  root_["name"] = name_;
}

Builder::Entry& Builder::Entry::set(const std::string& key, Value value) {
  builder_.root_[table_].items[index_][key] = std::move(value);
  return *this;
}

Builder::Entry& Builder::Entry::input(const std::string& name, Value value) {
  builder_.input(name, std::move(value));
  return *this;
}

Builder::Entry Builder::add(const std::string& table, const Keys& keys) {
  Value& tables = root_[table];
  tables.kind = Value::Kind::kArray;
  tables.items.push_back(table_of(keys));
  return {*this, table, tables.items.size() - 1};
}

Builder& Builder::setting(const std::string& key, Value value) {
  root_["settings"][key] = std::move(value);
  return *this;
}

Builder& Builder::parameter(const std::string& name, Value value) {
  root_["parameters"][name] = std::move(value);
  return *this;
}

Frame Builder::body(const std::string& name, const Matter& matter) {
  Keys keys{{"name", name}};
  keys.insert(keys.end(), matter.keys.begin(), matter.keys.end());
  add("body", keys);
  return Frame(name);
}

Builder::Entry Builder::joint(const std::string& type, const std::string& name, const Frame& parent, const Frame& child) {
  return add("joint", {{"name", name}, {"type", type}, {"parent", parent.value()}, {"child", child.value()}});
}

Builder::Entry Builder::closure(const std::string& type, const std::string& name, const Frame& a, const Frame& b) {
  return add("closure", {{"name", name}, {"type", type}, {"a", a.value()}, {"b", b.value()}});
}

Builder::Entry Builder::gear(const std::string& name, const std::vector<std::string>& joints,
                             const std::vector<double>& coefficients, double offset) {
  return add(
      "closure",
      {{"name", name}, {"type", "gear"}, {"joints", list(joints)}, {"coefficients", list(coefficients)}, {"offset", offset}});
}

Builder::Entry Builder::drive(const std::string& name, const std::string& joint, Value value) {
  return add("closure", {{"name", name}, {"type", "drive"}, {"joint", joint}, {"value", std::move(value)}});
}

Builder::Entry Builder::torque(const std::string& joint, Value value) {
  return add("force", {{"type", "torque"}, {"joint", joint}, {"value", std::move(value)}});
}

Builder::Entry Builder::force(const std::string& joint, Value value) {
  return add("force", {{"type", "force"}, {"joint", joint}, {"value", std::move(value)}});
}

Builder::Entry Builder::spring(const Frame& a, const Frame& b, double stiffness, double length, double damping) {
  return add("force", {{"type", "spring"},
                       {"a", a.value()},
                       {"b", b.value()},
                       {"stiffness", stiffness},
                       {"length", length},
                       {"damping", damping}});
}

Builder::Entry Builder::damper(const Frame& a, const Frame& b, double damping) {
  return add("force", {{"type", "damper"}, {"a", a.value()}, {"b", b.value()}, {"damping", damping}});
}

Builder& Builder::force(CustomForce force) {
  if (force.name.empty()) force.name = fmt::format("custom{}", forces_.size() + 1);
  forces_.push_back(std::move(force));
  return *this;
}

Builder& Builder::force(std::function<void(const Kinematics&, Forces&)> apply) {
  return force(CustomForce{"", std::move(apply)});
}

Builder::Entry Builder::input(const std::string& name, Value value) {
  return add("input", {{"name", name}, {"value", std::move(value)}});
}

Builder::Entry Builder::state(const std::string& name, Value rate, double start) {
  return add("state", {{"name", name}, {"rate", std::move(rate)}, {"start", start}});
}

Builder::Entry Builder::table(const std::string& name, const std::vector<double>& x, const std::vector<double>& y) {
  return add("table", {{"name", name}, {"x", list(x)}, {"y", list(y)}});
}

Builder::Entry Builder::point_sensor(const std::string& name, const Frame& frame) {
  Keys keys{{"name", name}, {"type", "point"}};
  for (const TomlEntry& entry : frame.value().entries) keys.emplace_back(entry.key, entry.value);
  return add("sensor", keys);
}

Builder::Entry Builder::sensor(const std::string& name, const std::string& expression) {
  return add("sensor", {{"name", name}, {"type", "expression"}, {"expression", expression}});
}

Document Builder::document() const {
  Document document{root_, {name_}};
  for (TomlEntry& entry : document.root.entries) {
    if (entry.value.kind != Value::Kind::kArray) continue;
    for (std::size_t i = 0; i < entry.value.items.size(); ++i) {
      Value& table = entry.value.items[i];
      const Value* const name = table.find("name");
      document.files.push_back(name != nullptr ? fmt::format("{}, {} '{}'", name_, entry.key, name->text)
                                               : fmt::format("{}, {} {}", name_, entry.key, i + 1));
      label(table, static_cast<int>(document.files.size()) - 1);
    }
  }
  return document;
}

Mechanism Builder::build() const {
  Spec spec = read_model_document(document());
  spec.source_text = to_toml();
  spec.custom_forces = forces_;
  std::shared_ptr<ModelOrigin> origin;
  if (forces_.empty()) origin = std::make_shared<ModelOrigin>(ModelOrigin{.file = name_, .text = spec.source_text});
  Mechanism mechanism(std::make_shared<const Mechanism::Parts>(std::move(spec), OwnModules(), std::move(origin)));
  mechanism.model();
  return mechanism;
}

}  // namespace linkwork
