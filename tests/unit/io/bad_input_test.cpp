#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "linkwork/io/model_file.h"

namespace linkwork {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

/// A case is a text with "@!" where the error is, and a part of the message. The message must have the form
/// "file:line:column: what is wrong; …".
struct BadInput {
  const char* name;
  std::string text;
  const char* message;
};

constexpr std::string_view kMarker = "@!";

/// A good model for cases to add a table to: bodies a and b, the joints j (revolute), c (cylindrical), w (weld) and s
/// (spherical).
const std::string kBase = R"(linkwork = 1
[[body]]
name = "a"
mass = 1
[[body]]
name = "b"
mass = 1
[[body]]
name = "d"
mass = 1
[[joint]]
name = "j"
type = "revolute"
parent = { body = "ground" }
child = { body = "a" }
[[joint]]
name = "c"
type = "cylindrical"
parent = { body = "a" }
child = { body = "b" }
[[joint]]
name = "w"
type = "weld"
parent = { body = "a" }
child = { body = "b" }
[[joint]]
name = "s"
type = "spherical"
parent = { body = "ground" }
child = { body = "d" }
)";

std::string with_base(const std::string& table) { return kBase + table; }

std::string body(const std::string& keys) { return with_base("[[body]]\nname = \"x\"\n" + keys); }

std::string joint(const std::string& keys) {
  return with_base("[[joint]]\nname = \"x\"\nparent = { body = \"ground\" }\nchild = { body = \"a\" }\n" + keys);
}

std::string pin(const std::string& keys) {
  return with_base("[[closure]]\nname = \"x\"\na = { body = \"ground\" }\nb = { body = \"a\" }\n" + keys);
}

std::string settings(const std::string& keys) { return with_base("[settings]\n" + keys); }

std::string parameters(const std::string& keys) { return with_base("[parameters]\n" + keys); }

/// The module "part.toml" of these tests.
const std::string kPart = R"(linkwork = 1
[parameters]
length = 1
[[body]]
name = "bar"
mass = 1
[[port]]
name = "tip"
body = "bar"
[[port]]
name = "tail"
body = "bar"
)";

std::vector<BadInput> bad_inputs() {
  return {
      // The file
      {"empty", "@!", "the file is empty; expected linkwork = 1"},
      {"only a comment", "@!# nothing\n", "the file is empty"},
      {"not TOML", "linkwork = @!\n", "not valid TOML"},
      {"unclosed string", "linkwork = 1\nname = \"four-bar@!\n", "not valid TOML"},
      {"key given twice", "linkwork = 1\nname = \"a\"\nname = @!\"b\"\n", "cannot redefine"},
      {"not UTF-8", "linkwork = 1\nname = @!\"\xff\xfe\"\n", "the file is not UTF-8 text"},
      {"brackets without end", "linkwork = 1\nname = " + std::string(32, '[') + "@!" + std::string(100'000, '['), "depth"},
      {"dots without end",
       "linkwork = 1\n" +
           [] {
             std::string key = "a";
             for (int i = 0; i < 100'000; ++i) key += i == 64 ? "@!.a" : ".a";
             return key;
           }() +
           " = 1\n",
       "a key has too many dots"},
      {"no version", "@!name = \"x\"\n", "the model has no 'linkwork'; expected 1, the version of the format"},
      {"other version", "linkwork = @!2\nnew_key = 1\n", "'linkwork' is 2; expected 1, the version of the format"},
      {"version of wrong type", "linkwork = @!\"1\"\n", "'linkwork' is the string '1'; expected 1"},
      {"no bodies", "linkwork = @!1\n", "the model has no bodies; expected at least one [[body]]"},
      {"name is a path", "linkwork = 1\nname = @!\"../x\"\n", "'name' is '../x'; expected a name that can be that of a folder"},
      {"name is a number", "linkwork = 1\nname = @!3\n", "'name' is 3; expected a string"},
      {"unknown table", with_base("[[@!bodies]]\nname = \"x\"\n"), "unknown key 'bodies'; did you mean 'body'?"},
      {"unknown table far from any", with_base("[@!thermal]\nx = 1\n"), "unknown key 'thermal'; expected one of: linkwork, name"},
      {"table instead of array", "linkwork = 1\n@![body]\nname = \"x\"\n",
       "'body' is a table; expected an array of tables: [[body]]"},
      {"second table instead of array", "linkwork = 1\n[body]\nname = \"x\"\n@![body]\nname = \"y\"\n",
       "; expected [[body]] in double brackets"},
      {"inline table over lines", "linkwork = 1\n[[joint]]\nname = \"x\"\nparent = {@!\n  body = \"ground\"\n}\n",
       "; expected all of an inline table { ... } on one line"},
      {"array of numbers", "linkwork = 1\nbody = [@!1]\n", "'body' contains 1; expected an array of tables: [[body]]"},
      {"settings as array", with_base("@![[settings]]\nend = 1\n"), "'settings' is an array of 1; expected a table"},

      // Parameters
      {"parameter of wrong type", parameters("l = @!true\n"), "the parameter 'l' is true; expected a number, or an expression"},
      {"parameters not a table", "linkwork = 1\nparameters = @!3\n", "'parameters' is 3; expected a table of numbers"},
      {"parameter with the name of a function", parameters("@!sin = 1\n"),
       "'sin' cannot be a parameter; expected a name other than"},
      {"parameter called t", parameters("@!t = 1\n"), "'t' cannot be a parameter"},
      {"parameter that is no identifier", parameters("@!l-1 = 1\n"), "'l-1' cannot be a parameter; expected a name of letters"},
      {"circular parameters", parameters("a = @!\"2*b\"\nb = \"c + 1\"\nc = \"a\"\n"),
       "the parameter 'a' needs its own value: a -> b -> c -> a"},
      {"parameter of itself", parameters("x = 1\na = @!\"a\"\n"), "the parameter 'a' needs its own value: a -> a"},
      {"unknown parameter", parameters("length = 1\na = \"2*@!lenght\"\n"), "unknown name 'lenght'; did you mean 'length'?"},
      {"parameter of time", parameters("a = \"2*@!t\"\n"), "'t' cannot be used here; expected numbers and parameters only"},
      {"infinite parameter", parameters("a = @!inf\n"), "the parameter 'a' is inf; expected a finite number"},
      {"division by zero", parameters("a = @!\"1/0\"\n"), "'1/0' has the value inf; expected a finite number"},

      {"and", parameters("a = \"(1 < 2) @!&& (2 < 3)\"\n"), "there is no '&&' in expressions; expected (a < b)*(c < d)"},
      {"or", parameters("a = \"(1 < 2) @!|| (2 < 3)\"\n"), "there is no '||' in expressions; expected max(a < b, c < d)"},
      {"question mark", parameters("a = \"1 < 2 @!? 3 : 4\"\n"), "there is no '?' in expressions; expected if(condition, a, b)"},
      {"power of other languages", parameters("a = \"2@!**3\"\n"), "there is no '**' in expressions; expected ^ for powers"},
      {"equality", parameters("a = \"if(1 @!== 2, 3, 4)\"\n"),
       "there is no '==' in expressions; expected abs(a - b) < tolerance"},
      {"inequality", parameters("a = \"if(1 @!!= 2, 3, 4)\"\n"), "there is no '!=' in expressions; expected abs(a - b) >"},
      {"remainder", parameters("a = \"7 @!% 2\"\n"), "there is no '%' in expressions; expected mod(a, b)"},

      // Settings
      {"unknown setting", settings("@!sept = 0.1\n"), "unknown key 'sept'; did you mean 'step'?"},
      {"negative end", settings("end = @!-1\n"), "'end' is -1; expected a number > 0"},
      {"end at zero", settings("end = @!0\n"), "'end' is 0; expected a number > 0"},
      {"zero step", settings("step = @!0\n"), "'step' is 0; expected a number > 0"},
      {"negative step from an expression", settings("step = @!\"1 - 2\"\n"), "'step' is -1; expected a number > 0"},
      {"zero output step", settings("output_every = @!0.0\n"), "'output_every' is 0; expected a number > 0"},
      {"negative tolerance", settings("rtol = @!-1e-6\n"), "'rtol' is -1e-06; expected a number > 0"},
      {"zero constraint tolerance", settings("constraint_tolerance = @!0\n"), "expected a number > 0"},
      {"NaN step", settings("step = @!nan\n"), "'step' is nan; expected a finite number"},
      {"gravity with two components", settings("gravity = @![0, -9.81]\n"),
       "'gravity' is an array of 2; expected an array of 3 numbers"},
      {"infinite gravity", settings("gravity = [0, @!-inf, 0]\n"), "'gravity' is -inf; expected a finite number"},
      {"integrator of wrong type", settings("integrator = @!4\n"), "'integrator' is 4; expected a name with options"},
      {"integrator without name", settings("integrator = @!\"\"\n"), "the choice has no name"},
      {"option without value", settings("stabilization = \"baumgarte:alpha=5,@!beta\"\n"),
       "'beta' is not an option; expected key=value"},
      {"option that is no number", settings("stabilization = \"baumgarte:alpha=@!fast\"\n"),
       "option 'alpha' has the value 'fast'"},

      // Bodies
      {"unknown key", body("mass = 1\n@!colour = 2\n"),
       "unknown key 'colour'; expected one of: name, mass, com, inertia, any_inertia, solid, repeat"},
      {"misspelt key", body("@!mas = 1\n"), "unknown key 'mas'; did you mean 'mass'?"},
      {"body without name", with_base("@![[body]]\nmass = 1\n"), "the body has no 'name'; expected a name"},
      {"body without mass", with_base("@![[body]]\nname = \"x\"\n"), "the body 'x' has no 'mass'; expected mass, or a solid"},
      {"body with a solid without mass", with_base("@![[body]]\nname = \"x\"\nsolid = { shape = \"sphere\", radius = 1 }\n"),
       "the body 'x' has no 'mass'"},
      {"empty name", with_base("[[body]]\nname = @!\"\"\nmass = 1\n"),
       "'' cannot be a name; expected a name: a string that is not empty"},
      {"name with a dot", with_base("[[body]]\nname = @!\"left.bar\"\nmass = 1\n"), "'left.bar' cannot be a name"},
      {"name with a line break", with_base("[[body]]\nname = @!\"a\\nb\"\nmass = 1\n"), "cannot be a name"},
      {"name of wrong type", with_base("[[body]]\nname = @!1\nmass = 1\n"), "'name' is 1; expected a name"},
      {"body called ground", with_base("[[body]]\nname = @!\"ground\"\nmass = 1\n"),
       "'name' is 'ground', the body that does not move"},
      {"duplicate body", with_base("[[body]]\nname = @!\"a\"\nmass = 1\n"),
       "the name 'a' is taken by the body at line 3; expected a name of its own"},
      {"negative mass", body("mass = @!-1\n"), "'mass' is -1; expected a number >= 0"},
      {"NaN mass", body("mass = @!nan\n"), "'mass' is nan; expected a finite number"},
      {"mass of wrong type", body("mass = @![1]\n"),
       "'mass' is an array of 1; expected a number >= 0, or an expression of parameters in quotes"},
      {"mass is a date", body("mass = @!2020-01-01\n"), "'mass' is a date or time; expected a number"},
      {"mass of an unknown parameter", body("mass = \"2*@!m\"\n"), "unknown name 'm'; expected pi"},
      {"mass with a syntax error", body("mass = \"2*(1 + 3@!\"\n"), "the expression ends too early; expected an operator or ')'"},
      {"mass of time", body("mass = \"1 + @!t\"\n"), "'t' cannot be used here"},
      {"com of wrong length", body("mass = 1\ncom = @![1, 2]\n"), "'com' is an array of 2; expected an array of 3 numbers"},
      {"com with a string", body("mass = 1\ncom = [0, \"@!l\", 0]\n"), "unknown name 'l'"},
      {"com with a boolean", body("mass = 1\ncom = [0, @!true, 0]\n"), "'com' is true; expected an array of 3 numbers"},
      {"inertia of wrong length", body("mass = 1\ninertia = @![1, 2]\n"), "'inertia' is an array of 2; expected [xx, yy, zz] or"},
      {"negative inertia", body("mass = 1\ninertia = @![1, 1, -1]\n"), "negative principal moment -1"},
      {"NaN inertia", body("mass = 1\ninertia = [1, @!nan, 1]\n"), "'inertia' is nan; expected a finite number"},
      {"triangle inequality", body("mass = 1\ninertia = @![1, 1, 3]\n"), "no body has the principal moments of inertia 1, 1, 3"},
      {"inertia not positive semidefinite", body("mass = 1\ninertia = @![1, 1, 1, 2, 0, 0]\n"), "negative principal moment -1"},
      {"unknown shape", body("solid = { shape = @!\"cone\" }\n"),
       "unknown solid shape 'cone'; expected one of: rod, cylinder, box, sphere, point"},
      {"solid without shape", body("solid = @!{ mass = 1 }\n"), "the solid has no 'shape'; expected one of: rod"},
      {"solid is a string", body("solid = @!\"rod\"\n"), "'solid' is the string 'rod'; expected a table"},
      {"rod without length", body("solid = { shape = \"rod\", from = [1, 0, 0], to = @![1, 0, 0], mass = 1 }\n"),
       "'to' is the same point as 'from'"},
      {"rod with a radius", body("solid = { shape = \"rod\", to = [1, 0, 0], @!radius = 1 }\n"),
       "'radius' does not apply to shape = \"rod\"; expected it only with shape: cylinder, sphere"},
      {"sphere without radius", body("solid = @!{ shape = \"sphere\", mass = 1 }\n"),
       "the solid has no 'radius'; expected a number > 0"},
      {"sphere with negative radius", body("solid = { shape = \"sphere\", radius = @!-1, mass = 1 }\n"), "'radius' is -1"},
      {"flat box", body("solid = { shape = \"box\", size = [1, @!0, 1], mass = 1 }\n"),
       "'size' is 0; expected an array of 3 numbers > 0"},
      {"density of a point", body("solid = { shape = \"point\", @!density = 1 }\n"),
       "'density' does not apply to shape = \"point\""},
      {"mass and density", body("solid = { shape = \"sphere\", radius = 1, mass = 1, density = @!1 }\n"),
       "both 'mass' and 'density'"},
      {"mass of body and solid", body("mass = @!1\nsolid = { shape = \"sphere\", radius = 1, mass = 1 }\n"),
       "'mass' is given beside a solid with a mass"},
      {"com of body and mass of solid", body("com = @![0, 0, 0]\nsolid = { shape = \"sphere\", radius = 1, density = 1 }\n"),
       "'com' is given beside a solid with a density"},
      {"inertia that overflows", body("solid = @!{ shape = \"rod\", to = [1e200, 0, 0], mass = 1 }\n"), "is not a finite number"},

      // Joints
      {"joint without type", with_base("@![[joint]]\nname = \"x\"\n"),
       "the joint has no 'type'; expected one of: revolute, prismatic"},
      {"misspelt type key", with_base("[[joint]]\nname = \"x\"\n@!tpye = \"weld\"\n"),
       "unknown key 'tpye'; did you mean 'type'?"},
      {"unknown joint type", joint("type = @!\"revolut\"\n"), "unknown joint type 'revolut'; did you mean 'revolute'?"},
      {"joint type of wrong type", joint("type = @!1\n"), "'type' is 1; expected one of: revolute"},
      {"closure type for a joint", joint("type = @!\"distance\"\n"), "unknown joint type 'distance'; expected one of"},
      {"joint without child", with_base("@![[joint]]\nname = \"x\"\ntype = \"weld\"\nparent = { body = \"a\" }\n"),
       "the joint has no 'child'; expected a frame"},
      {"frame is a string",
       with_base("[[joint]]\nname = \"x\"\ntype = \"weld\"\nparent = @!\"ground\"\nchild = { body = \"a\" }\n"),
       "'parent' is the string 'ground'; expected a frame: { body = \"name\", at = [x, y, z] }"},
      {"frame without body",
       with_base("[[joint]]\nname = \"x\"\ntype = \"weld\"\nparent = @!{ at = [0, 0, 0] }\nchild = { body = \"a\" }\n"),
       "the frame has no 'body'"},
      {"frame with unknown key",
       with_base(
           "[[joint]]\nname = \"x\"\ntype = \"weld\"\nparent = { body = \"b\", @!pos = [0, 0, 0] }\nchild = { body = \"a\" }\n"),
       "unknown key 'pos'"},
      {"unknown body",
       with_base("[[joint]]\nname = \"x\"\ntype = \"weld\"\nparent = { body = @!\"gruond\" }\nchild = { body = \"a\" }\n"),
       "unknown body 'gruond'; did you mean 'ground'?"},
      {"rotation given twice",
       with_base("[[joint]]\nname = \"x\"\ntype = \"weld\"\nparent = { body = \"b\", rpy = [0, 0, 0], quat = @![1, 0, 0, 0] "
                 "}\nchild = { body = \"a\" }\n"),
       "both 'rpy' and 'quat'"},
      {"zero quaternion",
       with_base("[[joint]]\nname = \"x\"\ntype = \"weld\"\nparent = { body = \"b\", quat = @![0, 0, 0, 0] }\nchild = { body = "
                 "\"a\" }\n"),
       "'quat' is zero"},
      {"quaternion of wrong length",
       with_base(
           "[[joint]]\nname = \"x\"\ntype = \"weld\"\nparent = { body = \"b\", quat = @![1, 0, 0] }\nchild = { body = \"a\" }\n"),
       "'quat' is an array of 3"},
      {"joint from a body to itself",
       with_base("[[joint]]\nname = \"x\"\ntype = \"weld\"\nparent = { body = \"a\" }\nchild = { body = @!\"a\" }\n"),
       "the joint is between 'a' and itself; expected two different bodies"},
      {"duplicate joint",
       with_base("[[joint]]\nname = @!\"j\"\ntype = \"weld\"\nparent = { body = \"b\" }\nchild = { body = \"a\" }\n"),
       "the name 'j' is taken by the joint at line 12"},
      {"closure with the name of a joint",
       with_base("[[closure]]\nname = @!\"j\"\ntype = \"pin\"\na = { body = \"b\" }\nb = { body = \"a\" }\n"),
       "the name 'j' is taken by the joint"},
      {"zero axis", joint("type = \"revolute\"\naxis = @![0, 0, 0]\n"),
       "'axis' is zero; expected an array of 3 numbers, not all 0"},
      {"axis of wrong length", joint("type = \"revolute\"\naxis = @![0, 1]\n"), "'axis' is an array of 2"},
      {"axis of a spherical joint", joint("type = \"spherical\"\n@!axis = [0, 0, 1]\n"),
       "'axis' does not apply to type = \"spherical\""},
      {"screw without pitch",
       with_base("@![[joint]]\nname = \"x\"\ntype = \"screw\"\nparent = { body = \"b\" }\nchild = { body = \"a\" }\n"),
       "the joint has no 'pitch'"},
      {"zero pitch", joint("type = \"screw\"\npitch = @!0\n"), "'pitch' is 0; expected a number other than 0"},
      {"pitch of a revolute joint", joint("type = \"revolute\"\n@!pitch = 1\n"),
       "'pitch' does not apply to type = \"revolute\"; expected it only with type: screw"},
      {"universal joint with parallel axes", joint("type = \"universal\"\naxis = [1, 0, 0]\naxis2 = @![1, 1, 0]\n"),
       "'axis2' is not perpendicular"},
      {"universal joint without second axis", joint("type = \"universal\"\naxis = @![1, 1, 0]\n"),
       "has no default second axis; expected axis2"},
      {"position of wrong length", joint("type = \"planar\"\nposition = @![1, 2]\n"),
       "'position' is an array of 2; expected an array of 3 numbers: [x, y, angle]"},
      {"number for several coordinates", joint("type = \"cylindrical\"\nposition = @!1\n"),
       "'position' is 1; expected an array of 2 numbers: [angle, z]"},
      {"array for one coordinate", joint("type = \"revolute\"\nposition = @![1]\n"),
       "'position' is an array of 1; expected a number"},
      {"velocity of wrong length", joint("type = \"spherical\"\nvelocity = @![1, 0, 0, 0]\n"),
       "expected an array of 3 numbers: [wx, wy, wz]"},
      {"start quaternion zero", joint("type = \"free\"\nposition = @![0, 0, 0, 0, 0, 0, 0]\n"), "a quaternion that is zero"},
      {"position of a weld", joint("type = \"weld\"\n@!position = 1\n"), "'position' does not apply to type = \"weld\""},
      {"position that is a state", joint("type = \"revolute\"\nposition = \"@!q.j\"\n"), "'q.j' cannot be used here"},
      {"fixed of wrong type", joint("type = \"revolute\"\nfixed = @!1\n"), "'fixed' is 1; expected true or false"},
      {"negative damping", joint("type = \"revolute\"\ndamping = @!-1\n"), "'damping' is -1; expected a number >= 0"},
      {"stiffness of a spherical joint", joint("type = \"spherical\"\n@!stiffness = 1\n"), "'stiffness' does not apply"},
      {"limits in wrong order", joint("type = \"revolute\"\nlimits = @![1, 1]\n"),
       "'limits' is [1, 1]; expected [low, high] with low < high"},
      {"three limits", joint("type = \"revolute\"\nlimits = @![1, 2, 3]\n"), "'limits' is an array of 3"},
      {"start outside the limits", joint("type = \"revolute\"\nlimits = [-1, 1]\nposition = @!2\n"),
       "'position' is 2, outside the limits; expected -1 to 1"},

      // Closures
      {"free closure", pin("type = @!\"free\"\n"), "unknown closure type 'free'"},
      {"closure type of a later version", pin("type = @!\"belt\"\n"), "unknown closure type 'belt'"},
      {"closure between a body and itself",
       with_base("[[closure]]\nname = \"x\"\ntype = \"point\"\na = { body = \"a\" }\nb = { body = @!\"a\" }\n"),
       "between 'a' and itself"},
      {"closure on an unknown body",
       with_base("[[closure]]\nname = \"x\"\ntype = \"point\"\na = { body = \"a\" }\nb = { body = @!\"bb\" }\n"),
       "unknown body 'bb'; did you mean 'b'?"},
      {"distance without length",
       with_base("@![[closure]]\nname = \"x\"\ntype = \"distance\"\na = { body = \"a\" }\nb = { body = \"b\" }\n"),
       "the closure has no 'length'"},
      {"zero distance", pin("type = \"distance\"\nlength = @!0\n"), "'length' is 0; expected a number > 0"},
      {"gear with one joint", with_base("[[closure]]\nname = \"x\"\ntype = \"gear\"\njoints = @![\"j\"]\ncoefficients = [1]\n"),
       "'joints' has fewer than 2 entries"},
      {"gear with a coefficient missing",
       with_base("[[closure]]\nname = \"x\"\ntype = \"gear\"\njoints = [\"j\", \"c.angle\"]\ncoefficients = @![1]\n"),
       "expected 2 numbers, one for each of 'joints'"},
      {"gear on an unknown joint",
       with_base("[[closure]]\nname = \"x\"\ntype = \"gear\"\njoints = [\"j\", @!\"k\"]\ncoefficients = [1, 2]\n"),
       "unknown joint 'k'; expected one of: j, c, w, s"},
      {"gear on a number",
       with_base("[[closure]]\nname = \"x\"\ntype = \"gear\"\njoints = [\"j\", @!2]\ncoefficients = [1, 2]\n"),
       "'joints' contains 2; expected an array of names"},
      {"gear without component",
       with_base("[[closure]]\nname = \"x\"\ntype = \"gear\"\njoints = [\"j\", @!\"c\"]\ncoefficients = [1, 2]\n"),
       "the cylindrical joint 'c' has 2 coordinates; expected one of: c.angle, c.z"},
      {"gear with unknown component",
       with_base("[[closure]]\nname = \"x\"\ntype = \"gear\"\njoints = [\"j\", @!\"c.x\"]\ncoefficients = [1, 2]\n"),
       "the cylindrical joint 'c' has no component 'x'; expected one of: c.angle, c.z"},
      {"drive of a component of one",
       with_base("[[closure]]\nname = \"x\"\ntype = \"drive\"\njoint = @!\"j.angle\"\nvalue = 1\n"),
       "the revolute joint 'j' has no component 'angle'; expected 'j' alone"},
      {"drive of a weld", with_base("[[closure]]\nname = \"x\"\ntype = \"drive\"\njoint = @!\"w\"\nvalue = 1\n"),
       "the weld joint 'w' has no coordinates"},
      {"drive of a quaternion", with_base("[[closure]]\nname = \"x\"\ntype = \"drive\"\njoint = @!\"s.w\"\nvalue = 1\n"),
       "'s.w' is part of a quaternion"},
      {"drive of the state", with_base("[[closure]]\nname = \"x\"\ntype = \"drive\"\njoint = \"j\"\nvalue = \"t + @!q.j\"\n"),
       "'q.j' cannot be used here; expected a function of t"},
      {"expression closure of velocities",
       with_base("[[closure]]\nname = \"x\"\ntype = \"expression\"\nexpression = \"q.j + @!v.j\"\n"),
       "'v.j' cannot be used here"},
      {"expression closure of time only", with_base("[[closure]]\nname = \"x\"\ntype = \"expression\"\nexpression = @!\"t\"\n"),
       "'expression' depends on no joint"},
      {"expression closure on an unknown joint",
       with_base("[[closure]]\nname = \"x\"\ntype = \"expression\"\nexpression = \"q.j - @!q.jj\"\n"),
       "unknown joint 'jj'; did you mean 'j'?"},

      // Forces
      {"unknown force type", with_base("[[force]]\ntype = @!\"gravity\"\n"),
       "unknown force type 'gravity'; expected one of: torque, force"},
      {"torque on an unknown joint", with_base("[[force]]\ntype = \"torque\"\njoint = @!\"theta\"\nvalue = 1\n"),
       "unknown joint 'theta'"},
      {"torque without value", with_base("@![[force]]\ntype = \"torque\"\njoint = \"j\"\n"), "the force has no 'value'"},
      {"torque on a quaternion", with_base("[[force]]\ntype = \"torque\"\njoint = @!\"s.x\"\nvalue = 1\n"),
       "the spherical joint 's' has no component 'x'; expected one of: s.wx, s.wy, s.wz"},
      {"torque of an unknown name", with_base("[[force]]\ntype = \"torque\"\njoint = \"j\"\nvalue = \"-@!k*q.j\"\n"),
       "unknown name 'k'"},
      {"torque of an unknown function", with_base("[[force]]\ntype = \"torque\"\njoint = \"j\"\nvalue = \"@!sine(t)\"\n"),
       "unknown function 'sine'; did you mean 'sin'?"},
      {"torque of an unknown component", with_base("[[force]]\ntype = \"torque\"\njoint = \"j\"\nvalue = \"1 + @!v.c.x\"\n"),
       "the cylindrical joint 'c' has no component 'x'; expected one of: c.angle, c.z"},
      {"torque that is a table", with_base("[[force]]\ntype = \"torque\"\njoint = \"j\"\nvalue = @!{}\n"),
       "'value' is a table; expected a number or an expression of t, q, v and signals"},
      {"spring with negative stiffness",
       with_base("[[force]]\ntype = \"spring\"\na = { body = \"a\" }\nb = { body = \"b\" }\nstiffness = @!-1\nlength = 0\n"),
       "'stiffness' is -1"},
      {"spring without length",
       with_base("@![[force]]\ntype = \"spring\"\na = { body = \"a\" }\nb = { body = \"b\" }\nstiffness = 1\n"),
       "the force has no 'length'; expected a number >= 0"},
      {"spring between a body and itself",
       with_base("[[force]]\ntype = \"spring\"\na = { body = \"a\" }\nb = { body = @!\"a\" }\nstiffness = 1\nlength = 0\n"),
       "the spring is between 'a' and itself"},
      {"damper without damping", with_base("@![[force]]\ntype = \"damper\"\na = { body = \"a\" }\nb = { body = \"b\" }\n"),
       "the force has no 'damping'"},
      {"wrench without force", with_base("@![[force]]\ntype = \"wrench\"\nbody = \"a\"\n"),
       "the wrench has neither 'force' nor 'torque'"},
      {"wrench on the ground", with_base("[[force]]\ntype = \"wrench\"\nbody = @!\"ground\"\nforce = [0, 0, 1]\n"),
       "'body' is the ground"},
      {"wrench in unknown axes", with_base("[[force]]\ntype = \"wrench\"\nbody = \"a\"\nforce = [0, 0, 1]\naxes = @!\"local\"\n"),
       "unknown 'axes' 'local'; expected one of: world, body"},
      {"wrench with two components", with_base("[[force]]\ntype = \"wrench\"\nbody = \"a\"\nforce = @![0, \"t\"]\n"),
       "'force' is an array of 2"},

      // Sensors and ports
      {"sensor on an unknown body", with_base("[[sensor]]\nname = \"x\"\ntype = \"point\"\nbody = @!\"c\"\n"),
       "unknown body 'c'"},
      {"duplicate sensor",
       with_base("[[sensor]]\nname = \"x\"\ntype = \"body\"\nbody = \"a\"\n[[sensor]]\nname = @!\"x\"\ntype = \"body\"\nbody = "
                 "\"a\"\n"),
       "the name 'x' is taken by the sensor"},
      {"sensor of an unknown joint",
       with_base("[[sensor]]\nname = \"x\"\ntype = \"expression\"\nexpression = \"2*@!q.'left crank'\"\n"),
       "unknown joint 'left crank'"},
      {"port called ground", with_base("[[port]]\nname = @!\"ground\"\nbody = \"a\"\n"),
       "'name' is 'ground', which connections use"},

      // Repetition
      {"repeat without end", with_base("[[body]]\nrepeat = @!{ i = [1, 1000000000] }\nname = \"x{i}\"\nmass = 1\n"),
       "1000000003 tables; expected at most 1000000 in all"},
      {"nested repeats without end",
       with_base("[[body]]\nrepeat = @!{ i = [1, 1e9], j = [1, 1e9], k = [1, 1e9] }\nname = \"x{i}\"\nmass = 1\n"),
       "tables; expected at most 1000000 in all"},
      {"repeat of wrong type", with_base("[[body]]\nrepeat = @!3\nname = \"x{i}\"\nmass = 1\n"),
       "'repeat' is 3; expected a table of ranges: { i = [first, last] }"},
      {"repeat without index", with_base("[[body]]\nrepeat = @!{}\nname = \"x\"\nmass = 1\n"), "'repeat' is empty"},
      {"too many indices",
       with_base("[[body]]\nrepeat = @!{ " +
                 [] {
                   std::string indices;
                   for (int i = 0; i < 10'000; ++i) indices += (i == 0 ? "i" : ", i") + std::to_string(i) + " = [1, 1]";
                   return indices;
                 }() +
                 " }\nname = \"x\"\nmass = 1\n"),
       "'repeat' has 10000 indices; expected at most 8"},
      {"range of wrong type", with_base("[[body]]\nrepeat = { i = @!3 }\nname = \"x{i}\"\nmass = 1\n"),
       "the range of 'i' is 3; expected [first, last]"},
      {"range with a fraction", with_base("[[body]]\nrepeat = { i = [1, @!2.5] }\nname = \"x{i}\"\nmass = 1\n"),
       "the range of 'i' has the end 2.5; expected an integer"},
      {"index called t", with_base("[[body]]\nrepeat = { @!t = [1, 2] }\nname = \"x{t}\"\nmass = 1\n"), "'t' cannot be an index"},
      {"index that is a parameter", parameters("i = 1\n[[body]]\nrepeat = { @!i = [1, 2] }\nname = \"x{i}\"\nmass = 1\n"),
       "the index 'i' is also a parameter"},
      {"brace not closed", with_base("[[body]]\nrepeat = { i = [1, 2] }\nname = \"x@!{i\"\nmass = 1\n"), "'{' is not closed"},
      {"unknown name in braces", with_base("[[body]]\nrepeat = { i = [1, 2] }\nname = \"x{i + @!k}\"\nmass = 1\n"),
       "unknown name 'k'"},
      {"fraction in braces", with_base("[[body]]\nrepeat = { i = [1, 2] }\nname = \"x@!{i/2}\"\nmass = 1\n"),
       "{i/2} has the value 0.5; expected an integer (with i = 1)"},
      {"repeated name", with_base("[[body]]\nrepeat = { i = [1, 2] }\nname = @!\"x\"\nmass = 1\n"),
       "the name 'x' is taken by the body at line 33; expected a name of its own (with i = 2)"},
      {"error in a repeated table",
       with_base("[[body]]\nrepeat = { i = [1, 3], j = [1, 2] }\nname = \"x{i}-{j}\"\nmass = @!\"2 - i\"\n"),
       "'mass' is -1; expected a number >= 0 (with i = 3, j = 1)"},

      // Modules and connections
      {"module without file", with_base("@![[module]]\nname = \"m\"\n"), "the module 'm' has neither 'file' nor 'remote'"},
      {"module file missing", with_base("[[module]]\nname = \"m\"\nfile = @!\"none.toml\"\n"),
       "the module's file 'none.toml': cannot be opened: No such file"},
      {"module of itself", with_base("[[module]]\nname = \"m\"\nfile = @!\"model.toml\"\n"),
       "makes the model a module of itself: model.toml -> model.toml"},
      {"unknown parameter of a module",
       with_base("[[module]]\nname = \"m\"\nfile = \"part.toml\"\nparameters = { @!lenght = 1 }\n"),
       "unknown parameter 'lenght'; did you mean 'length'?"},
      {"module parameter of wrong type",
       with_base("[[module]]\nname = \"m\"\nfile = \"part.toml\"\nparameters = { length = @!true }\n"),
       "the parameter 'length' is true; expected a number"},
      {"duplicate module",
       with_base("[[module]]\nname = \"m\"\nfile = \"part.toml\"\n[[module]]\nname = @!\"m\"\nfile = \"part.toml\"\n"),
       "the name 'm' is taken by the module"},
      {"module with the name of a joint", with_base("[[module]]\nname = @!\"c\"\nfile = \"part.toml\"\n"),
       "the name 'c' is taken by the joint"},
      {"unknown port",
       with_base("[[module]]\nname = \"m\"\nfile = \"part.toml\"\n[[connection]]\nname = \"x\"\ntype = \"point\"\na = "
                 "@!\"m.tap\"\nb = \"ground\"\n"),
       "unknown port 'm.tap'; did you mean 'm.tip'?"},
      {"connection of wrong type", with_base("[[connection]]\nname = \"x\"\ntype = @!\"gear\"\na = \"m.tip\"\nb = \"ground\"\n"),
       "unknown connection type 'gear'"},
      {"connection of a frame",
       with_base("[[connection]]\nname = \"x\"\ntype = \"pin\"\na = @!{ body = \"a\" }\nb = \"ground\"\n"),
       "'a' is a table; expected a name"},
      {"connection of one body",
       with_base("[[module]]\nname = \"m\"\nfile = \"part.toml\"\n[[connection]]\nname = \"x\"\ntype = \"point\"\na = "
                 "\"m.tip\"\nb = @!\"m.tail\"\n"),
       "'b' is on 'm.bar', as is 'a'; expected ports on two different bodies"},
      {"connection of the ground with itself",
       with_base("[[connection]]\nname = \"x\"\ntype = \"point\"\na = \"ground\"\nb = @!\"ground\"\n"),
       "'b' is on 'ground', as is 'a'"},
      {"connection with the name of a joint",
       with_base("[[module]]\nname = \"m\"\nfile = \"part.toml\"\n[[connection]]\nname = @!\"j\"\ntype = \"point\"\na = "
                 "\"m.tip\"\nb = \"ground\"\n"),
       "the name 'j' is taken by the joint"},
  };
}

ReadOptions options_with_part() {
  ReadOptions options;
  options.load = [](const std::filesystem::path& file) -> std::string {
    if (file == "part.toml") return kPart;
    return read_text_file(std::filesystem::path("/nonexistent") / file);
  };
  return options;
}

/// "file:line:column" of the marker, which is removed.
std::string take_marker(std::string& text) {
  const std::size_t at = text.find(kMarker);
  text.erase(at, kMarker.size());
  const std::size_t line_start = at == 0 ? 0 : text.rfind('\n', at - 1) + 1;
  const auto line = std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(at), '\n') + 1;
  return "model.toml:" + std::to_string(line) + ":" + std::to_string(at - line_start + 1) + ": ";
}

TEST(BadInputTest, BaseOfTheCasesIsGood) { EXPECT_NO_THROW(read_model_text(kBase, "model.toml")); }

TEST(BadInputTest, NamesOfCasesAreUnique) {
  std::map<std::string, int> count;
  for (const BadInput& c : bad_inputs()) EXPECT_EQ(++count[c.name], 1) << c.name;
  EXPECT_GE(count.size(), 70U);
}

TEST(BadInputTest, EachGivesItsPlaceAndWhatIsWrong) {
  for (BadInput c : bad_inputs()) {
    ASSERT_NE(c.text.find(kMarker), std::string::npos) << c.name;
    const std::string place = take_marker(c.text);
    try {
      read_model_text(c.text, "model.toml", options_with_part());
      ADD_FAILURE() << c.name << ": no error";
    } catch (const InputError& error) {
      EXPECT_THAT(error.what(), StartsWith(place)) << c.name;
      EXPECT_THAT(error.what(), HasSubstr(c.message)) << c.name;
    }
  }
}

TEST(BadInputTest, UnknownParameterOnTheCommandLine) {
  ReadOptions options;
  options.set = {{"lenght", "2"}};
  try {
    read_model_text(kPart, "part.toml", options);
    ADD_FAILURE() << "no error";
  } catch (const InputError& error) {
    EXPECT_STREQ(error.what(), "--set lenght=2: unknown parameter 'lenght'; did you mean 'length'?");
  }
  options.set = {{"length", "2*"}};
  EXPECT_THROW(read_model_text(kPart, "part.toml", options), InputError);
}

TEST(BadInputTest, ErrorInAModuleNamesItsFile) {
  ReadOptions options;
  options.load = [](const std::filesystem::path&) { return "linkwork = 1\n[[body]]\nname = \"bar\"\nmass = -1\n"; };
  try {
    read_model_text("linkwork = 1\n[[module]]\nname = \"m\"\nfile = \"parts/bar.toml\"\n", "models/model.toml", options);
    ADD_FAILURE() << "no error";
  } catch (const InputError& error) {
    EXPECT_STREQ(error.what(), "models/parts/bar.toml:4:8: 'mass' is -1; expected a number >= 0");
  }
}

TEST(BadInputTest, ModulesNestedWithoutEndAreRefused) {
  ReadOptions options;
  options.load = [](const std::filesystem::path& file) {
    return "linkwork = 1\n[[module]]\nname = \"m\"\nfile = \"x" + file.string() + "\"\n";
  };
  try {
    read_model_text("linkwork = 1\n[[module]]\nname = \"m\"\nfile = \"x\"\n", "model.toml", options);
    ADD_FAILURE() << "no error";
  } catch (const InputError& error) {
    EXPECT_THAT(error.what(), HasSubstr("is a module nested too deeply; expected at most 32 levels"));
  }
}

TEST(BadInputTest, ModulesThatMultiplyAreRefused) {
  ReadOptions options;
  options.most_tables = 1000;
  options.load = [](const std::filesystem::path& file) {
    const std::string next = std::to_string(std::stoi(file.string()) + 1);
    return "linkwork = 1\n[[module]]\nrepeat = { i = [1, 10] }\nname = \"m{i}\"\nfile = \"" + next + "\"\n";
  };
  EXPECT_THROW(read_model_text("linkwork = 1\n[[module]]\nname = \"m\"\nfile = \"1\"\n", "model.toml", options), InputError);
}

TEST(BadInputTest, UnreadableFilesSayWhy) {
  const std::filesystem::path folder = std::filesystem::path(testing::TempDir()) / "bad_input_test";
  std::filesystem::create_directories(folder);
  const auto message_of = [](const std::filesystem::path& file) -> std::string {
    try {
      read_model_file(file);
    } catch (const InputError& error) {
      return error.what();
    }
    return "no error";
  };
  const std::string missing = (folder / "missing.toml").string();
  EXPECT_EQ(message_of(missing), missing + ": cannot be opened: No such file or directory; expected a readable file");
  EXPECT_EQ(message_of(folder), folder.string() + ": is a directory; expected a readable file");
  const std::string empty = (folder / "empty.toml").string();
  std::ofstream(empty).close();
  EXPECT_EQ(message_of(empty), empty + ":1:1: the file is empty; expected linkwork = 1 and the model's tables");
  const std::string large = (folder / "large.toml").string();
  std::ofstream(large).close();
  std::filesystem::resize_file(large, (64U << 20U) + 1U);
  EXPECT_EQ(message_of(large), large + ": has more than 64 MB; expected a readable file");
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace linkwork
