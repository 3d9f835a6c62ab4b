#include "linkwork/analysis/equilibrium.h"

#include <fmt/format.h>

#include <Eigen/Eigenvalues>
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

/// What must vanish, where the motion begins: forces along the free velocities, and the rates of the user's states.
VecX<double> off_balance(ReducedMotion& motion, const VecX<double>& rates) {
  const VecX<double> forces = motion.free_forces();
  VecX<double> off(forces.size() + motion.state_count());
  off << forces, rates.tail(motion.state_count());
  return off;
}

/// Unknowns are independent positions and the user's states, of which the accelerations and rates must vanish, at rest. Steps
///   (sigma - J) dx = (vdot, zdot),  J = d(vdot, zdot)/dx, exact,
/// are Newton's for sigma = 0. Downhill, sigma is beyond the largest eigenvalue of J, so that every motion goes down the slope of
/// the potential, those without stiffness no faster than others; where the potential is a bowl this is Newton's method again.
/// Steps are shortened until what is off gets less; downhill it may grow for a while, since along stiff springs the way is
/// narrow.
class Balancing {
 public:
  /// steady: velocities stay as they are, and accelerations must vanish, as of a governor that turns.
  Balancing(ReducedMotion& motion, const Modes* modes, bool steady = false) : motion_(motion), modes_(modes), steady_(steady) {}

  /// Where it begins is at rest. Returns whether it came to rounding.
  bool solve(bool downhill, int& iterations, double& residual) {
    const int most = downhill ? 300 : 80;
    constexpr double kGood = 1e-12, kGoodEnough = 1e-9, kLongest = 0.5;
    VecX<double> rates = motion_.rates(motion_.origin());
    residual = largest(off(rates));
    if (motion_.position_count() + motion_.state_count() == 0) return true;
    for (int i = 0; i < most && residual > kGood * scale(); ++i, ++iterations) {
      const MatX<double> A = state_matrix(motion_);
      // Where the last change has led, more or less may be free to move.
      const int np = motion_.position_count(), nv = motion_.velocity_count(), nz = motion_.state_count();
      MatX<double> J(nv + nz, np + nz);
      J << A.block(np, 0, nv, np), A.topRightCorner(np + nv, nz).bottomRows(nv), A.bottomLeftCorner(nz, np),
          A.bottomRightCorner(nz, nz);
      VecX<double> f(nv + nz);
      f << rates.segment(np, nv), rates.tail(nz);
      double sigma = 0.0;
      if (downhill && J.rows() == J.cols())
        sigma = 2.0 * std::max(0.0, Eigen::EigenSolver<MatX<double>>(J, false).eigenvalues().real().maxCoeff());
      MatX<double> system = -J;
      system.diagonal().array() += sigma;
      VecX<double> change = system.completeOrthogonalDecomposition().solve(f);
      if (!change.allFinite()) return false;
      const double length = change.cwiseQuotient(units(np, nz)).cwiseAbs().maxCoeff();
      if (length > kLongest) change *= kLongest / length;
      if (!move(change, downhill ? std::max(1.5, 300.0 * scale() / residual) : 1.0, rates, residual)) break;
    }
    return residual <= kGoodEnough * scale();
  }

 private:
  /// What must vanish, and what it is measured by: forces, or accelerations in units of the coordinates.
  VecX<double> off(const VecX<double>& rates) {
    if (!steady_) return off_balance(motion_, rates);
    const int np = motion_.position_count(), nv = motion_.velocity_count();
    VecX<double> off(nv + motion_.state_count());
    off << rates.segment(np, nv).cwiseQuotient(motion_.steps().segment(np, nv) / motion_.steps().segment(np, nv).minCoeff()),
        rates.tail(motion_.state_count());
    return off;
  }
  double scale() { return steady_ ? std::pow(motion_.model().speed(motion_.evaluator().state().v), 2) : force_scale(motion_); }

  VecX<double> units(int np, int nz) const {
    const VecX<double> steps = motion_.steps();
    VecX<double> units(np + nz);
    units << steps.head(np) / 2e-4, steps.tail(nz) / 1e-4;
    return units;
  }

  /// Along a change, as far as what is off gets less, or not more than `growth` of it. Begins there; false: nowhere.
  bool move(const VecX<double>& change, double growth, VecX<double>& rates, double& residual) {
    const int np = motion_.position_count(), nz = motion_.state_count();
    const double good = 1e-12 * scale();
    bool has_moved = false;
    for (double fraction = 1.0; fraction > 1e-4 && !has_moved; fraction *= 0.5) try {
        VecX<double> x = motion_.origin();
        if (!steady_) x.segment(np, motion_.velocity_count()).setZero();
        x.head(np) += fraction * change.head(np);
        x.tail(nz) += fraction * change.tail(nz);
        const VecX<double> there = motion_.rates(x);
        const double left = largest(off(there));
        if (!(left < growth * residual * (1.0 - 0.1 * fraction)) && left > good) continue;
        State state = motion_.evaluator().state();
        if (!steady_) state.v.setZero();
        has_moved = true;  // the change does not count from there
        motion_.begin(state, modes_);
        rates = motion_.rates(motion_.origin());
        residual = largest(off(rates));
        return true;
      } catch (const SimulationError&) {  // no such position
      }
    return false;
  }

  ReducedMotion& motion_;
  const Modes* modes_;
  bool steady_;
};

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
    damped.settings.max_step = std::min(damped.settings.max_step, kLongestStep);
    damped.events.clear();  // of the user's own, which happen in a run: what rests does so before
    run_.emplace(std::move(damped));
  }

  /// To the next peak. False: it is at rest, or goes on for ever.
  bool to_peak() {
    double energy = 0.0;
    for (int step = 0, still = 0; step < 2000; ++step) {
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
      still = now == energy ? still + 1 : 0;
      if (still > kStill) return false;
      energy = now;
    }
    return false;
  }
  State state() const { return run_->state(); }
  const Modes& modes() { return run_->equations().system().modes(); }

 private:
  static constexpr double kLongestStep = 0.1;  // s
  static constexpr int kStill = 10;            // steps in which nothing moves

  std::optional<Simulation> run_;
};

}  // namespace

static Equilibrium search(const std::shared_ptr<const Model>& model, ReducedMotion& motion) {
  constexpr int kMostPeaks = 300;
  AssemblyReport report;
  State start = assemble(*model, report);
  start.v.setZero();
  Equilibrium result;
  const auto attempt = [&](const State& from, const Modes* modes, bool downhill = false) {
    try {
      State still = from;
      still.v.setZero();
      motion.begin(still, modes);
      if (!Balancing(motion, modes).solve(downhill, result.iterations, result.residual)) return false;
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
  if (!switches && (attempt(start, nullptr) || attempt(start, nullptr, true))) {
    const bool already = (result.state.q - start.q).norm() < 1e-6 * (1.0 + start.q.norm());
    if (result.stable || already) {
      result.found = true;
      result.status = "found";
      return result;
    }
    unstable = result;
    if (attempt(start, nullptr, true) && result.stable) {
      result.found = true;
      result.status = "found";
      return result;
    }
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
  if (where == "steady") {
    AssemblyReport report;
    motion.begin(assemble(*model, report));
    int iterations = 0;
    double residual = 0.0;
    if (!Balancing(motion, nullptr, true).solve(false, iterations, residual))
      throw SimulationError(fmt::format(
          "there is no steady motion near the start with its velocities: accelerations of {:.3g} are left", residual));
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
    throw InputError({"at", 0, 0}, fmt::format("'{}' says no state of the model", where),
                     "start, equilibrium, steady, or a time in s");
  Model in_tree = *model;
  in_tree.settings.coordinates = {"TA", {}, {}};
  Simulation run(std::move(in_tree));
  if (!run.advance_to(t)) throw SimulationError(run.summary().status);
  const Modes modes = run.equations().system().modes();
  motion.begin(run.state(), model->has_events() ? &modes : nullptr);
}

}  // namespace linkwork
