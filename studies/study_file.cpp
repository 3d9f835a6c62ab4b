#include "studies/study_file.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <nlohmann/json.hpp>
#include <set>
#include <stdexcept>

#include "linkwork/io/page.h"

namespace linkwork::studies {
namespace {

using Json = nlohmann::ordered_json;

std::string to_string(SeriesStyle style) {
  switch (style) {
    case SeriesStyle::kLine:
      return "line";
    case SeriesStyle::kDashed:
      return "dashed";
    case SeriesStyle::kPoints:
      return "points";
    case SeriesStyle::kLinePoints:
      return "line-points";
  }
  throw std::logic_error("unknown style of a series");
}

void require(bool condition, const std::string& complaint) {
  if (!condition) throw std::logic_error(complaint);
}

bool is_id(const std::string& text) {
  const auto allowed = [](unsigned char c) { return std::isalnum(c) != 0 || c == '-'; };
  return !text.empty() && std::all_of(text.begin(), text.end(), allowed);
}

Json claim_json(const Claim& claim, std::size_t part) {
  return {{"part", part},
          {"id", claim.id},
          {"text", claim.text},
          {"published", claim.published},
          {"measured", claim.measured},
          {"holds", to_string(claim.holds)},
          {"why", claim.why}};
}

Json table_json(const Table& table, std::size_t part) {
  Json rows = Json::array();
  for (const std::vector<Cell>& row : table.rows) {
    require(row.size() == table.columns.size(), "table '" + table.title + "': a row has another length than the head");
    Json cells = Json::array();
    for (const Cell& cell : row) std::visit([&](const auto& value) { cells.push_back(value); }, cell);
    rows.push_back(std::move(cells));
  }
  return {{"part", part}, {"title", table.title}, {"columns", table.columns}, {"rows", rows}, {"caption", table.caption}};
}

Json figure_json(const Figure& figure, std::size_t part) {
  Json series = Json::array();
  for (const Series& one : figure.series) {
    require(one.x.size() == one.y.size(),
            "figure '" + figure.title + "': series '" + one.name + "' has x and y of other lengths");
    const Json color = one.color ? Json(*one.color) : Json();
    series.push_back({{"name", one.name}, {"style", to_string(one.style)}, {"color", color}, {"x", one.x}, {"y", one.y}});
  }
  return {{"part", part},          {"title", figure.title}, {"x_label", figure.x_label}, {"y_label", figure.y_label},
          {"x_log", figure.x_log}, {"y_log", figure.y_log}, {"caption", figure.caption}, {"series", series}};
}

}  // namespace

std::string to_string(Holds holds) {
  switch (holds) {
    case Holds::kYes:
      return "yes";
    case Holds::kPartly:
      return "partly";
    case Holds::kNo:
      return "no";
    case Holds::kNotMeasured:
      return "not measured";
  }
  throw std::logic_error("unknown verdict");
}

std::string study_json(const StudyInfo& info, const StudyResult& result, const StudyRun& run) {
  Json parts = Json::array(), claims = Json::array(), tables = Json::array(), figures = Json::array();
  std::set<std::string> ids;
  for (std::size_t i = 0; i < result.parts.size(); ++i) {
    const Part& part = result.parts[i];
    parts.push_back({{"title", part.title}, {"text", part.text}});
    for (const Claim& claim : part.claims) {
      require(is_id(claim.id) && ids.insert(claim.id).second, "claim id '" + claim.id + "' is malformed or used twice");
      claims.push_back(claim_json(claim, i));
    }
    for (const Table& table : part.tables) tables.push_back(table_json(table, i));
    for (const Figure& figure : part.figures) figures.push_back(figure_json(figure, i));
  }
  const Json json{{"name", info.name},
                  {"title", info.title},
                  {"reference", info.reference},
                  {"citation", info.citation},
                  {"version", run.version},
                  {"quick", run.quick},
                  {"wall_seconds", run.wall_seconds},
                  {"claims", claims},
                  {"parts", parts},
                  {"tables", tables},
                  {"figures", figures}};
  return json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::string study_html(const std::string& json) { return page_html(study_template(), json); }

}  // namespace linkwork::studies
