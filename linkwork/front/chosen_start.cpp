#include "linkwork/front/chosen_start.h"

#include <fmt/format.h>

#include <memory>

#include "linkwork/analysis/equilibrium.h"
#include "linkwork/model/input_error.h"
#include "linkwork/simulation/design_fit.h"

namespace linkwork {

static StartState start_at_equilibrium(const Spec& spec) {
  const auto model = std::make_shared<const Model>(fitted_model(spec));
  ReducedMotion motion(model);
  const Equilibrium found = find_equilibrium(model, motion);
  if (!found.found) throw InputError({"--start-at", 0, 0}, found.status, "a model that can rest near its start");
  StartState start{"its equilibrium"};
  for (const auto& [name, value] : found.q) start.values.emplace_back("q." + name, value);
  for (const Joint& joint : model->joints)
    for (const std::string& component : joint.kind->velocities)
      start.values.emplace_back("v." + coordinate_name(joint, component), 0.0);
  for (std::size_t k = 0; k < model->states.size(); ++k)
    start.values.emplace_back("z." + model->states[k].name, found.state.z[static_cast<Eigen::Index>(k)]);
  return start;
}

StartState chosen_start(const std::optional<std::string>& from, const std::optional<std::string>& at, const Spec& spec) {
  if (from && at) throw InputError({"--start-at", 0, 0}, "--start-from is given, too", "one of them");
  if (from) return read_start_state(*from);
  if (!at) return {};
  if (*at != "equilibrium") throw InputError({"--start-at", 0, 0}, fmt::format("is '{}'", *at), "equilibrium");
  return start_at_equilibrium(spec);
}

}  // namespace linkwork
