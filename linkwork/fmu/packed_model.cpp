#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "linkwork/fmu/exported_model.h"
#include "linkwork/front/mechanism_parts.h"
#include "linkwork/io/input_file.h"
#include "linkwork/io/json_text.h"

namespace linkwork {

namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

constexpr std::size_t kLargest = std::size_t{1} << 30U;
constexpr int kFormat = 1;
constexpr const char* kContents = "linkwork.json";

/// Files that are drawn, which an FMU does not.
bool is_mesh(const fs::path& file) {
  const std::string end = file.extension().string();
  return end == ".stl" || end == ".STL" || end == ".obj" || end == ".OBJ" || end == ".dae" || end == ".DAE";
}

std::string stored_name(std::size_t index, const std::string& asked) {
  return fmt::format("model/{}{}", index, fs::path(asked).extension().string());
}

}  // namespace

PackedModel packed(const Mechanism& mechanism) {
  const std::shared_ptr<const ModelOrigin>& origin = mechanism.parts().origin;
  if (!origin)
    throw InputError({}, fmt::format("a part of '{}' is a program's own, which an FMU cannot take along", mechanism.name()),
                     "a model that can be written to a file");
  PackedModel model;
  model.set = origin->set;
  const fs::path file = origin->folder / origin->file;
  std::string text;
  if (origin->text) {
    text = *origin->text;
  } else if (is_robot_file(file)) {
    text = model_text(import_robot(read_text_file(file), file.string(), origin->importing), file.filename().string());
  } else {
    text = read_text_file(file);
  }
  const bool is_model_file = !origin->text && !is_robot_file(file);
  model.name = is_model_file ? file.filename().string() : "model.toml";
  model.files.push_back({model.name, std::move(text)});
  const auto load = [&](const fs::path& asked) -> std::string {
    for (const PackedModel::File& known : model.files)
      if (known.asked == asked.string()) return known.contents;
    if (is_mesh(asked)) throw InputError({asked.string(), 0, 0}, "is not part of an FMU");
    std::string contents = read_input_file(asked.is_absolute() ? asked : file.parent_path() / asked, "a readable file", kLargest);
    model.files.push_back({asked.string(), contents});
    return contents;
  };
  ModelOrigin{.file = model.name, .set = model.set}.read(load);
  return model;
}

Mechanism PackedModel::read(const std::map<std::string, double>& parameters) const {
  ModelOrigin origin{.file = name, .set = set};
  for (const auto& [parameter, value] : parameters) {
    std::erase_if(origin.set, [&name = parameter](const auto& known) { return known.first == name; });
    origin.set.emplace_back(parameter, fmt::format("{}", value));
  }
  const auto load = [&](const fs::path& asked) -> std::string {
    for (const File& file : files)
      if (file.asked == asked.string()) return file.contents;
    throw InputError({asked.string(), 0, 0}, "is not part of the FMU");
  };
  return Mechanism(origin.read(load));
}

std::vector<std::pair<std::string, std::string>> resource_files(const PackedModel& model, const FmuInterface& interface) {
  Json contents{{"format", kFormat},
                {"name", interface.name},
                {"token", interface.token},
                {"model", model.name},
                {"set", model.set},
                {"end", interface.end},
                {"step", interface.step},
                {"tolerance", interface.tolerance},
                {"exact_derivatives", interface.exact_derivatives},
                {"files", Json::array()},
                {"columns", interface.columns},
                {"variables", Json::array()}};
  for (const FmuVariable& v : interface.variables)
    contents["variables"].push_back({v.name, static_cast<int>(v.role), v.index, v.start, v.tunable});
  std::vector<std::pair<std::string, std::string>> files(1);
  for (std::size_t i = 0; i < model.files.size(); ++i) {
    const std::string stored = stored_name(i, model.files[i].asked);
    contents["files"].push_back({{"asked", model.files[i].asked}, {"stored", stored}});
    files.emplace_back(stored, model.files[i].contents);
  }
  files[0] = {kContents, contents.dump(1) + "\n"};
  return files;
}

FmuResources read_resources(const fs::path& folder) {
  const fs::path list = folder / kContents;
  FmuResources read;
  auto& [model, interface] = read;
  try {
    const Json contents = parse_json(read_text_file(list));
    if (contents.at("format").get<int>() != kFormat) throw InputError({list.string(), 0, 0}, "is of another version of Linkwork");
    model.name = contents.at("model").get<std::string>();
    model.set = contents.at("set").get<std::vector<std::pair<std::string, std::string>>>();
    interface.name = contents.at("name").get<std::string>();
    interface.token = contents.at("token").get<std::string>();
    interface.end = contents.at("end").get<double>();
    interface.step = contents.at("step").get<double>();
    interface.tolerance = contents.at("tolerance").get<double>();
    interface.exact_derivatives = contents.at("exact_derivatives").get<bool>();
    interface.columns = contents.at("columns").get<std::vector<std::string>>();
    for (const Json& v : contents.at("variables"))
      interface.variables.push_back({.role = static_cast<FmuVariable::Role>(v.at(1).get<int>()),
                                     .name = v.at(0).get<std::string>(),
                                     .index = v.at(2).get<std::size_t>(),
                                     .start = v.at(3).get<double>(),
                                     .tunable = v.at(4).get<bool>()});
    for (const Json& file : contents.at("files"))
      model.files.push_back({file.at("asked").get<std::string>(),
                             read_input_file(folder / file.at("stored").get<std::string>(), "a readable file", kLargest)});
  } catch (const InputError&) {
    throw;
  } catch (const std::exception& error) {
    throw InputError({list.string(), 0, 0}, fmt::format("is damaged: {}", error.what()));
  }
  return read;
}

}  // namespace linkwork
