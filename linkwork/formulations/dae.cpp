#include "linkwork/formulations/catalog.h"

namespace linkwork {

namespace {

/// A form of the equations for implicit integrators, which work on the residual themselves. What remains to be solved for here
/// are accelerations and multipliers at a given state: at the start, and for output.
class DaeForm : public Formulation {
 public:
  explicit DaeForm(const Model& model)
      : schur_(schur_formulation().make(model, {})), dense_(lagrange_formulation().make(model, {})) {}

  Status solve(System& system, Solution& solution) override {
    if (Status status = schur_->solve(system, solution); status.ok()) return status;
    return dense_->solve(system, solution);  // a joint that moves no inertia by itself
  }

 private:
  std::unique_ptr<Formulation> schur_, dense_;
};

CatalogEntry<Formulation> dae_form(const char* name, const char* summary, const char* reference, Equations gives) {
  return {{name, summary, reference, {}},
          [](const Model& model, const Options&) { return std::make_unique<DaeForm>(model); },
          {.gives = gives}};
}

}  // namespace

std::vector<CatalogEntry<Formulation>> dae_formulations() {
  return {dae_form("index3", "M vdot + c = tau + A' lambda with phi = 0 itself, for implicit integrators", "Arnold2007",
                   Equations::kIndex3),
          dae_form("ggl", "phi = 0 and A v = u both kept, with multipliers for each, for implicit integrators", "Gear1985",
                   Equations::kIndex2),
          dae_form("index1", "A vdot = b with accelerations and multipliers left to the integrator, for implicit integrators",
                   "Ascher1998", Equations::kIndex1)};
}

}  // namespace linkwork
