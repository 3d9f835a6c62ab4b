#pragma once

#include <cstdint>
#include <vector>

#include "linkwork/spatial/inertia.h"

namespace linkwork {

/// The elementary joints the recursions know. Other joints are made of them (model/joints).
enum class NodeKind : std::uint8_t {
  kGround,
  kRevolute,   // turns about local z
  kPrismatic,  // slides along local z
  kHelical,    // turns about and slides along local z; revolute joints with an armature are such, without a pitch
  kSpherical,  // q = quaternion (w, x, y, z), v = angular velocity in the node's frame
  kFree,       // q = (position, quaternion), v = (its rate, angular velocity in the node's frame)
};

constexpr int position_count(NodeKind kind) {
  return kind == NodeKind::kGround ? 0 : kind == NodeKind::kSpherical ? 4 : kind == NodeKind::kFree ? 7 : 1;
}
constexpr int velocity_count(NodeKind kind) {
  return kind == NodeKind::kGround ? 0 : kind == NodeKind::kSpherical ? 3 : kind == NodeKind::kFree ? 6 : 1;
}

/// One rigid link and the elementary joint that carries it. The node's frame is the joint's outboard frame, not the user's body
/// frame. For one-dof kinds the rotation from the parent's frame is Rz(gamma) Rx(alpha) Rz(theta0 + angle): a few
/// multiplications instead of a matrix product; frames are chosen so that gamma = 0 for every node's first child.
struct Node {
  int parent = 0;
  int q = 0;  // first position coordinate
  int v = 0;  // first velocity coordinate
  NodeKind kind = NodeKind::kGround;
  bool has_gamma = false;
  bool has_alpha = false;
  bool right_angle = false;   // alpha = 90 or -90 degrees
  bool planar = false;        // see mark_planar_nodes()
  double cg = 1.0, sg = 0.0;  // cos, sin of gamma
  double ca = 1.0, sa = 0.0;  // cos, sin of alpha
  double theta0 = 0.0;
  double pitch = 0.0;                            // helical: m per rad
  double armature = 0.0;                         // helical, prismatic: added to the joint's own inertia
  Vec3<double> p = Vec3<double>::Zero();         // the joint's place in the parent's frame
  Mat3<double> R_PF = Mat3<double>::Identity();  // spherical, free: constant rotation before the quaternion's
  RigidInertia inertia;                          // of everything rigidly fixed to the node, in its frame
  double usual_inertia = 0.0;                    // its own and that of what hangs on it, of each about the joint before it
};

/// Nodes in depth-first order, parents first; node 0 is the ground.
struct Tree {
  std::vector<Node> nodes{Node{}};
  int nq = 0;
  int nv = 0;
  Vec3<double> gravity = Vec3<double>::Zero();
  double length = 1.0;  // the size of the mechanism: Model::units

  int size() const { return static_cast<int>(nodes.size()); }
};

/// Finds the revolute nodes that move in a plane fixed to the ground: those on the ground, and those that turn about a planar
/// node's axis. Three of six components are enough for them (tree/planar.h). To be called when all nodes are complete.
void mark_planar_nodes(Tree& tree);

/// The lowest node that both hang on, or are.
inline int common_ancestor(const Tree& tree, int a, int b) {
  while (a != b) (a > b ? a : b) = tree.nodes[static_cast<std::size_t>(a > b ? a : b)].parent;  // parents come first
  return a;
}

}  // namespace linkwork
