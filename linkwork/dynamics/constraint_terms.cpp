#include "linkwork/dynamics/constraint_terms.h"

namespace linkwork {

ConstraintTerms::ConstraintTerms(const Model& model) {
  const int m = model.row_count();
  phi = rate = u = b = VecX<double>::Zero(m);
  for (const FrameClosure& closure : model.frame_closures) {
    groups.emplace_back(model.tree, std::vector<int>{closure.a.node, closure.b.node}, std::vector<int>{}, closure.row_count);
    closure_rows.push_back(ClosureRows::of(model.tree, closure));
    closure_rows.back().describe(closure, groups.back());
    first_rows.push_back(closure.first_row);
  }
  // Seeds of a coordinate closure, in the order of its slots: a dof for a coordinate of the state, two nodes for a coordinate
  // that is read off a relative motion.
  for (const CoordinateClosure& closure : model.coordinate_closures) {
    std::vector<int> nodes, dofs;
    const NodeFrame* at = nullptr;
    for (const Variable& slot : closure.phi.slots) {
      if (!closure.acts_on(slot)) continue;
      const Joint& joint = model.joints[slot.coordinate.joint()];
      if (joint.in_state()) {
        dofs.push_back(joint.v[static_cast<std::size_t>(slot.coordinate.component)]);
      } else {
        nodes.push_back(joint.parent.node);
        nodes.push_back(joint.child.node);
        at = &joint.child;
      }
    }
    groups.emplace_back(model.tree, std::move(nodes), std::move(dofs), 1);
    if (at) groups.back().set_point(at->node, at->X_NF.p);
    first_rows.push_back(closure.row);
  }
}

}  // namespace linkwork
