#include "apps/linkwork/modes_page.h"

#include "linkwork/io/analysis_file.h"
#include "linkwork/io/json_text.h"
#include "linkwork/io/report.h"
#include "linkwork/io/scene.h"

namespace linkwork::cli {

bool write_modes_page(const std::filesystem::path& file, const Spec& spec, const Model& model, const LinearModel& linear,
                      const std::vector<Mode>& modes) {
  if (report_template().empty()) return false;
  std::vector<std::string> columns{"t"};
  std::vector<double> row{linear.t};
  for (const auto& [name, value] : linear.q) {
    columns.push_back("q." + name);
    row.push_back(value);
  }
  ThinnedRows rows(columns.size());
  rows.add(row);
  nlohmann::ordered_json scene = parse_json(scene_json(spec, model, columns));
  scene["modes"] = parse_json(modes_json(modes))["modes"];
  const ReportRun run{model.name, scene.dump(), "", std::move(rows)};
  write_text_file(file, report_html(report_template(), {&run, 1}, ReportPrecision::kFloat64));
  return true;
}

}  // namespace linkwork::cli
