#include <fmt/format.h>

#include <Eigen/Eigenvalues>
#include <algorithm>
#include <cmath>
#include <optional>

#include "linkwork/coordinates/dependent_rows.h"
#include "linkwork/dynamics/force_balance.h"
#include "linkwork/dynamics/partitioned_solution.h"
#include "linkwork/dynamics/redundancy.h"
#include "linkwork/formulations/catalog.h"
#include "linkwork/formulations/dense_terms.h"
#include "linkwork/formulations/whole_schur.h"
#include "linkwork/tree/rnea.h"

namespace linkwork {

namespace {

/// A M^-1 A' lambda = b - A a_f, vdot = a_f + M^-1 A' lambda: the operational-space inverse inertia of the closures, by the
/// articulated-body recursion, with each loop eliminated where it ends. [Jain2012] L1, L2. Dependent rows get lambda = 0.
///
/// The recursion divides by what each joint moves, which may be nothing: a slender rod about its own axis, say. Such nodes are
/// lent some inertia E, and what that changes is taken back by iteration,
///   (M + E) vdot_k + c = tau + A' lambda + E vdot_(k-1),
/// which the constraints make converge in a few rounds, as the lent inertia is small against that of any motion they allow.
///
/// Where rows nearly depend on others, or masses differ by decades, the recursion loses digits. What the rows then miss is solved
/// for once more; where that does not help, or rows were taken for dependent that are not, the equations are solved by
/// partitioned_solution.h, which is slower and minds neither.
class Schur : public Formulation {
 public:
  explicit Schur(const Model& model)
      : loops_(cut_loops(model)),
        zero_(VecX<double>::Zero(model.row_count())),
        missed_(zero_),
        sizes_(zero_),
        change_(VecX<double>::Zero(model.tree.nv)),
        added_(zero_),
        forces_(model),
        unequal_(has_unequal_masses(model.tree)),
        by_unit_(model.units.row.cwiseInverse()),
        strained_from_(kStrained * std::pow(model.units.rate, 2)),
        length_(model.units.length) {}

  Status solve(System& system, Solution& solution) override {
    Status status = solve_by_recursion(system, solution);
    if (!status.ok() || !is_solved(system, solution)) {
      if (system.tree().nv > kMostDense) return status.ok() ? Status{std::string(kTooLarge)} : status;
      if (!partition_) partition_.emplace(system.model());
      partition_->partition().forget();
      partition_->update(system);
      if (!status.ok() || !loans_.empty() || partition_->partition().rank().rank != solution.rank.rank ||
          missed(system, false) > accepted()) {
        const Status dense = partition_->solve(system, system.terms().b, "schur", solution);
        return status.ok() || dense.ok() ? dense : status;
      }
    }
    // Digits may be lost where a loop lets nothing move.
    if (loans_.empty() &&
        (forces_.is_needed() || (has_dependent_rows(loops_, system.active_rows()) && !forces_balance(system, solution))))
      forces_.settle(system, solution.vdot, solution.lambda);
    return {};
  }

  void forget() override { usual_rank_ = -1; }

 private:
  static constexpr int kMostDense = 4000;  // velocities: a factorization of minutes
  static constexpr std::string_view kTooLarge =
      "constraints depend on one another so nearly that recursions cannot solve them, and there are too many coordinates for "
      "other ways";
  static constexpr double kWeak = 1e-3;     // pivots above it lose no digits that matter
  static constexpr double kStrained = 1e4;  // times as strong as what moves: forces that hold one another cost digits
  static constexpr double kRest = 1e-8;     // of them; less is no motion
  static constexpr double kLost = 1e-3;     // beyond rounding: the rows' inverse is wrong
  static constexpr double kInVain = 1e-6;   // what dependent rows may ask for, off the constraints

  /// What rows may miss: where one is weak, accelerations are off by more than that.
  double accepted() const { return std::clamp(1e-9 * std::sqrt(loops_.rank().weakest), 1e-12, 1e-11); }

  /// What rows miss at most, relative to the largest of all rows' terms, each row in its unit.
  double missed(const System& system, bool by_dependent_rows) const {
    double most = 0.0;
    for (Eigen::Index row = 0; row < missed_.size(); ++row)
      if ((loops_.dependent()[static_cast<std::size_t>(row)] != 0) == by_dependent_rows)
        most = std::max(most, std::abs(missed_[row]) / system.model().units.row[row]);
    return most == 0.0 ? 0.0 : most / size_;
  }

  /// Whether constraints hold back forces that would accelerate the mechanism far more than it accelerates, or gravity could:
  /// what is left is a small difference of large numbers.
  bool is_strained(const System& system, const Solution& solution) {
    const double *const lambda = solution.lambda.data(), *const scale = loops_.scale().data();
    held_ = 0.0;
    for (Eigen::Index row = 0; row < by_unit_.size(); ++row)
      held_ = std::max(held_, std::abs(lambda[row]) * scale[row] * by_unit_.data()[row]);
    if (!(held_ > strained_from_)) return false;
    const Model::Units& units = system.model().units;
    const double moves = std::max(std::pow(system.model().speed(system.state().v), 2),
                                  solution.vdot.cwiseQuotient(units.velocity).cwiseAbs().maxCoeff());
    return held_ > kStrained * moves;
  }

  /// By the geometry, where rows first were as they are. The recursion, which measures rows by masses, may lose some where a body
  /// has next to no inertia about an axis.
  int usual_rank(System& system) {
    if (usual_rank_ >= 0) return usual_rank_;
    std::vector<char> dependent(static_cast<std::size_t>(missed_.size()));
    return usual_rank_ = missed_.size() <= kMostRowsToRank ? RowRank().decide(system, dependent).rank : 0;
  }

  /// Holds the solution against the rows, where there is reason to, and mends it.
  bool is_solved(System& system, Solution& solution) {
    if (missed_.size() == 0) return true;
    const bool has_dependent = has_dependent_rows(loops_, system.active_rows()),
               is_weak = unequal_ || loops_.rank().weakest < kWeak;
    const bool strained = is_strained(system, solution);
    if (!is_weak && !has_dependent && loans_.empty() && !strained) return true;
    TreeWork<double>& work = system.work();
    const ConstraintTerms& terms = system.terms();
    missed_ = terms.b;
    loops_.subtract_rates(work, terms.groups, solution.vdot, missed_, &sizes_);
    sizes_ += terms.b.cwiseAbs();
    size_ =
        std::max(sizes_.cwiseQuotient(system.model().units.row).maxCoeff(), std::pow(system.model().speed(system.state().v), 2));
    if (strained) size_ = std::max(size_, kRest * held_);
    if (has_dependent && (missed(system, true) > kInVain || loops_.rank().rank < usual_rank(system))) return false;
    if (missed(system, false) > kLost) return false;
    const double enough = 0.1 * accepted();
    if (loans_.empty() && missed(system, false) <= enough) return true;
    if (!loans_.empty()) return missed(system, false) <= accepted() && forces_balance(system, solution);
    tau_ = work.tau;
    for (int round = 0; round < 3 && missed(system, false) > enough; ++round) {
      loops_.inward_unforced(system.tree(), work, terms.groups, missed_);
      loops_.outward(system.tree(), work, change_, added_);
      loops_.subtract_rates(work, terms.groups, change_, missed_);
      solution.vdot += change_;
      solution.lambda += added_;
    }
    work.tau = tau_;
    return missed(system, false) <= accepted() && missed(system, true) <= kInVain;
  }

  /// Whether M vdot + c = tau + A' lambda, what is left of it taken as accelerations: so what was lent has been taken back.
  bool forces_balance(System& system, const Solution& solution) {
    constexpr double kBalanced = 1e-10;
    forces_.missed(system, solution.vdot, solution.lambda);
    const double usual = std::pow(system.model().speed(system.state().v), 2);
    const double size = std::max(usual, solution.vdot.cwiseQuotient(system.model().units.velocity).cwiseAbs().maxCoeff());
    return forces_.missed_motion(system) <= kBalanced * size;
  }

  Status solve_by_recursion(System& system, Solution& solution) {
    TreeWork<double>& work = system.work();
    for (Loan& loan : loans_) {
      loan.dw.setZero(), loan.dv.setZero();
      add_to(work, loan, 1.0);
    }
    const Status status = solve_lent(system, solution);
    for (const Loan& loan : loans_) add_to(work, loan, -1.0);
    return status;
  }

  Status solve_lent(System& system, Solution& solution) {
    const Tree& tree = system.tree();
    TreeWork<double>& work = system.work();
    inward(system);
    if (work.massless_node != 0)
      if (Status status = lend(system, solution); !status.ok()) return status;
    loops_.outward(tree, work, solution.vdot, solution.lambda);
    if (!loans_.empty())
      if (Status status = take_back(system, solution); !status.ok()) return status;
    solution.rank = loops_.rank();
    solution.inconsistency = 0.0;
    std::ranges::copy(loops_.dependent(), solution.dependent.begin());
    if (solution.rank.rank < loops_.working_rows())
      for (double inconsistency : loops_.inconsistency())
        solution.inconsistency = std::max(solution.inconsistency, std::abs(inconsistency));
    return {};
  }

  /// Relative to the inertia the body has in other directions. Less is taken back sooner, but rounds worse.
  static constexpr double kLent = 1e-2;
  struct Loan {
    int node;
    double turning, sliding;
    Vec3<double> dw, dv;  // the node's acceleration of the round before
  };

  void inward(System& system) {
    TreeWork<double>& work = system.work();
    update_bias_wrenches(system.tree(), work);
    add_loans(work);
    loops_.inward(system.tree(), work, system.terms().groups, system.terms().b);
  }

  void add_loans(TreeWork<double>& work) const {
    for (const Loan& loan : loans_) {
      work[loan.node].n -= loan.turning * loan.dw;
      work[loan.node].f -= loan.sliding * loan.dv;
    }
  }

  /// How much the accelerations of the nodes that were lent inertia have changed, and how large they are, in 1/s^2.
  std::pair<double, double> note_accelerations(const TreeWork<double>& work) {
    double change = 0.0, size = 0.0;
    for (Loan& loan : loans_) {
      const NodeWork<double>& a = work[loan.node];
      change = std::max({change, (a.dw - loan.dw).norm(), (a.dv - loan.dv).norm() / length_});
      size = std::max({size, a.dw.norm(), a.dv.norm() / length_, a.aw.norm(), a.ap.norm() / length_, a.w.squaredNorm()});
      loan.dw = a.dw, loan.dv = a.dv;
    }
    return {change, size};
  }

  Status lend(System& system, Solution& solution) {
    const Tree& tree = system.tree();
    TreeWork<double>& work = system.work();
    double total = 0.0;
    for (const Node& node : tree.nodes) total += node.inertia.mass;
    if (loans_.empty())  // bodies that float are many at a time, in FA
      for (int node = 1; node < tree.size(); ++node)
        if (tree.nodes[static_cast<std::size_t>(node)].kind == NodeKind::kFree && !has_inertia(work, node))
          lend_to(node, total, work);
    for (inward(system); work.massless_node != 0; inward(system)) {
      if (std::ranges::count(loans_, work.massless_node, &Loan::node) > 1) return {refusal(system, work.massless_node)};
      lend_to(work.massless_node, total, work);
    }
    const Status status = try_loans(system, solution);
    inward(system);
    return status;
  }

  static bool has_inertia(const TreeWork<double>& work, int node) {
    const ArticulatedInertia<double>& rigid = work.rigid[static_cast<std::size_t>(node)];
    const double mass = rigid.M.trace() / 3.0;
    const Eigen::SelfAdjointEigenSolver<Mat3<double>> about_com(
        Mat3<double>(rigid.I.matrix() - rigid.H * rigid.H.transpose() / std::max(mass, 1e-300)), Eigen::EigenvaluesOnly);
    return mass > 0.0 && about_com.eigenvalues()[0] > 1e-12 * rigid.I.trace();
  }

  void lend_to(int node, double total_mass, TreeWork<double>& work) {
    const double turns = work[node].IA.I.trace(), mass = work[node].IA.M.trace() / 3.0;
    const double turning = kLent * (turns > 0.0 ? turns : std::max(mass, total_mass) * length_ * length_);
    const double sliding = mass > 0.0 ? 0.0 : kLent * total_mass;
    loans_.push_back({node, turning, sliding, Vec3<double>::Zero(), Vec3<double>::Zero()});
    add_to(work, loans_.back(), 1.0);
  }

  /// Only while solving: the inertia is of use to others as it is.
  static void add_to(TreeWork<double>& work, const Loan& loan, double sign) {
    ArticulatedInertia<double>& rigid = work.rigid[static_cast<std::size_t>(loan.node)];
    const double turning = sign * loan.turning, sliding = sign * loan.sliding;
    rigid.I += Sym3<double>{turning, 0.0, 0.0, turning, 0.0, turning};
    rigid.M += Sym3<double>{sliding, 0.0, 0.0, sliding, 0.0, sliding};
  }

  /// Whether a motion of the nodes dies out that only their lent inertia keeps up.
  Status try_loans(System& system, Solution& solution) {
    TreeWork<double>& work = system.work();
    const VecX<double> tau = work.tau;
    for (Loan& loan : loans_) loan.dw = Vec3<double>(0.7, -0.5, 0.6), loan.dv = length_ * Vec3<double>(-0.6, 0.7, 0.5);
    double growth = 0.0;
    for (int round = 0; round < 4; ++round) {
      const double before = largest_acceleration();
      for (NodeWork<double>& node : work.nodes) node.n.setZero(), node.f.setZero();
      work.tau.setZero();
      add_loans(work);
      loops_.inward(system.tree(), work, system.terms().groups, zero_);
      loops_.outward(system.tree(), work, solution.vdot, solution.lambda);
      note_accelerations(work);
      growth = before > 0.0 ? largest_acceleration() / before : 0.0;
    }
    work.tau = tau;
    const int node = loans_.front().node;
    for (Loan& loan : loans_) loan.dw.setZero(), loan.dv.setZero();
    return growth < 0.5 ? Status{} : Status{refusal(system, node)};
  }

  double largest_acceleration() const {
    double size = 0.0;
    for (const Loan& loan : loans_) size = std::max({size, loan.dw.norm(), loan.dv.norm() / length_});
    return size;
  }

  Status take_back(System& system, Solution& solution) {
    constexpr int kMostRounds = 60;
    double before = std::numeric_limits<double>::infinity();
    for (int round = 0; round < kMostRounds; ++round) {
      auto [change, size] = note_accelerations(system.work());
      size = std::max(size, solution.vdot.cwiseQuotient(system.model().units.velocity).cwiseAbs().maxCoeff());
      const bool is_rounding = change >= before && change < 1e-9 * size;
      if (change <= 1e-13 * size || is_rounding) return {};
      before = change;
      inward(system);
      loops_.outward(system.tree(), system.work(), solution.vdot, solution.lambda);
    }
    return {refusal(system, loans_.front().node)};
  }

  static std::string refusal(const System& system, int node) {
    return fmt::format("joint '{}' moves no inertia, and the constraints do not tell how it moves: give what hangs on it some",
                       system.model().node_name(node));
  }

  LoopElimination loops_;
  VecX<double> zero_, missed_, sizes_, change_, added_, tau_;
  ForceBalance forces_;
  bool unequal_;
  VecX<double> by_unit_;  // of rows: the inverse
  double strained_from_;  // below such accelerations rows that hold are not looked at
  double length_;         // of the mechanism
  double size_ = 0.0;     // the largest of the rows' terms
  double held_ = 0.0;     // the largest acceleration that rows prevent
  int usual_rank_ = -1;
  std::optional<PartitionedSolution> partition_;
  std::vector<Loan> loans_;
};

}  // namespace

CatalogEntry<Formulation> schur_formulation() {
  return {{"schur",
           "Schur complement by O(N) tree recursions; redundant rows are found and handled",
           "Jain2012",
           {{"early", 1.0, "0: one dense complement over all rows, instead of eliminating each loop where it ends", kYesOrNo}}},
          [](const Model& model, const Options& options) -> std::unique_ptr<Formulation> {
            if (options.contains("early") && options.at("early") == 0.0) return whole_schur(model);
            return std::make_unique<Schur>(model);
          }};
}

}  // namespace linkwork
