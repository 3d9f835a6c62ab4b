// A four-bar linkage of two modules: the left chain is a model file, the right one a class of our own (rocker_module.h). Prints
// where the crank is after a second, and how well the pin between them holds.
//
//   own_module models/four_bar_modules.toml

#include <cstdio>
#include <exception>

#include "examples/rocker_module.h"
#include "linkwork/io/model_file.h"
#include "linkwork/modules/assembly_system.h"
#include "linkwork/simulation/simulation.h"

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: own_module models/four_bar_modules.toml\n");
    return 2;
  }
  try {
    linkwork::Spec spec = linkwork::read_model_file(argv[1]);
    spec.settings.end = 1.0;
    linkwork::AssemblyPlan plan = linkwork::plan_assembly(spec);
    for (linkwork::ModulePlan& module : plan.modules)
      if (module.name == "right")
        module.make = [](const std::vector<double>&) {
          return std::make_unique<RockerModule>("right.phi", RockerModule::Rod{3.0, 2.5, 1.0, 9.81, 1.2648595635335869607});
        };
    linkwork::InProcess alone;
    linkwork::Simulation run(std::make_unique<linkwork::AssemblySystem>(plan, linkwork::Choice{"hierarchical", {}, {}}, alone));
    const linkwork::Summary summary = run.run();
    for (const auto& [name, value] : summary.final_state)
      if (name == "q.left.theta" || name == "q.right.phi") std::printf("%s = %.12f\n", name.c_str(), value);
    std::printf("the pin holds to %.1e m\n", summary.modules->sticky);
    return summary.completed ? 0 : 1;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "own_module: %s\n", error.what());
    return 1;
  }
}
