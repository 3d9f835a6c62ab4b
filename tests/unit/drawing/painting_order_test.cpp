#include "linkwork/drawing/painting_order.h"

#include <gtest/gtest.h>

#include <Eigen/Geometry>
#include <optional>
#include <random>

#include "linkwork/drawing/surface.h"

namespace linkwork {
namespace {

using Point = Vec3<double>;

/// The inverse depth of a polygon at a place, if it is there: well inside its edges, so that rounding does not matter.
std::optional<double> depth_at(const Painted& painted, double x, double y) {
  const std::vector<Point>& corners = painted.corners;
  double side = 0.0;
  for (std::size_t i = 0; i < corners.size(); ++i) {
    const Point along = corners[(i + 1) % corners.size()] - corners[i];
    const double away = (along.x() * (y - corners[i].y()) - along.y() * (x - corners[i].x())) / std::hypot(along.x(), along.y());
    if (std::abs(away) < 1e-3 || side * away < 0.0) return {};
    side = away;
  }
  const Point normal = (corners[1] - corners[0]).cross(corners[2] - corners[0]);
  return corners[0].z() - (normal.x() * (x - corners[0].x()) + normal.y() * (y - corners[0].y())) / normal.z();
}

/// What is seen at a place: the style of the nearest, if it is clearly so.
std::optional<std::size_t> nearest_at(const std::vector<Painted>& all, double x, double y, double margin) {
  double best = -1e300, second = -1e300;
  std::optional<std::size_t> style;
  for (const Painted& painted : all) {
    const std::optional<double> depth = depth_at(painted, x, y);
    if (!depth || *depth <= second) continue;
    second = *depth;
    if (*depth <= best) continue;
    second = best;
    best = *depth;
    style = painted.style;
  }
  return best - second > margin ? style : std::nullopt;
}

std::optional<std::size_t> last_painted_at(const std::vector<Painted>& order, double x, double y) {
  std::optional<std::size_t> style;
  for (const Painted& painted : order)
    if (depth_at(painted, x, y)) style = painted.style;
  return style;
}

/// How many of many places show what is not nearest there.
double share_of_wrong(const std::vector<Painted>& all, std::mt19937& random) {
  const std::vector<Painted> order = painting_order(all);
  std::uniform_real_distribution<double> place(0.0, 400.0);
  int wrong = 0, seen = 0;
  for (int k = 0; k < 3000; ++k) {
    const double x = place(random), y = place(random);
    const std::optional<std::size_t> nearest = nearest_at(all, x, y, 1e-4);
    if (!nearest) continue;
    ++seen;
    const std::optional<std::size_t> painted = last_painted_at(order, x, y);
    if (painted && painted != nearest) ++wrong;
  }
  EXPECT_GT(seen, 300);
  return static_cast<double>(wrong) / std::max(seen, 1);
}

Painted triangle(std::mt19937& random, std::size_t style, double size) {
  std::uniform_real_distribution<double> place(0.0, 400.0), shift(-size, size), depth(0.0, 10.0);
  const Point middle(place(random), place(random), depth(random));
  Painted painted{{}, style, true};
  for (int k = 0; k < 3; ++k) painted.corners.push_back(middle + Point(shift(random), shift(random), shift(random) / 40.0));
  return painted;
}

TEST(PaintingOrder, ShowsTheNearestWhereTrianglesPassThroughOneAnother) {
  for (unsigned seed = 1; seed <= 12; ++seed) {
    std::mt19937 random(seed);
    std::vector<Painted> all;
    for (std::size_t style = 0; style < 60; ++style) all.push_back(triangle(random, style, 150.0));
    EXPECT_LT(share_of_wrong(all, random), 0.004) << "seed " << seed;
  }
}

TEST(PaintingOrder, ShowsTheNearestOfBoxesInPerspective) {
  for (unsigned seed = 1; seed <= 12; ++seed) {
    std::mt19937 random(seed);
    std::uniform_real_distribution<double> place(-1.0, 1.0);
    const auto point = [&] { return Point(place(random), place(random), place(random)); };
    std::vector<Painted> all;
    for (int body = 0; body < 15; ++body) {
      const Point size = Point::Constant(0.1) + point().cwiseAbs();
      const Surface moved = box(Point::Zero(), size)
                                .moved(Eigen::AngleAxisd(3.0 * place(random), point().normalized()).toRotationMatrix(), point());
      for (const Surface::Face& face : moved.faces) {
        Painted painted{{}, all.size(), true};
        for (const Surface::Corner& corner : face) {
          const double depth = 5.0 - corner.p.z();
          painted.corners.push_back({200.0 + 500.0 * corner.p.x() / depth, 200.0 + 500.0 * corner.p.y() / depth, 1.0 / depth});
        }
        all.push_back(std::move(painted));
      }
    }
    EXPECT_LT(share_of_wrong(all, random), 0.004) << "seed " << seed;
  }
}

/// Three bars, each over the next and under the one before: no order of the whole bars is right.
TEST(PaintingOrder, CutsWhatOverlapsInACircle) {
  std::vector<Painted> all;
  for (std::size_t k = 0; k < 3; ++k) {
    const Eigen::AngleAxisd turn(2.0 * M_PI / 3.0 * static_cast<double>(k), Point::UnitZ());
    Painted bar{{}, k, true};
    for (const auto& [x, y, z] : {std::array{-150.0, 30.0, 0.0}, {150.0, 30.0, 1.0}, {150.0, 70.0, 1.0}, {-150.0, 70.0, 0.0}})
      bar.corners.push_back(turn * Point(x, y, z) + Point(200.0, 200.0, 0.0));
    all.push_back(std::move(bar));
  }
  EXPECT_GT(painting_order(all).size(), 3u);
  std::mt19937 random(7);
  EXPECT_EQ(share_of_wrong(all, random), 0.0);
}

TEST(PaintingOrder, LeavesOutWhatIsHidden) {
  const auto square = [](double half, double depth, std::size_t style, bool opaque) {
    Painted painted{{}, style, opaque};
    for (const auto& [x, y] : {std::pair{-half, -half}, {half, -half}, {half, half}, {-half, half}})
      painted.corners.push_back({x, y, depth});
    return painted;
  };
  EXPECT_EQ(painting_order({square(10, 1, 0, true), square(20, 2, 1, true)}).size(), 1u);
  EXPECT_EQ(painting_order({square(20, 1, 0, true), square(10, 2, 1, true)}).size(), 2u);
  EXPECT_EQ(painting_order({square(10, 1, 0, true), square(20, 2, 1, false)}).size(), 2u) << "one can look through";
  EXPECT_EQ(painting_order({square(20, 2, 1, false), square(10, 1, 0, true)}).front().style, 0u) << "what is farther comes first";
}

TEST(PaintingOrder, CutsLinesWhereTheyPassThrough) {
  const Painted wall{{{0, 0, 1}, {100, 0, 1}, {100, 100, 1}, {0, 100, 1}}, 0, true};
  const Painted line{{{50, 20, 0.5}, {50, 80, 1.5}}, 1, true};
  const std::vector<Painted> order = painting_order({line, wall});
  ASSERT_EQ(order.size(), 2u) << "the part behind the wall is hidden";
  EXPECT_EQ(order[1].style, 1u);
  EXPECT_NEAR(std::min(order[1].corners[0].y(), order[1].corners[1].y()), 50.0, 1e-9);
}

TEST(PaintingOrder, EndsForManyAndForNone) {
  EXPECT_TRUE(painting_order({}).empty());
  EXPECT_TRUE(painting_order({{{}, 0, true}, {{{1, 1, 1}}, 0, true}, {{{1, 1, 1}, {1, 1, 1}, {1, 1, 1}}, 0, true}}).empty());
  std::mt19937 random(3);
  std::vector<Painted> all;
  for (std::size_t style = 0; style < 4000; ++style) all.push_back(triangle(random, style, 12.0));
  EXPECT_GT(painting_order(all).size(), 1000u);
}

}  // namespace
}  // namespace linkwork
