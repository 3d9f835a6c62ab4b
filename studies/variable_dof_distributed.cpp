#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "studies/catalog.h"
#include "studies/module_run.h"

namespace linkwork::studies {
namespace {

constexpr double kSame = 1e-9;  // of positions and velocities, between modules and one piece

/// A ready assembly solved apart, on several threads, and in one piece.
struct Runs {
  ModuleRun apart, shared, whole;
};

Runs runs_of(const StudyContext& context, const std::string& model, double end) {
  Spec spec = ready_model(context, model, end);
  Runs runs;
  runs.apart = run_modules(spec);
  runs.shared = run_modules(spec, 2);
  spec.settings.glue = {"none", {}, {}};
  spec.settings.coordinates = {"TA", {}, {}};
  runs.whole = run_modules(spec);
  return runs;
}

double largest_difference(const ModuleRun& a, const ModuleRun& b) {
  double largest = 0.0;
  for (const std::string& column : a.columns) {
    if (!column.starts_with("q.") && !column.starts_with("v.")) continue;
    const std::vector<double> x = a[column], y = b[column];
    if (x.size() != y.size()) return std::nan("");
    for (std::size_t i = 0; i < x.size(); ++i) largest = std::max(largest, std::abs(x[i] - y[i]));
  }
  return largest;
}

/// The largest difference of the times of events; NaN if others happened.
double time_difference(const std::vector<EventRecord>& a, const std::vector<EventRecord>& b) {
  if (a.size() != b.size()) return std::nan("");
  double largest = 0.0;
  for (std::size_t k = 0; k < a.size(); ++k) {
    if (a[k].name != b[k].name || a[k].what != b[k].what || a[k].dof != b[k].dof) return std::nan("");
    largest = std::max(largest, std::abs(a[k].t - b[k].t));
  }
  return largest;
}

/// Degrees of freedom over time, as steps.
Series freedom(const ModuleRun& run, const std::string& name) {
  Series series{name, {0.0}, {static_cast<double>(run.summary.dof)}};
  for (const EventRecord& event : run.summary.events) {
    series.x.insert(series.x.end(), {event.t, event.t});
    series.y.insert(series.y.end(), {series.y.back(), static_cast<double>(event.dof)});
  }
  series.x.push_back(run.rows.back()[0]);
  series.y.push_back(series.y.back());
  return series;
}

void add_claims(Part& part, const std::string& id, const Runs& runs) {
  const double motion = largest_difference(runs.apart, runs.whole);
  const double times = time_difference(runs.apart.summary.events, runs.whole.summary.events);
  part.claims.push_back({id + "-motion", "Subsystems solved apart move as the whole", "stated as a goal",
                         fmt::format("positions and velocities differ by at most {:.1e}", motion), verdict(motion <= kSame)});
  part.claims.push_back({id + "-events", "The number of degrees of freedom may change during the simulation", "stated as a goal",
                         std::isnan(times) ? "other events than in one piece"
                                           : fmt::format("{} events, the same as in one piece, at times that differ by at most "
                                                         "{:.1e} s",
                                                         runs.apart.summary.events.size(), times),
                         verdict(times <= kSame)});
  part.claims.push_back({id + "-ranks", "The result does not depend on who computes what", "",
                         runs.apart.rows == runs.shared.rows ? "the same numbers on one thread and on two" : "they differ",
                         verdict(runs.apart.rows == runs.shared.rows)});
  Table table{"What happens", {"t (s)", "what", "degrees of freedom from then on"}};
  for (const EventRecord& event : runs.apart.summary.events) {
    constexpr std::size_t kMost = 40;
    if (table.rows.size() < kMost)
      table.rows.push_back({event.t, fmt::format("{}: {}", event.name, event.what), static_cast<double>(event.dof)});
  }
  part.tables.push_back(std::move(table));
  Figure figure{"Degrees of freedom", "t (s)", "number"};
  figure.series = {freedom(runs.apart, "modules"), freedom(runs.whole, "one piece")};
  figure.series.back().style = SeriesStyle::kDashed;
  part.figures.push_back(std::move(figure));
}

Series curve(const ModuleRun& run, const std::string& name, const std::string& column) { return {name, run["t"], run[column]}; }

StudyResult run_variable_dof_distributed(StudyContext& context) {
  StudyResult result;
  context.progress("a train whose couplers have slack");
  const Runs train = runs_of(context, "train_modules", context.quick ? 1.0 : 3.0);
  Part& first = result.add_part(
      "A train with slack",
      "Every wagon is a subsystem on its own track, with dry friction in its axles. A coupler is a contact between two "
      "subsystems that opens and closes: a rope on the one side, buffers on the other. The locomotive draws the train tight, "
      "brakes it, and friction brings it to rest.");
  add_claims(first, "train", train);
  Figure speeds{"Speeds", "t (s)", "speed (m/s)"};
  for (const char* const name : {"loco", "wagon1", "wagon2", "wagon3"})
    speeds.series.push_back(curve(train.apart, name, fmt::format("v.{}.track", name)));
  first.figures.push_back(std::move(speeds));

  context.progress("two arms that hand over a load");
  const Runs arms = runs_of(context, "two_arms_modules", 2.0);
  Part& second = result.add_part("Two arms and a load",
                                 "One arm swings a load to another, which takes it over: at one instant a joint between two "
                                 "subsystems appears and another one vanishes, with an impulse on all three.");
  add_claims(second, "arms", arms);
  Figure load{"The load", "t (s)", "position (m)"};
  load.series = {curve(arms.apart, "x", "q.load.place.x"), curve(arms.apart, "y", "q.load.place.y")};
  second.figures.push_back(std::move(load));

  context.progress("a clutch between two modules");
  const Runs clutch = runs_of(context, "clutch_modules", 2.0);
  Part& third = result.add_part("A clutch",
                                "Motor and machine are subsystems; the clutch between them slides, holds, and slides again when "
                                "the machine is braked by more than it can hold.");
  add_claims(third, "clutch", clutch);
  Figure shafts{"Speeds of the shafts", "t (s)", "speed (rad/s)"};
  shafts.series = {curve(clutch.apart, "motor", "v.motor.shaft"), curve(clutch.apart, "machine", "v.machine.shaft")};
  third.figures.push_back(std::move(shafts));
  return result;
}

}  // namespace

Study variable_dof_distributed_study() {
  return {{"variable-dof-distributed", "A variable number of degrees of freedom in distributed form",
           "a train with slack couplers, two arms that hand over a load, a clutch between two modules", "Kasper",
           "R. Kasper, D. Vlasenko: Method for distributed forward dynamic simulations of constrained mechanical systems"},
          run_variable_dof_distributed};
}

}  // namespace linkwork::studies
