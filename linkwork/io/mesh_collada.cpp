#include <fmt/format.h>

#include <Eigen/Geometry>
#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>
#include <numbers>
#include <pugixml.hpp>

#include "linkwork/io/mesh.h"
#include "linkwork/model/input_error.h"

namespace linkwork {
namespace {

using Vector = Eigen::Vector3d;
using Transform = Eigen::Matrix4d;
using Color = std::array<double, 4>;
using XmlNode = pugi::xml_node;

template <class Number>
std::vector<Number> numbers_of(std::string_view text) {
  std::vector<Number> numbers;
  for (const char *at = text.data(), *const end = at + text.size(); at != end;) {
    if (static_cast<unsigned char>(*at) <= ' ' || *at == '+') {
      ++at;
      continue;
    }
    Number number{};
    const auto [stop, error] = std::from_chars(at, end, number);
    if (error != std::errc{}) break;
    numbers.push_back(number);
    at = stop;
  }
  return numbers;
}

class Collada {
 public:
  Collada(const XmlNode& root, const std::string& file) : root_(root), file_(file) { remember(root, 0); }

  std::vector<Mesh> read() {
    const double metre = root_.child("asset").child("unit").attribute("meter").as_double(1.0);
    Transform scale = Transform::Identity();
    if (std::isfinite(metre) && metre > 0.0) scale.diagonal().head<3>().setConstant(metre);
    for (const XmlNode& library : root_.children("library_visual_scenes"))
      for (const XmlNode& scene : library.children("visual_scene"))
        for (const XmlNode& node : scene.children("node")) visit(node, scale, 0);
    if (parts_.empty())  // geometry without a scene
      for (const XmlNode& library : root_.children("library_geometries"))
        for (const XmlNode& geometry : library.children("geometry")) add_geometry(geometry, {}, scale);
    std::vector<Mesh> meshes;
    for (auto& [color, builder] : parts_) {
      if (builder.empty()) continue;
      meshes.push_back(builder.take());
      if (color[0] >= 0.0) meshes.back().color = color;
    }
    return meshes;
  }

 private:
  static constexpr int kDeepest = 64;
  static constexpr std::size_t kMostInstances = 10'000, kMostCorners = 100'000'000;

  [[noreturn]] void refuse(const std::string& what) const { throw InputError({file_, 0, 0}, what); }

  void remember(const XmlNode& node, int depth) {
    if (depth > kDeepest) return;
    for (const XmlNode& child : node.children()) {
      if (const pugi::xml_attribute id = child.attribute("id")) by_id_.emplace(id.value(), child);
      remember(child, depth + 1);
    }
  }

  XmlNode target(const std::string& url) const {
    const auto found = url.starts_with('#') ? by_id_.find(url.substr(1)) : by_id_.end();
    return found == by_id_.end() ? XmlNode{} : found->second;
  }

  static Transform transform_of(const XmlNode& element) {
    const std::vector<double> n = numbers_of<double>(element.text().get());
    const std::string name = element.name();
    Transform X = Transform::Identity();
    if (name == "matrix" && n.size() == 16) X = Eigen::Map<const Eigen::Matrix<double, 4, 4, Eigen::RowMajor>>(n.data());
    if (name == "translate" && n.size() == 3) X.topRightCorner<3, 1>() << n[0], n[1], n[2];
    if (name == "scale" && n.size() == 3) X.diagonal().head<3>() << n[0], n[1], n[2];
    if (name == "rotate" && n.size() == 4 && Vector(n[0], n[1], n[2]).norm() > 0.0)
      X.topLeftCorner<3, 3>() =
          Eigen::AngleAxisd(n[3] * std::numbers::pi / 180.0, Vector(n[0], n[1], n[2]).normalized()).toRotationMatrix();
    return X;
  }

  void visit(const XmlNode& node, const Transform& parent, int depth) {
    if (depth > kDeepest) refuse("has nodes that are nested too deeply");
    if (++instances_ > kMostInstances) refuse("has too many nodes");
    Transform X = parent;
    for (const XmlNode& child : node.children()) {
      const std::string name = child.name();
      X = X * transform_of(child);
      if (name == "instance_geometry") add_geometry(target(child.attribute("url").value()), materials_of(child), X);
    }
    for (const XmlNode& child : node.children("node")) visit(child, X, depth + 1);
    for (const XmlNode& child : node.children("instance_node"))
      if (const XmlNode other = target(child.attribute("url").value())) visit(other, X, depth + 1);
  }

  /// By the symbol that triangles name.
  std::map<std::string, std::string> materials_of(const XmlNode& instance) const {
    std::map<std::string, std::string> materials;
    for (const XmlNode& one : instance.child("bind_material").child("technique_common").children("instance_material"))
      materials[one.attribute("symbol").value()] = one.attribute("target").value();
    return materials;
  }

  Color color_of(const std::string& symbol, const std::map<std::string, std::string>& materials) const {
    constexpr Color kNone{-1.0, 0.0, 0.0, 0.0};
    const auto bound = materials.find(symbol);
    const XmlNode material = target(bound != materials.end() ? bound->second : "#" + symbol);
    const XmlNode effect = target(material.child("instance_effect").attribute("url").value());
    for (const XmlNode& way : effect.child("profile_COMMON").child("technique").children()) {
      const std::vector<double> n = numbers_of<double>(way.child("diffuse").child("color").text().get());
      if (n.size() != 3 && n.size() != 4) continue;
      Color color{n[0], n[1], n[2], 1.0};
      const std::vector<double> clear = numbers_of<double>(way.child("transparency").child("float").text().get());
      if (n.size() == 4 && n[3] > 0.0) color[3] = n[3];
      if (clear.size() == 1 && clear[0] > 0.0 && clear[0] < 1.0) color[3] = clear[0];
      for (double& part : color) part = std::isfinite(part) ? std::clamp(part, 0.0, 1.0) : 1.0;
      return color;
    }
    return kNone;
  }

  std::vector<Vector> points_of(const std::string& url, const Transform& X) const {
    XmlNode source = target(url);
    if (std::string(source.name()) == "vertices")
      for (const XmlNode& input : source.children("input"))
        if (std::string(input.attribute("semantic").value()) == "POSITION") {
          source = target(input.attribute("source").value());
          break;
        }
    const std::vector<double> n = numbers_of<double>(source.child("float_array").text().get());
    const auto stride = source.child("technique_common").child("accessor").attribute("stride").as_uint(3);
    std::vector<Vector> points;
    for (std::size_t at = 0; stride >= 3 && at + 3 <= n.size(); at += stride) {
      const Vector p = (X * Eigen::Vector4d(n[at], n[at + 1], n[at + 2], 1.0)).head<3>();
      if (!p.allFinite()) refuse("has a point that is not finite");
      points.push_back(p);
    }
    return points;
  }

  void add_geometry(const XmlNode& geometry, const std::map<std::string, std::string>& materials, const Transform& X) {
    for (const XmlNode& faces : geometry.child("mesh").children()) {
      const std::string sort = faces.name();
      if (sort == "triangles" || sort == "polylist" || sort == "polygons") add_faces(faces, sort, materials, X);
    }
  }

  void add_faces(const XmlNode& faces, const std::string& sort, const std::map<std::string, std::string>& materials,
                 const Transform& X) {
    std::size_t stride = 0, offset = 0;
    std::vector<Vector> points;
    for (const XmlNode& input : faces.children("input")) {
      const std::size_t at = input.attribute("offset").as_uint(0);
      stride = std::max(stride, at + 1);
      if (std::string(input.attribute("semantic").value()) != "VERTEX") continue;
      offset = at;
      points = points_of(input.attribute("source").value(), X);
    }
    if (stride == 0 || stride > 64) refuse("has faces without points");
    MeshBuilder& builder = parts_[color_of(faces.attribute("material").value(), materials)];
    std::vector<std::uint32_t> counts = numbers_of<std::uint32_t>(faces.child("vcount").text().get());
    std::size_t face = 0;
    const bool mirrored = X.topLeftCorner<3, 3>().determinant() < 0.0;
    for (const XmlNode& list : faces.children("p")) {
      const std::vector<std::uint32_t> index = numbers_of<std::uint32_t>(list.text().get());
      const std::size_t corners = index.size() / stride;
      for (std::size_t first = 0; first < corners;) {
        std::size_t count = sort == "triangles" ? 3 : sort == "polygons" ? corners : face < counts.size() ? counts[face] : 0;
        ++face;
        if (count == 0 || first + count > corners) break;
        if ((corners_ += count) > kMostCorners) refuse("has too many faces");
        std::vector<std::uint32_t> polygon;
        for (std::size_t k = first; k < first + count; ++k) {
          const std::uint32_t point = index[k * stride + offset];
          if (point >= points.size()) refuse(fmt::format("has a face with point {} of {}", point, points.size()));
          polygon.push_back(builder.point(points[point]));
        }
        if (mirrored) std::ranges::reverse(polygon);
        builder.polygon(polygon);
        first += count;
      }
    }
  }

  const XmlNode root_;
  const std::string& file_;
  std::map<std::string, XmlNode> by_id_;
  std::map<Color, MeshBuilder> parts_;
  std::size_t instances_ = 0, corners_ = 0;
};

}  // namespace

std::vector<Mesh> parse_collada(std::string_view text, const std::string& file) {
  pugi::xml_document document;
  const pugi::xml_parse_result parsed = document.load_buffer(text.data(), text.size());
  if (!parsed) throw InputError({file, 0, 0}, fmt::format("the XML cannot be read: {}", parsed.description()));
  const pugi::xml_node root = document.child("COLLADA");
  if (!root) throw InputError({file, 0, 0}, "is no COLLADA file", "the root element <COLLADA>");
  return Collada(root, file).read();
}

}  // namespace linkwork
