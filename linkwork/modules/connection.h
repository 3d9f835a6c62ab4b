#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "linkwork/model/model.h"
#include "linkwork/modules/module.h"

namespace linkwork {

/// A port of a module, by number; module -1 is the ground, which does not move.
struct PortRef {
  int module = -1;
  int port = 0;

  bool is_ground() const { return module < 0; }
  bool operator==(const PortRef&) const = default;
};

/// A constraint between two ports.
struct Connection {
  std::string name;
  PortRef a, b;
  Pose<double> ground_a, ground_b;               // the frame, where a or b is the ground
  std::optional<Pose<double>> in_a, in_b;        // the frame as seen from the port, if it is another one of the same body
  Mat3<double> axes = Mat3<double>::Identity();  // from the ports' axes to those of the constraint
  ClosureGeometry geometry;
  const FrameClosureKind* kind = nullptr;  // one of the two is set
  const JointKind* joint_kind = nullptr;
  ComplianceSpec compliance;
  Place place;
  int number = 0;  // in the whole plan

  const std::vector<std::string>& row_names() const { return kind ? kind->rows : joint_kind->rows; }
  int row_count() const { return static_cast<int>(row_names().size()); }
};

/// A spring and damper between two ports: a force that follows from their motion.
struct SpringLink {
  std::string name;  // in columns
  PortRef a, b;
  Pose<double> ground_a, ground_b;
  double stiffness = 0.0, damping = 0.0, length = 0.0;
  std::optional<Pose<double>> in_a = std::nullopt, in_b = std::nullopt;
};

/// A constraint evaluated: its rows, and the wrenches that do unit work along them, on each port at its origin, world axes.
struct ConnectionRows {
  std::array<Row, kMaxRows> rows;
  std::array<Eigen::Matrix<double, 6, 1>, kMaxRows> on_a, on_b;
  Mat3<double> R_WA = Mat3<double>::Identity();  // axes in which the rows are expressed
  std::array<double, kMaxRows> phi{}, rate{}, second_rate{};
};

/// What a connection did: for the output.
struct ConnectionResult {
  std::array<double, kMaxRows> lambda{};
  Vec3<double> force = Vec3<double>::Zero();  // on b, world axes
  Vec3<double> torque = Vec3<double>::Zero();
  std::array<char, kMaxRows> dependent{};
};

/// The motion of a frame of the ground.
PortMotion resting(const Pose<double>& frame);
/// The motion of a frame of a port's body.
PortMotion motion_at(const PortMotion& port, const std::optional<Pose<double>>& in_port);

/// `xdd` are accelerations of the ports, six numbers each; null: the second rates are those at zero acceleration.
void evaluate(const Connection& connection, const PortMotion& a, const PortMotion& b, const double* xdd_a, const double* xdd_b,
              ConnectionRows& rows);

/// Sets force and torque from lambda.
void set_reaction(const ConnectionRows& rows, int count, ConnectionResult& result);

/// The wrenches of a spring on its two ports, each at the port's origin in world axes.
struct SpringForces {
  Eigen::Matrix<double, 6, 1> on_a, on_b;
  double potential = 0.0;
};
SpringForces spring_forces(const SpringLink& spring, const PortMotion& a, const PortMotion& b);

}  // namespace linkwork
