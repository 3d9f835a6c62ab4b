#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>

#include "linkwork/drawing/painting_order.h"
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

std::string path_of(const std::vector<Point>& corners) {
  std::string text;
  for (std::size_t i = 0; i < corners.size(); ++i)
    text += fmt::format("{}{:.1f} {:.1f}", i == 0 ? "M" : "L", corners[i].x(), corners[i].y());
  return text;
}

Color mixed(const Color& over, const Color& under, double part) {
  const auto mix = [&](double a, double b) { return part * a + (1.0 - part) * b; };
  return {mix(over.r, under.r), mix(over.g, under.g), mix(over.b, under.b)};
}

/// Twice the area of what is seen, by which one tells the sides of a face.
double turning(const std::vector<Point>& corners) {
  double sum = 0.0;
  for (std::size_t i = 0; i < corners.size(); ++i) {
    const Point &p = corners[i], &q = corners[(i + 1) % corners.size()];
    sum += p.x() * q.y() - p.y() * q.x();
  }
  return sum;
}

class Painter {
 public:
  Painter(const Scenery& scenery, const Camera& camera) : scenery_(scenery), camera_(camera) {}

  std::string text(int width, int height) {
    const Palette& palette = scenery_.palette;
    std::string svg = fmt::format(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0} {1}\" width=\"{0}\" height=\"{1}\">\n<title>{2}</title>\n"
        "<rect width=\"{0}\" height=\"{1}\" fill=\"{3}\"/>\n",
        width, height, escaped(scenery_.caption), hex(palette.background));
    svg += grid(false) + grid(true) + shadows() + "<g stroke-width=\".6\" stroke-linejoin=\"round\">\n";
    add_faces();
    add_paths();
    const std::vector<Painted> order = painting_order(std::move(painted_));
    for (std::size_t i = 0; i < order.size();) {
      const std::size_t style = order[i].style;
      std::string path;
      for (std::size_t first = i; i < order.size() && order[i].style == style && (order[i].opaque || i == first); ++i)
        path += order[i].corners.size() > 2 ? path_of(order[i].corners) + "Z"
                : i > first && order[i].corners[0] == order[i - 1].corners[1]
                    ? fmt::format("L{:.1f} {:.1f}", order[i].corners[1].x(), order[i].corners[1].y())
                    : path_of(order[i].corners);
      svg += fmt::format("<path {} d=\"{}\"/>\n", styles_[style], path);
    }
    return svg + "</g>\n</svg>\n";
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
        std::vector<Point> corners;
        for (const Surface::Corner& corner : face) corners.push_back(camera_.project(shadow_of(corner.p, scenery_.layout)));
        if (turning(corners) > 0.0) continue;  // the other side of the surface throws the same
        if (std::ranges::all_of(corners, [&](const Point& corner) { return is_before(corner); })) all += path_of(corners) + "Z";
      }
    return fmt::format("<path d=\"{}\" fill=\"#000\" opacity=\".14\"/>\n", all);
  }

  std::size_t style(std::string attributes) {
    const auto [place, is_new] = style_of_.try_emplace(std::move(attributes), styles_.size());
    if (is_new) styles_.push_back(place->first);
    return place->second;
  }

  /// Pixels and the inverse of the depth.
  Painted seen(const std::vector<Point>& pixels, std::size_t style, bool opaque) const {
    Painted painted{pixels, style, opaque};
    for (Point& corner : painted.corners) corner.z() = 1.0 / corner.z();
    return painted;
  }

  /// Those that are turned to the camera.
  void add_faces() {
    for (const Figure::Part& part : scenery_.parts)
      for (const Surface::Face& face : part.surface.faces) {
        Point middle = Point::Zero(), normal = Point::Zero();
        std::vector<Point> pixels;
        for (const Surface::Corner& corner : face) {
          middle += corner.p / static_cast<double>(face.size());
          normal += corner.n;
          pixels.push_back(camera_.project(corner.p));
        }
        const bool inside = turning(pixels) >= 0.0;
        if (inside && !part.surface.two_sided) continue;
        if (!std::ranges::all_of(pixels, [&](const Point& corner) { return is_before(corner); })) continue;
        const std::string color = hex(shaded(part.color, (inside ? -normal : normal).normalized(), middle, scenery_, camera_));
        const bool opaque = part.color.a >= 1.0;
        painted_.push_back(seen(pixels,
                                style(opaque ? fmt::format("fill=\"{0}\" stroke=\"{0}\"", color)
                                             : fmt::format("fill=\"{}\" opacity=\"{:.3g}\"", color, part.color.a)),
                                opaque));
      }
  }

  /// What is past of the paths stronger than what is to come.
  void add_paths() {
    const Palette& palette = scenery_.palette;
    const auto line = [&](double part, double width) {
      const std::string color = hex(mixed(palette.trace, palette.background, part));
      return style(fmt::format("fill=\"none\" stroke=\"{}\" stroke-width=\"{}\"", color, width));
    };
    const std::size_t past = line(0.95, 2.4), future = line(0.4, 1.4);
    for (const Path& path : scenery_.paths) {
      constexpr double kShortest = 1.5;  // pixels
      std::optional<Point> from;
      for (std::size_t i = 0; i < path.points.size(); ++i) {
        const Point to = camera_.project(path.points[i]);
        const bool is_end = i + 1 == path.points.size() || i == path.past;
        if (!is_before(to)) {
          from.reset();
        } else if (!from) {
          from = to;
        } else if (is_end || std::hypot(to.x() - from->x(), to.y() - from->y()) > kShortest) {
          painted_.push_back(seen({*from, to}, i <= path.past ? past : future, true));
          from = to;
        }
      }
    }
  }

  const Scenery& scenery_;
  const Camera& camera_;
  std::vector<Painted> painted_;
  std::vector<std::string> styles_;
  std::map<std::string, std::size_t> style_of_;
};

}  // namespace

std::string svg_text(const Scenery& scenery, const Camera& camera, int width, int height) {
  return Painter(scenery, camera).text(width, height);
}

}  // namespace linkwork
