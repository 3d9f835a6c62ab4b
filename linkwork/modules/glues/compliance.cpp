#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "linkwork/linalg/index.h"
#include "linkwork/modules/glues/catalog.h"
#include "linkwork/modules/glues/compliance_stability.h"

namespace linkwork {

namespace {

/// lambda = -(K phi + D phidot) from the motion of the ports alone; every module goes on by itself, [Khan2006] section 5.2. Rows
/// that are angles have a stiffness of their own: unless it is given, that of the springs at the distance at which they turn the
/// two modules as fast as they move them.
class ComplianceGlue : public Glue {
 public:
  ComplianceGlue(Workshop& workshop, const Options& options)
      : Glue(workshop),
        board_(workshop),
        drift_(drift_control(workshop.plan().settings)),
        stiffness_(options.at("stiffness")),
        given_damping_(options.at("damping")),
        damping_(given_or(given_damping_, 0.6 * std::sqrt(stiffness_))),
        turning_stiffness_(options.at("turning_stiffness")),
        turning_damping_(options.at("turning_damping")) {}

  /// Explicit steps follow stiff springs only if they are short. Modules answer otherwise as they move: where they answer more
  /// strongly than before they are looked at again, and the step that is recommended leaves room for that.
  Status check(bool at_start) override {
    constexpr double kRoom = 1.5, kClearly = 1.1;
    const auto& methods = tableaus();
    const Settings& settings = workshop_.plan().settings;
    const auto method = std::ranges::find(methods, settings.integrator.name, &Tableau::name);
    if (method == methods.end() || !method->error.empty()) return {};  // error control finds its steps
    gather_responses();
    const VirtualSprings springs = all_springs();
    const double strength = springs.strength();
    if (strength <= kClearly * strongest_) return {};
    strongest_ = strength;
    if (springs.is_stable(*method, settings.step)) return {};
    const double longest = springs.longest_step(*method, settings.step);
    return {
        fmt::format("glue 'compliance' {}: with {} its springs take steps of at most {:.2g} s, and the step is {:.2g} s; give "
                    "--step {:.2g}, or compliance:stiffness={:.2g}",
                    at_start ? "would not be stable" : "is not stable any more", method->name, longest, settings.step,
                    longest / kRoom, stiffness_ * springs.largest_scale(*method, kRoom * settings.step))};
  }

  Status evaluate(double t, States& x, States& rates) override {
    workshop_.ask_kinematics(t, x);
    if (Status status = board_.exchange(errors_); !status.ok()) return status;
    // The response is asked for its side effect of setting up the module's own recursion; D stays with the module.
    workshop_.ask_response(Level::kAcceleration);
    if (squared_arms_.empty()) find_arms();
    for (WorkingModule& module : workshop_.modules()) module.Q.setZero();
    const AssemblyPlan& plan = workshop_.plan();
    for (std::size_t c = 0; c < plan.connections.size(); ++c) join(c, results_[c]);
    for (std::size_t s = 0; s < plan.springs.size(); ++s) join(plan.springs[s], spring_potentials_[s]);
    workshop_.advance(Level::kAcceleration, rates);
    for (std::size_t i = 0; i < x.size(); ++i) workshop_.modules()[i].module->settle(x[i]);
    return {};
  }

  /// Modules see to their own constraints; the joints between them are what the springs live on.
  Status project(double t, States& x, bool) override {
    if (!drift_.positions && !drift_.velocities) return {};
    workshop_.expect([&](WorkingModule& module, std::size_t i) { module.module->expect(t, x[i], Level::kAcceleration); });
    for (std::size_t i = 0; i < x.size(); ++i) project_alone(workshop_.modules()[i], t, x[i]);
    return {};
  }

  int connection_rank() override {
    int rows = 0;
    for (const Connection& connection : workshop_.plan().connections) rows += connection.row_count();
    return rows;
  }

  /// The springs stay as they were found at the start.
  std::vector<double> memory() const override {
    std::vector<double> memory = squared_arms_;
    memory.push_back(strongest_);
    return memory;
  }
  void set_memory(const std::vector<double>& memory) override {
    if (memory.size() != workshop_.plan().connections.size() + 1) return;
    squared_arms_.assign(memory.begin(), memory.end() - 1);
    strongest_ = memory.back();
  }

  int numbers_exposed() const override {
    int ports = 0;
    for (const ModulePlan& module : workshop_.plan().modules) ports += module.port_count;
    return 18 * ports;
  }

 private:
  static double given_or(double given, double otherwise) { return std::isnan(given) ? otherwise : given; }

  struct Spring {
    double stiffness, damping;
  };
  /// In place of a row.
  Spring spring_for(std::size_t connection, const Row& row) const {
    const bool turns = row.on_p.isZero(0.0);
    const double squared_arm = squared_arms_[connection];
    const ComplianceSpec& own = workshop_.plan().connections[connection].compliance;
    const double damping = own.stiffness ? given_or(given_damping_, 0.6 * std::sqrt(*own.stiffness))
                           : turns       ? given_or(turning_damping_, damping_ * squared_arm)
                                         : damping_;
    const double stiffness = turns ? given_or(turning_stiffness_, stiffness_ * squared_arm) : stiffness_;
    return {own.stiffness.value_or(stiffness), own.damping.value_or(damping)};
  }

  /// All ranks get those of all modules, at the state last evaluated.
  void gather_responses() {
    const AssemblyPlan& plan = workshop_.plan();
    const std::vector<int> leaves = workshop_.leaves();
    std::vector<int> ends;
    std::vector<int> begin_of(plan.modules.size());
    int size = 0;
    for (int rank = 0; rank < workshop_.transport().size(); ++rank) {
      for (int leaf = workshop_.placement().begin(rank); leaf < workshop_.placement().end(rank); ++leaf) {
        const int module = leaves[at(leaf)], six = 6 * plan.modules[at(module)].port_count;
        begin_of[at(module)] = size;
        size += six * six;
      }
      ends.push_back(size);
    }
    std::vector<double> data(at(size), 0.0);
    for (const WorkingModule& module : workshop_.modules())
      std::copy_n(module.response.D.data(), module.response.D.size(), data.data() + begin_of[at(module.index)]);
    workshop_.transport().gather(data, ends);
    responses_.clear();
    for (std::size_t m = 0; m < plan.modules.size(); ++m) {
      const int six = 6 * plan.modules[m].port_count;
      responses_.emplace_back(Eigen::Map<const MatX<double>>(data.data() + begin_of[m], six, six));
    }
  }

  /// By connection, the square of the distance at which a force turns the two modules by as much as it moves them; not above the
  /// size of the system, which it is where they can only move, or only turn.
  void find_arms() {
    constexpr double kNothing = 1e-12;
    gather_responses();
    const double most = workshop_.plan().length * workshop_.plan().length;
    for (const Connection& connection : workshop_.plan().connections) {
      double turning = 0.0, moving = 0.0;
      for (const PortRef& port : {connection.a, connection.b}) {
        if (port.is_ground()) continue;
        const auto D = responses_[at(port.module)].block<6, 6>(6 * port.port, 6 * port.port);
        turning += D.topLeftCorner<3, 3>().trace();
        moving += D.bottomRightCorner<3, 3>().trace();
      }
      const bool both = moving > kNothing * most * turning && turning > 0.0;
      squared_arms_.push_back(both ? std::min(most, moving / turning) : most);
    }
  }

  /// All rows between modules, with the responses last gathered.
  VirtualSprings all_springs() {
    const AssemblyPlan& plan = workshop_.plan();
    const int rows = connection_rank();
    VirtualSprings springs{MatX<double>::Zero(rows, rows), VecX<double>::Zero(rows), VecX<double>::Zero(rows)};
    std::vector<MatX<double>> G;
    for (const ModulePlan& module : plan.modules) G.push_back(MatX<double>::Zero(rows, 6 * module.port_count));
    int first = 0;
    for (std::size_t c = 0; c < plan.connections.size(); ++c) {
      const Connection& connection = plan.connections[c];
      linkwork::evaluate(connection, board_.motion_of_a(connection), board_.motion_of_b(connection), nullptr, nullptr, rows_);
      for (int r = 0; r < connection.row_count(); ++r, ++first) {
        if (!connection.a.is_ground())
          G[at(connection.a.module)].row(first).segment<6>(6 * connection.a.port) += rows_.on_a[at(r)].transpose();
        if (!connection.b.is_ground())
          G[at(connection.b.module)].row(first).segment<6>(6 * connection.b.port) += rows_.on_b[at(r)].transpose();
        const Spring spring = spring_for(c, rows_.rows[at(r)]);
        springs.stiffness[first] = spring.stiffness, springs.damping[first] = spring.damping;
      }
    }
    for (std::size_t m = 0; m < G.size(); ++m) springs.W += G[m] * responses_[m] * G[m].transpose();
    return springs;
  }

  void project_alone(WorkingModule& module, double t, VecX<double>& x) const {
    constexpr int kMostIterations = 10;
    const double good_enough = drift_.good_enough;
    module.Q.setZero();
    module.module->measure_changes(drift_.by_mass, workshop_.plan().length);
    if (drift_.times > 0) return correct_alone(module, t, x);
    for (int i = 0; i < kMostIterations; ++i) {
      if (!module.module->kinematics(t, x, module.motion).ok()) return;  // the next evaluation says why
      const ModuleErrors errors = module.module->errors();
      const bool position = drift_.positions && errors.position > good_enough;
      const bool velocity = drift_.velocities && errors.velocity > good_enough * std::max(1.0, errors.speed);
      if (!position && !velocity) return;
      const Level level = position ? Level::kPosition : Level::kVelocity;
      if (!module.module->response(level, module.response).ok() || !module.module->advance(level, module.Q, x).ok()) return;
      if (!position) return;
    }
  }

  void correct_alone(WorkingModule& module, double t, VecX<double>& x) const {
    for (int i = 0; i < drift_.times; ++i)
      for (const Level level : {Level::kPosition, Level::kVelocity})
        if (!module.module->kinematics(t, x, module.motion).ok() || !module.module->response(level, module.response).ok() ||
            !module.module->advance(level, module.Q, x).ok())
          return;
  }

  void push(const PortRef& port, const Eigen::Matrix<double, 6, 1>& wrench) {
    if (!port.is_ground() && workshop_.rank_of(port.module) == workshop_.rank())
      workshop_.module(port.module).Q.segment<6>(6 * port.port) += wrench;
  }

  void join(std::size_t number, ConnectionResult& result) {
    const Connection& connection = workshop_.plan().connections[number];
    linkwork::evaluate(connection, board_.motion_of_a(connection), board_.motion_of_b(connection), nullptr, nullptr, rows_);
    for (std::size_t r = 0; r < at(connection.row_count()); ++r) {
      const auto [stiffness, damping] = spring_for(number, rows_.rows[r]);
      const double lambda = -stiffness * rows_.phi[r] - damping * rows_.rate[r];
      result.lambda[r] = lambda;
      push(connection.a, lambda * rows_.on_a[r]);
      push(connection.b, lambda * rows_.on_b[r]);
      errors_.joint_position = std::max(errors_.joint_position, std::abs(rows_.phi[r]));
      errors_.joint_velocity = std::max(errors_.joint_velocity, std::abs(rows_.rate[r]));
    }
    errors_.position = std::max(errors_.position, errors_.joint_position);
    errors_.velocity = std::max(errors_.velocity, errors_.joint_velocity);
    set_reaction(rows_, connection.row_count(), result);
  }

  void join(const SpringLink& spring, double& potential) {
    const PortMotion a = spring.a.is_ground() ? resting(spring.ground_a) : board_.motion(spring.a);
    const PortMotion b = spring.b.is_ground() ? resting(spring.ground_b) : board_.motion(spring.b);
    const SpringForces forces = spring_forces(spring, a, b);
    push(spring.a, forces.on_a);
    push(spring.b, forces.on_b);
    potential = forces.potential;
  }

  PortBoard board_;
  DriftControl drift_;
  double stiffness_, given_damping_, damping_, turning_stiffness_, turning_damping_;
  std::vector<double> squared_arms_;     // by connection
  std::vector<MatX<double>> responses_;  // by module, last gathered
  double strongest_ = 0.0;               // of what was found stable
  ConnectionRows rows_;
};

}  // namespace

GlueEntry compliance_glue() {
  constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
  return {
      {"compliance",
       "virtual springs and dampers in place of the joints between modules, which then hold approximately",
       "Khan2006",
       {{"stiffness", 1e6, "of the springs, N/m, for connections that have none of their own"},
        {"damping", kNaN, "of the dampers; default 0.6 times the root of the stiffness"},
        {"turning_stiffness", kNaN,
         "of rows that are angles, N m/rad; default the stiffness times the square of the radius of gyration of what they turn"},
        {"turning_damping", kNaN, "likewise"}}},
      [](Workshop& workshop, const Options& options) { return std::make_unique<ComplianceGlue>(workshop, options); },
      {.exact = false, .exposes = "motion of its ports"}};
}

}  // namespace linkwork
