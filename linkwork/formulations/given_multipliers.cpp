#include "linkwork/formulations/given_multipliers.h"

#include <fmt/format.h>

#include "linkwork/coordinates/loop_elimination.h"
#include "linkwork/tree/aba.h"

namespace linkwork {

Status accelerate(System& system, const VecX<double>& lambda, std::string_view formulation, VecX<double>& vdot) {
  const Tree& tree = system.tree();
  TreeWork<double>& work = system.work();
  const ConstraintTerms& terms = system.terms();
  const auto add_multipliers = [&](double factor) {
    for (std::size_t g = 0; g < terms.groups.size(); ++g)
      terms.groups[g].add_to_forces(lambda.data() + terms.first_rows[g], work, factor);
  };
  add_multipliers(1.0);
  forward_dynamics(tree, work, vdot);
  add_multipliers(-1.0);  // others ask for what is applied without them
  if (work.massless_node != 0)
    return {fmt::format("formulation '{}' needs inertia at every joint of the tree, and '{}' moves none; use 'lagrange'",
                        formulation, system.model().node_name(work.massless_node))};
  return {};
}

Rank constraint_rank(System& system) {
  if (system.terms().rows() == 0) return {};
  LoopElimination loops = cut_loops(system.model());
  loops.inward_unforced(system.tree(), system.work(), system.terms().groups, system.terms().b);
  return loops.rank();
}

}  // namespace linkwork
