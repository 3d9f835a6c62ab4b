#pragma once

#include <complex>
#include <string>
#include <utility>
#include <vector>

#include "linkwork/analysis/reduced_motion.h"

namespace linkwork {

/// xdot = A x + B u, y = C x + D u: small changes about a state. States are independent coordinates, velocities, and the user's
/// states; inputs those of the model that can be set; outputs its sensors.
struct LinearModel {
  std::vector<std::string> states, inputs, outputs;
  MatX<double> A, B, C, D;
  double t = 0.0;
  std::vector<std::pair<std::string, double>> q, v;  // where, by joint coordinate

  struct Eigenvalue {
    std::complex<double> value;
    double frequency_hz = 0.0;   // |value| / 2 pi
    double damping_ratio = 0.0;  // - Re / |value|
  };
  std::vector<Eigenvalue> eigenvalues;  // by ascending frequency, then imaginary part
};

/// About a state that meets the constraints. By central differences of fourth order along states that meet them exactly: errors
/// are near 1e-11 of the largest terms.
LinearModel linearize(ReducedMotion& motion);

/// A natural vibration: its shape by joint coordinate, as parts of a complex number, the largest of which is 1.
struct Mode {
  double frequency_hz = 0.0, damping_ratio = 0.0;
  std::vector<std::pair<std::string, std::complex<double>>> shape;  // "q.theta"
};

/// Of a linear model about rest: one of each pair of eigenvalues, ascending.
std::vector<Mode> find_modes(ReducedMotion& motion, const LinearModel& linear);

}  // namespace linkwork
