#include <gtest/gtest.h>

#include <Eigen/QR>
#include <Eigen/SVD>
#include <algorithm>
#include <cmath>

#include "linkwork/formulations/catalog.h"
#include "linkwork/stabilizations/catalog.h"
#include "linkwork/tree/aba.h"
#include "linkwork/tree/kinematics.h"
#include "tests/oracles/newton_euler_oracle.h"
#include "tests/support/mechanisms.h"
#include "tests/support/tries.h"

namespace linkwork {
namespace {

void add_wrenches(const Spec& spec, System& system, test::OracleForces& forces) {
  const Model& model = system.model();
  auto wrench = model.wrenches.begin();  // in the order of the file
  for (const ForceSpec& f : spec.forces) {
    if (f.type != "wrench") continue;
    const Body& body = *std::ranges::find(model.bodies, f.a.body, &Body::name);
    const Pose<double> X_WB = system.X_WN(body.node) * body.X_NB;
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

/// Of bushings that do not resist turning: b's point is pulled to a's, along the axes of a, which may turn.
void add_bushings(const Spec& spec, const System& system, test::OracleForces& forces) {
  for (const ForceSpec& f : spec.forces) {
    if (f.type != "bushing") continue;
    struct End {
      Vec3<double> p, v, w;
      Mat3<double> R;
    };
    const auto end = [&](const FrameSpec& frame) -> End {
      const Body& body = *std::ranges::find(system.model().bodies, frame.body, &Body::name);
      const NodeWork<double>& node = system.work()[body.node];
      const Pose<double>& X_WN = system.X_WN(body.node);
      const Vec3<double> r = body.X_NB * frame.at;
      return {X_WN * r, X_WN.R * (node.v + node.w.cross(r)), X_WN.R * node.w,
              X_WN.R * body.X_NB.R * frame.rotation.toRotationMatrix()};
    };
    const End a = end(f.a), b = end(f.b);
    const Vec3<double> gap = a.R.transpose() * (b.p - a.p), rate = a.R.transpose() * (b.v - a.v - a.w.cross(b.p - a.p));
    Vec3<double> push;  // on b
    for (Eigen::Index k = 0; k < 3; ++k) {
      const auto of = [k](const std::vector<double>& values) {
        return values.empty() ? 0.0 : values[static_cast<std::size_t>(k)];
      };
      push[k] = -of(f.force_stiffness) * gap[k] - of(f.force_damping) * rate[k];
    }
    push = a.R * push;
    if (f.a.body != "ground") forces.wrenches.push_back({f.a.body, b.p, -push, Vec3<double>::Zero()});
    if (f.b.body != "ground") forces.wrenches.push_back({f.b.body, b.p, push, Vec3<double>::Zero()});
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
  std::size_t springs = 0;
  for (const ForceSpec& f : spec.forces) {
    if (f.type != "spring" && f.type != "damper") continue;
    const Spring& spring = model.springs[springs++];
    std::array<Vec3<double>, 2> p, v;
    std::size_t k = 0;
    for (const FrameSpec* frame : {&f.a, &f.b}) {
      const Body& body = *std::ranges::find(model.bodies, frame->body, &Body::name);
      const NodeWork<double>& node = system.work()[body.node];
      const Vec3<double> r = body.X_NB * frame->at;
      p[k] = system.X_WN(body.node) * r;
      v[k] = system.X_WN(body.node).R * (node.v + node.w.cross(r));
      ++k;
    }
    const Vec3<double> d = p[1] - p[0];
    const Vec3<double> n = d.normalized();
    const double tension =
        f.law.is_given() ? system.evaluate(spring.law) : f.stiffness * (d.norm() - f.length) + f.damping * n.dot(v[1] - v[0]);
    const Vec3<double> pull = tension * n;  // on a
    if (f.a.body != "ground") forces.wrenches.push_back({f.a.body, p[0], pull, Vec3<double>::Zero()});
    if (f.b.body != "ground") forces.wrenches.push_back({f.b.body, p[1], -pull, Vec3<double>::Zero()});
  }
  add_wrenches(spec, system, forces);
  add_bushings(spec, system, forces);
  return forces;
}

bool oracle_applies(const Spec& spec) {
  for (const ClosureSpec& c : spec.closures) {
    const FrameClosureKind* const kind = find_frame_closure_kind(c.type);
    if (kind == nullptr ? find_joint_kind(c.type) == nullptr : static_cast<int>(kind->rows.size()) > kind->holonomic_rows)
      return false;  // relations of coordinates, and rows at velocity level
    if (!c.active || c.side) return false;
  }
  for (const ForceSpec& f : spec.forces)
    if (!f.torque_stiffness.empty() || !f.torque_damping.empty()) return false;
  for (const JointSpec& j : spec.joints)
    if (j.friction != 0.0) return false;
  return true;
}

class FormulationOnModel : public testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(Library, FormulationOnModel, testing::ValuesIn(test::library_models()),
                         [](const auto& p) { return p.param; });

/// The whole dense system by a complete orthogonal decomposition, in units of masses and row lengths. Whatever depends on the
/// rank is left to the library's least squares, so nothing is shared with the formulations but M, c, tau, A and b.
struct Reference {
  explicit Reference(System& system) {
    const MatX<double> M = system.mass_matrix(), A = system.jacobian();
    const VecX<double> force = system.work().tau - system.bias();
    const VecX<double> W = M.diagonal().unaryExpr([](double x) { return x > 0.0 ? 1.0 / std::sqrt(x) : 1.0; });
    const MatX<double> AW = A * W.asDiagonal();
    const VecX<double> S = AW.rowwise().norm().unaryExpr([](double x) { return x > 1e-12 ? 1.0 / x : 0.0; });
    const MatX<double> rows = S.asDiagonal() * AW;
    const Eigen::Index n = M.rows(), m = A.rows();
    MatX<double> K = MatX<double>::Zero(n + m, n + m);
    K.topLeftCorner(n, n) = W.asDiagonal() * M * W.asDiagonal();
    K.topRightCorner(n, m) = -rows.transpose();
    K.bottomLeftCorner(m, n) = rows;
    VecX<double> rhs(n + m);
    rhs << W.cwiseProduct(force), S.cwiseProduct(system.terms().b);
    Eigen::CompleteOrthogonalDecomposition<MatX<double>> factor;
    factor.setThreshold(1e-11);
    factor.compute(K);
    VecX<double> x = factor.solve(rhs);
    x += factor.solve(rhs - K * x);
    vdot = W.cwiseProduct(x.head(n));
    constraint_force = M * vdot - force;
    redundant =
        m > 0 && Eigen::CompleteOrthogonalDecomposition<MatX<double>>(rows).setThreshold(1e-9).rank() < system.active_rows();
    if (m == 0) return;
    const VecX<double> raw = Eigen::BDCSVD<MatX<double>>(AW).singularValues();  // a row may vanish altogether
    nearly_singular = std::ranges::any_of(raw, [&](double size) { return size > 1e-9 * raw[0] && size < 1e-3 * raw[0]; });
  }

  VecX<double> vdot, constraint_force;
  bool redundant = false;
  bool nearly_singular = false;  // where digits are lost that nothing brings back
};

VecX<double> stacked(const std::vector<test::BodyAcceleration>& bodies) {
  VecX<double> all(static_cast<Eigen::Index>(6 * bodies.size()));
  for (std::size_t b = 0; b < bodies.size(); ++b)
    all.segment<6>(static_cast<Eigen::Index>(6 * b)) << bodies[b].alpha, bodies[b].a;
  return all;
}

bool names_a_row(const Model& model, const std::string& text) {
  return std::ranges::any_of(model.rows, [&](const ConstraintRow& row) { return text.find(row.name) != std::string::npos; });
}

/// A formulation ready on a model, without drift control.
EquationsOfMotion equations_of(const Model& model, const CatalogEntry<Formulation>& entry) {
  return {model, entry.make(model, complete_options(entry.info, {})),
          make_chosen(stabilizations(), {"none", {}, {}}, "stabilization", model)};
}

TEST_P(FormulationOnModel, AgreesWithTheOracleAtRandomConsistentStates) {
  constexpr int kStates = test::tries(50);
  constexpr double kEqual = 1e-9;
  const Spec spec = test::library_spec(GetParam());
  const Model model = build_model(spec);
  std::vector<std::pair<CatalogInfo, Formulation::Traits>> methods;
  std::vector<EquationsOfMotion> all;
  for (const auto& entry : formulations()) {
    if (!entry.traits.exact || entry.traits.gives != Equations::kAcceleration) continue;
    methods.emplace_back(entry.info, entry.traits);
    all.push_back(equations_of(model, entry));
  }
  std::mt19937 random(31);
  System system(model);
  int compared = 0;
  for (int trial = 0; trial < kStates; ++trial) {
    const State state = test::random_consistent_state(model, random);
    system.update(state);
    system.update_forces();
    const Reference reference(system);
    if (reference.nearly_singular) continue;
    ++compared;
    std::optional<VecX<double>> oracle;
    const bool few_bodies = model.bodies.size() <= 40;  // the oracle takes cubic time
    if (oracle_applies(spec) && (few_bodies || trial % 10 == 0))
      oracle = stacked(test::newton_euler_oracle(spec, system, oracle_forces(spec, system)));
    aba_inertias(model.tree, system.work());
    const bool massless = system.work().massless_node != 0;

    for (std::size_t i = 0; i < all.size(); ++i) {
      const std::string& name = methods[i].first.name;
      State at = state;
      all[i].start(at);
      if (!model.states.empty()) at.z.head(std::ssize(model.states)) = state.z.head(std::ssize(model.states));
      Derivative rates;
      const Status status = all[i].evaluate(at, rates);
      if (!status.ok()) {
        const bool refuses_rows = reference.redundant && !methods[i].second.takes_redundant_rows;
        EXPECT_TRUE(refuses_rows || massless) << name << ": " << status.trouble;
        EXPECT_TRUE(!refuses_rows || names_a_row(model, status.trouble)) << status.trouble;
        continue;
      }
      EXPECT_FALSE(reference.redundant && !methods[i].second.takes_redundant_rows) << name << " is silent about redundant rows";
      System& evaluated = all[i].system();
      // A formulation may settle velocities first, and lets what the state is off decay.
      const double equal = at.v == state.v ? kEqual : 10.0 * kEqual;
      EXPECT_LT(test::relative_difference(rates.vdot, reference.vdot), equal) << name << " at state " << trial;
      // The constraint force is what the motion needs beyond the applied forces, whatever lambda is.
      const VecX<double> force = evaluated.jacobian().transpose() * all[i].solution().lambda;
      EXPECT_LT(test::relative_difference(force, reference.constraint_force), equal) << name << " at state " << trial;
      if (!oracle) continue;
      update_accelerations(model.tree, rates.vdot.data(), evaluated.work());
      const VecX<double> engine = stacked(test::engine_accelerations(spec, evaluated));
      EXPECT_LT(test::relative_difference(engine, *oracle), equal) << name << " at state " << trial;
    }
  }
  EXPECT_GE(compared, kStates / 2);
}

/// Two equal drives of one joint, or two that contradict each other.
Model twice_driven(const std::string& second) {
  return test::model_of(R"toml(
[[body]]
name = "wheel"
mass = 1
inertia = [1, 1, 1]
[[joint]]
name = "axle"
type = "revolute"
parent = { body = "ground" }
child = { body = "wheel" }
[[closure]]
name = "first"
type = "drive"
joint = "axle"
value = "t^2"
[[closure]]
name = "second"
type = "drive"
joint = "axle"
value = ")toml" + second +
                        "\"\n");
}

TEST(Redundancy, FormulationsThatTakeItMeasureHowMuchRowsContradict) {
  const Model agreeing = twice_driven("t^2"), contradicting = twice_driven("2*t^2");
  for (const auto& entry : formulations()) {
    if (!entry.traits.exact || !entry.traits.takes_redundant_rows || entry.traits.gives != Equations::kAcceleration) continue;
    for (const Model* model : {&agreeing, &contradicting}) {
      EquationsOfMotion equations = equations_of(*model, entry);
      State state = test::start_state(*model);
      equations.start(state);
      Derivative rates;
      const Status status = equations.evaluate(state, rates);
      ASSERT_TRUE(status.ok()) << entry.info.name << ": " << status.trouble;
      EXPECT_EQ(equations.solution().rank.rank, 1) << entry.info.name;
      EXPECT_EQ(std::ranges::count(equations.solution().dependent, 1), 1) << entry.info.name;
      const double inconsistency = equations.solution().inconsistency;
      EXPECT_TRUE(model == &agreeing ? inconsistency < 1e-9 : inconsistency > 0.9) << entry.info.name << ": " << inconsistency;
    }
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
