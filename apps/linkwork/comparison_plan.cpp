#include "apps/linkwork/comparison_plan.h"

#include "apps/linkwork/lists.h"
#include "apps/linkwork/methods.h"
#include "linkwork/model/input_error.h"

namespace linkwork::cli {
namespace {

using Text = ComparisonTexts::Text;

double number_or(const Text& text, const char* option, double fallback) {
  return text ? parse_positive(*text, option) : fallback;
}

}  // namespace

ComparisonPlan make_plan(const ComparisonTexts& options, const Settings& settings) {
  ComparisonPlan plan;
  const auto choose = [](const Text& text, const char* option, const std::vector<CatalogInfo>& known, const char* what) {
    return text ? parse_choices(*text, option, known, what) : std::vector<Choice>{};
  };
  plan.coordinates = choose(options.coordinates, "--coordinates", coordinate_choices(), "coordinates");
  plan.formulations = choose(options.formulations, "--formulations", formulation_choices(), "formulation");
  plan.stabilizations = choose(options.stabilizations, "--stabilizations", stabilization_choices(), "stabilization");
  plan.integrators = choose(options.integrators, "--integrators", integrator_choices(), "integrator");
  const bool any = options.coordinates || options.formulations || options.stabilizations || options.integrators;
  if (!any) plan.formulations = parse_choices("all", "--formulations", formulation_choices(), "formulation");
  const double h = settings.step, part = settings.atol / settings.rtol;
  plan.steps = options.steps ? parse_numbers(*options.steps, "--steps") : std::vector<double>{4.0 * h, 2.0 * h, h};
  plan.tolerances = parse_tolerances(options.tolerances.value_or("1e-4,1e-6,1e-8"), "--tolerances", part);
  if (options.every) plan.every = parse_positive(*options.every, "--every");
  if (options.reference) {
    plan.reference = parse_choice(*options.reference, {"--reference", 0, 0});
    find_choice(integrator_choices(), *plan.reference, "integrator");
  }
  plan.reference_rtol = number_or(options.reference_rtol, "--reference-rtol", plan.reference_rtol);
  plan.most_seconds = number_or(options.budget, "--budget", plan.most_seconds);
  return plan;
}

}  // namespace linkwork::cli
