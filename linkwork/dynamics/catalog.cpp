#include "linkwork/dynamics/catalog.h"

#include <algorithm>

namespace linkwork {

std::size_t find_choice(const std::vector<CatalogInfo>& known, const Choice& choice, const std::string& what) {
  const auto names_of = [](const auto& infos) {
    std::vector<std::string> names;
    for (const auto& info : infos) names.push_back(info.name);
    return names;
  };
  const auto found = std::ranges::find(known, choice.name, &CatalogInfo::name);
  if (found == known.end()) throw unknown_name(choice.place, what, choice.name, names_of(known));
  for (const auto& [option, value] : choice.options)
    if (std::ranges::find(found->options, option, &OptionInfo::name) == found->options.end())
      throw unknown_name(choice.place, "option of " + choice.name, option, names_of(found->options));
  return static_cast<std::size_t>(found - known.begin());
}

Options complete_options(const CatalogInfo& info, const Choice& choice) {
  Options options = choice.options;
  for (const OptionInfo& option : info.options) options.emplace(option.name, option.fallback);
  return options;
}

}  // namespace linkwork
