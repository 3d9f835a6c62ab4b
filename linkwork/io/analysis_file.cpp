#include "linkwork/io/analysis_file.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

namespace linkwork {

namespace {

using Json = nlohmann::ordered_json;

Json rows_of(const MatX<double>& matrix) {
  Json rows = Json::array();
  for (Eigen::Index r = 0; r < matrix.rows(); ++r) {
    Json row = Json::array();
    for (Eigen::Index c = 0; c < matrix.cols(); ++c) row.push_back(matrix(r, c));
    rows.push_back(std::move(row));
  }
  return rows;
}

Json object_of(const NamedNumbers& values) {
  Json object = Json::object();
  for (const auto& [name, value] : values) object[name] = value;
  return object;
}

/// With a line per entry of the outermost object.
std::string text_of(const Json& json) {
  std::string text = "{";
  for (const auto& [key, value] : json.items()) text += (text.size() > 1 ? ",\n" : "\n") + Json(key).dump() + ": " + value.dump();
  return text + "\n}\n";
}

}  // namespace

std::string equilibrium_json(const Equilibrium& equilibrium) {
  return text_of({{"status", equilibrium.status},
                  {"iterations", equilibrium.iterations},
                  {"residual", equilibrium.residual},
                  {"stable", equilibrium.stable},
                  {"q", object_of(equilibrium.q)},
                  {"reactions", object_of(equilibrium.reactions)},
                  {"efforts", object_of(equilibrium.efforts)}});
}

std::string linearization_json(const LinearModel& linear) {
  Json eigenvalues = Json::array();
  for (const LinearModel::Eigenvalue& each : linear.eigenvalues)
    eigenvalues.push_back({{"re", each.value.real()},
                           {"im", each.value.imag()},
                           {"frequency_hz", each.frequency_hz},
                           {"damping_ratio", each.damping_ratio}});
  return text_of({{"states", linear.states},
                  {"inputs", linear.inputs},
                  {"outputs", linear.outputs},
                  {"A", rows_of(linear.A)},
                  {"B", rows_of(linear.B)},
                  {"C", rows_of(linear.C)},
                  {"D", rows_of(linear.D)},
                  {"at", {{"t", linear.t}, {"q", object_of(linear.q)}, {"v", object_of(linear.v)}}},
                  {"eigenvalues", eigenvalues}});
}

std::string modes_json(const std::vector<Mode>& modes) {
  Json list = Json::array();
  for (const Mode& mode : modes) {
    Json shape = Json::object(), phase = Json::object();
    for (const auto& [name, value] : mode.shape) {
      shape[name] = value.real();
      if (std::abs(value.imag()) > 1e-9) phase[name] = value.imag();
    }
    Json entry{{"frequency_hz", mode.frequency_hz}, {"damping_ratio", mode.damping_ratio}, {"shape", shape}};
    if (!phase.empty()) entry["shape_imaginary"] = phase;
    const auto numbers = [](const Eigen::Vector3d& v) { return Json::array({v.x(), v.y(), v.z()}); };
    Json bodies = Json::object();
    for (const Mode::BodyShape& body : mode.bodies) {
      bodies[body.body] = {{"moves", numbers(body.moves.real())}, {"turns", numbers(body.turns.real())}};
      if (body.moves.imag().norm() + body.turns.imag().norm() < 1e-9) continue;
      bodies[body.body]["moves_imaginary"] = numbers(body.moves.imag());
      bodies[body.body]["turns_imaginary"] = numbers(body.turns.imag());
    }
    entry["bodies"] = bodies;
    list.push_back(std::move(entry));
  }
  return text_of({{"modes", list}});
}

std::string inverse_json(const InverseMotion& inverse) {
  Json efforts = Json::object();
  for (std::size_t a = 0; a < inverse.actuators.size(); ++a) {
    double largest = 0.0, squares = 0.0;
    for (const auto& row : inverse.rows) {
      largest = std::max(largest, std::abs(row[a + 1]));
      squares += row[a + 1] * row[a + 1];
    }
    const auto count = static_cast<double>(std::max<std::size_t>(1, inverse.rows.size()));
    efforts[inverse.actuators[a]] = {{"largest", largest}, {"rms", std::sqrt(squares / count)}};
  }
  return text_of({{"actuators", inverse.actuators},
                  {"degrees_of_freedom", inverse.freedoms},
                  {"rows", inverse.rows.size()},
                  {"efforts", efforts},
                  {"notes", inverse.notes}});
}

std::string sensitivity_json(const Sensitivities& sensitivities) {
  Json measures = Json::array();
  for (const Sensitivities::Measure& measure : sensitivities.measures)
    measures.push_back({{"name", measure.name}, {"value", measure.value}, {"derivatives", object_of(measure.derivatives)}});
  return text_of({{"method", sensitivities.method},
                  {"steps", sensitivities.steps},
                  {"events", sensitivities.events},
                  {"measures", measures},
                  {"notes", sensitivities.notes}});
}

}  // namespace linkwork
