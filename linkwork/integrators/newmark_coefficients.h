#pragma once

#include "linkwork/dynamics/catalog.h"
#include "linkwork/model/spec.h"

namespace linkwork {

/// Of the methods of Newmark's family, with the acceleration-like a:
///   (1)  q1 = q0 (+) d,   d = h v0 + h^2 (1/2 - beta) a0 + h^2 beta a1
///   (2)  v1 = v0 + h (1 - gamma) a0 + h gamma a1
///   (3)  (1 - am) a1 + am a0 = (1 - af) vdot1 + af vdot0
struct NewmarkCoefficients {
  double am, af, beta, gamma;
};

/// Whether an integrator of the catalog is one of them.
bool is_of_newmark_family(const std::string& integrator);
/// By its option rho: what is left of the highest frequencies after a step.
NewmarkCoefficients newmark_coefficients(const std::string& integrator, const Options& options);

}  // namespace linkwork
