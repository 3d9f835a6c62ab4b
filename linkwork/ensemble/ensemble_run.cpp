#include "linkwork/ensemble/ensemble_run.h"

#include <algorithm>
#include <cstring>
#include <functional>
#include <limits>
#include <new>
#include <optional>

#include "linkwork/ensemble/no_value.h"
#include "linkwork/io/scene.h"
#include "linkwork/io/summary_file.h"
#include "linkwork/io/trajectory_file.h"
#include "linkwork/lanes/lane_group.h"
#include "linkwork/modules/model_run.h"
#include "linkwork/simulation/columns.h"
#include "linkwork/simulation/simulation_error.h"

namespace linkwork {
namespace {

/// Only what is asked for is computed; the model's own choice stands if whole trajectories are kept.
void choose_columns(const EnsembleQuestion& question, Settings& settings) {
  const bool is_all = question.trajectories && settings.columns.empty();
  if (is_all) return;
  if (!question.trajectories) settings.columns = {"t"};
  for (const RunMeasure& measure : question.measures)
    settings.columns.insert(settings.columns.end(), measure.columns().begin(), measure.columns().end());
  settings.columns.insert(settings.columns.end(), question.kept.begin(), question.kept.end());
}

class Rows {
 public:
  Rows(const EnsembleQuestion& question, const ReadyRun& ready, const Spec& spec, const Settings& as_written, EnsembleRun& run)
      : columns_(ready.simulation.columns()), measured_(question.measures, columns_), run_(run) {
    std::vector<std::string> kept{"t"};
    kept.insert(kept.end(), question.kept.begin(), question.kept.end());
    if (!question.kept.empty()) kept_ = places_of(kept, columns_);
    if (!question.trajectories) return;
    written_ = ColumnChoice(as_written).among(columns_);
    std::vector<std::string> names;
    for (const std::size_t place : written_) names.push_back(columns_[place]);
    run.trajectory = csv_header(names);
    if (ready.model) run.scene = scene_json(spec, *ready.model, names);
  }

  void add(std::span<const double> row) {
    measured_.add(row);
    for (const std::size_t place : kept_) run_.kept.push_back(row[place]);
    if (written_.empty()) return;
    for (const std::size_t place : written_) append_csv_number(row[place], run_.trajectory) += ',';
    run_.trajectory.back() = '\n';
  }
  std::vector<double> measures() const { return measured_.values(); }

 private:
  const std::vector<std::string> columns_;
  MeasuredRun measured_;
  std::vector<std::size_t> kept_, written_;
  EnsembleRun& run_;
};

/// A run of an ensemble, from its parameters to what is told of it.
class OneRun {
 public:
  OneRun(const EnsembleModel& model, const EnsembleQuestion& question, const std::vector<double>& values, EnsembleRun& run)
      : question_(question), spec_(model.read(question.parameters, values)), as_written_(spec_.settings), run_(run) {
    choose_columns(question, spec_.settings);
  }

  const Spec& spec() const { return spec_; }
  Observer observer(const ReadyRun& ready, const std::function<bool()>& go_on) {
    rows_.emplace(question_, ready, spec_, as_written_, run_);
    return Observer{.row = [this](std::span<const double> row) { rows_->add(row); }, .go_on = go_on};
  }
  void finish(Summary summary) {
    run_.done = summary.completed;
    run_.status = run_.done && summary.status != "done" ? "done, " + summary.status : summary.status;
    run_.interrupted = summary.status == kInterrupted;
    run_.constraint_error = summary.position_error_max;
    run_.energy_drift = summary.energy_drift;
    if (run_.done) run_.measures = rows_->measures();
    summary.wall_seconds = 0.0;  // runs share the machine, and the same run is to leave the same bytes
    if (question_.trajectories) run_.summary = summary_json(summary);
  }

 private:
  const EnsembleQuestion& question_;
  Spec spec_;
  Settings as_written_;
  EnsembleRun& run_;
  std::optional<Rows> rows_;
};

void run_to_end(OneRun& one, const std::function<bool()>& go_on) {
  InProcess alone;
  one.finish(run_model(one.spec(), alone, {}, [&](const ReadyRun& ready) { return one.observer(ready, go_on); }));
}

/// What cannot be run is an answer, too.
template <class Act>
void attempt(EnsembleRun& run, Act&& act) {
  try {
    act();
  } catch (const InputError& error) {
    run.status = error.what();
  } catch (const SimulationError& error) {
    run.status = error.what();
  } catch (const std::bad_alloc&) {
    run.status = "out of memory";
  }
}

/// One that has been made ready, in one piece.
struct ReadyOne {
  EnsembleRun* run;
  std::unique_ptr<OneRun> one;
  LiveRun live;

  void finish() {
    Summary summary = live.simulation->summary();
    summary.notes.insert(summary.notes.begin(), live.notes.begin(), live.notes.end());
    one->finish(std::move(summary));
  }
};

/// Steps runs that fit into lanes to their ends.
void run_in_lanes(std::span<ReadyOne* const> some) {
  std::vector<Simulation*> simulations;
  for (const ReadyOne* const each : some) simulations.push_back(each->live.simulation.get());
  LaneGroup group(simulations);
  LaneGroup::Some wanted{};
  for (std::size_t k = 0; k < some.size(); ++k)
    attempt(*some[k]->run, [&] { wanted[k] = group.begin(k, some[k]->one->spec().settings.end) && !group.has_ended(k); });
  while (std::ranges::any_of(wanted, std::identity())) {
    group.step(wanted);
    for (std::size_t k = 0; k < some.size(); ++k) wanted[k] = wanted[k] && !group.has_ended(k);
  }
  for (ReadyOne* const each : some) attempt(*each->run, [&] { each->finish(); });
}

void append(std::string& bytes, std::string_view text) {
  const std::uint64_t size = text.size();
  bytes.append(reinterpret_cast<const char*>(&size), sizeof size);
  bytes.append(text);
}

std::string_view as_text(const std::vector<double>& numbers) {
  return {reinterpret_cast<const char*>(numbers.data()), numbers.size() * sizeof(double)};
}

std::string_view next(std::string_view& bytes) {
  std::uint64_t size = 0;
  std::memcpy(&size, bytes.data(), sizeof size);
  const std::string_view text = bytes.substr(sizeof size, size);
  bytes.remove_prefix(sizeof size + size);
  return text;
}

std::vector<double> numbers(std::string_view text) {
  std::vector<double> values(text.size() / sizeof(double));
  if (!values.empty()) std::memcpy(values.data(), text.data(), text.size());
  return values;
}

}  // namespace

std::string packed(const std::vector<EnsembleRun>& runs) {
  std::string bytes;
  for (const EnsembleRun& run : runs) {
    append(bytes, as_text({run.done ? 1.0 : 0.0, run.interrupted ? 1.0 : 0.0, run.constraint_error, run.energy_drift}));
    append(bytes, run.status);
    append(bytes, as_text(run.measures));
    append(bytes, as_text(run.kept));
    for (const std::string* const text : {&run.trajectory, &run.summary, &run.scene}) append(bytes, *text);
  }
  return bytes;
}

std::vector<EnsembleRun> unpacked(std::string_view bytes) {
  std::vector<EnsembleRun> runs;
  while (!bytes.empty()) {
    EnsembleRun& run = runs.emplace_back();
    const std::vector<double> head = numbers(next(bytes));
    run.done = head[0] != 0.0, run.interrupted = head[1] != 0.0;
    run.constraint_error = head[2], run.energy_drift = head[3];
    run.status = next(bytes);
    run.measures = numbers(next(bytes));
    run.kept = numbers(next(bytes));
    for (std::string* const text : {&run.trajectory, &run.summary, &run.scene}) *text = next(bytes);
  }
  return runs;
}

EnsembleRun run_once(const EnsembleModel& model, const EnsembleQuestion& question, const std::vector<double>& values,
                     const std::function<bool()>& go_on) {
  EnsembleRun run;
  run.constraint_error = run.energy_drift = kNoValue;
  attempt(run, [&] {
    OneRun one(model, question, values, run);
    run_to_end(one, go_on);
  });
  if (!run.done) run.measures.assign(question.measures.size(), kNoValue);
  return run;
}

std::vector<EnsembleRun> run_together(const EnsembleModel& model, const EnsembleQuestion& question,
                                      const std::vector<std::vector<double>>& values, const std::function<bool()>& go_on) {
  std::vector<EnsembleRun> runs(values.size());
  std::vector<ReadyOne> ready;
  ready.reserve(runs.size());
  InProcess alone;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    EnsembleRun& run = runs[i];
    run.constraint_error = run.energy_drift = kNoValue;
    attempt(run, [&] {
      auto one = std::make_unique<OneRun>(model, question, values[i], run);
      if (!one->spec().modules.empty()) return run_to_end(*one, go_on);
      LiveRun live = make_live_run(one->spec());
      if (!live.is_one_piece || !obstacle_to_lanes(*live.simulation).empty()) return run_to_end(*one, go_on);
      live.simulation->observe(one->observer({*live.simulation, live.model, nullptr, alone}, go_on));
      ready.push_back({&run, std::move(one), std::move(live)});
    });
  }
  while (!ready.empty()) {
    std::vector<ReadyOne*> some;
    for (ReadyOne& each : ready)
      if (some.empty() ||
          (some.size() < LaneGroup::most() && fit_into_lanes(*some.front()->live.simulation, *each.live.simulation)))
        some.push_back(&each);
    run_in_lanes(some);
    std::erase_if(ready, [&](const ReadyOne& each) { return std::ranges::find(some, &each) != some.end(); });
  }
  for (EnsembleRun& run : runs)
    if (!run.done) run.measures.assign(question.measures.size(), kNoValue);
  return runs;
}

std::string obstacle_to_lanes(const EnsembleModel& model) {
  if (!model.spec().modules.empty()) return "it is made of modules";
  const LiveRun live = make_live_run(model.spec());
  return obstacle_to_lanes(*live.simulation);
}

}  // namespace linkwork
