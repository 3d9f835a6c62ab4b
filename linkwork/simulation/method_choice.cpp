#include "linkwork/simulation/method_choice.h"

#include <fmt/format.h>

#include <algorithm>

#include "linkwork/formulations/catalog.h"
#include "linkwork/integrators/catalog.h"
#include "linkwork/simulation/coordinate_choice.h"
#include "linkwork/stabilizations/catalog.h"

namespace linkwork {

Choice fitting_stabilization(const Choice& formulation, const Choice& wanted, std::vector<std::string>& notes) {
  const auto& traits = chosen_entry(stabilizations(), wanted, "stabilization").traits;
  const bool lives_on_errors = chosen_entry(formulations(), formulation, "formulation").traits.lives_on_errors;
  if (!lives_on_errors || !(traits.holds_positions || traits.holds_velocities)) return wanted;
  const std::string why =
      fmt::format("formulation '{}' computes forces from the constraint errors, and stabilization '{}' takes these away",
                  formulation.name, wanted.name);
  if (!wanted.place.file.empty()) throw InputError(wanted.place, why, "stabilization 'none' with it");
  notes.push_back("stabilization 'none' was chosen: " + why);
  return {"none", {}, {}};
}

namespace {

bool takes(const Integrator::Traits& integrator, Equations equations) {
  return std::ranges::find(integrator.takes, equations) != integrator.takes.end();
}

/// An integrator must be able to do something with what the formulation gives.
void check_capabilities(const CatalogEntry<Formulation>& formulation, const CatalogEntry<Integrator>& integrator,
                        const Place& place) {
  if (takes(integrator.traits, formulation.traits.gives)) return;
  std::vector<std::string> partners, alternatives;
  for (const auto& entry : integrators())
    if (takes(entry.traits, formulation.traits.gives)) partners.push_back(entry.info.name);
  for (const auto& entry : formulations())
    if (takes(integrator.traits, entry.traits.gives)) alternatives.push_back(entry.info.name);
  const bool is_dae = formulation.traits.gives != Equations::kAcceleration;
  throw InputError(
      place,
      fmt::format("formulation '{}' gives {}, which integrator '{}' does not take", formulation.info.name,
                  is_dae ? "the residual of a differential-algebraic equation" : "accelerations", integrator.info.name),
      fmt::format("one of the integrators {}, or with '{}' one of the formulations {}", listed(partners), integrator.info.name,
                  listed(alternatives)));
}

/// Embedded loops leave an ordinary differential equation.
void check_embedding(const Settings& settings, const CatalogEntry<Integrator>& integrator) {
  if (settings.formulation.name != "auto")
    throw InputError(
        settings.formulation.place,
        fmt::format("with coordinates 'CE' no constraints are left for the formulation '{}'", settings.formulation.name),
        "the formulation 'auto', or the coordinates 'TA' or 'FA'");
  if (!takes(integrator.traits, Equations::kAcceleration))
    throw InputError(
        settings.integrator.place,
        fmt::format("coordinates 'CE' give accelerations, which integrator '{}' does not take", integrator.info.name),
        "the coordinates 'TA' or 'FA', or an integrator of ordinary differential equations");
}

/// Rows that stand at velocity level or come and go are neither embedded nor part of a differential-algebraic equation.
void check_permanent(const Model& model, const std::string& method, const Place& place, const std::string& instead) {
  for (const ConstraintRow& row : model.rows)
    if (!row.is_permanent())
      throw InputError(place,
                       fmt::format("{} cannot be used with '{}', which {}", method, row.closure,
                                   row.switched ? "comes and goes" : "constrains velocities only"),
                       instead);
}

}  // namespace

EmbeddingChoice all_loops_embedded(const Model& model) {
  const Choice& coordinates = model.settings.coordinates;
  const std::vector<CatalogInfo> known = coordinate_choices();
  const Options options = complete_options(known[find_choice(known, coordinates, "coordinates")], coordinates);
  check_permanent(model, "coordinates 'CE'", coordinates.place, "the coordinates 'TA' or 'FA'");
  EmbeddingChoice all = embed_all(model);
  all.analytic = options.at("analytic") != 0.0;
  return all;
}

namespace {

/// Which loops are embedded; nothing if all are cut. "auto" leaves constraints to methods that were asked for and need them.
std::optional<EmbeddingChoice> chosen_embedding(const Model& model, const State& start,
                                                const CatalogEntry<Integrator>& integrator) {
  const Settings& settings = model.settings;
  const std::vector<CatalogInfo> known = coordinate_choices();
  complete_options(known[find_choice(known, settings.coordinates, "coordinates")], settings.coordinates);
  if (model.row_count() == 0) return {};
  if (settings.coordinates.name == "CE") {
    check_embedding(settings, integrator);
    return all_loops_embedded(model);
  }
  const bool is_open = settings.coordinates.name == "auto" && settings.formulation.name == "auto";
  if (!is_open || !takes(integrator.traits, Equations::kAcceleration)) return {};
  const CoordinateCosts costs = predict_costs(model, start);
  if (std::ranges::count(costs.embed, 0) == std::ssize(costs.embed)) return {};
  return EmbeddingChoice{costs.embed};
}

Choice chosen_formulation(const Model& model, const State& start, std::span<const Equations> takes,
                          std::vector<std::string>& notes) {
  if (model.settings.formulation.name != "auto") return model.settings.formulation;
  System system(model);
  system.update(start);
  const AutoFormulation chosen = choose_formulation(system, takes);
  if (!chosen.usual) notes.push_back(fmt::format("formulation '{}' was chosen: {}", chosen.choice.name, chosen.reason));
  return chosen.choice;
}

}  // namespace

MethodChoice choose_methods(const Model& model, const State& start, bool is_free) {
  const Settings& settings = model.settings;
  const auto& stepping = chosen_entry(integrators(), settings.integrator, "integrator");
  MethodChoice chosen;
  chosen.embedding = chosen_embedding(model, start, stepping);
  chosen.formulation = {"schur", {}, {}};  // which the embedding of loops is a part of
  chosen.stabilization = settings.stabilization;
  if (!chosen.embedding) {
    chosen.formulation = chosen_formulation(model, start, stepping.traits.takes, chosen.notes);
    find_choice(formulation_choices(), chosen.formulation, "formulation");  // names "auto" too if it is none
    const auto& solving = chosen_entry(formulations(), chosen.formulation, "formulation");
    check_capabilities(solving, stepping, chosen.formulation.place);
    if (solving.traits.gives != Equations::kAcceleration)
      check_permanent(model, fmt::format("formulation '{}'", chosen.formulation.name), chosen.formulation.place,
                      "a formulation that gives accelerations, and an integrator that takes them");
    if (solving.traits.gives != Equations::kAcceleration && !model.states.empty())
      throw InputError(chosen.formulation.place,
                       fmt::format("formulation '{}' with integrator '{}' does not integrate [[state]], of which '{}' is one",
                                   chosen.formulation.name, settings.integrator.name, model.states.front().name),
                       "an integrator of accelerations, such as rk4, dopri45 or cvode-bdf");
    chosen.exact = solving.traits.exact;
    chosen.stabilization = fitting_stabilization(chosen.formulation, settings.stabilization, chosen.notes);
  }
  const bool embeds_all = chosen.embedding && std::ranges::count(chosen.embedding->embed, 0) == 0;
  chosen.coordinates = is_free ? "FA" : embeds_all ? "CE" : chosen.embedding ? "hybrid" : "TA";
  return chosen;
}

std::unique_ptr<EquationsOfMotion> make_equations(const Model& model, const MethodChoice& methods) {
  std::unique_ptr<Formulation> solver;
  Equations gives = Equations::kAcceleration;
  if (methods.embedding) {
    solver = make_embedding(model, *methods.embedding);
  } else {
    const auto& solving = chosen_entry(formulations(), methods.formulation, "formulation");
    gives = solving.traits.gives;
    solver = solving.make(model, complete_options(solving.info, methods.formulation));
  }
  return std::make_unique<EquationsOfMotion>(model, std::move(solver),
                                             make_chosen(stabilizations(), methods.stabilization, "stabilization", model), gives);
}

}  // namespace linkwork
