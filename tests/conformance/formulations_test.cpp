#include <gtest/gtest.h>

#include "linkwork/formulations/catalog.h"
#include "linkwork/stabilizations/catalog.h"
#include "linkwork/tree/aba.h"
#include "linkwork/tree/kinematics.h"
#include "tests/oracles/newton_euler_oracle.h"
#include "tests/support/mechanisms.h"

namespace linkwork {
namespace {

void add_wrenches(const Spec& spec, System& system, test::OracleForces& forces) {
  const Model& model = system.model();
  auto wrench = model.wrenches.begin();  // in the order of the file
  for (const ForceSpec& f : spec.forces) {
    if (f.type != "wrench") continue;
    const Body& body = *std::ranges::find(model.bodies, f.a.body, &Body::name);
    const Pose<double> X_WB = system.work()[body.node].X_WN * body.X_NB;
    Vec3<double> force, torque;
    for (int k = 0; k < 3; ++k) {
      force[k] = system.evaluate(wrench->force[static_cast<std::size_t>(k)]);
      torque[k] = system.evaluate(wrench->torque[static_cast<std::size_t>(k)]);
    }
    if (f.in_body_axes) force = X_WB.R * force, torque = X_WB.R * torque;
    forces.wrenches.push_back({f.a.body, X_WB * f.a.at, force, torque});
    ++wrench;
  }
}

/// What acts in a model that the oracle must be told: everything but gravity.
test::OracleForces oracle_forces(const Spec& spec, System& system) {
  test::OracleForces forces;
  const Model& model = system.model();
  for (std::size_t j = 0; j < model.joints.size(); ++j) {
    const Joint& joint = model.joints[j];
    if (joint.kind->nv() != 1) continue;
    std::array<double, 7> q{};
    std::array<double, 6> v{}, a{};
    system.joint_motion(joint, {}, q, v, a);
    double force = -joint.damping * v[0] - joint.stiffness * (q[0] - joint.rest);
    for (const JointForce& f : model.joint_forces)
      if (f.coordinate.joint == JointIndex(j)) force += system.evaluate(f.value);
    if (force != 0.0) forces.joints.emplace_back(static_cast<int>(j), force);
  }
  for (const ForceSpec& f : spec.forces) {
    if (f.type != "spring" && f.type != "damper") continue;
    std::array<Vec3<double>, 2> p, v;
    std::size_t k = 0;
    for (const FrameSpec* frame : {&f.a, &f.b}) {
      const Body& body = *std::ranges::find(model.bodies, frame->body, &Body::name);
      const NodeWork<double>& node = system.work()[body.node];
      const Vec3<double> r = body.X_NB * frame->at;
      p[k] = node.X_WN * r;
      v[k] = node.X_WN.R * (node.v + node.w.cross(r));
      ++k;
    }
    const Vec3<double> d = p[1] - p[0];
    const Vec3<double> n = d.normalized();
    const Vec3<double> pull = (f.stiffness * (d.norm() - f.length) + f.damping * n.dot(v[1] - v[0])) * n;  // on a
    if (f.a.body != "ground") forces.wrenches.push_back({f.a.body, p[0], pull, Vec3<double>::Zero()});
    if (f.b.body != "ground") forces.wrenches.push_back({f.b.body, p[1], -pull, Vec3<double>::Zero()});
  }
  add_wrenches(spec, system, forces);
  return forces;
}

bool oracle_applies(const Spec& spec) {
  for (const ClosureSpec& c : spec.closures)
    if (c.type == "gear" || c.type == "drive" || c.type == "expression") return false;
  for (const JointSpec& j : spec.joints)
    if (j.friction != 0.0) return false;
  return true;
}

class FormulationOnModel : public testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(Library, FormulationOnModel, testing::ValuesIn(test::library_models()),
                         [](const auto& p) { return p.param; });

TEST_P(FormulationOnModel, AgreesWithTheOracleAtRandomConsistentStates) {
  const Spec spec = test::library_spec(GetParam());
  const Model model = build_model(spec);
  std::mt19937 random(31);
  for (int trial = 0; trial < 10; ++trial) {
    State state = test::random_consistent_state(model, random);
    std::optional<VecX<double>> first;
    for (const auto& entry : formulations()) {
      if (!entry.traits.exact) continue;
      EquationsOfMotion equations(model, entry.make(model, complete_options(entry.info, {})),
                                  make_chosen(stabilizations(), {"none", {}, {}}, "stabilization", model));
      Derivative rates;
      const Status status = equations.evaluate(state, rates);
      if (!status.ok()) {  // refusing is fine where the sentence says why; silence is not
        EXPECT_TRUE(status.trouble.find("lagrange") != std::string::npos || status.trouble.find("schur") != std::string::npos)
            << status.trouble;
        continue;
      }
      if (!first) first = rates.vdot;
      EXPECT_LT(test::relative_difference(rates.vdot, *first), 1e-8) << entry.info.name;
      System& system = equations.system();
      // The constraint force is what the motion needs beyond the applied forces, whatever lambda is.
      const MatX<double> A = system.jacobian();
      const VecX<double> needed = system.mass_matrix() * rates.vdot + system.bias() - system.work().tau;
      EXPECT_LT(test::relative_difference(A.transpose() * equations.solution().lambda, needed), 1e-8) << entry.info.name;
      if (!oracle_applies(spec)) continue;
      update_accelerations(model.tree, rates.vdot.data(), system.work());
      const auto oracle = test::newton_euler_oracle(spec, system, oracle_forces(spec, system));
      const auto engine = test::engine_accelerations(spec, system);
      for (std::size_t b = 0; b < oracle.size(); ++b) {
        EXPECT_LT(test::relative_difference(engine[b].alpha, oracle[b].alpha), 1e-8) << entry.info.name << " body " << b;
        EXPECT_LT(test::relative_difference(engine[b].a, oracle[b].a), 1e-8) << entry.info.name << " body " << b;
      }
    }
    EXPECT_TRUE(first.has_value());
  }
}

/// A planar four-bar whose last joint is given by the text.
std::string four_bar_closed_by(const std::string& closing) {
  return R"(
[[body]]
name = "crank"
solid = { shape = "rod", from = [0, 0, 0], to = [1, 0, 0], mass = 1 }
[[body]]
name = "coupler"
solid = { shape = "rod", from = [0, 0, 0], to = [4, 0, 0], mass = 1 }
[[body]]
name = "rocker"
solid = { shape = "rod", from = [0, 0, 0], to = [2.5, 0, 0], mass = 1 }
[[joint]]
name = "theta"
type = "revolute"
parent = { body = "ground" }
child = { body = "crank" }
position = 1.2
fixed = true
velocity = 0.5
[[joint]]
name = "alpha"
type = "revolute"
parent = { body = "crank", at = [1, 0, 0] }
child = { body = "coupler" }
position = -0.8
[[joint]]
name = "phi"
type = "revolute"
parent = { body = "ground", at = [3, 0, 0] }
child = { body = "rocker" }
position = 1.2
)" + closing +
         R"(
name = "last"
a = { body = "coupler", at = [4, 0, 0] }
b = { body = "rocker", at = [2.5, 0, 0] }
)";
}

TEST(Redundancy, AFullRevoluteOrBallClosesAPlanarLoopLikeAPin) {
  Derivative reference;
  for (const std::string type : {"pin", "point", "spherical", "revolute"}) {
    const Model model = test::model_of(four_bar_closed_by("[[closure]]\ntype = \"" + type + "\""));
    EquationsOfMotion equations(model, make_chosen(formulations(), {"schur", {}, {}}, "formulation", model),
                                make_chosen(stabilizations(), {"none", {}, {}}, "stabilization", model));
    State state = test::start_state(model);
    Derivative rates;
    ASSERT_TRUE(equations.evaluate(state, rates).ok());
    EXPECT_EQ(equations.solution().rank.rank, 2) << type;
    if (type == "pin")
      reference = rates;
    else
      EXPECT_LT(test::relative_difference(rates.vdot, reference.vdot), 1e-12) << type;
  }
}

TEST(Redundancy, LagrangeRefusesDependentRowsByName) {
  const Model model = test::model_of(four_bar_closed_by("[[closure]]\ntype = \"revolute\""));
  EquationsOfMotion equations(model, make_chosen(formulations(), {"lagrange", {}, {}}, "formulation", model),
                              make_chosen(stabilizations(), {"none", {}, {}}, "stabilization", model));
  Derivative rates;
  State state = test::start_state(model);
  const Status status = equations.evaluate(state, rates);
  EXPECT_EQ(status.trouble,
            "formulation 'lagrange' needs independent constraint rows; rows last.z, last.rx, last.ry add nothing to the others; "
            "use 'schur', or remove them from the model");
}

TEST(Forces, AJointForceActsAlikeOnTreeAndCutJoints) {
  VecX<double> reference;
  for (const std::string cut : {"alpha", "phi", "theta"}) {
    std::string toml = four_bar_closed_by("[[joint]]\ntype = \"revolute\"");
    const auto replace = [&](const std::string& from, const std::string& to) {
      for (std::size_t at = 0; (at = toml.find(from, at)) != std::string::npos; at += to.size())
        toml.replace(at, from.size(), to);
    };
    replace("fixed = true\n", "");
    replace("a = {", "parent = {");
    replace("b = {", "child = {");
    replace("name = \"" + cut + "\"\n", "name = \"" + cut + "\"\ncut = true\n");
    for (const char* joint : {"theta", "alpha", "phi", "last"}) {
      toml += "[[force]]\ntype = \"torque\"\njoint = \"" + std::string(joint) + "\"\nvalue = \"2 + 0.3*v." + joint + "\"\n";
      replace(std::string("name = \"") + joint + "\"\n",
              std::string("name = \"") + joint + "\"\ndamping = 0.4\nstiffness = 1.5\n");
    }
    Spec spec = test::spec_of(toml);
    const Model model = build_model(spec);
    System system(model);
    State state;
    state.q = Eigen::Map<const VecX<double>>(model.start_q.data(), model.tree.nq);
    state.v = VecX<double>::Zero(model.tree.nv);
    // The same pose of all links, whichever joint is cut: absolute angles of a closed position.
    const Model original = test::model_of(four_bar_closed_by("[[closure]]\ntype = \"pin\""));
    const State closed = test::start_state(original);
    System at(original);
    at.update(closed);
    for (const Joint& joint : model.joints) {
      if (joint.cut) continue;
      const Joint* known = nullptr;
      for (const Joint& j : original.joints)
        if (j.name == joint.name) known = &j;
      if (known) {
        state.q[joint.q[0]] = closed.q[known->q[0]];
        state.v[joint.v[0]] = closed.v[known->v[0]];
      } else {  // coupler to rocker
        state.q[joint.q[0]] = closed.q[2] - closed.q[0] - closed.q[1];
        state.v[joint.v[0]] = closed.v[2] - closed.v[0] - closed.v[1];
      }
    }
    EquationsOfMotion equations(model, make_chosen(formulations(), {"schur", {}, {}}, "formulation", model),
                                make_chosen(stabilizations(), {"none", {}, {}}, "stabilization", model));
    Derivative rates;
    ASSERT_TRUE(equations.evaluate(state, rates).ok());
    ASSERT_LT(equations.system().terms().phi.cwiseAbs().maxCoeff(), 1e-9) << cut;
    ASSERT_LT(equations.system().terms().rate.cwiseAbs().maxCoeff(), 1e-9) << cut;
    update_accelerations(model.tree, rates.vdot.data(), equations.system().work());
    const auto bodies = test::engine_accelerations(spec, equations.system());
    VecX<double> accelerations(3);
    for (int b = 0; b < 3; ++b) accelerations[b] = bodies[static_cast<std::size_t>(b)].alpha.z();
    if (reference.size() == 0) reference = accelerations;
    EXPECT_LT(test::relative_difference(accelerations, reference), 1e-10) << cut;
  }
}

}  // namespace
}  // namespace linkwork
