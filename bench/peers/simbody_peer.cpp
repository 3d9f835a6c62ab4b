// Simbody: loops as hard constraints on a tree, solved at acceleration level and projected.

#include <Simbody.h>

#include <cmath>

#include "bench/peers/mechanism.h"

namespace linkwork::bench {
namespace {

using SimTK::MobilizedBody;
using SimTK::Vec3;

Vec3 vec(const Triple& p) { return {p[0], p[1], p[2]}; }

SimTK::Rotation rotation(const std::array<double, 9>& R) {
  SimTK::Rotation out;
  out.setRotationFromApproximateMat33(SimTK::Mat33(R[0], R[1], R[2], R[3], R[4], R[5], R[6], R[7], R[8]));
  return out;
}

SimTK::Transform transform(const Placement& at) { return {rotation(at.R), vec(at.p)}; }

SimTK::MassProperties mass_properties(const PeerBody& body) {
  const auto& I = body.inertia;
  const SimTK::Inertia about_com(I[0], I[4], I[8], I[1], I[2], I[5]);
  return {body.mass, vec(body.com), about_com.shiftFromMassCenter(-vec(body.com), body.mass)};
}

/// Forces that are functions of time.
class TimedForces : public SimTK::Force::Custom::Implementation {
 public:
  TimedForces(const SimTK::SimbodyMatterSubsystem& matter, const Mechanism& mechanism)
      : matter_(matter), motors_(mechanism.motors), wrenches_(mechanism.wrenches) {}

  void calcForce(const SimTK::State& state, SimTK::Vector_<SimTK::SpatialVec>& on_bodies, SimTK::Vector_<Vec3>&,
                 SimTK::Vector& on_mobilities) const override {
    const double t = state.getTime();
    for (const PeerMotor& motor : motors_)
      matter_.getMobilizedBody(SimTK::MobilizedBodyIndex(motor.body))
          .applyOneMobilityForce(state, SimTK::MobilizerUIndex(0), motor.value(t), on_mobilities);
    for (const PeerWrench& wrench : wrenches_) {
      const MobilizedBody& body = matter_.getMobilizedBody(SimTK::MobilizedBodyIndex(wrench.body));
      const Vec3 force(wrench.force[0](t), wrench.force[1](t), wrench.force[2](t));
      body.applyForceToBodyPoint(state, vec(wrench.at), force, on_bodies);
      body.applyBodyTorque(state, Vec3(wrench.torque[0](t), wrench.torque[1](t), wrench.torque[2](t)), on_bodies);
    }
  }
  SimTK::Real calcPotentialEnergy(const SimTK::State&) const override { return 0.0; }

 private:
  const SimTK::SimbodyMatterSubsystem& matter_;
  std::vector<PeerMotor> motors_;
  std::vector<PeerWrench> wrenches_;
};

class SimbodyEngine : public Engine {
 public:
  SimbodyEngine(const Mechanism& mechanism, const PeerState&) : mechanism_(mechanism), matter_(system_), forces_(system_) {
    for (std::size_t k = 1; k < mechanism.bodies.size(); ++k) add(mechanism.bodies[k]);
    for (const PeerLoop& loop : mechanism.loops) close(loop);
    add_forces();
    system_.realizeTopology();
    state_ = system_.getDefaultState();
    matter_.setUseEulerAngles(state_, false);
    system_.realizeModel(state_);
    for (std::size_t k = 1; k < mechanism.bodies.size(); ++k) {
      const MobilizedBody& body = mobilized(static_cast<int>(k));
      q_.push_back(body.getFirstQIndex(state_));
      u_.push_back(body.getFirstUIndex(state_));
    }
  }

  void keep(const std::vector<PeerState>& states) override {
    kept_.clear();
    for (const PeerState& state : states) kept_.push_back({state.t, native_q(state), native_u(state)});
  }

  void evaluate(std::size_t k) override {
    state_.updTime() = kept_[k].t;
    state_.updQ() = kept_[k].q;
    state_.updU() = kept_[k].u;
    system_.realize(state_, SimTK::Stage::Acceleration);
  }

  std::vector<double> accelerations(std::size_t k) override {
    evaluate(k);
    return canonical(state_.getUDot(), state_);
  }

  std::string run(const PeerState& start, const Stepping& stepping, double end, double every, const Seen& seen) override {
    SimTK::State state = state_;
    state.updTime() = start.t;
    state.updQ() = native_q(start);
    state.updU() = native_u(start);
    SimTK::RungeKuttaMersonIntegrator integrator(system_);
    if (stepping.step > 0.0)
      integrator.setFixedStepSize(stepping.step);
    else
      integrator.setAccuracy(stepping.accuracy);
    SimTK::TimeStepper stepper(system_, integrator);
    stepper.initialize(state);
    if (!seen(canonical_state(stepper.getState()))) return "";
    for (long k = 1; static_cast<double>(k - 1) * every < end - 0.5 * every; ++k) {
      stepper.stepTo(static_cast<double>(k) * every);
      if (!seen(canonical_state(stepper.getState()))) return "";
    }
    return "";
  }

 private:
  struct Kept {
    double t;
    SimTK::Vector q, u;
  };

  MobilizedBody& mobilized(int body) { return matter_.updMobilizedBody(SimTK::MobilizedBodyIndex(body)); }

  void add(const PeerBody& body) {
    const SimTK::Body::Rigid rigid(mass_properties(body));
    MobilizedBody& parent = mobilized(body.parent);
    const SimTK::Transform X_PF = transform(body.in_parent);
    const SimTK::Transform x_to_z(SimTK::Rotation(-SimTK::Pi / 2, SimTK::YAxis));  // Simbody's slider moves along x
    if (body.joint == JointType::kRevolute)
      MobilizedBody::Pin(parent, X_PF, rigid, SimTK::Transform());
    else if (body.joint == JointType::kFree)
      MobilizedBody::Free(parent, X_PF, rigid, SimTK::Transform());
    else
      MobilizedBody::Slider(parent, X_PF * x_to_z, rigid, x_to_z);
  }

  /// A pin of two rows is two points in planes: the ball of three would be redundant in a planar loop.
  void close(const PeerLoop& loop) {
    MobilizedBody &a = mobilized(loop.a), &b = mobilized(loop.b);
    const SimTK::Transform X_A = transform(loop.in_a), X_B = transform(loop.in_b);
    if (loop.type == LoopType::kPin) {
      for (const SimTK::UnitVec3& normal : {X_A.x(), X_A.y()})
        SimTK::Constraint::PointInPlane(a, normal, dot(normal, X_A.p()), b, X_B.p());
      return;
    }
    SimTK::Constraint::Ball(a, X_A.p(), b, X_B.p());
    if (loop.type == LoopType::kRevolute)
      for (const SimTK::UnitVec3& axis : {X_A.x(), X_A.y()}) SimTK::Constraint::ConstantAngle(a, axis, b, X_B.z(), SimTK::Pi / 2);
  }

  void add_forces() {
    SimTK::Force::Gravity(forces_, matter_, vec(mechanism_.gravity));
    for (std::size_t k = 1; k < mechanism_.bodies.size(); ++k) {
      const PeerBody& body = mechanism_.bodies[k];
      const MobilizedBody& mobilizer = mobilized(static_cast<int>(k));
      if (body.stiffness != 0.0)
        SimTK::Force::MobilityLinearSpring(forces_, mobilizer, SimTK::MobilizerQIndex(0), body.stiffness, body.rest);
      if (body.damping != 0.0) SimTK::Force::MobilityLinearDamper(forces_, mobilizer, SimTK::MobilizerUIndex(0), body.damping);
    }
    for (const PeerSpring& spring : mechanism_.springs) {
      SimTK::Force::TwoPointLinearSpring(forces_, mobilized(spring.a), vec(spring.in_a), mobilized(spring.b), vec(spring.in_b),
                                         spring.stiffness, spring.length);
      SimTK::Force::TwoPointLinearDamper(forces_, mobilized(spring.a), vec(spring.in_a), mobilized(spring.b), vec(spring.in_b),
                                         spring.damping);
    }
    if (!mechanism_.motors.empty() || !mechanism_.wrenches.empty())
      SimTK::Force::Custom(forces_, new TimedForces(matter_, mechanism_));  // the handle owns it
  }

  SimTK::Vector native_q(const PeerState& state) const {
    SimTK::Vector q(state_.getNQ(), 0.0);
    for (std::size_t k = 0; k < q_.size(); ++k) {
      const PeerBody& body = mechanism_.bodies[k + 1];
      const double* from = &state.q[static_cast<std::size_t>(body.q)];
      double* to = &q[q_[k]];
      if (body.joint != JointType::kFree) {
        to[0] = from[0];
        continue;
      }
      for (int i = 0; i < 4; ++i) to[i] = from[3 + i];  // the quaternion first
      for (int i = 0; i < 3; ++i) to[4 + i] = from[i];
    }
    return q;
  }

  static SimTK::Rotation orientation(const double* wxyz) {
    return SimTK::Rotation(SimTK::Quaternion(SimTK::Vec4(wxyz[0], wxyz[1], wxyz[2], wxyz[3])));
  }

  /// Angular velocities are in the axes of the inboard frame here.
  SimTK::Vector native_u(const PeerState& state) const {
    SimTK::Vector u(state_.getNU(), 0.0);
    for (std::size_t k = 0; k < u_.size(); ++k) {
      const PeerBody& body = mechanism_.bodies[k + 1];
      const double* from = &state.v[static_cast<std::size_t>(body.v)];
      double* to = &u[u_[k]];
      if (body.joint != JointType::kFree) {
        to[0] = from[0];
        continue;
      }
      const Vec3 w = orientation(&state.q[static_cast<std::size_t>(body.q) + 3]) * Vec3(from[3], from[4], from[5]);
      for (int i = 0; i < 3; ++i) to[i] = w[i], to[3 + i] = from[i];
    }
    return u;
  }

  /// Velocities, or accelerations: both turn alike, since an angular velocity looks the same from either frame's rates.
  std::vector<double> canonical(const SimTK::Vector& u, const SimTK::State& state) const {
    std::vector<double> v(static_cast<std::size_t>(mechanism_.nv));
    for (std::size_t k = 0; k < u_.size(); ++k) {
      const PeerBody& body = mechanism_.bodies[k + 1];
      double* to = &v[static_cast<std::size_t>(body.v)];
      const double* from = &u[u_[k]];
      if (body.joint != JointType::kFree) {
        to[0] = from[0];
        continue;
      }
      const Vec3 w = ~orientation(&state.getQ()[q_[k]]) * Vec3(from[0], from[1], from[2]);
      for (int i = 0; i < 3; ++i) to[i] = from[3 + i], to[3 + i] = w[i];
    }
    return v;
  }

  PeerState canonical_state(const SimTK::State& state) const {
    PeerState out{state.getTime(), std::vector<double>(static_cast<std::size_t>(mechanism_.nq)), canonical(state.getU(), state)};
    for (std::size_t k = 0; k < q_.size(); ++k) {
      const PeerBody& body = mechanism_.bodies[k + 1];
      double* to = &out.q[static_cast<std::size_t>(body.q)];
      const double* from = &state.getQ()[q_[k]];
      if (body.joint != JointType::kFree) {
        to[0] = from[0];
        continue;
      }
      const double length = std::hypot(std::hypot(from[0], from[1]), std::hypot(from[2], from[3]));
      for (int i = 0; i < 4; ++i) to[3 + i] = from[i] / length;
      for (int i = 0; i < 3; ++i) to[i] = from[4 + i];
    }
    return out;
  }

  Mechanism mechanism_;
  SimTK::MultibodySystem system_;
  SimTK::SimbodyMatterSubsystem matter_;
  SimTK::GeneralForceSubsystem forces_;
  SimTK::State state_;
  std::vector<int> q_, u_;  // by body, without the ground
  std::vector<Kept> kept_;
};

std::string version() {
  int major = 0, minor = 0, build = 0;
  SimTK_version_simbody(&major, &minor, &build);
  return std::to_string(major) + "." + std::to_string(minor) + "." + std::to_string(build);
}

std::unique_ptr<Engine> make(const Mechanism& mechanism, const PeerState& start) {
  return std::make_unique<SimbodyEngine>(mechanism, start);
}

}  // namespace
}  // namespace linkwork::bench

extern "C" __attribute__((visibility("default"))) std::vector<linkwork::bench::Peer> linkwork_peer() {
  using namespace linkwork::bench;
  std::vector<Stepping> accuracies;
  for (double accuracy : {1e-2, 1e-3, 1e-4, 1e-5, 1e-6, 1e-7, 1e-8, 1e-9}) accuracies.push_back({0.0, accuracy});
  return {{"Simbody", version(), "hard", "realize(Stage::Acceleration)",
           "Runge-Kutta-Merson, with its projection onto the constraints", 1e-8, accuracies, make}};
}
