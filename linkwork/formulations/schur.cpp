#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "linkwork/dynamics/constraint_response.h"
#include "linkwork/formulations/catalog.h"
#include "linkwork/tree/aba.h"
#include "linkwork/tree/rnea.h"

namespace linkwork {

namespace {

/// (1)  a_f = M^-1 (tau - c)                   articulated-body recursion
/// (2)  A M^-1 A' lambda = b - A a_f           operational-space inverse inertia of the closures, same recursion
/// (3)  vdot = a_f + M^-1 A' lambda            one outward pass for both terms
/// [Jain2012] L1, L2. Dependent rows get lambda = 0; neither M nor A is ever formed.
class Schur : public Formulation {
 public:
  explicit Schur(const Model& model) : response_(model), rhs_(VecX<double>::Zero(model.row_count())) {}

  Status solve(System& system, Solution& solution) override {
    const Tree& tree = system.tree();
    TreeWork<double>& work = system.work();
    update_bias_wrenches(tree, work);
    aba_backward(tree, work);
    if (work.massless_node != 0)
      return {fmt::format("formulation 'schur' needs inertia at every joint of the tree, and '{}' moves none; use 'lagrange'",
                          system.model().node_name(work.massless_node))};
    if (rhs_.size() > 0) {
      response_.factor(system);
      response_.apply(system, work.u, rhs_);
      rhs_ = system.terms().b - rhs_;  // (2)
      response_.solve(rhs_, solution.lambda);
      response_.add_force(system, solution.lambda, work.u);
      solution.rank = response_.rank();
      std::ranges::copy(response_.dependent(), solution.dependent.begin());
      solution.inconsistency = 0.0;
      for (double x : response_.inconsistency()) solution.inconsistency = std::max(solution.inconsistency, std::abs(x));
    }
    aba_forward(tree, work, work.u, solution.vdot);  // (3)
    return {};
  }

 private:
  ConstraintResponse response_;
  VecX<double> rhs_;
};

}  // namespace

CatalogEntry<Formulation> schur_formulation() {
  return {{"schur", "Schur complement by O(N) tree recursions; redundant rows are found and handled", "Jain2012", {}},
          [](const Model& model, const Options&) { return std::make_unique<Schur>(model); }};
}

}  // namespace linkwork
