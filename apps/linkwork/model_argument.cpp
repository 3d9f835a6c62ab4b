#include "apps/linkwork/model_argument.h"

#include <fmt/format.h>

#include <algorithm>
#include <system_error>
#include <utility>

#include "linkwork/fmi/fmu_block.h"

namespace linkwork::cli {
namespace {

namespace fs = std::filesystem;

fs::path given_ready_models;  // empty: none was

/// A model or robot file in the same folder whose name is nearly that of `model`, whatever its ending.
std::optional<std::string> file_like(const fs::path& model) {
  std::vector<fs::path> files;
  std::vector<std::string> stems;
  std::error_code ignored;
  const fs::path folder = model.parent_path();
  for (const fs::directory_entry& entry : fs::directory_iterator(folder.empty() ? "." : folder, ignored)) {
    const fs::path name = entry.path().filename();
    if (name.extension() == ".toml" || is_robot_file(name)) files.push_back(folder / name);
  }
  std::ranges::sort(files);
  for (const fs::path& file : files) stems.push_back(file.stem().string());
  const auto near = nearest_name(model.stem().string(), stems);
  if (!near) return std::nullopt;
  return files[static_cast<std::size_t>(std::ranges::find(stems, *near) - stems.begin())].string();
}

fs::path model_path(const std::string& model) {
  std::error_code ignored;
  const bool is_bare_name = model.find('/') == std::string::npos && !model.ends_with(".toml") && !is_robot_file(model);
  if (!is_bare_name && !fs::exists(model, ignored))
    if (const auto near = file_like(model))
      throw InputError({}, fmt::format("there is no file '{}'; did you mean '{}'?", model, *near));
  if (!is_bare_name || fs::is_regular_file(model, ignored)) return model;
  const fs::path folder = ready_model_folder(), ready = folder / (model + ".toml");
  if (!folder.empty() && fs::is_regular_file(ready, ignored)) return ready;
  if (fs::exists(model, ignored)) return model;  // reading it will say what is wrong with it
  const std::string what = fmt::format("there is neither a file nor a ready model '{}'", model);
  std::vector<std::string> names;
  for (const ReadyModel& known : ready_models()) names.push_back(known.name);
  for (const std::optional<std::string>& near : {file_like(model), nearest_name(model, names)})
    if (near) throw InputError({}, fmt::format("{}; did you mean '{}'?", what, *near));
  throw InputError({}, what, names.empty() ? "a model file" : "a model file, or one of: " + listed(names));
}

}  // namespace

std::pair<std::string, std::string> parse_assignment(const std::string& text) {
  const std::size_t equals = text.find('=');
  if (equals == std::string::npos || equals == 0 || equals + 1 == text.size())
    throw InputError({"--set", 0, 0}, fmt::format("'{}' sets nothing", text), "name=value, as in --set torque=0");
  return {text.substr(0, equals), text.substr(equals + 1)};
}

void add_fmu_option(CLI::App& options) {
  options.add_flag_callback("--no-fmu", forbid_fmus, "refuses models that run FMUs, which are programs of others");
}

void ModelArgument::add_to(CLI::App& options) {
  options.add_option("MODEL", model, "a model file, a robot file (.urdf, .sdf, .xml), or the name of a ready model")
      ->required()
      ->type_name("");
  options.add_option("--set", set, "gives a parameter of the model another value, a number or an expression; repeatable")
      ->allow_extra_args(false)
      ->option_text("NAME=VALUE");
  add_fmu_option(options);
  add_import_options(options);
}

void ModelArgument::add_import_options(CLI::App& options) {
  const char* const kGroup = "Robot files";
  options.add_option("--loops", loops, "YAML file with the loops of a URDF; default robot.yaml beside it, if it is there")
      ->option_text("FILE")
      ->group(kGroup);
  options.add_flag("--fixed-base", fixed_base, "holds the root; without it, a root that has a mass floats")->group(kGroup);
  options.add_option("--package", packages, "folder of package://NAME/...; repeatable")
      ->allow_extra_args(false)
      ->option_text("NAME=DIR")
      ->group(kGroup);
}

ImportOptions ModelArgument::import_options() const {
  ImportOptions options;
  if (!loops.empty()) options.loops = fs::absolute(loops).lexically_normal();
  options.fixed_base = fixed_base;
  for (const std::string& text : packages) {
    const std::size_t equals = text.find('=');
    if (equals == std::string::npos || equals == 0 || equals + 1 == text.size())
      throw InputError({"--package", 0, 0}, fmt::format("'{}' names no folder", text), "name=folder");
    options.packages[text.substr(0, equals)] = text.substr(equals + 1);
  }
  return options;
}

std::vector<std::string> ModelArgument::import_texts() const {
  std::vector<std::string> texts;
  if (!loops.empty()) texts.push_back("loops=" + fs::absolute(loops).lexically_normal().string());
  if (fixed_base) texts.emplace_back("fixed-base");
  for (const std::string& package : packages) texts.push_back("package=" + package);
  return texts;
}

void ModelArgument::set_import_texts(const std::vector<std::string>& texts) {
  for (const std::string& text : texts) {
    if (text == "fixed-base") fixed_base = true;
    if (text.starts_with("loops=")) loops = text.substr(6);
    if (text.starts_with("package=")) packages.push_back(text.substr(8));
  }
}

Spec ModelArgument::read() const { return read(model_path(model), nullptr); }

fs::path ModelArgument::path() const { return model_path(model); }
fs::path ModelArgument::file() const { return fs::absolute(path()).lexically_normal(); }

Spec ModelArgument::read(const fs::path& from, std::function<std::string(const fs::path&)> load) const {
  ReadOptions reading;
  for (const std::string& text : set) reading.set.push_back(parse_assignment(text));
  reading.load = std::move(load);
  return read_any_model(from, import_options(), reading);
}

void set_ready_model_folder(const fs::path& folder) { given_ready_models = folder; }

fs::path ready_model_folder() {
  std::error_code ignored;
  if (!given_ready_models.empty()) return given_ready_models;
  const fs::path program = fs::read_symlink("/proc/self/exe", ignored);
  for (const fs::path& folder : {program.parent_path() / LINKWORK_INSTALLED_MODELS, fs::path(LINKWORK_SOURCE_MODELS)})
    if (fs::is_directory(folder, ignored)) return folder.lexically_normal();
  return {};
}

std::vector<ReadyModel> ready_models() {
  std::vector<ReadyModel> models;
  std::error_code ignored;
  for (const fs::directory_entry& entry : fs::directory_iterator(ready_model_folder(), ignored))
    if (entry.path().extension() == ".toml") models.push_back({entry.path().stem().string(), entry.path()});
  std::sort(models.begin(), models.end(), [](const ReadyModel& a, const ReadyModel& b) { return a.name < b.name; });
  return models;
}

}  // namespace linkwork::cli
