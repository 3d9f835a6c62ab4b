#include <gtest/gtest.h>

#include "linkwork/io/model_file.h"
#include "tests/support/assemblies.h"

namespace linkwork {
namespace {

/// A pendulum that strikes a stop again and again, with a clock of its own and the integral of its angle.
const char* const kPendulum = R"(linkwork = 1
[[body]]
name = "bob"
solid = { shape = "rod", to = [0.5, 0, 0], mass = 1 }
[[joint]]
name = "pivot"
type = "revolute"
parent = { body = "ground" }
child = { body = "bob" }
limits = [-1.2, 3]
restitution = 0.7
[[state]]
name = "clock"
start = 0.25
rate = "1"
[[state]]
name = "area"
rate = "q.pivot"
[[force]]
type = "torque"
joint = "pivot"
value = "-0.2*z.area"
)";

TEST(StatesOfTheUsersOwn, GoOnThroughEvents) {
  Spec spec = read_model_text(std::string(kPendulum) + "[settings]\nend = 2\n", "pendulum.toml");
  const test::Rows rows = test::run_in_one_piece(spec);
  ASSERT_TRUE(rows.summary.completed) << rows.summary.status;
  ASSERT_GE(rows.summary.events.size(), 2U);
  const std::vector<double> t = rows.of("t"), clock = rows.of("z.clock"), area = rows.of("z.area"), q = rows.of("q.pivot");
  double integral = 0.0;
  for (std::size_t k = 0; k < t.size(); ++k) {
    EXPECT_NEAR(clock[k], 0.25 + t[k], 1e-9) << t[k];
    if (k > 0) integral += 0.5 * (t[k] - t[k - 1]) * (q[k] + q[k - 1]);
    EXPECT_NEAR(area[k], integral, 2e-3) << t[k];
  }
}

TEST(StatesOfTheUsersOwn, GoOnThroughEventsOfModulesAsInOnePiece) {
  ReadOptions options;
  options.load = [](const std::filesystem::path&) { return std::string(kPendulum); };
  const Spec spec = read_model_text(R"(linkwork = 1
[settings]
end = 2
[[module]]
name = "a"
file = "x.toml"
[[module]]
name = "b"
file = "x.toml"
[[force]]
name = "link"
type = "spring"
a = { body = "a.bob", at = [0.5, 0, 0] }
b = { body = "b.bob", at = [0.3, 0.1, 0] }
stiffness = 2
length = 0.1
)",
                                    "two.toml", options);
  const test::Rows whole = test::run_in_one_piece(spec), parts = test::run_modules(spec);
  ASSERT_TRUE(parts.summary.completed) << parts.summary.status;
  ASSERT_GE(parts.summary.events.size(), 2U);
  EXPECT_LE(test::largest_difference(parts, whole).first, 1e-9);
  for (const char* const column : {"z.a.clock", "z.a.area", "z.b.area"})
    EXPECT_NEAR(parts.last(column), whole.last(column), 1e-9);
}

}  // namespace
}  // namespace linkwork
