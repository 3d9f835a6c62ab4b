#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "studies/catalog.h"
#include "studies/four_bar_distributed/parts.h"

namespace linkwork::studies {
namespace four_bar_distributed {

Spec four_bar(const StudyContext& context, const std::string& glue) {
  Spec spec = ready_model(context, "four_bar_modules", context.quick ? 2.0 : 10.0);
  spec.settings.stabilization = {"none", {}, {}};
  spec.settings.coordinates = {"TA", {}, {}};
  spec.settings.output_every = 0.02;
  spec.settings.glue = parse_choice(glue, {});
  return spec;
}

int workers(const StudyContext& context) { return context.quick ? 1 : 2; }

std::string compliance(double k) { return fmt::format("compliance:damping=0,stiffness={:g}", k); }
std::string projection(double sigma) { return fmt::format("projection:sigma={:g}", sigma); }

double largest(const std::vector<double>& values) {
  double result = 0.0;
  for (const double value : values) result = std::max(result, std::abs(value));
  return result;
}

std::vector<double> visible(std::vector<double> values) {
  for (double& value : values) value = std::max(std::abs(value), 1e-17);
  return values;
}

}  // namespace four_bar_distributed

namespace {

StudyResult run_four_bar_distributed(StudyContext& context) {
  StudyResult result;
  four_bar_distributed::fixed_steps(context, result);
  four_bar_distributed::adaptive_steps(context, result);
  four_bar_distributed::arrangements(context, result);
  four_bar_distributed::operations(context, result);
  return result;
}

}  // namespace

Study four_bar_distributed_study() {
  return {{"four-bar-distributed", "Modular and distributed forward dynamics of a four-bar",
           "compliance and projection between two modules: errors, steps, operations", "Khan2006",
           "W. A. Khan, C. P. Tang, V. N. Krovi: Modular and distributed forward dynamic simulation of constrained mechanical "
           "systems, 2007"},
          run_four_bar_distributed};
}

}  // namespace linkwork::studies
