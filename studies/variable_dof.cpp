#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "linkwork/dynamics/equations_of_motion.h"
#include "linkwork/formulations/catalog.h"
#include "linkwork/io/model_file.h"
#include "linkwork/simulation/simulation.h"
#include "linkwork/stabilizations/catalog.h"
#include "linkwork/tree/kinematics.h"
#include "studies/catalog.h"

namespace linkwork::studies {
namespace {

using Parameters = std::vector<std::pair<std::string, std::string>>;

/// A run kept in memory.
struct Run {
  std::vector<std::string> columns = {};
  std::vector<std::vector<double>> rows = {};
  Summary summary = {};
};

Spec spec_of(const StudyContext& context, const std::string& model, const Parameters& set = {}) {
  ReadOptions options;
  options.set = set;
  return read_model_file(context.models / (model + ".toml"), options);
}

Run recorded(const Spec& spec) {
  Run run;
  const Model model = build_model(spec);
  Simulation simulation(model);
  run.columns = simulation.columns();
  Observer observer;
  observer.row = [&](std::span<const double> row) { run.rows.emplace_back(row.begin(), row.end()); };
  run.summary = simulation.run(observer);
  return run;
}

std::size_t column(const Run& run, const std::string& name) {
  return static_cast<std::size_t>(std::ranges::find(run.columns, name) - run.columns.begin());
}

Series curve(const Run& run, const std::string& name, const std::string& of, SeriesStyle style = SeriesStyle::kLine,
             double factor = 1.0) {
  Series series{name, {}, {}, style};
  const std::size_t c = column(run, of);
  for (const std::vector<double>& row : run.rows) series.x.push_back(row[0]), series.y.push_back(factor * row[c]);
  return series;
}

/// Largest difference of a column, relative to how far it gets.
double difference(const Run& run, const Run& exact, const std::string& of) {
  const std::size_t c = column(exact, of);
  double worst = 0.0, least = exact.rows[0][c], most = least;
  for (std::size_t i = 0; i < std::min(run.rows.size(), exact.rows.size()); ++i) {
    worst = std::max(worst, std::abs(run.rows[i][c] - exact.rows[i][c]));
    least = std::min(least, exact.rows[i][c]);
    most = std::max(most, exact.rows[i][c]);
  }
  return worst / (most - least);
}

double first_time(const Run& run, const std::string& what) {
  const auto at = std::ranges::find(run.summary.events, what, &EventRecord::what);
  return at == run.summary.events.end() ? std::nan("") : at->t;
}

// The thesis' own rule ----------------------------------------------------------------------------------------------------------

/// The disc counts as rolling while it slips by less than a tolerance, and else is under friction against the slip, decided at
/// every step; no event is looked for.
struct ByTolerance {
  std::vector<double> t = {}, slip = {}, force = {};
  int switches = 0;
};

ByTolerance run_by_tolerance(const Model& model, double tolerance, double step, double end) {
  EquationsOfMotion equations(model, formulations().front().make(model, {}),
                              make_chosen(stabilizations(), {"none", {}, {}}, "stabilization", model));
  const DryFriction& friction = model.frictions.front();
  Simulation start(model);
  State state = start.state();
  Modes modes(model);
  ByTolerance result;
  Derivative k[4];
  State stage = state;
  int last = 0;
  const auto decide = [&](const State& at) {
    System& system = equations.system();
    system.update(at);
    const double slip = system.slip(0)[0];
    const bool rolls = std::abs(slip) < tolerance;
    modes.friction[0].kind = rolls ? Modes::Friction::Kind::kStick : Modes::Friction::Kind::kSlip;
    modes.friction[0].direction = {slip >= 0.0 ? 1.0 : -1.0, 0.0};
    for (int r = 0; r < friction.rows; ++r) modes.rows[static_cast<std::size_t>(friction.first_row + r)] = rolls;
    equations.set_modes(modes);
    return std::pair{rolls ? 0 : slip > 0.0 ? 1 : -1, slip};
  };
  for (long i = 0; state.t < end; ++i) {
    const auto [mode, slip] = decide(state);
    result.switches += i > 0 && mode != last;
    last = mode;
    for (int s = 0; s < 4; ++s) {
      const double share = s == 0 ? 0.0 : s == 3 ? 1.0 : 0.5;
      stage = state;
      if (s > 0) stage.q += share * step * k[s - 1].qdot, stage.v += share * step * k[s - 1].vdot;
      if (!equations.evaluate(stage, k[s]).ok()) return result;
      if (s > 0) continue;
      result.t.push_back(state.t);
      result.slip.push_back(-slip);  // as the thesis counts it: R w - v
      result.force.push_back(equations.solution().lambda[friction.first_row]);
    }
    state.q += step / 6.0 * (k[0].qdot + 2.0 * k[1].qdot + 2.0 * k[2].qdot + k[3].qdot);
    state.v += step / 6.0 * (k[0].vdot + 2.0 * k[1].vdot + 2.0 * k[2].vdot + k[3].vdot);
    state.t = static_cast<double>(i + 1) * step;
  }
  return result;
}

Series thinned(const std::string& name, const std::vector<double>& x, const std::vector<double>& y, SeriesStyle style) {
  Series series{name, {}, {}, style};
  const std::size_t stride = std::max<std::size_t>(1, x.size() / 400);
  for (std::size_t i = 0; i < x.size(); i += stride) series.x.push_back(x[i]), series.y.push_back(y[i]);
  return series;
}

// Example 3
// ----------------------------------------------------------------------------------------------------------------------

void slip_to_roll(StudyContext& context, StudyResult& result) {
  context.progress("slip-to-roll linkage");
  constexpr double kEnd = 0.2;
  Spec spec = spec_of(context, "slip_to_roll");
  spec.settings.end = kEnd;
  spec.settings.output_every = 1e-3;
  const Run run = recorded(spec);
  const Model model = build_model(spec);
  const ByTolerance loose = run_by_tolerance(model, 1e-3, 1e-3, kEnd);
  const ByTolerance strict = run_by_tolerance(model, 1e-6, context.quick ? 2e-6 : 5e-7, kEnd);

  Part& part = result.add_part("From slipping to rolling",
                               "Example 3 of the thesis: a crank and a rod drive, and are driven by, a disc that spins and "
                               "slides on a rough floor until it "
                               "rolls. Its dimensions are not printed; ours make the sliding end at about 0.1 s.\n\n"
                               "Here the end of sliding is an event, found to rounding, at which the row of rolling comes into "
                               "force. The thesis takes the disc "
                               "for rolling while it slips by less than a tolerance, 0.001 or 0.000001 m/s; for that rule the "
                               "steps were 1e-3 s and as fine as "
                               "the tolerance needs.");
  const double end = first_time(run, "sticks");
  part.claims.push_back({"transition", "The constraints change at about 0.1 s", "0.1 s", fmt::format("{:.4f} s", end),
                         verdict(std::abs(end - 0.1) < 0.01), "the dimensions are chosen so"});
  part.claims.push_back({"one-transition", "With events there is one transition and no chatter", "",
                         fmt::format("{} transition, {} degrees of freedom, then {}", run.summary.events.size(), run.summary.dof,
                                     run.summary.events.empty() ? -1 : run.summary.events[0].dof),
                         verdict(run.summary.events.size() == 1 && run.summary.dof == 2), ""});
  double worst = 0.0;
  for (std::size_t i = 0; i < loose.t.size(); ++i)
    if (loose.t[i] > end + 2e-3) worst = std::max(worst, std::abs(loose.slip[i]));
  part.claims.push_back({"loose", "With a loose tolerance the curve fluctuates", "fluctuations",
                         fmt::format("{} switches, slip up to {:.2g} m/s after the transition", loose.switches, worst),
                         verdict(loose.switches > 3), "by the thesis' rule, not with events"});
  double off = 0.0;
  for (std::size_t i = 0; i < strict.t.size(); ++i)
    if (strict.t[i] > end + 1e-4) off = std::max(off, std::abs(strict.slip[i]));
  part.claims.push_back({"strict", "With a strict tolerance it is that of the ideal model", "identical",
                         fmt::format("{} switches, slip up to {:.2g} m/s after the transition", strict.switches, off),
                         verdict(off < 1e-4), "steps as fine as the tolerance asks for"});
  Figure slip{"Slipping turns into rolling (fig. 4.8)", "time (s)", "slip speed (m/s)"};
  slip.series.push_back(thinned("tolerance 0.001", loose.t, loose.slip, SeriesStyle::kLinePoints));
  slip.series.push_back(thinned("tolerance 0.000001", strict.t, strict.slip, SeriesStyle::kDashed));
  slip.series.push_back(curve(run, "event", "s.slip"));
  Figure force{"Force of the floor on the disc (fig. 4.9)", "time (s)", "force along the floor (N)"};
  force.series.push_back(thinned("tolerance 0.001", loose.t, loose.force, SeriesStyle::kLinePoints));
  force.series.push_back(curve(run, "event", "lambda.floor.forward"));
  force.caption = "By the thesis' rule the force jumps to and fro after the transition.";
  part.figures.push_back(std::move(slip));
  part.figures.push_back(std::move(force));
}

// Example 4
// ----------------------------------------------------------------------------------------------------------------------

void driver(StudyContext& context, StudyResult& result) {
  context.progress("constant speed driver");
  const Run damped = recorded(spec_of(context, "constant_speed_driver"));
  const Run undamped = recorded(spec_of(context, "constant_speed_driver", {{"c", "0"}}));
  const Run disturbed = recorded(spec_of(context, "constant_speed_driver", {{"disturbance", "10"}}));
  Part& part = result.add_part("Constant speed driver",
                               "Example 4: a roller on the face of the motor's disc, at a distance x that a governor on the "
                               "machine's shaft changes. While it "
                               "rolls, x w1 = rho w3: nonholonomic, with a ratio that changes. It slips from the start until the "
                               "speeds fit. The dimensions are "
                               "ours: the thesis prints none.");
  const double end = first_time(damped, "sticks");
  part.claims.push_back({"slip-ends", "Slipping stops at 0.63 s and changes into pure rolling", "0.63 s",
                         fmt::format("{:.3f} s, {} to {} degrees of freedom", end, damped.summary.dof,
                                     damped.summary.events.empty() ? -1 : damped.summary.events[0].dof),
                         verdict(std::abs(end - 0.63) < 0.02 && damped.summary.events.size() == 1),
                         "the motor's torque is chosen so"});
  const auto swing = [&](const Run& run) {  // of x late in the run
    double least = 1e9, most = -1e9;
    for (const auto& row : run.rows)
      if (row[0] > 1.5) least = std::min(least, row[column(run, "q.x")]), most = std::max(most, row[column(run, "q.x")]);
    return most - least;
  };
  part.claims.push_back(
      {"damping", "Without the damper x fluctuates, with it it settles", "figure 4.11",
       fmt::format("x varies by {:.2g} m after 1.5 s without, {:.2g} m with the damper", swing(undamped), swing(damped)),
       verdict(swing(undamped) > 3.0 * swing(damped)), ""});
  part.claims.push_back(
      {"large-disturbance", "It works with disturbances ten times the torque", "figures 4.14, 4.15",
       fmt::format("{} transitions, energy balance to {:.1g}", disturbed.summary.events.size(), disturbed.summary.energy_drift),
       verdict(disturbed.summary.completed && disturbed.summary.energy_drift < 1e-6), ""});
  Figure x{"Distance of the roller (fig. 4.11)", "time (s)", "x (m)"};
  x.series = {curve(undamped, "without damper", "q.x"), curve(damped, "with damper", "q.x")};
  Figure slip{"From slip to rolling (fig. 4.12)", "time (s)", "slip speed (m/s)"};
  slip.series = {curve(damped, "slip", "s.slip")};
  Figure speeds{"Speeds of the shafts (fig. 4.13)", "time (s)", "speed (rad/s)"};
  speeds.series = {curve(damped, "motor", "v.shaft1"), curve(damped, "machine", "v.shaft3")};
  Figure large{"From slip to rolling under large disturbances (fig. 4.14)", "time (s)", "slip speed (m/s)"};
  large.series = {curve(disturbed, "slip", "s.slip")};
  Figure large_speeds{"Speeds under large disturbances (fig. 4.15)", "time (s)", "speed (rad/s)"};
  large_speeds.series = {curve(disturbed, "motor", "v.shaft1"), curve(disturbed, "machine", "v.shaft3")};
  for (Figure* figure : {&x, &slip, &speeds, &large, &large_speeds}) part.figures.push_back(std::move(*figure));
}

// Reuse of an old inverse
// --------------------------------------------------------------------------------------------------------

void reuse(StudyContext& context, StudyResult& result) {
  context.progress("reuse of the inverse");
  Spec spec = spec_of(context, "constant_speed_driver");
  spec.settings.formulation = {"gigsp", {}, {}};
  spec.settings.step = 5e-3;
  const Run exact = recorded(spec);
  std::string refusal;
  Spec refused = spec;
  refused.settings.formulation.options = {{"reuse", 5.0}};
  try {
    recorded(refused);
  } catch (const InputError& error) {
    refusal = error.what();
  }
  spec.settings.formulation.options = {{"reuse", 5.0}, {"force", 1.0}};
  spec.settings.stabilization = {"baumgarte", {}, {}};
  const Run baumgarte = recorded(spec);
  spec.settings.stabilization = {"acceleration", {}, {}};
  const Run projected = recorded(spec);

  Part& part =
      result.add_part("An old inverse with nonholonomic rows",
                      "The thesis computes the generalized inverse once in five steps only (of 5 ms here) and makes up for it by "
                      "Baumgarte's method (BS) or projection of "
                      "the accelerations (P). It finds that this is wrong for the driver though the constraint is met.");
  const auto error = [](const Run& run) { return run.summary.velocity_error_max; };
  part.claims.push_back({"constraint-met", "The nonholonomic constraint is well satisfied", "figure 4.17",
                         fmt::format("largest error of A v = u: BS {:.1g}, P {:.1g} m/s", error(baumgarte), error(projected)),
                         verdict(error(baumgarte) < 1e-2 && error(projected) < 1e-2), ""});
  Table table{"Largest difference from the exact inverse, relative to the range", {"", "motor angle", "machine angle", "x"}};
  double worst = 0.0;
  for (const auto& [name, run] : {std::pair<std::string, const Run*>{"BS", &baumgarte}, {"P", &projected}}) {
    std::vector<Cell> row{name};
    for (const char* of : {"q.shaft1", "q.shaft3", "q.x"}) {
      const double d = difference(*run, exact, of);
      row.emplace_back(d);
      worst = std::max(worst, d);
    }
    table.rows.push_back(std::move(row));
  }
  part.claims.push_back(
      {"motion-wrong", "The motion shows significant errors all the same", "figures 4.18, 4.19",
       fmt::format("up to {:.2g} of the range", worst), verdict(worst > kVisible),
       "they do not show in a figure: there is an error, of first order in the age of the inverse, and its size "
       "is that of the steps"});
  part.claims.push_back({"refused", "Linkwork refuses it unless forced", "",
                         refusal.empty() ? "it ran" : "refused, with the closure's name", verdict(!refusal.empty()), ""});
  Figure x{"Distance of the roller with an old inverse (fig. 4.19)", "time (s)", "x (m)"};
  x.series = {curve(exact, "exact", "q.x"), curve(baumgarte, "BS", "q.x", SeriesStyle::kDashed),
              curve(projected, "P", "q.x", SeriesStyle::kDashed)};
  Figure speed{"Speed of the machine with an old inverse (fig. 4.18)", "time (s)", "speed (rad/s)"};
  speed.series = {curve(exact, "exact", "v.shaft3"), curve(baumgarte, "BS", "v.shaft3", SeriesStyle::kDashed),
                  curve(projected, "P", "v.shaft3", SeriesStyle::kDashed)};
  Figure slip{"Slip with an old inverse (fig. 4.17)", "time (s)", "slip speed (m/s)"};
  slip.series = {curve(baumgarte, "BS", "s.slip"), curve(projected, "P", "s.slip")};
  part.tables.push_back(std::move(table));
  for (Figure* figure : {&slip, &speed, &x}) part.figures.push_back(std::move(*figure));
}

StudyResult run_variable_dof(StudyContext& context) {
  StudyResult result;
  slip_to_roll(context, result);
  driver(context, result);
  reuse(context, result);
  return result;
}

}  // namespace

Study variable_dof_study() {
  return {{"variable-dof", "Constraints that come and go",
           "slipping that ends in rolling, a friction drive with a changing ratio, and what an old inverse does to it", "Wu1997",
           "F. Wu, doctoral thesis, University of Arizona: generalized inverses, parallel computation and genetic algorithms"},
          run_variable_dof};
}

}  // namespace linkwork::studies
