#include "linkwork/simulation/kinematics.h"

#include <fmt/format.h>

#include <Eigen/LU>
#include <algorithm>
#include <chrono>
#include <cmath>
#include <random>

#include "linkwork/dynamics/redundancy.h"
#include "linkwork/linalg/ranked_rows.h"
#include "linkwork/tree/kinematics.h"

namespace linkwork {

namespace {

/// "'a', 'b' and 'c'": the closures of some rows, each once.
std::string closures_of(const Model& model, const std::vector<int>& rows) {
  std::vector<std::string> names;
  for (int row : rows) {
    std::string name = "'" + model.rows[static_cast<std::size_t>(row)].closure + "'";
    if (std::ranges::find(names, name) == names.end()) names.push_back(std::move(name));
  }
  if (names.size() < 2) return names.empty() ? "" : names.front();
  const std::string last = names.back();
  names.pop_back();
  return fmt::format("{} and {}", fmt::join(names, ", "), last);
}

double largest(const VecX<double>& x) { return x.size() > 0 ? x.cwiseAbs().maxCoeff() : 0.0; }

}  // namespace

/// (1)  A v = u        velocities
/// (2)  A vdot = b     accelerations, [Wu1997] eq. 4.8: the generalized inverse with M = 1 and no forces
/// and Newton's method for the positions. As a formulation it makes the equations of motion those of kinematics.
class KinematicMotion::Solver : public Formulation {
 public:
  explicit Solver(const Model& model)
      : model_(model),
        tolerance_(model.settings.constraint_tolerance),
        scale_(model.units.velocity),
        change_(VecX<double>::Zero(model.tree.nv)) {}

  const RankedRows& rows() const { return rows_; }

  /// Evaluates and factors the constraints where they stand.
  void factor(System& system, const State& state) {
    system.update(state);
    rows_.factor(system.jacobian(), system.jacobian_bounds(), scale_);
  }

  /// (1)
  Status prepare(System& system, State& state) override {
    state.v.setZero();
    factor(system, state);
    rows_.solve(system.terms().u, state.v);
    system.update(state);
    return contradiction(system.terms().rate, tolerance_ * model_.speed(state.v), "velocities");
  }

  /// (2)
  Status solve(System& system, Solution& solution) override {
    const VecX<double>& b = system.terms().b;
    rows_.solve(b, solution.vdot);
    solution.lambda.setZero();
    solution.rank = rows_.rank();
    std::ranges::copy(rows_.dependent(), solution.dependent.begin());
    residual_.noalias() = system.jacobian() * solution.vdot - b;
    // Redundant rows lose digits where their velocities are fast.
    const double speed = model_.speed(system.state().v);
    return contradiction(residual_, 1e-6 * std::max(speed * speed, model_.largest_error(b)), "accelerations");
  }

  /// How a search for a position ended.
  struct Found {
    bool closed = false;
    double moved = 0.0;  // the largest change of a coordinate, in units of its scale
  };

  /// Newton's method from a good guess: no step may make things worse.
  Found close(System& system, State& state) {
    constexpr int kMostIterations = 30;
    const State guess = state;
    factor(system, state);
    double error = model_.largest_error(system.terms().phi);
    for (int i = 0; i < kMostIterations && error > 0.01 * tolerance_; ++i) {
      const State before = state;
      step(system, state, 1.0);
      factor(system, state);
      const double next = model_.largest_error(system.terms().phi);
      if (!(next < error)) {
        state = before;
        factor(system, state);
        break;
      }
      error = next;
    }
    return {error <= tolerance_, moved(guess, state)};
  }

  /// The same from far away: limited and shortened steps, from disturbed positions if need be.
  bool search(System& system, State& state) {
    constexpr int kStarts = 24;
    std::mt19937 random(12345);
    const State given = state;
    State best = state;
    factor(system, state);
    double best_error = model_.largest_error(system.terms().phi);
    for (int start = 0; start < kStarts && best_error > tolerance_; ++start) {
      state = given;
      if (start > 0) disturb(state, 0.05 * start, random);
      descend(system, state);
      close(system, state);
      if (const double error = model_.largest_error(system.terms().phi); error < best_error) best = state, best_error = error;
    }
    state = best;
    factor(system, state);
    return best_error <= tolerance_;
  }

  /// Why the positions do not close, in words: rows that depend on others and cannot agree with them, or all that are open.
  std::string why_open(const System& system) const {
    const VecX<double>& phi = system.terms().phi;
    if (const Status status = contradiction(phi, tolerance_, "positions"); !status.ok()) return status.trouble;
    std::vector<int> open;
    for (int i = 0; i < model_.row_count(); ++i)
      if (std::abs(phi[i]) > tolerance_ * model_.units.tolerance[i]) open.push_back(i);
    // At the end of reach rows become dependent: those that do are as much to blame as those that happen to stay open.
    const std::vector<int> together = rows_.weakest_combination();
    if (std::ranges::any_of(open, [&](int row) { return std::ranges::find(together, row) != together.end(); }))
      open.insert(open.begin(), together.begin(), together.end());
    return fmt::format("no position satisfies {} (off by {:.3g}): lengths or drives ask for more than the mechanism's reach",
                       closures_of(model_, open), largest(phi));
  }

  /// Whether the mechanism, though held by its drives, can move away along a direction: if so, it comes to rest there and not
  /// back at a double root of its equations, which is what an isolated singular position is.
  bool can_move(System& system, const State& at, const VecX<double>& direction) {
    constexpr double kDistance = 1e-3;
    State state = at;
    change_ = direction * (kDistance / (direction.cwiseQuotient(scale_)).cwiseAbs().maxCoeff());
    displace(model_.tree, state.q.data(), change_.data());
    return close(system, state).closed && moved(at, state) > 0.1 * kDistance;
  }

 private:
  /// Positions along -A^+ phi; returns the largest change in units of scale.
  double step(System& system, State& state, double fraction) {
    rows_.solve(system.terms().phi, change_);
    change_ *= -fraction;
    displace(model_.tree, state.q.data(), change_.data());
    return change_.cwiseQuotient(scale_).cwiseAbs().maxCoeff();
  }

  void descend(System& system, State& state) {
    constexpr int kMostIterations = 200;
    constexpr double kMostChange = 0.5;
    factor(system, state);
    const auto size = [&] { return system.terms().phi.cwiseQuotient(model_.units.row).norm(); };
    double error = size();
    for (int i = 0; i < kMostIterations && model_.largest_error(system.terms().phi) > tolerance_; ++i) {
      bool better = false;
      for (double fraction = 1.0; fraction > 1e-4 && !better; fraction *= 0.5) {
        State trial = state;
        rows_.solve(system.terms().phi, change_);
        const double change = change_.cwiseQuotient(scale_).cwiseAbs().maxCoeff();
        change_ *= -fraction * std::min(1.0, kMostChange / std::max(change, 1e-300));
        displace(model_.tree, trial.q.data(), change_.data());
        system.update(trial);
        better = size() < (1.0 - 1e-4 * fraction) * error;
        if (better) state = trial;
        factor(system, state);
      }
      if (!better) return;
      error = size();
    }
  }

  void disturb(State& state, double amplitude, std::mt19937& random) {
    for (Eigen::Index i = 0; i < change_.size(); ++i)
      change_[i] = amplitude * scale_[i] * (2.0 * static_cast<double>(random()) / static_cast<double>(std::mt19937::max()) - 1.0);
    displace(model_.tree, state.q.data(), change_.data());
  }

  double moved(const State& from, const State& to) const {
    double most = 0.0;
    for (const Node& node : model_.tree.nodes)
      for (int k = 0; k < position_count(node.kind); ++k) {
        const bool is_length = node.kind == NodeKind::kPrismatic || (node.kind == NodeKind::kFree && k < 3);
        most = std::max(most, std::abs(to.q[node.q + k] - from.q[node.q + k]) / (is_length ? model_.units.length : 1.0));
      }
    return most;
  }

  /// Rows that are combinations of others and ask for something else. At a singular position that says nothing: rows which are
  /// independent elsewhere come together there.
  Status contradiction(const VecX<double>& residual, double tolerance, const char* level) const {
    if (rows_.rank().rank < model_.tree.nv) return {};
    for (int i = 0; i < model_.row_count(); ++i) {
      if (!rows_.dependent()[static_cast<std::size_t>(i)] || std::abs(residual[i]) <= tolerance * model_.units.tolerance[i])
        continue;
      const std::vector<int> set = rows_.combination(i);
      return {fmt::format("closures {} contradict one another: their {} cannot all be met (off by {:.3g})",
                          closures_of(model_, set), level, std::abs(residual[i]))};
    }
    return {};
  }

  const Model& model_;
  double tolerance_;
  VecX<double> scale_;  // by velocity: what a large change of the coordinate is
  RankedRows rows_;
  VecX<double> change_, residual_;
};

KinematicMotion::KinematicMotion(const Model& model) : model_(model), settings_(model.settings), recorder_(model) {
  auto solver = std::make_unique<Solver>(model);
  solver_ = solver.get();
  equations_ = std::make_unique<EquationsOfMotion>(model, std::move(solver), std::make_unique<Stabilization>());
  for (std::size_t c = 0; c < recorder_.columns().size(); ++c) {
    const std::string& name = recorder_.columns()[c];
    if (name.starts_with("lambda.") || name.starts_with("force.") || name.starts_with("torque.")) continue;
    columns_.push_back(name);
    kept_.push_back(c);
  }
  state_.q = Eigen::Map<const VecX<double>>(model.start_q.data(), model.tree.nq);
  state_.v = VecX<double>::Zero(model.tree.nv);
  summary_.model = model.name;
  summary_.formulation = "kinematics";
  summary_.stabilization = "none";
  summary_.integrator = "none";
  summary_.energy_drift = std::numeric_limits<double>::quiet_NaN();
  summary_.notes = model.notes;
  if (model.has_events())
    summary_.notes.emplace_back("events, contacts and friction are not looked at: constraints are those of the start throughout");
  check_rows();
  close_start();
  check_freedom();
}

KinematicMotion::~KinematicMotion() = default;

/// Constraints on velocities alone do not tell where the mechanism is.
void KinematicMotion::check_rows() const {
  for (const ConstraintRow& row : model_.rows)
    if (!row.holonomic && row.active)
      throw InputError(row.place,
                       fmt::format("closure '{}' constrains velocities only: positions do not follow from it", row.closure),
                       "constraints on positions; 'linkwork run' simulates the motion");
}

void KinematicMotion::close_start() {
  if (solver_->search(equations_->system(), state_)) return;
  Eigen::Index worst = 0;
  equations_->system().terms().phi.cwiseAbs().cwiseQuotient(model_.units.tolerance).maxCoeff(&worst);
  throw InputError(model_.rows[static_cast<std::size_t>(worst)].place,
                   "the mechanism cannot be closed at t = 0: " + solver_->why_open(equations_->system()),
                   "link lengths, start positions and drives that fit together");
}

/// Every motion must be driven, unless it is only the start that is singular.
void KinematicMotion::check_freedom() {
  System& system = equations_->system();
  const RankedRows& rows = solver_->rows();
  if (rows.rank().rank == model_.tree.nv) return;
  const MatX<double> free = rows.free_directions();
  std::vector<VecX<double>> real;
  for (Eigen::Index k = 0; k < free.cols(); ++k)
    if (solver_->can_move(system, state_, free.col(k))) real.emplace_back(free.col(k));
  solver_->factor(system, state_);
  if (real.empty()) return;

  MatX<double> motions(model_.tree.nv, static_cast<Eigen::Index>(real.size()));
  for (std::size_t k = 0; k < real.size(); ++k) motions.col(static_cast<Eigen::Index>(k)) = real[k];
  // As many coordinates as there are freedoms, chosen so that driving them determines the rest.
  const Eigen::ColPivHouseholderQR<MatX<double>> pivoted(motions.transpose());
  std::vector<std::string> to_drive, moving;
  for (Eigen::Index k = 0; k < motions.cols(); ++k)
    to_drive.push_back("'" + model_.velocity_name(pivoted.colsPermutation().indices()[k]) + "'");
  for (int i = 0; i < model_.tree.nv; ++i)
    if (motions.row(i).norm() > 1e-6) moving.push_back("'" + model_.velocity_name(i) + "'");
  throw InputError(
      {model_.file, 0, 0},
      fmt::format("the drives leave {} free: {} can still move",
                  real.size() == 1 ? "a motion" : fmt::format("{} motions", real.size()), listed(moving)),
      fmt::format(
          "{} on {}, or on as many others of them ([[closure]] with type = \"drive\"); or simulate it with 'linkwork run'",
          real.size() == 1 ? "a drive" : "drives", listed(to_drive)));
}

Summary KinematicMotion::run(const Observer& observer) {
  const auto started = std::chrono::steady_clock::now();
  observer_ = observer;
  if (accept(State(state_))) {
    const Solution& solution = equations_->solution();
    summary_.rows = equations_->model().row_count();
    summary_.rank = solution.rank.rank;
    summary_.dof = 0;
    summary_.redundant = dependent_row_names(model_, solution.dependent);
    if (!summary_.redundant.empty()) summary_.notes.push_back(describe_redundancy(model_, solution.dependent));
    record();
    for (bool going = true; going && state_.t < settings_.end;) {
      const double next = static_cast<double>(outputs_) * settings_.output_every;
      going = advance_to(next < settings_.end * (1.0 - 1e-12) ? next : settings_.end);
      if (going) record();
    }
  }
  summary_.completed = state_.t >= settings_.end;
  summary_.evaluations = equations_->evaluations();
  summary_.simulated_seconds = state_.t;
  for (std::size_t c = 0; outputs_ > 0 && c < columns_.size(); ++c)
    if (columns_[c].starts_with("q.") || columns_[c].starts_with("v."))
      summary_.final_state.emplace_back(columns_[c], recorder_.value(kept_[c]));
  summary_.wall_seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - started).count();
  return summary_;
}

/// Predicts, corrects, and takes shorter steps where the correction is not small: else it might land on another branch.
bool KinematicMotion::advance_to(double target) {
  constexpr double kMostCorrection = 0.1, kShortest = 1e-9;
  double h = target - state_.t;
  while (state_.t < target) {
    State next = regular_;
    next.t = h < (target - state_.t) * (1.0 - 1e-9) ? state_.t + h : target;
    const double reach = next.t - regular_.t;
    const VecX<double> change = reach * regular_.v + 0.5 * reach * reach * regular_rates_.vdot;
    displace(model_.tree, next.q.data(), change.data());
    const Solver::Found found = solver_->close(equations_->system(), next);
    if (found.closed && found.moved <= kMostCorrection) {
      if (!accept(std::move(next))) return false;
      h *= 2.0;
      continue;
    }
    ++summary_.rejected_steps;
    h *= 0.5;
    if (h >= kShortest * settings_.output_every) continue;
    // What is wrong shows better where it was to be than where it got stuck.
    State there = state_;
    there.t = target;
    solver_->close(equations_->system(), there);
    return stop(solver_->why_open(equations_->system()));
  }
  return true;
}

/// Makes a closed position the present one, with its velocities and accelerations.
bool KinematicMotion::accept(State&& next) {
  State before = std::move(state_);
  state_ = std::move(next);
  if (const Status status = equations_->evaluate(state_, rates_); !status.ok()) {
    const std::string reason = status.trouble;
    if (before.t < state_.t) state_ = std::move(before);
    return stop(reason);
  }
  equations_->system().accept_turns();
  if (state_.t > 0.0) ++summary_.steps;
  look();
  const bool interrupted = state_.t < settings_.end && observer_.go_on && !observer_.go_on();
  if (interrupted) summary_.status = kInterrupted;
  return !interrupted;
}

void KinematicMotion::look() {
  summary_.position_error_max = std::max(summary_.position_error_max, largest(equations_->system().terms().phi));
  watch_singularities();
  if (observer_.progress) observer_.progress(state_.t, settings_.end);
}

bool KinematicMotion::is_singular() const { return equations_->solution().rank.rank < model_.tree.nv; }

/// A determinant that changes its sign tells that a singular position was passed.
void KinematicMotion::watch_singularities() {
  if (!is_singular()) {
    const Solution& solution = equations_->solution();
    if (watched_rows_.empty())
      for (int i = 0; i < model_.row_count(); ++i)
        if (!solution.dependent[static_cast<std::size_t>(i)]) watched_rows_.push_back(i);
    const MatX<double>& A = equations_->system().jacobian();
    const int n = model_.tree.nv;
    MatX<double> square(n, n);
    for (int k = 0; k < n; ++k) square.row(k) = A.row(watched_rows_[static_cast<std::size_t>(k)]);
    const double side = n > 0 ? square.partialPivLu().determinant() : 1.0;
    if (side * side_ < 0.0)
      warn_of_singularity(
          fmt::format("a singular position was passed between t = {:.6g} and {:.6g} s: branches meet there, and the "
                      "motion went on as it came",
                      regular_.t, state_.t));
    side_ = side;
    summary_.velocity_error_max = std::max(summary_.velocity_error_max, largest(equations_->system().terms().rate));
  }
  if (!is_singular() || regular_.q.size() == 0) regular_ = state_, regular_rates_ = rates_;
}

void KinematicMotion::warn_of_singularity(std::string text) {
  constexpr int kMostWarnings = 5;
  if (singularities_++ < kMostWarnings) summary_.warnings.push_back(std::move(text));
}

void KinematicMotion::record() {
  if (is_singular())
    warn_of_singularity(
        fmt::format("t = {:.6g} s is a singular position: only {} of {} velocities are determined, and the rates written "
                    "are the smallest possible",
                    state_.t, equations_->solution().rank.rank, model_.tree.nv));
  const std::span<const double> all = recorder_.record(*equations_, state_.t);
  ++outputs_;
  row_.clear();
  for (std::size_t c : kept_) row_.push_back(all[c]);
  if (observer_.frame) observer_.frame(equations_->system());
  if (observer_.row) observer_.row(row_);
}

bool KinematicMotion::stop(const std::string& reason) {
  summary_.status = fmt::format("stopped at t = {:.9g} s: {}", state_.t, reason);
  return false;
}

}  // namespace linkwork
