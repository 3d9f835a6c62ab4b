#pragma once

#include <cmath>
#include <string>
#include <vector>

#include "linkwork/linkwork.h"

/// A module that is not a Linkwork model: a uniform rod on a pivot, by the formulas of a textbook. It answers the three questions
/// of linkwork::Module, and a glue cannot tell it from a module that reads a model file and runs recursions over a tree.
///
///   (1)  I phidd = -m g (l/2) cos phi + J' Q,   I = m l^2 / 3
///   (2)  the tip moves with J phid, J = (0, 0, 1, -l sin phi, l cos phi, 0), and accelerates with J phidd + Jdot phid
///   (3)  hence xdd = D Q + R with D = J J' / I, R = J phidd_free + Jdot phid
class RockerModule : public linkwork::Module {
 public:
  struct Rod {
    double pivot_x = 0.0, length = 1.0, mass = 1.0, gravity = 9.81, angle = 0.0;
  };
  RockerModule(std::string name, const Rod& rod)
      : rod_(rod), inertia_(rod.mass * rod.length * rod.length / 3.0), columns_{"q." + name, "v." + name, "a." + name} {}

  int port_count() const override { return 1; }  // the tip
  int state_size() const override { return 3; }  // angle, speed, work
  int controlled_size() const override { return 2; }
  void start(linkwork::VecX<double>& x) override { x = linkwork::Vec3<double>(rod_.angle, 0.0, 0.0); }

  linkwork::Status kinematics(double, const linkwork::VecX<double>& x, std::span<linkwork::PortMotion> ports) override {
    angle_ = x[0], speed_ = x[1], work_ = x[2];
    const double c = std::cos(angle_), s = std::sin(angle_), l = rod_.length;
    J_ << 0.0, 0.0, 1.0, -l * s, l * c, 0.0;
    Jdot_v_ << 0.0, 0.0, 0.0, -l * c * speed_ * speed_, -l * s * speed_ * speed_, 0.0;
    ports[0].R << c, -s, 0.0, s, c, 0.0, 0.0, 0.0, 1.0;
    ports[0].p << rod_.pivot_x + l * c, l * s, 0.0;
    ports[0].w = J_.head<3>() * speed_;
    ports[0].v = J_.tail<3>() * speed_;
    return {};
  }

  linkwork::Status response(linkwork::Level level, linkwork::PortResponse& response) override {
    const bool dynamic = level == linkwork::Level::kAcceleration;  // it has no constraints that a position could violate
    free_ = dynamic ? -rod_.mass * rod_.gravity * 0.5 * rod_.length * std::cos(angle_) / inertia_ : 0.0;
    response.D = J_ * J_.transpose() / inertia_;
    response.R = J_ * free_;
    if (dynamic) response.R += Jdot_v_;
    response.scale.head<3>().setConstant(1.0 / inertia_);
    response.scale.tail<3>().setConstant(rod_.length * rod_.length / inertia_);
    return {};
  }

  linkwork::Status advance(linkwork::Level level, const linkwork::VecX<double>& Q, linkwork::VecX<double>& out) override {
    const double answer = free_ + J_.dot(Q) / inertia_;
    if (level == linkwork::Level::kPosition) out[0] -= answer;
    if (level == linkwork::Level::kVelocity) out[1] -= answer;
    if (level == linkwork::Level::kAcceleration) out = linkwork::Vec3<double>(speed_, answer, J_.dot(Q) * speed_);
    return {};
  }

  linkwork::ModuleErrors errors() const override { return {0.0, 0.0, std::abs(speed_)}; }
  const std::vector<std::string>& columns() const override { return columns_; }
  linkwork::Status record(const linkwork::VecX<double>& Q, std::span<double> row) override {
    row[0] = angle_, row[1] = speed_, row[2] = free_ + J_.dot(Q) / inertia_;
    return {};
  }
  linkwork::ModuleEnergy energy() const override {
    return {0.5 * inertia_ * speed_ * speed_, rod_.mass * rod_.gravity * 0.5 * rod_.length * std::sin(angle_), work_};
  }
  int dof() const override { return 1; }

 private:
  Rod rod_;
  double inertia_;
  std::vector<std::string> columns_;
  double angle_ = 0.0, speed_ = 0.0, work_ = 0.0, free_ = 0.0;
  Eigen::Matrix<double, 6, 1> J_, Jdot_v_;
};
