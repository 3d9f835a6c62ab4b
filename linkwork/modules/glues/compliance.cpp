#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "linkwork/linalg/index.h"
#include "linkwork/modules/glues/catalog.h"
#include "linkwork/modules/glues/compliance_stability.h"

namespace linkwork {

namespace {

/// lambda = -(K phi + C phidot) from the motion of the ports, [Khan2006] section 5.2; every module goes on by itself.
///
/// A stiffness that nobody gave is as large as the step allows, wherever the modules are. Rows with the inverse inertia W swing
/// freely as phidd = -W (K phi + C phid). The rows of a connection that move, and those that turn, are blocks b of equal
/// stiffness, and a module with n_m blocks has, since its inverse inertia is not negative,
///   G_m D_m G_m' <= n_m diag_b(G_mb D_mb G_mb') <= n_m diag_b(e_mb 1),                                                      (1)
/// where e_mb is the most that a unit along rows of b accelerates them. So with k_b = (z/h)^2 / sum_m n_m e_mb, C = beta K,   (2)
/// no frequency is above z/h. z is what the integrator follows with a reserve, beta damps the fastest springs by `kDamping`.
class ComplianceGlue : public Glue {
 public:
  ComplianceGlue(Workshop& workshop, const Options& options)
      : Glue(workshop),
        board_(workshop),
        drift_(drift_control(workshop.plan().settings)),
        stiffness_(options.at("stiffness")),
        damping_(options.at("damping")),
        turning_stiffness_(options.at("turning_stiffness")),
        turning_damping_(options.at("turning_damping")) {
    // What is no Runge-Kutta method gets what the least of them follows; with error control, `step` says how fast springs may be.
    const Tableau* const method = runge_kutta(workshop.plan().settings.integrator.name);
    reach_ = reach(method != nullptr ? *method : *runge_kutta("euler"), kDamping) / kReserve;
    make_for(workshop.plan().settings.step);
    for (const double option : {stiffness_, damping_, turning_stiffness_, turning_damping_})
      if (is_given(option)) some_are_given_ = true;
    for (const Connection& connection : workshop.plan().connections)
      if (connection.compliance.stiffness || connection.compliance.damping) some_are_given_ = true;
  }

  /// Explicit steps follow stiff springs only if they are short. Modules answer otherwise as they move: where they answer more
  /// strongly than before, springs that somebody gave are looked at again, and the step that is recommended leaves room for that.
  Status check(bool at_start) override {
    const Settings& settings = workshop_.plan().settings;
    const Tableau* method = runge_kutta(settings.integrator.name);
    if (method != nullptr && !method->error.empty()) method = nullptr;  // error control finds its steps
    if (method != nullptr && some_are_given_)
      if (const Status status = check_springs(*method, at_start); !status.ok()) return status;
    if (!at_start) return {};
    tell_stiffness();
    return check_start(method);
  }

  std::vector<std::string> remarks() const override { return remarks_; }

  Status evaluate(double t, States& x, States& rates) override {
    if (!is_checked_) start_t_ = t, start_ = x;
    workshop_.ask_kinematics(t, x);
    workshop_.ask_response(Level::kAcceleration);
    if (Status status = board_.exchange(errors_); !status.ok()) return status;
    if (blocks_.empty()) count_blocks();
    if (is_given(stiffness_) && squared_arms_.empty()) find_arms();
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

  /// Given springs stay as they were found at the start.
  std::vector<double> memory() const override {
    std::vector<double> memory = squared_arms_;
    memory.push_back(strongest_);
    return memory;
  }
  void set_memory(const std::vector<double>& memory) override {
    if (memory.size() != (is_given(stiffness_) ? workshop_.plan().connections.size() : 0) + 1) return;
    squared_arms_.assign(memory.begin(), memory.end() - 1);
    strongest_ = memory.back();
    is_checked_ = true;
  }

  int numbers_exposed() const override {
    int ports = 0;
    for (const ModulePlan& module : workshop_.plan().modules) ports += module.port_count;
    return PortBoard::kNumbersPerPort * ports;
  }

 private:
  static constexpr double kReserve = 1.5, kDamping = 0.5;

  /// Springs that follow the step.
  void make_for(double step) {
    squared_frequency_ = std::pow(reach_ / step, 2);
    damping_per_stiffness_ = 2.0 * kDamping * step / reach_;
  }

  /// Those that somebody gave.
  Status check_springs(const Tableau& method, bool at_start) {
    constexpr double kClearly = 1.1;
    const Settings& settings = workshop_.plan().settings;
    gather_responses();
    const VirtualSprings springs = all_springs();
    const double strength = springs.strength();
    if (strength <= kClearly * strongest_) return {};
    strongest_ = strength;
    if (springs.is_stable(method, settings.step)) return {};
    const double longest = springs.longest_step(method), scale = springs.largest_scale(method, kReserve * settings.step);
    const std::string softer = is_given(stiffness_) ? fmt::format("compliance:stiffness={:.2g}", stiffness_ * scale)
                                                    : fmt::format("{:.2g} times the stiffness that is given", scale);
    return {
        fmt::format("glue 'compliance' {}: with {} its springs take steps of at most {:.2g} s, and the step is {:.2g} s; give "
                    "--step {:.2g}, or {}, or leave the stiffness to the glue",
                    at_start ? "would not be stable" : "is not stable any more", method.name, longest, settings.step,
                    longest / kReserve, softer)};
  }

  /// With the springs that follow the step. `method`: if it has fixed steps.
  Status check_start(const Tableau* method) {
    constexpr double kMost = 0.05, kRoom = 4.0;
    const double given = workshop_.plan().settings.step, open = opening();
    double step = open <= kMost ? given : given * std::sqrt(kMost / (kRoom * open));
    if (method != nullptr) step = stable_step(*method, step);
    if (open > kMost)
      return {
          fmt::format("glue 'compliance' would not hold the joints: under the loads at the start they give way by {:.2g} times "
                      "the size of the "
                      "system (or {:.2g} rad), with springs as stiff as steps of {:.2g} s allow; give --step {:.2g}",
                      open, open, given, step)};
    if (step == given) return {};
    return {
        fmt::format("glue 'compliance' would not be stable: with springs in place of joints the modules move too fast for steps "
                    "of {:.2g} s; give --step {:.2g}",
                    given, step)};
  }

  /// For modules and springs together, not above `step`: with springs in place of what it was joined to, a module may be faster
  /// than the step, as a light body behind a strong damper is.
  double stable_step(const Tableau& method, double step) {
    constexpr double kRoom = 1.25, kShortest = 1e-6;
    is_checked_ = true;  // what is evaluated from here on is not the start
    for (const double least = kShortest * step; step > least; step *= 0.5) {
      make_for(step);
      const MatX<double> J = derivatives();
      if (J.size() == 0 || follows(method, J, kRoom * step)) break;
    }
    make_for(workshop_.plan().settings.step);
    States x = start_, rates = start_;
    evaluate(start_t_, x, rates);
    return step;
  }

  /// Of all rates by all numbers of the states, at the start, by differences; empty if there are too many, or they
  /// cannot be had.
  MatX<double> derivatives() {
    constexpr Eigen::Index kMostNumbers = 600;
    constexpr double kChange = 1e-7;
    const auto together = [](const States& parts) {
      std::vector<double> all;
      for (const VecX<double>& part : parts) all.insert(all.end(), part.begin(), part.end());
      return VecX<double>(Eigen::Map<const VecX<double>>(all.data(), std::ssize(all)));
    };
    const Eigen::Index own = together(start_).size();
    std::vector<double> sizes(at(workshop_.transport().size()), 0.0);
    std::vector<int> ends;
    for (int rank = 0; rank < workshop_.transport().size(); ++rank) ends.push_back(rank + 1);
    // Modules of other hosts are not asked so often, and show no states.
    const bool elsewhere =
        std::ranges::any_of(workshop_.modules(), [](const WorkingModule& it) { return it.module->is_elsewhere(); });
    sizes[at(workshop_.rank())] = static_cast<double>(elsewhere ? kMostNumbers + 1 : own);
    workshop_.transport().gather(sizes, ends);
    Eigen::Index total = 0, first = 0;
    for (int rank = 0; rank < workshop_.transport().size(); ++rank) {
      if (rank == workshop_.rank()) first = total;
      total += static_cast<Eigen::Index>(sizes[at(rank)]);
    }
    if (total > kMostNumbers) return {};
    States x = start_, rates = start_;
    if (!evaluate(start_t_, x, rates).ok()) return {};
    const VecX<double> there = together(rates);
    MatX<double> transposed = MatX<double>::Zero(total, total);  // a rank's rows are columns, one after the other
    for (Eigen::Index j = 0; j < total; ++j) {
      x = start_;
      Eigen::Index k = j - first;
      for (VecX<double>& part : x) {
        if (k >= 0 && k < part.size()) part[k] += kChange;
        k -= part.size();
      }
      if (!evaluate(start_t_, x, rates).ok()) return {};
      transposed.row(j).segment(first, own) = (together(rates) - there).transpose() / kChange;
    }
    int end = 0;
    for (int rank = 0; rank < workshop_.transport().size(); ++rank)
      ends[at(rank)] = end += static_cast<int>(sizes[at(rank)]) * static_cast<int>(total);
    workshop_.transport().gather({transposed.data(), static_cast<std::size_t>(transposed.size())}, ends);
    return transposed.transpose();
  }

  static bool is_given(double option) { return !std::isnan(option); }
  static double given_or(double given, double otherwise) { return is_given(given) ? given : otherwise; }
  static const Tableau* runge_kutta(const std::string& name) {
    const auto found = std::ranges::find(tableaus(), name, &Tableau::name);
    return found == tableaus().end() ? nullptr : &*found;
  }

  struct Spring {
    double stiffness, damping;
    bool follows_step = false;  // nobody gave it
  };
  /// In place of the rows that move and of those that turn.
  struct Springs {
    Spring moving, turning;
    const Spring& of(const Row& row) const { return turns(row) ? turning : moving; }
  };
  static bool turns(const Row& row) { return row.on_p.isZero(0.0); }

  /// In place of the rows last evaluated, which are those of this connection.
  Springs springs_of(std::size_t connection) const { return {spring_of(connection, false), spring_of(connection, true)}; }

  /// Of the springs given in N/m, those that turn act at the distance at which they turn the two modules as fast as they move
  /// them.
  Spring spring_of(std::size_t connection, bool turning) const {
    const auto usual_damping = [&](double stiffness) { return given_or(damping_, 0.6 * std::sqrt(stiffness)); };
    const ComplianceSpec& own = workshop_.plan().connections[connection].compliance;
    if (own.stiffness) return {*own.stiffness, own.damping.value_or(usual_damping(*own.stiffness))};
    double stiffness = turning ? turning_stiffness_ : stiffness_;
    double damping = own.damping.value_or(turning ? turning_damping_ : damping_);
    if (is_given(stiffness_)) {
      const double squared_arm = turning ? squared_arms_[connection] : 1.0;
      stiffness = given_or(stiffness, stiffness_ * squared_arm);
      damping = given_or(damping, usual_damping(stiffness_) * squared_arm);
    }
    const bool follows_step = !is_given(stiffness) && !is_given(damping);
    stiffness = given_or(stiffness, stiffness_for_step(workshop_.plan().connections[connection], turning));
    return {stiffness, given_or(damping, damping_per_stiffness_ * stiffness), follows_step};
  }

  /// (2). What cannot move needs no spring.
  double stiffness_for_step(const Connection& connection, bool turning) const {
    const double ease = ease_of(connection.a, connection, turning) + ease_of(connection.b, connection, turning);
    return ease > 0.0 ? squared_frequency_ / ease : 0.0;
  }

  /// n_m e_mb of (1), by the norms of the rows' parts. Rows that hardly move, as those across a plane, are no stiffer than the
  /// system's size makes sense of.
  double ease_of(const PortRef& port, const Connection& connection, bool turning) const {
    constexpr double kShort = 1e-2;
    if (port.is_ground()) return 0.0;
    double on_w = 0.0, on_p = 0.0;  // squared norms of the block, from above
    for (int r = 0; r < connection.row_count(); ++r) {
      double with_w = 0.0, with_p = 0.0;
      for (int s = 0; s < connection.row_count(); ++s) {
        if (turns(rows_.rows[at(r)]) != turning || turns(rows_.rows[at(s)]) != turning) continue;
        with_w += std::abs(rows_.rows[at(r)].on_w.dot(rows_.rows[at(s)].on_w));
        with_p += std::abs(rows_.rows[at(r)].on_p.dot(rows_.rows[at(s)].on_p));
      }
      on_w = std::max(on_w, with_w), on_p = std::max(on_p, with_p);
    }
    const double distance =
        port == connection.a ? (board_.motion_of_b(connection).p - board_.motion_of_a(connection).p).norm() : 0.0;
    const PortEase& ease = board_.ease(port);
    const double length = workshop_.plan().length, lever = std::sqrt(on_w) + std::sqrt(on_p) * distance;
    const double fastest = std::pow(lever * std::sqrt(ease.turning) + std::sqrt(on_p * ease.moving), 2);
    const double least = turning ? on_w * ease.moving / (length * length) : on_p * ease.turning * std::pow(kShort * length, 2);
    return blocks_[at(port.module)] * std::max(fastest, least);
  }

  /// n_m of (1).
  void count_blocks() {
    blocks_.assign(workshop_.plan().modules.size(), 0);
    for (const Connection& connection : workshop_.plan().connections) {
      evaluate_rows(connection);
      bool moving = false, turning = false;
      for (int r = 0; r < connection.row_count(); ++r) (turns(rows_.rows[at(r)]) ? turning : moving) = true;
      for (const PortRef& port : {connection.a, connection.b})
        if (!port.is_ground()) blocks_[at(port.module)] += moving + turning;
    }
  }

  void tell_stiffness() {
    double softest[2], stiffest[2] = {0.0, 0.0};
    std::fill_n(softest, 2, std::numeric_limits<double>::infinity());
    for (std::size_t c = 0; c < workshop_.plan().connections.size(); ++c) {
      const Connection& connection = workshop_.plan().connections[c];
      evaluate_rows(connection);
      const Springs springs = springs_of(c);
      for (int r = 0; r < connection.row_count(); ++r) {
        const Spring& spring = springs.of(rows_.rows[at(r)]);
        const int kind = turns(rows_.rows[at(r)]);
        if (!spring.follows_step) continue;
        softest[kind] = std::min(softest[kind], spring.stiffness), stiffest[kind] = std::max(stiffest[kind], spring.stiffness);
      }
    }
    std::string said;
    const char* const units[] = {"N/m", "N m/rad"};
    for (const int kind : {0, 1})
      if (stiffest[kind] > 0.0) {
        const std::string range = softest[kind] == stiffest[kind] ? "" : fmt::format("{:.2g} to ", softest[kind]);
        said += fmt::format("{}{}{:.2g} {}", said.empty() ? "" : " and ", range, stiffest[kind], units[kind]);
      }
    if (said.empty()) return;
    remarks_.push_back(fmt::format("compliance: springs of {} at the start, as stiff as steps of {:.2g} s allow", said,
                                   workshop_.plan().settings.step));
  }

  /// How far loads at the start open joints whose springs follow the step, W K phi = phidd without springs: in lengths of the
  /// system, or rad.
  double opening() {
    constexpr int kMostRows = 600;  // beyond, it would take longer than it is worth
    if (connection_rank() > kMostRows) return 0.0;
    gather_responses();
    const VirtualSprings springs = all_springs();
    VecX<double> unforced(springs.W.rows()), sizes(springs.W.rows());
    int row = 0;
    for (const Connection& connection : workshop_.plan().connections) {
      linkwork::evaluate(connection, board_.motion_of_a(connection), board_.motion_of_b(connection),
                         free_acceleration(connection.a), free_acceleration(connection.b), rows_);
      for (int r = 0; r < connection.row_count(); ++r, ++row) {
        unforced[row] = rows_.second_rate[at(r)];
        sizes[row] = turns(rows_.rows[at(r)]) ? 1.0 : workshop_.plan().length;
      }
    }
    const VecX<double> open = springs.deflection(unforced).cwiseAbs().cwiseQuotient(sizes);
    double most_open = 0.0;
    for (int r = 0; r < open.size(); ++r)
      if (springs.follows_step[at(r)]) most_open = std::max(most_open, open[r]);
    return most_open;
  }

  const double* free_acceleration(const PortRef& port) const {
    return port.is_ground() ? nullptr : responses_[at(port.module)].R.data() + 6 * port.port;
  }

  void evaluate_rows(const Connection& connection) {
    linkwork::evaluate(connection, board_.motion_of_a(connection), board_.motion_of_b(connection), nullptr, nullptr, rows_);
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
        size += six * six + six;
      }
      ends.push_back(size);
    }
    std::vector<double> data(at(size), 0.0);
    for (const WorkingModule& module : workshop_.modules()) {
      double* const to = data.data() + begin_of[at(module.index)];
      std::copy_n(module.response.R.data(), module.response.R.size(),
                  std::copy_n(module.response.D.data(), module.response.D.size(), to));
    }
    workshop_.transport().gather(data, ends);
    responses_.clear();
    for (std::size_t m = 0; m < plan.modules.size(); ++m) {
      const int six = 6 * plan.modules[m].port_count;
      const double* const from = data.data() + begin_of[m];
      PortResponse& response = responses_.emplace_back(plan.modules[m].port_count);
      response.D = Eigen::Map<const MatX<double>>(from, six, six);
      response.R = Eigen::Map<const VecX<double>>(from + six * six, six);
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
        const auto D = responses_[at(port.module)].D.block<6, 6>(6 * port.port, 6 * port.port);
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
    VirtualSprings springs{MatX<double>::Zero(rows, rows), VecX<double>::Zero(rows), VecX<double>::Zero(rows),
                           workshop_.plan().settings.step, std::vector<char>(at(rows), 0)};
    std::vector<MatX<double>> G;
    for (const ModulePlan& module : plan.modules) G.push_back(MatX<double>::Zero(rows, 6 * module.port_count));
    int first = 0;
    for (std::size_t c = 0; c < plan.connections.size(); ++c) {
      const Connection& connection = plan.connections[c];
      evaluate_rows(connection);
      const Springs replaced = springs_of(c);
      for (int r = 0; r < connection.row_count(); ++r, ++first) {
        if (!connection.a.is_ground())
          G[at(connection.a.module)].row(first).segment<6>(6 * connection.a.port) += rows_.on_a[at(r)].transpose();
        if (!connection.b.is_ground())
          G[at(connection.b.module)].row(first).segment<6>(6 * connection.b.port) += rows_.on_b[at(r)].transpose();
        const Spring& spring = replaced.of(rows_.rows[at(r)]);
        springs.stiffness[first] = spring.stiffness, springs.damping[first] = spring.damping;
        springs.follows_step[at(first)] = spring.follows_step;
      }
    }
    for (std::size_t m = 0; m < G.size(); ++m) springs.W += G[m] * responses_[m].D * G[m].transpose();
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
    if (!port.is_ground() && workshop_.has(port.module)) workshop_.module(port.module).Q.segment<6>(6 * port.port) += wrench;
  }

  void join(std::size_t number, ConnectionResult& result) {
    const Connection& connection = workshop_.plan().connections[number];
    evaluate_rows(connection);
    const Springs springs = springs_of(number);
    for (std::size_t r = 0; r < at(connection.row_count()); ++r) {
      const Spring& spring = springs.of(rows_.rows[r]);
      const double lambda = -spring.stiffness * rows_.phi[r] - spring.damping * rows_.rate[r];
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
  double stiffness_, damping_, turning_stiffness_, turning_damping_;  // NaN: not given
  bool some_are_given_ = false;
  double reach_ = 0.0, squared_frequency_ = 0.0, damping_per_stiffness_ = 0.0;
  bool is_checked_ = false;
  double start_t_ = 0.0;
  States start_;
  std::vector<int> blocks_;              // by module
  std::vector<double> squared_arms_;     // by connection
  std::vector<PortResponse> responses_;  // by module, last gathered
  double strongest_ = 0.0;               // of what was found stable
  ConnectionRows rows_;
  std::vector<std::string> remarks_;
};

}  // namespace

GlueEntry compliance_glue() {
  constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
  return {
      {"compliance",
       "virtual springs and dampers in place of the joints between modules, which then hold approximately",
       "Khan2006",
       {{"stiffness", kNaN,
         "of the springs, N/m, for connections that have none of their own; default as large as the step allows, everywhere",
         numbers_above(0.0)},
        {"damping", kNaN,
         "of the dampers; default half the critical one of the fastest springs, or 0.6 times the root of a given stiffness",
         numbers_from(0.0)},
        {"turning_stiffness", kNaN,
         "of rows that are angles, N m/rad; default as large as the step allows, or a given stiffness times the square of the "
         "radius of gyration of what they turn",
         numbers_above(0.0)},
        {"turning_damping", kNaN, "likewise", numbers_from(0.0)}}},
      [](Workshop& workshop, const Options& options) { return std::make_unique<ComplianceGlue>(workshop, options); },
      {.exact = false, .exposes = "motion of its ports, and how easily they move"}};
}

}  // namespace linkwork
