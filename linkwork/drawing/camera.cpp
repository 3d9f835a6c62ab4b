#include <algorithm>
#include <cmath>
#include <numbers>

#include "linkwork/drawing/picture.h"

namespace linkwork {
namespace {

using Point = Vec3<double>;

constexpr double kOpening = 26.0 * std::numbers::pi / 180.0;  // of the camera, from top to bottom

/// Where one stands when looking at the front.
Point front_of(const FigureLayout& layout) {
  if (layout.normal && std::abs(layout.normal->dot(layout.up)) < 0.5) return *layout.normal;
  const Point candidate = std::abs(layout.up.z()) > 0.7 ? Point(0.0, -1.0, 0.0) : Point(0.0, 0.0, 1.0);
  return (candidate - candidate.dot(layout.up) * layout.up).normalized();
}

/// The side that the grid lies on: behind flat mechanisms, under others.
const Point& floor_axis(const FigureLayout& layout) { return layout.normal ? *layout.normal : layout.up; }

double floor_level(const FigureLayout& layout) {
  double lowest = std::numeric_limits<double>::infinity();
  for (int k = 0; k < 8; ++k)
    lowest = std::min(lowest, layout.bounds.corner(static_cast<Eigen::AlignedBox3d::CornerType>(k)).dot(floor_axis(layout)));
  return lowest - (layout.normal ? 4.5 : 3.7) * layout.unit;
}

}  // namespace

Camera::Camera(const FigureLayout& layout, int width, int height) : center_x_(0.5 * width), center_y_(0.5 * height) {
  const Point front = front_of(layout);
  const Point aside = layout.up.cross(front).normalized();
  const Point back = (layout.normal ? front : Point(0.75 * front + 0.55 * aside + 0.42 * layout.up)).normalized();
  const Point above_hint = std::abs(back.dot(layout.up)) > 0.999 ? aside : layout.up;
  const Point right = above_hint.cross(back).normalized();
  axes_ << right, back.cross(right), back;
  const double tangent = std::tan(0.5 * kOpening), aspect = static_cast<double>(width) / height;
  scale_ = 0.5 * height / tangent;
  const Point target = layout.bounds.center();
  double distance = 0.0;
  Eigen::AlignedBox3d box = layout.bounds;
  box.extend(box.min() - Point(Point::Constant(3.0 * layout.unit)));
  box.extend(box.max() + Point(Point::Constant(3.0 * layout.unit)));
  for (int k = 0; k < 8; ++k) {
    const Point corner = axes_.transpose() * (box.corner(static_cast<Eigen::AlignedBox3d::CornerType>(k)) - target);
    const double across = std::max(std::abs(corner.x()) / (tangent * aspect), std::abs(corner.y()) / tangent);
    distance = std::max(distance, corner.z() + across);
  }
  distance *= 1.1;
  position_ = target + distance * back;
  light_ = position_ + distance * (0.8 * axes_.col(1) - 0.5 * axes_.col(0));
  nearest_ = distance / 200.0;
}

Point Camera::project(const Point& world) const {
  const Point seen = axes_.transpose() * (world - position_);
  const double depth = -seen.z();
  const double scale = scale_ / std::max(depth, nearest_);
  return {center_x_ + scale * seen.x(), center_y_ - scale * seen.y(), depth};
}

Color shaded(const Color& color, const Point& normal, const Point& at, const Scenery& scenery, const Camera& camera) {
  const double sky = 0.5 + 0.5 * normal.dot(scenery.layout.up);
  const double lit = std::max(0.0, normal.dot((camera.light() - at).normalized()));
  const double light = 0.5 + 0.18 * sky + 0.42 * lit;
  const auto part = [&](double value) { return std::clamp(value * light, 0.0, 1.0); };
  return {part(color.r), part(color.g), part(color.b), color.a};
}

std::vector<GridLine> grid_lines(const FigureLayout& layout) {
  const double raw = layout.size / 8.0, decade = std::pow(10.0, std::floor(std::log10(raw)));
  const double step = decade * (raw / decade >= 5.0 ? 5.0 : raw / decade >= 2.0 ? 2.0 : 1.0);
  const Mat3<double> axes = plane_axes(floor_axis(layout));
  const Point origin = floor_level(layout) * floor_axis(layout);
  const Point middle = axes.transpose() * (layout.bounds.center() - origin);
  const long cx = std::lround(middle.x() / step), cy = std::lround(middle.y() / step), count = layout.normal ? 16 : 8;
  const auto place = [&](long x, long y) -> Point {
    return origin + axes * Point(step * static_cast<double>(x), step * static_cast<double>(y), 0.0);
  };
  std::vector<GridLine> lines;
  for (long k = -count; k <= count; ++k) {
    lines.push_back({place(cx + k, cy - count), place(cx + k, cy + count), (cx + k) % 5 == 0});
    lines.push_back({place(cx - count, cy + k), place(cx + count, cy + k), (cy + k) % 5 == 0});
  }
  return lines;
}

Point shadow_of(const Point& point, const FigureLayout& layout) {
  const Point& axis = floor_axis(layout);
  const Point aside = axis.cross(std::abs(axis.x()) < 0.8 ? Point(Point::UnitX()) : Point(Point::UnitY())).normalized();
  const Point sun = layout.normal ? Point(1.6 * axis + 0.6 * layout.up + 0.5 * layout.up.cross(axis))
                                  : Point(1.6 * axis + 0.6 * aside + 0.5 * axis.cross(aside));
  return point - sun * ((point.dot(axis) - floor_level(layout)) / sun.dot(axis));
}

}  // namespace linkwork
