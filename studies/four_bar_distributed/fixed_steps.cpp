#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "studies/four_bar_distributed/parts.h"

namespace linkwork::studies::four_bar_distributed {
namespace {

constexpr std::array<const char*, 3> kAngles{"theta", "alpha", "phi"};

/// The angles of the links from the x axis; the model has alpha from link 1.
using Angles = std::array<std::vector<double>, 3>;

Angles angles(const ModuleRun& run) {
  Angles result{run["q.left.theta"], run["q.left.alpha"], run["q.right.phi"]};
  for (std::size_t i = 0; i < result[0].size(); ++i) result[1][i] += result[0][i];
  return result;
}

ModuleRun fixed_run(const StudyContext& context, const std::string& glue, double step, bool with_torque = true) {
  Spec spec = four_bar(context, glue);
  spec.settings.integrator = {"ode5", {}, {}};
  spec.settings.step = step;
  if (!with_torque) spec.forces.clear();
  return run_modules(spec, workers(context));
}

ModuleRun benchmark(StudyContext& context) {
  context.progress("benchmark");
  Spec spec = four_bar(context, "none");
  spec.settings.integrator = {"ode5", {}, {}};
  spec.settings.step = 1e-4;
  spec.settings.stabilization = {"projection", {}, {}};
  return run_modules(spec);
}

/// A method with one value of its parameter.
struct Curve {
  double parameter;
  ModuleRun run;
  std::array<std::vector<double>, 3> errors = {};  // of the angles
  std::array<double, 3> worst = {};

  double pin() const { return run.summary.modules->sticky; }
  double pin_until(double end) const {
    const std::vector<double> t = run["t"], error = run["error.position"];
    double most = 0.0;
    for (std::size_t i = 0; i < t.size() && t[i] <= end; ++i) most = std::max(most, error[i]);
    return most;
  }
};

void hold_against(Curve& curve, const Angles& reference) {
  const Angles own = angles(curve.run);
  for (std::size_t k = 0; k < own.size(); ++k) {
    for (std::size_t i = 0; i < std::min(own[k].size(), reference[k].size()); ++i)
      curve.errors[k].push_back(own[k][i] - reference[k][i]);
    curve.worst[k] = largest(curve.errors[k]);
  }
}

void draw(Part& part, const std::string& figure, const std::string& method, const std::string& parameter,
          const std::vector<Curve>& curves) {
  for (std::size_t k = 0; k < kAngles.size(); ++k) {
    Figure drawn{fmt::format("{}: {}, error of {}", figure, method, kAngles[k]), "t (s)", "rad", false, true};
    for (const Curve& curve : curves)
      drawn.series.push_back({fmt::format("{} = {:g}", parameter, curve.parameter), curve.run["t"], visible(curve.errors[k])});
    part.figures.push_back(std::move(drawn));
  }
}

double worst_angle(const Curve& curve) { return *std::ranges::max_element(curve.worst); }

void judge_angles(Part& part, const std::vector<Curve>& a, const std::vector<Curve>& b) {
  int falling = 0;
  for (std::size_t k = 0; k < kAngles.size(); ++k) falling += a.back().worst[k] < a.front().worst[k];
  part.claims.push_back(
      {"stiffer", "The errors of all three angles go down as k goes up (method A)", "Fig. 5",
       fmt::format("{} of 3 are smaller with k = 1e6 than with k = 100: the largest {:.2g} rad against {:.2g} rad", falling,
                   worst_angle(a.back()), worst_angle(a.front())),
       falling == 3 ? Holds::kYes : Holds::kNo, "angles that are lost altogether cannot tell"});
  const double least = std::ranges::min(a, {}, worst_angle).worst[0];
  part.claims.push_back({"never-small", "They cannot be made smaller than 1e-3 unless k exceeds 1e6", "1e-3",
                         fmt::format("error of theta at least {:.2g} rad with every k up to 1e6", least),
                         least > 1e-3 ? Holds::kYes : Holds::kNo,
                         "errors grow with time: the linkage turns over and speeds up, and a short run does not show it"});
  const double worst = worst_angle(std::ranges::max(b, {}, worst_angle));
  part.claims.push_back({"projection-accurate", "The errors of method B stay well below 1e-3 for almost every sigma", "< 1e-3",
                         fmt::format("at most {:.1e} rad", worst), worst < 1e-3 ? Holds::kYes : Holds::kNo,
                         "the steps are too long for how fast the linkage turns at the end"});
  part.claims.push_back(
      {"sigma-helps", "A larger sigma keeps the errors smaller", "Section 7.1",
       fmt::format("{:.1e} rad with sigma = {:g}, {:.1e} rad with sigma = {:g}", worst_angle(b.front()), b.front().parameter,
                   worst_angle(b.back()), b.back().parameter),
       worst_angle(b.back()) < worst_angle(b.front()) ? Holds::kYes : Holds::kNo,
       "errors of the motion along the constraints, which sigma does not act on, are larger than those across"});
}

void judge_pin(StudyContext& context, Part& part, const std::vector<Curve>& a, const std::vector<Curve>& b) {
  constexpr double kEarly = 1.5;  // s
  double worst = 0.0, early = 0.0, coasting = 0.0;
  for (const Curve& curve : b) {
    worst = std::max(worst, curve.pin());
    early = std::max(early, curve.pin_until(kEarly));
    context.progress(fmt::format("fixed steps without torque, sigma = {:g}", curve.parameter));
    coasting = std::max(coasting, fixed_run(context, projection(curve.parameter), 1e-3, false).summary.modules->sticky);
  }
  const auto is_of_order = [](double value, double order) { return value < 10.0 * order; };
  part.claims.push_back({"fixed-projection", "Method B holds the pin to about 1e-12 m, whatever sigma is", "about 1e-12 m",
                         fmt::format("{:.1e} m in the whole run, {:.1e} m in its first {} s, {:.1e} m without the torque", worst,
                                     early, kEarly, coasting),
                         is_of_order(worst, 1e-12) ? Holds::kYes : Holds::kNo,
                         "the torque makes the crank turn faster and faster, until a step of 1 ms is no longer short"});
  const Curve& stiffest = a.back();
  part.claims.push_back(
      {"fixed-compliance", "Method A comes down to 1e-3 m with k = 1e6 N/m", "1e-3 m",
       fmt::format("{:.1e} m in the whole run, {:.1e} m in its first {} s", stiffest.pin(), stiffest.pin_until(kEarly), kEarly),
       is_of_order(stiffest.pin(), 1e-3) ? Holds::kYes : Holds::kNo,
       "the error is the force in the pin divided by k, and that force grows with the square of the speed"});
  part.claims.push_back({"incomparable", "Springs never come near the errors of the projection", "Section 7.3",
                         fmt::format("{:.0e} times as large in the whole run", stiffest.pin() / worst),
                         stiffest.pin() > 1e3 * worst ? Holds::kYes : Holds::kNo, "both errors grow with the speed"});
}

}  // namespace

void fixed_steps(StudyContext& context, StudyResult& result) {
  const ModuleRun exact = benchmark(context);
  const Angles reference = angles(exact);
  Part& first = result.add_part("Section 7.1: the benchmark",
                                "The four-bar of Table 1 in one piece, by the fifth-order method ode5 with steps of 0.1 ms and "
                                "projection onto the constraints. (The paper eliminates two angles by hand.)");
  Figure figure{"Fig. 4: the three angles", "t (s)", "rad"};
  for (std::size_t k = 0; k < kAngles.size(); ++k) figure.series.push_back({kAngles[k], exact["t"], reference[k]});
  first.figures.push_back(std::move(figure));

  std::vector<Curve> a, b;
  for (const double k : {1e2, 1e3, 1e4, 1e5, 1e6}) {
    context.progress(fmt::format("fixed steps, k = {:g}", k));
    a.push_back({k, fixed_run(context, compliance(k), k > 5e5 ? 1e-4 : 1e-3)});
  }
  for (const double sigma : {10.0, 20.0, 30.0, 40.0, 50.0, 60.0}) {
    if (context.quick && std::fmod(sigma, 20.0) > 0.0 && sigma > 10.0) continue;
    context.progress(fmt::format("fixed steps, sigma = {:g}", sigma));
    b.push_back({sigma, fixed_run(context, projection(sigma), 1e-3)});
  }
  for (std::vector<Curve>* curves : {&a, &b})
    for (Curve& curve : *curves) hold_against(curve, reference);

  Part& absolute = result.add_part(
      "Section 7.1: errors of the angles",
      "Both methods with their modules on two threads, fixed steps of 1 ms of ode5 (0.1 ms for k = 1e6 N/m, as the paper found "
      "necessary). Springs have no dampers, as published.");
  draw(absolute, "Fig. 5", "compliance", "k", a);
  draw(absolute, "Fig. 6", "projection", "sigma", b);
  judge_angles(absolute, a, b);

  Part& pin = result.add_part("Section 7.3: the error of the pin with fixed steps",
                              "The same runs: the case for real time and hardware in the loop. Verdicts are about whole runs.");
  Figure of_a{"Fig. 10a: compliance, error of the pin", "t (s)", "m", false, true},
      of_b{"Fig. 10b: projection, error of the pin", "t (s)", "m", false, true};
  for (const Curve& curve : a)
    of_a.series.push_back({fmt::format("k = {:g}", curve.parameter), curve.run["t"], visible(curve.run["error.position"])});
  for (const Curve& curve : b)
    of_b.series.push_back({fmt::format("sigma = {:g}", curve.parameter), curve.run["t"], visible(curve.run["error.position"])});
  pin.figures = {of_a, of_b};
  judge_pin(context, pin, a, b);
}

}  // namespace linkwork::studies::four_bar_distributed
