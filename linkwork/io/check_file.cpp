#include "linkwork/io/check_file.h"

#include <nlohmann/json.hpp>

namespace linkwork {

std::string check_json(const CheckReport& report, const Model& model) {
  using Json = nlohmann::ordered_json;
  Json moved = Json::array();
  for (const auto& change : report.assembly.moved)
    moved.push_back({{"coordinate", change.coordinate}, {"from", change.from}, {"to", change.to}, {"given", change.given}});
  std::vector<std::string> warnings = report.warnings;
  if (!report.trouble.empty()) warnings.push_back(report.trouble);
  const Json json{{"model", model.name},
                  {"bodies", report.bodies},
                  {"joints", report.joints},
                  {"coordinates", report.coordinates},
                  {"loops", report.loops()},
                  {"rows", report.rows},
                  {"rank", report.rank},
                  {"dof", report.dof},
                  {"redundant", report.redundant()},
                  {"not_unique", report.diagnosis.undetermined},
                  {"start",
                   {{"position_error", report.assembly.position_error_before},
                    {"velocity_error", report.assembly.velocity_error_before},
                    {"moved", moved}}},
                  {"singular_distance", report.diagnosis.distance},
                  {"warnings", warnings}};
  // A model's name may come from a file name, which need not be UTF-8.
  return json.dump(2, ' ', false, Json::error_handler_t::replace);
}

}  // namespace linkwork
