#include "linkwork/ensemble/ensemble_model.h"

#include <fmt/format.h>

#include <algorithm>

#include "linkwork/front/mechanism_parts.h"
#include "linkwork/io/durable_file.h"
#include "linkwork/io/input_file.h"
#include "linkwork/io/model_file.h"
#include "linkwork/io/parameters.h"
#include "linkwork/modules/model_run.h"
#include "linkwork/simulation/simulation.h"

namespace linkwork {
namespace {

const ModelOrigin& origin_of(const Mechanism& mechanism) {
  if (!mechanism.parts().origin)
    throw InputError({}, "forces and modules of a program have no parameters", "a model that is in files or in a text");
  return *mechanism.parts().origin;
}

}  // namespace

EnsembleModel::EnsembleModel(const Mechanism& mechanism, std::function<void(Settings&)> adjust)
    : EnsembleModel(origin_of(mechanism), std::move(adjust)) {}

EnsembleModel::EnsembleModel(ModelOrigin origin, std::function<void(Settings&)> adjust)
    : origin_(std::move(origin)), adjust_(std::move(adjust)) {
  const bool is_robot = !origin_.text && is_robot_file(origin_.file);
  const std::filesystem::path file = origin_.text ? origin_.file : origin_.folder / origin_.file;
  spec_ = origin_.read([this](const std::filesystem::path& each) { return text_of(each); });
  if (!is_robot) {
    const std::string text = origin_.text ? *origin_.text : text_of(file);
    document_ = std::make_shared<const Document>(Document{parse_toml(text, file.string()), {file.string()}});
    std::vector<ParameterOverride> overrides;
    for (const auto& [name, value] : origin_.set) overrides.push_back({name, value, {"--set " + name, 0, 0}});
    parameters_ = parameter_values(document_->root.find("parameters"), file.string(), overrides);
  }
  adjust_(spec_.settings);
}

std::string EnsembleModel::text_of(const std::filesystem::path& file) const {
  const std::scoped_lock locked(*lock_);
  const auto known = texts_.find(file);
  if (known != texts_.end()) return known->second;
  constexpr std::size_t kLargest = 2U << 30U;  // of data; model files are smaller
  return texts_[file] = read_input_file(file, "a readable file", kLargest);
}

void EnsembleModel::check_parameter(const std::string& name, const std::string& option) const {
  std::vector<std::string> names;
  for (const auto& [known, value] : parameters_) names.push_back(known);
  if (names.empty()) throw InputError({option, 0, 0}, "the model has no parameters", "a model file with [parameters]");
  if (!parameters_.contains(name)) throw unknown_name({option, 0, 0}, "parameter", name, names);
}

void EnsembleModel::check_varied(const std::string& name, const std::string& option) const {
  check_parameter(name, option);
  if (std::ranges::find(origin_.set, name, &std::pair<std::string, std::string>::first) != origin_.set.end())
    throw InputError({option, 0, 0}, fmt::format("the parameter '{}' is given by --set, too", name), "one of the two");
}

Spec EnsembleModel::read(const std::vector<std::string>& names, const std::vector<double>& values) const {
  std::vector<std::pair<std::string, std::string>> set = origin_.set;
  std::erase_if(set, [&](const auto& each) { return std::ranges::find(names, each.first) != names.end(); });
  for (std::size_t i = 0; i < names.size(); ++i) set.emplace_back(names[i], fmt::format("{}", values[i]));
  Spec spec = read(set);
  adjust_(spec.settings);
  return spec;
}

Spec EnsembleModel::read(const std::vector<std::pair<std::string, std::string>>& set) const {
  const auto load = [this](const std::filesystem::path& file) { return text_of(file); };
  if (document_) {
    Spec spec = read_model_document(*document_, {.set = set, .load = load});
    spec.source_text = spec_.source_text;
    return spec;
  }
  ModelOrigin changed = origin_;
  changed.set = set;
  return changed.read(load);
}

std::uint64_t EnsembleModel::fingerprint() const {
  std::uint64_t sum = checksum(spec_.source_text);
  for (const auto& [file, text] : texts_) sum = checksum(text, checksum(file.filename().string(), sum));
  for (const auto& [name, value] : origin_.set) sum = checksum(name + "=" + value + "\n", sum);
  return sum;
}

std::vector<std::string> EnsembleModel::columns() const {
  Spec spec = spec_;
  spec.settings.columns.clear();
  return make_live_run(spec).simulation->columns();
}

}  // namespace linkwork
