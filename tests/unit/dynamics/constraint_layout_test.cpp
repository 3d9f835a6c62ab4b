#include "linkwork/dynamics/constraint_layout.h"

#include <gtest/gtest.h>

#include <array>
#include <thread>

#include "linkwork/coordinates/loop_elimination.h"
#include "linkwork/dynamics/system.h"
#include "linkwork/simulation/simulation.h"
#include "tests/support/mechanisms.h"

namespace linkwork {
namespace {

TEST(ConstraintLayout, IsMadeOncePerModelAndSharedByAWholeStart) {
  const auto model = std::make_shared<const Model>(build_model(test::library_spec("four_bar")));
  const ConstraintLayout* const layout = layout_of(*model).get();
  const LoopElimination* const plan = &layout->elimination(model->tree);
  Simulation simulation(model);
  simulation.advance_to(0.01);
  EXPECT_EQ(simulation.equations().system().terms().layout.get(), layout);
  EXPECT_EQ(System(*model).terms().layout.get(), layout);
  EXPECT_EQ(layout_of(*model).get(), layout);
  EXPECT_EQ(&layout_of(*model)->elimination(model->tree), plan);
}

TEST(ConstraintLayout, GoesAlongWithAModelThatIsMovedAndNotWithACopy) {
  Model model = build_model(test::library_spec("quick_return"));
  const ConstraintLayout* const layout = layout_of(model).get();
  const Model copy = model;
  EXPECT_NE(layout_of(copy).get(), layout);
  const Model moved = std::move(model);
  EXPECT_EQ(layout_of(moved).get(), layout);
}

TEST(ConstraintLayout, IsMadeOnceByManyThreads) {
  const Model model = build_model(test::library_spec("rover"));
  std::array<const void*, 8> layouts{}, plans{};
  {
    std::vector<std::jthread> threads;
    for (std::size_t k = 0; k < layouts.size(); ++k)
      threads.emplace_back([&, k] {
        layouts[k] = layout_of(model).get();
        plans[k] = &layout_of(model)->elimination(model.tree);
      });
  }
  for (std::size_t k = 1; k < layouts.size(); ++k) {
    EXPECT_EQ(layouts[k], layouts[0]);
    EXPECT_EQ(plans[k], plans[0]);
  }
}

/// The same state again need not be computed again, unless something changed.
TEST(System, KeepsWhatItHasAtAnEqualState) {
  const Model model = build_model(test::library_spec("four_bar"));
  State state = test::start_state(model);
  System system(model);
  system.update(state);
  const VecX<double> phi = system.terms().phi;
  system.terms().phi.setConstant(7.0);  // a mark
  system.keep();
  const State equal = state;
  system.update(equal);
  EXPECT_EQ(system.terms().phi[0], 7.0);
  EXPECT_EQ(&system.state(), &equal);
  system.update(state);  // once only
  EXPECT_EQ(system.terms().phi, phi);
  const auto keeps = [&](const State& next) {
    system.terms().phi.setConstant(7.0);
    system.update(next);
    return system.terms().phi[0] == 7.0;
  };
  system.keep();
  state.v[0] += 1e-9;  // the state it is of, itself
  EXPECT_FALSE(keeps(state));
  system.keep();
  system.terms().rate.setConstant(7.0);
  EXPECT_TRUE(keeps(equal));  // positions, which are the same; not velocities
  EXPECT_NE(system.terms().rate[0], 7.0);
  system.keep();
  system.set_modes(system.modes());
  const State again = equal;
  EXPECT_FALSE(keeps(again));
}

}  // namespace
}  // namespace linkwork
