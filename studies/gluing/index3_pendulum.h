#pragma once

#include <Eigen/Dense>
#include <vector>

namespace linkwork::studies::gluing {

/// A pendulum of 1 kg on a rod of 1 m in Cartesian coordinates, released level:
///   x'' = -x lambda,   y'' = -g - y lambda,   (x^2 + y^2 - 1)/2 = 0,
/// integrated as it stands, of index 3, with the method's own accelerations and multipliers kept.
struct PendulumState {
  Eigen::Vector2d q{1.0, 0.0}, v{0.0, 0.0}, a{0.0, -9.81};
  double lambda = 0.0;
};

/// The same by the angle, with errors far below those to be judged.
PendulumState exact_pendulum(double t);

/// Newmark's method with beta = 1/4, gamma = 1/2 (rho = 1), or generalized-alpha, which leaves rho of the highest frequencies.
std::vector<PendulumState> newmark_pendulum(double step, double end);
std::vector<PendulumState> generalized_alpha_pendulum(double rho, double step, double end);

/// One step of a backward differentiation formula of order k, from exact values at t, t - h, t - 2h, ... to t + h/2: a step that
/// was halved, as by error control.
PendulumState bdf_step(int k, double t, double h);

}  // namespace linkwork::studies::gluing
