#include "linkwork/io/comparison_file.h"

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "linkwork/io/trajectory_file.h"

namespace linkwork {
namespace {

using Json = nlohmann::ordered_json;

Json row_json(const ComparisonRow& row) {
  return {{"problem", row.problem},
          {"coordinates", row.coordinates},
          {"formulation", row.formulation},
          {"stabilization", row.stabilization},
          {"integrator", row.integrator},
          {"step", row.step},
          {"rtol", row.rtol},
          {"atol", row.atol},
          {"status", name_of(row.outcome)},
          {"reason", row.reason},
          {"error", row.error},
          {"error_coordinate", row.error_coordinate},
          {"error_time", row.error_time},
          {"position_error", row.position_error},
          {"velocity_error", row.velocity_error},
          {"energy_drift", row.energy_drift},
          {"steps", row.steps},
          {"rejected_steps", row.rejected_steps},
          {"evaluations", row.evaluations},
          {"us_per_evaluation", row.microseconds_per_evaluation()},
          {"wall_seconds", row.wall_seconds},
          {"repeats", row.repeats},
          {"simulated_seconds", row.simulated_seconds}};
}

Json reference_json(const ReferenceReport& reference) {
  return {{"problem", reference.problem},
          {"method", reference.method},
          {"check", reference.check},
          {"estimated_error", reference.estimated_error},
          {"evaluations", reference.evaluations},
          {"wall_seconds", reference.wall_seconds},
          {"trouble", reference.trouble}};
}

std::string csv_value(const Json& value) {
  if (value.is_string()) return csv_field(value.get<std::string>());
  if (value.is_number_integer()) return std::to_string(value.get<long>());
  const double number = value.get<double>();
  return std::isnan(number) ? "" : fmt::format("{:.17g}", number);
}

}  // namespace

std::string comparison_csv(const Comparison& comparison) {
  std::string text;
  const Json titles = row_json({});  // any row knows the names
  for (const auto& [name, value] : titles.items()) text += (text.empty() ? "" : ",") + name;
  text += '\n';
  for (const ComparisonRow& row : comparison.rows) {
    std::string line;
    const Json values = row_json(row);
    for (const auto& [name, value] : values.items()) line += csv_value(value) + ",";
    line.back() = '\n';
    text += line;
  }
  return text;
}

std::string comparison_json(const Comparison& comparison) {
  Json json{{"model", comparison.model},
            {"end", comparison.end},
            {"every", comparison.every},
            {"references", Json::array()},
            {"rows", Json::array()}};
  for (const ReferenceReport& reference : comparison.references) json["references"].push_back(reference_json(reference));
  for (const ComparisonRow& row : comparison.rows) json["rows"].push_back(row_json(row));
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace linkwork
