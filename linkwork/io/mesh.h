#pragma once

#include <Eigen/Core>
#include <array>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace linkwork {

/// Triangles of one colour, counter-clockwise seen from outside.
struct Mesh {
  std::vector<Eigen::Vector3d> points;
  std::vector<std::array<std::uint32_t, 3>> triangles;
  std::optional<std::array<double, 4>> color = {};  // red, green, blue, opacity
};

/// The text of a file beside a mesh, or none.
using LoadBeside = std::function<std::optional<std::string>(const std::string& name)>;

/// Reads STL (of both sorts), OBJ with its materials, or COLLADA, by the end of the name: one mesh for each colour, equal points
/// made one. COLLADA's unit is applied; which axis it calls up is not, as robot descriptions have it. Throws InputError.
std::vector<Mesh> read_mesh(const std::filesystem::path& file);
std::vector<Mesh> parse_mesh(std::string_view data, const std::string& file_name, const LoadBeside& beside = {});

// A file each.
std::vector<Mesh> parse_stl(std::string_view data, const std::string& file_name);
std::vector<Mesh> parse_obj(std::string_view text, const std::string& file_name, const LoadBeside& beside);
std::vector<Mesh> parse_collada(std::string_view text, const std::string& file_name);

/// Nearly the same with at most about so many triangles: points in one cell of a grid become one, where the planes of their
/// triangles meet best.
Mesh thinned(const Mesh& mesh, std::size_t most_triangles);

/// Gathers triangles by their points, of which equal ones are kept once.
class MeshBuilder {
 public:
  std::uint32_t point(const Eigen::Vector3d& p);
  /// Left out if two of its points are the same.
  void triangle(std::uint32_t a, std::uint32_t b, std::uint32_t c);
  /// A convex polygon.
  void polygon(const std::vector<std::uint32_t>& points);
  Mesh take() { return std::move(mesh_); }
  bool empty() const { return mesh_.triangles.empty(); }

 private:
  Mesh mesh_;
  std::vector<std::uint32_t> table_;  // open addressing: numbers of points, from 1

  void grow();
};

}  // namespace linkwork
