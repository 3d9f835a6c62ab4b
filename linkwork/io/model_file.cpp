#include "linkwork/io/model_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>

#include "linkwork/fmi/fmu_block.h"
#include "linkwork/io/input_file.h"
#include "linkwork/io/model_tables.h"
#include "linkwork/io/module_flattening.h"
#include "linkwork/io/parameters.h"
#include "linkwork/io/references.h"
#include "linkwork/io/scope.h"
#include "linkwork/io/table_reader.h"
#include "linkwork/io/toml_value.h"
#include "linkwork/model/remote_modules.h"

namespace linkwork {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kDeepestModule = 32;

/// What all files of one model have in common while they are read.
class Reading {
 public:
  explicit Reading(const ReadOptions& options)
      : kinds(options.kinds), keys(kinds == standard_kinds() ? key_tables() : key_tables(*kinds)), options_(options) {}

  /// Counts tables before they are made.
  void admit(double count, const Place& place) {
    tables_ += count;
    if (tables_ <= static_cast<double>(options_.most_tables)) return;
    throw InputError(place, fmt::format("the model would have {:.0f} tables", tables_),
                     fmt::format("at most {} in all", options_.most_tables));
  }

  /// The contents of a module's file. Files used by several modules are read once.
  const Document& document(const fs::path& file, const Place& asked_at) {
    std::unique_ptr<Document>& known = documents_[file];
    if (!known) known = std::make_unique<Document>(Document{parse_toml(text_of(file, asked_at), file.string()), {file.string()}});
    return *known;
  }

  /// The text of a data file, likewise.
  const std::string& data(const fs::path& file, const Place& asked_at) {
    constexpr std::size_t kLargest = 2U << 30U;
    const auto [known, is_new] = data_.try_emplace(file);
    if (!is_new) return known->second;
    try {
      known->second = options_.load ? options_.load(file) : read_input_file(file, "a readable file", kLargest);
    } catch (const InputError& error) {
      throw InputError(asked_at, fmt::format("the data file '{}': {}", file.string(), error.message()));
    }
    return known->second;
  }

  bool is_there(const fs::path& file) const { return options_.is_there(file); }

  /// Names of modules stand before those in the file being read.
  std::string prefix() const {
    std::string all;
    for (const std::string& module : open_modules) all += module + ".";
    return all;
  }

  const std::shared_ptr<const Kinds> kinds;
  const std::vector<KeyTable> keys;
  std::vector<fs::path> open_files;       // the file being read and those it is a module of
  std::vector<std::string> open_modules;  // their names, but for the first
  RemoteModules remote;

 private:
  std::string text_of(const fs::path& file, const Place& asked_at) const {
    try {
      return options_.load ? options_.load(file) : read_text_file(file);
    } catch (const InputError& error) {
      throw InputError(asked_at, fmt::format("the module's file '{}': {}", file.string(), error.message()));
    }
  }

  const ReadOptions& options_;
  double tables_ = 0.0;
  std::map<fs::path, std::unique_ptr<Document>> documents_;
  std::map<fs::path, std::string> data_;
};

/// Reads one file, and through it its modules.
class FileReader {
 public:
  FileReader(const Document& document, const std::vector<ParameterOverride>& overrides, Reading& reading)
      : file_(document.files.front()),
        reading_(reading),
        without_parameters_(document.files, {}),
        model_(of_known_version(document.root), key_table("model"), without_parameters_),
        scope_(document.files, parameter_values(document.root.find("parameters"), file_.string(), overrides)) {}

  Spec read() {
    spec_.kinds = reading_.kinds;
    find_changing_parameters();
    for (const SensorKind& kind : reading_.kinds->sensors) {
      scope_.add_sensors(kind.prefix);
      if (!kind.rate_prefix.empty()) scope_.add_sensors(kind.rate_prefix);
    }
    read_head();
    read_own_tables();
    for_each("module", [&](const TableReader& table) { read_module(table); });
    for_each("connection", [&](const TableReader& table) { read_connection_of_ports(table); });
    references_.check({&spec_, &parts_});
    append(spec_, std::move(parts_));
    return std::move(spec_);
  }

 private:
  /// Another version may have other keys, so this comes before anything else.
  const TomlValue& of_known_version(const TomlValue& document) const {
    const TomlValue* const version = document.find("linkwork");
    const bool known = version == nullptr || (version->kind == TomlValue::Kind::kInteger && version->number == 1.0);
    if (known) return document;
    throw InputError(without_parameters_.place(*version), "'linkwork' is " + version->description(),
                     std::string(in_words(KeyKind::kVersion)));
  }

  /// Before anything else: what may use a parameter depends on whether it changes.
  void find_changing_parameters() {
    std::set<std::string> names;
    for (const TomlValue& event : model_.tables("event"))
      if (const TomlValue* const actions = event.find("do"); actions != nullptr)
        for (const TomlValue& action : actions->items)
          if (action.kind == TomlValue::Kind::kString)
            if (const std::string name = parameter_set_by(action.text); !name.empty()) {
              const auto known = scope_.constants().find(name);
              if (known == scope_.constants().end())
                throw unknown_name(scope_.place(action), "parameter", name, parameter_names());
              if (names.insert(name).second) spec_.changing.push_back({name, known->second});
            }
    scope_.set_changing(std::move(names));
  }

  std::vector<std::string> parameter_names() const {
    std::vector<std::string> names;
    for (const auto& [name, value] : scope_.constants()) names.push_back(name);
    return names;
  }

  void read_head() {
    const TomlValue& version = model_.value("linkwork");
    if (version.kind != TomlValue::Kind::kInteger || version.number != 1.0)
      model_.fail("linkwork", "is " + version.description());
    spec_.place = model_.place("linkwork");
    read_name();
    if (model_.has("settings")) {
      const TomlValue& settings = model_.value("settings");
      if (settings.kind != TomlValue::Kind::kTable) model_.fail("settings", "is " + settings.description());
      const TableReader table(settings, key_table("settings"), scope_);
      spec_.settings = read_settings(table);
      if (table.has("network") && reading_.open_modules.empty()) read_network(table.table("network", key_table("network")));
    }
  }

  /// Paths are relative to the file.
  void read_network(const TableReader& table) {
    NetworkSettings& network = reading_.remote.network;
    for (const auto& [key, target] : {std::pair{"ca", &network.ca}, {"cert", &network.cert}, {"key", &network.key}}) {
      table.read(key, *target);
      if (!target->empty()) *target = (file_.parent_path() / *target).lexically_normal().string();
    }
    table.read("timeout", network.timeout);
  }

  /// The name becomes a folder of results.
  void read_name() {
    spec_.name = file_.stem().string();
    if (!model_.has("name")) return;
    spec_.name = model_.text("name");
    const auto is_bad = [](char c) { return c == '/' || c == '\\' || static_cast<unsigned char>(c) < 0x20 || c == 0x7F; };
    const bool bad = spec_.name.empty() || spec_.name == "." || spec_.name == ".." ||
                     std::any_of(spec_.name.begin(), spec_.name.end(), is_bad);
    if (bad) model_.fail("name", "is '" + spec_.name + "'", "a name that can be that of a folder: not empty, without / and \\");
  }

  void read_own_tables() {
    const LoadData load = [&](const std::string& file, const Place& asked_at) -> const std::string& {
      return reading_.data((file_.parent_path() / file).lexically_normal(), asked_at);
    };
    for_each("table", [&](const TableReader& table) {  // first: expressions of all others may call them
      scope_.add_table(table.text("name"), read_table(table, load));
      take_name(tables_, "table", table);
    });
    for_each("input", [&](const TableReader& table) {
      spec_.inputs.push_back(read_input(table, load));
      take_name(inputs_, "input", table);
    });
    for_each("state", [&](const TableReader& table) {
      spec_.states.push_back(read_state(table, references_));
      take_name(states_, "state", table);
    });
    for_each("fmu", [&](const TableReader& table) {
      spec_.blocks.push_back(read_fmu(table, load, references_));
      take_name(blocks_, "fmu", table);
    });
    for_each("body", [&](const TableReader& table) {
      spec_.bodies.push_back(read_body(table));
      take_name(bodies_, "body", table);
    });
    for_each("joint", [&](const TableReader& table) {
      spec_.joints.push_back(read_joint(table, references_));
      take_name(constraints_, "joint", table);
    });
    for_each("closure", [&](const TableReader& table) {
      spec_.closures.push_back(read_closure(table, *reading_.kinds, references_));
      take_name(constraints_, "closure", table);
    });
    for_each("force", [&](const TableReader& table) {
      spec_.forces.push_back(read_force(table, *reading_.kinds, references_));
      if (table.has("name")) take_name(forces_, "force", table);
    });
    for_each("event", [&](const TableReader& table) {
      spec_.events.push_back(read_event(table, references_));
      take_name(events_, "event", table);
    });
    for_each("sensor", [&](const TableReader& table) {
      spec_.sensors.push_back(read_sensor(table, *reading_.kinds, references_));
      take_name(sensors_, "sensor", table);
    });
    for_each("visual", [&](const TableReader& table) { add_visual(read_visual(table, references_)); });
    for_each("port", [&](const TableReader& table) {
      spec_.ports.push_back(read_port(table, references_));
      take_name(ports_, "port", table);
    });
  }

  /// A mesh that is not there is not drawn, which is no reason not to run.
  void add_visual(VisualSpec visual) {
    if (!visual.file.empty()) {
      const fs::path file = (file_.parent_path() / visual.file).lexically_normal();
      if (!reading_.is_there(file)) {
        spec_.notes.push_back(fmt::format("the mesh '{}' on '{}' is not there, and not drawn", visual.file, visual.frame.body));
        return;
      }
      visual.file = file.string();
    }
    spec_.visuals.push_back(std::move(visual));
  }

  void take_name(UniqueNames& names, const std::string& kind, const TableReader& table) {
    names.add(kind, table.text("name"), table.place("name"));
  }

  /// Calls `read` for every [[key]] table, as often as its repeat says.
  void for_each(std::string_view key, const std::function<void(const TableReader&)>& read) {
    const KeyTable& keys = key_table(reading_.keys, key);
    for (const TomlValue& table : model_.tables(key)) {
      const auto read_once = [&] { read(TableReader(table, keys, scope_)); };
      const TomlValue* const repeat = table.find("repeat");
      const Place place = scope_.place(repeat != nullptr ? *repeat : table);
      const auto admit = [&](double count) { reading_.admit(count, place); };
      if (repeat != nullptr) {
        scope_.for_each(*repeat, admit, read_once);
      } else {
        admit(1.0);
        read_once();
      }
    }
  }

  void read_module(const TableReader& table) {
    const std::string name = table.text("name");
    if (name == "ground") table.fail("name", "is 'ground', the body that does not move", "another name");
    // Joints and bodies too: "left.z" must not be both a joint of the module left and a component of the joint left.
    for (UniqueNames* names : {&bodies_, &constraints_, &sensors_, &ports_, &forces_, &inputs_, &states_, &blocks_})
      take_name(*names, "module", table);
    if (table.has("file") == table.has("remote"))
      throw InputError(table.place(),
                       fmt::format("the module '{}' has {} 'file' {} 'remote'", name, table.has("file") ? "both" : "neither",
                                   table.has("file") ? "and" : "nor"),
                       "one of them");
    if (table.has("remote")) return read_remote_module(name, table);
    const std::string written = table.text("file");
    if (written.empty()) table.fail("file", "is empty", "the path of a model file");
    const fs::path file = (file_.parent_path() / written).lexically_normal();
    if (file.extension() == ".fmu") return read_fmu_module(name, file, table);
    check_nesting(file, table);
    reading_.open_files.push_back(file);
    reading_.open_modules.push_back(name);
    Spec part = FileReader(reading_.document(file, table.place("file")), overrides_of(table), reading_).read();
    reading_.open_files.pop_back();
    reading_.open_modules.pop_back();
    prefix_names(part, name + ".");
    for (ModuleSpec& inner : part.modules) ++inner.parent;
    for (BodySpec& body : part.bodies) ++body.module;
    part.modules.insert(part.modules.begin(), {name, -1, table.place("name")});
    append(parts_, std::move(part));
  }

  // Of modules on other hosts, and of FMUs, nothing is known but their ports' names, as others use them.

  void read_remote_module(const std::string& name, const TableReader& table) {
    RemoteModuleSpec module{reading_.prefix() + name, {}, {}, {}, table.place("remote")};
    parse_remote(table.text("remote"), table.place("remote"), module);
    for (const ParameterOverride& parameter : overrides_of(table))
      module.parameters.emplace_back(parameter.name, std::stod(parameter.text));
    add_closed_module(name, std::move(module), table);
  }

  void read_fmu_module(const std::string& name, const fs::path& file, const TableReader& table) {
    RemoteModuleSpec module{reading_.prefix() + name, {}, {}, {}, table.place("file")};
    FmuRequest request{.name = module.name,
                       .file = file.string(),
                       .bytes = reading_.data(file, module.place),
                       .kind = "me",
                       .connects_ports = true,
                       .place = module.place};
    for (const ParameterOverride& parameter : overrides_of(table))
      request.parameters.push_back({parameter.name, std::stod(parameter.text), {}, parameter.place});
    module.fmu = make_fmu_block(std::move(request));
    add_closed_module(name, std::move(module), table);
  }

  void add_closed_module(const std::string& name, RemoteModuleSpec module, const TableReader& table) {
    reading_.remote.modules.push_back(std::move(module));
    remote_names_.push_back(name);
    Spec part;
    part.modules.push_back({name, -1, table.place("name")});
    append(parts_, std::move(part));
  }

  bool is_port_of_remote(const std::string& name) const {
    const std::size_t dot = name.find('.');
    return dot != std::string::npos && dot + 1 < name.size() && name.find('.', dot + 1) == std::string::npos &&
           std::ranges::find(remote_names_, name.substr(0, dot)) != remote_names_.end();
  }

  void check_nesting(const fs::path& file, const TableReader& table) const {
    const auto& open = reading_.open_files;
    if (std::find(open.begin(), open.end(), file) != open.end()) {
      std::string cycle;
      for (auto at = std::find(open.begin(), open.end(), file); at != open.end(); ++at) cycle += at->string() + " -> ";
      table.fail("file", "makes the model a module of itself: " + cycle + file.string(),
                 "a file that does not lead back to this one");
    }
    if (open.size() >= kDeepestModule)
      table.fail("file", "is a module nested too deeply", fmt::format("at most {} levels", kDeepestModule));
  }

  static std::vector<ParameterOverride> overrides_of(const TableReader& table) {
    std::vector<ParameterOverride> overrides;
    if (!table.has("parameters")) return overrides;
    const TomlValue& parameters = table.value("parameters");
    if (parameters.kind != TomlValue::Kind::kTable) table.fail("parameters", "is " + parameters.description());
    for (const TomlEntry& entry : parameters.entries) {
      const double value = table.scope().number(entry.value, "the parameter '" + entry.key + "'");
      overrides.push_back({entry.key, fmt::format("{}", value), table.scope().place(entry)});
    }
    return overrides;
  }

  void read_connection_of_ports(const TableReader& table) {
    take_name(constraints_, "connection", table);
    const auto take_ends = [&](auto& connection) {
      connection.a = frame_of_port(table, "a");
      connection.b = frame_of_port(table, "b");
      if (connection.a.body == connection.b.body)
        table.fail("b", fmt::format("is on '{}', as is 'a'", connection.a.body), "ports on two different bodies");
    };
    if (find_kind(reading_.kinds->forces, table.type()) != nullptr) {
      ForceSpec force = read_force(table, *reading_.kinds, references_, true);
      take_name(forces_, "connection", table);
      take_ends(force);
      spec_.forces.push_back(std::move(force));
      return;
    }
    ClosureSpec closure = read_connection(table, references_);
    take_ends(closure);
    spec_.closures.push_back(std::move(closure));
  }

  FrameSpec frame_of_port(const TableReader& table, std::string_view key) {
    const std::string name = table.text(key);
    FrameSpec frame;
    if (is_port_of_remote(name)) {
      frame.body = name;
    } else if (name != "ground") {
      const auto found = frame_by_port().find(name);
      if (found == frame_by_port().end()) throw unknown_name(table.place(key), "port", name, port_names());
      frame = *found->second;
    }
    frame.place = table.place(key);
    return frame;
  }

  const std::unordered_map<std::string, const FrameSpec*>& frame_by_port() {
    if (frame_by_port_.empty()) {
      for (const Spec* spec : {&spec_, &parts_}) {
        for (const PortSpec& port : spec->ports) frame_by_port_[port.name] = &port.frame;
      }
    }
    return frame_by_port_;
  }

  std::vector<std::string> port_names() const {
    std::vector<std::string> names{"ground"};
    for (const Spec* spec : {&spec_, &parts_}) {
      for (const PortSpec& port : spec->ports) names.push_back(port.name);
    }
    return names;
  }

  fs::path file_;
  Reading& reading_;
  Scope without_parameters_;
  TableReader model_;
  Scope scope_;
  Spec spec_;
  Spec parts_;  // the modules, flattened
  References references_;
  std::vector<std::string> remote_names_;  // modules of this file on other hosts
  UniqueNames bodies_, constraints_, forces_, sensors_, inputs_, states_, blocks_, tables_, events_, ports_;
  std::unordered_map<std::string, const FrameSpec*> frame_by_port_;
};

std::vector<ParameterOverride> overrides_of(const ReadOptions& options) {
  std::vector<ParameterOverride> overrides;
  for (const auto& [name, text] : options.set) overrides.push_back({name, text, {"--set " + name + "=" + text, 0, 0}});
  return overrides;
}

}  // namespace

bool ReadOptions::is_there(const fs::path& file) const {
  std::error_code ignored;
  if (!load) return fs::is_regular_file(file, ignored);
  try {
    load(file);
  } catch (const InputError&) {
    return false;
  }
  return true;
}

Spec read_model_document(const Document& document, const ReadOptions& options) {
  Reading reading(options);
  reading.open_files.push_back(fs::path(document.files.front()).lexically_normal());
  Spec spec = FileReader(document, overrides_of(options), reading).read();
  if (!reading.remote.modules.empty()) {
    auto kinds = std::make_shared<Kinds>(*spec.kinds);
    kinds->remote = std::make_shared<const RemoteModules>(std::move(reading.remote));
    spec.kinds = std::move(kinds);
    return spec;
  }
  if (spec.bodies.empty()) throw InputError(spec.place, "the model has no bodies", "at least one [[body]]");
  return spec;
}

Spec read_model_text(std::string_view text, const std::string& file_name, const ReadOptions& options) {
  const Document document{parse_toml(text, file_name), {file_name}};
  if (document.root.entries.empty())
    throw InputError({file_name, 1, 1}, "the file is empty", "linkwork = 1 and the model's tables");
  Spec spec = read_model_document(document, options);
  spec.source_text = std::string(text);
  return spec;
}

Spec read_model_file(const std::filesystem::path& file, const ReadOptions& options) {
  const std::string text = options.load ? options.load(file) : read_text_file(file);
  return read_model_text(text, file.string(), options);
}

std::string read_text_file(const std::filesystem::path& file) {
  constexpr std::size_t kLargest = 64U << 20U;
  return read_input_file(file, "a readable file", kLargest);
}

}  // namespace linkwork
