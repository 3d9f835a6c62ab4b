#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "linkwork/import/readers.h"
#include "linkwork/io/mesh.h"

namespace linkwork {
namespace {

namespace fs = std::filesystem;
using V3 = Vec3<double>;

/// "package://name/rest" or "model://name/rest", split; without a scheme the name is empty.
std::pair<std::string, std::string> split_uri(const std::string& uri) {
  for (const std::string& scheme : {std::string("package://"), std::string("model://")})
    if (uri.starts_with(scheme)) {
      const std::string path = uri.substr(scheme.size());
      const std::size_t slash = std::min(path.find('/'), path.size());
      return {path.substr(0, slash), path.substr(std::min(slash + 1, path.size()))};
    }
  return {"", uri.starts_with("file://") ? uri.substr(7) : uri};
}

bool is_mesh_file(const fs::path& file) {
  std::string end = file.extension().string();
  std::ranges::transform(end, end.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return end == ".stl" || end == ".obj" || end == ".dae";
}

bool is_sound(const VisualSpec& shape) {
  const auto positive = [](double x) { return x > 0.0 && std::isfinite(x); };
  if (shape.shape == "box" || shape.shape == "ellipsoid")
    return positive(shape.size.x()) && positive(shape.size.y()) && positive(shape.size.z());
  if (shape.shape == "mesh") return shape.size.allFinite() && shape.size.prod() != 0.0;
  return positive(shape.radius) && (shape.shape == "sphere" || (shape.length >= 0.0 && std::isfinite(shape.length)));
}

}  // namespace

std::optional<fs::path> find_file(const std::string& uri, const ImportContext& context) {
  const auto [package, rest] = split_uri(uri);
  const fs::path folder = context.file.parent_path();
  std::vector<fs::path> places;
  if (package.empty()) {
    places.push_back(folder / rest);
  } else {
    const auto known = context.options.packages.find(package);
    if (known != context.options.packages.end()) places.push_back(known->second / rest);
    // A package is a folder of its name around the file, or beside it.
    const fs::path whole = fs::path(folder.empty() ? "." : folder).lexically_normal();
    fs::path above = whole;
    for (int k = 0; k < 8; ++k, above /= "..") {
      const fs::path at = above.lexically_normal();
      if (at.filename() == package) places.push_back(at / rest);
      places.push_back(at / package / rest);
    }
    places.push_back(folder / rest);
  }
  for (const fs::path& place : places)
    if (const fs::path file = place.lexically_normal(); context.exists(file)) return file;
  return {};
}

bool make_drawable(VisualSpec& shape, const ImportContext& context, const Place& place) {
  if (!is_sound(shape)) {
    context.notes.ignore(fmt::format("{} without a size that is positive", shape.shape), place);
    return false;
  }
  if (shape.shape != "mesh") return true;
  if (shape.file.empty() || !is_mesh_file(shape.file)) {
    context.notes.ignore("meshes that are neither .stl nor .obj nor .dae", place);
    return false;
  }
  const std::optional<fs::path> file = find_file(shape.file, context);
  if (!file) {
    context.notes.ignore(fmt::format("meshes that are not there, such as {}", fs::path(shape.file).filename().string()),
                         "meshes that are not there", place);
    return false;
  }
  const fs::path folder = context.file.parent_path();
  const fs::path relative = file->lexically_relative(folder.empty() ? "." : folder);
  shape.file = file->is_absolute() && !context.file.is_absolute() ? file->string()
               : relative.empty()                                 ? file->string()
                                                                  : relative.string();
  return true;
}

ShapeMass mesh_mass(const VisualSpec& visual, const ImportContext& context) {
  const std::optional<fs::path> file = find_file(visual.file, context);
  ShapeMass solid;
  if (!file) return solid;
  try {
    // Tetrahedra between the origin and the triangles, those on the wrong side counted negative.
    Mat3<double> squares = Mat3<double>::Zero();  // of x x' dV
    V3 moment = V3::Zero();
    for (const Mesh& mesh : parse_mesh(context.load(*file), file->string()))
      for (const auto& corner : mesh.triangles) {
        Mat3<double> p;
        for (int k = 0; k < 3; ++k) p.col(k) = mesh.points[corner[static_cast<std::size_t>(k)]].cwiseProduct(visual.size);
        const double volume = p.determinant() / 6.0;
        const V3 sum = p.rowwise().sum();
        solid.volume += volume;
        moment += volume / 4.0 * sum;
        squares += volume / 20.0 * (p * p.transpose() + sum * sum.transpose());
      }
    if (solid.volume < 0.0) solid.volume = -solid.volume, moment = -moment, squares = -squares;
    if (!(solid.volume > 0.0)) return {};
    solid.com = moment / solid.volume;
    squares = (squares / solid.volume - solid.com * solid.com.transpose()).eval();
    solid.unit_inertia = squares.trace() * Mat3<double>::Identity() - squares;
  } catch (const InputError&) {
    return {};
  }
  return solid;
}

std::optional<std::array<double, 4>> read_color(const std::vector<double>& parts) {
  if (parts.size() != 3 && parts.size() != 4) return {};
  std::array<double, 4> color{0.0, 0.0, 0.0, 1.0};
  for (std::size_t k = 0; k < parts.size(); ++k) color[k] = std::isfinite(parts[k]) ? std::clamp(parts[k], 0.0, 1.0) : 1.0;
  return color;
}

std::optional<VisualSpec> read_geometry(const XmlElement& geometry, bool values_are_text) {
  VisualSpec shape;
  const auto number = [&](const XmlElement& element, const char* key) {
    if (!values_are_text) return element.number(key, 0.0);
    const XmlElement* const child = element.find(key);
    return child == nullptr ? 0.0 : child->text_number();
  };
  const auto size = [&](const XmlElement& element, const char* key) -> V3 {
    if (!values_are_text) return element.vector(key, V3::Zero());
    const XmlElement* const child = element.find(key);
    const std::vector<double> n = child == nullptr ? std::vector<double>(3, 0.0) : child->text_numbers();
    if (n.size() != 3) child->fail(fmt::format("has {} numbers", n.size()), "3");
    return {n[0], n[1], n[2]};
  };
  if (const XmlElement* const box = geometry.find("box")) {
    shape.shape = "box";
    shape.size = size(*box, "size");
  } else if (const XmlElement* const ellipsoid = geometry.find("ellipsoid")) {
    shape.shape = "ellipsoid";
    shape.size = size(*ellipsoid, "radii");
  } else if (const XmlElement* const sphere = geometry.find("sphere")) {
    shape.shape = "sphere";
    shape.radius = number(*sphere, "radius");
  } else {
    for (const char* name : {"cylinder", "capsule"})
      if (const XmlElement* const round = geometry.find(name)) {
        shape.shape = name;
        shape.radius = number(*round, "radius");
        shape.length = number(*round, "length");
      }
  }
  if (const XmlElement* const mesh = geometry.find("mesh"); mesh != nullptr && shape.shape.empty()) {
    shape.shape = "mesh";
    shape.size = mesh->has("scale") || mesh->find("scale") != nullptr ? size(*mesh, "scale") : V3(V3::Ones());
    const XmlElement* const uri = values_are_text ? mesh->find("uri") : nullptr;
    shape.file = uri != nullptr ? uri->text : mesh->get("filename", "");
  }
  if (shape.shape.empty()) return {};
  return shape;
}

}  // namespace linkwork
