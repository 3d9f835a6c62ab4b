#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "apps/linkwork/commands.h"
#include "apps/linkwork/methods.h"
#include "apps/linkwork/model_argument.h"
#include "apps/linkwork/study_options.h"
#include "apps/linkwork/terminal.h"
#include "linkwork/model/closures/frame_closure.h"
#include "linkwork/model/joints/joint_kind.h"
#include "linkwork/model/kinds.h"

namespace linkwork::cli {
namespace {

void print_methods(const std::vector<CatalogInfo>& infos) {
  std::vector<Entry> entries;
  for (const CatalogInfo& info : infos) {
    Entry entry{info.name, info.summary + (info.reference.empty() ? "" : " [" + info.reference + "]")};
    for (const OptionInfo& option : info.options)
      entry.details.push_back(fmt::format("{}:{}={}  {}", info.name, option.name,
                                          std::isnan(option.fallback) ? "..." : fmt::format("{:.6g}", option.fallback),
                                          option.summary));
    entries.push_back(std::move(entry));
  }
  print_entries(entries);
}

std::string in_rows(std::size_t count) { return count == 1 ? "1 row" : fmt::format("{} rows", count); }

void print_joints() {
  std::vector<Entry> entries;
  for (const JointKind& kind : joint_kinds()) {
    const std::string coordinates = kind.nq() > 1 ? fmt::format("coordinates {}; ", fmt::join(kind.positions, " ")) : "";
    entries.push_back(
        {std::string(kind.name), fmt::format("{} ({}{} as a closure)", kind.summary, coordinates, in_rows(kind.rows.size()))});
  }
  print_entries(entries);
}

void print_closures() {
  std::vector<Entry> entries;
  for (const FrameClosureKind& kind : frame_closure_kinds())
    entries.push_back({std::string(kind.name), fmt::format("{} ({})", kind.summary, in_rows(kind.rows.size()))});
  for (const CoordinateClosureKind& kind : standard_kinds()->closures)
    entries.push_back({std::string(kind.name), fmt::format("{} ({})", kind.summary, in_rows(1))});
  for (const JointKind& kind : joint_kinds())
    if (!kind.rows.empty())
      entries.push_back({std::string(kind.name), fmt::format("the joint, as a closure ({})", in_rows(kind.rows.size()))});
  print_entries(entries);
}

template <class Kind>
void print_kinds(const std::vector<Kind>& kinds) {
  std::vector<Entry> entries;
  for (const Kind& kind : kinds) entries.push_back({std::string(kind.name), std::string(kind.summary)});
  print_entries(entries);
}

/// The first line of comment says what a model is.
std::string first_comment(const std::filesystem::path& file) {
  std::ifstream stream(file);
  std::string line;
  std::getline(stream, line);
  if (!line.starts_with('#')) return {};
  const std::size_t text = line.find_first_not_of("# ");
  return text == std::string::npos ? std::string() : line.substr(text);
}

void print_models() {
  const std::filesystem::path folder = ready_model_folder();
  if (folder.empty()) {
    print("no ready models found: {} and {} do not exist\n", LINKWORK_INSTALLED_MODELS, LINKWORK_SOURCE_MODELS);
    return;
  }
  std::vector<Entry> entries;
  for (const ReadyModel& model : ready_models()) entries.push_back({model.name, first_comment(model.file)});
  print_entries(entries);
  print("\nin {}\n", folder.string());
}

struct Category {
  std::string name;
  std::function<void()> print;
};

const std::vector<Category>& categories() {
  static const std::vector<Category> all{
      {"formulations", [] { print_methods(formulation_choices()); }},
      {"stabilizations", [] { print_methods(stabilization_choices()); }},
      {"integrators", [] { print_methods(integrator_choices()); }},
      {"coordinates", [] { print_methods(coordinate_choices()); }},
      {"glues", [] { print_methods(glue_choices()); }},
      {"joints", print_joints},
      {"closures", print_closures},
      {"forces", [] { print_kinds(standard_kinds()->forces); }},
      {"sensors", [] { print_kinds(standard_kinds()->sensors); }},
      {"models", print_models},
      {"studies",
       [] {
         become_studies_program({"list", "studies"});
       }},
  };
  return all;
}

std::vector<std::string> category_names() {
  std::vector<std::string> names;
  for (const Category& category : categories()) names.push_back(category.name);
  return names;
}

int list(const std::string& what) {
  const auto found = std::find_if(categories().begin(), categories().end(), [&](const Category& c) { return c.name == what; });
  if (found == categories().end()) throw unknown_name({}, "list", what, category_names());
  found->print();
  return kDone;
}

}  // namespace

Command list_command(CLI::App& program) {
  CLI::App* const app =
      program.add_subcommand("list", "Lists methods, joints, closures, forces, sensors, ready models and studies.");
  const auto what = std::make_shared<std::string>();
  app->add_option("WHAT", *what, "one of: " + listed(category_names()))->required()->type_name("");
  app->footer(
      "Keys in brackets are those of docs/references.bib. Options of a method are shown with their defaults and written as in\n"
      "  --stabilization baumgarte:alpha=5,beta=5\n\n"
      "Examples:\n"
      "  linkwork list integrators\n"
      "  linkwork list models");
  return {app, [what] { return list(*what); }};
}

}  // namespace linkwork::cli
