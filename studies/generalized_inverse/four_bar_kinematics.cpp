#include <fmt/format.h>

#include <Eigen/Dense>
#include <array>
#include <cmath>
#include <numbers>
#include <string>

#include "studies/generalized_inverse/gram_schmidt.h"
#include "studies/generalized_inverse/parts.h"

namespace linkwork::studies::generalized_inverse {
namespace {

using Matrix = MatrixOf<double>;
using Vector = VectorOf<double>;

/// Ground r1, driver r2, coupler r3, follower r4; angles from the ground line.
struct FourBar {
  double r1, r2, r3, r4;
};

struct Angles {
  double driver, coupler, follower;
};

/// The loop closed at a driver angle, in one of its two branches (+1, -1).
Angles closed(const FourBar& bar, double driver, int branch) {
  const double dx = bar.r1 - bar.r2 * std::cos(driver), dy = -bar.r2 * std::sin(driver);
  const double d2 = dx * dx + dy * dy;
  const double cosine = (bar.r3 * bar.r3 - d2 - bar.r4 * bar.r4) / (2.0 * bar.r4 * std::sqrt(d2));
  const double follower = std::atan2(dy, dx) + branch * std::acos(cosine);
  const double coupler = std::atan2(dy + bar.r4 * std::sin(follower), dx + bar.r4 * std::cos(follower));
  return {driver, coupler, follower};
}

/// Eq. 4.12: the prescribed driver and the two loop equations.
Matrix constraint_rows(const FourBar& bar, const Angles& at) {
  Matrix A(3, 3);
  A << 1.0, 0.0, 0.0,                                                                                //
      bar.r2 * std::sin(at.driver), bar.r3 * std::sin(at.coupler), -bar.r4 * std::sin(at.follower),  //
      bar.r2 * std::cos(at.driver), bar.r3 * std::cos(at.coupler), -bar.r4 * std::cos(at.follower);
  return A;
}

/// Accelerations of coupler and follower with the driver at constant speed.
std::array<double, 2> accelerations(const FourBar& bar, double driver, double speed, int branch) {
  const Angles at = closed(bar, driver, branch);
  const Matrix A = constraint_rows(bar, at);
  const Vector v = smallest_solution<double>(A, Eigen::Vector3d(speed, 0.0, 0.0));
  const double w2 = v(0) * v(0), w3 = v(1) * v(1), w4 = v(2) * v(2);
  const Eigen::Vector3d b(
      0.0, bar.r4 * w4 * std::cos(at.follower) - bar.r2 * w2 * std::cos(at.driver) - bar.r3 * w3 * std::cos(at.coupler),
      -bar.r4 * w4 * std::sin(at.follower) + bar.r2 * w2 * std::sin(at.driver) + bar.r3 * w3 * std::sin(at.coupler));
  const Vector a = smallest_solution<double>(A, b);
  return {a(1), a(2)};
}

/// The same from the closed positions alone, by central differences in time.
std::array<double, 2> differenced(const FourBar& bar, double driver, double speed, int branch) {
  const double h = 2e-5;
  const Angles before = closed(bar, driver - speed * h, branch), now = closed(bar, driver, branch),
               after = closed(bar, driver + speed * h, branch);
  return {(before.coupler - 2.0 * now.coupler + after.coupler) / (h * h),
          (before.follower - 2.0 * now.follower + after.follower) / (h * h)};
}

constexpr std::array kPublished{26.0, 53.3};
constexpr double kDriver = std::numbers::pi / 6.0, kSpeed = 10.0;

bool agrees(const std::array<double, 2>& found) {
  return std::abs(found[0] - kPublished[0]) < 0.1 && std::abs(found[1] - kPublished[1]) < 0.1;
}

struct Reading {
  std::string name;
  FourBar bar;
};

}  // namespace

void four_bar_kinematics(StudyContext& context, StudyResult& result) {
  context.progress("example 1: kinematics of the four-bar linkage");
  Part& part = result.add_part(
      "Example 1: kinematics of a four-bar linkage",
      "With M = 1, no forces, and the driver prescribed as one more constraint, the same program that does dynamics gives the "
      "accelerations of a mechanism: a = A⁺b (eq. 4.8). The driver turns at 10 rad/s and stands at 30°. The thesis prints the "
      "link lengths r = (9, 2, 7, 6) and the accelerations 26.0 and 53.3 rad/s².\n\n"
      "The printed lengths and the printed accelerations do not belong together. Each reading is computed here in both "
      "branches of the loop, and once more by differences of the closed positions, which use no constraint rows at all.");
  Table table{"Accelerations of coupler and follower (rad/s²)",
              {"lengths", "branch", "θ̈3", "θ̈4", "θ̈3 by differences", "θ̈4 by differences"}};
  std::array<bool, 2> found{};
  std::array<std::string, 2> measured;
  const std::array readings{Reading{"as printed: r1 = 9, r4 = 6", {9, 2, 7, 6}},
                            Reading{"exchanged: r1 = 6, r4 = 9", {6, 2, 7, 9}}};
  double largest_difference = 0.0;
  for (std::size_t i = 0; i < readings.size(); ++i) {
    for (const int branch : {+1, -1}) {
      const auto a = accelerations(readings[i].bar, kDriver, kSpeed, branch);
      const auto check = differenced(readings[i].bar, kDriver, kSpeed, branch);
      table.rows.push_back({readings[i].name, branch > 0 ? "first" : "second", a[0], a[1], check[0], check[1]});
      largest_difference = std::max({largest_difference, std::abs(a[0] - check[0]), std::abs(a[1] - check[1])});
      found[i] = found[i] || agrees(a);
      measured[i] += fmt::format("{}({:.3f}, {:.3f})", measured[i].empty() ? "" : " or ", a[0], a[1]);
    }
  }
  table.caption = "The two branches mirror the follower about the diagonal of the loop.";
  part.tables.push_back(std::move(table));
  const auto verdict = [](bool yes) { return yes ? Holds::kYes : Holds::kNo; };
  part.claims.push_back({"four-bar-as-printed", "Four-bar accelerations with the lengths as printed", "θ̈3 = 26.0, θ̈4 = 53.3",
                         measured[0], verdict(found[0]),
                         "misprint: the printed accelerations belong to the lengths r1 and r4 exchanged; see the next claim"});
  part.claims.push_back({"four-bar-exchanged", "The same with r1 and r4 exchanged", "θ̈3 = 26.0, θ̈4 = 53.3", measured[1],
                         verdict(found[1]),
                         "the branch is not stated; one of the two agrees, its first value cut off, not rounded"});
  part.claims.push_back(
      {"four-bar-verified", "\"These values can be easily verified using conventional methods\"", "",
       fmt::format("largest difference from finite differences of the positions: {:.1e} rad/s²", largest_difference),
       verdict(largest_difference < 1e-3), "differences are good to about five digits here"});
}

}  // namespace linkwork::studies::generalized_inverse
