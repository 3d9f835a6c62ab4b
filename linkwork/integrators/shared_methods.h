#pragma once

#include "linkwork/dynamics/catalog.h"
#include "linkwork/integrators/shared_equation.h"

namespace linkwork {

// The methods behind make_shared_integrator(); `options` are those of the catalog, complete.
std::unique_ptr<Integrator> make_shared_cvode(const Settings& settings, const Options& options, SharedEquation& equation);
std::unique_ptr<Integrator> make_shared_newmark(const Settings& settings, const Options& options, SharedEquation& equation);
std::unique_ptr<Integrator> make_shared_arkode(const Settings& settings, const Options& options, SharedEquation& equation);

}  // namespace linkwork
