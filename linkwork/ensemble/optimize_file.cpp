#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "linkwork/ensemble/optimize.h"

namespace linkwork {
namespace {

using Json = nlohmann::ordered_json;

Json parameter_json(const Optimum::Parameter& each, bool is_fit) {
  Json json{{"name", each.name},   {"low", each.low},     {"high", each.high},
            {"start", each.start}, {"value", each.value}, {"at_bound", each.at_bound}};
  if (is_fit) {
    json["standard_error"] = each.standard_error;
    json["confidence"] = {each.confidence_low, each.confidence_high};
  }
  return json;
}

Json history_json(const Optimum& optimum) {
  Json history = Json::array();
  for (const Optimum::Try& each : optimum.history) {
    Json values = Json::object();
    for (std::size_t k = 0; k < optimum.parameters.size(); ++k) values[optimum.parameters[k].name] = each.parameters[k];
    history.push_back({{"value", each.value}, {"status", each.status}, {"parameters", values}});
  }
  return history;
}

Json whole(const Optimum& optimum) {
  const bool is_fit = optimum.goal == "fit";
  Json parameters = Json::array();
  for (const Optimum::Parameter& each : optimum.parameters) parameters.push_back(parameter_json(each, is_fit));
  Json json{{"model", optimum.model},
            {"goal", optimum.goal},
            {"of", optimum.text},
            {"status", optimum.status},
            {"method", optimum.method},
            {"evaluations", optimum.history.size()},
            {"failed", std::ranges::count_if(optimum.history, [](const Optimum::Try& each) { return std::isnan(each.value); })},
            {"start_value", optimum.start_value},
            {"value", optimum.value},
            {"parameters", parameters},
            {"notes", optimum.notes}};
  if (is_fit) {
    Json columns = Json::array();
    for (const Optimum::FittedColumn& each : optimum.columns)
      columns.push_back({{"name", each.name}, {"column", each.column}, {"scale", each.scale}, {"rms", each.rms}});
    json["fit"] = {{"rows", optimum.times.size()},
                   {"columns", columns},
                   {"degrees_of_freedom", optimum.degrees_of_freedom},
                   {"correlations", optimum.correlations}};
  }
  json["history"] = history_json(optimum);
  return json;
}

/// Every so many of a long list.
std::vector<double> thinned(const std::vector<double>& values, std::size_t stride) {
  std::vector<double> some;
  for (std::size_t i = 0; i < values.size(); i += stride) some.push_back(values[i]);
  return some;
}

}  // namespace

std::string optimum_json(const Optimum& optimum) {
  return whole(optimum).dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::string optimum_page_json(const Optimum& optimum, const std::string& command) {
  constexpr std::size_t kMostPoints = 2000;
  Json page = whole(optimum);
  page["kind"] = "optimize";
  page["command"] = command;
  const std::size_t stride = optimum.times.size() / kMostPoints + 1;
  for (std::size_t c = 0; c < optimum.columns.size(); ++c) {
    Json& column = page["fit"]["columns"][c];
    column["data"] = thinned(optimum.columns[c].data, stride);
    column["before"] = thinned(optimum.columns[c].before, stride);
    column["after"] = thinned(optimum.columns[c].after, stride);
  }
  if (!optimum.columns.empty()) page["fit"]["t"] = thinned(optimum.times, stride);
  return page.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace linkwork
