#pragma once

#include <array>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "linkwork/spatial/pose.h"

namespace linkwork {

/// What scene.json says of a mechanism, as far as it is drawn. The bodies' poses come from the joint coordinates of a row.
struct DrawnScene {
  using Point = Vec3<double>;

  struct Frame {
    std::size_t body = 0;
    Pose<double> X_BF;
  };
  struct Solid {
    std::string shape;  // rod, cylinder, box, sphere, point
    Point from = Point::Zero(), to = Point::Zero(), size = Point::Zero();
    double radius = 0.0;
  };
  struct Body {
    std::string name;
    std::optional<Point> com;
    std::optional<Solid> solid;
  };
  struct Joint {
    std::string name, type;
    bool cut = false;
    double pitch = 0.0;
    Frame parent, child;
    std::vector<std::optional<std::size_t>> q;  // columns
  };
  struct Closure {
    std::string name, type;
    Frame a, b;
  };
  struct Spring {
    std::string type;
    Frame a, b;
  };
  struct Visual {
    Frame at;
    std::string shape;
    Point size = Point::Zero();
    double radius = 0.0, length = 0.0;
    std::array<double, 4> color{0.6, 0.6, 0.6, 1.0};
    std::optional<std::size_t> mesh;
  };
  struct Mesh {
    std::vector<Point> points;
    std::vector<std::array<std::uint32_t, 3>> triangles;
  };

  std::string name;
  Point gravity = Point::Zero();
  std::vector<std::string> columns;
  std::vector<Body> bodies;  // the first is the ground
  std::vector<Joint> joints;
  std::vector<Closure> closures;
  std::vector<Spring> springs;
  std::vector<Frame> sensors;
  std::vector<Visual> visuals;
  std::vector<Mesh> meshes;

  /// Whether all positions are among the columns, without which nothing can be drawn.
  bool is_drawable() const;
};

/// Throws InputError if the text is not that of a scene; `file` is for messages.
DrawnScene read_drawn_scene(std::string_view json, const std::string& file);

/// Where the bodies of a scene are, by the joint coordinates of a row.
class ScenePoses {
 public:
  explicit ScenePoses(const DrawnScene& scene);

  /// X_WB of every body.
  std::vector<Pose<double>> at(std::span<const double> row) const;

 private:
  struct Link {
    std::size_t body, carrier;
    const DrawnScene::Joint* joint;
    bool backwards;     // the tree runs through the joint from its child to its parent
    Pose<double> X_CF;  // joint frame on the carrier
    Pose<double> X_FB;  // body seen from its own joint frame
  };

  std::size_t bodies_;
  std::vector<Link> links_;
};

}  // namespace linkwork
