#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "linkwork/drawing/picture.h"

namespace linkwork {
namespace {

using Point = Vec3<double>;

std::string hex(const Color& color) {
  const auto byte = [](double value) { return static_cast<int>(std::lround(255.0 * std::clamp(value, 0.0, 1.0))); };
  return fmt::format("#{:02x}{:02x}{:02x}", byte(color.r), byte(color.g), byte(color.b));
}

/// Text for XML: nothing in it is markup, and control characters, which XML does not have, are left out.
std::string escaped(const std::string& text) {
  std::string result;
  for (const char c : text)
    if (c == '&')
      result += "&amp;";
    else if (c == '<')
      result += "&lt;";
    else if (c == '>')
      result += "&gt;";
    else if (c == '"')
      result += "&quot;";
    else if (static_cast<unsigned char>(c) >= 0x20)
      result += c;
  return result;
}

/// A face as it is seen.
struct Polygon {
  std::vector<Point> corners;
  double depth;
  std::string color;
  double opacity;
};

std::string path_of(const std::vector<Point>& corners) {
  std::string text;
  for (std::size_t i = 0; i < corners.size(); ++i)
    text += fmt::format("{}{:.1f} {:.1f}", i == 0 ? "M" : "L", corners[i].x(), corners[i].y());
  return text;
}

class Painter {
 public:
  Painter(const Scenery& scenery, const Camera& camera) : scenery_(scenery), camera_(camera) {}

  std::string text(int width, int height) const {
    const Palette& palette = scenery_.palette;
    std::string svg = fmt::format(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0} {1}\" width=\"{0}\" height=\"{1}\">\n<title>{2}</title>\n"
        "<rect width=\"{0}\" height=\"{1}\" fill=\"{3}\"/>\n",
        width, height, escaped(scenery_.caption), hex(palette.background));
    svg += grid(false) + grid(true) + shadows();
    for (const Polygon& polygon : polygons())
      svg += fmt::format("<path d=\"{}Z\" fill=\"{}\" stroke=\"{}\" stroke-width=\".6\" stroke-linejoin=\"round\"{}/>\n",
                         path_of(polygon.corners), polygon.color, polygon.color,
                         polygon.opacity < 1.0 ? fmt::format(" opacity=\"{:.3g}\"", polygon.opacity) : "");
    return svg + paths() + "</svg>\n";
  }

 private:
  bool is_before(const Point& pixel) const { return pixel.allFinite() && pixel.z() > camera_.nearest(); }

  std::string grid(bool strong) const {
    std::string lines;
    for (const GridLine& line : grid_lines(scenery_.layout)) {
      const Point a = camera_.project(line.from), b = camera_.project(line.to);
      if (line.strong == strong && is_before(a) && is_before(b)) lines += path_of({a, b});
    }
    const Color& color = strong ? scenery_.palette.strong_grid : scenery_.palette.grid;
    return fmt::format("<path d=\"{}\" fill=\"none\" stroke=\"{}\" stroke-width=\"1\"/>\n", lines, hex(color));
  }

  std::string shadows() const {
    std::string all;
    for (const Figure::Part& part : scenery_.parts)
      for (const Surface::Face& face : part.surface.faces) {
        if (face.front().n.dot(camera_.light() - face.front().p) < 0.0) continue;  // its other side throws the same
        std::vector<Point> corners;
        for (const Surface::Corner& corner : face) corners.push_back(camera_.project(shadow_of(corner.p, scenery_.layout)));
        if (std::ranges::all_of(corners, [&](const Point& corner) { return is_before(corner); })) all += path_of(corners) + "Z";
      }
    return fmt::format("<path d=\"{}\" fill=\"#000\" opacity=\".14\"/>\n", all);
  }

  /// Those that are turned to the camera, the farthest first.
  std::vector<Polygon> polygons() const {
    std::vector<Polygon> all;
    for (const Figure::Part& part : scenery_.parts)
      for (const Surface::Face& face : part.surface.faces) {
        Point middle = Point::Zero(), normal = Point::Zero();
        for (const Surface::Corner& corner : face) {
          middle += corner.p / static_cast<double>(face.size());
          normal += corner.n;
        }
        normal.normalize();
        if (normal.dot(camera_.position() - middle) <= 0.0) continue;
        Polygon polygon{
            {}, (middle - camera_.position()).norm(), hex(shaded(part.color, normal, middle, scenery_, camera_)), part.color.a};
        for (const Surface::Corner& corner : face) polygon.corners.push_back(camera_.project(corner.p));
        if (std::ranges::all_of(polygon.corners, [&](const Point& corner) { return is_before(corner); }))
          all.push_back(std::move(polygon));
      }
    std::ranges::stable_sort(all, [](const Polygon& a, const Polygon& b) { return a.depth > b.depth; });
    return all;
  }

  std::string paths() const {
    std::string text;
    for (const Path& path : scenery_.paths) {
      std::vector<Point> points;
      for (const Point& point : path.points)
        if (const Point pixel = camera_.project(point); is_before(pixel)) points.push_back(pixel);
      text += fmt::format("<path d=\"{}\" fill=\"none\" stroke=\"{}\" stroke-width=\"1.6\" opacity=\".8\"/>\n", path_of(points),
                          hex(scenery_.palette.trace));
    }
    return text;
  }

  const Scenery& scenery_;
  const Camera& camera_;
};

}  // namespace

std::string svg_text(const Scenery& scenery, const Camera& camera, int width, int height) {
  return Painter(scenery, camera).text(width, height);
}

}  // namespace linkwork
