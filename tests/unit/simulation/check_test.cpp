#include "linkwork/simulation/check.h"

#include <gtest/gtest.h>

#include "linkwork/simulation/simulation.h"
#include "tests/support/mechanisms.h"

namespace linkwork {
namespace {

TEST(Check, NamesTheMethodsThatARunUses) {
  for (const std::string& name : test::library_models())
    for (const char* const coordinates : {"auto", "TA", "CE"}) {
      Spec spec = test::library_spec(name);
      spec.settings.coordinates.name = coordinates;
      spec.settings.end = 1e-9;
      spec.settings.output_every = 1.0;
      try {
        const Model model = build_model(spec);
        Simulation simulation(model);
        const Summary summary = simulation.run();
        const CheckReport report = check(model);
        EXPECT_EQ(report.formulation, summary.formulation) << name << ", " << coordinates;
        EXPECT_EQ(report.in_coordinates, summary.coordinates) << name << ", " << coordinates;
        if (!model.has_events()) {
          EXPECT_EQ(report.dof, summary.dof) << name << ", " << coordinates;
        }
      } catch (const InputError&) {
        EXPECT_STREQ(coordinates, "CE") << name;  // which not every model can be solved in
      }
    }
}

}  // namespace
}  // namespace linkwork
