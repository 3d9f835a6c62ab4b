#include "linkwork/dynamics/catalog.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace linkwork {

bool OptionRange::holds(double value) const {
  return (with_least ? value >= least : value > least) && value <= most && (!whole || value == std::floor(value));
}

std::string OptionRange::in_words() const {
  const std::string number = whole ? "a whole number" : "a number";
  if (std::isinf(most)) return fmt::format("{} {} {:.6g}", number, with_least ? "not below" : "above", least);
  return fmt::format("{} {} {:.6g} {} {:.10g}", number, with_least ? "from" : "above", least, with_least ? "to" : "and up to",
                     most);
}

std::size_t find_choice(const std::vector<CatalogInfo>& known, const Choice& choice, const std::string& what) {
  const auto names_of = [](const auto& infos) {
    std::vector<std::string> names;
    for (const auto& info : infos) names.push_back(info.name);
    return names;
  };
  const auto found = std::ranges::find(known, choice.name, &CatalogInfo::name);
  if (found == known.end()) throw unknown_name(choice.place, what, choice.name, names_of(known));
  for (const auto& [option, value] : choice.options) {
    const auto info = std::ranges::find(found->options, option, &OptionInfo::name);
    if (info == found->options.end())
      throw unknown_name(choice.place, "option of " + choice.name, option, names_of(found->options));
    if (!info->range.holds(value))
      throw InputError(choice.place, fmt::format("option '{}' of {} '{}' is {:.10g}", option, what, choice.name, value),
                       info->range.in_words());
  }
  return static_cast<std::size_t>(found - known.begin());
}

Options complete_options(const CatalogInfo& info, const Choice& choice) {
  Options options = choice.options;
  for (const OptionInfo& option : info.options) options.emplace(option.name, option.fallback);
  return options;
}

}  // namespace linkwork
