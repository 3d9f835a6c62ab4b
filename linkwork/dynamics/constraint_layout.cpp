#include "linkwork/dynamics/constraint_layout.h"

#include <stdexcept>

#include "linkwork/coordinates/loop_elimination.h"

namespace linkwork {

ConstraintLayout::ConstraintLayout(const Model& model) {
  for (const FrameClosure& closure : model.frame_closures) {
    groups.emplace_back(model.tree, std::vector<int>{closure.a.node, closure.b.node}, std::vector<int>{}, closure.row_count);
    closure_rows.push_back(ClosureRows::of(model.tree, closure));
    closure_rows.back().describe(closure, groups.back());
    first_rows.push_back(closure.first_row);
    seed_bodies.push_back({closure.a.body, closure.b.body});
  }
  // Seeds of a coordinate closure, in the order of its slots: a dof for a coordinate of the state, two nodes for a coordinate
  // that is read off a relative motion.
  for (const CoordinateClosure& closure : model.coordinate_closures) {
    std::vector<int> nodes, dofs;
    std::vector<int>& bodies = seed_bodies.emplace_back();
    const NodeFrame* at = nullptr;
    for (const Variable& slot : closure.phi.slots) {
      if (!closure.acts_on(slot)) continue;
      const Joint& joint = model.joints[slot.coordinate.joint()];
      if (joint.in_state()) {
        dofs.push_back(joint.v[static_cast<std::size_t>(slot.coordinate.component)]);
        continue;
      }
      for (const NodeFrame* end : {&joint.parent, &joint.child}) {
        nodes.push_back(end->node);
        bodies.push_back(end->body);
      }
      at = &joint.child;
    }
    groups.emplace_back(model.tree, std::move(nodes), std::move(dofs), 1);
    if (at) groups.back().set_point(at->node, at->X_NF.p);
    first_rows.push_back(closure.row);
  }
  for (std::size_t g = 0; g < groups.size(); ++g) {
    if (first_rows[g] != static_cast<int>(group_of.size())) throw std::logic_error("rows are not in the order of closures");
    group_of.insert(group_of.end(), static_cast<std::size_t>(groups[g].columns()), static_cast<int>(g));
  }
}

ConstraintLayout::~ConstraintLayout() = default;

const LoopElimination& ConstraintLayout::elimination(const Tree& tree) const {
  std::call_once(planned_, [&] { elimination_ = std::make_unique<const LoopElimination>(tree, groups); });
  return *elimination_;
}

const std::shared_ptr<const ConstraintLayout>& layout_of(const Model& model) {
  return model.layout.get([&] { return std::make_shared<const ConstraintLayout>(model); });
}

LoopElimination cut_loops(const Model& model) { return layout_of(model)->elimination(model.tree); }

}  // namespace linkwork
