#pragma once

#include <array>
#include <functional>
#include <memory>
#include <string>
#include <vector>

/// A mechanism in plain numbers, and an engine that simulates it. The engines of others come as modules that are loaded at run
/// time and compiled as their packages are; nothing here may depend on how matrices are stored or aligned.
namespace linkwork::bench {

using Triple = std::array<double, 3>;

/// Where a frame is: rows of the rotation, and the origin.
struct Placement {
  std::array<double, 9> R{1, 0, 0, 0, 1, 0, 0, 0, 1};
  Triple p{};
};

enum class JointType { kRevolute, kPrismatic, kFree };  // about and along z

/// A body and the joint that carries it. The body's frame is the joint's outboard frame, so that only the inboard one needs
/// saying. Coordinates are Linkwork's: an angle or distance; a free joint has the position and a quaternion (w, x, y, z), and as
/// velocities the rate of the position and the angular velocity in the body's axes.
struct PeerBody {
  std::string name;
  int parent = 0;  // body; 0 is the ground
  Placement in_parent;
  JointType joint = JointType::kRevolute;
  int q = 0, v = 0;  // the joint's first coordinates
  double stiffness = 0.0, damping = 0.0, rest = 0.0;
  double mass = 0.0;
  Triple com{};
  std::array<double, 9> inertia{};  // about the center of mass
};

enum class LoopType { kPin, kBall, kRevolute };  // across z of a: two, three, five rows

struct PeerLoop {
  std::string name;
  LoopType type = LoopType::kPin;
  int a = 0, b = 0;  // bodies
  Placement in_a, in_b;
};

struct PeerSpring {
  int a = 0, b = 0;
  Triple in_a{}, in_b{};
  double stiffness = 0.0, damping = 0.0, length = 0.0;
};

using OfTime = std::function<double(double t)>;

struct PeerMotor {
  int body = 0;  // acts on its joint
  OfTime value;
};

struct PeerWrench {
  int body = 0;
  Triple at{};
  std::array<OfTime, 3> force, torque;  // world axes
};

struct Mechanism {
  int nq = 0, nv = 0;
  Triple gravity{};
  std::vector<PeerBody> bodies;  // [0] is the ground; parents first
  std::vector<PeerLoop> loops;
  std::vector<PeerSpring> springs;
  std::vector<PeerMotor> motors;
  std::vector<PeerWrench> wrenches;
};

struct PeerState {
  double t = 0.0;
  std::vector<double> q, v;
};

/// How to step: a fixed step, or an accuracy for those who choose their own.
struct Stepping {
  double step = 0.0;
  double accuracy = 0.0;
};

class Engine {
 public:
  virtual ~Engine() = default;

  /// States that evaluate() will be asked for, brought into the engine's own form.
  virtual void keep(const std::vector<PeerState>& states) = 0;
  /// One forward-dynamics evaluation, loops included: what is timed. Throws if it cannot.
  virtual void evaluate(std::size_t state) = 0;
  /// Accelerations at a state that was kept.
  virtual std::vector<double> accelerations(std::size_t state) = 0;

  /// Called at multiples of `every`, the start included; false stops the run.
  using Seen = std::function<bool(const PeerState&)>;
  /// Moves on from a state. Returns why it stopped early, or nothing. Throws if it cannot go on.
  virtual std::string run(const PeerState& start, const Stepping& stepping, double end, double every, const Seen& seen) = 0;
};

/// What a module offers, by the function linkwork_peer().
struct Peer {
  std::string name;
  std::string version;
  std::string constraints;           // "hard", "soft", "velocity"
  std::string evaluation;            // what evaluate() does
  std::string stepping;              // what run() does
  double agreement = 1e-8;           // accelerations that differ by more are not those of the same mechanism
  std::vector<Stepping> accuracies;  // to be tried for a given accuracy, cheap ones first
  std::unique_ptr<Engine> (*make)(const Mechanism&, const PeerState& start) = nullptr;
};

using PeerFunction = std::vector<Peer> (*)();

}  // namespace linkwork::bench
