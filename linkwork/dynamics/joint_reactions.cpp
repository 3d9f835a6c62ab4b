#include "linkwork/dynamics/joint_reactions.h"

#include <Eigen/LU>
#include <Eigen/QR>
#include <algorithm>
#include <array>
#include <string_view>
#include <unordered_map>

#include "linkwork/linalg/index.h"

namespace linkwork {

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
  }
  for (std::size_t c = 0; c < closures_.size(); ++c)
    if (std::ranges::find(closure_of_, static_cast<int>(c)) == closure_of_.end()) other_closures_.push_back(c);
  for (const Joint& joint : model.joints) freedoms_.push_back(freedom_of(*joint.kind));
  find_welds();
}

/// Later elements keep their axes if earlier ones turn about no other.
std::optional<JointReactions::Freedom> JointReactions::freedom_of(const JointKind& kind) {
  Freedom freedom;
  std::optional<Vec3<double>> turned_about;
  for (const ElementaryJoint& element : kind.elements) {
    const bool is_axis = element.axis.cwiseAbs() == Vec3<double>(element.axis.cwiseAbs().array().round());
    if (!is_axis || (turned_about && *turned_about != element.axis)) return {};
    const std::size_t axis = element.axis.x() != 0.0 ? 0 : element.axis.y() != 0.0 ? 1 : 2;
    if (element.kind == NodeKind::kPrismatic) {
      freedom.slides[axis] = true;
    } else if (element.kind == NodeKind::kRevolute) {
      freedom.turns[axis] = true;
      turned_about = element.axis;
    } else if (element.kind == NodeKind::kSpherical && kind.elements.size() == 1) {
      freedom.turns = {true, true, true};
    } else {
      return {};
    }
  }
  return freedom;
}

void JointReactions::find_welds() {
  const std::vector<Body>& bodies = model_.bodies;
  const auto carried_by = [&](const Body& body) {  // the body it hangs on
    const Joint& joint = model_.joints[at(body.carrier)];
    return at(&bodies[at(joint.child.body)] == &body ? joint.parent.body : joint.child.body);
  };
  std::vector<std::pair<int, std::size_t>> by_depth;  // within their nodes
  for (std::size_t b = 0; b < bodies.size(); ++b) {
    int depth = 0;
    for (std::size_t k = b; model_.is_welded(bodies[k]); k = carried_by(bodies[k])) ++depth;
    if (depth > 0) by_depth.emplace_back(-depth, b);
  }
  if (by_depth.empty()) return;
  std::ranges::sort(by_depth);
  for (const auto& [depth, b] : by_depth) {
    const std::size_t joint = at(bodies[b].carrier);
    welds_.push_back({joint, b, carried_by(bodies[b]), at(model_.joints[joint].child.body) != b});
  }
  on_body_.resize(bodies.size());
  hangs_on_.resize(needed_.size());
  for (const Body& body : bodies) {
    if (body.carrier < 0 || model_.is_welded(body) || closure_of_[at(body.carrier)] >= 0) continue;
    const std::size_t on = carried_by(body);
    int first = body.node;  // of the joint's nodes, the one next to it
    while (first != 0 && model_.tree.nodes[at(first)].parent != bodies[on].node) first = model_.tree.nodes[at(first)].parent;
    hangs_on_[at(first)] = on;  // none, if bodies are free (FA)
  }
}

void JointReactions::add(const NodeFrame& frame, const Vec3<double>& torque_at_origin, const Vec3<double>& force) {
  needed_[at(frame.node)] += Wrench<double>{torque_at_origin, force};
  if (!welds_.empty()) on_body_[at(frame.body)] += Wrench<double>{torque_at_origin, force};
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
  for (std::size_t b = 0; b < on_body_.size(); ++b) {
    const Body& body = model_.bodies[b];
    const NodeWork<double>& node = work[body.node];
    Wrench<double> F = body.inertia.needed<double>(node.w, node.aw + node.dw, node.ap + node.dv);
    F += -system.on_bodies()[b];
    on_body_[b] = system.X_WN(body.node) * F;
  }
  for (const auto& [frame, torque, force] : outside) {
    const Vec3<double> p = system.X_WN(frame.node) * frame.X_NF.p;
    add(frame, -(torque + p.cross(force)), -force);
  }
  add_multipliers(system, lambda);
  pass_down(system, lambda);
}

void JointReactions::update_change(System& system, const VecX<double>& lambda) {
  std::ranges::fill(needed_, Wrench<double>{});
  std::ranges::fill(on_body_, Wrench<double>{});
  add_multipliers(system, lambda);
  pass_down(system, lambda);
}

void JointReactions::add_multipliers(System& system, const VecX<double>& lambda) {
  const ConstraintTerms& terms = system.terms();
  for (std::size_t g = 0; g < terms.groups.size(); ++g) {
    const ForceColumns& columns = terms.groups[g];
    for (std::size_t s = 0; s < columns.seed_nodes().size(); ++s) {
      const Wrench<double> sum = columns.resultant(static_cast<int>(s), lambda.data() + terms.first_rows[g]);
      const int node = columns.seed_nodes()[s];
      const Wrench<double> in_world = system.X_WN(node) * sum;
      needed_[at(node)] += -in_world;
      if (!welds_.empty()) on_body_[at(terms.layout->seed_bodies[g][s])] += -in_world;
    }
  }
}

void JointReactions::pass_down(System& system, const VecX<double>& lambda) {
  const Tree& tree = model_.tree;
  for (int i = tree.size() - 1; i > 0; --i) needed_[at(tree.nodes[at(i)].parent)] += needed_[at(i)];
  needed_[0] = {};
  for (std::size_t c = 0; c < closures_.size(); ++c) closures_[c] = closure_reaction(system, model_.frame_closures[c], lambda);
  for (std::size_t j = 0; j < joints_.size(); ++j) {
    const Joint& joint = model_.joints[j];
    if (closure_of_[j] >= 0) joints_[j] = closures_[at(closure_of_[j])];
    if (closure_of_[j] >= 0 || joint.parent.node == joint.child.node) continue;
    // The tree may run through the joint from child to parent.
    const bool reversed = joint.parent.node > joint.child.node;
    const Wrench<double>& through = needed_[at(reversed ? joint.parent.node : joint.child.node)];
    joints_[j] = freedoms_[j] ? share_of_axes(system, joint, *freedoms_[j], reversed ? -through : through)
                              : share_of_joint(system, joint, reversed ? -through : through);
  }
  pass_through_welds(system);
}

void JointReactions::pass_through_welds(const System& system) {
  if (welds_.empty()) return;
  for (std::size_t i = 1; i < needed_.size(); ++i) on_body_[hangs_on_[i]] += needed_[i];
  for (const Weld& weld : welds_) {
    const Wrench<double> through = on_body_[weld.body];
    on_body_[weld.on] += through;
    const Vec3<double> p = system.pose(model_.joints[weld.joint].child).p, torque = through.n - p.cross(through.f);
    const double side = weld.reversed ? -1.0 : 1.0;
    joints_[weld.joint] = {side * through.f, side * torque};
  }
}

/// The resultant of its rows on body b, at b's point.
JointReactions::Reaction JointReactions::closure_reaction(const System& system, const FrameClosure& closure,
                                                          const VecX<double>& lambda) const {
  const ClosureRows& known = system.terms().closure_rows[static_cast<std::size_t>(&closure - model_.frame_closures.data())];
  const auto behind = lambda.segment(closure.first_row + known.working, closure.row_count - known.working);
  if (known.kind != ClosureRows::Kind::kGeneral && behind.isZero(0.0)) {
    Vec3<double> force = Vec3<double>::Zero();
    for (int r = 0; r < known.working; ++r) force += lambda[closure.first_row + r] * known.directions[at(r)];
    return {system.X_WN(closure.a.node).R * force, Vec3<double>::Zero()};
  }
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

/// What is left without the components along which the joint moves.
JointReactions::Reaction JointReactions::share_of_axes(const System& system, const Joint& joint, const Freedom& freedom,
                                                       const Wrench<double>& through) {
  const NodeFrame &a = joint.parent, &b = joint.child;
  const Vec3<double> p = system.X_WN(b.node) * b.X_NF.p;
  Reaction share{through.f, through.n - p.cross(through.f)};
  constexpr std::array kAll{true, true, true};
  if (freedom.slides == kAll) share.force.setZero();
  if (freedom.turns == kAll) share.torque.setZero();
  for (std::size_t k = 0; k < 3; ++k) {
    if (!freedom.slides[k] && !freedom.turns[k]) continue;
    const Vec3<double> axis = system.X_WN(a.node).R * a.X_NF.R.col(static_cast<int>(k));
    if (freedom.slides[k]) share.force -= axis.dot(share.force) * axis;
    if (freedom.turns[k]) share.torque -= axis.dot(share.torque) * axis;
  }
  return share;
}

void JointReactions::multipliers(const System& system, std::size_t index, std::span<double> lambda) const {
  const Joint& joint = model_.joints[index];
  std::array<Row, kMaxRows> rows;
  joint.kind->closure(system.relative_motion(joint.parent, joint.child), joint.pitch, rows);
  const Mat3<double> R = system.pose(joint.parent).R;
  Vec6<double> wrench;
  wrench << R.transpose() * joints_[index].torque, R.transpose() * joints_[index].force;
  Eigen::Matrix<double, 6, Eigen::Dynamic, 0, 6, kMaxRows> parts(6, std::ssize(joint.kind->rows));
  for (Eigen::Index r = 0; r < parts.cols(); ++r)
    parts.col(r) << rows[static_cast<std::size_t>(r)].on_w, rows[static_cast<std::size_t>(r)].on_p;
  const VecX<double> shares = parts.colPivHouseholderQr().solve(wrench);
  std::ranges::copy(shares, lambda.begin());
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
