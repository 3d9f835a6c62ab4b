#include "linkwork/formulations/whole_schur.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>

#include "linkwork/dynamics/partitioned_solution.h"
#include "linkwork/tree/aba.h"
#include "linkwork/tree/rnea.h"

namespace linkwork {

namespace {

/// With M^-1 = F' D^-1 F of the articulated-body recursion and U = F A',
/// (1)  W = A M^-1 A' = U' D^-1 U,   W lambda = b - U' D^-1 u,   u = F (tau - c)
/// (2)  vdot = F' D^-1 (u + U lambda)
/// The columns of A' are carried to the ground: those of a loop cancel where it ends, but what articulated bodies make of them
/// does not. W is formed block by block, where two closures share joints, and factored once. Dependent rows get lambda = 0. Where
/// a joint moves no inertia, or rows are not met, the equations are solved by partitioned_solution.h.
class WholeSchur : public Formulation {
 public:
  explicit WholeSchur(const Model& model)
      : m_(model.row_count()),
        W_(MatX<double>::Zero(m_, m_)),
        scale_(VecX<double>::Zero(m_)),
        missed_(scale_),
        sizes_(scale_),
        added_(scale_),
        u_(VecX<double>::Zero(model.tree.nv)),
        change_(u_),
        partition_(model) {
    std::size_t longest = 0, largest = 0;
    for (const ForceColumns& group : layout_of(model)->groups) {
      longest = std::max(longest, group.support().size() * static_cast<std::size_t>(group.columns()));
      std::vector<int> nodes = group.seed_nodes();
      nodes.push_back(0);
      const ForceColumns& a = to_ground_.emplace_back(model.tree, nodes, group.seed_dofs(), group.columns());
      for (std::size_t j = 0; j < to_ground_.size(); ++j) {
        largest = std::max(largest, static_cast<std::size_t>(a.columns() * to_ground_[j].columns()));
        auto common = common_support(a, to_ground_[j]);
        if (!common.empty()) blocks_.push_back({to_ground_.size() - 1, j, std::move(common)});
      }
    }
    rows_.resize(longest);
    block_.resize(largest);
    kept_.resize(static_cast<std::size_t>(m_));
  }

  Status solve(System& system, Solution& solution) override {
    if (solve_by_recursion(system, solution) && is_solved(system, solution)) return {};
    partition_.partition().forget();
    partition_.update(system);
    return partition_.solve(system, system.terms().b, "schur", solution);
  }

 private:
  static constexpr double kWeak = 1e-4;       // pivots above it lose no digits that matter
  static constexpr double kEnough = 1e-12;    // of what rows miss
  static constexpr double kAccepted = 1e-11;  // if rounding does not allow for more
  static constexpr double kInVain = 1e-6;     // what dependent rows may ask for, off the constraints

  struct Block {
    std::size_t i, j;
    std::vector<std::pair<int, int>> common;
  };

  /// False if a joint moves no inertia.
  bool solve_by_recursion(System& system, Solution& solution) {
    const Tree& tree = system.tree();
    TreeWork<double>& work = system.work();
    ConstraintTerms& terms = system.terms();
    update_bias_wrenches(tree, work);
    aba_backward(tree, work);
    if (work.massless_node != 0) return false;
    missed_.setZero();
    for (std::size_t g = 0; g < terms.groups.size(); ++g) {
      ForceColumns& loop = terms.groups[g];
      loop.reduce(tree, work);
      for (int c = 0; c < loop.columns(); ++c) scale_[terms.first_rows[g] + c] = loop.scale(c);
      copy(loop, to_ground_[g]);
      to_ground_[g].reduce(tree, work);
      to_ground_[g].add_weighted_dot(work.u, missed_.data() + terms.first_rows[g]);
    }
    missed_ = terms.b - missed_;
    form(terms);
    factor(solution);
    solution.lambda.setZero();
    solution.vdot.setZero();
    add_solution(system, work.u, solution);
    return true;
  }

  static void copy(const ForceColumns& from, ForceColumns& to) {
    for (int c = 0; c < from.columns(); ++c) {
      for (std::size_t s = 0; s < from.seed_nodes().size(); ++s)
        to.wrench(static_cast<int>(s), c) = from.wrench(static_cast<int>(s), c);
      for (std::size_t s = 0; s < from.seed_dofs().size(); ++s)
        to.force(static_cast<int>(s), c) = from.force(static_cast<int>(s), c);
    }
  }

  /// (1)
  void form(const ConstraintTerms& terms) {
    for (const Block& b : blocks_) {
      const ForceColumns &rows = to_ground_[b.i], &columns = to_ground_[b.j];
      weighted_product(rows, columns, b.common, block_.data());
      const Eigen::Map<const Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>> block(
          block_.data(), rows.columns(), columns.columns());
      W_.block(terms.first_rows[b.i], terms.first_rows[b.j], rows.columns(), columns.columns()) = block;
      W_.block(terms.first_rows[b.j], terms.first_rows[b.i], columns.columns(), rows.columns()) = block.transpose();
    }
  }

  /// The Cholesky factor over a largest independent set of rows (rank.h). All of them, usually, as its own pivots then tell.
  void factor(Solution& solution) {
    kept_.resize(static_cast<std::size_t>(m_));
    std::iota(kept_.begin(), kept_.end(), 0);
    std::ranges::fill(solution.dependent, char{0});
    llt_.compute(W_);
    double weakest = llt_.info() == Eigen::Success ? 1.0 : 0.0;
    for (int k = 0; k < m_ && weakest > 0.0; ++k)
      weakest = std::min(weakest, scale_[k] > 0.0 ? llt_.matrixLLT()(k, k) * llt_.matrixLLT()(k, k) / scale_[k] : 0.0);
    solution.rank = {m_, weakest};
    if (weakest > kWeak) return;
    gram_ = W_;
    const auto size = static_cast<std::size_t>(m_);
    solution.rank = ranked_inverse({gram_.data(), size * size}, m_, {scale_.data(), size}, solution.dependent);
    std::erase_if(kept_, [&](int row) { return solution.dependent[static_cast<std::size_t>(row)] != 0; });
    gram_ = W_(kept_, kept_);
    llt_.compute(gram_);
  }

  /// Adds the lambda that takes away missed_, and (2) with the given u besides.
  void add_solution(System& system, const VecX<double>& u, Solution& solution) {
    const ConstraintTerms& terms = system.terms();
    reduced_ = missed_(kept_);
    llt_.solveInPlace(reduced_);
    added_.setZero();
    added_(kept_) = reduced_;
    u_ = u;
    for (std::size_t g = 0; g < terms.groups.size(); ++g)
      to_ground_[g].add_reduced_times(added_.data() + terms.first_rows[g], u_);
    aba_forward(system.tree(), system.work(), u_, change_);
    solution.vdot += change_;
    solution.lambda += added_;
  }

  /// Holds the solution against the rows, and solves once more for what they miss.
  bool is_solved(System& system, Solution& solution) {
    for (int round = 0;; ++round) {
      const auto [by_kept, by_dependent] = find_missed(system, solution);
      solution.inconsistency = 0.0;
      for (int row = 0; row < m_; ++row)
        if (solution.dependent[static_cast<std::size_t>(row)])
          solution.inconsistency = std::max(solution.inconsistency, std::abs(missed_[row]));
      if (by_dependent > kInVain) return false;
      if (by_kept <= kEnough || (round == 2 && by_kept <= kAccepted)) return true;
      if (round == 2) return false;
      change_.setZero();
      add_solution(system, VecX<double>::Zero(u_.size()), solution);
    }
  }

  /// missed_ = b - A vdot, and the most that kept and dependent rows miss, relative to the largest of all rows' terms.
  std::pair<double, double> find_missed(System& system, const Solution& solution) {
    const ConstraintTerms& terms = system.terms();
    missed_ = terms.b;
    sizes_ = terms.b.cwiseAbs();
    for (std::size_t g = 0; g < terms.groups.size(); ++g) {
      const ForceColumns& group = terms.groups[g];
      group.write_rows(system.tree(), system.work(), rows_.data());
      for (std::size_t i = 0; i < group.support().size(); ++i)
        for (int c = 0; c < group.columns(); ++c) {
          const double term = rows_[i * static_cast<std::size_t>(group.columns()) + static_cast<std::size_t>(c)] *
                              solution.vdot[group.support()[i]];
          missed_[terms.first_rows[g] + c] -= term;
          sizes_[terms.first_rows[g] + c] += std::abs(term);
        }
    }
    const VecX<double>& unit = system.model().units.row;
    double size = std::pow(system.model().speed(system.state().v), 2), kept = 0.0, dependent = 0.0;
    for (int row = 0; row < m_; ++row) {
      size = std::max(size, sizes_[row] / unit[row]);
      double& most = solution.dependent[static_cast<std::size_t>(row)] ? dependent : kept;
      most = std::max(most, std::abs(missed_[row]) / unit[row]);
    }
    return {kept / size, dependent / size};
  }

  int m_;
  std::vector<ForceColumns> to_ground_;
  std::vector<Block> blocks_;
  std::vector<double> rows_, block_;
  MatX<double> W_, gram_;
  VecX<double> scale_, missed_, sizes_, added_, reduced_, u_, change_;
  std::vector<int> kept_;
  Eigen::LLT<MatX<double>> llt_;
  PartitionedSolution partition_;
};

}  // namespace

std::unique_ptr<Formulation> whole_schur(const Model& model) { return std::make_unique<WholeSchur>(model); }

}  // namespace linkwork
