#include "linkwork/dynamics/not_finite.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "linkwork/dynamics/equations_of_motion.h"

namespace linkwork {

namespace {

using V3 = Vec3<double>;

std::string numbers(const V3& x) { return fmt::format("({:.6g}, {:.6g}, {:.6g})", x.x(), x.y(), x.z()); }

std::string in(const Place& place) { return place.line > 0 ? fmt::format(" in {}:{}", place.file, place.line) : ""; }

V3 place_of(const System& system, const NodeFrame& frame) { return system.X_WN(frame.node) * frame.X_NF.p; }

/// What a force is multiplied with for the largest of its components and moments.
double reach(const NodeFrame& frame) { return std::max(1.0, frame.X_NF.p.cwiseAbs().maxCoeff()); }

std::string named(const Model& model, int force) {
  const Force& of = model.forces[static_cast<std::size_t>(force)];
  return fmt::format("the {} '{}'", of.kind->name, of.label);
}

std::string joint_law(const System& system, const Joint& joint) {
  if (joint.stiffness == 0.0 && joint.damping == 0.0 && joint.friction == 0.0) return {};
  std::array<double, 7> q{};
  std::array<double, 6> v{}, a{};
  system.joint_motion(joint, {}, q, v, a);
  for (std::size_t k = 0; k < static_cast<std::size_t>(joint.kind->nv()); ++k) {
    const auto [elastic, lossy] = System::joint_law(joint, q[k], v[k]);
    if (!std::isfinite(elastic + lossy))
      return fmt::format("the stiffness, damping and friction of joint '{}'{} make {}, at {:.6g} and a rate of {:.6g}",
                         joint.name, in(joint.place), elastic + lossy, q[k], v[k]);
  }
  return {};
}

std::string spring(const System& system, std::size_t k) {
  const Spring& spring = system.model().springs[k];
  const double pull = system.spring_pull(k);
  if (std::isfinite(pull * std::max(reach(spring.a), reach(spring.b)))) return {};
  return fmt::format("{} pulls with {:.6g} N; its ends are at {} m and {} m", named(system.model(), spring.of), pull,
                     numbers(place_of(system, spring.a)), numbers(place_of(system, spring.b)));
}

std::string wrench(const System& system, int force, const NodeFrame& at, const Wrench<double>& F) {
  if (F.n.allFinite() && std::isfinite(F.f.cwiseAbs().maxCoeff() * reach(at))) return {};
  return fmt::format("{} acts with {} N at {} m, and its moment has no number", named(system.model(), force), numbers(F.f),
                     numbers(place_of(system, at)));
}

std::string force(const System& system) {
  const Model& model = system.model();
  for (const Joint& joint : model.joints)
    if (std::string found = joint_law(system, joint); !found.empty()) return found;
  for (std::size_t k = 0; k < model.springs.size(); ++k)
    if (std::string found = spring(system, k); !found.empty()) return found;
  for (std::size_t k = 0; k < model.wrenches.size(); ++k) {
    const BodyWrench& on = model.wrenches[k];
    if (std::string found = wrench(system, on.of, on.at, system.wrench(k)); !found.empty()) return found;
  }
  for (std::size_t k = 0; k < model.bushings.size(); ++k)
    for (const NodeFrame* end : {&model.bushings[k].a, &model.bushings[k].b})
      if (std::string found = wrench(system, model.bushings[k].of, *end, system.bushing(k)); !found.empty()) return found;
  for (std::size_t k = 0; k < model.forces.size(); ++k)
    if (const double power = system.power_of(k); !std::isfinite(power))
      return fmt::format("{} has a power of {} W", named(model, static_cast<int>(k)), power);
  return {};
}

std::string body(const System& system) {
  const Tree& tree = system.model().tree;
  for (const Body& body : system.model().bodies) {
    const Pose<double>& X_WN = system.X_WN(body.node);
    const NodeWork<double>& node = system.work()[body.node];
    const Wrench<double> momentum = body.inertia.apply(node.w, node.v);
    const double kinetic = 0.5 * (node.w.dot(momentum.n) + node.v.dot(momentum.f));
    const double potential = -tree.gravity.dot(body.mass * X_WN.p + X_WN.R * body.inertia.h);
    if (std::isfinite(kinetic) && std::isfinite(potential)) continue;
    return fmt::format("body '{}' is at {} m, where it has a kinetic energy of {:.6g} J, and {:.6g} J by gravity", body.name,
                       numbers(X_WN * body.X_NB.p), kinetic, potential);
  }
  return {};
}

std::string constraint(const System& system) {
  const ConstraintTerms& terms = system.terms();
  for (int r = 0; r < terms.rows(); ++r) {
    if (std::isfinite(terms.phi[r]) && std::isfinite(terms.rate[r]) && std::isfinite(terms.b[r])) continue;
    const ConstraintRow& row = system.model().rows[static_cast<std::size_t>(r)];
    return fmt::format("row '{}' of the constraints{} has an error of {}, a rate of {} and asks for an acceleration of {}",
                       row.name, in(row.place), terms.phi[r], terms.rate[r], terms.b[r]);
  }
  return {};
}

}  // namespace

std::string not_finite_state(const Model& model, const State& state) {
  for (const Joint& joint : model.joints) {
    for (const int q : joint.q)
      if (!std::isfinite(state.q[q])) return fmt::format("the position of joint '{}' is {}", joint.name, state.q[q]);
    for (const int v : joint.v)
      if (!std::isfinite(state.v[v])) return fmt::format("the velocity of '{}' is {}", model.velocity_name(v), state.v[v]);
  }
  for (std::size_t k = 0; k < std::min(model.states.size(), static_cast<std::size_t>(state.z.size())); ++k)
    if (const double z = state.z[static_cast<Eigen::Index>(k)]; !std::isfinite(z))
      return fmt::format("the state '{}' is {}; its rate is \"{}\"{}", model.states[k].name, z,
                         model.states[k].rate.expression.text(), in(model.states[k].rate.expression.place()));
  return {};
}

std::string not_finite_effect(const System& system) {
  for (const auto find : {force, body, constraint})
    if (std::string found = find(system); !found.empty()) return found;
  for (int v = 0; v < system.model().tree.nv; ++v)
    if (const double tau = system.work().tau[v]; !std::isfinite(tau))
      return fmt::format("the forces on '{}' add up to {}", system.model().velocity_name(v), tau);
  return {};
}

std::string because_not_finite(DifferentialEquation& equations) {
  EquationsOfMotion* const motion = equations.equations_of_motion();
  const std::string cause = motion == nullptr ? "" : motion->system().describe_not_finite();
  return cause.empty() ? "" : ": " + cause;
}

std::string because_not_finite(DifferentialEquation& equations, const Moment& at) {
  const EquationsOfMotion* const motion = equations.equations_of_motion();
  if (motion == nullptr) return {};
  State state;
  unpack(at, motion->model().tree.nq, motion->model().tree.nv, state);
  const std::string cause = not_finite_state(motion->model(), state);
  return cause.empty() ? "" : ": " + cause;
}

int force_of(const Model& model, const BoundExpression& law) {
  for (const JointForce& force : model.joint_forces)
    if (&force.value == &law) return force.of;
  for (const Spring& spring : model.springs)
    if (&spring.law == &law) return spring.of;
  for (const BodyWrench& wrench : model.wrenches)
    for (std::size_t k = 0; k < 3; ++k)
      if (&wrench.force[k] == &law || &wrench.torque[k] == &law) return wrench.of;
  return -1;
}

}  // namespace linkwork
