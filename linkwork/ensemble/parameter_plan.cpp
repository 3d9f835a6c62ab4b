#include "linkwork/ensemble/parameter_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

#include "linkwork/ensemble/random_numbers.h"
#include "linkwork/model/expression.h"

namespace linkwork {
namespace {

constexpr const char* kGridForm = "NAME=FROM:TO:COUNT, as in mass=1:2:11";
constexpr const char* kSampleForm = "NAME=normal(m,s), NAME=uniform(a,b) or NAME=lognormal(m,s)";

std::string trimmed(const std::string& text) {
  const std::size_t first = text.find_first_not_of(" \t"), last = text.find_last_not_of(" \t");
  return first == text.npos ? std::string() : text.substr(first, last - first + 1);
}

std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> parts(1);
  int depth = 0;
  for (const char c : text) {
    depth += c == '(' ? 1 : c == ')' ? -1 : 0;
    if (c == separator && depth == 0)
      parts.emplace_back();
    else
      parts.back() += c;
  }
  for (std::string& part : parts) part = trimmed(part);
  return parts;
}

long parse_count(const std::string& text, const Place& place) {
  long count = 0;
  const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), count);
  if (error != std::errc() || rest != text.data() + text.size() || count < 1)
    throw InputError(place, fmt::format("the count is '{}'", text), "a whole number, 1 or more");
  return count;
}

GridRange parse_grid(const std::string& text) {
  const auto [name, rest] = parse_named(text, "--grid", kGridForm);
  const Place place{"--grid " + text, 0, 0};
  const std::vector<std::string> parts = split(rest, ':');
  if (parts.size() != 3) throw InputError(place, fmt::format("'{}' is no range", rest), kGridForm);
  GridRange range{name, parse_plan_number(parts[0], place, "FROM"), parse_plan_number(parts[1], place, "TO"),
                  parse_count(parts[2], place)};
  if (!std::isfinite(range.to - range.from)) throw InputError(place, "the range is too wide for numbers", "closer bounds");
  if (range.count > 1 && range.from == range.to)
    throw InputError(place, fmt::format("all {} values are {}", range.count, range.from), "bounds that differ, or a count of 1");
  return range;
}

SampledParameter parse_sample(const std::string& text) {
  using Kind = SampledParameter::Kind;
  static const std::array<std::pair<std::string, Kind>, 3> kKinds{
      {{"normal", Kind::kNormal}, {"uniform", Kind::kUniform}, {"lognormal", Kind::kLognormal}}};
  const auto [name, rest] = parse_named(text, "--sample", kSampleForm);
  const Place place{"--sample " + text, 0, 0};
  const std::size_t open = rest.find('(');
  if (open == rest.npos || rest.back() != ')') throw InputError(place, fmt::format("'{}' is no distribution", rest), kSampleForm);
  const std::string word = trimmed(rest.substr(0, open));
  const auto* const known = std::ranges::find(kKinds, word, &std::pair<std::string, Kind>::first);
  if (known == kKinds.end()) throw unknown_name(place, "distribution", word, {"normal", "uniform", "lognormal"});
  const std::vector<std::string> numbers = split(rest.substr(open + 1, rest.size() - open - 2), ',');
  if (numbers.size() != 2)
    throw InputError(place, fmt::format("{} is given {} number{}", word, numbers.size(), numbers.size() == 1 ? "" : "s"),
                     "two, with a comma between");
  SampledParameter made{name, known->second, parse_plan_number(numbers[0], place, "the first number"),
                        parse_plan_number(numbers[1], place, "the second number")};
  if (made.kind == Kind::kUniform && !(made.first < made.second && std::isfinite(made.second - made.first)))
    throw InputError(place, fmt::format("{} is not below {}", made.first, made.second), "uniform(low,high)");
  if (made.kind != Kind::kUniform && !(made.second > 0.0))
    throw InputError(place, fmt::format("the deviation is {}", made.second), "a number above 0");
  return made;
}

}  // namespace

double parse_plan_number(const std::string& text, const Place& place, const std::string& what) {
  if (text.empty()) throw InputError(place, what + " is missing", "a number");
  double value = 0.0;
  try {
    value = Expression::parse(text, {}, Variables::kNone, {}).constant_value();
  } catch (const InputError& error) {
    throw InputError(place, fmt::format("{} is '{}': {}", what, text, error.message()));
  }
  if (!std::isfinite(value)) throw InputError(place, fmt::format("{} is {}", what, value), "a finite number");
  return value;
}

std::pair<std::string, std::string> parse_named(const std::string& text, const char* option, const std::string& form) {
  const std::size_t equals = text.find('=');
  const std::string name = trimmed(text.substr(0, equals));
  const std::string rest = equals == text.npos ? "" : trimmed(text.substr(equals + 1));
  if (name.empty() || rest.empty()) throw InputError({option, 0, 0}, fmt::format("'{}' says nothing", text), form);
  return {name, rest};
}

double GridRange::at(long i) const {
  if (i == 0 || count == 1) return from;
  if (i == count - 1) return to;
  return from + (to - from) * static_cast<double>(i) / static_cast<double>(count - 1);
}

double SampledParameter::at(double p) const {
  switch (kind) {
    case Kind::kUniform:
      return first + (second - first) * p;
    case Kind::kNormal:
      return first + second * normal_quantile(p);
    case Kind::kLognormal:
      break;
  }
  return portable_exp(first + second * normal_quantile(p));
}

const std::vector<std::string>& sampling_names() {
  static const std::vector<std::string> names{"random", "sobol", "latin"};
  return names;
}

Sampling parse_sampling(const std::string& text, const Place& place) {
  const auto found = std::ranges::find(sampling_names(), text);
  if (found == sampling_names().end()) throw unknown_name(place, "sampling", text, sampling_names());
  return static_cast<Sampling>(found - sampling_names().begin());
}

ParameterPlan::ParameterPlan(const std::vector<std::string>& grids, const std::vector<std::string>& sampled, long samples,
                             Sampling sampling, std::uint64_t seed)
    : sampling_(sampling), seed_(seed) {
  for (const std::string& text : grids) {
    grids_.push_back(parse_grid(text));
    add_name(grids_.back().name, "--grid");
  }
  for (const std::string& text : sampled) {
    sampled_.push_back(parse_sample(text));
    add_name(sampled_.back().name, "--sample");
  }
  if (names_.empty())
    throw InputError({}, "there is nothing to vary", fmt::format("--grid {}; or --sample {}", kGridForm, kSampleForm));
  double runs = 1.0;
  for (const GridRange& grid : grids_) runs *= static_cast<double>(grid.count);
  if (!sampled_.empty()) {
    if (samples < 1) throw InputError({"--runs", 0, 0}, "it is not said how many samples there are to be", "--runs N, 1 or more");
    if (sampling == Sampling::kSobol && sampled_.size() > static_cast<std::size_t>(kSobolDimensions))
      throw InputError({"--sampling", 0, 0}, fmt::format("{} parameters are sampled", sampled_.size()),
                       fmt::format("at most {} with sobol; latin takes any number", kSobolDimensions));
    samples_ = samples;
    runs *= static_cast<double>(samples);
  }
  if (!(runs <= static_cast<double>(kMostRuns)))
    throw InputError({}, fmt::format("these are {:.4g} runs", runs), fmt::format("at most {}", kMostRuns));
  runs_ = static_cast<long>(runs);
}

void ParameterPlan::add_name(const std::string& name, const char* option) {
  if (std::ranges::find(names_, name) != names_.end())
    throw InputError({option, 0, 0}, fmt::format("the parameter '{}' is varied twice", name), "each of them once");
  names_.push_back(name);
}

double ParameterPlan::probability(std::size_t parameter, long sample) const {
  const auto index = static_cast<std::uint64_t>(sample);
  switch (sampling_) {
    case Sampling::kSobol:
      return sobol_number(seed_, static_cast<int>(parameter), index);
    case Sampling::kLatin: {
      // Each of `samples` layers of equal probability has one sample, somewhere within it.
      const std::uint64_t layer = shuffled(seed_, parameter, index, static_cast<std::uint64_t>(samples_));
      const double p = (static_cast<double>(layer) + uniform_number(seed_, parameter, index)) / static_cast<double>(samples_);
      return std::min(p, 0x1.fffffffffffffp-1);  // the sum may have been rounded up
    }
    case Sampling::kRandom:
      break;
  }
  return uniform_number(seed_, parameter, index);
}

std::vector<double> ParameterPlan::values(long run) const {
  std::vector<double> values(names_.size());
  const long sample = run % samples_;
  long point = run / samples_;
  for (std::size_t g = grids_.size(); g-- > 0;) {
    values[g] = grids_[g].at(point % grids_[g].count);
    point /= grids_[g].count;
  }
  for (std::size_t s = 0; s < sampled_.size(); ++s) values[grids_.size() + s] = sampled_[s].at(probability(s, sample));
  return values;
}

}  // namespace linkwork
