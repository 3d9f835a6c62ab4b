#include "linkwork/coordinates/planar_loop.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "linkwork/linalg/index.h"
#include "linkwork/spatial/sin_cos.h"
#include "linkwork/tree/kinematics.h"
#include "linkwork/tree/tree_work.h"

namespace linkwork {

namespace {

using V3 = Vec3<double>;
using Complex = std::complex<double>;

constexpr double kParallel = 1e-12;

/// std::complex's own product looks for infinities.
Complex times(Complex a, Complex b) {
  return {a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real()};
}

double dot(Complex a, Complex b) { return a.real() * b.real() + a.imag() * b.imag(); }

/// The angle from b to a.
double angle(Complex a, Complex b) { return std::atan2(a.imag() * b.real() - a.real() * b.imag(), dot(a, b)); }

/// The smaller root of s^2 - 2 B s + C = 0.
std::optional<double> smaller_root(double B, double C) {
  const double under = B * B - C;
  if (!(under > 0.0)) return {};
  return C / (B + std::copysign(std::sqrt(under), B));
}

/// Both ends' motion in the plane is held: rows of the closure along two directions across the normal.
bool holds_points_together(const FrameClosure& closure, const Mat3<double>& R_RA, const V3& normal) {
  std::array<Row, kMaxRows> rows;
  closure.evaluate({}, rows);
  Mat3<double> span = normal * normal.transpose();
  for (int r = 0; r < closure.row_count; ++r) {
    const Row& row = rows[at(r)];
    if (!row.on_w.isZero(0.0)) continue;
    const V3 across = R_RA * row.on_p - normal * normal.dot(R_RA * row.on_p);
    span += across * across.transpose();
  }
  return span.determinant() > 0.1;
}

}  // namespace

std::optional<PlanarLoop> PlanarLoop::of(const Tree& tree, const FrameClosure& closure) {
  if (closure.kind && closure.kind->name == "distance") return {};
  const std::array<const NodeFrame*, 2> ends{&closure.a, &closure.b};
  const int root = common_ancestor(tree, closure.a.node, closure.b.node);
  PlanarLoop loop;
  for (int end = 0; end < 2; ++end)
    for (int node = ends[at(end)]->node; node != root; node = tree.nodes[at(node)].parent) {
      const NodeKind kind = tree.nodes[at(node)].kind;
      if (kind != NodeKind::kRevolute && kind != NodeKind::kPrismatic) return {};
      loop.links_.push_back({node, -1, tree.nodes[at(node)].q, end, kind == NodeKind::kPrismatic, 1.0, {}, {}});
    }
  std::ranges::sort(loop.links_, {}, &Link::node);

  const std::vector<Pose<double>> poses = loop.poses_at_zero(tree);
  const auto seen = [&](int node) { return node == root ? Pose<double>{} : poses[at(loop.position(node))]; };
  V3 normal = V3::Zero();
  for (const Link& link : loop.links_)
    if (!link.slides) normal = seen(link.node).R.col(2);
  if (normal.isZero(0.0)) return {};
  const Mat3<double> R_RA = (seen(closure.a.node) * closure.a.X_NF).R;
  if (!holds_points_together(closure, R_RA, normal)) return {};

  const V3 e1 = normal.unitOrthogonal(), e2 = normal.cross(e1);
  const auto flat = [&](const V3& a) { return Complex(a.dot(e1), a.dot(e2)); };
  for (Link& link : loop.links_) {
    const V3 axis = seen(link.node).R.col(2);
    if (link.slides ? std::abs(axis.dot(normal)) > kParallel : axis.cross(normal).norm() > kParallel) return {};
    link.sign = axis.dot(normal) < 0.0 ? -1.0 : 1.0;
    link.direction = flat(axis);
    const int parent = tree.nodes[at(link.node)].parent;
    link.parent = parent == root ? -1 : loop.position(parent);
    link.offset = flat(seen(link.node).p - seen(parent).p);
  }
  for (int end = 0; end < 2; ++end) {
    const NodeFrame& frame = *ends[at(end)];
    loop.tip_[end] = frame.node == root ? -1 : loop.position(frame.node);
    const V3 point = (seen(frame.node) * frame.X_NF).p - seen(frame.node).p;
    loop.point_[end] = flat(point);
  }
  loop.placed_.resize(loop.links_.size());
  return loop;
}

/// Of the links, in the loop's root. In the world they would be rounded at its size, and loops far out not close.
std::vector<Pose<double>> PlanarLoop::poses_at_zero(const Tree& tree) const {
  Tree alone;
  for (const Link& link : links_) {
    Node node = tree.nodes[at(link.node)];
    node.parent = position(node.parent) + 1;  // the root is the ground here
    node.q = alone.nq++;
    node.planar = false;
    alone.nodes.push_back(node);
  }
  TreeWork<double> work(alone);
  const VecX<double> zero = VecX<double>::Zero(alone.nq);
  update_positions(alone, zero.data(), work);
  update_poses(alone, work);
  return {work.X_WN.begin() + 1, work.X_WN.end()};
}

int PlanarLoop::position(int node) const {
  const auto found = std::ranges::lower_bound(links_, node, {}, &Link::node);
  return found != links_.end() && found->node == node ? static_cast<int>(found - links_.begin()) : -1;
}

bool PlanarLoop::passes(int node) const { return position(node) >= 0; }

bool PlanarLoop::is_above(int upper, int lower) const { return links_[at(upper)].end == links_[at(lower)].end && upper < lower; }

void PlanarLoop::place(const double* q) const {
  for (std::size_t i = 0; i < links_.size(); ++i) {
    const Link& link = links_[i];
    const Placed parent = link.parent < 0 ? Placed{0.0, 1.0} : placed_[at(link.parent)];
    Complex offset = link.offset, turn(1.0, 0.0);
    if (link.slides) {
      offset += q[link.q] * link.direction;
    } else {
      double s = 0.0, c = 1.0;
      sin_cos(link.sign * q[link.q], s, c);
      turn = {c, s};
    }
    placed_[i] = {parent.origin + times(parent.heading, offset), times(parent.heading, turn)};
  }
}

bool PlanarLoop::close(int node_x, int node_y, double* q) const {
  int x = position(node_x), y = position(node_y);
  if (x > y) std::swap(x, y);
  if (x < 0) return false;
  place(q);
  const auto tip = [&](int end) {
    const Complex point = point_[end];
    return tip_[end] < 0 ? point : placed_[at(tip_[end])].origin + times(placed_[at(tip_[end])].heading, point);
  };
  const Complex tips[2] = {tip(0), tip(1)};
  const Complex gap = tips[1] - tips[0];
  const Link &at_x = links_[at(x)], &at_y = links_[at(y)];
  const double sign_x = at_x.end == 1 ? 1.0 : -1.0, sign_y = at_y.end == 1 ? 1.0 : -1.0;
  const auto direction = [&](int i) {
    const Link& link = links_[at(i)];
    return link.parent < 0 ? link.direction : times(placed_[at(link.parent)].heading, link.direction);
  };
  const auto arm = [&](int i, Complex to) { return to - placed_[at(i)].origin; };

  if (at_x.slides && at_y.slides) {  // sign_x s_x u_x + sign_y s_y u_y = -gap
    const Complex u_x = sign_x * direction(x), u_y = sign_y * direction(y);
    const double area = u_x.real() * u_y.imag() - u_x.imag() * u_y.real();
    if (std::abs(area) < 1e-6) return false;
    q[at_x.q] -= (gap.real() * u_y.imag() - gap.imag() * u_y.real()) / area;
    q[at_y.q] -= (u_x.real() * gap.imag() - u_x.imag() * gap.real()) / area;
    return true;
  }
  if (at_x.slides || at_y.slides) {
    const int turns = at_x.slides ? y : x, slides = at_x.slides ? x : y;
    const Link &turning = links_[at(turns)], &sliding = links_[at(slides)];
    const double sign_turn = turning.end == 1 ? 1.0 : -1.0, sign_slide = sliding.end == 1 ? 1.0 : -1.0;
    const Complex L = sign_turn * arm(turns, tips[turning.end]), D = L - gap, u = sign_slide * direction(slides);
    const bool turns_along = is_above(turns, slides);  // alpha (L + s u) = D; else alpha L + s u = D
    const std::optional<double> s = turns_along ? smaller_root(-dot(L, u), std::norm(L) - std::norm(D))
                                                : smaller_root(dot(D, u), std::norm(D) - std::norm(L));
    if (!s) return false;
    q[sliding.q] += *s;
    q[turning.q] += turning.sign * (turns_along ? angle(D, L + *s * u) : angle(D - *s * u, L));
    return true;
  }
  const bool same_side = is_above(x, y);
  const Complex L_x = sign_x * arm(x, same_side ? placed_[at(y)].origin : tips[at_x.end]);
  const Complex L_y = sign_y * arm(y, tips[at_y.end]);
  const Complex D = L_x + L_y - gap;
  const Complex now = times(std::conj(D), L_x);
  const double projection = 0.5 * (std::norm(D) + std::norm(L_x) - std::norm(L_y));
  const double height2 = std::norm(D) * std::norm(L_x) - projection * projection;
  if (!(height2 > 0.0)) return false;
  const double turn_x = angle({projection, std::copysign(std::sqrt(height2), now.imag())}, now);
  double s = 0.0, c = 1.0;
  sin_cos(turn_x, s, c);
  const double turn_y = angle(D - times({c, s}, L_x), L_y);
  q[at_x.q] += at_x.sign * turn_x;
  q[at_y.q] += at_y.sign * (same_side ? turn_y - turn_x : turn_y);
  return true;
}

}  // namespace linkwork
