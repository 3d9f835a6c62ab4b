#include <gtest/gtest.h>

#include <Eigen/Cholesky>

#include "linkwork/tree/kinematics.h"
#include "tests/support/mechanisms.h"

namespace linkwork {
namespace {

/// Every closure type between the end of a chain and a floating body, far from closed.
std::string with_closure(const std::string& type) {
  std::string toml = test::generic_chain({"free", "spherical", "revolute"}) + R"(
[[body]]
name = "other"
mass = 2
inertia = [0.1, 0.2, 0.25]
[[joint]]
name = "float"
type = "free"
parent = { body = "ground" }
child = { body = "other" }
position = [0.7, -0.4, 0.5, 0.8, 0.3, -0.4, 0.33]
[[closure]]
name = "c"
type = ")" + type + "\"\n";
  if (type == "gear") return toml + "joints = [\"j2\", \"float.x\"]\ncoefficients = [1.5, -0.7]\noffset = 0.2\n";
  if (type == "drive") return toml + "joint = \"j2\"\nvalue = \"0.3*sin(4*t) + t^2\"\n";
  if (type == "expression") return toml + "expression = \"sin(q.j2)*q.float.y + exp(-t)*q.j2^2 - 0.1\"\n";
  if (type == "pfaffian")
    return toml + "expression = \"sin(q.j2)*v.float.y + exp(-t)*v.j2 - 0.1*t*q.float.x - 0.2*v.float.wx\"\n";
  if (type == "friction-drive") return toml + "joints = [\"j2\", \"float.x\"]\nratio = \"0.3 + q.float.y^2*cos(t)\"\n";
  if (type == "speed-drive") return toml + "joint = \"j2\"\nvalue = \"0.3*sin(4*t) + t^2\"\n";
  if (type.starts_with("rolling")) toml += "radius = 0.37\n";
  if (type == "rolling-discs") toml += "radius_a = 0.8\n";
  if (type.starts_with("rolling") || type == "point-contact") {
    if (type != "rolling-discs") toml += "normal = [0.36, 0.48, -0.8]\n";
  }
  return toml + R"(a = { body = "b2", at = [0.3, 0.1, -0.2], rpy = [0.4, -0.3, 0.9] }
b = { body = "other", at = [-0.2, 0.5, 0.1], rpy = [-1.1, 0.2, 0.5] }
)" + test::generic_axis(type);
}

const std::vector<std::pair<std::string, int>> kRowCounts{
    {"revolute", 5},   {"prismatic", 5},     {"screw", 5},         {"cylindrical", 4},    {"universal", 4},
    {"spherical", 3},  {"planar", 3},        {"translational", 3}, {"weld", 6},           {"pin", 2},
    {"point", 3},      {"distance", 1},      {"point-on-line", 2}, {"point-on-plane", 1}, {"gear", 1},
    {"drive", 1},      {"expression", 1},    {"rolling", 3},       {"rolling-ball", 3},   {"rolling-discs", 2},
    {"knife-edge", 1}, {"point-contact", 3}, {"pfaffian", 1},      {"friction-drive", 1}, {"speed-drive", 1}};

/// Closures on the coordinates of a cut joint and of a spherical joint the tree enters from its child.
std::string with_cut_coordinates() {
  return test::generic_chain({"revolute", "universal"}) + R"(
[[joint]]
name = "cut"
type = "cylindrical"
cut = true
axis = [0.48, 0.6, 0.64]
parent = { body = "ground", at = [0.2, 0.1, 0] }
child = { body = "b1", at = [0.1, -0.3, 0.2] }
[[closure]]
name = "c"
type = "expression"
expression = "q.cut.angle*q.cut.z + 0.3*q.j0 - sin(t)*q.cut.z"
)";
}

struct ClosureCase {
  std::string name;
  std::string toml;
  friend void PrintTo(const ClosureCase& c, std::ostream* out) { *out << c.name; }
};

std::vector<ClosureCase> cases() {
  std::vector<ClosureCase> all;
  for (const auto& [type, rows] : kRowCounts) all.push_back({type, with_closure(type)});
  all.push_back({"cut_joint_coordinates", with_cut_coordinates()});
  for (ClosureCase& c : all) std::ranges::replace(c.name, '-', '_');
  return all;
}

class Constraints : public testing::TestWithParam<ClosureCase> {};
INSTANTIATE_TEST_SUITE_P(Kinds, Constraints, testing::ValuesIn(cases()), [](const auto& p) { return p.param.name; });

/// The state after a time h of motion with constant v.
State moved(const Model& model, const State& state, const VecX<double>& v, double h) {
  State next = state;
  const VecX<double> change = h * v;
  displace(model.tree, next.q.data(), change.data());
  next.t += h;
  return next;
}

TEST_P(Constraints, RateJacobianAndRightHandSideAreExactDerivatives) {
  const Model model = test::model_of(GetParam().toml);
  System system(model), probe(model);
  std::mt19937 random(21);
  State around;
  around.q = Eigen::Map<const VecX<double>>(model.start_q.data(), model.tree.nq);
  for (int trial = 0; trial < 20; ++trial) {
    State state = test::random_state(model, around, random, 1.5);
    state.t = 0.3 * trial;
    system.update(state);
    const ConstraintTerms terms = system.terms();
    const double h = 1e-5;
    const auto at = [&](const VecX<double>& v, double time) -> const ConstraintTerms& {
      static State there;
      there = moved(model, state, v, time);
      probe.update(there);
      return probe.terms();
    };
    // Skip states within reach of where a rotation's logarithm must jump (a half turn off).
    const VecX<double> phi_plus = at(state.v, h).phi, phi_minus = at(state.v, -h).phi;
    if ((phi_plus - phi_minus).cwiseAbs().maxCoeff() > 0.1) continue;
    const VecX<double> rate = (phi_plus - phi_minus) / (2 * h);
    const double scale = 1.0 + terms.b.cwiseAbs().maxCoeff() + terms.rate.cwiseAbs().maxCoeff();
    // Rows at velocity level have no phi.
    const auto of_positions = [&](const VecX<double>& x) {
      double most = 0.0;
      for (int r = 0; r < model.row_count(); ++r)
        if (model.rows[static_cast<std::size_t>(r)].holonomic) most = std::max(most, std::abs(x[r]));
      return most;
    };
    EXPECT_LT(of_positions(terms.rate - rate), 1e-7 * scale) << trial;

    const VecX<double> rate_plus = at(state.v, h).rate, rate_minus = at(state.v, -h).rate;
    EXPECT_LT((terms.b + (rate_plus - rate_minus) / (2 * h)).cwiseAbs().maxCoeff(), 1e-6 * scale) << trial;

    const MatX<double> A = system.jacobian();
    EXPECT_LT((A * state.v - terms.u - terms.rate).cwiseAbs().maxCoeff(), 1e-12 * scale);
    for (int k = 0; k < model.tree.nv; ++k) {
      State plus = state, minus = state;
      const VecX<double> change = h * VecX<double>::Unit(model.tree.nv, k), back = -change;
      displace(model.tree, plus.q.data(), change.data());
      displace(model.tree, minus.q.data(), back.data());
      probe.update(plus);
      const VecX<double> up = probe.terms().phi;
      probe.update(minus);
      const VecX<double> column = (up - probe.terms().phi) / (2 * h);
      EXPECT_LT(of_positions(A.col(k) - column), 1e-7 * scale) << trial << " column " << k;
      State faster = state;
      faster.v[k] += 1.0;
      probe.update(faster);
      EXPECT_LT((A.col(k) - (probe.terms().rate - terms.rate)).cwiseAbs().maxCoeff(), 1e-11 * scale) << trial << " column " << k;
    }
  }
}

TEST(Constraints, EachClosureHasExactlyItsRows) {
  for (const auto& [type, rows] : kRowCounts) EXPECT_EQ(test::model_of(with_closure(type)).row_count(), rows) << type;
}

TEST(Constraints, ResponseEqualsTheDenseSchurComplement) {
  for (const auto& [type, rows] : kRowCounts) {
    const Model model = test::model_of(with_closure(type));
    System system(model);
    std::mt19937 random(22);
    State around;
    around.q = Eigen::Map<const VecX<double>>(model.start_q.data(), model.tree.nq);
    const State state = test::random_state(model, around, random);
    system.update(state);
    const MatX<double> A = system.jacobian();
    const MatX<double> dense = A * system.mass_matrix().llt().solve(A.transpose());
    ManifoldProjection projection(model);
    // M^-1 A' (A M^-1 A')^-1 phi, as the change of position it makes.
    const VecX<double> expected = system.mass_matrix().llt().solve(A.transpose() * dense.llt().solve(system.terms().rate));
    State corrected = state;
    projection.correct_velocity(system, corrected);
    EXPECT_LT(test::relative_difference(state.v - corrected.v, expected), 1e-9) << type;
  }
}

/// Turns body "other" relative to "arm" about an axis across the closure's, and returns the row values.
VecX<double> off_by(const std::string& type, double angle) {
  const Model model = test::model_of(R"(
[[body]]
name = "other"
mass = 1
inertia = [1, 1, 1]
[[joint]]
name = "float"
type = "free"
parent = { body = "ground" }
child = { body = "other" }
[[closure]]
name = "c"
type = ")" + type + R"("
a = { body = "ground" }
b = { body = "other" }
)");
  System system(model);
  State state;
  state.q = Eigen::Map<const VecX<double>>(model.start_q.data(), model.tree.nq);
  state.v = VecX<double>::Zero(6);
  const VecX<double> turn = angle * VecX<double>::Unit(6, 3);
  displace(model.tree, state.q.data(), turn.data());
  system.update(state);
  return system.terms().phi;
}

TEST(Constraints, RotationalRowsGrowWithTheAngleAllTheWayToAHalfTurn) {
  for (const std::string type : {"revolute", "prismatic", "cylindrical", "planar", "translational", "weld"})
    for (double angle : {0.01, 0.5, 1.5, 2.5, 3.1}) EXPECT_NEAR(off_by(type, angle).norm(), angle, 1e-12) << type;
}

}  // namespace
}  // namespace linkwork
