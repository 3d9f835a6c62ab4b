#pragma once

#include <cmath>

namespace linkwork {

/// Coulomb friction in a joint, rounded off below this speed (rad/s or m/s) so that it can be integrated.
inline constexpr double kFrictionSpeed = 1e-2;

/// The force that opposes the speed.
inline double coulomb_force(double friction, double speed) { return -friction * std::tanh(speed / kFrictionSpeed); }

}  // namespace linkwork
