#include "linkwork/dynamics/custom_forces.h"

#include <fmt/format.h>

#include <cmath>

#include "linkwork/dynamics/names.h"

namespace linkwork {

namespace {

/// What one force does, as it says so.
class AppliedForces final : public Forces {
 public:
  AppliedForces(const ModelNames& names, System& system, const std::string& force, std::string& not_finite)
      : names_(names), system_(system), force_(force), not_finite_(not_finite) {}

  double power() const { return power_; }

  void on(std::string_view name, const Load& load, const Eigen::Vector3d& at) override {
    const Body& body = *names_.bodies.at(name);
    check(load.force.allFinite() && load.torque.allFinite() && at.allFinite(), "body", name);
    if (body.node == 0) return;
    const Mat3<double>& R = system_.X_WN(body.node).R;
    const Vec3<double> f = R.transpose() * load.force, r = body.X_NB * at;
    const Wrench<double> wrench{R.transpose() * load.torque + r.cross(f), f};
    const NodeWork<double>& node = system_.work()[body.node];
    power_ += linkwork::power(wrench, Twist<double>{node.w, node.v});
    system_.work().apply(body.node, wrench);
  }

  void on_joint(std::string_view name, double effort) override {
    const Coordinate& coordinate = names_.velocities.at(name);
    check(std::isfinite(effort), "joint", name);
    power_ += effort * system_.value(Variable{Variable::Kind::kVelocity, coordinate});
    system_.add_coordinate_force(coordinate, effort);
  }

 private:
  void check(bool finite, const char* kind, std::string_view name) {
    if (!finite && not_finite_.empty())
      not_finite_ = fmt::format("the custom force '{}' on {} '{}' is not a finite number", force_, kind, name);
  }

  const ModelNames& names_;
  System& system_;
  const std::string& force_;
  std::string& not_finite_;
  double power_ = 0.0;
};

}  // namespace

CustomForces::CustomForces(const Model& model) : model_(&model), names_(std::make_unique<ModelNames>(model)) {}
CustomForces::CustomForces(CustomForces&&) noexcept = default;
CustomForces& CustomForces::operator=(CustomForces&&) noexcept = default;
CustomForces::~CustomForces() = default;

double CustomForces::apply(System& system) {
  not_finite_.clear();
  const SystemKinematics at(*names_, system);
  double power = 0.0;
  for (const CustomForce& force : model_->custom_forces) {
    AppliedForces forces(*names_, system, force.name, not_finite_);
    force.apply(at, forces);
    if (force.power)
      power += force.power(at);
    else if (!force.potential)
      power += forces.power();
  }
  return power;
}

double CustomForces::potential(const System& system) const {
  const SystemKinematics at(*names_, system);
  double energy = 0.0;
  for (const CustomForce& force : model_->custom_forces)
    if (force.potential) energy += force.potential(at);
  return energy;
}

}  // namespace linkwork
