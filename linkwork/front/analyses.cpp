#include "linkwork/front/analyses.h"

#include "linkwork/analysis/equilibrium.h"
#include "linkwork/analysis/inverse_dynamics.h"
#include "linkwork/io/motion_file.h"
#include "linkwork/simulation/design_fit.h"

namespace linkwork {

Equilibrium equilibrium(const Mechanism& mechanism) {
  ReducedMotion motion(mechanism.model());
  return find_equilibrium(mechanism.model(), motion);
}

LinearModel linearize(const Mechanism& mechanism, const std::string& at) {
  ReducedMotion motion(mechanism.model());
  begin_at(at, mechanism.model(), motion);
  return linearize(motion);
}

std::vector<Mode> modes(const Mechanism& mechanism, const std::string& at) {
  ReducedMotion motion(mechanism.model());
  begin_at(at, mechanism.model(), motion);
  return find_modes(motion, linearize(motion));
}

InverseMotion inverse(const Mechanism& mechanism, const std::vector<std::string>& actuators,
                      const std::filesystem::path& motion) {
  if (motion.empty()) return inverse_motion(mechanism.model(), actuators);
  Spec spec = mechanism.spec();
  add_drives(spec, motion, false);
  return inverse_motion(std::make_shared<const Model>(fitted_model(spec)), actuators);
}

}  // namespace linkwork
