#pragma once

#include <fmt/format.h>

#include <Eigen/Core>
#include <cmath>
#include <random>
#include <string>

namespace linkwork::test {

/// Parts of model files with random frames, axes and masses; the same on every machine.
class Random {
 public:
  explicit Random(unsigned seed) : engine_(seed) {}
  double uniform(double low, double high) {
    return low + (high - low) * static_cast<double>(engine_()) / static_cast<double>(std::mt19937::max());
  }
  Eigen::Vector3d vector(double size) { return {uniform(-size, size), uniform(-size, size), uniform(-size, size)}; }
  Eigen::Vector3d axis() { return (vector(1.0) + Eigen::Vector3d(0.1, -0.2, 0.3)).normalized(); }

 private:
  std::mt19937 engine_;
};

inline std::string written(const Eigen::Vector3d& v) { return fmt::format("[{:.17g}, {:.17g}, {:.17g}]", v.x(), v.y(), v.z()); }

inline std::string frame_text(Random& random, const std::string& body) {
  return fmt::format("{{ body = \"{}\", at = {}, rpy = {} }}\n", body, written(random.vector(0.3)), written(random.vector(1.0)));
}

/// The mass is between 10^-decades and 10^decades kg.
inline std::string body_text(Random& random, const std::string& name, double decades) {
  return fmt::format("[[body]]\nname = \"{}\"\nmass = {:.6g}\ncom = {}\ninertia = [{:.6g}, {:.6g}, {:.6g}]\n", name,
                     std::pow(10.0, random.uniform(-decades, decades)), written(random.vector(0.1)), random.uniform(0.2, 0.3),
                     random.uniform(0.2, 0.3), random.uniform(0.2, 0.3));
}

}  // namespace linkwork::test
