#pragma once

#include <memory>

#include "linkwork/dynamics/integrator.h"
#include "linkwork/integrators/tableau.h"

namespace linkwork {

/// It works on whatever has rates; the tableau must outlive it.
std::unique_ptr<Integrator> make_runge_kutta(const Tableau& tableau);

}  // namespace linkwork
