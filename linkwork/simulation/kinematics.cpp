#include "linkwork/simulation/kinematics.h"

#include <fmt/format.h>

#include <Eigen/LU>
#include <algorithm>
#include <cmath>

#include "linkwork/dynamics/integrator.h"
#include "linkwork/dynamics/redundancy.h"
#include "linkwork/tree/kinematics.h"

namespace linkwork {

/// Predicts, corrects, and takes shorter steps where the correction is not small: else it might land on another branch.
class KinematicSystem::Stepping : public Integrator {
 public:
  explicit Stepping(KinematicSystem& system) : system_(system) {}

  int order() const override { return 2; }
  bool controls_step() const override { return true; }
  bool stops_at_rows() const override { return true; }
  long rejected_steps() const override { return rejected_; }

  Status step(DifferentialEquation&, const Moment& from, const VecX<double>&, double h, Moment& to) override {
    constexpr double kMostCorrection = 0.1, kShortest = 1e-9;
    const Tree& tree = system_.model_->tree;
    const double target = from.t + h;
    if (size_ == 0.0) size_ = h;
    for (;;) {
      const bool reaches = size_ >= h * (1.0 - 1e-9);
      State next;
      unpack(system_.regular_, tree.nq, tree.nv, next);
      next.t = reaches ? target : from.t + size_;
      const double reach = next.t - system_.regular_.t;
      const VecX<double> change = reach * next.v + 0.5 * reach * reach * system_.regular_rates_.segment(tree.nq, tree.nv);
      displace(tree, next.q.data(), change.data());
      const KinematicSolver::Found found = system_.solver_->close(system_.equations_->system(), next);
      if (found.closed && found.moved <= kMostCorrection) {
        pack(next, to);
        size_ = reaches ? 0.0 : 2.0 * size_;
        return {};
      }
      ++rejected_;
      size_ *= 0.5;
      if (size_ >= kShortest * system_.settings().output_every) continue;
      // What is wrong shows better where it was to be than where it got stuck.
      State there;
      unpack(from, tree.nq, tree.nv, there);
      there.t = target;
      system_.solver_->close(system_.equations_->system(), there);
      return {system_.solver_->why_open(system_.equations_->system())};
    }
  }

 private:
  KinematicSystem& system_;
  double size_ = 0.0;  // of the next step; 0: as far as it should
  long rejected_ = 0;
};

KinematicSystem::KinematicSystem(std::shared_ptr<const Model> model)
    : model_(std::move(model)), recorder_(*model_, false), limits_(*model_) {
  auto solver = std::make_unique<KinematicSolver>(*model_);
  solver_ = solver.get();
  equations_ = std::make_unique<EquationsOfMotion>(*model_, std::move(solver), std::make_unique<Stabilization>());
  start_.q = Eigen::Map<const VecX<double>>(model_->start_q.data(), model_->tree.nq);
  start_.v = VecX<double>::Zero(model_->tree.nv);
  check_rows();
  close_start();
  check_freedom();
}

std::unique_ptr<Integrator> KinematicSystem::make_integrator() { return std::make_unique<Stepping>(*this); }

Moment KinematicSystem::begin() const {
  Moment at;
  pack(start_, at);
  return at;
}

/// Constraints on velocities alone do not tell where the mechanism is.
void KinematicSystem::check_rows() const {
  for (const ConstraintRow& row : model_->rows)
    if (!row.holonomic && row.active)
      throw InputError(row.place,
                       fmt::format("closure '{}' constrains velocities only: positions do not follow from it", row.closure),
                       "constraints on positions; 'linkwork run' simulates the motion");
}

void KinematicSystem::close_start() {
  if (solver_->search(equations_->system(), start_)) return;
  Eigen::Index worst = 0;
  equations_->system().terms().phi.cwiseAbs().cwiseQuotient(model_->units.tolerance).maxCoeff(&worst);
  throw InputError(model_->rows[static_cast<std::size_t>(worst)].place,
                   "the mechanism cannot be closed at t = 0: " + solver_->why_open(equations_->system()),
                   "link lengths, start positions and drives that fit together");
}

/// Every motion must be driven, unless it is only the start that is singular.
void KinematicSystem::check_freedom() {
  System& system = equations_->system();
  const RankedRows& rows = solver_->rows();
  if (rows.rank().rank == model_->tree.nv) return;
  const MatX<double> free = rows.free_directions();
  std::vector<VecX<double>> real;
  for (Eigen::Index k = 0; k < free.cols(); ++k)
    if (solver_->can_move(system, start_, free.col(k))) real.emplace_back(free.col(k));
  solver_->factor(system, start_);
  if (real.empty()) return;

  MatX<double> motions(model_->tree.nv, static_cast<Eigen::Index>(real.size()));
  for (std::size_t k = 0; k < real.size(); ++k) motions.col(static_cast<Eigen::Index>(k)) = real[k];
  // As many coordinates as there are freedoms, chosen so that driving them determines the rest.
  const Eigen::ColPivHouseholderQR<MatX<double>> pivoted(motions.transpose());
  std::vector<std::string> to_drive, moving;
  for (Eigen::Index k = 0; k < motions.cols(); ++k)
    to_drive.push_back("'" + model_->velocity_name(pivoted.colsPermutation().indices()[k]) + "'");
  for (int i = 0; i < model_->tree.nv; ++i)
    if (motions.row(i).norm() > 1e-6) moving.push_back("'" + model_->velocity_name(i) + "'");
  throw InputError(
      {model_->file, 0, 0},
      fmt::format("the drives leave {} free: {} can still move",
                  real.size() == 1 ? "a motion" : fmt::format("{} motions", real.size()), listed(moving)),
      fmt::format(
          "{} on {}, or on as many others of them ([[closure]] with type = \"drive\"); or simulate it with 'linkwork run'",
          real.size() == 1 ? "a drive" : "drives", listed(to_drive)));
}

Status KinematicSystem::start(Moment& at, VecX<double>& rates, Summary& summary, Remarks& remarks) {
  summary.model = model_->name;
  summary.formulation = "kinematics";
  summary.stabilization = summary.integrator = "none";
  summary.energy_drift = std::numeric_limits<double>::quiet_NaN();
  summary.notes = model_->notes;
  summary.warnings = model_->warnings;
  if (model_->has_events())
    summary.notes.emplace_back("events, contacts and friction are not looked at: constraints are those of the start throughout");
  if (Status status = equations_->evaluate(at, rates); !status.ok()) return status;
  const Solution& solution = equations_->solution();
  summary.rows = model_->row_count();
  summary.rank = solution.rank.rank;
  summary.dof = 0;
  summary.redundant = dependent_row_names(*model_, solution.dependent);
  if (!summary.redundant.empty()) summary.notes.push_back(describe_redundancy(*model_, solution.dependent));
  accept_step(at, rates, remarks);
  return {};
}

void KinematicSystem::accept_step(const Moment& at, const VecX<double>& rates, Remarks& remarks) {
  equations_->system().accept_turns();
  limits_.look(equations_->system(), remarks);
  watch_singularities(at, rates, remarks);
}

/// Velocities at a singular position are those of least size: they need not meet the constraints.
ConstraintErrors KinematicSystem::errors() const {
  const ConstraintTerms& terms = equations_->system().terms();
  if (terms.rows() == 0) return {};
  return {terms.phi.cwiseAbs().maxCoeff(), is_singular() ? 0.0 : terms.rate.cwiseAbs().maxCoeff()};
}

void KinematicSystem::keep_rows() {
  rows_there_ = model_->units.row.cwiseInverse().asDiagonal() * equations_->system().jacobian();
}

/// Where rank is lost all determinants of as many rows as there are velocities vanish, and beyond it they have other signs than
/// before. The sum of their products, here and at regular_, is det(A' A_there) (Cauchy and Binet): the rows that are strong
/// decide, whichever of redundant ones these are.
bool KinematicSystem::changes_side() {
  if (rows_there_.size() == 0) return false;
  const MatX<double> rows = model_->units.row.cwiseInverse().asDiagonal() * equations_->system().jacobian();
  const Eigen::PartialPivLU<MatX<double>> lu(rows.transpose() * rows_there_);
  const bool is_odd = (lu.matrixLU().diagonal().array() < 0.0).count() % 2 != 0;
  return is_odd != (lu.permutationP().determinant() < 0);
}

void KinematicSystem::watch_singularities(const Moment& at, const VecX<double>& rates, Remarks& remarks) {
  if (is_singular() && regular_.y.size() > 0) return;
  if (!is_singular()) {
    if (changes_side())
      warn_of_singularity(at.t,
                          fmt::format("a singular position was passed between t = {:.6g} and {:.6g} s: branches meet there, and "
                                      "the motion went on as it came",
                                      regular_.t, at.t),
                          remarks);
    keep_rows();
  }
  regular_ = at, regular_rates_ = rates;
}

void KinematicSystem::warn_of_singularity(double t, std::string text, Remarks& remarks) {
  constexpr int kMostWarnings = 5;
  if (singularities_ < kMostWarnings) remarks.add(t, fmt::format("singularity {}", singularities_), std::move(text));
  ++singularities_;
}

Status KinematicSystem::record(double t, const std::string& objection, std::vector<double>& row, Remarks& remarks) {
  if (!objection.empty()) return {objection};
  if (is_singular())
    warn_of_singularity(t,
                        fmt::format("t = {:.6g} s is a singular position: only {} of {} velocities are determined, and the rates "
                                    "written are the smallest possible",
                                    t, equations_->solution().rank.rank, model_->tree.nv),
                        remarks);
  recorder_.record(*equations_, t, row);
  return {};
}

/// With what positions are predicted from, and what is known of singularities.
void KinematicSystem::save(const Moment& at, SavedRun& saved) {
  const auto numbers = [](const VecX<double>& x) { return std::vector<double>(x.begin(), x.end()); };
  saved.parts = {{numbers(at.y), equations_->system().memory()}, {numbers(regular_.y), numbers(regular_rates_)}};
  saved.parts[1].x.insert(saved.parts[1].x.end(), {regular_.t, static_cast<double>(singularities_)});
}

bool KinematicSystem::accepts(const SavedRun& saved) {
  const std::ptrdiff_t size = begin().y.size();
  return saved.parts.size() == 2 && std::ssize(saved.parts[0].x) == size &&
         saved.parts[0].memory.size() == equations_->system().memory().size() && std::ssize(saved.parts[1].x) == size + 2 &&
         std::ssize(saved.parts[1].memory) == size;
}

Status KinematicSystem::restore(const SavedRun& saved, Moment& at, VecX<double>& rates) {
  const auto vector = [&](const std::vector<double>& x) {
    return VecX<double>(Eigen::Map<const VecX<double>>(x.data(), begin().y.size()));
  };
  const std::vector<double>& more = saved.parts[1].x;
  regular_ = {more[more.size() - 2], vector(more)};
  regular_rates_ = vector(saved.parts[1].memory);
  singularities_ = static_cast<int>(more.back());
  equations_->system().set_memory(saved.parts[0].memory);
  Moment before = regular_;
  if (Status status = equations_->evaluate(before, rates); !status.ok()) return status;
  if (!is_singular()) keep_rows();
  at = {saved.t, vector(saved.parts[0].x)};
  return equations_->evaluate(at, rates);
}

}  // namespace linkwork
