#pragma once

#include <complex>
#include <string>
#include <utility>
#include <vector>

#include "linkwork/dynamics/state.h"

namespace linkwork {

using NamedNumbers = std::vector<std::pair<std::string, double>>;

/// Where a mechanism can rest.
struct Equilibrium {
  bool found = false;
  std::string status;     // "found", or why there is none
  int iterations = 0;     // of Newton's method
  double residual = 0.0;  // largest force along a free coordinate, N or N m
  bool stable = false;    // small disturbances do not grow
  State state;
  NamedNumbers q;          // "theta"
  NamedNumbers reactions;  // "force.theta.x"
  NamedNumbers efforts;    // "spring", "load.push.fx"
};

/// xdot = A x + B u, y = C x + D u: small changes about a state. States are independent coordinates, velocities, and the user's
/// states; inputs those of the model that can be set; outputs its sensors.
struct LinearModel {
  std::vector<std::string> states, inputs, outputs;
  MatX<double> A, B, C, D;
  double t = 0.0;
  NamedNumbers q, v;  // where, by joint coordinate

  struct Eigenvalue {
    std::complex<double> value;
    double frequency_hz = 0.0;   // |value| / 2 pi
    double damping_ratio = 0.0;  // - Re / |value|
  };
  std::vector<Eigenvalue> eigenvalues;  // by ascending frequency, then imaginary part
};

/// A natural vibration: its shape by joint coordinate, the largest part of which is 1.
struct Mode {
  double frequency_hz = 0.0, damping_ratio = 0.0;
  std::vector<std::pair<std::string, std::complex<double>>> shape;  // "q.theta"
  /// How bodies move in it, in world axes, for drawing: of the body frame's origin, and turning.
  struct BodyShape {
    std::string body;
    Eigen::Vector3cd moves, turns;
  };
  std::vector<BodyShape> bodies = {};
};

/// What the motors must do along a motion.
struct InverseMotion {
  std::vector<std::string> actuators;  // coordinates
  std::vector<std::string> columns;    // "t", "effort.<joint>", then "q.", "v.", "a." of the actuators
  std::vector<std::vector<double>> rows;
  int freedoms = 0;  // that the drives move
  double largest_effort = 0.0;
  std::vector<std::string> notes;
};

/// How a number that a run ends with changes with parameters and start values.
struct Sensitivities {
  struct Measure {
    std::string name;  // "final(q.theta)"
    double value = 0.0;
    NamedNumbers derivatives;  // by parameter, in the order asked for
  };
  std::vector<Measure> measures;
  std::string method;  // "forward" or "adjoint"
  long steps = 0, events = 0;
  std::vector<std::string> notes;
};

}  // namespace linkwork
