#include "linkwork/linalg/genetic_algorithm.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>
#include <numeric>
#include <stdexcept>
#include <thread>
#include <utility>

namespace linkwork {

namespace {

/// SplitMix64 [Steele2014]: any starting value gives a stream of its own, which costs nothing to set up.
class RandomStream {
 public:
  RandomStream(std::uint64_t seed, std::uint64_t stream) : state_(seed * 0x9e3779b97f4a7c15u) { state_ ^= mixed(stream); }
  std::uint64_t next() { return mixed(state_ += 0x9e3779b97f4a7c15u); }
  double uniform() { return static_cast<double>(next() >> 11) * 0x1p-53; }  // in [0, 1)
  int below(int n) { return static_cast<int>(uniform() * n); }

 private:
  static std::uint64_t mixed(std::uint64_t z) {
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
  }
  std::uint64_t state_;
};

std::uint32_t to_gray(std::uint32_t x) { return x ^ (x >> 1); }
std::uint32_t from_gray(std::uint32_t gray) {
  for (int shift = 16; shift > 0; shift /= 2) gray ^= gray >> shift;
  return gray;
}

/// Exchanges bits [from, to) of two genomes of `bits` a gene.
void exchange(std::vector<std::uint32_t>& a, std::vector<std::uint32_t>& b, int bits, int from, int to) {
  for (int gene = from / bits; gene * bits < to; ++gene) {
    const int first = std::max(from - gene * bits, 0), last = std::min(to - gene * bits, bits);
    const auto mask = static_cast<std::uint32_t>(((std::uint64_t{1} << last) - 1) ^ ((std::uint64_t{1} << first) - 1));
    const auto g = static_cast<std::size_t>(gene);
    const std::uint32_t difference = (a[g] ^ b[g]) & mask;
    a[g] ^= difference;
    b[g] ^= difference;
  }
}

/// Flips each bit with the given probability, by drawing the gaps between flips. Returns whether any flipped.
bool mutate(std::vector<std::uint32_t>& genes, int bits, double probability, RandomStream& random) {
  if (!(probability > 0.0)) return false;
  const double length = static_cast<double>(genes.size()) * bits;
  const double scale = 1.0 / std::log1p(-std::min(probability, 0.999999));
  bool any = false;
  for (double at = std::floor(std::log1p(-random.uniform()) * scale); at < length;
       at += 1.0 + std::floor(std::log1p(-random.uniform()) * scale)) {
    const int bit = static_cast<int>(at);
    genes[static_cast<std::size_t>(bit / bits)] ^= std::uint32_t{1} << (bit % bits);
    any = true;
  }
  return any;
}

}  // namespace

/// Threads that wait for the next piece of work.
class GeneticAlgorithm::Team {
 public:
  explicit Team(int threads) {
    for (int index = 1; index < threads; ++index) workers_.emplace_back([this, index] { serve(index); });
  }
  ~Team() {
    job_ = nullptr;
    round_.fetch_add(1);
    round_.notify_all();
    for (std::thread& worker : workers_) worker.join();
  }
  Team(const Team&) = delete;
  Team& operator=(const Team&) = delete;

  int size() const { return static_cast<int>(workers_.size()) + 1; }

  /// Calls job(index) once a thread, the caller's included, and waits for all.
  void run(const std::function<void(int)>& job) {
    job_ = &job;
    busy_.store(static_cast<int>(workers_.size()));
    round_.fetch_add(1);
    round_.notify_all();
    job(0);
    for (int busy = busy_.load(); busy > 0; busy = busy_.load()) busy_.wait(busy);
  }

 private:
  void serve(int index) {
    for (int seen = 0;;) {
      round_.wait(seen);
      seen = round_.load();
      if (!job_) return;
      (*job_)(index);
      if (busy_.fetch_sub(1) == 1) busy_.notify_all();
    }
  }

  const std::function<void(int)>* job_ = nullptr;
  std::atomic<int> round_{0}, busy_{0};
  std::vector<std::thread> workers_;
};

GeneticAlgorithm::GeneticAlgorithm(int variables, const GeneticOptions& options) : variables_(variables), options_(options) {
  if (options.bits < 1 || options.bits > 32) throw std::invalid_argument("a variable needs 1 to 32 bits");
  options_.population = std::max(2, options.population + options.population % 2);
  team_ = std::make_unique<Team>(std::clamp(options.threads, 1, options_.population / 2));
  const auto size = static_cast<std::size_t>(options_.population);
  population_.resize(size);
  for (Individual& individual : population_) individual.genes.resize(static_cast<std::size_t>(variables));
  parents_ = population_;
  elite_ = population_.front();
  order_.resize(size);
  x_.assign(static_cast<std::size_t>(team_->size()), std::vector<double>(static_cast<std::size_t>(variables)));
  best_ = VecX<double>::Zero(variables);
}

GeneticAlgorithm::~GeneticAlgorithm() = default;

template <class Job>
void GeneticAlgorithm::for_each_pair(const Job& job) {
  const int pairs = options_.population / 2, threads = team_->size();
  const auto work = [&](int thread) {
    for (int pair = thread * pairs / threads; pair < (thread + 1) * pairs / threads; ++pair) job(pair, thread);
  };
  if (threads == 1)
    work(0);
  else
    team_->run(work);
}

void GeneticAlgorithm::decode(const Individual& individual, std::span<double> x) const {
  const double steps = std::ldexp(1.0, options_.bits);
  for (std::size_t i = 0; i < x.size(); ++i) {
    const auto j = static_cast<Eigen::Index>(i);
    x[i] = lower_[j] + width_[j] * (static_cast<double>(from_gray(individual.genes[i])) / steps);
  }
}

void GeneticAlgorithm::evaluate(Individual& individual, std::span<double> x) const {
  if (!individual.changed) return;
  decode(individual, x);
  const double value = (*objective_)(x);
  individual.value = std::isnan(value) ? std::numeric_limits<double>::infinity() : value;
}

/// Random candidates, and the centre.
void GeneticAlgorithm::start_population() {
  RandomStream random(options_.seed, runs_ << 32);
  for (Individual& individual : population_) {
    for (std::uint32_t& gene : individual.genes) gene = static_cast<std::uint32_t>(random.next() >> (64 - options_.bits));
    individual.changed = true;
  }
  std::ranges::fill(population_.front().genes, to_gray(std::uint32_t{1} << (options_.bits - 1)));
  for_each_pair([&](int pair, int thread) {
    for (int side = 0; side < 2; ++side)
      evaluate(population_[static_cast<std::size_t>(2 * pair + side)], x_[static_cast<std::size_t>(thread)]);
  });
}

/// Parents in proportion to their rank: expected offspring fall linearly from `pressure` of the best to 2 - pressure of the
/// worst. One random number serves the whole population (stochastic universal sampling), then the parents are shuffled.
void GeneticAlgorithm::select() {
  const int size = options_.population;
  RandomStream random(options_.seed, (runs_ << 32) + (static_cast<std::uint64_t>(generations_) << 12));
  std::iota(order_.begin(), order_.end(), 0);
  std::ranges::sort(order_, [&](int a, int b) {
    const double x = population_[static_cast<std::size_t>(a)].value, y = population_[static_cast<std::size_t>(b)].value;
    return x != y ? x < y : a < b;
  });
  const double pressure = std::clamp(options_.pressure, 1.0, 2.0);
  double pointer = random.uniform(), sum = 0.0;
  std::size_t chosen = 0;
  for (int rank = 0; rank < size; ++rank) {
    sum += pressure - 2.0 * (pressure - 1.0) * rank / (size - 1);
    for (; pointer < sum && chosen < parents_.size(); pointer += 1.0)
      parents_[chosen++] = population_[static_cast<std::size_t>(order_[static_cast<std::size_t>(rank)])];
  }
  while (chosen < parents_.size()) parents_[chosen++] = population_[static_cast<std::size_t>(order_[0])];
  for (int i = size - 1; i > 0; --i)
    std::swap(parents_[static_cast<std::size_t>(i)], parents_[static_cast<std::size_t>(random.below(i + 1))]);
  std::swap(population_, parents_);
}

void GeneticAlgorithm::breed(int pair, std::uint64_t stream) {
  RandomStream random(options_.seed, stream);
  Individual& a = population_[static_cast<std::size_t>(2 * pair)];
  Individual& b = population_[static_cast<std::size_t>(2 * pair + 1)];
  a.changed = b.changed = false;
  if (random.uniform() < options_.crossover && a.genes != b.genes) {
    const int length = variables_ * options_.bits;
    const auto [from, to] = std::minmax({random.below(length + 1), random.below(length + 1)});
    exchange(a.genes, b.genes, options_.bits, from, to);
    a.changed = b.changed = from < to;
  }
  for (Individual* child : {&a, &b})
    if (mutate(child->genes, options_.bits, options_.mutation, random)) child->changed = true;
}

/// Counts the evaluations of the generation, keeps the best ever, and puts it back in place of the worst if it was lost.
long GeneticAlgorithm::take_stock() {
  const auto by_value = [](const Individual& a, const Individual& b) { return a.value < b.value; };
  const auto [best, worst] = std::minmax_element(population_.begin(), population_.end(), by_value);
  if (generations_ == 0 || best->value < elite_.value)
    elite_ = *best;
  else if (best->value > elite_.value)
    *worst = elite_;
  decode(elite_, {best_.data(), static_cast<std::size_t>(best_.size())});
  best_value_ = elite_.value;
  return std::ranges::count_if(population_, &Individual::changed);
}

void GeneticAlgorithm::run(const Objective& objective, const VecX<double>& centre, const VecX<double>& half_range) {
  objective_ = &objective;
  lower_ = centre - half_range;
  width_ = 2.0 * half_range;
  ++runs_;
  generations_ = 0;
  start_population();
  long trials = 0, unfruitful = 0;
  for (;;) {
    const long tried = take_stock();
    trials += tried;
    unfruitful = tried == 0 ? unfruitful + 1 : 0;
    if (history_.size() == generations_) history_.push_back({trials, best_value_, best_});
    history_[generations_] = {trials, best_value_, best_};
    ++generations_;
    constexpr long kAllAlike = 100;  // nothing new for so long: the population has converged and bits do not flip
    if (trials >= options_.trials || unfruitful >= kAllAlike) return;
    select();
    const std::uint64_t streams = (runs_ << 32) + (static_cast<std::uint64_t>(generations_) << 12) + 1;
    for_each_pair([&](int pair, int thread) {
      breed(pair, streams + static_cast<std::uint64_t>(pair));
      for (int side = 0; side < 2; ++side)
        evaluate(population_[static_cast<std::size_t>(2 * pair + side)], x_[static_cast<std::size_t>(thread)]);
    });
  }
}

void shrinking_search(GeneticAlgorithm& algorithm, const GeneticAlgorithm::Objective& objective, int runs, double shrink,
                      VecX<double>& centre, VecX<double>& half_range, const std::function<void(const GeneticAlgorithm&)>& after) {
  constexpr double kBorder = 0.9;
  for (int i = 0; i < runs; ++i) {
    algorithm.run(objective, centre, half_range);
    for (Eigen::Index j = 0; j < centre.size(); ++j) {
      const bool inside = std::abs(algorithm.best()[j] - centre[j]) < kBorder * half_range[j];
      centre[j] = algorithm.best()[j];
      if (inside) half_range[j] /= shrink;
    }
    if (after) after(algorithm);
  }
}

}  // namespace linkwork
