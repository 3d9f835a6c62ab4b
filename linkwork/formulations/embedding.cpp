#include "linkwork/formulations/embedding.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "linkwork/coordinates/loop_elimination.h"
#include "linkwork/coordinates/planar_loop.h"
#include "linkwork/dynamics/force_balance.h"
#include "linkwork/dynamics/partitioned_solution.h"
#include "linkwork/tree/kinematics.h"
#include "linkwork/tree/rnea.h"

namespace linkwork {

namespace {

/// Positions and velocities that the embedded loops determine are functions of the independent ones: each evaluation first
/// computes them anew, so nothing can drift. Planar loops are closed by formula, what is then still open by Newton's method.
/// Where no choice of independent coordinates is good, at a singular position, the loops are treated as cut for that evaluation.
class Embedding : public Formulation {
 public:
  Embedding(const Model& model, const EmbeddingChoice& choice)
      : layout_(layout_of(model)),
        compounds_(model.tree, layout_->groups, choice.embed),
        loops_(model.tree, layout_->groups, &compounds_),
        forces_(model),
        all_embedded_(std::ranges::count(choice.embed, 0) == 0),
        shift_(VecX<double>::Zero(model.tree.nv)),
        residual_(shift_) {
    for (const int g : layout_->group_of) is_embedded_.push_back(choice.embed[static_cast<std::size_t>(g)]);
    cut_rows_ = static_cast<int>(std::ranges::count(is_embedded_, 0));
    node_of_dof_.resize(static_cast<std::size_t>(model.tree.nv));
    for (int i = 0; i < model.tree.size(); ++i) {
      const Node& node = model.tree.nodes[static_cast<std::size_t>(i)];
      for (int k = 0; k < velocity_count(node.kind); ++k) node_of_dof_[static_cast<std::size_t>(node.v + k)] = i;
    }
    if (choice.analytic)
      for (const FrameClosure& closure : model.frame_closures) planar_.push_back(PlanarLoop::of(model.tree, closure));
  }

  bool holds_constraints() const override { return all_embedded_ && !cut_; }

  Status prepare(System& system, State& state) override {
    cut_ = !settle(system, state);
    if (!cut_) return {};
    state.q = given_q_, state.v = given_v_;
    system.update(state);
    return {};
  }

  Status solve(System& system, Solution& solution) override {
    const Tree& tree = system.tree();
    TreeWork<double>& work = system.work();
    const ConstraintTerms& terms = system.terms();
    update_bias_wrenches(tree, work);
    LoopElimination& loops = cut_ ? cut_loops(system) : loops_;
    loops.inward(tree, work, terms.groups, terms.b);
    if (work.massless_node != 0)
      return {
          fmt::format("coordinates 'CE' need inertia at every joint and compound, and '{}' moves none; use 'FA', or 'TA' with "
                      "the formulation 'lagrange'",
                      system.model().node_name(work.massless_node))};
    loops.outward(tree, work, solution.vdot, solution.lambda);
    solution.rank = loops.rank();
    std::ranges::copy(loops.dependent(), solution.dependent.begin());
    solution.inconsistency = 0.0;
    for (double x : loops.inconsistency()) solution.inconsistency = std::max(solution.inconsistency, std::abs(x));
    solution.remark.clear();
    if (cut_) {
      solution.remark = "no choice of independent coordinates was good: loops were treated as cut (TA) there";
    } else {
      solution.rank.rank += compounds_.rank();
      solution.rank.weakest = std::min(solution.rank.weakest, 1.0 / (1.0 + fastest_ * fastest_));
      for (std::size_t row = 0; row < is_embedded_.size(); ++row)
        if (is_embedded_[row]) solution.dependent[row] = compounds_.dependent()[row];
    }
    const bool is_doubtful = forces_.is_needed() || loops.rank().weakest < kWeak || loops.rank().rank < rows_of(loops);
    return is_doubtful ? verify(system, solution) : Status{};
  }

  /// Independent coordinates change between steps only: within one, its stages would not fit together.
  void accept_step(System& system) override {
    if (fastest_ < kTooFast && !(sharpness(system.model()) > kSharper * sharpness_)) return;
    if (cut_) compounds_.update_rows(system.tree(), system.work(), system.terms().groups);
    choose(system);
  }

  void complete(System& system, Solution& solution) override {
    if (cut_) return;
    // What is left of M vdot + c - tau after the cut loops' forces is A' lambda of the embedded rows.
    inverse_dynamics(system.tree(), solution.vdot.data(), system.work(), residual_);
    residual_ -= system.work().tau;
    if (!all_embedded_) {
      for (std::size_t row = 0; row < is_embedded_.size(); ++row)
        if (is_embedded_[row]) solution.lambda[static_cast<Eigen::Index>(row)] = 0.0;
      residual_.noalias() -= system.jacobian().transpose() * solution.lambda;
    }
    compounds_.multipliers(residual_, solution.lambda);
  }

 private:
  static constexpr double kWeak = 1e-3;         // pivots of rows above it lose no digits that matter
  static constexpr double kLargest = 100.0;     // times what rows may miss: more is solved densely
  static constexpr double kInVain = 1e-6;       // what dependent rows may ask for, off the constraints
  static constexpr double kSettled = 1e-14;     // rad, or lengths of the mechanism
  static constexpr double kRounding = 1e-12;    // where iteration may end if it gains nothing more
  static constexpr double kTooFast = 4.0;       // of a dependent coordinate: choose others for the next step
  static constexpr double kSharper = 10.0;      // than where they were chosen: the same, as a row that was kept may vanish
  static constexpr double kHopeless = 1e4;      // none is good
  static constexpr double kLongestShift = 0.1;  // the same: beyond it another branch may be closer
  static constexpr int kMostIterations = 10;

  /// Mends what rounding did. Loops that are cut beside embedded ones may ask for more, where rows nearly depend on one another.
  Status verify(System& system, Solution& solution) {
    // Near a singular position what rows miss is a larger error of the accelerations.
    const double accepted = std::clamp(1e-9 * std::sqrt(solution.rank.weakest), 1e-12, 1e-11);
    const auto missed = [&] {
      forces_.missed(system, solution.vdot, solution.lambda);
      return forces_.missed_by_rows(system, solution.vdot, solution.dependent);
    };
    complete(system, solution);
    double misses = forces_.is_needed() ? 1.0 : missed();
    if (misses > accepted) {
      forces_.settle(system, solution.vdot, solution.lambda, ForceBalance::Rows::kMissed);
      misses = missed();
    }
    if (misses <= kLargest * accepted && forces_.missed_by_rows(system, solution.vdot) <= kInVain) return {};
    if (!partition_) partition_.emplace(system.model());
    partition_->update(system);
    return partition_->solve(system, system.terms().b, "CE", solution);
  }

  /// Rows that it eliminates.
  int rows_of(const LoopElimination& loops) const {
    return &loops == &loops_ ? cut_rows_ : static_cast<int>(is_embedded_.size());
  }

  void choose(System& system) {
    update_poses(system.tree(), system.work());
    compounds_.choose(system.tree(), system.work(), system.terms().groups, true);
    if (compounds_.factor() > kTooFast) {
      compounds_.choose(system.tree(), system.work(), system.terms().groups, false);
      compounds_.factor();
    }
    sharpness_ = sharpness(system.model());
    formulas_.clear();
    for (const Compounds::Solved& solved : compounds_.order_of_solution()) {
      if (solved.rows.size() != 2) continue;
      const std::size_t group = group_of_row(solved.rows[0]);
      if (group >= planar_.size() || group != group_of_row(solved.rows[1]) || !planar_[group]) continue;
      const int x = node_of_dof_[static_cast<std::size_t>(solved.dofs[0])],
                y = node_of_dof_[static_cast<std::size_t>(solved.dofs[1])];
      if (planar_[group]->passes(x) && planar_[group]->passes(y)) formulas_.push_back({&*planar_[group], x, y});
    }
  }
  /// How far dependent coordinates move when rows are off by their units. It grows where a row that was kept vanishes, even if
  /// others that were left out then hold the loop as well.
  double sharpness(const Model& model) {
    double most = 0.0;
    for (const double sign : {1.0, -1.0}) {
      rows_off_ = model.units.row;
      for (Eigen::Index row = 1; row < rows_off_.size(); row += 2) rows_off_[row] *= sign;
      compounds_.correction(rows_off_, shift_);
      most = std::max(most, shift_.cwiseAbs().cwiseQuotient(model.units.velocity).maxCoeff());
    }
    return most;
  }
  std::size_t group_of_row(int row) const { return static_cast<std::size_t>(layout_->group_of[static_cast<std::size_t>(row)]); }

  /// False if the loops cannot be closed from here.
  bool settle(System& system, State& state) {
    given_q_ = state.q, given_v_ = state.v;
    for (const Formula& formula : formulas_) formula.loop->close(formula.x, formula.y, state.q.data());
    double before = std::numeric_limits<double>::infinity();
    for (int i = 0;; ++i) {
      system.update_positions(state);
      if (!compounds_.chosen()) {
        compounds_.update_rows(system.tree(), system.work(), system.terms().groups);
        choose(system);
      }
      fastest_ = compounds_.settle(system.tree(), system.work(), system.terms().groups, system.terms().u, state.v);
      if (!(fastest_ < kHopeless)) return false;
      const double error = position_error(system.model(), system.terms().phi);
      if (error <= kSettled || (!(error < before) && error < kRounding)) break;
      if (i == kMostIterations || !(error < before)) return false;
      before = error;
      compounds_.correction(system.terms().phi, shift_);
      if (!(shift_.cwiseAbs().cwiseQuotient(system.model().units.velocity).maxCoeff() < kLongestShift)) return false;
      displace(system.tree(), state.q.data(), shift_.data());
    }
    system.update_motion(state);
    return true;
  }

  double position_error(const Model& model, const VecX<double>& phi) const {
    double error = 0.0;
    for (std::size_t row = 0; row < is_embedded_.size(); ++row)
      if (is_embedded_[row] && !compounds_.dependent()[row])
        error = std::max(error, std::abs(phi[static_cast<Eigen::Index>(row)]) / model.units.row[static_cast<Eigen::Index>(row)]);
    return error;
  }

  LoopElimination& cut_loops(const System& system) {
    if (!cut_loops_) cut_loops_.emplace(linkwork::cut_loops(system.model()));
    return *cut_loops_;
  }

  struct Formula {  // two joints of a planar loop whose coordinates follow from the others'
    const PlanarLoop* loop;
    int x, y;
  };

  std::shared_ptr<const ConstraintLayout> layout_;
  Compounds compounds_;
  LoopElimination loops_;
  std::optional<LoopElimination> cut_loops_;
  ForceBalance forces_;
  std::optional<PartitionedSolution> partition_;  // where recursions fail
  bool all_embedded_;
  int cut_rows_ = 0;  // of loops that are not embedded
  bool cut_ = false;
  double fastest_ = 0.0;
  double sharpness_ = 0.0;         // where coordinates were chosen
  std::vector<char> is_embedded_;  // by row
  std::vector<int> node_of_dof_;
  std::vector<std::optional<PlanarLoop>> planar_;  // by closure between frames
  std::vector<Formula> formulas_;                  // in the order they can be applied
  VecX<double> shift_, residual_, given_q_, given_v_, rows_off_;
};

}  // namespace

EmbeddingChoice embed_all(const Model& model) { return {std::vector<char>(layout_of(model)->groups.size(), 1), true}; }

std::unique_ptr<Formulation> make_embedding(const Model& model, const EmbeddingChoice& choice) {
  return std::make_unique<Embedding>(model, choice);
}

}  // namespace linkwork
