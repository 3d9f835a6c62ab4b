#include "linkwork/simulation/configuration_distance.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace linkwork {

namespace {

/// A screw's angle is also a length, so it does not come round again.
bool comes_round(const JointKind& kind, std::size_t component) {
  return kind.positions[component] == "angle" || kind.name == "revolute" || kind.name == "universal";
}

double angle_between(std::span<const double, 4> a, std::span<const double, 4> b) {
  double minus = 0.0, plus = 0.0;
  for (std::size_t i = 0; i < 4; ++i) minus += std::pow(a[i] - b[i], 2), plus += std::pow(a[i] + b[i], 2);
  return 4.0 * std::asin(std::min(1.0, 0.5 * std::sqrt(std::min(minus, plus))));
}

}  // namespace

ConfigurationDistance::ConfigurationDistance(const Model& model) {
  for (const Joint& joint : model.joints) {
    const auto count = static_cast<std::size_t>(joint.kind->nq());
    const std::size_t scalars = joint.kind->has_quaternion() ? count - 4 : count;
    for (std::size_t k = 0; k < count; ++k) {
      const std::string name = "q." + coordinate_name(joint, joint.kind->positions[k]);
      if (k < scalars) parts_.push_back({comes_round(*joint.kind, k) ? Kind::kAngle : Kind::kLength, columns_.size(), name});
      if (k == scalars) parts_.push_back({Kind::kQuaternion, columns_.size(), "q." + joint.name});
      columns_.push_back(name);
    }
  }
}

ConfigurationDistance::Largest ConfigurationDistance::between(std::span<const double> a, std::span<const double> b) const {
  Largest largest;
  for (const Part& part : parts_) {
    double distance = std::abs(a[part.first] - b[part.first]);
    if (part.kind == Kind::kAngle) distance = std::abs(std::remainder(distance, 2.0 * std::numbers::pi));
    if (part.kind == Kind::kQuaternion)
      distance = angle_between(a.subspan(part.first).first<4>(), b.subspan(part.first).first<4>());
    if (std::isnan(distance)) return {distance, part.name};
    if (distance > largest.value) largest = {distance, part.name};
  }
  return largest;
}

}  // namespace linkwork
