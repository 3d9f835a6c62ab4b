// What joints and closures transmit. Joints of the tree get it from a pass over the tree, free bodies (FA) from the multipliers
// of a closure each, modules from what comes through their ports: where it is unique, all must agree.

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <cmath>
#include <map>
#include <random>
#include <set>

#include "linkwork/modules/model_run.h"
#include "tests/support/mechanisms.h"

namespace linkwork {
namespace {

using testing::Contains;

struct Reactions {
  std::map<std::string, std::vector<double>> columns;
  Summary summary;
};

bool is_reaction(const std::string& column) { return column.starts_with("force.") || column.starts_with("torque."); }

Reactions reactions(Spec spec, const char* coordinates, const char* glue) {
  spec.settings.coordinates = {coordinates, {}, {}};
  spec.settings.glue = {glue, {}, {}};
  spec.settings.end = 2e-3;
  spec.settings.step = spec.settings.output_every = 1e-3;
  const KeptRun run = run_model(spec);
  Reactions found{{}, run.summary};
  for (const std::string& column : run.columns)
    if (is_reaction(column) && !run.rows.empty()) found.columns[column] = run[column];
  return found;
}

class ReactionsOnModel : public testing::TestWithParam<std::string> {};

/// Relative to the largest there is. At the start: later the states differ by what drift control does.
TEST_P(ReactionsOnModel, AreTheSameInAllCoordinatesAndModulesWhereTheyAreUnique) {
  const Spec spec = test::library_spec(GetParam());
  const Reactions tree = reactions(spec, "TA", "none");
  ASSERT_FALSE(tree.columns.empty()) << tree.summary.status;
  double largest = 1e-3;
  for (const auto& [column, values] : tree.columns) largest = std::max(largest, std::abs(values[0]));
  int compared = 0;
  for (const auto& [coordinates, glue] : {std::pair{"FA", "none"}, {"CE", "none"}, {"auto", "hierarchical"}}) {
    Reactions other;
    try {
      other = reactions(spec, coordinates, glue);
    } catch (const InputError&) {
      continue;  // not every model can
    }
    if (!other.summary.completed) continue;
    ++compared;
    for (const auto& [column, values] : tree.columns) {
      ASSERT_TRUE(other.columns.contains(column)) << column << " in " << coordinates << ", " << glue;
      const double difference = std::abs(values[0] - other.columns[column][0]) / largest;
      const bool unique = std::ranges::find(tree.summary.not_unique, column) == tree.summary.not_unique.end();
      EXPECT_TRUE(!unique || difference < 1e-9) << column << " in " << coordinates << ", " << glue << ": " << difference;
    }
  }
  EXPECT_GE(compared, GetParam() == "slip_to_roll" ? 0 : 1);
}

INSTANTIATE_TEST_SUITE_P(Library, ReactionsOnModel, testing::ValuesIn(test::library_models()),
                         [](const auto& model) { return model.param; });

// --- against Newton and Euler for every body, solved densely

/// Every body free, every joint a set of unknown reactions: M a + c = tau + A' lambda, A a = b at the start of a run, and what
/// the joints' rows do to their child, or body b, at its point.
struct DenseReactions {
  std::map<std::string, double> values;
  std::set<std::string> open;  // that a null vector of A' changes
};

class DenseOracle {
 public:
  explicit DenseOracle(System& system) : system_(system), model_(system.model()), length_(model_.units.length) {}

  DenseReactions solve() {
    const MatX<double> M = system_.mass_matrix();
    const VecX<double> f = system_.work().tau - system_.bias();
    const ConstraintTerms& terms = system_.terms();
    const int n = model_.tree.nv, m = model_.row_count();
    MatX<double> A = system_.jacobian();
    // Lengths and forces in units of their own, so that rank is no matter of metres.
    VecX<double> row_unit(m), v_unit(n);
    for (int r = 0; r < m; ++r) row_unit[r] = length_ / model_.units.row[r];
    for (int k = 0; k < n; ++k) v_unit[k] = model_.units.velocity[k] / length_;
    const MatX<double> scaled = row_unit.asDiagonal() * A * v_unit.asDiagonal();
    const Eigen::JacobiSVD<MatX<double>> svd(scaled, Eigen::ComputeFullU | Eigen::ComputeFullV);
    constexpr double kRank = 1e-9;
    const int rank = static_cast<int>((svd.singularValues().array() > kRank * std::max(1e-30, svd.singularValues()[0])).count());
    null_ = row_unit.asDiagonal() * svd.matrixU().rightCols(m - rank);
    // Accelerations within the constraints, then the multipliers of least norm that make them.
    const MatX<double> free = v_unit.asDiagonal() * svd.matrixV().rightCols(n - rank);
    const VecX<double> given =
        v_unit.asDiagonal() * (svd.matrixV().leftCols(rank) * svd.singularValues().head(rank).cwiseInverse().asDiagonal() *
                               svd.matrixU().leftCols(rank).transpose() * (row_unit.asDiagonal() * terms.b));
    VecX<double> a = given;
    if (free.cols() > 0) a += free * (free.transpose() * M * free).ldlt().solve(free.transpose() * (f - M * given));
    const VecX<double> needed = v_unit.asDiagonal() * (M * a - f);
    lambda_ =
        row_unit.asDiagonal() * (svd.matrixU().leftCols(rank) * svd.singularValues().head(rank).cwiseInverse().asDiagonal() *
                                 svd.matrixV().leftCols(rank).transpose() * needed);
    for (const FrameClosure& closure : model_.frame_closures) add(closure, A);
    for (int r = 0; r < m; ++r)
      if (!model_.rows[static_cast<std::size_t>(r)].internal && system_.is_active(r))
        set("lambda." + model_.rows[static_cast<std::size_t>(r)].name, lambda_[r], null_.row(r), row_unit[r]);
    return found_;
  }

 private:
  /// On b, or, if that is the ground, the opposite of what acts on a: force in world axes, torque in the body's about its origin.
  void add(const FrameClosure& closure, const MatX<double>& A) {
    for (int r = 0; r < closure.row_count; ++r)
      if (!system_.is_active(closure.first_row + r)) return;  // it slides: its force is none of the multipliers here
    const bool on_b = closure.b.node != 0;
    const NodeFrame& side = on_b ? closure.b : closure.a;
    if (side.node == 0) return;
    const int first = model_.tree.nodes[static_cast<std::size_t>(side.node)].v;
    const Pose<double>& X = system_.X_WN(side.node);
    const Vec3<double> arm = system_.pose(closure.b).p - X.p;
    const auto rows = A.middleRows(closure.first_row, closure.row_count);
    MatX<double> L(6, closure.row_count);
    for (int r = 0; r < closure.row_count; ++r) {
      const Vec3<double> f = rows.row(r).segment<3>(first).transpose(), n = rows.row(r).segment<3>(first + 3).transpose();
      L.col(r) << f, X.R * n - arm.cross(f);
    }
    if (!on_b) L = -L;
    const VecX<double> reaction = L * lambda_.segment(closure.first_row, closure.row_count);
    const MatX<double> change = L * null_.middleRows(closure.first_row, closure.row_count);
    for (int k = 0; k < 6; ++k)
      set(fmt::format("{}.{}.{}", k < 3 ? "force" : "torque", closure.name, "xyz"[k % 3]), reaction[k], change.row(k),
          k < 3 ? 1.0 : length_);
  }

  void set(const std::string& column, double value, const Eigen::RowVectorXd& change, double unit) {
    constexpr double kOpen = 1e-7;
    found_.values[column] = value;
    if (change.norm() > kOpen * unit) found_.open.insert(column);
  }

  System& system_;
  const Model& model_;
  double length_;
  MatX<double> null_;
  VecX<double> lambda_;
  DenseReactions found_;
};

TEST_P(ReactionsOnModel, AreThoseOfADenseSolutionWhereTheyAreUniqueAndNamedWhereNot) {
  const Spec spec = test::library_spec(GetParam());
  DenseReactions dense;
  Spec free = spec;
  free.settings.coordinates = {"FA", {}, {}};
  try {
    Simulation simulation(build_model(free));
    Observer observer;
    observer.frame = [&](const System&) {
      System& system = simulation.equations().system();
      if (dense.values.empty() && system.tree().nv <= 400) dense = DenseOracle(system).solve();
    };
    simulation.observe(observer);
    simulation.advance_to(1e-6);
  } catch (const InputError&) {
  }
  if (dense.values.empty()) GTEST_SKIP() << "not in FA, or too large";
  double largest = 1e-3;
  for (const auto& [column, value] : dense.values) largest = std::max(largest, std::abs(value));
  for (const auto& [coordinates, glue] : {std::pair{"TA", "none"}, {"CE", "none"}, {"FA", "none"}, {"auto", "hierarchical"}}) {
    Reactions run;
    try {
      run = reactions(spec, coordinates, glue);
    } catch (const InputError&) {
      continue;  // not every model can
    }
    if (!run.summary.completed || run.columns.empty()) continue;
    const std::string where = fmt::format("{}, glue {}", coordinates, glue);
    for (const auto& [column, values] : run.columns) {
      const auto expected = dense.values.find(column);
      if (expected == dense.values.end() || dense.open.contains(column)) continue;
      EXPECT_NEAR(values[0] / largest, expected->second / largest, 1e-9) << column << " in " << where;
    }
    for (const std::string& column : run.summary.not_unique)
      EXPECT_TRUE(dense.open.contains(column)) << column << " is unique, in " << where;
    for (const std::string& column : dense.open)
      if (run.columns.contains(column)) {
        EXPECT_THAT(run.summary.not_unique, Contains(column)) << where;
      }
  }
}

/// By hand: two rods on one another, hanging at rest, turned into any direction; the upper hinge carries both.
TEST(Reactions, OfAHangingChainAreItsWeights) {
  std::mt19937 random(7);
  for (int k = 0; k < 20; ++k) {
    std::uniform_real_distribution<double> number(-1.0, 1.0);
    const Vec3<double> down = Vec3<double>(number(random), number(random), number(random)).normalized();
    const double upper = 2.0 + number(random), lower = 2.0 + number(random);
    Spec spec = test::library_spec("double_pendulum");
    ASSERT_EQ(spec.bodies.size(), 2U);
    ASSERT_EQ(spec.joints.size(), 2U);
    spec.settings.gravity = 9.81 * down;
    // The rods along gravity, about axes across it.
    Vec3<double> axis = down.unitOrthogonal();
    for (std::size_t i = 0; i < 2; ++i) {
      spec.bodies[i].mass = i == 0 ? upper : lower;
      spec.bodies[i].com = 0.5 * down;
      spec.bodies[i].inertia = spec.bodies[i].mass * Mat3<double>::Identity();
      spec.bodies[i].solid.reset();
      spec.joints[i].type = "spherical";
      spec.joints[i].position.clear();
      spec.joints[i].velocity.clear();
      spec.joints[i].axis = axis;
      spec.joints[i].parent.at = i == 0 ? Vec3<double>::Zero() : Vec3<double>(down);
      spec.joints[i].child.at = Vec3<double>::Zero();
    }
    spec.forces.clear();
    spec.sensors.clear();
    for (const char* const coordinates : {"TA", "FA"}) {
      const Reactions found = reactions(spec, coordinates, "none");
      for (std::size_t i = 0; i < 2; ++i)
        for (int c = 0; c < 3; ++c) {
          const double expected = -9.81 * down[c] * (i == 0 ? upper + lower : lower);
          EXPECT_NEAR(found.columns.at(fmt::format("force.{}.{}", spec.joints[i].name, "xyz"[c]))[0], expected, 1e-9);
          EXPECT_NEAR(found.columns.at(fmt::format("torque.{}.{}", spec.joints[i].name, "xyz"[c]))[0], 0.0, 1e-9);
        }
    }
  }
}

/// What is said not to be unique is what another solution of the same motion has otherwise.
TEST(Reactions, ThatAreNotUniqueAreNamed) {
  for (const char* const model : {"bricard", "delta", "five_bar_redundant"}) {
    const Spec spec = test::library_spec(model);
    const Reactions tree = reactions(spec, "TA", "none"), free = reactions(spec, "FA", "none");
    ASSERT_FALSE(tree.summary.not_unique.empty()) << model;
    int different = 0;
    for (const auto& [column, values] : tree.columns)
      if (std::abs(values[0] - free.columns.at(column)[0]) > 1e-6) {
        ++different;
        EXPECT_THAT(tree.summary.not_unique, Contains(column)) << model;
        EXPECT_THAT(free.summary.not_unique, Contains(column)) << model;
      }
    EXPECT_GT(different, 0) << model;
  }
  EXPECT_TRUE(reactions(test::library_spec("four_bar"), "TA", "none").summary.not_unique.empty());
}

}  // namespace
}  // namespace linkwork
