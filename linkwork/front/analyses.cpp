#include "linkwork/front/analyses.h"

#include <fmt/format.h>

#include "linkwork/analysis/equilibrium.h"
#include "linkwork/analysis/inverse_dynamics.h"
#include "linkwork/analysis/sensitivity.h"
#include "linkwork/front/mechanism_parts.h"
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

std::vector<Mode> modes(const Mechanism& mechanism, const std::string& at, int count) {
  if (count < 0) throw InputError({}, fmt::format("the count of modes is {}", count), "a positive number, or 0 for all");
  ReducedMotion motion(mechanism.model());
  begin_at(at, mechanism.model(), motion);
  return find_modes(motion, linear_terms(motion), count);
}

InverseMotion inverse(const Mechanism& mechanism, const std::vector<std::string>& actuators, const std::filesystem::path& motion,
                      const RunOptions& options, const std::function<bool()>& go_on) {
  Spec spec = mechanism.spec();
  apply(options, spec.settings);
  if (!motion.empty()) add_drives(spec, motion, options.end.has_value());
  return inverse_motion(std::make_shared<const Model>(fitted_model(spec)), actuators, go_on);
}

Sensitivities sensitivity(const Mechanism& mechanism, const SensitivityRequest& request, const RunOptions& options,
                          const std::function<bool()>& go_on) {
  const ModelOrigin* const origin = mechanism.parts().origin.get();
  if (origin == nullptr)
    throw InputError({}, "forces and modules of a program have no parameters", "a model that is in files or in a text");
  const auto read = [&](const ModelOrigin& from) {
    Spec spec = from.read();
    apply(options, spec.settings);
    return spec;
  };
  const auto read_with = [&](const std::string& name, double value) {
    ModelOrigin changed = *origin;
    std::erase_if(changed.set, [&](const auto& each) { return each.first == name; });
    changed.set.emplace_back(name, fmt::format("{}", value));
    return read(changed);
  };
  const Spec spec = read(*origin);
  return find_sensitivities(spec, request.measures, request.parameters, request.starts, request.method,
                            parameters_of(spec, {.set = origin->set}), read_with, go_on);
}

Sensitivities sensitivity(const std::filesystem::path& file, const SensitivityRequest& request, const Parameters& parameters) {
  return sensitivity(load(file, parameters), request);
}

}  // namespace linkwork
