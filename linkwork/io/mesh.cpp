#include "linkwork/io/mesh.h"

#include <Eigen/Dense>
#include <algorithm>
#include <bit>
#include <cmath>
#include <map>

#include "linkwork/io/input_file.h"
#include "linkwork/model/input_error.h"

namespace linkwork {
namespace {

namespace fs = std::filesystem;
using Vector = Eigen::Vector3d;

constexpr std::size_t kLargestFile = 1U << 29U;

std::string ending(const std::string& name) {
  std::string end = fs::path(name).extension().string();
  std::ranges::transform(end, end.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return end;
}

std::size_t hash_of(const Vector& p) {
  std::uint64_t hash = 1469598103934665603U;
  for (int k = 0; k < 3; ++k) hash = (hash ^ std::bit_cast<std::uint64_t>(p[k] == 0.0 ? 0.0 : p[k])) * 0x9E3779B97F4A7C15U;
  return static_cast<std::size_t>(hash ^ hash >> 29U);
}

/// The points of a cell, and the planes through them.
struct Cell {
  Vector sum = Vector::Zero();
  int count = 0;
  Eigen::Matrix3d A = Eigen::Matrix3d::Zero();  // sum of n n', weighted by area
  Vector b = Vector::Zero();                    // sum of n (n . p)
};

/// Where the planes meet best; where they leave it open, near the middle of the points.
Vector placed(const Cell& cell, double size) {
  const Vector middle = cell.sum / cell.count;
  const double weight = cell.A.trace();
  if (!(weight > 0.0)) return middle;
  const Eigen::Matrix3d A = cell.A + 1e-3 * weight * Eigen::Matrix3d::Identity();
  const Vector shift = A.ldlt().solve(cell.b - cell.A * middle);
  return shift.allFinite() && shift.norm() < size ? Vector(middle + shift) : middle;
}

Mesh clustered(const Mesh& mesh, const Vector& low, double size) {
  std::map<std::array<long, 3>, std::uint32_t> number_of;
  std::vector<std::uint32_t> cell_of;
  std::vector<Cell> cells;
  for (const Vector& p : mesh.points) {
    const Vector at = (p - low) / size;
    const auto [known, is_new] = number_of.try_emplace({std::lround(at[0]), std::lround(at[1]), std::lround(at[2])},
                                                       static_cast<std::uint32_t>(cells.size()));
    if (is_new) cells.emplace_back();
    cell_of.push_back(known->second);
    cells[known->second].sum += p;
    ++cells[known->second].count;
  }
  Mesh thin;
  thin.color = mesh.color;
  std::map<std::array<std::uint32_t, 3>, bool> seen;
  for (const auto& corner : mesh.triangles) {
    const Vector& p = mesh.points[corner[0]];
    const Vector normal = (mesh.points[corner[1]] - p).cross(mesh.points[corner[2]] - p);
    const double area = normal.norm();
    if (area > 0.0)
      for (const std::uint32_t point : corner) {
        Cell& cell = cells[cell_of[point]];
        cell.A += normal * normal.transpose() / area;
        cell.b += normal * (normal.dot(p) / area);
      }
    std::array<std::uint32_t, 3> t{cell_of[corner[0]], cell_of[corner[1]], cell_of[corner[2]]};
    if (t[0] == t[1] || t[1] == t[2] || t[2] == t[0]) continue;
    std::rotate(t.begin(), std::ranges::min_element(t), t.end());
    if (seen.emplace(t, true).second) thin.triangles.push_back(t);
  }
  for (const Cell& cell : cells) thin.points.push_back(placed(cell, size));
  return thin;
}

/// Without points that no triangle has.
Mesh compact(Mesh mesh) {
  std::vector<std::uint32_t> number(mesh.points.size(), 0);
  std::vector<Vector> points;
  for (auto& corner : mesh.triangles)
    for (std::uint32_t& point : corner) {
      if (number[point] == 0) {
        points.push_back(mesh.points[point]);
        number[point] = static_cast<std::uint32_t>(points.size());
      }
      point = number[point] - 1;
    }
  mesh.points = std::move(points);
  return mesh;
}

}  // namespace

std::uint32_t MeshBuilder::point(const Vector& p) {
  if (2 * (mesh_.points.size() + 1) > table_.size()) grow();
  std::size_t at = hash_of(p) & (table_.size() - 1);
  for (; table_[at] != 0; at = (at + 1) & (table_.size() - 1))
    if (mesh_.points[table_[at] - 1] == p) return table_[at] - 1;
  mesh_.points.push_back(p);
  table_[at] = static_cast<std::uint32_t>(mesh_.points.size());
  return table_[at] - 1;
}

void MeshBuilder::grow() {
  table_.assign(std::max<std::size_t>(64, 2 * table_.size()), 0);
  for (std::size_t k = 0; k < mesh_.points.size(); ++k) {
    std::size_t at = hash_of(mesh_.points[k]) & (table_.size() - 1);
    while (table_[at] != 0) at = (at + 1) & (table_.size() - 1);
    table_[at] = static_cast<std::uint32_t>(k + 1);
  }
}

void MeshBuilder::triangle(std::uint32_t a, std::uint32_t b, std::uint32_t c) {
  if (a != b && b != c && c != a) mesh_.triangles.push_back({a, b, c});
}

void MeshBuilder::polygon(const std::vector<std::uint32_t>& points) {
  for (std::size_t k = 2; k < points.size(); ++k) triangle(points[0], points[k - 1], points[k]);
}

std::vector<Mesh> parse_mesh(std::string_view data, const std::string& file_name, const LoadBeside& beside) {
  const std::string end = ending(file_name);
  std::vector<Mesh> meshes;
  if (end == ".stl")
    meshes = parse_stl(data, file_name);
  else if (end == ".obj")
    meshes = parse_obj(data, file_name, beside);
  else if (end == ".dae")
    meshes = parse_collada(data, file_name);
  else
    throw InputError({file_name, 0, 0}, "is no mesh that can be read", "a file that ends in .stl, .obj or .dae");
  constexpr double kFarthest = 1e9;
  for (const Mesh& mesh : meshes)
    for (const Vector& p : mesh.points)
      if (!(p.cwiseAbs().maxCoeff() < kFarthest)) throw InputError({file_name, 0, 0}, "has points that are too far away");
  if (meshes.empty()) throw InputError({file_name, 0, 0}, "has no triangles");
  return meshes;
}

std::vector<Mesh> read_mesh(const fs::path& file) {
  const auto beside = [&](const std::string& name) -> std::optional<std::string> {
    try {
      return read_input_file(file.parent_path() / name, "a file of materials", kLargestFile);
    } catch (const InputError&) {
      return {};
    }
  };
  return parse_mesh(read_input_file(file, "a mesh", kLargestFile), file.string(), beside);
}

Mesh thinned(const Mesh& mesh, std::size_t most_triangles) {
  if (mesh.triangles.size() <= most_triangles) return compact(mesh);
  Vector low = mesh.points.front(), high = low;
  for (const Vector& p : mesh.points) low = low.cwiseMin(p), high = high.cwiseMax(p);
  const double extent = (high - low).maxCoeff();
  // A surface has some 2 n² triangles on a grid of n cells: from there to the finest grid that is coarse enough.
  double cells = std::sqrt(static_cast<double>(most_triangles));
  Mesh best = clustered(mesh, low, extent / cells);
  while (best.triangles.size() > most_triangles && cells > 2.0) best = clustered(mesh, low, extent / (cells *= 0.8));
  for (int k = 0; k < 6; ++k) {
    const double finer = cells * 1.2;
    Mesh trial = clustered(mesh, low, extent / finer);
    if (trial.triangles.size() > most_triangles) break;
    best = std::move(trial), cells = finer;
  }
  return compact(std::move(best));
}

}  // namespace linkwork
