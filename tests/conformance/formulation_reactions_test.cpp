// What joints transmit does not depend on how the equations of motion are solved.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "linkwork/formulations/catalog.h"
#include "linkwork/modules/model_run.h"
#include "tests/support/mechanisms.h"

namespace linkwork {
namespace {

KeptRun first_row(const char* model, const std::string& formulation) {
  Spec spec = test::library_spec(model);
  spec.settings.coordinates = {"TA", {}, {}};
  spec.settings.formulation = {formulation, {}, {}};
  spec.settings.end = spec.settings.step = spec.settings.output_every = 1e-6;
  return run_model(spec);
}

/// `park` integrates its multipliers, and starts with those of the constraints.
TEST(FormulationReactions, AreTheSameInAllThatSolveExactly) {
  for (const char* const model : {"four_bar", "quick_return", "excavator"}) {
    const KeptRun schur = first_row(model, "schur");
    double largest = 0.0;
    for (const std::string& column : schur.columns)
      if (column.starts_with("force.")) largest = std::max(largest, std::abs(schur[column][0]));
    EXPECT_GT(largest, 1.0) << model;
    int compared = 0;
    for (const auto& entry : formulations()) {
      if (entry.traits.gives != Equations::kAcceleration || (!entry.traits.exact && entry.info.name != "park")) continue;
      const KeptRun other = first_row(model, entry.info.name);
      if (other.rows.empty()) continue;  // not all take redundant rows
      ++compared;
      for (const std::string& column : schur.columns) {
        if (!column.starts_with("force.") && !column.starts_with("torque.")) continue;
        EXPECT_LT(std::abs(other[column][0] - schur[column][0]), 1e-7 * largest)
            << model << ", " << entry.info.name << ": " << column;
      }
    }
    EXPECT_GE(compared, 6) << model;
  }
}

}  // namespace
}  // namespace linkwork
