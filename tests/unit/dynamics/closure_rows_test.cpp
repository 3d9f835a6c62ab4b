#include <fmt/format.h>
#include <gtest/gtest.h>

#include "linkwork/dynamics/system.h"
#include "tests/support/mechanisms.h"

namespace linkwork {
namespace {

using Kind = ClosureRows::Kind;

struct FourBarCase {
  friend void PrintTo(const FourBarCase& c, std::ostream* out) { *out << c.name; }
  std::string name;
  std::string base;     // joint of the base: none, revolute, free
  std::string closure;  // type and keys
  Kind kind;
  int working;
};

/// A four-bar in a slanted plane, on the ground or on a base that moves.
Model four_bar(const FourBarCase& c) {
  const std::string base = c.base.empty() ? "ground" : "base";
  const std::string on_ground = c.base.empty() ? ""
                                               : fmt::format(R"toml(
[[joint]]
name = "base"
type = "{}"
{}
parent = {{ body = "ground", at = [0.2, 0.1, -0.3] }}
child = {{ body = "base", at = [0.1, 0, 0.1] }}
[[body]]
name = "base"
mass = 2
inertia = [0.3, 0.4, 0.5]
)toml",
                                                             c.base, c.base == "free" ? "" : "axis = [3, -1, 2]");
  return test::model_of(fmt::format(R"toml(
{1}
[[body]]
repeat = {{ i = [1, 3] }}
name = "link{{i}}"
mass = 1
com = [0.5, 0.1, 0.2]
inertia = [0.2, 0.3, 0.4]
[[joint]]
name = "crank"
type = "revolute"
axis = [1, 2, 2]
parent = {{ body = "{0}", at = [0.3, 0.2, -0.1] }}
child = {{ body = "link1" }}
[[joint]]
name = "coupler"
type = "revolute"
axis = [1, 2, 2]
parent = {{ body = "link1", at = [0.4, -0.2, 0] }}
child = {{ body = "link2" }}
[[joint]]
name = "rocker"
type = "revolute"
axis = [1, 2, 2]
parent = {{ body = "{0}", at = [0.9, 0.3, 0.2] }}
child = {{ body = "link3" }}
[[closure]]
name = "pin"
{2}
a = {{ body = "link2", at = [0.6, 0.1, 0.1] }}
b = {{ body = "link3", at = [0.5, -0.1, 0.3] }}
)toml",
                                    base, on_ground, c.closure));
}

class ClosureRowsOf : public testing::TestWithParam<FourBarCase> {};

/// phi, its rates and the columns, against the general formulas.
TEST_P(ClosureRowsOf, AFourBarAreThoseOfTheGeneralMotion) {
  const Model model = four_bar(GetParam());
  System system(model);
  const FrameClosure& closure = model.frame_closures.front();
  const ClosureRows& known = system.terms().closure_rows.front();
  EXPECT_EQ(known.kind, GetParam().kind);
  EXPECT_EQ(known.working, GetParam().working);
  std::mt19937 random(3);
  State start;  // as it is written: no position need close the loop
  start.q = Eigen::Map<const VecX<double>>(model.start_q.data(), model.tree.nq);
  start.v = VecX<double>::Zero(model.tree.nv);
  for (int i = 0; i < 5; ++i) {
    const State state = test::random_state(model, start, random);
    system.update(state);
    const RelativeMotion m = system.relative_motion(closure.a, closure.b);
    const Pose<double> X_AB = system.between(closure.a.node, closure.b.node);
    std::array<Row, kMaxRows> rows;
    closure.evaluate(m, rows);
    ForceColumns columns = system.terms().groups.front();
    for (int r = 0; r < closure.row_count; ++r) {
      const Row& row = rows[static_cast<std::size_t>(r)];
      EXPECT_NEAR(system.terms().phi[r], row.value, 1e-13);
      EXPECT_NEAR(system.terms().rate[r], row.rate(m), 1e-12);
      EXPECT_NEAR(system.terms().b[r], -row.second_rate(m), 1e-11);
      std::tie(columns.wrench(0, r), columns.wrench(1, r)) = row_wrenches(closure.a, closure.b, X_AB, row);
    }
    MatX<double> expected = MatX<double>::Zero(closure.row_count, model.tree.nv);
    columns.add_rows_to(model.tree, system.work(), 0, expected);
    EXPECT_LT((system.jacobian() - expected).norm(), 1e-12);
    EXPECT_LT(expected.bottomRows(closure.row_count - known.working).norm(), 1e-12);
  }
}

const FourBarCase kCases[] = {
    {"PinOnGround", "", "type = \"pin\"\naxis = [1, 2, 2]", Kind::kPlanar, 2},
    {"RevoluteOnGround", "", "type = \"revolute\"\naxis = [1, 2, 2]", Kind::kPlanar, 2},
    {"CylindricalOnGround", "", "type = \"cylindrical\"\naxis = [1, 2, 2]", Kind::kPlanar, 2},
    {"BallOnGround", "", "type = \"point\"", Kind::kPlanar, 3},
    {"SkewRevoluteOnGround", "", "type = \"revolute\"\naxis = [1, 2, 3]", Kind::kGeneral, 5},
    {"DistanceOnGround", "", "type = \"distance\"\nlength = 0.2", Kind::kGeneral, 1},
    {"PinOnTurningBase", "revolute", "type = \"pin\"\naxis = [1, 2, 2]", Kind::kPlanarLoop, 2},
    {"PinOnFreeBase", "free", "type = \"pin\"\naxis = [1, 2, 2]", Kind::kPlanarLoop, 2},
    {"RevoluteOnFreeBase", "free", "type = \"revolute\"\naxis = [1, 2, 2]", Kind::kPlanarLoop, 2},
    {"BallOnFreeBase", "free", "type = \"point\"", Kind::kPlanarLoop, 3},
};

INSTANTIATE_TEST_SUITE_P(All, ClosureRowsOf, testing::ValuesIn(kCases), [](const auto& test) { return test.param.name; });

/// Nodes that turn about axes which are not parallel.
TEST(ClosureRows, OfALoopInSpaceAreOfAPoint) {
  const Model model = build_model(test::library_spec("closed_chain", {{"n", "8"}}));
  EXPECT_EQ(System(model).terms().closure_rows.front().kind, Kind::kPoint);
}

}  // namespace
}  // namespace linkwork
