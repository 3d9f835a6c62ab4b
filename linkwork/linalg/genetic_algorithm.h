#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "linkwork/spatial/vector.h"

namespace linkwork {

struct GeneticOptions {
  int bits = 16;            // a variable; at most 32
  int population = 100;     // even
  int trials = 6400;        // evaluations of the objective a run
  double crossover = 0.6;   // probability that a pair exchanges a segment
  double mutation = 0.001;  // probability that a bit flips
  double pressure = 2.0;    // expected offspring of the best; 1: no selection
  std::uint64_t seed = 1;
  int threads = 1;
};

/// Minimizes a function of a few variables in a box by a generational genetic algorithm, as [Wu1997] chapter 5 does with the
/// package of [Schraudolph1992]: variables are Gray-coded bit strings, parents are drawn by rank with stochastic universal
/// sampling [Baker1987], pairs exchange a segment between two random points, bits flip now and then, and the best ever seen
/// survives.
///
/// Every pair draws from its own random stream, so the result depends on the seed and not on the number of threads.
class GeneticAlgorithm {
 public:
  /// Called from several threads at a time if there are several. Must not throw.
  using Objective = std::function<double(std::span<const double>)>;

  /// After a generation: evaluations in this run so far, and the best so far.
  struct Progress {
    long trials = 0;
    double value = 0.0;
    VecX<double> x;
  };

  GeneticAlgorithm(int variables, const GeneticOptions& options);
  ~GeneticAlgorithm();

  /// One run in the box centre +- half_range. The centre is one of the first candidates, so the result is never worse than it.
  void run(const Objective& objective, const VecX<double>& centre, const VecX<double>& half_range);

  const VecX<double>& best() const { return best_; }
  double best_value() const { return best_value_; }
  /// Of the last run, a record a generation.
  std::span<const Progress> history() const { return {history_.data(), generations_}; }

 private:
  class Team;
  struct Individual {
    std::vector<std::uint32_t> genes;  // a variable each
    double value = 0.0;
    bool changed = true;
  };

  void start_population();
  void select();
  void breed(int pair, std::uint64_t stream);
  void evaluate(Individual& individual, std::span<double> x) const;
  long take_stock();
  void decode(const Individual& individual, std::span<double> x) const;
  template <class Job>
  void for_each_pair(const Job& job);

  int variables_;
  GeneticOptions options_;
  std::unique_ptr<Team> team_;
  std::vector<Individual> population_, parents_;
  std::vector<int> order_;                // by value, then: the chosen parents in mating order
  std::vector<std::vector<double>> x_;    // scratch, a thread each
  const Objective* objective_ = nullptr;  // during a run
  VecX<double> lower_, width_;
  Individual elite_;
  VecX<double> best_;
  double best_value_ = 0.0;
  std::vector<Progress> history_;
  std::size_t generations_ = 0;
  std::uint64_t runs_ = 0;
};

/// Runs that shrink the box about the best candidate: where the best lies inside, its range is divided by `shrink`; where it lies
/// at the border, the range is kept and only moves. `centre` and `half_range` are those of the next run on return. `after`, if
/// given, is called after each run.
void shrinking_search(GeneticAlgorithm& algorithm, const GeneticAlgorithm::Objective& objective, int runs, double shrink,
                      VecX<double>& centre, VecX<double>& half_range,
                      const std::function<void(const GeneticAlgorithm&)>& after = {});

}  // namespace linkwork
