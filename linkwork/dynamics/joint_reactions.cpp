#include "linkwork/dynamics/joint_reactions.h"

#include <Eigen/LU>
#include <algorithm>
#include <array>
#include <string_view>
#include <unordered_map>

namespace linkwork {

namespace {

std::size_t at(int i) { return static_cast<std::size_t>(i); }

}  // namespace

JointReactions::JointReactions(const Model& model)
    : model_(model),
      closure_of_(model.joints.size(), -1),
      needed_(model.tree.nodes.size()),
      joints_(model.joints.size()),
      closures_(model.frame_closures.size()) {
  std::unordered_map<std::string_view, int> closure_named;
  for (std::size_t c = 0; c < closures_.size(); ++c) closure_named[model.frame_closures[c].name] = static_cast<int>(c);
  for (std::size_t j = 0; j < joints_.size(); ++j) {
    if (const auto found = closure_named.find(model.joints[j].name); found != closure_named.end()) closure_of_[j] = found->second;
    if (closure_of_[j] >= 0 || model.joints[j].parent.node != model.joints[j].child.node) known_joints_.push_back(j);
  }
  for (std::size_t c = 0; c < closures_.size(); ++c)
    if (std::ranges::find(closure_of_, static_cast<int>(c)) == closure_of_.end()) other_closures_.push_back(c);
}

void JointReactions::add(int node, const Vec3<double>& torque_at_origin, const Vec3<double>& force) {
  needed_[at(node)] += Wrench<double>{torque_at_origin, force};
}

void JointReactions::update(System& system, const VecX<double>& lambda, std::span<const OutsideWrench> outside) {
  const Tree& tree = model_.tree;
  const TreeWork<double>& work = system.work();
  for (int i = 1; i < tree.size(); ++i) {
    const NodeWork<double>& node = work[i];
    Wrench<double> F = tree.nodes[at(i)].inertia.needed<double>(node.w, node.aw + node.dw, node.ap + node.dv);
    F += -work.applied[at(i)];
    needed_[at(i)] = system.X_WN(i) * F;
  }
  for (const auto& [frame, torque, force] : outside) {
    const Vec3<double> p = system.X_WN(frame.node) * frame.X_NF.p;
    add(frame.node, -(torque + p.cross(force)), -force);
  }
  add_multipliers(system, lambda);
  pass_down(system, lambda);
}

void JointReactions::update_change(System& system, const VecX<double>& lambda) {
  std::ranges::fill(needed_, Wrench<double>{});
  add_multipliers(system, lambda);
  pass_down(system, lambda);
}

void JointReactions::add_multipliers(System& system, const VecX<double>& lambda) {
  const ConstraintTerms& terms = system.terms();
  for (std::size_t g = 0; g < terms.groups.size(); ++g) {
    const ForceColumns& columns = terms.groups[g];
    for (std::size_t s = 0; s < columns.seed_nodes().size(); ++s) {
      Wrench<double> sum;
      for (int c = 0; c < columns.columns(); ++c) {
        const Wrench<double>& unit = columns.wrench(static_cast<int>(s), c);
        const double factor = lambda[terms.first_rows[g] + c];
        sum += Wrench<double>{factor * unit.n, factor * unit.f};
      }
      const int node = columns.seed_nodes()[s];
      needed_[at(node)] += -(system.X_WN(node) * sum);
    }
  }
}

void JointReactions::pass_down(System& system, const VecX<double>& lambda) {
  const Tree& tree = model_.tree;
  for (int i = tree.size() - 1; i > 0; --i) needed_[at(tree.nodes[at(i)].parent)] += needed_[at(i)];
  needed_[0] = {};
  for (std::size_t c = 0; c < closures_.size(); ++c) closures_[c] = closure_reaction(system, model_.frame_closures[c], lambda);
  for (const std::size_t j : known_joints_) {
    const Joint& joint = model_.joints[j];
    if (closure_of_[j] >= 0) {
      joints_[j] = closures_[at(closure_of_[j])];
      continue;
    }
    // The tree may run through the joint from child to parent.
    const bool reversed = joint.parent.node > joint.child.node;
    const Wrench<double>& through = needed_[at(reversed ? joint.parent.node : joint.child.node)];
    joints_[j] = share_of_joint(system, joint, reversed ? -through : through);
  }
}

/// The resultant of its rows on body b, at b's point.
JointReactions::Reaction JointReactions::closure_reaction(const System& system, const FrameClosure& closure,
                                                          const VecX<double>& lambda) const {
  std::array<Row, kMaxRows> rows;
  closure.evaluate(system.relative_motion(closure.a, closure.b), rows);
  Reaction sum;
  for (int r = 0; r < closure.row_count; ++r) {
    const Row& row = rows[at(r)];
    sum.force += lambda[closure.first_row + r] * row.on_p;
    sum.torque += lambda[closure.first_row + r] * row.on_w;
  }
  const Mat3<double> R = system.pose(closure.a).R;
  return {R * sum.force, R * sum.torque};
}

JointReactions::Reaction JointReactions::share_of_joint(const System& system, const Joint& joint,
                                                        const Wrench<double>& through) const {
  const int constrained = static_cast<int>(joint.kind->rows.size()), free = joint.kind->nv();
  if (constrained == 0) return {};
  const RelativeMotion m = system.relative_motion(joint.parent, joint.child);
  std::array<Row, kMaxRows> closing, moving;
  joint.kind->closure(m, joint.pitch, closing);
  joint.kind->coordinates(m, moving);
  const Mat3<double> R = system.pose(joint.parent).R;
  const Vec3<double> p = system.pose(joint.child).p;
  Vec6<double> wrench;
  wrench << R.transpose() * (through.n - p.cross(through.f)), R.transpose() * through.f;
  Mat6<double> parts;
  for (int r = 0; r < constrained; ++r) parts.col(r) << closing[at(r)].on_w, closing[at(r)].on_p;
  for (int k = 0; k < free; ++k) parts.col(constrained + k) << moving[at(k)].on_w, moving[at(k)].on_p;
  const Vec6<double> shares = parts.partialPivLu().solve(wrench);
  const Vec6<double> reaction = parts.leftCols(constrained) * shares.head(constrained);
  return {R * reaction.tail<3>(), R * reaction.head<3>()};
}

}  // namespace linkwork
