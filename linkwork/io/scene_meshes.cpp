#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "linkwork/io/base64.h"
#include "linkwork/io/mesh.h"
#include "linkwork/io/scene.h"

namespace linkwork {
namespace {

using Json = nlohmann::ordered_json;
using Vector = Eigen::Vector3d;

// A triangle takes some 15 bytes of the page.
constexpr std::size_t kMostOfMesh = 20'000, kMostOfScene = 200'000, kLeastOfMesh = 200;

Json three_numbers(const Vector& v) { return {v.x(), v.y(), v.z()}; }

/// Points as whole numbers of 16 bits in the box around them.
Json mesh_json(const Mesh& mesh, const std::string& name, std::size_t all_triangles) {
  constexpr double kLargest = 65535.0;
  Vector low = Vector::Zero(), high = Vector::Zero();
  if (!mesh.points.empty()) low = high = mesh.points.front();
  for (const Vector& p : mesh.points) low = low.cwiseMin(p), high = high.cwiseMax(p);
  const Vector step = (high - low) / kLargest;
  std::string positions, indices;
  Base64 points(positions), corners(indices);
  for (const Vector& p : mesh.points)
    for (int k = 0; k < 3; ++k)
      points.add(
          static_cast<std::uint16_t>(step[k] > 0.0 ? std::clamp(std::round((p[k] - low[k]) / step[k]), 0.0, kLargest) : 0));
  points.finish();
  const bool wide = mesh.points.size() > 65536;
  for (const auto& triangle : mesh.triangles)
    for (const std::uint32_t corner : triangle)
      if (wide)
        corners.add(corner);
      else
        corners.add(static_cast<std::uint16_t>(corner));
  corners.finish();
  return {{"file", name},
          {"triangles", mesh.triangles.size()},
          {"all_triangles", all_triangles},
          {"low", three_numbers(low)},
          {"step", three_numbers(step)},
          {"positions", positions},
          {"indices", indices}};
}

}  // namespace

SceneMeshes::SceneMeshes(const Spec& spec) {
  std::vector<std::pair<std::string, Mesh>> meshes;  // by file
  std::size_t all = 0;
  for (const VisualSpec& visual : spec.visuals) {
    if (visual.shape != "mesh" || parts_.contains(visual.file)) continue;
    std::vector<Part>& parts = parts_[visual.file];
    try {
      for (Mesh& mesh : read_mesh(visual.file)) {
        parts.push_back({meshes.size(), mesh.color});
        all += std::min(mesh.triangles.size(), kMostOfMesh);
        meshes.emplace_back(std::filesystem::path(visual.file).filename().string(), std::move(mesh));
      }
    } catch (const InputError& error) {
      notes_.push_back(fmt::format("the mesh '{}' is not drawn: {}", visual.file, error.message()));
    }
  }
  if (meshes.empty()) return;
  const double share = std::min(1.0, static_cast<double>(kMostOfScene) / static_cast<double>(all));
  Json list = Json::array();
  for (const auto& [name, mesh] : meshes) {
    const std::size_t own = std::min(mesh.triangles.size(), kMostOfMesh);
    const auto most = static_cast<std::size_t>(share * static_cast<double>(own));
    list.push_back(mesh_json(thinned(mesh, std::max(most, kLeastOfMesh)), name, mesh.triangles.size()));
  }
  text_ = list.dump(-1, ' ', false, Json::error_handler_t::replace);
}

const std::vector<SceneMeshes::Part>* SceneMeshes::find(const std::string& file) const {
  const auto found = parts_.find(file);
  return found == parts_.end() || found->second.empty() ? nullptr : &found->second;
}

}  // namespace linkwork
