#include "linkwork/modules/hierarchy.h"

#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <algorithm>
#include <random>

#include "linkwork/linalg/index.h"
#include "linkwork/modules/own_part.h"
#include "linkwork/transport/hybrid.h"
#include "linkwork/transport/thread_team.h"

namespace linkwork {
namespace {

/// Answers with what it was given: any motion and response of its ports.
class GivenModule : public Module {
 public:
  struct Answer {
    std::vector<PortMotion> motion;
    MatX<double> D;
    VecX<double> R;
    double error = 0.0;
    std::string trouble;
  };
  explicit GivenModule(std::shared_ptr<const Answer> answer) : answer_(std::move(answer)) {}

  int port_count() const override { return static_cast<int>(answer_->motion.size()); }
  int state_size() const override { return 0; }
  void start(VecX<double>& x) override { x.resize(0); }
  Status kinematics(double, const VecX<double>&, std::span<PortMotion> ports) override {
    std::ranges::copy(answer_->motion, ports.begin());
    return {};
  }
  Status response(Level, PortResponse& response) override {
    response.D = answer_->D;
    response.R = answer_->R;
    for (Eigen::Index k = 0; k < response.D.rows(); ++k) response.scale[k] = response.D(k, k);
    return {answer_->trouble};
  }
  Status advance(Level, const VecX<double>&, VecX<double>&) override { return {}; }
  ModuleErrors errors() const override { return {answer_->error, 0.0, 1.0}; }
  int rank() const override { return 2; }

 private:
  std::shared_ptr<const Answer> answer_;
};

class RandomNumbers {
 public:
  explicit RandomNumbers(unsigned seed) : engine_(seed) {}
  int below(int n) { return std::uniform_int_distribution<int>(0, n - 1)(engine_); }
  double number() { return std::uniform_real_distribution<double>(-1.0, 1.0)(engine_); }
  MatX<double> matrix(int rows, int columns) {
    return MatX<double>::NullaryExpr(rows, columns, [&] { return number(); });
  }

 private:
  std::mt19937 engine_;
};

struct GivenAssembly {
  AssemblyPlan plan;
  std::vector<std::shared_ptr<GivenModule::Answer>> answers;
};

/// Modules with one to three ports, joined at random so that all hang together, some to the ground, and springs.
/// Planar ones: their ports answer to two forces and a moment only, and to nothing else.
GivenAssembly random_assembly(unsigned seed, int modules, bool planar = false) {
  static const FrameClosureKind point = point_closure();
  RandomNumbers random(seed);
  GivenAssembly assembly;
  AssemblyPlan& plan = assembly.plan;
  const auto random_pose = [&] {
    const Vec3<double> axis = random.matrix(3, 1);
    return Pose<double>{Eigen::AngleAxisd(random.number(), axis.normalized()).toRotationMatrix(), random.matrix(3, 1)};
  };
  for (int m = 0; m < modules; ++m) {
    const int ports = 1 + random.below(3);
    auto answer = std::make_shared<GivenModule::Answer>();
    for (int p = 0; p < ports; ++p) {
      const Pose<double> pose = random_pose();
      answer->motion.push_back({pose.R, pose.p, random.matrix(3, 1), random.matrix(3, 1)});
      if (planar) answer->motion.back().w.head<2>().setZero(), answer->motion.back().v.z() = 0.0;
    }
    const MatX<double> root = random.matrix(6 * ports, 6 * ports);
    answer->D = root * root.transpose() + MatX<double>::Identity(6 * ports, 6 * ports);
    answer->R = random.matrix(6 * ports, 1);
    for (int k = 0; planar && k < 6 * ports; ++k)
      if (k % 6 < 2 || k % 6 == 5) answer->D.row(k).setZero(), answer->D.col(k).setZero(), answer->R[k] = 0.0;
    answer->error = 1e-3 * std::abs(random.number());
    plan.modules.push_back({.name = "m" + std::to_string(m),
                            .port_count = ports,
                            .weight = 1.0 + random.below(3),
                            .make = [answer](const std::vector<double>&) { return std::make_unique<GivenModule>(answer); }});
    plan.nest.modules.push_back(m);
    assembly.answers.push_back(std::move(answer));
  }
  const auto random_port = [&](int m) { return PortRef{m, random.below(plan.modules[at(m)].port_count)}; };
  for (int m = 0; m < modules; ++m) {
    Connection connection;
    connection.name = "c" + std::to_string(m);
    connection.kind = &point;
    connection.number = m;
    connection.a = m == 0 ? PortRef{} : random_port(random.below(m));
    connection.b = random_port(m);
    connection.ground_a = random_pose();
    plan.connections.push_back(connection);
    if (m % 3 != 2) continue;
    SpringLink spring{"s" + std::to_string(m), random_port(random.below(m)), random_port(m), {}, {}, 3.0, 0.5, 0.7};
    plan.springs.push_back(spring);
  }
  return assembly;
}

struct Joined {
  std::vector<VecX<double>> Q;         // by module
  std::vector<AssemblyErrors> errors;  // by rank
  std::vector<std::string> troubles;
  std::vector<int> total_ranks, inner_ranks;
  std::vector<PairOfSums> sums;
  std::vector<ConnectionResult> results;
  std::vector<double> potentials;
};

void solve_on_rank(const GivenAssembly& assembly, const Way& way, bool parts, Transport& transport, Joined& solution) {
  AssemblyPlan plan = assembly.plan;
  std::vector<double> weights, cost;
  for (const ModulePlan& module : plan.modules) weights.push_back(module.weight);
  const GroupTree tree = make_group_tree(plan.nest, weights, plan.joined());
  std::vector<int> leaves = tree.leaves();
  for (const int leaf : leaves) cost.push_back(weights[at(leaf)]);
  const Placement placement = place(cost, transport.size());
  GroupPlan groups = plan_groups(outline_of(plan), tree, placement, transport.rank(), way);
  if (parts) {
    leaves = {leaves.begin() + placement.begin(transport.rank()), leaves.begin() + placement.end(transport.rank())};
    keep_own_part(plan, groups, leaves);
  }
  Workshop workshop(plan, leaves, groups, placement, transport);
  Hierarchy hierarchy(workshop);
  const std::size_t rank = at(transport.rank());
  const States x(workshop.modules().size());
  const Status status = hierarchy.up(0.0, x, Level::kAcceleration);
  solution.troubles[rank] = status.trouble;
  solution.errors[rank] = hierarchy.errors();
  solution.total_ranks[rank] = hierarchy.total_rank();
  solution.inner_ranks[rank] = hierarchy.inner_rank();
  if (!status.ok()) return;
  hierarchy.down();
  std::vector<PairOfSums> own;
  for (const WorkingModule& module : workshop.modules()) {
    solution.Q[at(module.index)] = module.Q;
    own.push_back({1.0 / (3.0 + module.index), 1.0});
  }
  for (const int c : groups.connections) solution.results[at(plan.connections[at(c)].number)] = hierarchy.results()[at(c)];
  for (const int s : groups.springs) solution.potentials[at(s)] = hierarchy.spring_potentials()[at(s)];
  solution.sums[rank] = hierarchy.add_up(own);
}

/// On threads, or on as many threads in each of several teams, which stand for processes.
Joined solve_on(const GivenAssembly& assembly, const Way& way, bool parts, int ranks, int threads = 1) {
  const std::size_t size = at(ranks * threads);
  Joined solution{std::vector<VecX<double>>(assembly.plan.modules.size()),
                  std::vector<AssemblyErrors>(size),
                  std::vector<std::string>(size),
                  std::vector<int>(size),
                  std::vector<int>(size),
                  std::vector<PairOfSums>(size),
                  std::vector<ConnectionResult>(assembly.plan.connections.size()),
                  std::vector<double>(assembly.plan.springs.size())};
  ThreadTeam(ranks).run([&](Transport& transport) {
    if (threads == 1) return solve_on_rank(assembly, way, parts, transport, solution);
    ThreadTeam(threads).run([&](Transport& within) {
      HybridTransport hybrid(transport, within);
      solve_on_rank(assembly, way, parts, hybrid, solution);
    });
  });
  return solution;
}

void expect_same_solution(const Joined& solution, const Joined& one, const std::string& what) {
  EXPECT_EQ(solution.Q, one.Q) << what;
  EXPECT_EQ(solution.potentials, one.potentials) << what;
  for (std::size_t c = 0; c < one.results.size(); ++c) {
    EXPECT_EQ(solution.results[c].lambda, one.results[c].lambda) << what << ", connection " << c;
    EXPECT_EQ(solution.results[c].force, one.results[c].force) << what << ", connection " << c;
  }
  for (std::size_t rank = 0; rank < solution.errors.size(); ++rank) {
    const AssemblyErrors &errors = solution.errors[rank], &expected = one.errors[0];
    EXPECT_EQ(errors.position, expected.position) << what << ", rank " << rank;
    EXPECT_EQ(errors.velocity, expected.velocity) << what << ", rank " << rank;
    EXPECT_EQ(errors.joint_position, expected.joint_position) << what << ", rank " << rank;
    EXPECT_EQ(errors.worst_module, expected.worst_module) << what << ", rank " << rank;
    EXPECT_EQ(solution.total_ranks[rank], one.total_ranks[0]) << what << ", rank " << rank;
    EXPECT_EQ(solution.inner_ranks[rank], one.inner_ranks[0]) << what << ", rank " << rank;
    EXPECT_EQ(solution.sums[rank], one.sums[0]) << what << ", rank " << rank;
  }
}

TEST(Hierarchy, GivesTheSameBitsHoweverGroupsAreSpread) {
  for (unsigned seed = 0; seed < 12; ++seed) {
    const GivenAssembly assembly = random_assembly(seed, 2 + 3 * static_cast<int>(seed), seed % 3 == 2);
    const Joined one = solve_on(assembly, {}, false, 1);
    EXPECT_EQ(one.troubles[0], "");
    for (const int ranks : {2, 3, 4, 7, 16})
      for (const Way& way : {Way{}, Way{Scheme::kTree, 1}, Way{Scheme::kTree, 2}, Way{Scheme::kTree, 3}})
        for (const bool parts : {false, true}) {
          const std::string what = "seed " + std::to_string(seed) + ", " + std::to_string(ranks) + " ranks, " +
                                   (way.scheme == Scheme::kTree ? std::to_string(way.levels) + " levels" : "one exchange") +
                                   (parts ? ", parts" : "");
          expect_same_solution(solve_on(assembly, way, parts, ranks), one, what);
        }
    expect_same_solution(solve_on(assembly, {Scheme::kTree, 1}, true, 2, 2), one, "two ranks with two threads each");
  }
}

/// W lambda = b - G R of the whole at once.
TEST(Hierarchy, GivesTheForcesOfTheWhole) {
  for (unsigned seed = 0; seed < 16; ++seed) {
    const bool planar = seed >= 8;  // one row of each point then moves nothing, and has no force
    const GivenAssembly assembly = random_assembly(seed, 3 + 2 * static_cast<int>(seed % 8), planar);
    const AssemblyPlan& plan = assembly.plan;
    std::vector<int> first;
    int size = 0;
    for (const auto& answer : assembly.answers) first.push_back(size), size += static_cast<int>(answer->R.size());
    MatX<double> D = MatX<double>::Zero(size, size);
    VecX<double> R(size), F = VecX<double>::Zero(size);
    for (std::size_t m = 0; m < first.size(); ++m) {
      const auto& [motion, own_D, own_R, error, trouble] = *assembly.answers[m];
      D.block(first[m], first[m], own_R.size(), own_R.size()) = own_D;
      R.segment(first[m], own_R.size()) = own_R;
    }
    const auto motion_of = [&](const PortRef& port) { return assembly.answers[at(port.module)]->motion[at(port.port)]; };
    const auto place_of = [&](const PortRef& port) { return first[at(port.module)] + 6 * port.port; };
    for (const SpringLink& spring : plan.springs) {
      const Vec3<double> from = motion_of(spring.a).p, d = motion_of(spring.b).p - from;
      const double rate = d.normalized().dot(motion_of(spring.b).v - motion_of(spring.a).v);
      const Vec3<double> pull = (spring.stiffness * (d.norm() - spring.length) + spring.damping * rate) * d.normalized();
      F.segment<3>(place_of(spring.a) + 3) += pull;
      F.segment<3>(place_of(spring.b) + 3) -= pull;
    }
    R += D * F;
    // The points' second difference at rest relative to one another: p_b - p_a in the axes of a, differentiated twice.
    const auto rows = static_cast<Eigen::Index>(3 * plan.connections.size());
    MatX<double> G = MatX<double>::Zero(rows, size);
    VecX<double> second(rows);
    for (std::size_t c = 0; c < plan.connections.size(); ++c) {
      const Connection& connection = plan.connections[c];
      const PortMotion a = connection.a.is_ground() ? resting(connection.ground_a) : motion_of(connection.a);
      const PortMotion b = motion_of(connection.b);
      const auto row = static_cast<Eigen::Index>(3 * c);
      const Vec3<double> d = b.p - a.p, v = b.v - a.v;
      Vec3<double> wdot_a = Vec3<double>::Zero(), acceleration_a = wdot_a;
      const Mat3<double> to_a = a.R.transpose();
      if (!connection.a.is_ground()) {
        const int place = place_of(connection.a);
        wdot_a = R.segment<3>(place);
        acceleration_a = R.segment<3>(place + 3);
        Mat3<double> cross;
        cross << 0, -d.z(), d.y(), d.z(), 0, -d.x(), -d.y(), d.x(), 0;
        G.block<3, 3>(row, place) = to_a * cross;
        G.block<3, 3>(row, place + 3) = -to_a;
      }
      G.block<3, 3>(row, place_of(connection.b) + 3) = to_a;
      const Vec3<double> acceleration_b = R.segment<3>(place_of(connection.b) + 3);
      second.segment<3>(row) = to_a * (acceleration_b - acceleration_a - wdot_a.cross(d) - 2.0 * a.w.cross(v - a.w.cross(d)) -
                                       a.w.cross(a.w.cross(d)));
    }
    const MatX<double> W = G * D * G.transpose();
    const VecX<double> lambda = W.completeOrthogonalDecomposition().solve(-second);
    F += G.transpose() * lambda;
    const Joined tree = solve_on(assembly, {Scheme::kTree, 1}, true, 3);
    for (std::size_t m = 0; m < first.size(); ++m) {
      VecX<double> difference = tree.Q[m] - F.segment(first[m], tree.Q[m].size());
      if (planar) difference = assembly.answers[m]->D * difference;  // forces that move nothing are not unique
      EXPECT_LT(difference.norm(), 1e-9 * (1.0 + F.norm())) << "seed " << seed << ", module " << m;
    }
    if (!planar) {
      EXPECT_EQ(tree.total_ranks[0], static_cast<int>(rows));
    }
  }
}

TEST(Hierarchy, TellsAllRanksOfTroubleOnOne) {
  const GivenAssembly assembly = random_assembly(5, 9);
  assembly.answers[6]->trouble = "it is broken";
  for (const Way& way : {Way{}, Way{Scheme::kTree, 1}, Way{Scheme::kTree, 2}})
    for (const int ranks : {1, 2, 4, 12})
      for (const std::string& trouble : solve_on(assembly, way, true, ranks).troubles)
        EXPECT_EQ(trouble, "module 'm6': it is broken") << ranks;
}

}  // namespace
}  // namespace linkwork
