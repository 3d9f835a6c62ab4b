#pragma once

#include <optional>
#include <string>

#include "linkwork/simulation/comparison.h"

namespace linkwork::cli {

/// What is to be compared, as texts: lists with commas between.
struct ComparisonTexts {
  using Text = std::optional<std::string>;
  Text end, every;
  Text coordinates, formulations, stabilizations, integrators, steps, tolerances;
  Text reference, reference_rtol, budget;
};

/// Throws InputError that names the option. What is not given is as the settings have it; without any list of methods, all
/// formulations are compared.
ComparisonPlan make_plan(const ComparisonTexts& texts, const Settings& settings);

}  // namespace linkwork::cli
