#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>

#include "tests/support/mechanisms.h"
#include "tests/support/recorded_run.h"

namespace linkwork {
namespace {

using test::RecordedRun;

/// Bennett's linkage: four hinges in space, opposite links alike, length / sin(twist) the same for all. It moves by its
/// dimensions only: of the 5 rows of its cut hinge 3 are independent, others in every position.
Spec bennett(double twist_a, double twist_b, double length_a, double angle) {
  const double length_b = length_a * std::sin(twist_b) / std::sin(twist_a);
  const double next =
      2.0 * std::atan(std::sin(0.5 * (twist_b + twist_a)) / std::sin(0.5 * (twist_b - twist_a)) / std::tan(0.5 * angle));
  const auto link = [](int i, double length) {
    return fmt::format("[[body]]\nname = \"b{}\"\nmass = {}\ncom = [{}, 0.02, -0.01]\ninertia = [0.01, 0.03, 0.03]\n", i,
                       1.0 + 0.3 * i, 0.5 * length);
  };
  const auto hinge = [](int i, const std::string& parent, double length, double twist, double position) {
    return fmt::format(
        "[[joint]]\nname = \"j{0}\"\ntype = \"revolute\"\nparent = {{ body = \"{1}\", at = [{2}, 0, 0], rpy = [{3}, 0, 0] }}\n"
        "child = {{ body = \"b{0}\" }}\nposition = {4}\n",
        i, parent, length, twist, position);
  };
  Spec spec = test::spec_of("[settings]\ngravity = [1, -9.81, 2]\nend = 2.0\noutput_every = 0.1\n" + link(0, length_a) +
                            link(1, length_b) + link(2, length_a) + hinge(0, "ground", 0, 0, angle) +
                            hinge(1, "b0", length_a, twist_a, next) + hinge(2, "b1", length_b, twist_b, -angle) +
                            fmt::format(R"toml(
[[closure]]
name = "last"
type = "revolute"
a = {{ body = "b2", at = [{}, 0, 0], rpy = [{}, 0, 0] }}
b = {{ body = "ground", at = [{}, 0, 0], rpy = [{}, 0, 0] }}
)toml",
                                        length_a, twist_a, -length_b, -twist_b));
  return spec;
}

double end_of(Spec spec, const std::string& coordinates, double step) {
  spec.settings.coordinates = {coordinates, {}, {}};
  spec.settings.step = step;
  const RecordedRun run(spec);
  EXPECT_TRUE(run.summary.completed) << run.summary.status;
  EXPECT_EQ(run.summary.dof, 1);
  EXPECT_LT(run.summary.position_error_max, 1e-10) << coordinates;
  return run.last("q.j0");
}

TEST(BennettsLinkage, IsEmbeddedToTheOrderOfTheMethod) {
  for (const auto& [twist_a, twist_b, length, angle] :
       {std::array{0.7, 1.2, 0.5, 0.9}, std::array{0.5, 1.3, 0.4, 1.4}, std::array{1.0, 1.9, 0.3, -0.8}}) {
    const Spec spec = bennett(twist_a, twist_b, length, angle);
    const double exact = end_of(spec, "TA", 2.5e-4);
    EXPECT_NEAR(end_of(spec, "CE", 2.5e-4), exact, 1e-9);
    const double coarse = std::abs(end_of(spec, "CE", 4e-3) - exact), fine = std::abs(end_of(spec, "CE", 2e-3) - exact);
    EXPECT_TRUE(std::log2(coarse / fine) > 3.3 || fine < 1e-9) << coarse << ", " << fine;
  }
}

/// Rows of both couplers vanish in turn while the crank goes round.
TEST(DrivenFiveBar, StaysOnItsConstraintsWhereRowsVanish) {
  const auto file = test::source_dir() / "models" / "five_bar_redundant.toml";
  Spec spec = read_model_text(
      read_text_file(file) +
          "\n[[closure]]\nname = \"motor\"\ntype = \"drive\"\njoint = \"theta2\"\nvalue = \"-pi/6 - 0.8*sin(1.3*t)\"\n",
      file.string());
  spec.settings.end = 5.0;
  for (const std::string coordinates : {"TA", "CE"}) {
    spec.settings.coordinates = {coordinates, {}, {}};
    const RecordedRun run(spec);
    EXPECT_TRUE(run.summary.completed) << run.summary.status;
    EXPECT_LT(run.summary.position_error_max, 1e-11) << coordinates;
    EXPECT_LT(run.summary.velocity_error_max, 1e-11) << coordinates;
    for (const auto& row : run.rows)
      ASSERT_NEAR(row[run.column("v.theta4")], -0.8 * 1.3 * std::cos(1.3 * row[0]), 1e-10) << coordinates << ", t = " << row[0];
  }
}

}  // namespace
}  // namespace linkwork
