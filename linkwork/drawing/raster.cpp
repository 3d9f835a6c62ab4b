#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "linkwork/drawing/picture.h"

namespace linkwork {
namespace {

using Point = Vec3<double>;

constexpr int kFine = 2;  // pixels are drawn this many times as fine, each way

/// Colours and depths, finer than the picture.
class Canvas {
 public:
  Canvas(int width, int height, const Color& background)
      : width_(width),
        height_(height),
        colors_(static_cast<std::size_t>(width) * static_cast<std::size_t>(height), packed(background)),
        depths_(colors_.size(), std::numeric_limits<float>::infinity()) {}

  int width() const { return width_; }
  int height() const { return height_; }

  /// Calls take(index, a, b) for the pixels in a triangle, with the parts of its second and third corner.
  template <class Take>
  void fill(const std::array<Point, 3>& corners, const Take& take) const {
    const auto& [p, q, r] = corners;
    const double area = (q.x() - p.x()) * (r.y() - p.y()) - (q.y() - p.y()) * (r.x() - p.x());
    if (!std::isfinite(area) || area == 0.0) return;
    const int left = first(std::min({p.x(), q.x(), r.x()}), width_), right = last(std::max({p.x(), q.x(), r.x()}), width_);
    const int top = first(std::min({p.y(), q.y(), r.y()}), height_), bottom = last(std::max({p.y(), q.y(), r.y()}), height_);
    for (int y = top; y <= bottom; ++y)
      for (int x = left; x <= right; ++x) {
        const double dx = x + 0.5 - p.x(), dy = y + 0.5 - p.y();
        const double b = (dx * (r.y() - p.y()) - dy * (r.x() - p.x())) / area;
        const double c = ((q.x() - p.x()) * dy - (q.y() - p.y()) * dx) / area;
        if (b < 0.0 || c < 0.0 || b + c > 1.0) continue;
        take(static_cast<std::size_t>(y) * static_cast<std::size_t>(width_) + static_cast<std::size_t>(x), b, c);
      }
  }

  bool is_nearer(std::size_t pixel, double depth) const { return static_cast<float>(depth) < depths_[pixel]; }
  void set(std::size_t pixel, double depth, const Color& color) {
    depths_[pixel] = static_cast<float>(depth);
    colors_[pixel] = packed(color);
  }
  /// Mixes a colour in, by its opacity.
  void blend(std::size_t pixel, const Color& color) {
    std::array<std::uint8_t, 3>& there = colors_[pixel];
    const std::array<std::uint8_t, 3> over = packed(color);
    for (std::size_t k = 0; k < 3; ++k)
      there[k] = static_cast<std::uint8_t>(std::lround((1.0 - color.a) * there[k] + color.a * over[k]));
  }

  /// A line of some pixels' width; nearer things hide it unless `on_top`.
  void line(const Point& from, const Point& to, double width, const Color& color, bool hidden_by_others) {
    const Point along(to.x() - from.x(), to.y() - from.y(), 0.0);
    const double length = along.norm();
    if (!(length > 1e-9)) return;
    const Point side(-along.y() / length * 0.5 * width, along.x() / length * 0.5 * width, 0.0);
    const std::array<Point, 4> corners{from - side, to - side, to + side, from + side};
    for (const auto& [a, b, c] : {std::array{0, 1, 2}, std::array{0, 2, 3}}) {
      const std::array triangle{corners[static_cast<std::size_t>(a)], corners[static_cast<std::size_t>(b)],
                                corners[static_cast<std::size_t>(c)]};
      fill(triangle, [&](std::size_t pixel, double second, double third) {
        const double depth = (1.0 - second - third) * triangle[0].z() + second * triangle[1].z() + third * triangle[2].z();
        if (!hidden_by_others || is_nearer(pixel, depth)) blend(pixel, color);
      });
    }
  }

  /// The mean of the fine pixels.
  Image image(int width, int height) const {
    Image image{width, height, {}};
    image.pixels.reserve(3 * static_cast<std::size_t>(width) * static_cast<std::size_t>(height));
    for (int y = 0; y < height; ++y)
      for (int x = 0; x < width; ++x)
        for (std::size_t k = 0; k < 3; ++k) {
          unsigned sum = 0;
          for (int v = 0; v < kFine; ++v)
            for (int u = 0; u < kFine; ++u)
              sum += colors_[static_cast<std::size_t>(y * kFine + v) * static_cast<std::size_t>(width_) +
                             static_cast<std::size_t>(x * kFine + u)][k];
          image.pixels.push_back(static_cast<std::uint8_t>((sum + kFine * kFine / 2) / (kFine * kFine)));
        }
    return image;
  }

 private:
  static std::array<std::uint8_t, 3> packed(const Color& color) {
    const auto byte = [](double value) { return static_cast<std::uint8_t>(std::lround(255.0 * std::clamp(value, 0.0, 1.0))); };
    return {byte(color.r), byte(color.g), byte(color.b)};
  }
  static int first(double low, int size) { return static_cast<int>(std::clamp(std::floor(low - 0.5), 0.0, size - 1.0)); }
  static int last(double high, int size) { return static_cast<int>(std::clamp(std::ceil(high), -1.0, size - 1.0)); }

  int width_, height_;
  std::vector<std::array<std::uint8_t, 3>> colors_;
  std::vector<float> depths_;
};

/// A corner as it is seen.
struct Seen {
  Point pixel, world, normal;
};

class Renderer {
 public:
  Renderer(const Scenery& scenery, const Camera& camera, int width, int height)
      : scenery_(scenery), camera_(camera), canvas_(kFine * width, kFine * height, scenery.palette.background) {}

  void draw() {
    draw_grid();
    draw_shadows();
    for (const Figure::Part& part : scenery_.parts)
      if (part.color.a >= 1.0) draw_part(part);
    draw_paths();
    for (const Figure::Part& part : scenery_.parts)
      if (part.color.a < 1.0) draw_part(part);
  }

  Image image(int width, int height) const { return canvas_.image(width, height); }

 private:
  Point seen(const Point& world) const {
    const Point pixel = camera_.project(world);
    return {kFine * pixel.x(), kFine * pixel.y(), pixel.z()};
  }

  bool is_before(const Point& pixel) const { return pixel.allFinite() && pixel.z() > camera_.nearest(); }

  void draw_grid() {
    for (const GridLine& line : grid_lines(scenery_.layout)) {
      const Point a = seen(line.from), b = seen(line.to);
      if (is_before(a) && is_before(b))
        canvas_.line(a, b, 1.4 * kFine * 0.5, line.strong ? scenery_.palette.strong_grid : scenery_.palette.grid, false);
    }
  }

  /// Each pixel once, however many faces throw their shadows on it.
  void draw_shadows() {
    std::vector<bool> dark(static_cast<std::size_t>(canvas_.width()) * static_cast<std::size_t>(canvas_.height()), false);
    for (const Figure::Part& part : scenery_.parts)
      for (const Surface::Face& face : part.surface.faces) {
        std::vector<Point> corners;
        for (const Surface::Corner& corner : face) corners.push_back(seen(shadow_of(corner.p, scenery_.layout)));
        if (!std::ranges::all_of(corners, [&](const Point& corner) { return is_before(corner); })) continue;
        for (std::size_t i = 1; i + 1 < corners.size(); ++i)
          canvas_.fill({corners[0], corners[i], corners[i + 1]}, [&](std::size_t pixel, double, double) { dark[pixel] = true; });
      }
    for (std::size_t pixel = 0; pixel < dark.size(); ++pixel)
      if (dark[pixel]) canvas_.blend(pixel, {0.0, 0.0, 0.0, 0.14});
  }

  void draw_part(const Figure::Part& part) {
    std::vector<Seen> corners;
    for (const Surface::Face& face : part.surface.faces) {
      corners.clear();
      for (const Surface::Corner& corner : face) corners.push_back({seen(corner.p), corner.p, corner.n});
      if (!std::ranges::all_of(corners, [&](const Seen& corner) { return is_before(corner.pixel); })) continue;
      for (std::size_t i = 1; i + 1 < corners.size(); ++i) draw_triangle(corners[0], corners[i], corners[i + 1], part.color);
    }
  }

  void draw_triangle(const Seen& a, const Seen& b, const Seen& c, const Color& color) {
    canvas_.fill({a.pixel, b.pixel, c.pixel}, [&](std::size_t pixel, double second, double third) {
      const double first = 1.0 - second - third;
      const double depth = 1.0 / (first / a.pixel.z() + second / b.pixel.z() + third / c.pixel.z());
      if (!canvas_.is_nearer(pixel, depth)) return;
      const Point at = first * a.world + second * b.world + third * c.world;
      Point normal = (first * a.normal + second * b.normal + third * c.normal).normalized();
      if (normal.dot(camera_.position() - at) < 0.0) normal = -normal;  // seen from inside
      const Color light = shaded(color, normal, at, scenery_, camera_);
      if (light.a < 1.0)
        canvas_.blend(pixel, light);
      else
        canvas_.set(pixel, depth, light);
    });
  }

  void draw_paths() {
    for (const Path& path : scenery_.paths)
      for (std::size_t i = 0; i + 1 < path.points.size(); ++i) {
        const Point a = seen(path.points[i]), b = seen(path.points[i + 1]);
        Color color = scenery_.palette.trace;
        color.a = i < path.past ? 0.95 : 0.4;
        if (is_before(a) && is_before(b)) canvas_.line(a, b, (i < path.past ? 2.4 : 1.4) * kFine, color, true);
      }
  }

  const Scenery& scenery_;
  const Camera& camera_;
  Canvas canvas_;
};

}  // namespace

Image render(const Scenery& scenery, const Camera& camera, int width, int height) {
  Renderer renderer(scenery, camera, width, height);
  renderer.draw();
  return renderer.image(width, height);
}

}  // namespace linkwork
