#include "linkwork/version.h"
#include "python/src/bindings.h"

PYBIND11_MODULE(_core, module) {
  using namespace linkwork::python;
  module.doc() = "The library as the package linkwork uses it. Nothing here is meant for users.";
  module.attr("version") = LINKWORK_VERSION;
  bind_errors(module);
  bind_model(module);
  bind_evaluation(module);
  bind_results(module);
  bind_simulation(module);
  bind_modules(module);
  bind_analyses(module);
  bind_ensembles(module);
  bind_program(module);
}
