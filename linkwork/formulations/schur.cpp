#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "linkwork/coordinates/loop_elimination.h"
#include "linkwork/formulations/catalog.h"
#include "linkwork/tree/rnea.h"

namespace linkwork {

namespace {

/// A M^-1 A' lambda = b - A a_f, vdot = a_f + M^-1 A' lambda: the operational-space inverse inertia of the closures, by the
/// articulated-body recursion, with each loop eliminated where it ends. [Jain2012] L1, L2. Dependent rows get lambda = 0.
class Schur : public Formulation {
 public:
  explicit Schur(const Model& model) : loops_(model.tree, ConstraintTerms(model).groups) {}

  Status solve(System& system, Solution& solution) override {
    const Tree& tree = system.tree();
    TreeWork<double>& work = system.work();
    update_bias_wrenches(tree, work);
    loops_.inward(tree, work, system.terms().groups, system.terms().b);
    if (work.massless_node != 0)
      return {fmt::format("formulation 'schur' needs inertia at every joint of the tree, and '{}' moves none; use 'lagrange'",
                          system.model().node_name(work.massless_node))};
    loops_.outward(tree, work, solution.vdot, solution.lambda);
    solution.rank = loops_.rank();
    solution.inconsistency = 0.0;
    for (std::size_t row = 0; row < solution.dependent.size(); ++row) {
      solution.dependent[row] = loops_.dependent()[row];
      solution.inconsistency = std::max(solution.inconsistency, std::abs(loops_.inconsistency()[row]));
    }
    return {};
  }

 private:
  LoopElimination loops_;
};

}  // namespace

CatalogEntry<Formulation> schur_formulation() {
  return {{"schur", "Schur complement by O(N) tree recursions; redundant rows are found and handled", "Jain2012", {}},
          [](const Model& model, const Options&) { return std::make_unique<Schur>(model); }};
}

}  // namespace linkwork
