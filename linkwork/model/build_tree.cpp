#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "linkwork/model/binding.h"
#include "linkwork/model/building.h"
#include "linkwork/model/joint_state.h"
#include "linkwork/spatial/so3.h"

namespace linkwork {

namespace {

using P = Pose<double>;

Mat3<double> about_z(double angle) { return Eigen::AngleAxisd(angle, Vec3<double>::UnitZ()).toRotationMatrix(); }

/// cos or sin of an angle that is a multiple of 90 degrees up to rounding, made exact.
double snapped(double x) {
  if (std::abs(x) < 1e-15) return 0.0;
  if (std::abs(std::abs(x) - 1.0) < 1e-15) return std::copysign(1.0, x);
  return x;
}

/// Bodies, joints and the nodes that carry them.
class TreeBuilder {
 public:
  TreeBuilder(const Spec& spec, const Topology& topology, const Binding& binding, Model& model)
      : spec_(spec), topology_(topology), binding_(binding), model_(model) {}

  void build() {
    add_bodies();
    for (std::size_t j = 0; j < spec_.joints.size(); ++j) add_joint(spec_.joints[j], topology_.cut[j]);
    model_.start_q.reserve(spec_.joints.size());
    for (int body : topology_.order) hang(body);
    align_frames();
    add_inertias();
    attach_joint_frames();
  }

 private:
  void add_bodies() {
    model_.bodies.push_back({"ground", 0, {}, 0.0, std::nullopt, {}, -1});
    for (const BodySpec& body : spec_.bodies) model_.bodies.push_back({body.name, 0, {}, body.mass, body.solid, {}, -1});
    raw_.push_back({});
  }

  void add_joint(const JointSpec& spec, bool cut) {
    Joint joint;
    joint.name = spec.name;
    joint.kind = find_joint_kind(spec.type);
    joint.pitch = spec.pitch / (2.0 * std::numbers::pi);
    joint.cut = cut;
    joint.fixed = spec.fixed;
    joint.velocity_given = !spec.velocity.empty();
    joint.position_given = !spec.position.empty();
    joint.damping = spec.damping;
    joint.stiffness = spec.stiffness;
    joint.rest = spec.rest;
    joint.friction = spec.friction;
    joint.armature = spec.armature;
    joint.limits = spec.limits;
    joint.stops_at_limits = spec.restitution.has_value();
    joint.place = spec.place;
    joint.start = spec.position;
    if (joint.start.empty()) {
      joint.start.assign(joint.kind->positions.size(), 0.0);
      if (joint.kind->has_quaternion()) joint.start[joint.start.size() - 4] = 1.0;
    }
    joint.start_velocity = spec.velocity;
    joint.start_velocity.resize(joint.kind->velocities.size(), 0.0);
    if (cut && spec.fixed)
      throw InputError(spec.place, fmt::format("joint '{}' is both cut and fixed", spec.name),
                       "fixed = true on joints of the spanning tree only: every loop needs a joint that can be cut");
    if (cut && spec.armature != 0.0)
      throw InputError(spec.place, fmt::format("joint '{}' closes a loop and has an armature", spec.name),
                       "another joint of the loop with cut = true");
    model_.joints.push_back(std::move(joint));
  }

  /// Adds the nodes of the tree joint that carries a body.
  void hang(int body) {
    const int j = topology_.via_joint[static_cast<std::size_t>(body)];
    const JointSpec& spec = spec_.joints[static_cast<std::size_t>(j)];
    Joint& joint = model_.joints[static_cast<std::size_t>(j)];
    const Body& parent = model_.bodies[static_cast<std::size_t>(topology_.parent_body[static_cast<std::size_t>(body)])];
    const bool backwards = binding_.body(spec.parent.body) == body;
    const Mat3<double> axes = axes_rotation(joint.kind->has_axis, spec.axis, spec.axis2);
    const P X_PF = frame_pose(backwards ? spec.child : spec.parent) * P{axes, Vec3<double>::Zero()};
    const P X_BM = frame_pose(backwards ? spec.parent : spec.child) * P{axes, Vec3<double>::Zero()};

    std::vector<ElementaryJoint> elements = joint.kind->elements;
    if (backwards) {
      std::ranges::reverse(elements);
      for (ElementaryJoint& element : elements) element.axis = -element.axis;
    }
    const bool mirrored = backwards && joint.kind->has_quaternion();
    if (!mirrored) {
      joint.q.resize(joint.kind->positions.size());
      joint.v.resize(joint.kind->velocities.size());
    }
    int node = parent.node;
    P X_NF = parent.X_NB * X_PF;
    for (const ElementaryJoint& element : elements) {
      const bool about_axis = velocity_count(element.kind) == 1;
      const P turn{about_axis ? rotation_from_z(element.axis) : Mat3<double>::Identity(), Vec3<double>::Zero()};
      const bool helical = joint.armature != 0.0 && element.kind == NodeKind::kRevolute;
      node = add_node(node, helical ? NodeKind::kHelical : element.kind, X_NF * turn, joint.pitch);
      model_.tree.nodes.back().armature = joint.armature;
      X_NF = turn.inverse();
      append_start(joint, element, mirrored);
      if (mirrored) continue;
      const Node& added = model_.tree.nodes.back();
      for (int k = 0; k < position_count(element.kind); ++k)
        joint.q[static_cast<std::size_t>(element.component + k)] = added.q + k;
      for (int k = 0; k < velocity_count(element.kind); ++k)
        joint.v[static_cast<std::size_t>(element.component + k)] = added.v + k;
    }
    Body& child = model_.bodies[static_cast<std::size_t>(body)];
    child.node = node;
    child.carrier = j;
    child.X_NB = X_NF * X_BM.inverse();
  }

  int add_node(int parent, NodeKind kind, const P& X_PN, double pitch) {
    Tree& tree = model_.tree;
    Node node;
    node.parent = parent;
    node.kind = kind;
    node.q = tree.nq;
    node.v = tree.nv;
    node.pitch = pitch;
    tree.nq += position_count(kind);
    tree.nv += velocity_count(kind);
    tree.nodes.push_back(node);
    raw_.push_back(X_PN);
    return tree.size() - 1;
  }

  void append_start(const Joint& joint, const ElementaryJoint& element, bool mirrored) {
    JointValues values;
    std::ranges::copy(joint.start, values.q.begin());
    std::ranges::copy(joint.start_velocity, values.v.begin());
    if (mirrored) mirror(values, joint.kind->nq());
    for (int k = 0; k < position_count(element.kind); ++k)
      model_.start_q.push_back(values.q[static_cast<std::size_t>(element.component + k)]);
    for (int k = 0; k < velocity_count(element.kind); ++k)
      model_.start_v.push_back(values.v[static_cast<std::size_t>(element.component + k)]);
  }

  /// Turns every node's frame about its own z so that its first child needs no gamma, and factors the constant rotations.
  void align_frames() {
    Tree& tree = model_.tree;
    std::vector<ZxzAngles> angles(tree.nodes.size(), ZxzAngles{0.0, 0.0, 0.0});
    turn_.assign(tree.nodes.size(), 0.0);
    std::vector<bool> has_child(tree.nodes.size(), false);
    for (std::size_t i = 1; i < tree.nodes.size(); ++i) {
      angles[i] = zxz_angles(raw_[i].R);
      const auto parent = static_cast<std::size_t>(tree.nodes[i].parent);
      const bool one_dof = velocity_count(tree.nodes[i].kind) == 1;
      if (parent != 0 && one_dof && velocity_count(tree.nodes[parent].kind) == 1 && !has_child[parent])
        turn_[parent] = angles[i].gamma;
      has_child[parent] = true;
    }
    for (std::size_t i = 1; i < tree.nodes.size(); ++i) {
      Node& node = tree.nodes[i];
      const double parent_turn = turn_[static_cast<std::size_t>(node.parent)];
      node.p = about_z(-parent_turn) * raw_[i].p;
      node.R_PF = about_z(-parent_turn) * raw_[i].R;
      if (velocity_count(node.kind) != 1) continue;
      const double gamma = angles[i].gamma - parent_turn;
      node.ca = snapped(std::cos(angles[i].alpha)), node.sa = snapped(std::sin(angles[i].alpha));
      node.has_alpha = node.ca != 1.0;
      node.right_angle = node.ca == 0.0;
      node.theta0 = angles[i].theta + turn_[i];
      if (!node.has_alpha) {  // both turns are about the same axis
        node.theta0 += gamma;
        continue;
      }
      node.cg = snapped(std::cos(gamma)), node.sg = snapped(std::sin(gamma));
      node.has_gamma = node.cg != 1.0;
    }
    for (Body& body : model_.bodies)
      body.X_NB = P{about_z(-turn_[static_cast<std::size_t>(body.node)]), Vec3<double>::Zero()} * body.X_NB;
  }

  void add_inertias() {
    for (const BodySpec& spec : spec_.bodies) {
      Body& body = model_.bodies[static_cast<std::size_t>(binding_.body(spec.name))];
      body.inertia = RigidInertia::about_com(spec.mass, spec.com, spec.inertia).seen_from(body.X_NB);
      model_.tree.nodes[static_cast<std::size_t>(body.node)].inertia += body.inertia;
    }
    model_.tree.nodes[0].inertia = {};
    mark_planar_nodes(model_.tree);
  }

  void attach_joint_frames() {
    for (std::size_t j = 0; j < spec_.joints.size(); ++j) {
      const JointSpec& spec = spec_.joints[j];
      Joint& joint = model_.joints[j];
      const Mat3<double> axes = axes_rotation(joint.kind->has_axis, spec.axis, spec.axis2);
      joint.parent = binding_.frame(spec.parent, axes);
      joint.child = binding_.frame(spec.child, axes);
    }
  }

  const Spec& spec_;
  const Topology& topology_;
  const Binding& binding_;
  Model& model_;
  std::vector<P> raw_;        // by node: its frame at position 0 in its parent's, before align_frames
  std::vector<double> turn_;  // by node: how far align_frames turned it
};

}  // namespace

/// The rotation that brings a joint's or closure's own axes (z, or x and y) to where the user's axis vectors point.
Mat3<double> axes_rotation(bool has_axis, const Vec3<double>& axis, const std::optional<Vec3<double>>& axis2) {
  if (!has_axis) return Mat3<double>::Identity();
  if (!axis2) return rotation_from_z(axis);
  Mat3<double> R;
  R << axis, *axis2, axis.cross(*axis2);
  return R;
}

void build_tree(const Topology& topology, const Binding& binding, Model& model) {
  TreeBuilder(binding.spec(), topology, binding, model).build();
}

}  // namespace linkwork
