#include "linkwork/modules/settings_check.h"

#include <fmt/format.h>

#include "linkwork/dynamics/catalog.h"
#include "linkwork/formulations/catalog.h"
#include "linkwork/integrators/catalog.h"
#include "linkwork/modules/glues/catalog.h"
#include "linkwork/simulation/coordinate_choice.h"
#include "linkwork/stabilizations/catalog.h"

namespace linkwork {

void check_settings(const Settings& settings) {
  constexpr double kMostSteps = 1e12, kMostRows = 1e9;  // slips of the exponent would look like a program that hangs
  find_choice(coordinate_choices(), settings.coordinates, "coordinates");
  find_choice(formulation_choices(), settings.formulation, "formulation");
  find_choice(catalog_infos(stabilizations()), settings.stabilization, "stabilization");
  find_choice(catalog_infos(integrators()), settings.integrator, "integrator");
  find_choice(glue_choices(), settings.glue, "glue");
  if (settings.end / settings.step > kMostSteps)
    throw InputError({}, fmt::format("{} s in steps of {} s are more than {:.0e} steps", settings.end, settings.step, kMostSteps),
                     "a shorter time or a larger step");
  if (settings.end / settings.output_every > kMostRows)
    throw InputError(
        {}, fmt::format("{} s written every {} s are more than {:.0e} rows", settings.end, settings.output_every, kMostRows),
        "a shorter time or a larger interval");
}

}  // namespace linkwork
