#pragma once

#include <Eigen/Geometry>
#include <optional>
#include <span>
#include <vector>

#include "linkwork/drawing/drawn_scene.h"
#include "linkwork/drawing/surface.h"

namespace linkwork {

struct Color {
  double r = 0.0, g = 0.0, b = 0.0, a = 1.0;
};

/// Colours of what is not a body's own.
struct Palette {
  Color background, grid, strong_grid, text, ground, joint, closure, spring, trace;
};
const Palette& palette(bool dark);

/// How large a mechanism is over its whole motion, whether it moves in a plane, and what is up.
struct FigureLayout {
  Eigen::AlignedBox3d bounds;
  double size = 1.0;                          // their diagonal
  double unit = 0.01;                         // half the width of a link as drawn
  std::optional<Surface::Point> normal = {};  // of the plane, if all motion is in one
  Surface::Point up = Surface::Point::UnitY();
};

/// A mechanism as it is drawn: bodies by their solids or spanned between their joints, shapes of robot files, joints, closures,
/// springs and supports.
class Figure {
 public:
  /// `moments`: rows that show the whole motion, at least one.
  Figure(const DrawnScene& scene, std::span<const std::vector<double>> moments, const Roundness& round, bool dark);

  const FigureLayout& layout() const { return layout_; }

  struct Part {
    Surface surface;  // in the world
    Color color;
  };
  std::vector<Part> at(std::span<const double> row) const;

 private:
  struct Piece {
    std::size_t body;
    Surface surface;  // on the body
    Color color;
  };

  void find_layout(std::span<const std::vector<double>> moments);
  std::vector<std::size_t> find_layers() const;
  double lift(std::size_t body) const;
  Surface::Point normal_on(std::size_t body) const;
  void add_bodies();
  void add_visuals();
  Surface body_surface(std::size_t body) const;
  Surface spanned(std::vector<Surface::Point> points, std::size_t body) const;
  void add_joints();
  void add_glyph(const std::string& type, const DrawnScene::Frame& frame, std::size_t a, std::size_t b);
  void add_closures();
  void add_supports(std::span<const std::vector<double>> moments);
  void add_rail(const DrawnScene::Joint& joint, std::span<const std::vector<double>> moments);
  void add_at(const DrawnScene::Frame& frame, const Surface& surface, const Color& color);
  std::array<double, 2> pin_span(std::size_t a, std::size_t b, const DrawnScene::Frame& frame) const;
  bool hides_slider(const std::string& type, const DrawnScene::Frame& a, const DrawnScene::Frame& b) const;

  const DrawnScene& scene_;
  ScenePoses poses_;
  Roundness round_;
  const Palette& palette_;
  FigureLayout layout_;
  std::vector<std::vector<Surface::Point>> points_;  // by body: what it is spanned between
  std::vector<std::size_t> layers_;
  std::vector<Pose<double>> first_;  // where the bodies are in the first moment
  std::vector<Piece> pieces_;
};

}  // namespace linkwork
