#include "linkwork/modules/assembly_start.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "linkwork/formulations/catalog.h"
#include "linkwork/integrators/newmark_coefficients.h"
#include "linkwork/integrators/shared_equation.h"
#include "linkwork/integrators/tableau.h"
#include "linkwork/modules/glues/catalog.h"
#include "linkwork/modules/model_module.h"
#include "linkwork/simulation/assembly.h"
#include "linkwork/simulation/mechanism_watch.h"
#include "linkwork/transport/text.h"

namespace linkwork {

namespace {

const GlueEntry* find_entry(const std::string& name) {
  const auto found = std::ranges::find(glues(), name, [](const GlueEntry& entry) { return entry.info.name; });
  return found == glues().end() ? nullptr : &*found;
}

[[noreturn]] void refuse(const Choice& choice, const std::string& what, const GlueEntry& entry, const std::string& why,
                         const std::string& instead) {
  throw InputError(choice.place, fmt::format("{} '{}' does not go with glue '{}', {}", what, choice.name, entry.info.name, why),
                   instead + ", or glue \"none\"");
}

/// How modules may find their accelerations.
void check_formulation(const Settings& settings, const GlueEntry& entry) {
  const Choice &formulation = settings.formulation, &coordinates = settings.coordinates;
  const bool asked = formulation.name != "auto" && formulation.name != "schur";
  const bool embeds = coordinates.name == "CE";
  if (entry.traits.solves_modules && asked)
    refuse(formulation, "formulation", entry, "which solves the modules' equations itself", "formulation 'auto'");
  if (entry.traits.solves_modules && (embeds || coordinates.name == "FA"))
    refuse(coordinates, "the choice of coordinates", entry, "which chooses them itself", "coordinates 'auto' or 'TA'");
  if (!asked) return;
  if (embeds)
    throw InputError(formulation.place,
                     fmt::format("with coordinates 'CE' no constraints are left for the formulation '{}'", formulation.name),
                     "the formulation 'auto', or the coordinates 'TA' or 'FA'");
  if (chosen_entry(formulations(), formulation, "formulation").traits.gives != Equations::kAcceleration)
    refuse(formulation, "formulation", entry, "which joins accelerations",
           "a formulation that gives accelerations, such as schur");
  if (formulation.name == "gauss-ga")  // a search at random
    refuse(formulation, "formulation", entry, "since its answer is not linear in the forces between modules",
           "another formulation, such as schur");
}

}  // namespace

void check_integrator(const Settings& settings, const GlueEntry& entry) {
  if (entry.traits.own_steps && !entry.traits.uses_tableau) return;
  const Choice& integrator = settings.integrator;
  std::vector<std::string> names;
  for (const Tableau& tableau : tableaus()) names.push_back(tableau.name);
  if (!entry.traits.own_steps)
    for (const std::string& name : shared_integrators()) names.push_back(name);
  if (std::ranges::find(names, integrator.name) != names.end()) return;
  if (entry.traits.own_steps)
    refuse(integrator, "integrator", entry, "which takes the stages of a Runge-Kutta method", "one of " + listed(names));
  refuse(integrator, "integrator", entry, "as it solves the residual of the whole",
         fmt::format("one of {}; for stiff modules cvode-bdf or arkode", listed(names)));
}

namespace {

/// What is better off in one piece unless a glue is asked for.
void prefer_one_piece(const Settings& settings) {
  if (is_of_newmark_family(settings.integrator.name))
    throw InputError(
        settings.integrator.place,
        fmt::format("integrator '{}' solves them there with their multipliers; glue \"hierarchical\" would step them by "
                    "their accelerations",
                    settings.integrator.name));
}

/// Settings that only a system in one piece has a use for.
void check_settings(const Settings& settings, const GlueEntry& entry) {
  check_formulation(settings, entry);
  check_integrator(settings, entry);
}

}  // namespace

Choice chosen_glue(const Spec& spec, std::vector<std::string>& notes) {
  const Choice& choice = spec.settings.glue;
  if (choice.name == "none") return choice;
  if (choice.name == "auto") {
    if (spec.modules.empty()) return {"none", {}, {}};
    try {
      check_settings(spec.settings, glues().front());
      prefer_one_piece(spec.settings);
      plan_assembly(spec);
    } catch (const InputError& error) {
      if (remote_modules(spec) != nullptr) throw;
      const std::string& why = error.message();
      notes.push_back(fmt::format("the modules are solved in one piece: {}", why.substr(0, why.find("; expected "))));
      return {"none", {}, {}};
    }
    return {glues().front().info.name, {}, {}};
  }
  const GlueEntry* const entry = find_entry(choice.name);
  if (spec.modules.empty())
    throw InputError(choice.place, fmt::format("there is nothing for glue '{}' to join: the model has no modules", choice.name),
                     "glue \"none\"");
  if (entry) check_settings(spec.settings, *entry);
  return choice;
}

void start_together(AssemblyPlan& plan, const Spec& spec, Transport& transport) {
  std::vector<double> values;
  std::string trouble;
  if (transport.rank() == 0) {
    try {
      const auto model = std::make_shared<const Model>(build_model(spec));
      AssemblyReport report;
      const State start = assemble(*model, report);
      values = joint_values(*model, start.q, start.v);
      if (!report.moved.empty()) plan.notes.push_back(describe(report));
      plan.length = model->units.length;
      double mass = 0.0;
      for (const Body& body : model->bodies) mass += body.mass;
      plan.energy = mass * model->tree.gravity.norm() * plan.length;
      plan.weight = mass * std::max(model->tree.gravity.norm(), model->units.rate > 0.0 ? 0.0 : plan.length);
      plan.watched = MechanismWatch::is_needed(*model);
      plan.whole = model;
    } catch (const InputError& error) {
      trouble = error.what();
    }
  }
  trouble = said_by_first(transport, trouble);
  if (!trouble.empty()) throw InputError({}, trouble);
  std::size_t size = 0;
  for (const JointSpec& joint : spec.joints) {
    const JointKind& kind = *find_joint_kind(joint.type);
    size += kind.positions.size() + kind.velocities.size();
  }
  values.resize(size);
  values.insert(values.end(), {plan.length, plan.energy, plan.weight, plan.watched ? 1.0 : 0.0});
  transport.broadcast(values, 0);
  plan.length = values[size], plan.energy = values[size + 1], plan.weight = values[size + 2];
  plan.watched = values[size + 3] != 0.0;
  if (!spec.settings.tolerance_in_metres)  // what it is relative to is that of one piece
    plan.settings.constraint_tolerance = spec.settings.constraint_tolerance * std::max(kShortestDistance, plan.length);
  set_start(plan, spec, values);
}

}  // namespace linkwork
