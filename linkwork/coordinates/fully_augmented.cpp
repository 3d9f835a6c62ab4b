#include "linkwork/coordinates/fully_augmented.h"

#include <Eigen/Geometry>

#include "linkwork/tree/kinematics.h"

namespace linkwork {

namespace {

/// By node of the original: the free node that stands for it. Nodes without a body are gone.
std::vector<int> free_nodes(const Model& model, int& count) {
  std::vector<int> free_node(model.tree.nodes.size(), 0);
  for (const Body& body : model.bodies) free_node[static_cast<std::size_t>(body.node)] = 1;
  free_node[0] = 0;
  count = 0;
  for (int& node : free_node)
    if (node != 0) node = ++count;
  return free_node;
}

void close_joint(Model& model, JointIndex index) {
  const Joint& joint = model.joints[index()];
  if (joint.kind->rows.empty() || joint.parent.node == joint.child.node) return;
  FrameClosure closure;
  closure.name = joint.name;
  closure.a = joint.parent;
  closure.b = joint.child;
  closure.geometry.pitch = joint.pitch;
  closure.joint_kind = joint.kind;
  closure.joint = index;
  closure.internal = true;
  closure.row_count = static_cast<int>(joint.kind->rows.size());
  closure.first_row = model.row_count();
  for (const std::string& row : joint.kind->rows) {
    model.rows.push_back({joint.name + "." + row, joint.name, joint.place});
    model.rows.back().internal = true;
  }
  model.frame_closures.push_back(std::move(closure));
}

/// What refers to rows by number.
void renumber_rows(Model& model, const std::vector<int>& new_row) {
  const auto renumber = [&](int& row) {
    if (row >= 0) row = new_row[static_cast<std::size_t>(row)];
  };
  for (Contact& contact : model.contacts) renumber(contact.row);
  for (DryFriction& friction : model.frictions) renumber(friction.first_row), renumber(friction.normal_row);
  for (Event& event : model.events) {
    const auto renumber_slots = [&](BoundExpression& expression) {
      using Kind = Variable::Kind;
      for (Variable& slot : expression.slots)
        if (slot.kind == Kind::kMultiplier || slot.kind == Kind::kError || slot.kind == Kind::kErrorRate) renumber(slot.index);
    };
    renumber_slots(event.when);
    for (Action& action : event.actions) {
      renumber_slots(action.value);
      if (action.target == Action::Target::kRows || action.target == Action::Target::kBounce) renumber(action.first);
    }
  }
}

}  // namespace

Model fully_augmented(const Model& original) {
  Model model = original;
  int count = 0;
  const std::vector<int> free_node = free_nodes(original, count);
  model.tree.nodes.assign(static_cast<std::size_t>(count) + 1, Node{});
  model.tree.nq = 7 * count;
  model.tree.nv = 6 * count;
  model.start_q.assign(static_cast<std::size_t>(model.tree.nq), 0.0);
  model.start_v.assign(static_cast<std::size_t>(model.tree.nv), 0.0);
  for (std::size_t i = 1; i < original.tree.nodes.size(); ++i) {
    if (free_node[i] == 0) continue;
    Node& node = model.tree.nodes[static_cast<std::size_t>(free_node[i])];
    node.kind = NodeKind::kFree;
    node.q = 7 * (free_node[i] - 1);
    node.v = 6 * (free_node[i] - 1);
    node.inertia = original.tree.nodes[i].inertia;
    model.start_q[static_cast<std::size_t>(node.q) + 3] = 1.0;
  }
  mark_planar_nodes(model.tree);

  const auto move = [&](NodeFrame& frame) { frame.node = free_node[static_cast<std::size_t>(frame.node)]; };
  for (Body& body : model.bodies) body.node = free_node[static_cast<std::size_t>(body.node)];
  for (FrameClosure& closure : model.frame_closures) move(closure.a), move(closure.b);
  for (Spring& spring : model.springs) move(spring.a), move(spring.b);
  for (BodyWrench& wrench : model.wrenches) move(wrench.at);
  for (Bushing& bushing : model.bushings) move(bushing.a), move(bushing.b);
  for (Sensor& sensor : model.sensors) move(sensor.frame), move(sensor.b);
  std::vector<bool> was_cut;
  for (Joint& joint : model.joints) {
    move(joint.parent), move(joint.child);
    joint.q.clear(), joint.v.clear();
    was_cut.push_back(joint.cut);
    joint.cut = true;
  }

  // Rows: the original's frame closures, the joints of its tree, then relations of coordinates.
  const std::vector<ConstraintRow> rows = std::move(model.rows);
  model.rows.clear();
  for (const FrameClosure& closure : model.frame_closures)
    for (int r = 0; r < closure.row_count; ++r) model.rows.push_back(rows[static_cast<std::size_t>(closure.first_row + r)]);
  for (std::size_t j = 0; j < model.joints.size(); ++j)
    if (!was_cut[j]) close_joint(model, JointIndex(j));
  std::vector<int> new_row(rows.size());
  for (const FrameClosure& closure : original.frame_closures)
    for (int r = closure.first_row; r < closure.first_row + closure.row_count; ++r) new_row[static_cast<std::size_t>(r)] = r;
  for (CoordinateClosure& closure : model.coordinate_closures) {
    model.rows.push_back(rows[static_cast<std::size_t>(closure.row)]);
    new_row[static_cast<std::size_t>(closure.row)] = model.row_count() - 1;
    closure.row = model.row_count() - 1;
  }
  renumber_rows(model, new_row);
  measure(model);
  return model;
}

void free_body_state(const Model& original, TreeWork<double>& work, double* q, double* v) {
  update_poses(original.tree, work);
  int count = 0;
  const std::vector<int> free_node = free_nodes(original, count);
  for (std::size_t i = 1; i < free_node.size(); ++i) {
    if (free_node[i] == 0) continue;
    const Pose<double>& X = work.X_WN[i];
    const NodeWork<double>& node = work.nodes[i];
    double* const qi = q + 7 * (free_node[i] - 1);
    double* const vi = v + 6 * (free_node[i] - 1);
    const Eigen::Quaterniond turn(X.R);
    Eigen::Map<Vec3<double>>{qi} = X.p;
    qi[3] = turn.w(), qi[4] = turn.x(), qi[5] = turn.y(), qi[6] = turn.z();
    Eigen::Map<Vec3<double>>{vi} = X.R * node.v;
    Eigen::Map<Vec3<double>>{vi + 3} = node.w;
  }
}

}  // namespace linkwork
