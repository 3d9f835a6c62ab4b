#include "linkwork/drawing/figure.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>

#include "linkwork/drawing/scene_points.h"

// What a mechanism looks like: the same rules as those of the page (web/src/mechanism.ts).
namespace linkwork {
namespace {

using Point = Surface::Point;

constexpr Color color(unsigned hex) {
  return {static_cast<double>(hex >> 16U & 255U) / 255.0, static_cast<double>(hex >> 8U & 255U) / 255.0,
          static_cast<double>(hex & 255U) / 255.0, 1.0};
}

constexpr std::array kBodies{color(0x3b82c4), color(0xe2803a), color(0x4ba06b), color(0xc9556e), color(0x8a6cc2),
                             color(0xc2a233), color(0x3aa6a6), color(0xb0703f), color(0x6c7fd8), color(0x86a23c)};

bool is_slider(const std::string& type) { return type == "prismatic" || type == "cylindrical" || type == "screw"; }

std::string stem(const std::string& name) {
  std::string result;
  for (const char c : name)
    if (c < '0' || c > '9')
      result += c;
    else if (result.empty() || result.back() != '#')
      result += '#';
  return result;
}

/// Bodies of one series (leg1, leg2, ...) share a colour.
std::vector<Color> body_colors(const DrawnScene& scene, const Color& ground) {
  std::vector<std::string> stems;
  for (std::size_t body = 1; body < scene.bodies.size(); ++body) {
    const std::string own = stem(scene.bodies[body].name);
    if (std::ranges::find(stems, own) == stems.end()) stems.push_back(own);
  }
  const bool series = stems.size() > 1 && scene.bodies.size() > 5;
  std::vector<Color> colors{ground};
  for (std::size_t body = 1; body < scene.bodies.size(); ++body) {
    const auto found = std::ranges::find(stems, stem(scene.bodies[body].name));
    const std::size_t index = series ? static_cast<std::size_t>(found - stems.begin()) : body - 1;
    colors.push_back(kBodies[index % kBodies.size()]);
  }
  return colors;
}

Point on_segment(const Point& point, const Point& a, const Point& b) {
  const Point along = b - a;
  const double part = std::clamp((point - a).dot(along) / std::max(along.squaredNorm(), 1e-30), 0.0, 1.0);
  return a + part * along;
}

/// The point of a solid next to a given one.
Point nearest(const DrawnScene::Solid& solid, const Point& point) {
  const auto within = [](const Point& out, double radius) -> Point {
    return out.norm() > radius ? Point(out * (radius / out.norm())) : out;
  };
  if (solid.shape == "box") return point.cwiseMax(solid.from - 0.5 * solid.size).cwiseMin(solid.from + 0.5 * solid.size);
  if (solid.shape == "sphere") return solid.from + within(point - solid.from, solid.radius);
  if (solid.shape == "cylinder") {
    const Point axis = on_segment(point, solid.from, solid.to);
    return axis + within(point - axis, solid.radius);
  }
  return solid.from;
}

/// The normal of points that lie in one plane but not on one line.
std::optional<Point> common_normal(const std::vector<Point>& points) {
  double reach = 0.0;
  for (const Point& point : points) reach = std::max(reach, (point - points.front()).norm());
  Point normal = Point::Zero();
  for (const Point& a : points)
    for (const Point& b : points) {
      const Point cross = (a - points.front()).cross(b - points.front());
      if (cross.norm() > normal.norm()) normal = cross;
    }
  if (normal.norm() < 1e-4 * reach * reach) return {};
  normal.normalize();
  const auto in_plane = [&](const Point& point) { return std::abs((point - points.front()).dot(normal)) < 1e-3 * reach; };
  return std::ranges::all_of(points, in_plane) ? std::optional(normal) : std::nullopt;
}

}  // namespace

const Palette& palette(bool dark) {
  static const Palette kLight{color(0xf6f8fb), color(0xdfe5ee), color(0xc9d2df), color(0x17202e), color(0x8b97a8),
                              color(0x39424f), color(0xd6336c), color(0x5c7a29), color(0xd6336c)};
  static const Palette kDark{color(0x10151d), color(0x1e2733), color(0x2c3849), color(0xe7edf5), color(0x6f7d90),
                             color(0xc4cedb), color(0xff6b9d), color(0xa9c46c), color(0xff6b9d)};
  return dark ? kDark : kLight;
}

Figure::Figure(const DrawnScene& scene, std::span<const std::vector<double>> moments, const Roundness& round, bool dark)
    : scene_(scene), poses_(scene), round_(round), palette_(palette(dark)), points_(scene_points(scene)) {
  find_layout(moments);
  layers_ = find_layers();
  first_ = poses_.at(moments.front());
  add_bodies();
  add_visuals();
  add_joints();
  add_closures();
  add_supports(moments);
}

std::vector<Figure::Part> Figure::at(std::span<const double> row) const {
  const std::vector<Pose<double>> poses = poses_.at(row);
  std::vector<Part> parts;
  for (const Piece& piece : pieces_)
    parts.push_back({piece.surface.moved(poses[piece.body].R, poses[piece.body].p), piece.color});
  const auto place = [&](const DrawnScene::Frame& frame) -> Point { return poses[frame.body] * frame.X_BF.p; };
  const double unit = layout_.unit;
  for (const DrawnScene::Spring& spring : scene_.springs) {
    const Point a = place(spring.a), b = place(spring.b);
    if (spring.type == "spring") parts.push_back({coil(a, b, 1.5 * unit, 0.2 * unit, round_), palette_.spring});
    if (spring.type == "damper") {
      Surface surface = tube(a, b, 0.38 * unit, round_);
      surface.add(tube(a + 0.2 * (b - a), a + 0.6 * (b - a), 1.2 * unit, round_));
      parts.push_back({std::move(surface), palette_.spring});
    }
  }
  for (const DrawnScene::Closure& closure : scene_.closures)
    if (closure.type == "distance")
      parts.push_back({tube(place(closure.a), place(closure.b), 0.4 * unit, round_), palette_.closure});
  return parts;
}

// Bodies ------------------------------------------------------------------------------------------------------------------

/// Flat mechanisms are drawn in layers, so that links pass one another. The ground is the lowest.
std::vector<std::size_t> Figure::find_layers() const {
  const std::size_t count = scene_.bodies.size();
  std::vector<std::size_t> layers(count);
  if (count <= 7) {
    for (std::size_t body = 0; body < count; ++body) layers[body] = body;
    return layers;
  }
  std::vector<std::set<std::size_t>> near(count);
  const auto add = [&](const DrawnScene::Frame& a, const DrawnScene::Frame& b) {
    near[a.body].insert(b.body);
    near[b.body].insert(a.body);
  };
  for (const DrawnScene::Joint& joint : scene_.joints) add(joint.parent, joint.child);
  for (const DrawnScene::Closure& closure : scene_.closures) add(closure.a, closure.b);
  for (std::size_t body = 1; body < count; ++body) {
    std::size_t layer = 1;
    while (std::ranges::any_of(near[body], [&](std::size_t other) { return other < body && layers[other] == layer; })) ++layer;
    layers[body] = layer;
  }
  return layers;
}

double Figure::lift(std::size_t body) const {
  const double middle = 0.5 * static_cast<double>(*std::ranges::max_element(layers_));
  return (static_cast<double>(layers_[body]) - middle) * 1.1 * 0.8 * layout_.unit;
}

Point Figure::normal_on(std::size_t body) const { return first_[body].R.transpose() * *layout_.normal; }

void Figure::add_at(const DrawnScene::Frame& frame, const Surface& surface, const Color& color) {
  pieces_.push_back({frame.body, surface.moved(frame.X_BF.R, frame.X_BF.p), color});
}

void Figure::add_bodies() {
  std::set<std::size_t> shaped;
  for (const DrawnScene::Visual& visual : scene_.visuals) shaped.insert(visual.at.body);
  const std::vector<Color> colors = body_colors(scene_, palette_.ground);
  for (std::size_t body = 1; body < scene_.bodies.size(); ++body)
    if (!shaped.contains(body)) pieces_.push_back({body, body_surface(body), colors[body]});
}

Surface Figure::body_surface(std::size_t body) const {
  const DrawnScene::Body& drawn = scene_.bodies[body];
  std::vector<Point> points = points_[body];
  if (!drawn.solid || drawn.solid->shape == "rod") {
    if (drawn.solid) {
      points.push_back(drawn.solid->from);
      points.push_back(drawn.solid->to);
    } else if (points.size() < 2 && drawn.com) {
      points.push_back(*drawn.com);
    }
    std::vector<Point> distinct;
    for (const Point& point : points)
      if (std::ranges::none_of(distinct, [&](const Point& other) { return (other - point).norm() < 1e-9; }))
        distinct.push_back(point);
    if (distinct.empty()) distinct.push_back(Point::Zero());
    return spanned(std::move(distinct), body);
  }
  const DrawnScene::Solid& solid = *drawn.solid;
  const double unit = layout_.unit;
  Surface surface;
  if (solid.shape == "cylinder")
    surface = tube(solid.from, solid.to, solid.radius, {2 * round_.around, round_.along});
  else if (solid.shape == "box")
    surface = box(solid.from, solid.size);
  else
    surface = ball(solid.from, solid.shape == "sphere" ? solid.radius : 1.8 * unit, round_);
  for (const Point& point : points) {
    const Point foot = nearest(solid, point);
    if ((point - foot).norm() > 0.5 * unit) surface.add(rod(point, foot, 0.5 * unit, round_));
  }
  return surface;
}

Surface Figure::spanned(std::vector<Point> points, std::size_t body) const {
  const double unit = layout_.unit, thickness = 0.8 * unit;
  if (layout_.normal) return plate(points, normal_on(body), points.size() > 1 ? unit : 1.6 * unit, thickness, lift(body), round_);
  if (points.size() == 1) return ball(points[0], 1.5 * unit, round_);
  if (points.size() == 2) return rod(points[0], points[1], unit, round_);
  if (const auto normal = common_normal(points)) return plate(points, *normal, unit, thickness, 0.0, round_);
  Point a = points[0], b = points[0], middle = Point::Zero();
  for (const Point& one : points) {
    middle += one / static_cast<double>(points.size());
    for (const Point& other : points)
      if ((one - other).norm() > (a - b).norm()) a = one, b = other;
  }
  const auto on_line = [&](const Point& point) { return (point - on_segment(point, a, b)).norm() < 1e-6 * layout_.size; };
  if (std::ranges::all_of(points, on_line)) return rod(a, b, unit, round_);
  Surface surface;
  for (const Point& point : points) surface.add(rod(middle, point, 0.8 * unit, round_));
  return surface;
}

void Figure::add_visuals() {
  std::map<std::size_t, Surface> meshes;
  for (const DrawnScene::Visual& visual : scene_.visuals) {
    const Point half(0.0, 0.0, 0.5 * visual.length);
    Surface surface;
    if (visual.shape == "box") {
      surface = box(Point::Zero(), visual.size);
    } else if (visual.shape == "cylinder") {
      surface = tube(-half, half, visual.radius, {2 * round_.around, round_.along});
    } else if (visual.shape == "capsule") {
      surface = rod(-half, half, visual.radius, round_);
    } else if (visual.shape == "ellipsoid") {
      if ((visual.size.array() == 0.0).any()) continue;
      surface = ball(Point::Zero(), 1.0, round_).scaled(visual.size);
    } else if (visual.mesh) {
      if ((visual.size.array() == 0.0).any()) continue;
      Surface& mesh = meshes[*visual.mesh];
      if (mesh.faces.empty()) {
        const DrawnScene::Mesh& file = scene_.meshes[*visual.mesh];
        for (const auto& [a, b, c] : file.triangles) mesh.add_flat({file.points[a], file.points[b], file.points[c]});
        mesh.two_sided = true;
      }
      surface = mesh.scaled(visual.size);
    } else {
      surface = ball(Point::Zero(), visual.radius, round_);
    }
    const auto& [r, g, b, a] = visual.color;
    add_at(visual.at, surface, {r, g, b, a});
  }
}

// Joints and closures -----------------------------------------------------------------------------------------------------

/// From where to where a pin reaches through the layers, along the frame's z.
std::array<double, 2> Figure::pin_span(std::size_t a, std::size_t b, const DrawnScene::Frame& frame) const {
  const double thickness = 0.8 * layout_.unit;
  const bool along = frame.X_BF.R.col(2).dot(normal_on(frame.body)) >= 0.0;
  const double low = std::min(lift(a), lift(b)) - 0.7 * thickness, high = std::max(lift(a), lift(b)) + 0.75 * thickness;
  return along ? std::array{low, high} : std::array{-high, -low};
}

/// Whether a body's own solid is around the place, so that a sleeve would only hide it.
bool Figure::hides_slider(const std::string& type, const DrawnScene::Frame& a, const DrawnScene::Frame& b) const {
  const auto hides = [&](const DrawnScene::Frame& frame) {
    const auto& solid = scene_.bodies[frame.body].solid;
    if (!solid || solid->shape == "rod" || solid->shape == "point") return false;
    return (nearest(*solid, frame.X_BF.p) - frame.X_BF.p).norm() < layout_.unit;
  };
  return is_slider(type) && (hides(a) || hides(b));
}

void Figure::add_joints() {
  for (const DrawnScene::Joint& joint : scene_.joints) {
    if (joint.cut || hides_slider(joint.type, joint.parent, joint.child)) continue;
    add_glyph(joint.type, is_slider(joint.type) ? joint.child : joint.parent, joint.parent.body, joint.child.body);
  }
}

void Figure::add_glyph(const std::string& type, const DrawnScene::Frame& frame, std::size_t a, std::size_t b) {
  const double unit = layout_.unit;
  const auto along_z = [](double z) { return Point(0.0, 0.0, z); };
  Surface surface;
  if (type == "revolute" || type == "pin") {
    const auto [low, high] = layout_.normal ? pin_span(a, b, frame) : std::array{-1.5 * unit, 1.5 * unit};
    surface = tube(along_z(low), along_z(high), (layout_.normal ? 0.48 : 1.12) * unit, round_);
  } else if (type == "spherical" || type == "point") {
    surface = ball(Point::Zero(), 1.4 * unit, round_);
  } else if (type == "universal") {
    for (const Point& axis : {Point(Point::UnitX()), Point(Point::UnitY())})
      surface.add(tube(-1.9 * unit * axis, 1.9 * unit * axis, 0.55 * unit, round_));
    surface.add(ball(Point::Zero(), 0.95 * unit, round_));
  } else if (type == "prismatic") {
    surface = box(Point::Zero(), Point(3.0, 3.0, 4.6) * unit);
  } else if (type == "cylindrical" || type == "screw") {
    surface = tube(along_z(-2.4 * unit), along_z(2.4 * unit), 1.6 * unit, round_);
  } else if (type == "weld") {
    surface = box(Point::Zero(), Point(Point::Constant(1.8 * unit)));
  } else {
    return;
  }
  add_at(frame, surface, palette_.joint);
}

void Figure::add_closures() {
  const double unit = layout_.unit, size = layout_.size;
  for (const DrawnScene::Closure& closure : scene_.closures) {
    if (closure.type == "distance") continue;  // moves: see at()
    if (closure.type == "point-on-line" || closure.type == "point-on-plane") {
      if (closure.type == "point-on-line")
        add_at(closure.a, tube({0.0, 0.0, -size / 3.0}, {0.0, 0.0, size / 3.0}, 0.3 * unit, round_), palette_.closure);
      add_at(closure.b, ball(Point::Zero(), 1.2 * unit, round_), palette_.closure);
      continue;
    }
    if (hides_slider(closure.type, closure.a, closure.b)) continue;
    add_glyph(closure.type, closure.b, closure.a.body, closure.b.body);
    const double height = layout_.normal ? pin_span(closure.a.body, closure.b.body, closure.a)[1] - 0.1 * unit : 0.0;
    add_at(closure.a, ring((layout_.normal ? 0.78 : 1.55) * unit, 0.22 * unit, height, round_), palette_.closure);
  }
}

// What stands on the ground -----------------------------------------------------------------------------------------------

void Figure::add_supports(std::span<const std::vector<double>> moments) {
  const double unit = layout_.unit, thickness = 0.8 * unit;
  static const std::set<std::string> kWithout{"free",      "planar",      "translational", "distance",
                                              "prismatic", "cylindrical", "point-on-line", "point-on-plane"};
  const auto add_support = [&](const std::string& type, const DrawnScene::Frame& a, const DrawnScene::Frame& b) {
    if ((a.body != 0 && b.body != 0) || kWithout.contains(type)) return;
    const Point top = (a.body == 0 ? a : b).X_BF.p;
    const Point& up = layout_.up;
    Surface surface;
    if (layout_.normal) {
      const Point& normal = *layout_.normal;
      const Point side = up.cross(normal).normalized();
      const auto below = [&](double depth, double aside) -> Point { return top - depth * unit * up + aside * unit * side; };
      surface = plate({top, below(3.4, -1.7), below(3.4, 1.7)}, normal, 0.75 * unit, thickness, lift(0), round_);
      surface.add(plate({below(4.5, -3.6), below(4.5, 3.6)}, normal, 0.38 * unit, thickness, lift(0), round_));
      for (int k = -3; k <= 3; ++k)
        surface.add(plate({below(4.7, k), below(5.8, k - 0.8)}, normal, 0.13 * unit, thickness, lift(0), {6, 1}));
    } else {
      const Point foot = top - 3.2 * unit * up;
      surface = cone(foot, top, 1.9 * unit, 0.9 * unit, round_);
      surface.add(tube(foot - 0.5 * unit * up, foot, 2.6 * unit, round_));
    }
    pieces_.push_back({0, std::move(surface), palette_.ground});
  };
  for (const DrawnScene::Joint& joint : scene_.joints) {
    if (joint.cut) continue;
    if (joint.type == "prismatic" || joint.type == "cylindrical")
      add_rail(joint, moments);
    else
      add_support(joint.type, joint.parent, joint.child);
  }
  for (const DrawnScene::Closure& closure : scene_.closures) add_support(closure.type, closure.a, closure.b);
}

/// What a slider moves on: as long as its motion.
void Figure::add_rail(const DrawnScene::Joint& joint, std::span<const std::vector<double>> moments) {
  if (joint.parent.body != 0 && joint.child.body != 0) return;  // links carry their sliders themselves
  const bool turned = joint.parent.body != 0;
  double low = 0.0, high = 0.0;
  const std::size_t component = joint.type == "prismatic" ? 0 : 1;
  for (const std::vector<double>& row : moments) {
    low = std::min(low, row[*joint.q[component]]);
    high = std::max(high, row[*joint.q[component]]);
  }
  if (turned) std::tie(low, high) = std::pair(-high, -low);
  const double margin = 5.0 * layout_.unit;
  Surface rail = tube({0.0, 0.0, low - margin}, {0.0, 0.0, high + margin}, 0.6 * layout_.unit, {round_.around, 2 * round_.along});
  const DrawnScene::Frame& fixed = turned ? joint.child : joint.parent;
  rail = rail.moved(fixed.X_BF.R, fixed.X_BF.p);
  if (layout_.normal) rail = rail.moved(Mat3<double>::Identity(), lift(0) * *layout_.normal);
  pieces_.push_back({0, std::move(rail), palette_.ground});
}

}  // namespace linkwork
