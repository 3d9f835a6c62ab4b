#pragma once

#include <Eigen/Core>
#include <Eigen/Geometry>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace linkwork {

/// How fast a body moves: of its frame's origin, in world axes.
struct BodyTwist {
  Eigen::Vector3d angular = Eigen::Vector3d::Zero(), linear = Eigen::Vector3d::Zero();
};

/// A force and a torque, in world axes.
struct Load {
  Eigen::Vector3d force = Eigen::Vector3d::Zero(), torque = Eigen::Vector3d::Zero();
};

/// A mechanism at an instant, by the names that its author gave. All functions throw InputError for a name that is not there.
class Kinematics {
 public:
  virtual ~Kinematics() = default;

  virtual double t() const = 0;
  /// A coordinate of a joint, "joint" or "joint.component", and its rate.
  virtual double q(std::string_view coordinate) const = 0;
  virtual double v(std::string_view coordinate) const = 0;
  virtual double input(std::string_view name) const = 0;
  /// Of the user's own, [[state]].
  virtual double state(std::string_view name) const = 0;
  /// Of a body's frame in the world.
  virtual Eigen::Isometry3d pose(std::string_view body) const = 0;
  virtual BodyTwist twist(std::string_view body) const = 0;

  /// Of a point of the body, given in its frame.
  Eigen::Vector3d position(std::string_view body, const Eigen::Vector3d& at) const { return pose(body) * at; }
  Eigen::Vector3d velocity(std::string_view body, const Eigen::Vector3d& at) const {
    const BodyTwist moves = twist(body);
    return moves.linear + moves.angular.cross(pose(body).linear() * at);
  }
};

/// Where a custom force says what it does. What is said several times adds up.
class Forces {
 public:
  virtual ~Forces() = default;

  /// On a body, at a point that is given in the body's frame.
  virtual void on(std::string_view body, const Load& load, const Eigen::Vector3d& at = Eigen::Vector3d::Zero()) = 0;
  /// Along a joint's coordinate: a force, or a torque.
  virtual void on_joint(std::string_view coordinate, double effort) = 0;
};

/// A force given by a program. It must depend on the instant alone, and be as smooth as the integrator expects forces to be.
struct CustomForce {
  std::string name;
  std::function<void(const Kinematics& at, Forces& forces)> apply;
  /// The energy it stores. Without one, all that it does counts as work.
  std::function<double(const Kinematics& at)> potential = {};
  /// Beside a potential: the power of what is not in it, such as damping. Without it there is none.
  std::function<double(const Kinematics& at)> power = {};
  /// Bodies and joint coordinates that get columns of what it does to them: "load.<name>.<body>.fx", of the force and the torque
  /// at the body's origin in world axes, and "effort.<name>.<coordinate>". The column "power.<name>" is always there.
  std::vector<std::string> columns = {};
};

}  // namespace linkwork
