#include "linkwork/drawing/surface.h"

#include <Eigen/Geometry>
#include <algorithm>
#include <cmath>
#include <numbers>

namespace linkwork {
namespace {

using Point = Surface::Point;
using std::numbers::pi;

using Flat = Eigen::Vector2d;

double cross(const Flat& o, const Flat& a, const Flat& b) {
  return (a.x() - o.x()) * (b.y() - o.y()) - (a.y() - o.y()) * (b.x() - o.x());
}

/// The convex hull, counter-clockwise (Andrew's monotone chain).
std::vector<Flat> hull(std::vector<Flat> points) {
  std::ranges::sort(points, [](const Flat& a, const Flat& b) { return a.x() < b.x() || (a.x() == b.x() && a.y() < b.y()); });
  std::vector<Flat> chain;
  for (int half = 0; half < 2; ++half) {
    const std::size_t first = chain.size();
    for (const Flat& point : points) {
      while (chain.size() > first + 1 && cross(chain[chain.size() - 2], chain.back(), point) <= 0.0) chain.pop_back();
      chain.push_back(point);
    }
    chain.pop_back();
    std::ranges::reverse(points);
  }
  return chain;
}

}  // namespace

void Surface::add_flat(const std::vector<Point>& corners) {
  // Newell's normal: right also where the first corners are on a line.
  Point n = Point::Zero();
  for (std::size_t i = 0; i < corners.size(); ++i) n += corners[i].cross(corners[(i + 1) % corners.size()]);
  if (!(n.norm() > 0.0)) return;
  n.normalize();
  Face face;
  for (const Point& corner : corners) face.push_back({corner, n});
  faces.push_back(std::move(face));
}

Surface Surface::moved(const Mat3<double>& R, const Point& p) const {
  Surface result = *this;
  for (Face& face : result.faces)
    for (Corner& corner : face) corner = {p + R * corner.p, R * corner.n};
  return result;
}

Surface Surface::scaled(const Point& factors) const {
  Surface result = *this;
  const bool mirrored = factors.prod() < 0.0;
  for (Face& face : result.faces) {
    for (Corner& corner : face) corner = {factors.cwiseProduct(corner.p), corner.n.cwiseQuotient(factors).normalized()};
    if (mirrored) std::ranges::reverse(face);
  }
  return result;
}

Mat3<double> plane_axes(const Point& normal) {
  Mat3<double> axes;
  const Point z = normal.normalized();
  Point x = std::abs(z.x()) < 0.8 ? Point(Point::UnitX()) : Point(Point::UnitY());
  x = (x - x.dot(z) * z).normalized();
  axes << x, z.cross(x), z;
  return axes;
}

Surface cone(const Point& from, const Point& to, double radius_from, double radius_to, const Roundness& round) {
  Surface result;
  const Point along = to - from;
  const double length = along.norm();
  if (!(length > 0.0)) return result;
  const Mat3<double> axes = plane_axes(along);
  const double slope = (radius_from - radius_to) / length;
  const auto corner = [&](int k, double part) -> Surface::Corner {
    const double angle = 2.0 * pi * k / round.around;
    const Point out = axes.col(0) * std::cos(angle) + axes.col(1) * std::sin(angle);
    return {from + part * along + (radius_from + part * (radius_to - radius_from)) * out,
            (out + slope * axes.col(2)).normalized()};
  };
  std::vector<Point> low, high;
  for (int k = 0; k < round.around; ++k) {
    for (int piece = 0; piece < round.along; ++piece) {
      const double a = static_cast<double>(piece) / round.along, b = static_cast<double>(piece + 1) / round.along;
      result.faces.push_back({corner(k, a), corner(k + 1, a), corner(k + 1, b), corner(k, b)});
    }
    low.push_back(corner(-k, 0.0).p);
    high.push_back(corner(k, 1.0).p);
  }
  if (radius_from > 0.0) result.add_flat(low);
  if (radius_to > 0.0) result.add_flat(high);
  return result;
}

Surface tube(const Point& from, const Point& to, double radius, const Roundness& round) {
  return cone(from, to, radius, radius, round);
}

Surface ball(const Point& center, double radius, const Roundness& round) {
  Surface result;
  const int rows = std::max(4, round.around / 2);
  const auto corner = [&](int i, int k) -> Surface::Corner {
    const double polar = pi * i / rows, angle = 2.0 * pi * k / round.around;
    const Point n(std::sin(polar) * std::cos(angle), std::sin(polar) * std::sin(angle), std::cos(polar));
    return {center + radius * n, n};
  };
  for (int i = 0; i < rows; ++i)
    for (int k = 0; k < round.around; ++k) {
      Surface::Face face{corner(i, k), corner(i + 1, k), corner(i + 1, k + 1), corner(i, k + 1)};
      if (i == 0) face.pop_back();
      if (i + 1 == rows) face.erase(face.begin() + 1);
      result.faces.push_back(std::move(face));
    }
  return result;
}

Surface rod(const Point& from, const Point& to, double radius, const Roundness& round) {
  Surface result = ball(from, radius, round);
  if ((to - from).norm() < 1e-12) return result;
  result.add(tube(from, to, radius, round));
  result.add(ball(to, radius, round));
  return result;
}

Surface box(const Point& center, const Point& size) {
  Surface result;
  for (int axis = 0; axis < 3; ++axis)
    for (const double side : {-1.0, 1.0}) {
      const int u = (axis + 1) % 3, v = (axis + 2) % 3;
      std::vector<Point> corners;
      for (const auto& [a, b] : {std::pair{-1.0, -1.0}, {1.0, -1.0}, {1.0, 1.0}, {-1.0, 1.0}}) {
        Point corner = center;
        corner[axis] += 0.5 * side * size[axis];
        corner[u] += 0.5 * a * size[u];
        corner[v] += 0.5 * b * size[v];
        corners.push_back(corner);
      }
      if (side < 0.0) std::ranges::reverse(corners);
      result.add_flat(corners);
    }
  return result;
}

Surface ring(double radius, double thickness, double height, const Roundness& round) {
  Surface result;
  const int across = std::max(6, round.around / 2);
  const auto corner = [&](int k, int i) -> Surface::Corner {
    const double angle = 2.0 * pi * k / round.around, turn = 2.0 * pi * i / across;
    const Point out(std::cos(angle), std::sin(angle), 0.0);
    const Point n = std::cos(turn) * out + std::sin(turn) * Point::UnitZ();
    return {radius * out + thickness * n + height * Point::UnitZ(), n};
  };
  for (int k = 0; k < round.around; ++k)
    for (int i = 0; i < across; ++i)
      result.faces.push_back({corner(k, i), corner(k + 1, i), corner(k + 1, i + 1), corner(k, i + 1)});
  return result;
}

Surface plate(const std::vector<Point>& points, const Point& normal, double radius, double thickness, double shift,
              const Roundness& round) {
  const Mat3<double> axes = plane_axes(normal);
  std::vector<Flat> corners;
  const int around = round.around + 8;
  for (const Point& point : points) {
    const Point flat = axes.transpose() * (point - points.front());
    for (int k = 0; k < around; ++k) {
      const double angle = 2.0 * pi * k / around;
      corners.emplace_back(flat.x() + radius * std::cos(angle), flat.y() + radius * std::sin(angle));
    }
  }
  const std::vector<Flat> outline = hull(std::move(corners));
  const auto lifted = [&](const Flat& at, double height) -> Point {
    return points.front() + axes * Point(at.x(), at.y(), height);
  };
  const double low = shift - 0.5 * thickness, high = shift + 0.5 * thickness;
  Surface result;
  std::vector<Point> top, bottom;
  for (std::size_t i = 0; i < outline.size(); ++i) {
    const Flat& a = outline[i];
    const Flat& b = outline[(i + 1) % outline.size()];
    result.add_flat({lifted(a, low), lifted(b, low), lifted(b, high), lifted(a, high)});
    top.push_back(lifted(a, high));
    bottom.push_back(lifted(outline[outline.size() - 1 - i], low));
  }
  result.add_flat(top);
  result.add_flat(bottom);
  return result;
}

Surface coil(const Point& from, const Point& to, double radius, double wire, const Roundness& round) {
  constexpr int kTurns = 8;
  const int per_turn = std::max(10, round.around / 2);
  const Point along = to - from;
  Surface result;
  if (!(along.norm() > 0.0)) return result;
  const Mat3<double> axes = plane_axes(along);
  const auto place = [&](double part, double out, double angle) -> Point {
    return from + part * along + out * radius * (std::cos(angle) * axes.col(0) + std::sin(angle) * axes.col(1));
  };
  std::vector<Point> path{place(0.0, 0.0, 0.0), place(0.1, 0.0, 0.0)};
  const int count = kTurns * per_turn;
  for (int k = 0; k <= count; ++k) {
    const double swell = std::min({1.0, 2.0 * k / per_turn, 2.0 * (count - k) / per_turn});
    path.push_back(place(0.12 + 0.76 * k / count, swell, 2.0 * pi * k / per_turn));
  }
  path.push_back(place(0.9, 0.0, 0.0));
  path.push_back(place(1.0, 0.0, 0.0));
  for (std::size_t k = 0; k + 1 < path.size(); ++k) result.add(tube(path[k], path[k + 1], wire, {6, 1}));
  return result;
}

}  // namespace linkwork
