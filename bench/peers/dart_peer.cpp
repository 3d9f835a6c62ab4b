// DART: loops as constraints on velocities, solved within a step (there are no constrained accelerations to be had without one).

#include <dart/config.hpp>
#include <dart/constraint/ConstraintSolver.hpp>
#include <dart/constraint/DynamicJointConstraint.hpp>
#include <dart/dynamics/BodyNode.hpp>
#include <dart/dynamics/FreeJoint.hpp>
#include <dart/dynamics/PrismaticJoint.hpp>
#include <dart/dynamics/RevoluteJoint.hpp>
#include <dart/dynamics/Skeleton.hpp>
#include <dart/simulation/World.hpp>
#include <limits>
#include <string>

#include "bench/peers/mechanism.h"

namespace linkwork::bench {
namespace {

using dart::dynamics::BodyNode;
using Eigen::Vector3d;
using Vector6d = Eigen::Matrix<double, 6, 1>;

constexpr double kStep = 1e-3;       // of the step that is timed
constexpr double kShortStep = 1e-6;  // of those that accelerations are read off

Vector3d vec(const Triple& p) { return {p[0], p[1], p[2]}; }

Eigen::Isometry3d isometry(const Placement& at) {
  Eigen::Isometry3d out = Eigen::Isometry3d::Identity();
  out.linear() = Eigen::Map<const Eigen::Matrix<double, 3, 3, Eigen::RowMajor>>(at.R.data());
  out.translation() = vec(at.p);
  return out;
}

/// The closures DART has none of, a pin of two rows and a revolute of five, made the way its ball is: rates of the rows are
/// brought to zero, and a part of their errors taken out, by impulses.
class LoopConstraint : public dart::constraint::DynamicJointConstraint {
 public:
  /// Either body may be null: the ground.
  LoopConstraint(LoopType type, BodyNode* a, const Eigen::Isometry3d& in_a, BodyNode* b, const Eigen::Isometry3d& in_b)
      : DynamicJointConstraint(a ? a : b), a_(a), b_(b), in_a_(in_a), in_b_(in_b), points_(type == LoopType::kPin ? 2 : 3) {
    mDim = type == LoopType::kPin ? 2 : type == LoopType::kBall ? 3 : 5;
  }

  void update() override {
    const Eigen::Isometry3d X_WA = a_ ? a_->getTransform() : Eigen::Isometry3d::Identity();
    const Eigen::Isometry3d X_AB = X_WA.inverse() * (b_ ? b_->getTransform() : Eigen::Isometry3d::Identity());
    const Vector3d r_b = in_b_.translation(), p = X_AB * r_b;
    for (int i = 0; i < points_; ++i) {
      const Vector3d e = in_a_.linear().col(i), e_b = X_AB.linear().transpose() * e;
      on_a_.col(i) << -p.cross(e), -e;
      on_b_.col(i) << r_b.cross(e_b), e_b;
      error_[i] = e.dot(p - in_a_.translation());
    }
    const Vector3d swing = in_a_.linear().col(2).cross(X_AB.linear() * in_b_.linear().col(2));
    for (int i = points_; i < rows(); ++i) {
      const Vector3d e = in_a_.linear().col(i - points_);
      on_a_.col(i) << -e, Vector3d::Zero();
      on_b_.col(i) << X_AB.linear().transpose() * e, Vector3d::Zero();
      error_[i] = e.dot(swing);
    }
  }

  void getInformation(dart::constraint::ConstraintInfo* info) override {
    for (int i = 0; i < rows(); ++i) {
      info->lo[i] = -std::numeric_limits<double>::infinity();
      info->hi[i] = std::numeric_limits<double>::infinity();
      info->x[i] = 0.0;
      info->b[i] = -rate(i, a_ ? a_->getSpatialVelocity() : Vector6d::Zero(), b_ ? b_->getSpatialVelocity() : Vector6d::Zero()) -
                   error_[i] * getErrorReductionParameter() * info->invTimeStep;
    }
  }

  void applyUnitImpulse(std::size_t index) override {
    const auto skeleton = getRootSkeleton();
    const auto row = static_cast<Eigen::Index>(index);
    skeleton->clearConstraintImpulses();
    if (a_ && b_)
      skeleton->updateBiasImpulse(a_, on_a_.col(row), b_, on_b_.col(row));
    else if (a_)
      skeleton->updateBiasImpulse(a_, on_a_.col(row));
    else
      skeleton->updateBiasImpulse(b_, on_b_.col(row));
    skeleton->updateVelocityChange();
    applied_ = row;
  }

  void getVelocityChange(double* change, bool with_cfm) override {
    const Vector6d none = Vector6d::Zero();
    const bool moves = getRootSkeleton()->isImpulseApplied();
    for (int i = 0; i < rows(); ++i)
      change[i] = moves ? rate(i, a_ ? a_->getBodyVelocityChange() : none, b_ ? b_->getBodyVelocityChange() : none) : 0.0;
    if (with_cfm) change[applied_] *= 1.0 + getConstraintForceMixing();
  }

  void excite() override { getRootSkeleton()->setImpulseApplied(true); }
  void unexcite() override { getRootSkeleton()->setImpulseApplied(false); }

  void applyImpulse(double* lambda) override {
    const Eigen::Map<const Eigen::VectorXd> impulse(lambda, rows());
    if (a_) a_->addConstraintImpulse(on_a_.leftCols(rows()) * impulse);
    if (b_) b_->addConstraintImpulse(on_b_.leftCols(rows()) * impulse);
  }

  bool isActive() const override { return true; }
  dart::dynamics::SkeletonPtr getRootSkeleton() const override { return (a_ ? a_ : b_)->getSkeleton(); }

 private:
  int rows() const { return static_cast<int>(mDim); }
  double rate(int row, const Vector6d& of_a, const Vector6d& of_b) const {
    return on_a_.col(row).dot(of_a) + on_b_.col(row).dot(of_b);
  }

  BodyNode* a_;
  BodyNode* b_;
  Eigen::Isometry3d in_a_, in_b_;
  int points_;
  Eigen::Matrix<double, 6, 5> on_a_, on_b_;  // by row
  Eigen::Matrix<double, 5, 1> error_;
  Eigen::Index applied_ = 0;

 public:
  EIGEN_MAKE_ALIGNED_OPERATOR_NEW
};

class DartEngine : public Engine {
 public:
  DartEngine(const Mechanism& mechanism, const PeerState& start)
      : mechanism_(mechanism),
        world_(dart::simulation::World::create()),
        skeleton_(dart::dynamics::Skeleton::create("mechanism")) {
    nodes_.push_back(nullptr);
    for (std::size_t k = 1; k < mechanism.bodies.size(); ++k) add(mechanism.bodies[k]);
    world_->setGravity(vec(mechanism.gravity));
    world_->addSkeleton(skeleton_);
    load(native(start));
    for (const PeerLoop& loop : mechanism.loops) close(loop);
  }

  void keep(const std::vector<PeerState>& states) override {
    kept_.clear();
    for (const PeerState& state : states) kept_.push_back(native(state));
    world_->setTimeStep(kStep);
  }

  void evaluate(std::size_t k) override {
    load(kept_[k]);
    step();
  }

  /// The first step starts from velocities of the present, and leaves those that fit the positions before it: the change over the
  /// second is that of the motion.
  std::vector<double> accelerations(std::size_t k) override {
    world_->setTimeStep(kShortStep);
    evaluate(k);
    const PeerState first = current();
    step();
    const PeerState second = current();
    world_->setTimeStep(kStep);
    std::vector<double> out(second.v.size());
    for (std::size_t i = 0; i < out.size(); ++i) out[i] = (second.v[i] - first.v[i]) / kShortStep;
    return out;
  }

  std::string run(const PeerState& start, const Stepping& stepping, double end, double every, const Seen& seen) override {
    world_->setTimeStep(stepping.step);
    load(native(start));
    if (!seen(current())) return "";
    const long steps = std::lround(every / stepping.step);
    for (long k = 1; static_cast<double>(k - 1) * every < end - 0.5 * every; ++k) {
      for (long i = 0; i < steps; ++i) {
        step();
        if (!is_sane()) return "it flies apart at t = " + std::to_string(world_->getTime()) + " s";
      }
      if (!seen(current())) return "";
    }
    return "";
  }

 private:
  struct Native {
    double t;
    Eigen::VectorXd q, v;
  };

  void add(const PeerBody& body) {
    using namespace dart::dynamics;
    Eigen::Matrix3d inertia = Eigen::Map<const Eigen::Matrix<double, 3, 3, Eigen::RowMajor>>(body.inertia.data());
    inertia.diagonal().array() +=
        1e-9 * inertia.diagonal().maxCoeff();  // it warns of slender rods, which have none about an axis
    BodyNode::Properties properties;
    properties.mName = body.name;
    properties.mInertia = Inertia(body.mass, vec(body.com), inertia);
    BodyNode* parent = nodes_[static_cast<std::size_t>(body.parent)];
    Joint* joint = nullptr;
    BodyNode* node = nullptr;
    if (body.joint == JointType::kRevolute)
      std::tie(joint, node) =
          skeleton_->createJointAndBodyNodePair<RevoluteJoint>(parent, RevoluteJoint::Properties(), properties);
    else if (body.joint == JointType::kPrismatic)
      std::tie(joint, node) =
          skeleton_->createJointAndBodyNodePair<PrismaticJoint>(parent, PrismaticJoint::Properties(), properties);
    else
      std::tie(joint, node) = skeleton_->createJointAndBodyNodePair<FreeJoint>(parent, FreeJoint::Properties(), properties);
    if (auto* turning = dynamic_cast<RevoluteJoint*>(joint)) turning->setAxis(Vector3d::UnitZ());
    if (auto* sliding = dynamic_cast<PrismaticJoint*>(joint)) sliding->setAxis(Vector3d::UnitZ());
    joint->setName(body.name);
    joint->setTransformFromParentBodyNode(isometry(body.in_parent));
    if (body.joint != JointType::kFree) {
      joint->setSpringStiffness(0, body.stiffness);
      joint->setRestPosition(0, body.rest);
      joint->setDampingCoefficient(0, body.damping);
    }
    nodes_.push_back(node);
  }

  void close(const PeerLoop& loop) {
    BodyNode *a = nodes_[static_cast<std::size_t>(loop.a)], *b = nodes_[static_cast<std::size_t>(loop.b)];
    world_->getConstraintSolver()->addConstraint(std::allocate_shared<LoopConstraint>(
        Eigen::aligned_allocator<LoopConstraint>(), loop.type, a, isometry(loop.in_a), b, isometry(loop.in_b)));
  }

  std::size_t first_dof(std::size_t k) const { return nodes_[k]->getParentJoint()->getIndexInSkeleton(0); }

  /// Of a free joint: logarithm of the rotation and position; velocity as a twist in the body's axes.
  Native native(const PeerState& state) const {
    const auto n = static_cast<Eigen::Index>(skeleton_->getNumDofs());
    Native out{state.t, Eigen::VectorXd(n), Eigen::VectorXd(n)};
    for (std::size_t k = 1; k < nodes_.size(); ++k) {
      const PeerBody& body = mechanism_.bodies[k];
      const double *q = &state.q[static_cast<std::size_t>(body.q)], *v = &state.v[static_cast<std::size_t>(body.v)];
      const auto dof = static_cast<Eigen::Index>(first_dof(k));
      if (body.joint != JointType::kFree) {
        out.q[dof] = q[0], out.v[dof] = v[0];
        continue;
      }
      Eigen::Isometry3d pose = Eigen::Isometry3d::Identity();
      pose.linear() = Eigen::Quaterniond(q[3], q[4], q[5], q[6]).toRotationMatrix();
      pose.translation() = Vector3d(q[0], q[1], q[2]);
      out.q.segment<6>(dof) = dart::dynamics::FreeJoint::convertToPositions(pose);
      out.v.segment<3>(dof) = Vector3d(v[3], v[4], v[5]);
      out.v.segment<3>(dof + 3) = pose.linear().transpose() * Vector3d(v[0], v[1], v[2]);
    }
    return out;
  }

  PeerState current() const {
    PeerState out{world_->getTime(), std::vector<double>(static_cast<std::size_t>(mechanism_.nq)),
                  std::vector<double>(static_cast<std::size_t>(mechanism_.nv))};
    for (std::size_t k = 1; k < nodes_.size(); ++k) {
      const PeerBody& body = mechanism_.bodies[k];
      double *q = &out.q[static_cast<std::size_t>(body.q)], *v = &out.v[static_cast<std::size_t>(body.v)];
      const auto* joint = nodes_[k]->getParentJoint();
      if (body.joint != JointType::kFree) {
        q[0] = joint->getPosition(0), v[0] = joint->getVelocity(0);
        continue;
      }
      const Eigen::Isometry3d pose = dart::dynamics::FreeJoint::convertToTransform(joint->getPositions());
      const Eigen::Quaterniond turn(pose.linear());
      const Eigen::VectorXd twist = joint->getVelocities();
      const Vector3d rate = pose.linear() * twist.tail<3>();
      for (int i = 0; i < 3; ++i) q[i] = pose.translation()[i], v[i] = rate[i], v[3 + i] = twist[i];
      q[3] = turn.w(), q[4] = turn.x(), q[5] = turn.y(), q[6] = turn.z();
    }
    return out;
  }

  void load(const Native& state) {
    world_->setTime(state.t);
    skeleton_->setPositions(state.q);
    skeleton_->setVelocities(state.v);
  }

  /// External forces last for one step.
  void step() {
    const double t = world_->getTime();
    for (const PeerMotor& motor : mechanism_.motors)
      nodes_[static_cast<std::size_t>(motor.body)]->getParentJoint()->setForce(0, motor.value(t));
    for (const PeerWrench& wrench : mechanism_.wrenches) {
      BodyNode* node = nodes_[static_cast<std::size_t>(wrench.body)];
      node->addExtForce({wrench.force[0](t), wrench.force[1](t), wrench.force[2](t)}, vec(wrench.at), false, true);
      node->addExtTorque({wrench.torque[0](t), wrench.torque[1](t), wrench.torque[2](t)}, false);
    }
    for (const PeerSpring& spring : mechanism_.springs) pull(spring);
    world_->step();
  }

  /// Debian's DART has its assertions on: going on from bad numbers would end the program.
  bool is_sane() const { return skeleton_->getPositions().allFinite() && skeleton_->getVelocities().cwiseAbs().maxCoeff() < 1e5; }

  void pull(const PeerSpring& spring) {
    BodyNode *a = nodes_[static_cast<std::size_t>(spring.a)], *b = nodes_[static_cast<std::size_t>(spring.b)];
    const Vector3d at_a = a ? Vector3d(a->getTransform() * vec(spring.in_a)) : vec(spring.in_a);
    const Vector3d at_b = b ? Vector3d(b->getTransform() * vec(spring.in_b)) : vec(spring.in_b);
    const Vector3d v_a = a ? a->getLinearVelocity(vec(spring.in_a)) : Vector3d::Zero();
    const Vector3d v_b = b ? b->getLinearVelocity(vec(spring.in_b)) : Vector3d::Zero();
    const double length = (at_b - at_a).norm();
    const Vector3d along = (at_b - at_a) / length;
    const Vector3d force = (spring.stiffness * (length - spring.length) + spring.damping * along.dot(v_b - v_a)) * along;
    if (a) a->addExtForce(force, vec(spring.in_a), false, true);
    if (b) b->addExtForce(-force, vec(spring.in_b), false, true);
  }

  Mechanism mechanism_;
  dart::simulation::WorldPtr world_;
  dart::dynamics::SkeletonPtr skeleton_;
  std::vector<BodyNode*> nodes_;  // by body; the ground has none
  std::vector<Native> kept_;
};

std::unique_ptr<Engine> make(const Mechanism& mechanism, const PeerState& start) {
  return std::make_unique<DartEngine>(mechanism, start);
}

}  // namespace
}  // namespace linkwork::bench

extern "C" __attribute__((visibility("default"))) std::vector<linkwork::bench::Peer> linkwork_peer() {
  using namespace linkwork::bench;
  std::vector<Stepping> steps;
  for (double step : {5e-3, 2e-3, 1e-3, 5e-4, 2e-4, 1e-4}) steps.push_back({step, 0.0});
  return {{"DART", DART_VERSION, "velocity", "a whole World::step of 1 ms: loops are solved within steps only",
           "World::step (semi-implicit Euler)", 1e-3, steps, make}};
}
