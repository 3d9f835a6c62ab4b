#include "apps/linkwork/settings_options.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <sstream>
#include <system_error>

#include "apps/linkwork/lists.h"
#include "apps/linkwork/methods.h"
#include "linkwork/modules/settings_check.h"
#include "linkwork/simulation/columns.h"

namespace linkwork::cli {
namespace {

using Text = SettingsOptions::Text;

void apply_number(const Text& text, const char* option, double& target) {
  if (text) target = parse_positive(*text, option);
}

void apply_choice(const Text& text, const char* option, Choice& target) {
  if (text) target = parse_choice(*text, {option, 0, 0});
}

void apply_columns(const Text& text, Settings& settings) {
  if (!text) return;
  settings.columns.clear();
  settings.columns_place = {"--columns", 0, 0};
  std::istringstream list(*text);
  for (std::string pattern; std::getline(list, pattern, ',');)
    if (!pattern.empty()) settings.columns.push_back(pattern);
  if (settings.columns.empty())
    throw InputError(settings.columns_place, "the list is empty", "groups, such as q,v,energy, or names of columns");
}

}  // namespace

void SettingsOptions::add_to(CLI::App& options) {
  const auto add = [&](const char* name, Text& text, const char* value, const std::string& help) {
    options.add_option(name, text, help)->option_text(value);
  };
  add("--end", end, "T", "time at which the simulation ends, s");
  add("--step", step, "H", "step size, or the first one of adaptive integrators, s");
  add("--max-step", max_step, "H", "longest step of integrators that choose their own, s");
  add("--rtol", rtol, "R", "relative tolerance of adaptive integrators");
  add("--atol", atol, "A", "absolute tolerance of adaptive integrators");
  add("--every", every, "DT", "time between two rows of output, s");
  add("--coordinates", coordinates, "C", "what is solved for: " + names(coordinate_choices()));
  add("--formulation", formulation, "F", "how accelerations are found: " + names(formulation_choices()));
  add("--stabilization", stabilization, "S", "what keeps loops from drifting open: " + names(stabilization_choices()));
  add("--integrator", integrator, "I", "how time is stepped: " + names(integrator_choices()));
  add("--glue", glue, "G", "how modules that are solved apart are joined: " + names(glue_choices()));
  add("--columns", columns, "GROUP,...",
      "what to write: " + fmt::format("{}", fmt::join(column_group_names(), ", ")) +
          ", names, or patterns such as q.* and force.crank.*; default all");
  add("--format", format, "F", "csv, hdf5 or mat (MATLAB 5): what the trajectory is kept as; default csv");
  add("--threads", threads, "N", "threads that share the modules of a model; default 1");
}

void SettingsOptions::apply_to(Settings& settings) const {
  apply_number(end, "--end", settings.end);
  apply_number(step, "--step", settings.step);
  apply_number(max_step, "--max-step", settings.max_step);
  apply_number(rtol, "--rtol", settings.rtol);
  apply_number(atol, "--atol", settings.atol);
  apply_number(every, "--every", settings.output_every);
  apply_choice(coordinates, "--coordinates", settings.coordinates);
  apply_choice(formulation, "--formulation", settings.formulation);
  apply_choice(stabilization, "--stabilization", settings.stabilization);
  apply_choice(integrator, "--integrator", settings.integrator);
  apply_choice(glue, "--glue", settings.glue);
  apply_columns(columns, settings);
  thread_count();
  trajectory_format();
  check_settings(settings);
}

int SettingsOptions::thread_count() const {
  constexpr int kMost = 1024;
  if (!threads) return 1;
  int count = 0;
  const auto [rest, error] = std::from_chars(threads->data(), threads->data() + threads->size(), count);
  if (error != std::errc() || rest != threads->data() + threads->size() || count < 1 || count > kMost)
    throw InputError({"--threads", 0, 0}, fmt::format("the value is '{}'", *threads),
                     fmt::format("a number from 1 to {}", kMost));
  return count;
}

TrajectoryFormat SettingsOptions::trajectory_format() const {
  return format ? parse_trajectory_format(*format, {"--format", 0, 0}) : TrajectoryFormat::kCsv;
}

template <class Visit>
void SettingsOptions::for_each_text(Visit visit) {
  visit("--end", end), visit("--step", step), visit("--max-step", max_step), visit("--rtol", rtol), visit("--atol", atol),
      visit("--every", every);
  visit("--coordinates", coordinates), visit("--formulation", formulation), visit("--stabilization", stabilization);
  visit("--integrator", integrator), visit("--glue", glue);
  visit("--columns", columns), visit("--format", format);
}

std::vector<std::pair<std::string, std::string>> SettingsOptions::texts() const {
  std::vector<std::pair<std::string, std::string>> given;
  SettingsOptions(*this).for_each_text([&](const char* name, const Text& text) {
    if (text) given.emplace_back(name, *text);
  });
  return given;
}

void SettingsOptions::set_texts(const std::vector<std::pair<std::string, std::string>>& texts) {
  for_each_text([&](const char* name, Text& text) {
    const auto given = std::ranges::find(texts, name, &std::pair<std::string, std::string>::first);
    text = given != texts.end() ? Text(given->second) : std::nullopt;
  });
}

bool SettingsOptions::tolerates_in_vain(const Model& model) const { return (rtol || atol) && !is_adaptive(model); }

}  // namespace linkwork::cli
