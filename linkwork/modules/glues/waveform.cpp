#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "linkwork/integrators/tableau.h"
#include "linkwork/linalg/index.h"
#include "linkwork/modules/glues/catalog.h"
#include "linkwork/modules/glues/hierarchical.h"
#include "linkwork/modules/glues/waveform_rate.h"
#include "linkwork/spatial/so3.h"

namespace linkwork {

namespace {

/// What a rank knows of a module's ports at one moment: six accelerations beside the motion.
struct PortWave {
  PortMotion motion;
  Eigen::Matrix<double, 6, 1> xdd = Eigen::Matrix<double, 6, 1>::Zero();
};
constexpr int kWaveSize = 24;

/// Waveform relaxation, [Tseng2001] section 2.3: every module goes through a window of time by itself, with what the others did
/// the last time, until nothing changes. Waves are kept at every stage of every step, so that the limit is the Runge-Kutta
/// solution of the whole, not an interpolation of it. Jacobi: all modules at once. Gauss-Seidel: one after another, each with the
/// newest waves.
///
/// Springs and dampers between modules: errors go down like (C k T^2/m)^j / (2 j)! on a window of length T, after a first growth.
/// Constraints: the force goes into a, which moves, and b must follow: W_B lambda = b - A_A a_A - A_B a_fB. With W_i = A_i M_i^-1
/// A_i' the error between two modules is multiplied by -W_B^-1 W_A each time, whatever the window; rho is its spectral radius,
/// or, of several modules, that of a turn of all of them (WaveCoupling). Where it is large, lambda <- (1 - w) lambda + w
/// lambda_new with the best w.
class WaveformGlue : public HierarchicalGlue {
 public:
  WaveformGlue(Workshop& workshop, const Options& options)
      : HierarchicalGlue(workshop),
        window_(static_cast<int>(options.at("window"))),
        tolerance_(options.at("tolerance")),
        most_(options.at("most")),
        seidel_(options.at("seidel") != 0.0),
        relax_(options.at("relax") != 0.0),
        tableau_(*std::ranges::find(tableaus(), workshop.plan().settings.integrator.name, &Tableau::name)),
        leaves_(workshop.leaves()) {
    int ports = 0;
    for (std::size_t leaf = 0; leaf < leaves_.size(); ++leaf) {
      first_port_.push_back(ports);
      ports += workshop.plan().modules[at(leaves_[leaf])].port_count;
    }
    first_port_.push_back(ports);
    for (const Connection& connection : workshop.plan().connections) {
      first_row_.push_back(rows_);
      rows_ += connection.row_count();
    }
    set_order();
  }

  int iterations() const override { return iterations_; }
  bool at_rest() const override { return done_ == ahead_.size(); }
  /// How the coupling was found to be, and the multipliers that the next window starts from.
  std::vector<double> memory() const override {
    std::vector<double> memory{rho_, weight_, rate_};
    memory.insert(memory.end(), lambda_.begin(), lambda_.end());
    return memory;
  }
  void set_memory(const std::vector<double>& memory) override {
    rho_ = memory[0];
    weight_ = memory[1];
    rate_ = memory[2];
    lambda_.assign(memory.begin() + 3, memory.end());
  }
  Status project(double, States&, bool) override { return {}; }  // at the end of each window
  std::vector<std::string> remarks() const override { return remarks_; }

  Status step(double t, double h, const States& from, const States& /*rates*/, States& to) override {
    iterations_ = 0;
    if (done_ == ahead_.size()) {
      if (Status status = go_through_window(t, h, from); !status.ok()) return status;
    }
    to = ahead_[done_++];
    return {};
  }

 private:
  /// Modules in the order in which they take their turn: those that lead a joint before those that follow, as far as that goes.
  void set_order() {
    const AssemblyPlan& plan = workshop_.plan();
    std::vector<char> taken(leaves_.size(), 0);
    const auto waits = [&](int leaf) {
      return std::ranges::any_of(plan.connections, [&](const Connection& connection) {
        if (connection.a.is_ground() || connection.b.is_ground()) return false;
        return follower(connection) == leaves_[at(leaf)] && !taken[at(workshop_.leaf_of(connection.a.module))];
      });
    };
    while (order_.size() < leaves_.size()) {
      int next = -1;
      for (int leaf = 0; leaf < static_cast<int>(leaves_.size()); ++leaf)
        if (!taken[at(leaf)] && (next < 0 || (waits(next) && !waits(leaf)))) next = leaf;
      taken[at(next)] = 1;
      order_.push_back(next);
    }
  }

  /// Fills ahead_ with the states at the ends of a window's steps. Windows that do not converge are halved.
  Status go_through_window(double t, double h, const States& from) {
    if (rows_ > 0 && rho_ < 0.0) {
      if (Status status = examine_coupling(t, from); !status.ok()) return status;
    }
    const double left = workshop_.plan().settings.end - t;
    // More steps may be left than an int counts.
    for (int steps = std::max(1, static_cast<int>(std::min<double>(window_, std::round(left / h))));; steps = (steps + 1) / 2) {
      const Status status = relax_window(t, h, steps, from);
      if (status.ok()) break;
      if (steps == 1 || !diverged_) return status;
      if (remarks_.size() < 4)
        remarks_.push_back(
            fmt::format("glue 'waveform' halved its window of {} steps at t = {:.6g} s: {}", steps, t, status.trouble));
    }
    done_ = 0;
    return {};
  }

  /// How a constraint between modules comes out of the iteration: computed before it is begun.
  Status examine_coupling(double t, const States& from) {
    if (Status status = hierarchy_.up(t, from, Level::kAcceleration); !status.ok()) return status;
    const AssemblyPlan& plan = workshop_.plan();
    // Everybody gets D and the motion of all ports.
    std::vector<double> data;
    std::vector<int> ends;
    std::vector<int> begin_of(plan.modules.size());
    int size = 0;
    for (int rank = 0; rank < workshop_.transport().size(); ++rank) {
      for (int leaf = workshop_.placement().begin(rank); leaf < workshop_.placement().end(rank); ++leaf) {
        const int ports = plan.modules[at(leaves_[at(leaf)])].port_count;
        begin_of[at(leaves_[at(leaf)])] = size;
        size += 36 * ports * ports + 18 * ports;
      }
      ends.push_back(size);
    }
    data.assign(at(size), 0.0);
    for (const WorkingModule& module : workshop_.modules()) {
      double* to = std::copy_n(module.response.D.data(), module.response.D.size(), data.data() + begin_of[at(module.index)]);
      for (const PortMotion& motion : module.motion) to = put(motion, to);
    }
    workshop_.transport().gather(data, ends);
    WaveCoupling coupling;
    for (const ModulePlan& module : plan.modules) coupling.G.push_back(MatX<double>::Zero(rows_, 6 * module.port_count));
    coupling.follower.assign(at(rows_), 0);
    for (const int leaf : order_) coupling.order.push_back(leaves_[at(leaf)]);
    std::vector<MatX<double>>& G = coupling.G;
    ConnectionRows rows;
    for (std::size_t c = 0; c < plan.connections.size(); ++c) {
      const Connection& connection = plan.connections[c];
      const auto motion = [&](const PortRef& port, const Pose<double>& ground) {
        if (port.is_ground()) return resting(ground);
        const int ports = plan.modules[at(port.module)].port_count;
        PortMotion result;
        get(data.data() + begin_of[at(port.module)] + 36 * ports * ports + 18 * port.port, result);
        return result;
      };
      linkwork::evaluate(connection, motion(connection.a, connection.ground_a), motion(connection.b, connection.ground_b),
                         nullptr, nullptr, rows);
      for (int r = 0; r < connection.row_count(); ++r) {
        const int row = first_row_[c] + r;
        if (!connection.a.is_ground())
          G[at(connection.a.module)].block<1, 6>(row, 6 * connection.a.port) += rows.on_a[at(r)].transpose();
        if (!connection.b.is_ground())
          G[at(connection.b.module)].block<1, 6>(row, 6 * connection.b.port) += rows.on_b[at(r)].transpose();
        coupling.follower[at(row)] = follower(connection);
      }
    }
    for (std::size_t m = 0; m < plan.modules.size(); ++m) {
      const int six = 6 * plan.modules[m].port_count;
      coupling.D.emplace_back(Eigen::Map<const MatX<double>>(data.data() + begin_of[m], six, six));
    }
    if (!coupling.can_follow())
      return {
          "glue 'waveform' cannot let one side of a joint follow the other: the module that is to follow cannot move that way; "
          "use glue 'hierarchical'"};
    return choose_weight(coupling);
  }

  Status choose_weight(const WaveCoupling& coupling) {
    rho_ = rate_ = coupling.contraction(1.0);
    weight_ = 1.0;
    if (rho_ < kClearlyConverging) {
      remarks_.push_back(fmt::format("waveform: rho = {:.4g} across the joints between modules", rho_));
      return {};
    }
    weight_ = relax_ ? coupling.best_weight() : 1.0;
    rate_ = coupling.contraction(weight_);
    if (rate_ > kTooSlow)
      return {fmt::format(
          "glue 'waveform' would not converge: across the joints between modules errors are multiplied by rho = {:.4g} "
          "in each iteration, whatever the window{}; exchange the ends a and b of the connections, join the modules "
          "by springs, or use glue 'hierarchical'",
          rho_, relax_ ? fmt::format(", relaxed at best by {:.4g}", rate_) : "")};
    remarks_.push_back(fmt::format("waveform: rho = {:.4g} across the joints between modules, relaxed by {:.4g} to {:.4g}", rho_,
                                   weight_, rate_));
    return {};
  }

  static int follower(const Connection& connection) {
    return connection.b.is_ground() ? connection.a.module : connection.b.module;
  }

  static double* put(const PortMotion& motion, double* to) {
    to = std::copy_n(motion.R.data(), 9, to);
    to = std::copy_n(motion.p.data(), 3, to);
    to = std::copy_n(motion.w.data(), 3, to);
    return std::copy_n(motion.v.data(), 3, to);
  }
  static const double* get(const double* from, PortMotion& motion) {
    std::copy_n(from, 9, motion.R.data());
    std::copy_n(from + 9, 3, motion.p.data());
    std::copy_n(from + 12, 3, motion.w.data());
    std::copy_n(from + 15, 3, motion.v.data());
    return from + 18;
  }

  /// Numbers of a wave: ports of modules in order of leaves, then the multipliers of all connections; one set a moment.
  int moment_size() const { return kWaveSize * first_port_.back() + rows_; }
  double* moment(std::vector<double>& waves, int k) const {
    return waves.data() + static_cast<std::ptrdiff_t>(k) * moment_size();
  }

  PortWave wave(const double* now, const PortRef& port, const Pose<double>& ground) const {
    PortWave result;
    if (port.is_ground()) {
      result.motion = resting(ground);
      return result;
    }
    const double* from = now + kWaveSize * (first_port_[at(workshop_.leaf_of(port.module))] + port.port);
    from = get(from, result.motion);
    std::copy_n(from, 6, result.xdd.data());
    return result;
  }

  Status relax_window(double t, double h, int steps, const States& from) {
    const auto stages = static_cast<int>(tableau_.b.size());
    const int moments = steps * stages;
    start_waves(t, h, steps, from);
    ahead_.assign(at(steps), from);
    diverged_ = false;
    double before = std::numeric_limits<double>::infinity();
    int growing = 0;
    const int most = most_iterations();
    for (int j = 1; j <= most; ++j) {
      iterations_ = j;
      last_ = waves_;
      const double change = seidel_ || rows_ > 0 ? sweep_in_turn(t, h, steps, from) : sweep_at_once(t, h, steps, from);
      if (!std::isfinite(change)) break;
      if (const std::string trouble = workshop_.everyones_trouble(); !trouble.empty()) {
        workshop_.clear_trouble();
        return {trouble};
      }
      if (change <= tolerance_) {
        const double* const last = moment(waves_, moments - 1) + kWaveSize * first_port_.back();
        lambda_.assign(last, last + rows_);
        for (std::size_t i = 0; i < from.size(); ++i)
          for (States& states : ahead_) workshop_.modules()[i].module->normalize(states[i]);
        return drift_.positions && rows_ > 0
                   ? project_onto_constraints(workshop_, hierarchy_, drift_, t + steps * h, ahead_.back())
                   : Status{};
      }
      growing = change > before ? growing + 1 : 0;
      before = change;
      if (growing > kGrowsForGood + moments / stages) break;
    }
    diverged_ = true;
    return {fmt::format("the window has not converged in {} iterations; the last one changed the motion by {:.3g}", iterations_,
                        before)};
  }

  /// Where it is not given: enough for errors that shrink at the rate told, however large they are at first.
  int most_iterations() const {
    constexpr double kUsual = 100.0, kFirst = 1e4;
    const double needed = rate_ > 0.0 && rate_ < 1.0 ? std::log(tolerance_ / kFirst) / std::log(rate_) : 0.0;
    return static_cast<int>(std::isnan(most_) ? std::max(kUsual, std::ceil(needed)) : most_);
  }

  /// The ports as they would go on by themselves; no forces yet.
  void start_waves(double t, double h, int steps, const States& from) {
    workshop_.ask_kinematics(t, from);
    const auto stages = static_cast<int>(tableau_.b.size());
    waves_.assign(at(steps * stages * moment_size()), 0.0);
    std::vector<double> lambda(at(rows_), 0.0);
    if (lambda_.size() == lambda.size()) lambda = lambda_;  // else there are none yet, or a checkpoint is of another kind
    for (int k = 0; k < steps * stages; ++k) {
      const double later = h * (k / stages + tableau_.c[at(k % stages)]);
      for (const WorkingModule& module : workshop_.modules()) {
        double* to = moment(waves_, k) + kWaveSize * first_port_[at(workshop_.leaf_of(module.index))];
        for (PortMotion motion : module.motion) {
          const double angle = later * motion.w.norm();
          if (angle > 0.0) motion.R = Eigen::AngleAxisd(angle, motion.w.normalized()).toRotationMatrix() * motion.R;
          motion.p += later * motion.v;
          to = put(motion, to) + 6;
        }
      }
      std::ranges::copy(lambda, moment(waves_, k) + kWaveSize * first_port_.back());
    }
    share(0, static_cast<int>(leaves_.size()), steps * stages);
  }

  /// All ranks get the waves of the leaves [first, last) from those that have them, multipliers of the joints they follow
  /// included.
  void share(int first, int last, int moments) {
    if (workshop_.transport().size() == 1) return;
    std::vector<double> message;
    std::vector<int> ends;
    int size = 0;
    for (int rank = 0; rank < workshop_.transport().size(); ++rank) {
      for_each_number(first, last, rank, [&](int) { ++size; });
      ends.push_back(size * moments);
      size = ends.back() / moments;
    }
    message.assign(at(size * moments), 0.0);
    const auto run = [&](auto&& move) {
      std::size_t place = 0;
      for (int rank = 0; rank < workshop_.transport().size(); ++rank)
        for (int k = 0; k < moments; ++k)
          for_each_number(first, last, rank, [&](int number) { move(rank, message[place++], moment(waves_, k)[number]); });
    };
    run([&](int rank, double& in_message, double& in_wave) {
      if (rank == workshop_.rank()) in_message = in_wave;
    });
    workshop_.transport().gather(message, ends);
    run([&](int, double& in_message, double& in_wave) { in_wave = in_message; });
  }

  template <class Visit>
  void for_each_number(int first, int last, int rank, Visit visit) const {
    const int begin = std::max(first, workshop_.placement().begin(rank)), end = std::min(last, workshop_.placement().end(rank));
    for (int leaf = begin; leaf < end; ++leaf) {
      for (int n = kWaveSize * first_port_[at(leaf)]; n < kWaveSize * first_port_[at(leaf) + 1]; ++n) visit(n);
      for (std::size_t c = 0; c < first_row_.size(); ++c) {
        const Connection& connection = workshop_.plan().connections[c];
        if (follower(connection) != leaves_[at(leaf)]) continue;
        for (int r = 0; r < connection.row_count(); ++r) visit(kWaveSize * first_port_.back() + first_row_[c] + r);
      }
    }
  }

  double sweep_at_once(double t, double h, int steps, const States& from) {
    old_ = waves_;
    for (std::size_t i = 0; i < from.size(); ++i) go_alone(i, t, h, steps, from[i], old_);
    share(0, static_cast<int>(leaves_.size()), steps * static_cast<int>(tableau_.b.size()));
    return largest_change();
  }

  double sweep_in_turn(double t, double h, int steps, const States& from) {
    for (const int leaf : order_) {
      const int first = workshop_.placement().begin(workshop_.rank());
      if (leaf >= first && leaf < workshop_.placement().end(workshop_.rank()))
        go_alone(at(leaf - first), t, h, steps, from[at(leaf - first)], waves_);
      share(leaf, leaf + 1, steps * static_cast<int>(tableau_.b.size()));
    }
    return largest_change();
  }

  /// Between the last waves and the new ones, which all ranks have: positions and velocities, and multipliers relative to their
  /// size.
  double largest_change() const {
    double change = 0.0, force = 0.0, largest = 1.0;
    const int ports = kWaveSize * first_port_.back();
    for (std::size_t n = 0; n < waves_.size(); ++n) {
      const auto place = static_cast<int>(n % at(moment_size()));
      const double difference = std::abs(waves_[n] - last_[n]);
      if (!std::isfinite(difference)) return difference;
      if (place >= ports)
        force = std::max(force, difference), largest = std::max(largest, std::abs(waves_[n]));
      else if (place % kWaveSize < 18)
        change = std::max(change, difference);
    }
    return std::max(change, force / largest);
  }

  /// A module through the window, with the others' waves as given; its own go to waves_.
  void go_alone(std::size_t i, double t, double h, int steps, const VecX<double>& from, std::vector<double>& others) {
    WorkingModule& module = workshop_.modules()[i];
    const auto stages = static_cast<int>(tableau_.b.size());
    x_ = from;
    stage_rates_.resize(at(stages));
    for (int step = 0; step < steps; ++step) {
      for (int s = 0; s < stages; ++s) {
        stage_ = x_;
        for (int j = 0; j < s; ++j)
          if (const double a = tableau_.a[at(s)][at(j)]; a != 0.0) stage_ += (h * a) * stage_rates_[at(j)];
        const int k = step * stages + s;
        if (Status status = evaluate_alone(module, t + h * (step + tableau_.c[at(s)]), moment(others, k), moment(waves_, k),
                                           stage_rates_[at(s)]);
            !status.ok()) {
          workshop_.report(module, status.trouble);
          return;
        }
        if (s == 0) module.module->keep_state(x_);
      }
      for (int j = 0; j < stages; ++j) x_ += (h * tableau_.b[at(j)]) * stage_rates_[at(j)];
      ahead_[at(step)][i] = x_;
    }
  }

  Status evaluate_alone(WorkingModule& module, double t, const double* others, double* own, VecX<double>& rates) {
    if (Status status = module.module->kinematics(t, stage_, module.motion); !status.ok()) return status;
    if (Status status = module.module->response(Level::kAcceleration, module.response); !status.ok()) return status;
    if (!module.response.R.allFinite()) return {fmt::format("its response at t = {:.9g} s is not a finite number", t)};
    find_forces(module, others, own);
    rates.resize(stage_.size());
    if (Status status = module.module->advance(Level::kAcceleration, module.Q, rates); !status.ok()) return status;
    xdd_ = module.response.R;
    xdd_.noalias() += module.response.D * module.Q;
    double* to = own + kWaveSize * first_port_[at(workshop_.leaf_of(module.index))];
    for (std::size_t p = 0; p < module.motion.size(); ++p) {
      to = put(module.motion[p], to);
      to = std::copy_n(xdd_.data() + 6 * p, 6, to);
    }
    return {};
  }

  /// Forces on a module's ports: springs from its own motion and the others' waves; joints in which it moves, by their
  /// multipliers' waves; joints in which it follows, so that it does.
  void find_forces(WorkingModule& module, const double* others, double* own) {
    const AssemblyPlan& plan = workshop_.plan();
    module.Q.setZero();
    const auto is_own = [&](const PortRef& port) { return port.module == module.index; };
    const auto seen = [&](const PortRef& port, const Pose<double>& ground) {
      PortWave result;
      if (is_own(port))
        result.motion = module.motion[at(port.port)];
      else
        result = wave(others, port, ground);
      return result;
    };
    for (const SpringLink& spring : plan.springs) {
      if (!is_own(spring.a) && !is_own(spring.b)) continue;
      const SpringForces forces =
          spring_forces(spring, seen(spring.a, spring.ground_a).motion, seen(spring.b, spring.ground_b).motion);
      if (is_own(spring.a)) module.Q.segment<6>(6 * spring.a.port) += forces.on_a;
      if (is_own(spring.b)) module.Q.segment<6>(6 * spring.b.port) += forces.on_b;
    }
    const int multipliers = kWaveSize * first_port_.back();
    int following = 0;
    for (std::size_t c = 0; c < plan.connections.size(); ++c) {
      const Connection& connection = plan.connections[c];
      if (!is_own(connection.a) && !is_own(connection.b)) continue;
      if (follower(connection) == module.index) {
        following += connection.row_count();
        continue;
      }
      linkwork::evaluate(connection, seen(connection.a, connection.ground_a).motion,
                         seen(connection.b, connection.ground_b).motion, nullptr, nullptr, evaluated_);
      for (int r = 0; r < connection.row_count(); ++r) {
        const double lambda = others[multipliers + first_row_[c] + r];
        if (is_own(connection.a)) module.Q.segment<6>(6 * connection.a.port) += lambda * evaluated_.on_a[at(r)];
        if (is_own(connection.b)) module.Q.segment<6>(6 * connection.b.port) += lambda * evaluated_.on_b[at(r)];
      }
    }
    if (following > 0) follow(module, following, others, own);
  }

  void follow(WorkingModule& module, int following, const double* others, double* own) {
    const AssemblyPlan& plan = workshop_.plan();
    const int multipliers = kWaveSize * first_port_.back();
    xdd_ = module.response.R;
    xdd_.noalias() += module.response.D * module.Q;
    MatX<double> G = MatX<double>::Zero(following, module.Q.size());
    VecX<double> rhs(following);
    std::vector<int> numbers;
    for (std::size_t c = 0; c < plan.connections.size(); ++c) {
      const Connection& connection = plan.connections[c];
      if (follower(connection) != module.index) continue;
      const auto end = [&](const PortRef& port, const Pose<double>& ground) {
        PortWave result = wave(others, port, ground);
        if (port.module != module.index) return result;
        result.motion = module.motion[at(port.port)];
        result.xdd = xdd_.segment<6>(6 * port.port);
        return result;
      };
      const PortWave a = end(connection.a, connection.ground_a), b = end(connection.b, connection.ground_b);
      linkwork::evaluate(connection, a.motion, b.motion, a.xdd.data(), b.xdd.data(), evaluated_);
      for (int r = 0; r < connection.row_count(); ++r) {
        const auto row = static_cast<Eigen::Index>(numbers.size());
        if (connection.a.module == module.index) G.block<1, 6>(row, 6 * connection.a.port) += evaluated_.on_a[at(r)].transpose();
        if (connection.b.module == module.index) G.block<1, 6>(row, 6 * connection.b.port) += evaluated_.on_b[at(r)].transpose();
        rhs[row] =
            -evaluated_.second_rate[at(r)] - drift_.on_rate * evaluated_.rate[at(r)] - drift_.on_phi * evaluated_.phi[at(r)];
        numbers.push_back(multipliers + first_row_[c] + r);
      }
    }
    VecX<double> lambda = (G * module.response.D * G.transpose()).ldlt().solve(rhs);
    for (std::size_t r = 0; r < numbers.size(); ++r) {
      double& value = lambda[static_cast<Eigen::Index>(r)];
      value = (1.0 - weight_) * others[numbers[r]] + weight_ * value;
      own[numbers[r]] = value;
    }
    module.Q.noalias() += G.transpose() * lambda;
  }

  static constexpr double kClearlyConverging = 0.9, kTooSlow = 0.95;
  static constexpr int kGrowsForGood = 6;

  int window_;
  double tolerance_;
  double most_;
  bool seidel_, relax_;
  const Tableau& tableau_;
  std::vector<int> leaves_;
  std::vector<int> order_;       // of leaves, one after another
  std::vector<int> first_port_;  // by leaf
  std::vector<int> first_row_;   // by connection
  int rows_ = 0;
  double rho_ = -1.0, weight_ = 1.0, rate_ = 0.0;
  bool diverged_ = false;
  int iterations_ = 0;
  std::vector<double> waves_, last_, old_, lambda_;
  std::vector<States> ahead_;  // at the ends of the window's steps
  std::size_t done_ = 0;       // how many of them have been handed out
  VecX<double> x_, stage_, xdd_;
  std::vector<VecX<double>> stage_rates_;
  ConnectionRows evaluated_;
  std::vector<std::string> remarks_;
};

}  // namespace

GlueEntry waveform_glue() {
  return {
      {"waveform",
       "every module through a window of time by itself, repeated until nothing changes; for modules joined by springs; "
       "fixed steps",
       "Tseng2001",
       {{"window", 20.0, "steps in a window", whole_numbers(1.0, 1e6)},
        {"tolerance", 1e-11, "change of positions and velocities of ports at which it stops", numbers_above(0.0)},
        {"most", std::numeric_limits<double>::quiet_NaN(),
         "iterations before a window is halved; default 100, or as many as rho asks for", whole_numbers(1.0, 1e6)},
        {"seidel", 0.0, "0: Jacobi, all modules at once if only springs join them; 1: Gauss-Seidel, one after another", kYesOrNo},
        {"relax", 1.0, "1: constraints between modules are relaxed as rho asks for; 0: refused if rho is 0.9 or more",
         kYesOrNo}}},
      [](Workshop& workshop, const Options& options) { return std::make_unique<WaveformGlue>(workshop, options); },
      {.exact = false,
       .adaptive = false,
       .own_steps = true,
       .uses_tableau = true,
       .exposes = "motion of its ports over a window, and response D and R where it follows a joint"}};
}

}  // namespace linkwork
