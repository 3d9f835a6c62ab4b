#include "linkwork/io/report.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "apps/linkwork/commands.h"
#include "apps/linkwork/terminal.h"
#include "apps/linkwork/text.h"
#include "linkwork/model/input_error.h"

namespace linkwork::cli {
namespace {

namespace fs = std::filesystem;

constexpr const char* kReportFooter =
    R"(Several runs are shown together: the first mechanism is drawn solid, the others as ghosts; curves of all runs lie in one plot, or are
subtracted from those of the first.

Examples:
  linkwork run four_bar --out out/exact --integrator dopri45 --rtol 1e-10
  linkwork run four_bar --out out/coarse --step 0.005
  linkwork report out/exact out/coarse -o compared.html)";

struct ReportOptions {
  std::vector<std::string> folders;
  std::string out;
  bool float64 = false;
};

fs::path target(const ReportOptions& options) {
  if (!options.out.empty()) return options.out;
  return options.folders.size() == 1 ? fs::path(options.folders.front()) / "report.html" : fs::path("report.html");
}

/// Runs are told apart by the names of their folders, or by the whole path where two have the same name.
void make_labels_unique(std::vector<ReportRun>& runs, const std::vector<std::string>& folders) {
  std::vector<std::string> labels;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    const auto is_same = [&](const ReportRun& other) { return &other != &runs[i] && other.label == runs[i].label; };
    const bool shared = std::any_of(runs.begin(), runs.end(), is_same);
    labels.push_back(shared ? folders[i] : runs[i].label);
  }
  for (std::size_t i = 0; i < runs.size(); ++i) runs[i].label = labels[i];
}

int report(const ReportOptions& options) {
  if (report_template().empty())
    throw InputError({}, "this program was built without the report page", "a build with node and npm (LINKWORK_WEB=ON)");
  std::vector<ReportRun> runs;
  for (const std::string& folder : options.folders) runs.push_back(read_run(folder));
  make_labels_unique(runs, options.folders);
  const fs::path file = target(options);
  const ReportPrecision precision = options.float64 ? ReportPrecision::kFloat64 : ReportPrecision::kFloat32;
  write_text_file(file, report_html(report_template(), runs, precision));
  print("{}: {}, {:.1f} MB\n", file.string(), counted(static_cast<long>(runs.size()), "run"),
        static_cast<double>(fs::file_size(file)) / 1e6);
  return kDone;
}

}  // namespace

Command report_command(CLI::App& program) {
  CLI::App* const app = program.add_subcommand("report", "Writes one report page of one run or several.");
  const auto options = std::make_shared<ReportOptions>();
  app->add_option("DIR", options->folders, "folders that 'linkwork run' has written its results into")->required()->type_name("");
  app->add_option("-o,--out", options->out, "the page; default DIR/report.html, or report.html if there are several runs")
      ->option_text("FILE");
  app->add_flag("--double", options->float64, "store numbers with 16 digits instead of 7: twice the size");
  app->footer(kReportFooter);
  return {app, [options] { return report(*options); }};
}

}  // namespace linkwork::cli
