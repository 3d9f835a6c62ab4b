#include "linkwork/modules/assembly_start.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "linkwork/integrators/tableau.h"
#include "linkwork/modules/glues/catalog.h"
#include "linkwork/modules/model_module.h"
#include "linkwork/simulation/assembly.h"
#include "linkwork/transport/text.h"

namespace linkwork {

namespace {

const GlueEntry* find_entry(const std::string& name) {
  const auto found = std::ranges::find(glues(), name, [](const GlueEntry& entry) { return entry.info.name; });
  return found == glues().end() ? nullptr : &*found;
}

/// Settings that only a system in one piece has a use for.
void check_settings(const Settings& settings, const GlueEntry& entry) {
  const auto refuse = [&](const Choice& choice, const std::string& what, const std::string& instead) {
    throw InputError(choice.place, fmt::format("{} '{}' does not go with glue '{}'", what, choice.name, entry.info.name),
                     instead + ", or glue \"none\"");
  };
  if (settings.formulation.name != "auto" && settings.formulation.name != "schur")
    refuse(settings.formulation, "formulation", "'auto' or 'schur', by which modules eliminate their own loops");
  if (settings.coordinates.name != "auto" && settings.coordinates.name != "TA")
    refuse(settings.coordinates, "the choice of coordinates", "'auto' or 'TA'");
  if (entry.traits.own_steps && !entry.traits.uses_tableau) return;
  std::vector<std::string> names;
  for (const Tableau& tableau : tableaus()) names.push_back(tableau.name);
  if (std::ranges::find(names, settings.integrator.name) == names.end())
    refuse(settings.integrator, "integrator", "one of " + listed(names));
}

}  // namespace

Choice chosen_glue(const Spec& spec, std::vector<std::string>& notes) {
  const Choice& choice = spec.settings.glue;
  if (choice.name == "none") return choice;
  if (choice.name == "auto") {
    if (spec.modules.empty()) return {"none", {}, {}};
    try {
      check_settings(spec.settings, glues().front());
      drift_control(spec.settings);
      plan_assembly(spec);
    } catch (const InputError& error) {
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

void start_together(AssemblyPlan& plan, const Spec& spec, Transport& transport, std::unique_ptr<const Model>& model) {
  std::vector<double> values;
  std::string trouble;
  if (transport.rank() == 0) {
    try {
      model = std::make_unique<const Model>(build_model(spec));
      AssemblyReport report;
      const State start = assemble(*model, report);
      values = joint_values(*model, start.q, start.v);
      if (!report.moved.empty()) plan.notes.push_back(describe(report));
      plan.length = model->units.length;
      for (const Body& body : model->bodies) plan.energy += body.mass * model->tree.gravity.norm() * plan.length;
    } catch (const InputError& error) {
      trouble = error.what();
    }
  }
  if (transport.size() > 1) trouble = gather_texts(transport, trouble).front();
  if (!trouble.empty()) throw InputError({}, trouble);
  std::size_t size = 0;
  for (const JointSpec& joint : spec.joints) {
    const JointKind& kind = *find_joint_kind(joint.type);
    size += kind.positions.size() + kind.velocities.size();
  }
  values.resize(size);
  transport.broadcast(values, 0);
  set_start(plan, spec, values);
}

}  // namespace linkwork
