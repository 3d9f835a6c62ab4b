#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "linkwork/model/input_error.h"

namespace linkwork {

/// The values FROM, ..., TO of a parameter, evenly spaced.
struct GridRange {
  std::string name;
  double from = 0.0, to = 0.0;
  long count = 1;

  double at(long i) const;
};

/// A parameter with a distribution: normal(mean, deviation), uniform(low, high), or lognormal(mean, deviation) of its logarithm.
struct SampledParameter {
  enum class Kind { kNormal, kUniform, kLognormal };
  std::string name;
  Kind kind = Kind::kUniform;
  double first = 0.0, second = 1.0;

  /// The value that is not exceeded with probability p.
  double at(double p) const;
};

enum class Sampling { kRandom, kSobol, kLatin };
const std::vector<std::string>& sampling_names();  // in that order
Sampling parse_sampling(const std::string& text, const Place& place);

/// A number or an expression of numbers and units, "90*deg", that must be finite. `what` stands in the message.
double parse_plan_number(const std::string& text, const Place& place, const std::string& what);
/// "NAME=REST". `form` is what is expected, in messages.
std::pair<std::string, std::string> parse_named(const std::string& text, const char* option, const std::string& form);

/// The parameters of every run of an ensemble. Each point of the grid is run with each of the samples, which are the same at all
/// points: what differs between points is due to the grid alone.
class ParameterPlan {
 public:
  static constexpr long kMostRuns = 10'000'000;

  /// Texts NAME=FROM:TO:COUNT and NAME=normal(m,s). `samples` counts only if there are any. Throws InputError, also for more runs
  /// than anyone wants.
  ParameterPlan(const std::vector<std::string>& grids, const std::vector<std::string>& sampled, long samples, Sampling sampling,
                std::uint64_t seed);

  const std::vector<GridRange>& grids() const { return grids_; }
  const std::vector<SampledParameter>& sampled() const { return sampled_; }
  Sampling sampling() const { return sampling_; }
  std::uint64_t seed() const { return seed_; }
  long samples() const { return samples_; }
  const std::vector<std::string>& names() const { return names_; }  // grids first
  long runs() const { return runs_; }
  /// Of the run-th run, from 0, in the order of names(). The last grid varies fastest, but for samples.
  std::vector<double> values(long run) const;

 private:
  void add_name(const std::string& name, const char* option);
  double probability(std::size_t parameter, long sample) const;

  std::vector<GridRange> grids_;
  std::vector<SampledParameter> sampled_;
  std::vector<std::string> names_;
  Sampling sampling_;
  std::uint64_t seed_;
  long samples_ = 1, runs_ = 1;
};

}  // namespace linkwork
