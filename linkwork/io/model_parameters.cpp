#include "linkwork/io/model_parameters.h"

#include "linkwork/io/parameters.h"
#include "linkwork/io/toml_value.h"

namespace linkwork {

std::map<std::string, double> parameters_of(const Spec& spec, const ReadOptions& options) {
  if (spec.source_text.empty()) return {};
  const TomlValue root = parse_toml(spec.source_text, spec.place.file);
  std::vector<ParameterOverride> overrides;
  for (const auto& [name, text] : options.set) overrides.push_back({name, text, {"--set " + name, 0, 0}});
  return parameter_values(root.find("parameters"), spec.place.file, overrides);
}

}  // namespace linkwork
