#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "linkwork/drawing/figure.h"

namespace linkwork {

/// Pixels row by row from the upper left corner, red, green and blue.
struct Image {
  int width = 0, height = 0;
  std::vector<std::uint8_t> pixels;
};

/// A camera in perspective that sees the whole motion: flat mechanisms from the front, others from above and aside.
class Camera {
 public:
  Camera(const FigureLayout& layout, int width, int height);

  /// Pixels, and the distance from the camera along its axis.
  Vec3<double> project(const Vec3<double>& world) const;
  const Vec3<double>& position() const { return position_; }
  double nearest() const { return nearest_; }
  /// Where light comes from: the camera, moved to its upper left.
  const Vec3<double>& light() const { return light_; }

 private:
  Mat3<double> axes_;  // right, above, back
  Vec3<double> position_, light_;
  double scale_, center_x_, center_y_, nearest_;
};

/// The path of a point, and its part up to now.
struct Path {
  std::vector<Vec3<double>> points;
  std::size_t past = 0;
};

/// All that is in a picture.
struct Scenery {
  const FigureLayout& layout;
  const Palette& palette;
  std::vector<Figure::Part> parts;
  std::vector<Path> paths;
  std::string caption;  // in vector pictures only
};

/// How light or dark a surface is, by its normal (towards the camera).
Color shaded(const Color& color, const Vec3<double>& normal, const Vec3<double>& at, const Scenery& scenery,
             const Camera& camera);

/// Lines of the grid behind or under the mechanism; strong ones marked.
struct GridLine {
  Vec3<double> from, to;
  bool strong;
};
std::vector<GridLine> grid_lines(const FigureLayout& layout);
/// A corner of a shadow on the grid's plane.
Vec3<double> shadow_of(const Vec3<double>& point, const FigureLayout& layout);

/// By a buffer of depths, with edges smoothed.
Image render(const Scenery& scenery, const Camera& camera, int width, int height);
/// By painting from back to front.
std::string svg_text(const Scenery& scenery, const Camera& camera, int width, int height);

}  // namespace linkwork
