#include <memory>
#include <string>

#include "apps/linkwork/commands.h"
#include "apps/linkwork/program.h"
#include "apps/linkwork/terminal.h"
#include "apps/studies/study.h"
#include "linkwork/model/input_error.h"
#include "studies/catalog.h"

namespace linkwork::cli {
namespace {

Command own_study_command(CLI::App& program) {
  const auto options = std::make_shared<StudyOptions>();
  CLI::App* const app = options->add_to(program);
  return {app, [options] { return study(*options); }};
}

Command list_studies_command(CLI::App& program) {
  CLI::App* const app = program.add_subcommand("list", "Lists the studies.");
  const auto what = std::make_shared<std::string>();
  app->add_option("WHAT", *what, "studies")->required()->type_name("");
  return {app, [what] {
            if (*what != "studies") throw unknown_name({}, "list", *what, {"studies"});
            std::vector<Entry> entries;
            for (const studies::Study& study : studies::all_studies())
              entries.push_back({study.info.name, study.info.summary + " [" + study.info.reference + "]"});
            print_entries(entries);
            return static_cast<int>(kDone);
          }};
}

}  // namespace
}  // namespace linkwork::cli

/// The studies; 'linkwork study' and 'linkwork list studies' become this program.
int main(int argc, char** argv) {
  using namespace linkwork::cli;
  return program_main(argc, argv, {own_study_command, list_studies_command});
}
