#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "linkwork/io/model_file.h"
#include "tests/support/recorded_run.h"

namespace linkwork {
namespace {

using test::RecordedRun;

constexpr const char* kPendulum = R"(linkwork = 1
[settings]
gravity = [0, 0, -10]
end = 1.0
[[body]]
name = "arm"
mass = 1
com = [1, 0, 0]
[[joint]]
name = "pin"
type = "revolute"
axis = [0, 1, 0]
parent = { body = "ground" }
child = { body = "arm" }
[[sensor]]
name = "box"
type = "imu"
frame = { body = "arm", at = [0.5, 0, 0], rpy = [0, 0, 1.5707963267948966] }
)";

TEST(Imu, ShowsRatesAndSpecificForceInItsOwnAxes) {
  const RecordedRun run(read_model_text(kPendulum, "arm.toml"));
  for (const auto& row : run.rows) {
    const auto value = [&](const char* column) { return row[run.column(column)]; };
    const double q = value("q.pin"), v = value("v.pin"), a = value("a.pin");
    // The arm's x is along it, its z normal to it; turning about y moves x towards -z. The sensor's x is the arm's y.
    EXPECT_NEAR(value("imu.box.wx"), v, 1e-12);
    EXPECT_NEAR(value("imu.box.wy"), 0.0, 1e-12);
    const double along = -0.5 * v * v - 10.0 * std::sin(q), across = -0.5 * a + 10.0 * std::cos(q);
    EXPECT_NEAR(value("imu.box.ay"), -along, 1e-9);
    EXPECT_NEAR(value("imu.box.az"), across, 1e-9);
    EXPECT_NEAR(value("imu.box.ax"), 0.0, 1e-12);
  }
}

TEST(Imu, AtRestShowsThatItIsHeldUp) {
  std::string text = kPendulum;
  text.replace(text.find("com = [1, 0, 0]"), 15, "com = [0, 0, -1]\ninertia = [1, 1, 1]");
  const RecordedRun run(read_model_text(text, "arm.toml"));
  EXPECT_NEAR(run.last("imu.box.az"), 10.0, 1e-9);
}

TEST(Imu, IsNothingThatAForceCanDependOn) {
  const std::string text = std::string(kPendulum) + "[[force]]\ntype = \"torque\"\njoint = \"pin\"\nvalue = \"imu.box.wx\"\n";
  EXPECT_THROW(build_model(read_model_text(text, "arm.toml")), InputError);
}

}  // namespace
}  // namespace linkwork
