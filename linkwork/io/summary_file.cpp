#include "linkwork/io/summary_file.h"

#include <cmath>
#include <nlohmann/json.hpp>

#include "linkwork/io/page.h"

namespace linkwork {

namespace {

using Json = nlohmann::ordered_json;

/// Names are known to differ. To look each of them up among the others would take time that grows with the square of their
/// number.
Json object_of(const std::vector<std::pair<std::string, double>>& values) {
  Json::object_t object;
  object.reserve(values.size());
  for (const auto& [name, value] : values) object.std::vector<Json::object_t::value_type>::emplace_back(name, value);
  return Json(std::move(object));
}

Json modules_json(const GlueSummary& modules) {
  Json json{{"count", modules.modules},
            {"of_rank", modules.modules_of_rank},
            {"messages_per_step", modules.messages_per_step},
            {"bytes_per_step", modules.bytes_per_step},
            {"waiting_seconds_per_step", modules.waiting_seconds_per_step},
            {"sticky", {{"position_max", modules.sticky}, {"velocity_max", modules.sticky_velocity}}},
            {"green", {{"exposes", modules.green}, {"numbers", modules.numbers_exposed}}},
            {"inexpensive", modules.inexpensive},
            {"pretty", modules.pretty}};
  if (modules.most_iterations > 0)
    json["iterations"] = {{"most", modules.most_iterations}, {"mean", modules.mean_iterations}, {"by_step", modules.iterations}};
  return json;
}

Json realtime_json(const RealTimeSummary& realtime) {
  Json jitter = Json::array();
  for (const RealTimeSummary::Bin& bin : realtime.jitter)
    jitter.push_back({{"below", std::isfinite(bin.below) ? Json(bin.below) : Json()}, {"steps", bin.steps}});
  return {{"factor", realtime.factor},
          {"steps", realtime.steps},
          {"overruns", realtime.overruns},
          {"lateness_max", realtime.lateness_max},
          {"lateness_mean", realtime.lateness_mean},
          {"busy", realtime.busy},
          {"jitter", jitter}};
}

}  // namespace

std::string summary_json(const Summary& summary) {
  const Json final_state = object_of(summary.final_state);
  Json events = Json::array();
  for (const EventRecord& event : summary.events) {
    const Json impulses = object_of(event.impulses);
    events.push_back({{"t", event.t},
                      {"name", event.name},
                      {"what", event.what},
                      {"velocity_jump", event.velocity_jump},
                      {"impulses", impulses},
                      {"energy", event.energy},
                      {"dof", event.dof}});
  }
  Json json{
      {"model", summary.model},
      {"coordinates", summary.coordinates},
      {"formulation", summary.formulation},
      {"stabilization", summary.stabilization},
      {"integrator", summary.integrator},
      {"glue", summary.glue},
      {"ranks", summary.ranks},
      {"threads", summary.threads},
      {"status", summary.status},
      {"steps", summary.steps},
      {"rejected_steps", summary.rejected_steps},
      {"evaluations", summary.evaluations},
      {"wall_seconds", summary.wall_seconds},
      {"simulated_seconds", summary.simulated_seconds},
      {"constraint_error", {{"position_max", summary.position_error_max}, {"velocity_max", summary.velocity_error_max}}},
      {"energy_drift", summary.energy_drift},
      {"dof", summary.dof},
      {"rank", summary.rank},
      {"redundant", summary.redundant},
      {"not_unique", summary.not_unique},
      {"events", events},
      {"final", final_state},
      {"warnings", summary.warnings},
      {"notes", summary.notes},
  };
  if (summary.modules) json["modules"] = modules_json(*summary.modules);
  if (summary.realtime) json["realtime"] = realtime_json(*summary.realtime);
  // A model's name may come from a file name, which need not be UTF-8.
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

void write_summary_file(const std::filesystem::path& file, const Summary& summary) {
  write_text_file(file, summary_json(summary));
}

}  // namespace linkwork
