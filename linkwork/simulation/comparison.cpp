#include "linkwork/simulation/comparison.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <new>

#include "linkwork/integrators/catalog.h"
#include "linkwork/simulation/configuration_distance.h"
#include "linkwork/simulation/design_fit.h"
#include "linkwork/simulation/simulation.h"

namespace linkwork {

namespace {

using Outcome = ComparisonRow::Outcome;
using Clock = std::chrono::steady_clock;

/// The joint coordinates of a run at its output times.
struct Samples {
  std::vector<double> times;
  std::vector<double> values;
  std::size_t width = 0;

  std::span<const double> at(std::size_t i) const { return {values.data() + i * width, width}; }
};

/// How a run went.
struct Trial {
  Outcome outcome = Outcome::kRan;
  std::string reason;
  Summary summary;
  Samples samples;
};

using StepObserver = std::function<void(double fraction)>;

/// Picks the joint coordinates out of output rows, by name: other coordinates of the system may bring other columns.
class Sampler {
 public:
  Sampler(const std::vector<std::string>& columns, const std::vector<std::string>& wanted) {
    for (const std::string& name : wanted)
      indices_.push_back(static_cast<std::size_t>(std::ranges::find(columns, name) - columns.begin()));
    samples.width = wanted.size();
  }
  void add(std::span<const double> row) {
    samples.times.push_back(row[0]);
    for (std::size_t i : indices_) samples.values.push_back(i < row.size() ? row[i] : ComparisonRow::kUnknown);
  }
  Samples samples;

 private:
  std::vector<std::size_t> indices_;
};

Trial simulate(const Spec& spec, const ConfigurationDistance& distance, double most_seconds, const StepObserver& on_step) {
  Trial trial;
  try {
    const Model model = fitted_model(spec);
    Simulation simulation(model);
    Sampler sampler(simulation.columns(), distance.columns());
    const Clock::time_point deadline =
        Clock::now() + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(most_seconds));
    bool in_time = true;
    trial.summary = simulation.run({.row = [&](std::span<const double> row) { sampler.add(row); },
                                    .progress = [&](double t, double end) { on_step(t / end); },
                                    .go_on = [&] { return in_time = Clock::now() < deadline; }});
    trial.samples = std::move(sampler.samples);
    if (!trial.summary.completed) {
      trial.outcome = in_time ? Outcome::kStopped : Outcome::kTooLong;
      trial.reason = in_time ? trial.summary.status
                             : fmt::format("took longer than {:.6g} s; it came to t = {:.6g} s", most_seconds,
                                           trial.summary.simulated_seconds);
    }
  } catch (const InputError& error) {
    trial.outcome = Outcome::kRefused;
    trial.reason = error.message();
  } catch (const std::bad_alloc&) {
    trial.outcome = Outcome::kRefused;
    trial.reason = "it needs more memory than there is";
  }
  return trial;
}

struct Deviation {
  double value = 0.0;
  double time = 0.0;
  std::string coordinate;
};

Deviation largest_deviation(const ConfigurationDistance& distance, const Samples& samples, const Samples& reference) {
  Deviation worst;
  const std::size_t common = std::min(samples.times.size(), reference.times.size());
  for (std::size_t i = 0; i < common; ++i) {
    const ConfigurationDistance::Largest at = distance.between(samples.at(i), reference.at(i));
    if (at.value <= worst.value) continue;  // false for NaN
    worst = {at.value, samples.times[i], std::string(at.coordinate)};
    if (std::isnan(at.value)) break;
  }
  return worst;
}

double largest_coordinate(const Samples& samples) {
  double largest = 1.0;
  for (double value : samples.values) largest = std::max(largest, std::abs(value));
  return largest;
}

bool is_adaptive(const Model& model, const Choice& integrator) {
  try {
    const auto made = make_chosen(integrators(), integrator, "integrator", model);
    return made->estimates_error() || made->controls_step();
  } catch (const InputError&) {
    return false;
  }
}

/// What a reference is made of: a solution and a less tight one of the same kind, whose difference bounds its error.
struct ReferenceMethod {
  Settings tight, loose;
};

std::string in_words(const Settings& settings, const std::string& formulation, bool adaptive) {
  const std::string pace = adaptive ? fmt::format("rtol {:.3g}, atol {:.3g}", settings.rtol, settings.atol)
                                    : fmt::format("steps of {:.4g} s", settings.step);
  return fmt::format("{}, {}, {} ({})", formulation, written(settings.stabilization), written(settings.integrator), pace);
}

class Comparing {
 public:
  Comparing(std::span<const Problem> problems, const ComparisonPlan& plan,
            const std::function<void(const ComparisonProgress&)>& progress)
      : problems_(problems), plan_(plan), progress_(progress) {}

  Comparison run() {
    result_.model = problems_.front().spec.name;
    result_.end = problems_.front().spec.settings.end;
    for (const Problem& problem : problems_) models_.push_back(fitted_model(problem.spec));
    for (std::size_t i = 0; i < problems_.size(); ++i) plan_runs(i);
    for (std::size_t i = 0; i < problems_.size(); ++i) {
      const ConfigurationDistance distance(models_[i]);
      const Samples reference = make_reference(i, distance);
      for (const Run& run : runs_)
        if (run.problem == i) result_.rows.push_back(measure(run, distance, reference));
    }
    return std::move(result_);
  }

 private:
  struct Run {
    std::size_t problem;
    Settings settings;
    bool adaptive;
  };

  template <class T>
  static std::vector<T> listed_or(const std::vector<T>& list, const T& fallback) {
    return list.empty() ? std::vector<T>{fallback} : list;
  }

  void plan_runs(std::size_t problem) {
    Settings settings = problems_[problem].spec.settings;
    const std::vector<double> steps = listed_or(plan_.steps, settings.step);
    settings.output_every = result_.every = plan_.every.value_or(sampling_interval(settings.end, steps));
    const std::vector<Tolerance> tolerances = listed_or(plan_.tolerances, {settings.rtol, settings.atol});
    for (const Choice& coordinates : listed_or(plan_.coordinates, settings.coordinates))
      for (const Choice& formulation : listed_or(plan_.formulations, settings.formulation))
        for (const Choice& stabilization : listed_or(plan_.stabilizations, settings.stabilization))
          for (const Choice& integrator : listed_or(plan_.integrators, settings.integrator)) {
            Run run{problem, settings, is_adaptive(models_[problem], integrator)};
            run.settings.coordinates = coordinates;
            run.settings.formulation = formulation;
            run.settings.stabilization = stabilization;
            run.settings.integrator = integrator;
            add_paces(run, steps, tolerances);
          }
  }

  void add_paces(Run& run, const std::vector<double>& steps, const std::vector<Tolerance>& tolerances) {
    if (run.adaptive)
      for (const Tolerance& tolerance : tolerances) {
        run.settings.rtol = tolerance.rtol;
        run.settings.atol = tolerance.atol;
        runs_.push_back(run);
      }
    else
      for (double step : steps) {
        run.settings.step = step;
        runs_.push_back(run);
      }
  }

  /// About a hundred times, if possible at the ends of every fixed step, so that no interpolation blurs the errors.
  static double sampling_interval(double end, const std::vector<double>& steps) {
    constexpr double kTimes = 100.0;
    constexpr int kMostMultiples = 1000;
    const double longest = *std::ranges::max_element(steps);
    const auto suits = [](double interval) {
      return [interval](double step) { return std::abs(interval / step - std::round(interval / step)) < 1e-9 * interval / step; };
    };
    const int first = std::max(1, static_cast<int>(std::ceil(end / kTimes / longest * (1.0 - 1e-12))));
    for (int i = first; i < first + kMostMultiples && i * longest <= end; ++i)
      if (std::ranges::all_of(steps, suits(i * longest))) return i * longest;
    return end / kTimes;
  }

  void show(const std::string& what, double fraction) {
    if (progress_)
      progress_({(static_cast<double>(done_) + fraction) / static_cast<double>(runs_.size() + problems_.size()), what});
  }

  std::vector<ReferenceMethod> reference_methods(const Problem& problem) const {
    Settings base = problem.spec.settings;
    base.output_every = result_.every;
    base.coordinates = {"auto", {}, {}};
    base.formulation = {"auto", {}, {}};
    base.stabilization = {"projection", {}, {}};
    const std::vector<double> steps = listed_or(plan_.steps, base.step);
    const double finest = std::min(base.step, *std::ranges::min_element(steps));
    std::vector<Choice> integrators{{"dopri45", {}, {}}, {"rk4", {}, {}}};
    if (plan_.reference) integrators = {*plan_.reference};
    std::vector<ReferenceMethod> methods;
    for (const Choice& integrator : integrators) {
      Settings tight = base;
      tight.integrator = integrator;
      tight.rtol = plan_.reference_rtol;
      tight.atol = 1e-2 * plan_.reference_rtol;
      tight.step = finest / 8.0;
      Settings loose = tight;
      loose.rtol *= 10.0;
      loose.atol *= 10.0;
      loose.step *= 2.0;
      methods.push_back({tight, loose});
    }
    return methods;
  }

  /// The first solution that is good enough, else the best. Adaptive steps come first: they find out by themselves what is tight.
  Samples make_reference(std::size_t index, const ConfigurationDistance& distance) {
    const Problem& problem = problems_[index];
    constexpr double kGoodEnough = 1e-7;
    ReferenceReport best;
    best.problem = problem.label;
    Samples samples;
    for (const ReferenceMethod& method : reference_methods(problem)) {
      const auto solve = [&](const Settings& settings, double start) {
        Spec spec = problem.spec;
        spec.settings = settings;
        return simulate(spec, distance, 10.0 * plan_.most_seconds,
                        [&](double fraction) { show("reference", start + 0.5 * fraction); });
      };
      Trial loose = solve(method.loose, 0.0);
      Trial tight = loose.outcome == Outcome::kRan ? solve(method.tight, 0.5) : std::move(loose);
      const bool adaptive = is_adaptive(models_[index], method.tight.integrator);
      if (tight.outcome != Outcome::kRan) {
        if (samples.times.empty())
          best.trouble +=
              fmt::format("{}{}: {}", best.trouble.empty() ? "" : "; ", written(method.tight.integrator), tight.reason);
        continue;
      }
      const double error = largest_deviation(distance, loose.samples, tight.samples).value;
      if (samples.times.empty() || error < best.estimated_error) {
        best = {.problem = problem.label,
                .method = in_words(method.tight, tight.summary.formulation, adaptive),
                .check = adaptive ? fmt::format("rtol {:.3g}", method.loose.rtol)
                                  : fmt::format("steps of {:.4g} s", method.loose.step),
                .estimated_error = error,
                .evaluations = tight.summary.evaluations,
                .wall_seconds = tight.summary.wall_seconds,
                .trouble = {}};
        samples = std::move(tight.samples);
      }
      if (best.estimated_error <= kGoodEnough) break;
    }
    ++done_;
    result_.references.push_back(std::move(best));
    return samples;
  }

  ComparisonRow measure(const Run& run, const ConfigurationDistance& distance, const Samples& reference) {
    ComparisonRow row;
    row.problem = problems_[run.problem].label;
    row.coordinates = written(run.settings.coordinates);
    row.formulation = written(run.settings.formulation);
    row.stabilization = written(run.settings.stabilization);
    row.integrator = written(run.settings.integrator);
    row.adaptive = run.adaptive;
    (run.adaptive ? row.rtol : row.step) = run.adaptive ? run.settings.rtol : run.settings.step;
    if (run.adaptive) row.atol = run.settings.atol;

    if (const ComparisonRow* slower = coarser_one_that_took_too_long(row)) {
      row.outcome = Outcome::kTooLong;
      row.reason = fmt::format("not tried: with {} it took too long already", slower->pace());
      ++done_;
      return row;
    }
    Spec spec = problems_[run.problem].spec;
    spec.settings = run.settings;
    const std::string what = fmt::format("{} ({})", row.method(), row.pace());
    const auto on_step = [&](double fraction) { show(what, fraction); };
    const Trial trial = simulate(spec, distance, plan_.most_seconds, on_step);
    if (trial.outcome == Outcome::kTooLong) too_long_.push_back(row);
    fill(row, trial, distance, reference);
    if (row.ran()) time_again(row, spec, distance);
    ++done_;
    return row;
  }

  const ComparisonRow* coarser_one_that_took_too_long(const ComparisonRow& row) const {
    const auto is_coarser = [&](const ComparisonRow& other) {
      return other.problem == row.problem && other.method() == row.method() &&
             (row.adaptive ? other.rtol >= row.rtol : other.step >= row.step);
    };
    const auto found = std::ranges::find_if(too_long_, is_coarser);
    return found == too_long_.end() ? nullptr : &*found;
  }

  static void fill(ComparisonRow& row, const Trial& trial, const ConfigurationDistance& distance, const Samples& reference) {
    const Summary& summary = trial.summary;
    row.outcome = trial.outcome;
    row.reason = trial.reason;
    if (row.outcome == Outcome::kRefused) return;
    // What "auto" stood for, and what was chosen because the model's own choice does not go with the formulation.
    if (row.coordinates == "auto") row.coordinates = summary.coordinates;
    if (row.formulation == "auto") row.formulation = summary.formulation;
    if (!row.stabilization.starts_with(summary.stabilization)) row.stabilization = summary.stabilization;
    row.steps = summary.steps;
    row.rejected_steps = summary.rejected_steps;
    row.evaluations = summary.evaluations;
    row.simulated_seconds = summary.simulated_seconds;
    row.wall_seconds = summary.wall_seconds;
    row.position_error = summary.position_error_max;
    row.velocity_error = summary.velocity_error_max;
    row.energy_drift = summary.energy_drift;
    row.repeats = 1;
    if (!row.ran() || reference.times.empty()) return;
    const Deviation worst = largest_deviation(distance, trial.samples, reference);
    row.error = worst.value;
    row.error_coordinate = worst.coordinate;
    row.error_time = worst.time;
    constexpr double kFarAway = 100.0;  // times the size of the motion
    if (worst.value <= kFarAway * largest_coordinate(reference)) return;
    row.outcome = Outcome::kDiverged;
    row.reason = fmt::format("diverged: {} is off by {:.3g} at t = {:.6g} s", worst.coordinate, worst.value, worst.time);
  }

  /// Short runs are at the mercy of whatever else the machine does.
  void time_again(ComparisonRow& row, const Spec& spec, const ConfigurationDistance& distance) const {
    double measured = row.wall_seconds;
    while (measured < plan_.timing_seconds && row.repeats < plan_.most_repeats) {
      const double again = simulate(spec, distance, plan_.most_seconds, [](double) {}).summary.wall_seconds;
      row.wall_seconds = std::min(row.wall_seconds, again);
      measured += again;
      ++row.repeats;
    }
  }

  std::span<const Problem> problems_;
  const ComparisonPlan& plan_;
  const std::function<void(const ComparisonProgress&)>& progress_;
  std::vector<Model> models_;
  std::vector<Run> runs_;
  std::vector<ComparisonRow> too_long_;  // as they were planned
  std::size_t done_ = 0;
  Comparison result_;
};

}  // namespace

std::string ComparisonRow::pace() const { return adaptive ? fmt::format("rtol {:.3g}", rtol) : fmt::format("step {:.6g}", step); }

std::string ComparisonRow::method() const {
  return fmt::format("{}, {}, {}, {}", coordinates, formulation, stabilization, integrator);
}

std::string_view name_of(ComparisonRow::Outcome outcome) {
  switch (outcome) {
    case Outcome::kRan:
      return "ran";
    case Outcome::kRefused:
      return "refused";
    case Outcome::kStopped:
      return "stopped";
    case Outcome::kDiverged:
      return "diverged";
    case Outcome::kTooLong:
      return "too long";
  }
  return "";
}

bool Comparison::has_references() const {
  return std::ranges::all_of(references, [](const ReferenceReport& r) { return r.trouble.empty(); });
}
bool Comparison::any_ran() const { return std::ranges::any_of(rows, &ComparisonRow::ran); }

Comparison compare(std::span<const Problem> problems, const ComparisonPlan& plan,
                   const std::function<void(const ComparisonProgress&)>& progress) {
  return problems.empty() ? Comparison{} : Comparing(problems, plan, progress).run();
}

std::string written(const Choice& choice) {
  std::string text = choice.name;
  char separator = ':';
  for (const auto& [option, value] : choice.options) {
    text += fmt::format("{}{}={:.6g}", separator, option, value);
    separator = ',';
  }
  return text;
}

}  // namespace linkwork
