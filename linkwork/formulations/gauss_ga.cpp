#include <fmt/format.h>

#include <Eigen/Cholesky>
#include <algorithm>
#include <cmath>
#include <vector>

#include "linkwork/coordinates/loop_elimination.h"
#include "linkwork/formulations/catalog.h"
#include "linkwork/linalg/genetic_algorithm.h"
#include "linkwork/tree/aba.h"
#include "linkwork/tree/rnea.h"

namespace linkwork {

namespace {

struct SearchOptions {
  double weight;  // of the constraints
  bool principal_axes;
  double shrink;
  int first_runs, later_runs;
  double first_range, later_range;  // along the coordinates
};

/// Gauss' principle of least constraint as an optimization, [Wu1997] chapter 5: a minimizes
/// (1)  Z = 1/2 (a - a_f)' M (a - a_f) + w |A a - b|^2
/// found by a genetic algorithm in boxes that shrink about the best candidate, from the accelerations of the evaluation before.
/// Rows need not be independent. In the coordinates themselves, as there, the algorithm finds the bottom of the narrow valley
/// A a = b and does not move along it, unless the constraints happen to act along single coordinates. So candidates are encoded
/// along axes in which the valley is round:
/// (2)  a = a_0 + L^-T y,  L L' = M + 2 w A' A,  hence  Z = Z_min + 1/2 |y - y_min|^2,  |y_min|^2 <= 2 Z(a_0)
/// The multipliers are those whose forces come closest, in the metric of M^-1, to what the accelerations found would need:
/// (3)  A M^-1 A' lambda = A (a - a_f)
class GaussPrinciple : public Formulation {
 public:
  GaussPrinciple(const Model& model, const SearchOptions& search, const GeneticOptions& genetic)
      : n_(model.tree.nv), m_(model.row_count()), search_(search), algorithm_(n_, genetic), loops_(cut_loops(model)) {
    free_ = change_ = y_ = VecX<double>::Zero(n_);
    rhs_ = VecX<double>::Zero(m_);
    a_ = before_ = half_range_ = VecX<double>::Zero(n_);
    if (search.principal_axes)
      objective_ = [this](std::span<const double> y) { return along_axes(y); };
    else
      objective_ = [this](std::span<const double> a) { return least_constraint(a.data()); };
  }

  Status solve(System& system, Solution& solution) override {
    const Tree& tree = system.tree();
    TreeWork<double>& work = system.work();
    update_bias_wrenches(tree, work);
    aba_backward(tree, work);
    if (work.massless_node != 0)
      return {fmt::format("formulation 'gauss-ga' needs inertia at every joint of the tree, and '{}' moves none; use 'lagrange'",
                          system.model().node_name(work.massless_node))};
    aba_forward(tree, work, work.u, free_);
    M_ = &system.mass_matrix();
    A_ = &system.jacobian();
    b_ = &system.terms().b;
    before_ = a_;
    if (search_.principal_axes)
      search_along_axes();
    else
      search_along_coordinates();
    if (!first_) change_ = a_ - before_;
    first_ = false;
    solution.vdot = a_;
    if (m_ > 0) find_multipliers(system, solution);
    return {};
  }

 private:
  /// (1)
  double least_constraint(const double* a) const {
    double gauss = 0.0, penalty = 0.0;
    for (Eigen::Index j = 0; j < n_; ++j) {
      double row = 0.0;
      for (Eigen::Index i = 0; i < n_; ++i) row += (*M_)(i, j) * (a[i] - free_[i]);
      gauss += row * (a[j] - free_[j]);
    }
    for (Eigen::Index i = 0; i < m_; ++i) {
      double error = -(*b_)[i];
      for (Eigen::Index j = 0; j < n_; ++j) error += (*A_)(i, j) * a[j];
      penalty += error * error;
    }
    return 0.5 * gauss + search_.weight * penalty;
  }

  double along_axes(std::span<const double> y) const {
    thread_local std::vector<double> a;
    a.resize(y.size());
    for (Eigen::Index i = 0; i < n_; ++i) {
      double sum = before_[i];
      for (Eigen::Index j = i; j < n_; ++j) sum += axes_(i, j) * y[static_cast<std::size_t>(j)];
      a[static_cast<std::size_t>(i)] = sum;
    }
    return least_constraint(a.data());
  }

  int runs() const { return first_ ? search_.first_runs : search_.later_runs; }

  /// The first box holds the minimum for sure, by (2). Later the bound is sharper: the minimum is near that of the evaluation
  /// before, so the box need only cover what Z has risen since; a minimum outside is followed.
  void search_along_axes() {
    hessian_ = *M_;
    hessian_.noalias() += 2.0 * search_.weight * A_->transpose() * *A_;
    llt_.compute(hessian_);
    axes_.setIdentity(n_, n_);
    llt_.matrixU().solveInPlace(axes_);
    const double value = least_constraint(before_.data());
    const double risen = first_ ? value : std::max(value - least_, 1e-6 * value);
    half_range_.setConstant(std::sqrt(2.0 * risen));
    y_.setZero();
    if (risen > 0.0) shrinking_search(algorithm_, objective_, runs(), search_.shrink, y_, half_range_);
    a_ = before_;
    a_.noalias() += axes_ * y_;
    least_ = least_constraint(a_.data());
  }

  void search_along_coordinates() {
    if (first_)
      half_range_.setConstant(search_.first_range);
    else
      half_range_ = (2.0 * change_.cwiseAbs()).cwiseMax(search_.later_range);
    shrinking_search(algorithm_, objective_, runs(), search_.shrink, a_, half_range_);
  }

  /// (3)
  void find_multipliers(System& system, Solution& solution) {
    beyond_free_ = solution.vdot - free_;
    rhs_.noalias() = *A_ * beyond_free_;
    loops_.inward_unforced(system.tree(), system.work(), system.terms().groups, rhs_);
    loops_.outward(system.tree(), system.work(), beyond_free_, solution.lambda);
    solution.rank = loops_.rank();
    std::ranges::copy(loops_.dependent(), solution.dependent.begin());
  }

  int n_, m_;
  SearchOptions search_;
  GeneticAlgorithm algorithm_;
  GeneticAlgorithm::Objective objective_;
  LoopElimination loops_;
  const MatX<double>* M_ = nullptr;
  const MatX<double>* A_ = nullptr;
  const VecX<double>* b_ = nullptr;
  MatX<double> hessian_, axes_;  // axes_ = L^-T
  Eigen::LLT<MatX<double>> llt_;
  VecX<double> free_;  // a_f
  VecX<double> a_, before_, change_, y_, half_range_, beyond_free_, rhs_;
  double least_ = 0.0;  // Z at the evaluation before
  bool first_ = true;
};

}  // namespace

CatalogEntry<Formulation> gauss_ga_formulation() {
  return {
      {"gauss-ga",
       "Gauss' principle of least constraint by a genetic algorithm; approximate, and slow",
       "Wu1997",
       {{"weight", 1e6, "of the constraints against Gauss' constraint", numbers_above(0.0)},
        {"axes", 1, "what the bits encode: 1 principal axes of the problem, 0 the coordinates", kYesOrNo},
        {"bits", 16, "bits per axis", whole_numbers(1.0, 32.0)},
        {"population", 100, "candidates per generation", whole_numbers(2.0, 1e6)},
        {"trials", 6400, "candidates tried per run", whole_numbers(1.0)},
        {"crossover", 0.6, "probability that a pair exchanges a segment of bits", numbers_between(0.0, 1.0)},
        {"mutation", 0.001, "probability that a bit flips", numbers_between(0.0, 1.0)},
        {"runs", 2, "runs of the algorithm per evaluation, each in a smaller box", whole_numbers(1.0, 1e6)},
        {"first_runs", 5, "the same at the first evaluation", whole_numbers(1.0, 1e6)},
        {"range", 1, "axes = 0: least half width of the first box about the accelerations of the evaluation before",
         numbers_above(0.0)},
        {"first_range", 50, "axes = 0: half width of the first box about zero, at the first evaluation", numbers_above(0.0)},
        {"shrink", 5, "factor by which each box is smaller than the one before", numbers_from(1.0)},
        {"seed", 1, "of the random numbers", whole_numbers(0.0, 0x1p53)},
        {"threads", 1, "threads that try candidates; the result does not depend on their number", whole_numbers(1.0, 256.0)}}},
      [](const Model& model, const Options& options) {
        const auto number = [&](const char* name) { return static_cast<int>(options.at(name)); };
        GeneticOptions genetic;
        genetic.bits = number("bits");
        genetic.population = number("population");
        genetic.trials = number("trials");
        genetic.crossover = options.at("crossover");
        genetic.mutation = options.at("mutation");
        genetic.seed = static_cast<std::uint64_t>(options.at("seed"));
        genetic.threads = number("threads");
        const SearchOptions search{.weight = options.at("weight"),
                                   .principal_axes = options.at("axes") != 0.0,
                                   .shrink = options.at("shrink"),
                                   .first_runs = number("first_runs"),
                                   .later_runs = number("runs"),
                                   .first_range = options.at("first_range"),
                                   .later_range = options.at("range")};
        return std::make_unique<GaussPrinciple>(model, search, genetic);
      },
      {.exact = false}};
}

}  // namespace linkwork
