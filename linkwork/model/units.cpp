#include <cmath>

#include "linkwork/model/jet.h"
#include "linkwork/model/model.h"
#include "linkwork/model/sliding.h"

namespace linkwork {

namespace {

/// Where the mechanism stands in the world is no size of its own: of frames on the ground, and on bodies that float, only their
/// distances count.
double longest_distance(const Model& model) {
  std::vector<std::optional<Vec3<double>>> first(model.tree.nodes.size());
  double longest = 0.0;
  for (std::size_t i = 1; i < first.size(); ++i) first[i] = Vec3<double>::Zero();
  const auto add = [&](int node, const Vec3<double>& point) {
    std::optional<Vec3<double>>& reference = first[static_cast<std::size_t>(node)];
    if (!reference) reference = point;
    longest = std::max(longest, (point - *reference).norm());
  };
  for (std::size_t i = 1; i < model.tree.nodes.size(); ++i) {
    const Node& node = model.tree.nodes[i];
    if (node.kind != NodeKind::kFree) add(node.parent, node.p);
    if (node.inertia.mass > 0.0) add(static_cast<int>(i), node.inertia.h / node.inertia.mass);
  }
  for (const FrameClosure& closure : model.frame_closures) {
    add(closure.a.node, closure.a.X_NF.p);
    add(closure.b.node, closure.b.X_NF.p);
    longest = std::max({longest, closure.geometry.length, closure.geometry.radius});
  }
  for (const Spring& spring : model.springs) {
    add(spring.a.node, spring.a.X_NF.p);
    add(spring.b.node, spring.b.X_NF.p);
    longest = std::max(longest, spring.length);
  }
  for (const Bushing& bushing : model.bushings) {
    add(bushing.a.node, bushing.a.X_NF.p);
    add(bushing.b.node, bushing.b.X_NF.p);
  }
  return longest;
}

/// Without bodies of any extent: how far they are apart at the start.
double longest_slide(const Model& model) {
  double longest = 0.0;
  for (const Node& node : model.tree.nodes)
    for (int k = 0; k < sliding_count(node.kind); ++k)
      longest = std::max(longest, std::abs(model.start_q[static_cast<std::size_t>(node.q + k)]));
  return longest;
}

void measure_rows(const FrameClosure& closure, double length, VecX<double>& unit) {
  const std::array<bool, kMaxRows> lengths = rows_that_are_lengths(closure, length);
  for (int r = 0; r < closure.row_count; ++r)
    if (lengths[static_cast<std::size_t>(r)]) unit[closure.first_row + r] = length;
}
/// How much a relation of coordinates changes with them at the start, each in its unit.
double unit_of(const Model& model, const CoordinateClosure& closure) {
  using Kind = Variable::Kind;
  const std::vector<Variable>& slots = closure.phi.slots;
  std::vector<Jet> jets(slots.size());
  for (std::size_t s = 0; s < slots.size(); ++s) {
    if (slots[s].kind == Kind::kParameter) jets[s] = model.parameters[static_cast<std::size_t>(slots[s].index)].start;
    if (slots[s].kind == Kind::kPosition)
      jets[s] = model.joints[slots[s].coordinate.joint()].start[static_cast<std::size_t>(slots[s].coordinate.component)];
  }
  double unit = 0.0;
  for (std::size_t s = 0; s < slots.size(); ++s) {
    if (!closure.acts_on(slots[s])) continue;
    jets[s].d1 = 1.0;
    const double slope = closure.phi.expression.evaluate<Jet>(std::span<const Jet>(jets)).d1;
    jets[s].d1 = 0.0;
    const bool is_length = model.joints[slots[s].coordinate.joint()].kind->is_length(slots[s].coordinate.component);
    unit = std::max(unit, std::abs(slope) * (is_length ? model.units.length : 1.0));
  }
  return unit;
}

}  // namespace

std::array<bool, kMaxRows> rows_that_are_lengths(const FrameClosure& closure, double length) {
  RelativeMotion m;
  m.R = (Eigen::AngleAxisd(0.7, Vec3<double>(0.6, -0.48, 0.64))).toRotationMatrix();
  m.p = length * Vec3<double>(0.31, -0.42, 0.53);
  m.w = Vec3<double>(0.2, 0.3, -0.4);
  m.pdot = length * Vec3<double>(-0.3, 0.1, 0.2);
  std::array<Row, kMaxRows> rows;
  closure.evaluate(m, rows);
  std::array<bool, kMaxRows> lengths{};
  for (std::size_t r = 0; r < static_cast<std::size_t>(closure.row_count); ++r) lengths[r] = !rows[r].on_p.isZero(0.0);
  return lengths;
}

void measure(Model& model) {
  Model::Units& units = model.units;
  units.length = longest_distance(model);
  if (!(units.length > 0.0)) units.length = longest_slide(model);
  if (!(units.length > 0.0)) units.length = 1.0;
  model.tree.length = units.length;
  units.rate = std::sqrt(model.tree.gravity.norm() / units.length);
  units.velocity.setOnes(model.tree.nv);
  for (const Node& node : model.tree.nodes) units.velocity.segment(node.v, sliding_count(node.kind)).setConstant(units.length);
  units.row.setOnes(model.row_count());
  for (const FrameClosure& closure : model.frame_closures) measure_rows(closure, units.length, units.row);
  for (const CoordinateClosure& closure : model.coordinate_closures)
    if (const double unit = unit_of(model, closure); unit > 0.0 && std::isfinite(unit)) units.row[closure.row] = unit;
  units.tolerance = model.settings.tolerance_in_metres ? VecX<double>::Ones(model.row_count()) : units.row;
}

}  // namespace linkwork
