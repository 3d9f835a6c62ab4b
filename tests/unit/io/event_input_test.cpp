#include <gmock/gmock.h>

#include "tests/support/mechanisms.h"

namespace linkwork {
namespace {

using testing::HasSubstr;

std::string message_of(const std::string& tables, const std::string& parameters = "") {
  try {
    build_model(test::spec_of(parameters + R"(
[[body]]
name = "mass"
mass = 2
inertia = [1, 1, 1]
[[joint]]
name = "x"
type = "prismatic"
parent = { body = "ground" }
child = { body = "mass" }
)" + tables));
  } catch (const InputError& error) {
    return error.what();
  }
  return "accepted";
}

std::string event(const std::string& when, const std::string& action) {
  return "[[event]]\nname = \"e\"\nwhen = \"" + when + "\"\ndo = [\"" + action + "\"]\n";
}

TEST(EventInput, IsAcceptedWhereItIsRight) {
  EXPECT_EQ(message_of(event("q.x - 1", "stop")), "accepted");
  EXPECT_EQ(message_of(event("t - 1", "kick x by 3*v.x")), "accepted");
  EXPECT_EQ(message_of(event("t - 1", "set k = 2*k"), "[parameters]\nk = 1\n"), "accepted");
}

TEST(EventInput, ActionsMustBeKnownAndComplete) {
  EXPECT_THAT(message_of(event("t - 1", "halt")), HasSubstr("'halt' is no action"));
  EXPECT_THAT(message_of(event("t - 1", "kick x")), HasSubstr("'kick x' is incomplete"));
  EXPECT_THAT(message_of(event("t - 1", "on")), HasSubstr("'on' is incomplete"));
  EXPECT_THAT(message_of("[[event]]\nname = \"e\"\nwhen = \"t - 1\"\ndo = []\n"), HasSubstr("'do' is"));
  EXPECT_THAT(message_of("[[event]]\nname = \"e\"\nwhen = \"t - 1\"\ndo = \"stop\"\n"), HasSubstr("'do' is"));
}

TEST(EventInput, NamesMustExist) {
  EXPECT_THAT(message_of(event("t - 1", "on latch")), HasSubstr("latch"));
  EXPECT_THAT(message_of(event("t - 1", "set k = 1")), HasSubstr("unknown parameter 'k'"));
  EXPECT_THAT(message_of(event("t - 1", "kick y by 1")), HasSubstr("'y'"));
  EXPECT_THAT(message_of(event("lambda.latch.x", "stop")), HasSubstr("latch.x"));
  EXPECT_THAT(message_of(event("p.tip.x", "stop")), HasSubstr("'tip'"));
  EXPECT_THAT(message_of(event("q.y", "stop")), HasSubstr("'y'"));
}

TEST(EventInput, WhenMustChange) { EXPECT_THAT(message_of(event("1 - 1", "stop")), HasSubstr("never changes")); }

TEST(EventInput, MultipliersAreForEventsOnly) {
  EXPECT_THAT(message_of("[[force]]\ntype = \"force\"\njoint = \"x\"\nvalue = \"lambda.c.r\"\n"),
              HasSubstr("'lambda.c.r' cannot be used here"));
}

TEST(EventInput, AParameterThatChangesCannotSetWhatDoesNot) {
  EXPECT_THAT(message_of("[[body]]\nname = \"other\"\nmass = \"k\"\n" + event("t - 1", "set k = 2"), "[parameters]\nk = 1\n"),
              HasSubstr("the parameter 'k' is changed by an event"));
}

TEST(ClosureInput, PfaffianRowsMustBeLinearInTheVelocities) {
  const auto closure = [](const std::string& expression) {
    return "[[closure]]\nname = \"c\"\ntype = \"pfaffian\"\nexpression = \"" + expression + "\"\n";
  };
  EXPECT_EQ(message_of(closure("sin(q.x)*v.x - t")), "accepted");
  EXPECT_THAT(message_of(closure("v.x^2 - 1")), HasSubstr("not linear"));
  EXPECT_THAT(message_of(closure("q.x - t")), HasSubstr("any joint velocity"));
}

TEST(ClosureInput, FrictionAndSidesMustMakeSense) {
  const std::string drive = "[[closure]]\nname = \"c\"\ntype = \"pfaffian\"\nexpression = \"v.x\"\n";
  EXPECT_THAT(message_of(drive + "dry_friction = { kinetic = 0.2 }\n"), HasSubstr("has no load"));
  EXPECT_THAT(message_of(drive + "dry_friction = { kinetic = 0.2, static = 0.1, load = 3 }\n"), HasSubstr("less than 'kinetic'"));
  const std::string wall = "[[closure]]\nname = \"c\"\ntype = \"expression\"\nexpression = \"q.x\"\n";
  EXPECT_THAT(message_of(wall + "restitution = 0.3\n"), HasSubstr("without 'one_sided'"));
  EXPECT_THAT(message_of(wall + "one_sided = \"above\"\nrestitution = 1.5\n"), HasSubstr("0 to 1"));
  EXPECT_THAT(message_of(wall + "one_sided = \"above\"\nactive = false\n"), HasSubstr("closes by itself"));
  EXPECT_THAT(message_of(wall + "one_sided = \"above\"\n" + event("t - 1", "off c")), HasSubstr("by itself"));
}

TEST(ClosureInput, JointStopsNeedLimits) {
  EXPECT_THAT(
      message_of(
          "[[body]]\nname = \"b\"\nmass = 1\ninertia = [1, 1, 1]\n[[joint]]\nname = \"y\"\ntype = \"prismatic\"\nparent = { body "
          "= \"ground\" }\nchild = { body = \"b\" }\nrestitution = 0.5\n"),
      HasSubstr("without 'limits'"));
}

}  // namespace
}  // namespace linkwork
