#include <algorithm>
#include <cmath>

#include "linkwork/drawing/figure.h"
#include "linkwork/drawing/scene_points.h"

// Size, plane and direction of a figure: the same rules as those of the page (web/src/layout.ts).
namespace linkwork {
namespace {

using Point = Surface::Point;

bool slides(const std::string& type) {
  return type == "prismatic" || type == "cylindrical" || type == "screw" || type == "planar" || type == "translational";
}

void add_new(std::vector<Point>& points, const Point& point) {
  if (std::ranges::none_of(points, [&](const Point& known) { return (known - point).norm() < 1e-9; })) points.push_back(point);
}

/// Whether a joint by its kind moves in a plane only: all that one moment alone can tell.
bool stays_in_plane(const DrawnScene::Joint& joint, const std::vector<Pose<double>>& poses, const Point& normal) {
  const double along = std::abs((poses[joint.parent.body].R * joint.parent.X_BF.R.col(2)).dot(normal));
  if (joint.type == "revolute" || joint.type == "planar") return along > 1.0 - 1e-6;
  return joint.type == "weld" || (joint.type == "prismatic" && along < 1e-3);
}

/// The unit vector that all bodies turn about and none moves along, if there is one.
std::optional<Point> plane_normal(const DrawnScene& scene, const std::vector<std::vector<Pose<double>>>& moments, double size) {
  const auto turning = std::ranges::find_if(
      scene.joints, [](const DrawnScene::Joint& joint) { return joint.type == "revolute" || joint.type == "planar"; });
  if (turning == scene.joints.end()) return {};
  const Point normal = (moments.front()[turning->parent.body].R * turning->parent.X_BF.R.col(2)).normalized();
  if (moments.size() < 2 && !std::ranges::all_of(scene.joints, [&](const DrawnScene::Joint& joint) {
        return joint.cut || stays_in_plane(joint, moments.front(), normal);
      }))
    return {};
  for (std::size_t body = 0; body < scene.bodies.size(); ++body) {
    const Pose<double>& first = moments.front()[body];
    const Point own = first.R.transpose() * normal;
    for (const auto& poses : moments) {
      const bool keeps =
          (poses[body].R * own - normal).norm() < 1e-3 && std::abs((poses[body].p - first.p).dot(normal)) < 1e-4 * size;
      if (!keeps) return {};
    }
  }
  // Seen from the front: the side on which the larger component is positive; y is looked at from below.
  Point sides(normal.x(), -normal.y(), normal.z());
  Eigen::Index largest = 0;
  sides.cwiseAbs().maxCoeff(&largest);
  return sides[largest] < 0.0 ? Point(-normal) : normal;
}

}  // namespace

std::vector<std::vector<Point>> scene_points(const DrawnScene& scene) {
  std::vector<std::vector<Point>> points(scene.bodies.size());
  const auto add = [&](const DrawnScene::Frame& frame) { add_new(points[frame.body], frame.X_BF.p); };
  // Where coordinates are counted from need not be on the body: such frames count only for bodies that have no shape.
  for (const DrawnScene::Joint& joint : scene.joints)
    for (const DrawnScene::Frame* frame : {&joint.parent, &joint.child}) {
      if (joint.type == "free" && frame == &joint.parent) continue;
      if (slides(joint.type) && scene.bodies[frame->body].solid) continue;
      add(*frame);
    }
  for (const DrawnScene::Closure& closure : scene.closures) {
    add(closure.a);
    add(closure.b);
  }
  for (const DrawnScene::Spring& spring : scene.springs) {
    add(spring.a);
    add(spring.b);
  }
  for (const DrawnScene::Frame& sensor : scene.sensors) add(sensor);
  return points;
}

std::vector<std::vector<Point>> scene_outline(const DrawnScene& scene) {
  std::vector<std::vector<Point>> points = scene_points(scene);
  for (std::size_t body = 0; body < scene.bodies.size(); ++body) {
    const DrawnScene::Body& drawn = scene.bodies[body];
    if (drawn.com) points[body].push_back(*drawn.com);
    if (!drawn.solid) continue;
    const DrawnScene::Solid& solid = *drawn.solid;
    const bool is_long = solid.shape == "rod" || solid.shape == "cylinder";
    const Point reach = solid.shape == "box" ? Point(0.5 * solid.size)
                        : solid.radius > 0.0 ? Point(Point::Constant(solid.radius))
                                             : Point(Point::Zero());
    for (const Point& center : {solid.from, is_long ? solid.to : solid.from}) {
      points[body].push_back(center - reach);
      points[body].push_back(center + reach);
    }
  }
  for (const DrawnScene::Visual& visual : scene.visuals) {
    std::vector<Point>& own = points[visual.at.body];
    if (visual.mesh) {
      Eigen::AlignedBox3d box;
      for (const Point& point : scene.meshes[*visual.mesh].points) box.extend(point.cwiseProduct(visual.size));
      if (!box.isEmpty())
        for (const Point& corner : {Point(box.min()), Point(box.max())}) own.push_back(visual.at.X_BF * corner);
      continue;
    }
    const double half = std::max({visual.radius, 0.5 * visual.length, 0.5 * visual.size.maxCoeff()});
    for (const double side : {-half, half}) own.push_back(visual.at.X_BF * Point(Point::Constant(side)));
  }
  return points;
}

void Figure::find_layout(std::span<const std::vector<double>> rows) {
  std::vector<std::vector<Pose<double>>> moments;
  const std::vector<std::vector<Point>> outline = scene_outline(scene_);
  for (const std::vector<double>& row : rows) {
    moments.push_back(poses_.at(row));
    for (std::size_t body = 0; body < outline.size(); ++body)
      for (const Point& point : outline[body]) {
        const Point world = moments.back()[body] * point;
        if (world.allFinite()) layout_.bounds.extend(world);
      }
  }
  if (layout_.bounds.isEmpty()) layout_.bounds = {Point(Point::Constant(-1.0)), Point(Point::Constant(1.0))};
  layout_.size = std::max(layout_.bounds.diagonal().norm(), 1e-9);

  std::vector<double> spans;
  for (std::size_t body = 1; body < outline.size(); ++body) {
    Eigen::AlignedBox3d box;
    for (const Point& point : outline[body]) box.extend(point);
    if (!box.isEmpty() && box.diagonal().norm() > 1e-9) spans.push_back(box.diagonal().norm());
  }
  std::ranges::sort(spans);
  const double typical = spans.empty() ? layout_.size : spans[spans.size() / 2];
  layout_.unit = std::min(0.0135 * layout_.size, 0.1 * typical);

  layout_.normal = plane_normal(scene_, moments, layout_.size);
  if (layout_.normal) {  // flat itself, with all its joints in one plane? Otherwise it is better seen in space.
    double low = std::numeric_limits<double>::infinity(), high = -low;
    for (std::size_t body = 0; body < points_.size(); ++body)
      for (const Point& point : points_[body]) {
        const double height = (moments.front()[body] * point).dot(*layout_.normal);
        low = std::min(low, height);
        high = std::max(high, height);
      }
    if (high - low >= 0.25 * layout_.size) layout_.normal.reset();
  }
  const bool has_gravity = scene_.gravity.norm() > 0.0;
  const Point against = has_gravity ? Point(-scene_.gravity.normalized()) : Point(Point::Zero());
  if (has_gravity && (!layout_.normal || std::abs(against.dot(*layout_.normal)) < 0.5))
    layout_.up = against;
  else
    layout_.up = layout_.normal && std::abs(layout_.normal->y()) < 0.9 ? Point(Point::UnitY()) : Point(Point::UnitZ());
}

}  // namespace linkwork
