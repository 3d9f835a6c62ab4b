#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <memory>
#include <string>
#include <system_error>

#include "apps/linkwork/commands.h"
#include "apps/linkwork/terminal.h"
#include "linkwork/model/input_error.h"

namespace linkwork::cli {
namespace {

constexpr const char* kNewFooter =
    R"(The model is a four-bar linkage that runs at once, with comments on what to change. An existing file is never replaced.

Example:
  linkwork new my_linkage
  linkwork run my_linkage.toml)";

/// Braces are doubled where TOML needs them: the text is a format string.
constexpr const char* kStarter = R"(# A four-bar linkage: a motor turns the crank, the coupler moves the rocker to and fro.
#
#          B o-------------o C        crank A-B, coupler B-C, rocker D-C
#           /   coupler     \
#    crank /                 \ rocker
#       A o                   o D     x to the right, y up, z towards you; SI units, radians
#
# Run it:       linkwork run {0}.toml
# Look at it:   linkwork check {0}.toml
# Change it:    linkwork run {0}.toml --set crank=0.2 --set torque=1

linkwork = 1
name = "{0}"

[parameters]               # names for use in every number written as a string
ground = 1.0               # distance A-D, m
crank = 0.3
coupler = 0.9
rocker = 0.7
torque = 2.0               # of the motor, N m

[settings]                 # each can be overridden on the command line
gravity = [0, -9.81, 0]
end = 5.0
step = 1e-3
output_every = 0.01
formulation = "auto"       # linkwork list formulations
stabilization = "projection"
integrator = "rk4"

# Bodies. A uniform rod gives mass, centre of mass and inertia; or write them: mass, com, inertia.

[[body]]
name = "crank"
solid = {{ shape = "rod", from = [0, 0, 0], to = ["crank", 0, 0], mass = 1.0 }}

[[body]]
name = "coupler"
solid = {{ shape = "rod", from = [0, 0, 0], to = ["coupler", 0, 0], mass = 2.0 }}

[[body]]
name = "rocker"
solid = {{ shape = "rod", from = [0, 0, 0], to = ["rocker", 0, 0], mass = 1.5 }}

# Joints. A frame of the child moves relative to a frame of the parent. Start values need only be near: they are corrected until
# the loop closes, except those with fixed = true.

[[joint]]
name = "A"
type = "revolute"
parent = {{ body = "ground", at = [0, 0, 0] }}
child = {{ body = "crank", at = [0, 0, 0] }}
axis = [0, 0, 1]
position = "pi/2"
fixed = true
damping = 0.1              # of the bearing, N m s

[[joint]]
name = "B"
type = "revolute"
parent = {{ body = "crank", at = ["crank", 0, 0] }}
child = {{ body = "coupler", at = [0, 0, 0] }}
axis = [0, 0, 1]
position = -1.2            # relative to the crank

[[joint]]
name = "D"
type = "revolute"
parent = {{ body = "ground", at = ["ground", 0, 0] }}
child = {{ body = "rocker", at = [0, 0, 0] }}
axis = [0, 0, 1]
position = 1.6

# The loop is closed by a pin: two rows, enough in a plane. Its force is in the columns force.C.x, .y, .z.

[[closure]]
name = "C"
type = "pin"
a = {{ body = "coupler", at = ["coupler", 0, 0] }}
b = {{ body = "rocker", at = ["rocker", 0, 0] }}
axis = [0, 0, 1]

# Forces: numbers or expressions of t, q.<joint> and v.<joint>.

[[force]]
type = "torque"
joint = "A"
value = "torque"

# Sensors are further columns: here p.middle.x, .y, .z, the path of a point of the coupler.

[[sensor]]
name = "middle"
type = "point"
body = "coupler"
at = ["coupler/2", 0.2, 0]
)";

void check_name(const std::string& name) {
  const auto is_good = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
  };
  if (name.empty() || name.front() == '-' || !std::all_of(name.begin(), name.end(), is_good))
    throw InputError({}, fmt::format("'{}' cannot be the name of a new model", name), "letters, digits, _ and -; .toml is added");
}

int write_starter(const std::string& name) {
  check_name(name);
  const std::string file = name + ".toml";
  std::unique_ptr<std::FILE, int (*)(std::FILE*)> stream(std::fopen(file.c_str(), "wbx"), &std::fclose);
  if (!stream) {
    throw InputError({file, 0, 0},
                     errno == EEXIST ? "exists already" : "cannot be written: " + std::generic_category().message(errno),
                     errno == EEXIST ? "a new name" : "a folder that can be written to");
  }
  fmt::print(stream.get(), fmt::runtime(kStarter), name);
  if (std::fclose(stream.release()) != 0) throw std::system_error(errno, std::generic_category(), file);
  print("wrote {0}; now: linkwork run {0}\n", file);
  return kDone;
}

}  // namespace

Command new_command(CLI::App& program) {
  CLI::App* const app = program.add_subcommand("new", "Writes a commented starter model, NAME.toml.");
  const auto name = std::make_shared<std::string>();
  app->add_option("NAME", *name, "name of the model: letters, digits, _ and -")->required()->type_name("");
  app->footer(kNewFooter);
  return {app, [name] { return write_starter(*name); }};
}

}  // namespace linkwork::cli
