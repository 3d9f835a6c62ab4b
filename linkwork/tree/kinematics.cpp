#include "linkwork/tree/kinematics.h"

#include "linkwork/tree/kinematics_recursions.h"

namespace linkwork {

template <class S>
void update_positions(const Tree& tree, const S* q, TreeWork<S>& work) {
  recursions::update_positions(tree, q, work);
}

template <class S>
void update_poses(const Tree& tree, TreeWork<S>& work) {
  recursions::update_poses(tree, work);
}

template <class S>
void update_velocities(const Tree& tree, const S* v, TreeWork<S>& work) {
  recursions::update_velocities(tree, v, work);
}

template <class S>
void update_motion(const Tree& tree, const S* q, const S* v, TreeWork<S>& work) {
  recursions::update_motion(tree, q, v, work);
}

template <class S>
void update_accelerations(const Tree& tree, const S* vdot, TreeWork<S>& work) {
  recursions::update_accelerations(tree, vdot, work);
}

template <class S>
void position_rates(const Tree& tree, const S* q, const S* v, S* qdot) {
  recursions::position_rates(tree, q, v, qdot);
}

namespace {

/// Calls visit(node, pointer to its quaternion).
template <class Visit>
void for_each_quaternion(const Tree& tree, double* q, Visit&& visit) {
  for (const Node& node : tree.nodes) {
    if (node.kind == NodeKind::kSpherical) visit(node, q + node.q);
    if (node.kind == NodeKind::kFree) visit(node, q + node.q + 3);
  }
}

}  // namespace

void normalize_quaternions(const Tree& tree, double* q) {
  if (tree.nq == tree.nv) return;
  for_each_quaternion(tree, q, [](const Node&, double* turn) { Eigen::Map<Eigen::Vector4d>(turn).normalize(); });
}

void displace(const Tree& tree, double* q, const double* dv) {
  if (tree.nq == tree.nv) {  // no quaternions
    for (int i = 0; i < tree.nq; ++i) q[i] += dv[i];
    return;
  }
  for (const Node& node : tree.nodes) {
    const int simple = node.kind == NodeKind::kSpherical ? 0 : node.kind == NodeKind::kFree ? 3 : velocity_count(node.kind);
    for (int k = 0; k < simple; ++k) q[node.q + k] += dv[node.v + k];
  }
  for_each_quaternion(tree, q, [&](const Node& node, double* turn) {
    const double* const spin = dv + node.v + (node.kind == NodeKind::kFree ? 3 : 0);
    const Vec3<double> phi(spin[0], spin[1], spin[2]);
    const double angle = phi.norm();
    const double half_sinc = angle < 1e-8 ? 0.5 : std::sin(0.5 * angle) / angle;
    const Quat step(std::cos(0.5 * angle), half_sinc * phi.x(), half_sinc * phi.y(), half_sinc * phi.z());
    const Quat moved = (Quat(turn[0], turn[1], turn[2], turn[3]) * step).normalized();
    turn[0] = moved.w(), turn[1] = moved.x(), turn[2] = moved.y(), turn[3] = moved.z();
  });
}

template void update_positions<double>(const Tree&, const double*, TreeWork<double>&);
template void update_positions<long double>(const Tree&, const long double*, TreeWork<long double>&);
template void update_poses<double>(const Tree&, TreeWork<double>&);
template void update_poses<long double>(const Tree&, TreeWork<long double>&);
template void update_velocities<double>(const Tree&, const double*, TreeWork<double>&);
template void update_velocities<long double>(const Tree&, const long double*, TreeWork<long double>&);
template void update_motion<double>(const Tree&, const double*, const double*, TreeWork<double>&);
template void update_motion<long double>(const Tree&, const long double*, const long double*, TreeWork<long double>&);
template void update_accelerations<double>(const Tree&, const double*, TreeWork<double>&);
template void update_accelerations<long double>(const Tree&, const long double*, TreeWork<long double>&);
template void position_rates<double>(const Tree&, const double*, const double*, double*);
template void position_rates<long double>(const Tree&, const long double*, const long double*, long double*);

}  // namespace linkwork
