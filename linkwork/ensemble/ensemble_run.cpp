#include "linkwork/ensemble/ensemble_run.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <new>
#include <optional>

#include "linkwork/ensemble/no_value.h"
#include "linkwork/io/scene.h"
#include "linkwork/io/summary_file.h"
#include "linkwork/io/trajectory_file.h"
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

void run_to_end(const EnsembleModel& model, const EnsembleQuestion& question, const std::vector<double>& values,
                const std::function<bool()>& go_on, EnsembleRun& run) {
  Spec spec = model.read(question.parameters, values);
  const Settings as_written = spec.settings;
  choose_columns(question, spec.settings);
  InProcess alone;
  std::optional<Rows> rows;
  Summary summary = run_model(spec, alone, {}, [&](const ReadyRun& ready) {
    rows.emplace(question, ready, spec, as_written, run);
    return Observer{.row = [&](std::span<const double> row) { rows->add(row); }, .go_on = go_on};
  });
  run.done = summary.completed;
  run.status = run.done && summary.status != "done" ? "done, " + summary.status : summary.status;
  run.interrupted = summary.status == kInterrupted;
  run.constraint_error = summary.position_error_max;
  run.energy_drift = summary.energy_drift;
  if (run.done) run.measures = rows->measures();
  summary.wall_seconds = 0.0;  // runs share the machine, and the same run is to leave the same bytes
  if (question.trajectories) run.summary = summary_json(summary);
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

std::string EnsembleRun::packed() const {
  std::string bytes;
  append(bytes, as_text({done ? 1.0 : 0.0, interrupted ? 1.0 : 0.0, constraint_error, energy_drift}));
  append(bytes, status);
  append(bytes, as_text(measures));
  append(bytes, as_text(kept));
  for (const std::string* const text : {&trajectory, &summary, &scene}) append(bytes, *text);
  return bytes;
}

EnsembleRun EnsembleRun::unpacked(std::string_view bytes) {
  EnsembleRun run;
  const std::vector<double> head = numbers(next(bytes));
  run.done = head[0] != 0.0, run.interrupted = head[1] != 0.0;
  run.constraint_error = head[2], run.energy_drift = head[3];
  run.status = next(bytes);
  run.measures = numbers(next(bytes));
  run.kept = numbers(next(bytes));
  for (std::string* const text : {&run.trajectory, &run.summary, &run.scene}) *text = next(bytes);
  return run;
}

EnsembleRun run_once(const EnsembleModel& model, const EnsembleQuestion& question, const std::vector<double>& values,
                     const std::function<bool()>& go_on) {
  EnsembleRun run;
  run.constraint_error = run.energy_drift = kNoValue;
  try {
    run_to_end(model, question, values, go_on, run);
  } catch (const InputError& error) {
    run.status = error.what();
  } catch (const SimulationError& error) {
    run.status = error.what();
  } catch (const std::bad_alloc&) {
    run.status = "out of memory";
  }
  if (!run.done) run.measures.assign(question.measures.size(), kNoValue);
  return run;
}

}  // namespace linkwork
