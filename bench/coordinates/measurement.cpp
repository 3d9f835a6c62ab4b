#include "bench/coordinates/measurement.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <ctime>
#include <map>

#include "linkwork/integrators/catalog.h"
#include "linkwork/io/model_file.h"

namespace linkwork::bench {
namespace {

constexpr int kStates = 16;
constexpr int kStepsBetween = 8;  // of the motion that gives the states
constexpr double kSampleSeconds = 2e-3;

double seconds() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

/// Time this thread has computed: other work on the machine does not count, though it warms no caches either.
double busy_seconds() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

Model library_model(const std::string& name, long n, const std::string& coordinates) {
  ReadOptions options;
  if (n > 0) options.set.emplace_back("n", std::to_string(n));
  Spec spec = read_model_file(std::string(LINKWORK_SOURCE_DIR) + "/models/" + name + ".toml", options);
  spec.settings.coordinates = parse_choice(coordinates, {});
  spec.settings.stabilization = {"none", {}, {}};
  spec.settings.integrator = {"rk4", {}, {}};
  spec.settings.end = spec.settings.output_every = spec.settings.step;
  return build_model(spec);
}

double quantile(std::vector<double> values, double fraction) {
  std::ranges::sort(values);
  const double at = fraction * static_cast<double>(values.size() - 1);
  const auto below = static_cast<std::size_t>(at);
  const auto above = std::min(below + 1, values.size() - 1);
  return values[below] + (at - static_cast<double>(below)) * (values[above] - values[below]);
}

}  // namespace

Subject::Subject(const std::string& model, long n, const std::string& coordinates)
    : model_(library_model(model, n, coordinates)), simulation_(model_) {}

std::optional<std::string> Subject::prepare(const std::string& asked) {
  // One step of a run tells which coordinates are at work: what is measured must not pass for something else.
  const Summary summary = simulation_.run();
  if (!summary.completed) return summary.status;
  if (const std::string name = parse_choice(asked, {}).name; name != "auto" && name != summary.coordinates)
    return "it runs in the coordinates " + summary.coordinates;
  EquationsOfMotion& equations = simulation_.equations();
  const auto rk4 = make_chosen(integrators(), model_.settings.integrator, "integrator", solved());
  Moment now = simulation_.moment(), next = now;
  VecX<double> rates;
  const double h = model_.settings.step;
  while (states_.size() < kStates) {
    for (int k = 0; k < kStepsBetween; ++k) {
      if (Status status = equations.evaluate(now, rates); !status.ok()) return status.trouble;
      if (Status status = rk4->step(equations, now, rates, h, next); !status.ok()) return status.trouble;
      std::swap(now, next);
    }
    unpack(now, solved().tree.nq, solved().tree.nv, states_.emplace_back());
  }
  const double begin = busy_seconds();
  if (auto trouble = evaluate_all()) return trouble;
  passes_ = std::max(1, static_cast<int>(std::ceil(kSampleSeconds / std::max(1e-9, busy_seconds() - begin))));
  return {};
}

std::optional<std::string> Subject::evaluate_all() {
  for (State& state : states_)
    if (Status status = simulation_.equations().evaluate(state, rates_); !status.ok()) return status.trouble;
  return {};
}

std::optional<std::string> Subject::sample() {
  if (auto trouble = evaluate_all()) return trouble;  // warms the caches
  const double begin = busy_seconds();
  for (int pass = 0; pass < passes_; ++pass)
    if (auto trouble = evaluate_all()) return trouble;
  const int evaluations = passes_ * kStates;
  samples_.push_back((busy_seconds() - begin) / evaluations);
  evaluations_ += evaluations;
  return {};
}

Timing Subject::timing() const {
  return {quantile(samples_, 0.5), quantile(samples_, 0.25), quantile(samples_, 0.75), evaluations_};
}

namespace {

/// What setting a size up may take, from the sizes before: with the power of n seen between the last two, or with the cube.
double expected_setup(const std::vector<const Result*>& before, long n) {
  if (before.empty()) return 0.0;
  const Result& last = *before.back();
  const auto ratio = [](long a, long b) { return static_cast<double>(a) / static_cast<double>(b); };
  double power = 3.0;
  if (before.size() > 1) {
    const Result& other = *before[before.size() - 2];
    power = std::clamp(std::log(last.setup_seconds / other.setup_seconds) / std::log(ratio(last.n, other.n)), 1.0, 3.0);
  }
  return last.setup_seconds * std::pow(ratio(n, last.n), power);
}

Result set_up(const Family& family, long n, const std::string& coordinates, const std::vector<const Result*>& before,
              const Plan& plan) {
  Result result{family.model, n, coordinates, nullptr, "", 0.0};
  if (const double expected = expected_setup(before, n); expected > plan.setup_limit) {
    result.skipped = fmt::format("n = {} took {:.3g} s to prepare, this one may take {:.3g} s; the limit is {:g} s",
                                 before.back()->n, before.back()->setup_seconds, expected, plan.setup_limit);
    return result;
  }
  const double begin = seconds();
  try {
    auto subject = std::make_unique<Subject>(family.model, n, coordinates);
    if (auto trouble = subject->prepare(coordinates))
      result.skipped = *trouble;
    else
      result.subject = std::move(subject);
  } catch (const InputError& error) {
    result.skipped = error.what();
  }
  result.setup_seconds = seconds() - begin;
  return result;
}

}  // namespace

std::vector<Result> measure(const Family& family, const Plan& plan) {
  std::vector<Result> results;
  results.reserve(family.sizes.size() * plan.coordinates.size());  // pointers to them stay good
  std::map<std::string, std::vector<const Result*>> prepared;      // by coordinates
  for (long n : family.sizes)
    for (const std::string& coordinates : plan.coordinates) {
      results.push_back(set_up(family, n, coordinates, prepared[coordinates], plan));
      if (results.back().subject) prepared[coordinates].push_back(&results.back());
    }
  for (int round = 0; round < plan.rounds; ++round)
    for (Result& result : results) {
      if (!result.subject) continue;
      if (auto trouble = result.subject->sample()) {
        result.skipped = *trouble;
        result.subject.reset();
      }
    }
  return results;
}

std::vector<Growth> growth(const Family& family, const std::vector<Result>& results) {
  std::map<std::string, std::vector<std::pair<double, double>>> points;  // log n, log time
  for (const Result& result : results)
    if (result.subject && result.n >= std::max(1L, family.fit_from))
      points[result.coordinates].emplace_back(std::log(static_cast<double>(result.n)), std::log(result.subject->timing().median));
  std::vector<Growth> found;
  for (const auto& [coordinates, xy] : points) {
    if (xy.size() < 2) continue;
    double x = 0.0, y = 0.0, xx = 0.0, xy_sum = 0.0;
    const auto count = static_cast<double>(xy.size());
    for (const auto& [a, b] : xy) x += a / count, y += b / count;
    for (const auto& [a, b] : xy) xx += (a - x) * (a - x), xy_sum += (a - x) * (b - y);
    found.push_back({family.model, coordinates, std::lround(std::exp(xy.front().first)), std::lround(std::exp(xy.back().first)),
                     xy_sum / xx});
  }
  return found;
}

}  // namespace linkwork::bench
