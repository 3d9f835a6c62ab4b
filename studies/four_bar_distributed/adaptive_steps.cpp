#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "studies/four_bar_distributed/parts.h"

namespace linkwork::studies::four_bar_distributed {
namespace {

/// One method over its parameter and the tolerances: steps, rejected ones included, and the largest error of the pin.
struct Sweep {
  std::vector<double> tolerances, parameters;
  std::vector<std::vector<double>> steps, errors;  // by tolerance, then by parameter

  double growth(std::size_t tolerance) const { return steps[tolerance].back() / steps[tolerance].front(); }
  /// The exponent p of steps ~ parameter^p, over the last decade or doubling of the parameter.
  double exponent() const {
    const auto n = parameters.size();
    return std::log(steps.back()[n - 1] / steps.back()[n - 2]) / std::log(parameters[n - 1] / parameters[n - 2]);
  }
};

template <class Glue>
Sweep sweep(StudyContext& context, Part& part, const std::string& letter, const std::string& symbol,
            const std::vector<double>& tolerances, const std::vector<double>& parameters, Glue glue) {
  Sweep result{tolerances, parameters, {}, {}};
  for (const double rtol : tolerances) {
    const bool drawn = rtol == tolerances.front() || rtol == tolerances.back();
    Figure figure{fmt::format("Fig. {}, error of the pin, rtol {:g}", letter, rtol), "t (s)", "m", false, true};
    std::vector<double> steps, errors;
    for (const double parameter : parameters) {
      context.progress(fmt::format("adaptive, rtol {:g}, {} = {:g}", rtol, symbol, parameter));
      Spec spec = four_bar(context, glue(parameter));
      spec.settings.integrator = {"dopri45", {}, {}};
      spec.settings.rtol = rtol;
      spec.settings.atol = 1e-2 * rtol;
      const ModuleRun run = run_modules(spec);
      steps.push_back(static_cast<double>(run.summary.steps + run.summary.rejected_steps));
      errors.push_back(run.summary.modules->sticky);
      figure.series.push_back({fmt::format("{} = {:g}", symbol, parameter), run["t"], visible(run["error.position"])});
    }
    result.steps.push_back(std::move(steps));
    result.errors.push_back(std::move(errors));
    if (drawn) part.figures.push_back(std::move(figure));
  }
  return result;
}

Figure steps_figure(const std::string& title, const std::string& label, bool log, const Sweep& sweep) {
  Figure figure{title, label, "steps", log, log};
  for (std::size_t i = 0; i < sweep.tolerances.size(); ++i)
    figure.series.push_back(
        {fmt::format("rtol {:g}", sweep.tolerances[i]), sweep.parameters, sweep.steps[i], SeriesStyle::kLinePoints});
  return figure;
}

double ratio(const std::vector<double>& values) {
  const auto [low, high] = std::ranges::minmax_element(values);
  return *high / *low;
}

void judge_errors(Part& part, const Sweep& a, const Sweep& b) {
  const double loose = largest(b.errors.front()), tight = largest(b.errors.back());
  part.claims.push_back({"tolerance-projection", "Constraint errors of method B follow the tolerance", "Fig. 7",
                         fmt::format("{:.1e} m at rtol {:g}, {:.1e} m at rtol {:g}, the worst of all sigma", loose,
                                     b.tolerances.front(), tight, b.tolerances.back()),
                         tight < 0.1 * loose ? Holds::kYes : Holds::kNo,
                         "errors are those of the longest step, which is not made by the tolerance alone"});
  const double by_sigma = std::max(ratio(b.errors.front()), ratio(b.errors.back()));
  part.claims.push_back({"sigma-little", "sigma does not significantly affect them", "Fig. 7",
                         fmt::format("by up to {:.1f} times over the range of sigma, at one tolerance", by_sigma),
                         by_sigma < 10.0 ? Holds::kYes : Holds::kNo, "errors decay at the rate sigma"});
  double by_tolerance = 1.0;
  for (std::size_t i = 0; i < a.parameters.size(); ++i)
    by_tolerance = std::max(by_tolerance, ratio({a.errors.front()[i], a.errors.back()[i]}));
  part.claims.push_back({"tolerance-compliance", "Those of method A do not depend on the tolerance", "Fig. 8",
                         fmt::format("by up to {:.1f} times between the two tolerances, at one k", by_tolerance),
                         by_tolerance < 10.0 ? Holds::kYes : Holds::kNo,
                         "springs that ring without damping take up the errors of the loose tolerance"});
  const auto falls = [](const std::vector<double>& errors) { return std::ranges::is_sorted(errors, std::greater<>()); };
  part.claims.push_back({"stiffness-error", "The constraint error drops as k is increased", "Fig. 8",
                         fmt::format("from {:.1e} m with k = {:g} to {:.1e} m with k = {:g} at the tightest tolerance",
                                     a.errors.back().front(), a.parameters.front(), a.errors.back().back(), a.parameters.back()),
                         falls(a.errors.back()) ? Holds::kYes : Holds::kNo, "not from each k to the next"});
  part.claims.push_back({"never-attained", "It never attains that of method B", "Figs. 7, 8",
                         fmt::format("{:.1e} m at least, against {:.1e} m at most at the tightest tolerance",
                                     std::ranges::min(a.errors.back()), tight),
                         std::ranges::min(a.errors.back()) > tight ? Holds::kYes : Holds::kNo,
                         "with stiff enough springs it would"});
}

void judge_steps(Part& part, const Sweep& a, const Sweep& b) {
  part.claims.push_back({"steps-parameter", "Steps increase with the parameter of either method", "Fig. 9",
                         fmt::format("{:.2g} times over the range of k, {:.2g} times over the range of sigma, at the tightest "
                                     "tolerance",
                                     a.growth(a.steps.size() - 1), b.growth(b.steps.size() - 1)),
                         a.growth(a.steps.size() - 1) > 1.1 && b.growth(b.steps.size() - 1) > 1.1 ? Holds::kYes : Holds::kNo,
                         "steps are as short as accuracy needs, until stability asks for shorter ones"});
  const bool linear = std::abs(b.exponent() - 1.0)<0.25, exponential = a.exponent()> 1.0;
  part.claims.push_back(
      {"steps-stiffness", "They increase linearly with sigma, but exponentially with k", "Fig. 9",
       fmt::format("steps grow like k^{:.2f} and sigma^{:.2f} at the end of the range", a.exponent(), b.exponent()),
       linear && exponential   ? Holds::kYes
       : linear || exponential ? Holds::kPartly
                               : Holds::kNo,
       "an explicit method's steps are as short as the fastest oscillation: like the root of k, which looks "
       "exponential over a logarithmic axis; with sigma they grow linearly only where it limits them"});
  const double decades = std::log10(a.tolerances.front() / a.tolerances.back());
  std::vector<double> factors;  // per decade of the tolerance, by k
  for (std::size_t i = 0; i < a.parameters.size(); ++i)
    factors.push_back(std::pow(a.steps.back()[i] / a.steps.front()[i], 1.0 / decades));
  const auto growing = std::ranges::count_if(factors, [](double factor) { return factor > 1.2; });
  part.claims.push_back({"steps-tolerance", "At one k, steps of method A increase exponentially as the tolerance decreases",
                         "Fig. 9",
                         fmt::format("{:.2f} times per decade of the tolerance, for k from {:g} to {:g}",
                                     fmt::join(factors, ", "), a.parameters.front(), a.parameters.back()),
                         growing == std::ssize(factors) ? Holds::kYes
                         : growing > 0                  ? Holds::kPartly
                                                        : Holds::kNo,
                         "where the stiffness of the springs limits the steps the tolerance matters little; else a method of "
                         "order 5 takes 1.6 times "
                         "as many"});
  const double most_b = largest(b.steps.back()), most_a = a.steps.back().back();
  part.claims.push_back({"fewer-steps", "Fewer steps of method B are needed to hold the constraints", "Section 9",
                         fmt::format("at most {:.0f} steps at the tightest tolerance, against {:.0f} with k = {:g}", most_b,
                                     most_a, a.parameters.back()),
                         most_b < most_a ? Holds::kYes : Holds::kNo, "soft springs need few steps, and hold nothing"});
}

}  // namespace

void adaptive_steps(StudyContext& context, StudyResult& result) {
  Part& part = result.add_part("Section 7.2: adaptive steps",
                               "Dormand and Prince's method with relative tolerances of 1e-3 to 1e-6, the common step decided by "
                               "both modules. The steps of a run of the whole duration are counted, rejected ones included; "
                               "errors are the largest of whole runs.");
  const std::vector<double> tolerances =
      context.quick ? std::vector<double>{1e-3, 1e-6} : std::vector<double>{1e-3, 1e-4, 1e-5, 1e-6};
  const std::vector<double> sigmas =
      context.quick ? std::vector<double>{10.0, 60.0} : std::vector<double>{10, 20, 30, 40, 50, 60};
  const Sweep b = sweep(context, part, "7: projection", "sigma", tolerances, sigmas, projection);
  const Sweep a = sweep(context, part, "8: compliance", "k", tolerances, {1e1, 1e2, 1e3, 1e4, 1e5, 1e6}, compliance);
  part.figures.push_back(steps_figure("Fig. 9a: compliance, steps against stiffness", "k (N/m)", true, a));
  part.figures.push_back(steps_figure("Fig. 9b: projection, steps against sigma", "sigma (1/s)", false, b));
  judge_errors(part, a, b);
  judge_steps(part, a, b);
}

}  // namespace linkwork::studies::four_bar_distributed
