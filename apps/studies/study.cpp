#include "apps/studies/study.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "apps/linkwork/commands.h"
#include "apps/linkwork/model_argument.h"
#include "apps/linkwork/rank_agreement.h"
#include "apps/linkwork/result_folder.h"
#include "apps/linkwork/study_options.h"
#include "apps/linkwork/terminal.h"
#include "apps/linkwork/text.h"
#include "linkwork/io/page.h"
#include "linkwork/model/input_error.h"
#include "linkwork/version.h"
#include "studies/catalog.h"
#include "studies/free_cores.h"
#include "studies/study_file.h"

namespace linkwork::cli {
namespace {

namespace fs = std::filesystem;
using studies::Claim;
using studies::Holds;
using studies::Study;

std::vector<std::string> study_names() {
  std::vector<std::string> names;
  for (const Study& study : studies::all_studies()) names.push_back(study.info.name);
  return names;
}

const Study& find_study(const std::string& name) {
  const auto all = studies::all_studies();
  const auto found = std::find_if(all.begin(), all.end(), [&](const Study& study) { return study.info.name == name; });
  if (found == all.end()) throw unknown_name({}, "study", name, study_names());
  return *found;
}

std::string verdict(Holds holds) {
  const std::string text = studies::to_string(holds);
  return holds == Holds::kYes ? text : highlighted(text, stdout) + std::string(12 - text.size(), ' ');
}

/// Every claim with its verdict; what was published and measured below it.
void print_claims(const studies::StudyResult& result) {
  for (const studies::Part& part : result.parts) {
    if (part.claims.empty()) continue;
    print("\n{}\n", part.title);
    for (const Claim& claim : part.claims) {
      print("  {:<12}  {}\n", verdict(claim.holds), claim.text);
      if (!claim.published.empty()) print("                published  {}\n", claim.published);
      if (!claim.measured.empty()) print("                measured   {}\n", claim.measured);
      if (claim.holds != Holds::kYes && !claim.why.empty()) print("                why        {}\n", claim.why);
    }
  }
}

std::string score(const studies::StudyResult& result) {
  std::map<Holds, long> count;
  long all = 0;
  for (const studies::Part& part : result.parts)
    for (const Claim& claim : part.claims) ++count[claim.holds], ++all;
  const long yes = count[Holds::kYes], unknown = count[Holds::kNotMeasured];
  return fmt::format("{}: {} {}, {} partly, {} not{}", counted(all, "claim"), yes, yes == 1 ? "holds" : "hold",
                     count[Holds::kPartly], count[Holds::kNo], unknown > 0 ? fmt::format(", {} not measured", unknown) : "");
}

/// Of the ranks that mpirun started the first runs the study; the others help where it asks for them.
int run_study(const StudyOptions& options, Transport& world) {
  together(world, [&](Inputs& inputs) {
    find_study(options.name);
    inputs.add("the study", fmt::format("{} {}", options.name, options.quick));
  });
  const Study& study = find_study(options.name);
  if (world.rank() != 0) {
    studies::StudyContext context;
    context.quick = options.quick;
    context.models = ready_model_folder();
    context.world = &world;
    if (study.help) study.help(context);
    return kDone;
  }
  const ResultFolder results(options.out.empty() ? std::nullopt : std::optional(options.out), study.info.name);
  const fs::path& folder = results.path();
  const studies::Stopwatch stopwatch;
  studies::StudyContext context;
  context.quick = options.quick;
  context.models = ready_model_folder();
  if (world.size() > 1) context.world = &world;
  if (!options.quiet)
    context.progress = [&](const std::string& text) {
      write_to(stderr, fmt::format("{:7.1f} s  {}\n", stopwatch.seconds(), text));
    };

  const studies::StudyResult result = study.run(context);
  const std::string json = study_json(study.info, result, {options.quick, stopwatch.seconds(), LINKWORK_VERSION});
  write_text_file(folder / "study.json", json);
  const bool has_page = !study_template().empty();
  if (has_page) write_text_file(folder / "study.html", studies::study_html(json));

  if (options.quiet) return kDone;
  print("{}\n{}\n", study.info.title, study.info.citation);
  print_claims(result);
  print("\n");
  print_line("claims", score(result));
  print_line("results", (folder / "study.json").string());
  if (has_page)
    print_line("", (folder / "study.html").string() + " (open it in a browser)");
  else
    print_line("note", "this program was built without the pages: no study.html");
  return kDone;
}

}  // namespace

int study(const StudyOptions& options) {
  return on_ranks("study", [&](Transport& world) { return run_study(options, world); });
}

}  // namespace linkwork::cli
