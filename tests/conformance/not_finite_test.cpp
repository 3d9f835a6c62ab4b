// A number that is not finite ends a run, or is warned of, by what made it: the force with its expression and line, the spring,
// joint or body. Anywhere in a model with other forces, from the start or on the way, in one piece and in modules.

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "linkwork/io/model_file.h"
#include "linkwork/modules/model_run.h"
#include "tests/support/mechanisms.h"

namespace linkwork {
namespace {

using ::testing::AllOf;
using ::testing::AnyOf;
using ::testing::HasSubstr;

/// A body on three sliders, with harmless forces, and a table of the case's own among them.
std::string part(const std::string& own, bool first, double far = 0.0) {
  const std::string harmless = R"toml([[force]]
name = "calm"
type = "wrench"
body = "b"
force = ["sin(t)", "1", "-v.x"]
[[force]]
type = "spring"
a = { body = "ground" }
b = { body = "b", at = [0.1, 0, 0] }
stiffness = 10
length = 0.1
damping = 1
)toml";
  return fmt::format(R"toml(linkwork = 1
[settings]
gravity = [0, 0, -9.81]
end = 1.0
[[body]]
name = "a"
mass = 1.0
inertia = [0.1, 0.1, 0.1]
[[body]]
name = "b"
mass = 1.0
inertia = [0.1, 0.1, 0.1]
[[joint]]
name = "x"
type = "prismatic"
parent = {{ body = "ground", at = [0, 0, {}] }}
child = {{ body = "a" }}
axis = [1, 0, 0]
damping = 0.5
[[joint]]
name = "y"
type = "prismatic"
parent = {{ body = "a" }}
child = {{ body = "b" }}
axis = [0, 1, 0]
velocity = 1.0
[[port]]
name = "p"
body = "b"
{}{}{})toml",
                     far, first ? own : "", harmless, first ? "" : own);
}

int line_of(const std::string& text, const std::string& fragment) {
  return 1 + static_cast<int>(std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(text.find(fragment)), '\n'));
}

std::string what_came_of(const Spec& spec) {
  const Summary summary = run_model(spec).summary;
  EXPECT_FALSE(summary.completed);
  return summary.status;
}

struct Case {
  std::string name, own;
  std::vector<std::string> told;  // beside the line of the expression
  std::string expression = "";
};

class NotFinite : public testing::TestWithParam<Case> {};

TEST_P(NotFinite, IsToldByWhatMadeIt) {
  const auto& [name, own, told, expression] = GetParam();
  for (const bool first : {true, false}) {
    const std::string text = part(own, first);
    std::vector<std::string> fragments = told;
    if (!expression.empty()) {
      fragments.push_back('"' + expression + '"');
      fragments.push_back(fmt::format(".toml:{}", line_of(text, expression)));
    }
    Spec whole = read_model_text(text, "whole.toml");
    for (const char* coordinates : {"auto", "FA"}) {
      if (expression.empty() && coordinates == std::string("FA")) continue;  // refused before the start, in words
      whole.settings.coordinates = {coordinates, {}, {}};
      const std::string status = what_came_of(whole);
      for (const std::string& fragment : fragments) EXPECT_THAT(status, HasSubstr(fragment)) << coordinates;
    }
    ReadOptions options;
    options.load = [&](const std::filesystem::path& file) { return file == "odd.toml" ? text : part("", true); };
    const Spec modules = read_model_text(R"(linkwork = 1
[settings]
end = 1.0
[[module]]
name = "fine"
file = "fine.toml"
[[module]]
name = "odd"
file = "odd.toml"
[[connection]]
name = "c"
type = "point"
a = "fine.p"
b = "odd.p"
)",
                                         "assembly.toml", options);
    const std::string status = what_came_of(modules);
    EXPECT_THAT(status, HasSubstr("module '"));
    for (const std::string& fragment : fragments) EXPECT_THAT(status, HasSubstr(fragment)) << "in modules";
  }
}

const std::vector<Case> kCases{
    {"ForceOnTheWay",
     "[[force]]\nname = \"hand\"\ntype = \"force\"\njoint = \"y\"\nvalue = \"3/(1 - 100*t)^0.5\"\n",
     {"hand'", "joint", "y'"},
     "3/(1 - 100*t)^0.5"},
    {"UnnamedForce", "[[force]]\ntype = \"force\"\njoint = \"x\"\nvalue = \"log(-1 - t)\"\n", {"joint", "x'"}, "log(-1 - t)"},
    {"Wrench",
     "[[force]]\nname = \"push\"\ntype = \"wrench\"\nbody = \"b\"\nforce = [\"1\", \"2\", \"1e200*exp(600 + t)\"]\n",
     {"push'"},
     "1e200*exp(600 + t)"},
    {"SpringLaw",
     "[[force]]\nname = \"rope\"\ntype = \"spring\"\na = { body = \"ground\" }\nb = { body = \"b\", at = [1, 0, 0] }\nlaw = "
     "\"sqrt(0.5 - d)\"\n",
     {"rope'"},
     "sqrt(0.5 - d)"},
    {"SpringFarAway",
     "[[force]]\nname = \"far\"\ntype = \"spring\"\na = { body = \"ground\" }\nb = { body = \"b\", at = [1e308, 0, 0] }\n"
     "stiffness = 1e3\nlength = 1\n",
     {"the spring '", "far' pulls with"}},
    {"WrenchFarAway",
     "[[force]]\nname = \"lever\"\ntype = \"wrench\"\nbody = \"b\"\nat = [1e308, 0, 0]\nforce = [0, 100, 0]\n",
     {"the wrench '", "lever' acts with"}},
    {"Bushing",
     "[[force]]\nname = \"rubber\"\ntype = \"bushing\"\na = { body = \"ground\", at = [0, 0, 1e200] }\nb = { body = \"b\" }\n"
     "force_stiffness = [1e200, 1e200, 1e200]\n",
     {"the bushing '", "rubber'"}},
    {"State", "[[state]]\nname = \"level\"\nstart = 1\nrate = \"asin(1 + z.level)\"\n", {"level'"}, "asin(1 + z.level)"},
};
INSTANTIATE_TEST_SUITE_P(Causes, NotFinite, testing::ValuesIn(kCases), [](const auto& one) { return one.param.name; });

TEST(NotFiniteForce, IsToldByEveryIntegratorAndGlue) {
  const std::string hand = "[[force]]\nname = \"hand\"\ntype = \"force\"\njoint = \"y\"\nvalue = \"log(0.1 - t)\"\n";
  Spec whole = read_model_text(part(hand, true), "whole.toml");
  for (const char* integrator :
       {"euler", "dopri45", "cvode-adams", "cvode-bdf", "ida", "arkode", "newmark", "generalized-alpha"}) {
    whole.settings.integrator = {integrator, {}, {}};
    EXPECT_THAT(what_came_of(whole), AllOf(HasSubstr("\"log(0.1 - t)\""), HasSubstr("'hand'"))) << integrator;
  }
  ReadOptions options;
  options.load = [&](const std::filesystem::path& file) { return part(file == "odd.toml" ? hand : "", true); };
  for (const char* glue : {"hierarchical", "projection", "gluing", "compliance"}) {
    Spec modules = read_model_text(R"(linkwork = 1
[settings]
end = 1.0
[[module]]
name = "fine"
file = "fine.toml"
[[module]]
name = "odd"
file = "odd.toml"
[[connection]]
name = "c"
type = "point"
a = "fine.p"
b = "odd.p"
)",
                                   "assembly.toml", options);
    modules.settings.glue = {glue, {}, {}};
    EXPECT_THAT(what_came_of(modules), AllOf(HasSubstr("module 'odd'"), HasSubstr("\"log(0.1 - t)\""))) << glue;
  }
}

TEST(NotFiniteEnergy, IsToldByTheBodyThatHasIt) {
  const std::string status = what_came_of(read_model_text(part("", true, 1e308), "far.toml"));
  EXPECT_THAT(status,
              AllOf(HasSubstr("not finite"), HasSubstr("1e+308"), AnyOf(HasSubstr("body 'a'"), HasSubstr("the spring '"))));
}

TEST(NotFiniteState, IsToldByTheCoordinateThatRanAway) {
  const std::string status = what_came_of(
      read_model_text(part("[[force]]\ntype = \"force\"\njoint = \"y\"\nvalue = \"1e307*(1 + v.y)\"\n", true), "m.toml"));
  EXPECT_THAT(status, AllOf(HasSubstr("not finite"), HasSubstr("'y'")));
}

}  // namespace
}  // namespace linkwork
