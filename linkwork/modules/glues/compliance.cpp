#include <cmath>
#include <limits>

#include "linkwork/modules/glues/catalog.h"

namespace linkwork {

namespace {

/// lambda = -(K phi + D phidot) from the motion of the ports alone; every module goes on by itself, [Khan2006] section 5.2.
class ComplianceGlue : public Glue {
 public:
  ComplianceGlue(Workshop& workshop, double stiffness, double damping)
      : Glue(workshop),
        board_(workshop),
        drift_(drift_control(workshop.plan().settings)),
        stiffness_(stiffness),
        damping_(damping) {}

  Status evaluate(double t, States& x, States& rates) override {
    workshop_.ask_kinematics(t, x);
    if (Status status = board_.exchange(errors_); !status.ok()) return status;
    // The response is asked for its side effect of setting up the module's own recursion; D stays with the module.
    workshop_.ask_response(Level::kAcceleration);
    for (WorkingModule& module : workshop_.modules()) module.Q.setZero();
    const AssemblyPlan& plan = workshop_.plan();
    for (std::size_t c = 0; c < plan.connections.size(); ++c) join(plan.connections[c], results_[c]);
    for (std::size_t s = 0; s < plan.springs.size(); ++s) join(plan.springs[s], spring_potentials_[s]);
    workshop_.advance(Level::kAcceleration, rates);
    return {};
  }

  /// Modules see to their own constraints; the joints between them are what the springs live on.
  Status project(double t, States& x) override {
    if (!drift_.projects) return {};
    for (std::size_t i = 0; i < x.size(); ++i) project_alone(workshop_.modules()[i], t, x[i]);
    return {};
  }

  int connection_rank() override {
    int rows = 0;
    for (const Connection& connection : workshop_.plan().connections) rows += connection.row_count();
    return rows;
  }

  int numbers_exposed() const override {
    int ports = 0;
    for (const ModulePlan& module : workshop_.plan().modules) ports += module.port_count;
    return 18 * ports;
  }

 private:
  void project_alone(WorkingModule& module, double t, VecX<double>& x) const {
    constexpr int kMostIterations = 10;
    const double good_enough = 0.01 * drift_.tolerance;
    module.Q.setZero();
    for (int i = 0; i < kMostIterations; ++i) {
      if (!module.module->kinematics(t, x, module.motion).ok()) return;  // the next evaluation says why
      const ModuleErrors errors = module.module->errors();
      const bool position = errors.position > good_enough, velocity = errors.velocity > good_enough * std::max(1.0, errors.speed);
      if (!position && !velocity) return;
      const Level level = position ? Level::kPosition : Level::kVelocity;
      if (!module.module->response(level, module.response).ok() || !module.module->advance(level, module.Q, x).ok()) return;
      if (!position) return;
    }
  }

  void push(const PortRef& port, const Eigen::Matrix<double, 6, 1>& wrench) {
    if (!port.is_ground() && workshop_.rank_of(port.module) == workshop_.rank())
      workshop_.module(port.module).Q.segment<6>(6 * port.port) += wrench;
  }

  void join(const Connection& connection, ConnectionResult& result) {
    linkwork::evaluate(connection, board_.motion_of_a(connection), board_.motion_of_b(connection), nullptr, nullptr, rows_);
    const double stiffness = connection.compliance.stiffness.value_or(stiffness_);
    const double own = std::isnan(damping_) ? 0.6 * std::sqrt(stiffness) : damping_;
    const double damping = connection.compliance.damping.value_or(own);
    for (std::size_t r = 0; r < static_cast<std::size_t>(connection.row_count()); ++r) {
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
  double stiffness_, damping_;
  ConnectionRows rows_;
};

}  // namespace

GlueEntry compliance_glue() {
  return {
      {"compliance",
       "virtual springs and dampers in place of the joints between modules, which then hold approximately",
       "Khan2006",
       {{"stiffness", 1e6, "of the springs, for connections that have none of their own"},
        {"damping", std::numeric_limits<double>::quiet_NaN(), "of the dampers; default 0.6 times the root of the stiffness"}}},
      [](Workshop& workshop, const Options& options) {
        return std::make_unique<ComplianceGlue>(workshop, options.at("stiffness"), options.at("damping"));
      },
      {.exact = false, .exposes = "motion of its ports"}};
}

}  // namespace linkwork
