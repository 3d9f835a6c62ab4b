#include "linkwork/analysis/equilibrium.h"

#include <fmt/format.h>

#include <Eigen/QR>
#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>

#include "linkwork/simulation/assembly.h"
#include "linkwork/simulation/recorder.h"
#include "linkwork/simulation/simulation.h"
#include "linkwork/simulation/simulation_error.h"

namespace linkwork {

namespace {

/// Unknowns are independent positions and the user's states; what must vanish are forces along the free velocities, and the
/// rates of the states.
class Balance {
 public:
  explicit Balance(ReducedMotion& motion) : motion_(motion), np_(motion.position_count()), nz_(motion.state_count()) {
    x_ = motion.origin();
    x_.segment(np_, motion.velocity_count()).setZero();
  }

  VecX<double> off(const VecX<double>& y) {
    x_.head(np_) = y.head(np_);
    x_.tail(nz_) = y.tail(nz_);
    const VecX<double> rates = motion_.rates(x_);
    const VecX<double> forces = motion_.free_forces();
    VecX<double> off(forces.size() + nz_);
    off << forces, rates.tail(nz_);
    return off;
  }

  VecX<double> start() const {
    VecX<double> y(np_ + nz_);
    y << x_.head(np_), x_.tail(nz_);
    return y;
  }
  VecX<double> steps() const {
    const VecX<double> all = motion_.steps();
    VecX<double> steps(np_ + nz_);
    steps << all.head(np_), all.tail(nz_);
    return steps;
  }

  MatX<double> derivative(const VecX<double>& y, const VecX<double>& steps) {
    VecX<double> moved = y;
    MatX<double> J;
    for (Eigen::Index k = 0; k < y.size(); ++k) {
      moved[k] = y[k] + steps[k];
      VecX<double> change = off(moved);
      moved[k] = y[k] - steps[k];
      change -= off(moved);
      moved[k] = y[k];
      if (k == 0) J.resize(change.size(), y.size());
      J.col(k) = change / (2.0 * steps[k]);
    }
    return J;
  }

 private:
  ReducedMotion& motion_;
  Eigen::Index np_, nz_;
  VecX<double> x_;
};

double largest(const VecX<double>& x) { return x.size() == 0 ? 0.0 : x.cwiseAbs().maxCoeff(); }

/// The size of what is balanced: all forces of the model on its coordinates.
double force_scale(ReducedMotion& motion) {
  System& system = motion.evaluator().system();
  const MatX<double> N = motion.free_directions();
  const VecX<double> each = system.work().tau.cwiseAbs() + system.bias().cwiseAbs();
  double weight = 0.0;
  for (const Body& body : motion.model().bodies) weight += body.mass;
  weight *= motion.model().tree.gravity.norm() * motion.model().units.length;
  return std::max({largest(N.cwiseAbs().transpose() * each), weight, 1e-12});
}

/// Newton's method with steps that are shortened until what is off gets less. Returns whether it came to rounding.
bool solve(ReducedMotion& motion, int& iterations, double& residual) {
  constexpr int kMost = 60;
  constexpr double kLongest = 0.5, kGood = 1e-12, kGoodEnough = 1e-9;
  Balance balance(motion);
  VecX<double> y = balance.start(), off = balance.off(y);
  const VecX<double> steps = balance.steps();
  const double scale = force_scale(motion);
  if (y.size() == 0) {
    residual = 0.0;
    return true;
  }
  residual = largest(off);
  for (int i = 0; i < kMost && residual > kGood * scale; ++i, ++iterations) {
    const MatX<double> J = balance.derivative(y, steps);
    VecX<double> change = J.completeOrthogonalDecomposition().solve(-off);
    if (!change.allFinite()) return false;
    const double length = change.cwiseQuotient(steps / 2e-4).cwiseAbs().maxCoeff();
    if (length > kLongest) change *= kLongest / length;
    double fraction = 1.0;
    bool better = false;
    for (; fraction > 1e-4 && !better; fraction *= 0.5) try {
        const VecX<double> there = y + fraction * change, left = balance.off(there);
        if (largest(left) < residual * (1.0 - 0.1 * fraction) || largest(left) <= kGood * scale) {
          y = there;
          off = left;
          better = true;
        }
      } catch (const SimulationError&) {  // no such position
      }
    if (!better) break;
    residual = largest(off);
  }
  balance.off(y);  // evaluated there
  return residual <= kGoodEnough * scale;
}

bool is_stable(ReducedMotion& motion) {
  const LinearModel linear = linearize(motion);
  double fastest = 1e-12, growth = 0.0;
  for (const auto& each : linear.eigenvalues) {
    fastest = std::max(fastest, std::abs(each.value));
    growth = std::max(growth, each.value.real());
  }
  return growth < 1e-6 * fastest;
}

/// A run whose velocity is taken away at every peak of its kinetic energy.
class Relaxation {
 public:
  explicit Relaxation(const Model& model) {
    Model damped = model;
    damped.settings.coordinates = {"TA", {}, {}};
    damped.settings.formulation = {"auto", {}, {}};
    damped.settings.stabilization = {"projection", {}, {}};
    damped.settings.integrator = {"dopri45", {}, {}};
    damped.settings.rtol = 1e-6, damped.settings.atol = 1e-8;
    damped.settings.output_every = INFINITY;
    run_.emplace(std::move(damped));
  }

  /// To the next peak. False: it is at rest, or goes on for ever.
  bool to_peak() {
    double energy = 0.0;
    for (int step = 0; step < 2000; ++step) {
      if (!run_->step() || run_->ended_by_event()) return false;
      const double now = run_->equations().system().kinetic_energy();
      if (now < energy) {
        State rest = run_->state();
        rest.v.setZero();
        Moment at;
        pack(rest, at);
        run_->jump(at);
        return true;
      }
      energy = now;
    }
    return false;
  }
  State state() const { return run_->state(); }
  const Modes& modes() { return run_->equations().system().modes(); }

 private:
  std::optional<Simulation> run_;
};

}  // namespace

static Equilibrium search(const std::shared_ptr<const Model>& model, ReducedMotion& motion) {
  constexpr int kMostPeaks = 300;
  AssemblyReport report;
  State start = assemble(*model, report);
  start.v.setZero();
  Equilibrium result;
  const auto attempt = [&](const State& from, const Modes* modes) {
    try {
      motion.begin(from, modes);
      if (!solve(motion, result.iterations, result.residual)) return false;
      result.state = motion.evaluator().state();
      result.state.v.setZero();
      motion.begin(result.state, modes);
      result.stable = is_stable(motion);
      return true;
    } catch (const SimulationError&) {
      return false;
    }
  };
  const bool switches = model->has_events();
  std::optional<Equilibrium> unstable;
  if (!switches && attempt(start, nullptr)) {
    const bool already = (result.state.q - start.q).norm() < 1e-6 * (1.0 + start.q.norm());
    if (result.stable || already) {
      result.found = true;
      result.status = "found";
      return result;
    }
    unstable = result;
  }
  try {
    Relaxation relaxation(*model);
    for (int peak = 0; peak < kMostPeaks; ++peak) {
      const bool moved = relaxation.to_peak();
      const Modes modes = relaxation.modes();
      State here = relaxation.state();
      here.t = start.t;
      const bool ready = peak % 4 == 3 || !moved;
      if (ready && attempt(here, switches ? &modes : nullptr) && result.stable) {
        result.found = true;
        result.status = "found";
        return result;
      }
      if (!moved) break;
    }
  } catch (const SimulationError& error) {
    result.status = error.what();
  } catch (const InputError& error) {
    result.status = error.message();
  }
  if (unstable) {
    result = *unstable;
    motion.begin(result.state, nullptr);
    result.found = true;
    result.status = "found";
    return result;
  }
  if (result.status.empty())
    result.status = fmt::format("there is no equilibrium near the start: forces of {:.3g} along the free coordinates are left",
                                result.residual);
  return result;
}

Equilibrium find_equilibrium(const std::shared_ptr<const Model>& model, ReducedMotion& motion) {
  Equilibrium result = search(model, motion);
  if (!result.found) return result;
  motion.rates(motion.origin());
  Recorder recorder(motion.model());
  std::vector<double> row;
  recorder.record(motion.evaluator().equations(), result.state.t, row);
  for (std::size_t c = 0; c < row.size(); ++c) {
    const std::string& column = recorder.columns()[c];
    const auto after = [&](const char* prefix) { return column.substr(std::string_view(prefix).size()); };
    if (column.starts_with("q.")) result.q.emplace_back(after("q."), row[c]);
    if (column.starts_with("force.") || column.starts_with("torque.")) result.reactions.emplace_back(column, row[c]);
    if (column.starts_with("effort.")) result.efforts.emplace_back(after("effort."), row[c]);
    if (column.starts_with("load.")) result.efforts.emplace_back(column, row[c]);
  }
  return result;
}

void begin_at(const std::string& where, const std::shared_ptr<const Model>& model, ReducedMotion& motion) {
  if (where == "equilibrium") {
    if (const Equilibrium found = find_equilibrium(model, motion); !found.found) throw SimulationError(found.status);
    return;
  }
  if (where == "start") {
    AssemblyReport report;
    motion.begin(assemble(*model, report));
    return;
  }
  double t = 0.0;
  const auto [rest, error] = std::from_chars(where.data(), where.data() + where.size(), t);
  if (error != std::errc() || rest != where.data() + where.size() || !(t >= 0.0) || !std::isfinite(t))
    throw InputError({"at", 0, 0}, fmt::format("is '{}'", where), "start, equilibrium, or a time in s");
  Model in_tree = *model;
  in_tree.settings.coordinates = {"TA", {}, {}};
  Simulation run(std::move(in_tree));
  if (!run.advance_to(t)) throw SimulationError(run.summary().status);
  const Modes modes = run.equations().system().modes();
  motion.begin(run.state(), model->has_events() ? &modes : nullptr);
}

}  // namespace linkwork
