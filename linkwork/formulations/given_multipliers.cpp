#include "linkwork/formulations/given_multipliers.h"

#include <fmt/format.h>

#include "linkwork/dynamics/constraint_response.h"
#include "linkwork/tree/aba.h"
#include "linkwork/tree/rnea.h"

namespace linkwork {

Status accelerate(System& system, const VecX<double>& lambda, std::string_view formulation, VecX<double>& vdot) {
  const Tree& tree = system.tree();
  TreeWork<double>& work = system.work();
  update_bias_wrenches(tree, work);
  aba_backward(tree, work);
  if (work.massless_node != 0)
    return {fmt::format("formulation '{}' needs inertia at every joint of the tree, and '{}' moves none; use 'lagrange'",
                        formulation, system.model().node_name(work.massless_node))};
  ConstraintTerms& terms = system.terms();
  for (std::size_t g = 0; g < terms.groups.size(); ++g) {
    terms.groups[g].reduce(tree, work);
    terms.groups[g].add_reduced_times(lambda.data() + terms.first_rows[g], work.u);
  }
  aba_forward(tree, work, work.u, vdot);
  return {};
}

Rank constraint_rank(System& system) {
  if (system.terms().rows() == 0) return {};
  ConstraintResponse response(system.model());
  response.factor(system);
  return response.rank();
}

}  // namespace linkwork
