#include "linkwork/front/analyses.h"

#include <fmt/format.h>

#include "linkwork/analysis/equilibrium.h"
#include "linkwork/analysis/inverse_dynamics.h"
#include "linkwork/analysis/sensitivity.h"
#include "linkwork/import/robot_file.h"
#include "linkwork/io/model_parameters.h"
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

InverseMotion inverse(const Mechanism& mechanism, const std::vector<std::string>& actuators, const std::filesystem::path& motion,
                      const RunOptions& options, const std::function<bool()>& go_on) {
  Spec spec = mechanism.spec();
  apply(options, spec.settings);
  if (!motion.empty()) add_drives(spec, motion, options.end.has_value());
  return inverse_motion(std::make_shared<const Model>(fitted_model(spec)), actuators, go_on);
}

Sensitivities sensitivity(const std::filesystem::path& file, const SensitivityRequest& request, const Parameters& parameters) {
  ReadOptions reading;
  for (const auto& [name, value] : parameters) reading.set.emplace_back(name, value.text);
  const Spec spec = read_any_model(file, {}, reading);
  return find_sensitivities(spec, request.measures, request.parameters, request.starts, request.method,
                            parameters_of(spec, reading), [&](const std::string& name, double value) {
                              ReadOptions changed = reading;
                              std::erase_if(changed.set, [&](const auto& each) { return each.first == name; });
                              changed.set.emplace_back(name, fmt::format("{}", value));
                              return read_any_model(file, {}, changed);
                            });
}

}  // namespace linkwork
