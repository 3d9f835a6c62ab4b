#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <string_view>

#include "linkwork/io/page.h"
#include "linkwork/io/thinned_rows.h"

namespace linkwork {

/// One run, as the page shows it.
struct ReportRun {
  std::string label;
  std::string scene;    // scene_json()
  std::string summary;  // summary_json(); empty while the run is still going
  ThinnedRows rows;
};

enum class ReportPrecision { kFloat32, kFloat64 };

/// One self-contained HTML page that shows the runs. The first is drawn, the others as ghosts beside it.
/// Following: the page asks the server it came from for more rows ('linkwork view'). Live: what the page needs to know to move
/// the model (JSON; empty: nothing), in place of following a run.
std::string report_html(std::string_view page, std::span<const ReportRun> runs,
                        ReportPrecision precision = ReportPrecision::kFloat32, bool following = false,
                        std::string_view live = {});

/// A run from the files it left in its folder: scene.json, trajectory.csv and, once it has ended, summary.json.
/// Throws InputError if they are not there.
ReportRun read_run(const std::filesystem::path& folder);
/// The same without rows: those are still to come.
ReportRun read_running(const std::filesystem::path& folder);

}  // namespace linkwork
