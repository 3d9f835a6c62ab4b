#pragma once

namespace linkwork {

/// A model that uses a little of everything, for tests of the reader and of the schema.
inline constexpr const char* kFourBarText = R"(linkwork = 1
name = "four-bar"

[parameters]
l1 = 1.0

[settings]
gravity = [0, -9.81, 0]
end = 10.0
step = 1e-3
formulation = "auto"
stabilization = "baumgarte:alpha=5,beta=5"
integrator = "rk4"
output_every = 0.01

# The moving links
[[body]]
name = "crank"
mass = 1.0
com = ["l1/2", 0, 0]
inertia = [0.0, 0.08333333333333333, 0.08333333333333333]

[[body]]
name = "coupler"
solid = { shape = "rod", from = [0, 0, 0], to = [4, 0, 0], mass = 4.0 }

[[body]]
name = "rocker"
solid = { shape = "cylinder", to = [2.5, 0, 0], radius = 0.05, density = 7800 }

[[joint]]
name = "theta"
type = "revolute"
parent = { body = "ground", at = [0, 0, 0] }
child  = { body = "crank",  at = [0, 0, 0] }
axis = [0, 0, 1]
position = 1.5708
fixed = true
velocity = 0.0
damping = 0.0

[[joint]]
name = "elbow"
type = "revolute"
parent = { body = "crank", at = ["l1", 0, 0] }
child  = { body = "coupler" }

[[joint]]
name = "swing"
type = "revolute"
parent = { body = "ground", at = [3, 0, 0], rpy = [0, 0, "pi/2"] }
child  = { body = "rocker" }

[[closure]]
name = "cut"
type = "pin"
a = { body = "coupler", at = [4, 0, 0] }
b = { body = "rocker",  at = [2.5, 0, 0] }
axis = [0, 0, 1]

[[force]]
type = "torque"
joint = "theta"
value = 6.0

[[sensor]]
name = "tip"
type = "point"
body = "coupler"
at = [4, 0, 0]

[[port]]
name = "tip"
body = "coupler"
at = [4, 0, 0]
)";

}  // namespace linkwork
