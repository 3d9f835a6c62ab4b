#include <fmt/format.h>
#include <gtest/gtest.h>

#include "linkwork/simulation/coordinate_choice.h"
#include "tests/support/mechanisms.h"
#include "tests/support/recorded_run.h"

namespace linkwork {
namespace {

using test::RecordedRun;

/// A slider-crank whose rod has neither mass nor inertia: the knee moves nothing by itself.
Spec slider_crank(double rod_mass, double length) {
  return test::spec_of(fmt::format(R"toml(
[settings]
end = 1.0
[[body]]
name = "crank"
mass = 1.3
com = [0.1, 0.02, 0]
inertia = [0.01, 0.02, 0.02]
[[body]]
name = "rod"
mass = {}
[[body]]
name = "slider"
mass = 0.7
[[joint]]
name = "theta"
type = "revolute"
parent = {{ body = "ground" }}
child = {{ body = "crank" }}
position = 0.8
fixed = true
[[joint]]
name = "knee"
type = "revolute"
parent = {{ body = "crank", at = [0.2, 0, 0] }}
child = {{ body = "rod" }}
position = -1.1
[[joint]]
name = "x"
type = "prismatic"
axis = [1, 0, 0]
parent = {{ body = "ground" }}
child = {{ body = "slider" }}
position = 0.6
[[closure]]
name = "wrist"
type = "pin"
a = {{ body = "rod", at = [{}, 0, 0] }}
b = {{ body = "slider" }}
)toml",
                                   rod_mass, length));
}

RecordedRun run_recorded(Spec spec, const std::string& coordinates) {
  spec.settings.coordinates = {coordinates, {}, {}};
  return RecordedRun(spec);
}

TEST(LinksWithoutMass, AreEmbeddedByDefault) {
  for (const double length : {0.45, 0.6, 0.9}) {
    const Spec spec = slider_crank(0.0, length);
    const RecordedRun by_default = run_recorded(spec, "auto"), cut = run_recorded(spec, "TA");
    ASSERT_TRUE(by_default.summary.completed) << by_default.summary.status;
    EXPECT_EQ(by_default.summary.coordinates, "CE");
    EXPECT_EQ(cut.summary.coordinates, "TA");
    EXPECT_NEAR(by_default.last("q.theta"), cut.last("q.theta"), 1e-9);
    EXPECT_NEAR(by_default.last("force.wrist.x"), cut.last("force.wrist.x"), 1e-6);
    const Model model = build_model(spec);
    const CoordinateCosts costs = predict_costs(model, test::start_state(model));
    EXPECT_LT(costs.automatic, 0.5 * costs.ta);
  }
}

TEST(LinksWithoutMass, AreEmbeddedWhereTheyAreAndOtherLoopsAreCut) {
  struct Machine {
    std::string model;
    std::vector<std::string> positions;
    std::string force;        // of rows that do not depend on others
    double over_ce, over_ta;  // predicted cost, at most
  };
  for (const Machine& m : {Machine{"loader", {"q.boom", "q.bucket", "q.claw1", "q.claw4"}, "force.D.x", 0.8, 0.5},
                           Machine{"picker", {"q.hip1", "q.hip3", "q.crank1", "q.finger4"}, "force.pin1.x", 0.9, 0.5},
                           Machine{"car", {"q.chassis.z", "q.rack", "q.strut1", "q.arm3"}, "force.T1.z", 0.95, 0.5}}) {
    SCOPED_TRACE(m.model);
    Spec spec = test::library_spec(m.model);
    spec.settings.end = 0.1;
    spec.settings.step = 2.5e-4;  // errors of integration differ between coordinates
    const RecordedRun by_default = run_recorded(spec, "auto"), cut = run_recorded(spec, "TA"),
                      embedded = run_recorded(spec, "CE");
    ASSERT_TRUE(by_default.summary.completed) << by_default.summary.status;
    EXPECT_EQ(by_default.summary.coordinates, "hybrid");
    for (const std::string& column : m.positions) {
      EXPECT_NEAR(by_default.last(column), cut.last(column), 1e-8) << column;
      EXPECT_NEAR(by_default.last(column), embedded.last(column), 1e-8) << column;
    }
    EXPECT_NEAR(by_default.last(m.force), embedded.last(m.force), 1e-6 * std::abs(embedded.last(m.force)));
    const Model model = build_model(spec);
    const CoordinateCosts costs = predict_costs(model, test::start_state(model));
    EXPECT_LT(costs.automatic, m.over_ce * costs.ce);
    EXPECT_LT(costs.automatic, m.over_ta * costs.ta);
  }
}

TEST(LinksWithoutMass, MoveLikeLinksOfVanishingMass) {
  const double none = run_recorded(slider_crank(0.0, 0.6), "auto").last("q.theta");
  const auto off = [&](double mass) { return std::abs(run_recorded(slider_crank(mass, 0.6), "TA").last("q.theta") - none); };
  EXPECT_LT(off(1e-6), 1e-4);
  EXPECT_LT(off(1e-9), 1e-7);
}

}  // namespace
}  // namespace linkwork
