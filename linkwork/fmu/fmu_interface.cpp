#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "linkwork/fmu/exported_model.h"
#include "linkwork/fmu/fmu_engine.h"
#include "linkwork/io/durable_file.h"
#include "linkwork/io/model_parameters.h"
#include "linkwork/io/toml_value.h"
#include "linkwork/model/model.h"

namespace linkwork {

namespace {

using Role = FmuVariable::Role;

/// Whether a text uses one of these names.
bool uses(const std::string& text, const std::set<std::string>& names) {
  const auto is_part = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; };
  for (std::size_t from = 0; from < text.size();) {
    std::size_t end = from;
    while (end < text.size() && is_part(text[end])) ++end;
    if (end > from && names.contains(text.substr(from, end - from))) return true;
    from = end + 1;
  }
  return false;
}

/// Whether a run can go on with another value: the same start, and the same constraints on it.
bool is_tunable(const PackedModel& packed, const Mechanism& mechanism, const std::string& name, double value) {
  const auto& changing = mechanism.spec().changing;
  if (std::ranges::find(changing, name, &ParameterSpec::name) != changing.end()) return false;
  try {
    const Mechanism other = packed.read({{name, value == 0.0 ? 1e-3 : 1.001 * value}});
    const Model &a = *mechanism.model(), &b = *other.model();
    if (a.tree.nq != b.tree.nq || a.tree.nv != b.tree.nv || a.row_count() != b.row_count() ||
        a.states.size() != b.states.size() || a.start_q != b.start_q || a.start_v != b.start_v)
      return false;
    for (std::size_t k = 0; k < a.states.size(); ++k)
      if (a.states[k].start != b.states[k].start) return false;
    System before(a), after(b);
    const State start = mechanism.start();
    before.update(start);
    after.update(start);
    for (int row = 0; row < a.row_count(); ++row)
      if (before.error(row) != after.error(row)) return false;
    return true;
  } catch (const std::exception&) {
    return false;  // no model with that value
  }
}

std::string unit_of(const std::string& unit) { return unit == "1" ? "" : unit; }

}  // namespace

std::size_t FmuInterface::count(Role role) const {
  return static_cast<std::size_t>(std::ranges::count(variables, role, &FmuVariable::role));
}

FmuInterface fmu_interface(const PackedModel& packed) {
  const Mechanism mechanism = packed.read();
  const Settings& settings = mechanism.spec().settings;
  FmuInterface made{.name = mechanism.name(), .end = settings.end, .step = settings.step, .tolerance = settings.rtol};
  const std::vector<std::string> inputs = settable_inputs(mechanism);
  ExchangeEngine engine(mechanism, 0.0, std::vector<std::optional<double>>(inputs.size()), settings.end);
  made.exact_derivatives = engine.has_exact_derivatives();
  made.columns = engine.columns();
  const std::vector<std::string>& units = engine.units();
  made.variables.push_back({.role = Role::kTime, .name = "time", .unit = "s", .description = "simulated time"});

  const Spec& spec = mechanism.spec();
  const ReadOptions reading{.set = packed.set};
  const std::map<std::string, double> parameters = parameters_of(spec, reading);
  for (std::size_t k = 0; k < inputs.size(); ++k)
    made.variables.push_back({.role = Role::kInput,
                              .name = parameters.contains(inputs[k]) ? "u." + inputs[k] : inputs[k],
                              .index = k,
                              .start = engine.input(k)});
  const auto add_columns = [&](Role role, auto wanted) {
    for (std::size_t c = 0; c < made.columns.size(); ++c)
      if (wanted(made.columns[c]))
        made.variables.push_back({.role = role, .name = made.columns[c], .index = c, .unit = unit_of(units[c])});
  };
  std::set<std::string> sensors;
  for (const Sensor& sensor : mechanism.model()->sensors)
    for (const std::string& component : sensor.kind->components)
      sensors.insert(std::string(sensor.kind->prefix) + "." + sensor.name + (component.empty() ? "" : "." + component));
  add_columns(Role::kOutput, [&](const std::string& column) { return sensors.contains(column); });

  // Those that follow from others are not to be set.
  const TomlValue root = parse_toml(spec.source_text, spec.place.file);
  std::set<std::string> names;
  for (const auto& [name, value] : parameters) names.insert(name);
  std::size_t calculated = 0, set = 0;
  for (const auto& [name, value] : parameters) {
    const TomlValue* const written = root.find("parameters")->find(name);
    const bool was_set = std::ranges::find(packed.set, name, &std::pair<std::string, std::string>::first) != packed.set.end();
    const bool follows =
        !was_set && written != nullptr && written->kind == TomlValue::Kind::kString && uses(written->text, names);
    made.variables.push_back({.role = follows ? Role::kCalculated : Role::kParameter,
                              .name = name,
                              .index = follows ? calculated++ : set++,
                              .start = value,
                              .tunable = is_tunable(packed, mechanism, name, value)});
  }
  add_columns(Role::kLocal, [&](const std::string& column) {
    return !sensors.contains(column) && (column.starts_with("q.") || column.starts_with("v.") || column.starts_with("z."));
  });
  const auto add_numbered = [&](Role role, const std::string& form, int count, const std::string& about) {
    for (int k = 0; k < count; ++k)
      made.variables.push_back({.role = role,
                                .name = fmt::format(fmt::runtime(form), k + 1),
                                .index = static_cast<std::size_t>(k),
                                .description = about});
  };
  add_numbered(Role::kState, "x[{}]", engine.state_count(),
               "independent coordinate, velocity or state; which, may change at events");
  add_numbered(Role::kRate, "der(x[{}])", engine.state_count(), "");
  add_numbered(Role::kIndicator, "event[{}]", engine.indicator_count(), "positive until something happens");

  std::string all = fmt::format("{}\n", mechanism.name());
  for (const FmuVariable& v : made.variables)
    all += fmt::format("{} {} {} {}\n", v.name, static_cast<int>(v.role), v.start, v.tunable);
  for (const PackedModel::File& file : packed.files) all += file.asked + "\n" + file.contents + "\n";
  for (const auto& [name, value] : packed.set) all += name + "=" + value + "\n";
  const std::uint64_t first = checksum(all), second = checksum(all + "linkwork");
  made.token = fmt::format("{{{:08x}-{:04x}-{:04x}-{:04x}-{:012x}}}", first >> 32U, first >> 16U & 0xFFFFU, first & 0xFFFFU,
                           second >> 48U, second & 0xFFFFFFFFFFFFU);
  return made;
}

}  // namespace linkwork
