#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>

#include "linkwork/front/run.h"
#include "linkwork/modules/settings_check.h"

namespace linkwork {

namespace {

// The options of a run, each once: by name, where it is kept, and the setting that it overrides.
struct Number {
  std::string_view name;
  std::optional<double> RunOptions::*option;
  double Settings::*setting = nullptr;
};
struct Method {
  std::string_view name;
  std::optional<std::string> RunOptions::*option;
  Choice Settings::*setting = nullptr;
};

constexpr std::array kNumbers{Number{"end", &RunOptions::end, &Settings::end},
                              Number{"step", &RunOptions::step, &Settings::step},
                              Number{"max_step", &RunOptions::max_step, &Settings::max_step},
                              Number{"rtol", &RunOptions::rtol, &Settings::rtol},
                              Number{"atol", &RunOptions::atol, &Settings::atol},
                              Number{"every", &RunOptions::every, &Settings::output_every},
                              Number{"realtime", &RunOptions::realtime},
                              Number{"checkpoint_every", &RunOptions::checkpoint_every}};
constexpr std::array kMethods{Method{"coordinates", &RunOptions::coordinates, &Settings::coordinates},
                              Method{"formulation", &RunOptions::formulation, &Settings::formulation},
                              Method{"stabilization", &RunOptions::stabilization, &Settings::stabilization},
                              Method{"integrator", &RunOptions::integrator, &Settings::integrator},
                              Method{"glue", &RunOptions::glue, &Settings::glue},
                              Method{"start_from", &RunOptions::start_from},
                              Method{"start_at", &RunOptions::start_at},
                              Method{"checkpoint", &RunOptions::checkpoint},
                              Method{"out", &RunOptions::out}};

Place place_of(std::string_view name) { return {std::string(name), 0, 0}; }

double number_of(std::string_view name, const OptionValue& value) {
  if (const auto* const number = std::get_if<double>(&value)) return *number;
  const auto* const text = std::get_if<std::string>(&value);
  throw InputError(place_of(name), text ? fmt::format("is '{}'", *text) : "is a list", "a number");
}

std::string text_of(std::string_view name, const OptionValue& value) {
  if (const auto* const text = std::get_if<std::string>(&value)) return *text;
  throw InputError(place_of(name), std::holds_alternative<double>(value) ? "is a number" : "is a list", "a text");
}

std::vector<std::string> parts_of(const std::string& list) {
  std::vector<std::string> parts;
  for (std::size_t at = 0; at <= list.size();) {
    const std::size_t comma = std::min(list.find(',', at), list.size());
    if (comma > at) parts.push_back(list.substr(at, comma - at));
    at = comma + 1;
  }
  return parts;
}

template <class Table>
auto find(const Table& table, std::string_view name) {
  return std::ranges::find(table, name, [](const auto& entry) { return entry.name; });
}

int threads_of(double count) {
  constexpr double kMost = 1024;
  if (!(count >= 1.0 && count <= kMost && count == std::floor(count)))
    throw InputError(place_of("threads"), fmt::format("is {}", count), fmt::format("a number from 1 to {}", kMost));
  return static_cast<int>(count);
}

std::vector<std::string> columns_of(const OptionValue& value) {
  const auto* const list = std::get_if<std::vector<std::string>>(&value);
  std::vector<std::string> columns = list ? *list : parts_of(text_of("columns", value));
  if (columns.empty())
    throw InputError(place_of("columns"), "the list is empty", "groups, such as q, v, energy, or names of columns");
  return columns;
}

}  // namespace

void set_option(RunOptions& options, const std::string& name, const OptionValue& value) {
  if (const auto number = find(kNumbers, name); number != kNumbers.end())
    options.*number->option = number_of(name, value);
  else if (const auto method = find(kMethods, name); method != kMethods.end())
    options.*method->option = text_of(name, value);
  else if (name == "threads")
    options.threads = threads_of(number_of(name, value));
  else if (name == "columns")
    options.columns = columns_of(value);
  else
    throw unknown_name({}, "option", name, option_names());
}

std::vector<std::string> option_names() {
  std::vector<std::string> names{"columns", "threads"};
  for (const Number& number : kNumbers) names.emplace_back(number.name);
  for (const Method& method : kMethods) names.emplace_back(method.name);
  return names;
}

std::vector<std::pair<std::string, std::string>> setting_texts(const RunOptions& options) {
  std::vector<std::pair<std::string, std::string>> texts;
  const auto add = [&](std::string_view name, const std::string& text) {
    std::string option = "--" + std::string(name);
    std::ranges::replace(option, '_', '-');
    texts.emplace_back(option, text);
  };
  for (const Number& number : kNumbers)
    if (number.setting != nullptr && options.*number.option) add(number.name, fmt::format("{}", *(options.*number.option)));
  for (const Method& method : kMethods)
    if (method.setting != nullptr && options.*method.option) add(method.name, *(options.*method.option));
  if (!options.columns.empty()) add("columns", fmt::format("{}", fmt::join(options.columns, ",")));
  return texts;
}

void apply(const RunOptions& options, Settings& settings) {
  for (const Number& number : kNumbers) {
    const std::optional<double>& value = options.*number.option;
    if (!value) continue;
    if (!(*value > 0.0) || !std::isfinite(*value))
      throw InputError(place_of(number.name), fmt::format("is {}", *value), "a positive number");
    if (number.setting != nullptr) settings.*number.setting = *value;
  }
  for (const Method& method : kMethods)
    if (method.setting != nullptr && options.*method.option)
      settings.*method.setting = parse_choice(*(options.*method.option), place_of(method.name));
  if (!options.columns.empty()) settings.columns = options.columns, settings.columns_place = place_of("columns");
  check_settings(settings);
}

}  // namespace linkwork
