#include "linkwork/ensemble/sweep.h"

#include <fmt/format.h>

#include <algorithm>

#include "linkwork/ensemble/work_sharing.h"
#include "linkwork/io/durable_file.h"
#include "linkwork/lanes/lane_group.h"
#include "linkwork/simulation/columns.h"
#include "linkwork/transport/mailbox.h"
#include "linkwork/version.h"

namespace linkwork {
namespace {

std::vector<std::string> chosen_columns(const std::vector<std::string>& patterns, const std::vector<std::string>& columns) {
  if (patterns.empty()) return {};
  Settings settings;
  settings.columns = patterns;
  settings.columns_place = {"--keep", 0, 0};
  std::vector<std::string> chosen;
  for (const std::size_t place : ColumnChoice(settings).among(columns))
    if (columns[place] != "t") chosen.push_back(columns[place]);
  return chosen;
}

}  // namespace

Sweep::Sweep(EnsembleModel model, SweepRequest request)
    : model_(std::move(model)),
      request_(std::move(request)),
      plan_(request_.grids, request_.samples, request_.runs, parse_sampling(request_.sampling, {"--sampling", 0, 0}),
            request_.seed) {
  if (request_.samples.empty() && request_.runs != 0)
    throw InputError({"--runs", 0, 0}, "nothing is sampled: a grid says itself how many runs it has",
                     "--sample NAME=normal(m,s)");
  for (const GridRange& grid : plan_.grids()) model_.check_varied(grid.name, "--grid " + grid.name);
  for (const SampledParameter& sample : plan_.sampled()) model_.check_varied(sample.name, "--sample " + sample.name);
  const std::vector<std::string> columns = model_.columns();
  std::vector<std::string> taken = plan_.names();
  taken.insert(taken.end(), {"run", "status", "constraint_error", "energy_drift"});
  question_ = {plan_.names(), parse_measures(request_.measures, columns, taken), chosen_columns(request_.keep, columns),
               request_.trajectories};
}

std::uint64_t Sweep::fingerprint(const std::string& settings) const {
  std::string text = fmt::format("{}\n{:016x}\n{}\n{} {} {}\n", LINKWORK_VERSION, model_.fingerprint(), settings,
                                 request_.sampling, plan_.samples(), plan_.seed());
  for (const auto* const list : {&request_.grids, &request_.samples, &request_.measures, &question_.kept})
    text += fmt::format("{}\n\n", fmt::join(*list, "\n"));
  return checksum(text + (request_.trajectories ? "trajectories" : "") + (request_.lanes ? "" : "no lanes"));
}

bool Sweep::run(long first, const std::function<void(SweepRow row)>& take, const std::function<bool()>& go_on,
                Mailbox* ranks) const {
  // A task is of several runs, if these can be computed together; those before the first are there already.
  const bool are_together = obstacle_to_lanes().empty();
  const long workers = static_cast<long>(request_.threads) * (ranks != nullptr ? ranks->size() : 1);
  const long some = are_together ? std::clamp((runs() + workers - 1) / workers, 1L, static_cast<long>(LaneGroup::kMost)) : 1;
  SharedWork work{.first = first / some, .end = (runs() + some - 1) / some, .threads = request_.threads, .go_on = go_on};
  work.work = [&](long task, const std::function<bool()>& goes_on) {
    if (!are_together) return packed({run_once(model_, question_, plan_.values(task), goes_on)});
    std::vector<std::vector<double>> values;
    for (long run = task * some; run < std::min(runs(), (task + 1) * some); ++run) values.push_back(plan_.values(run));
    return packed(run_together(model_, question_, values, goes_on));
  };
  work.take = [&](long task, const std::string& result) {
    long run = task * some;
    for (EnsembleRun& each : unpacked(result)) {
      if (run >= first) take({run + 1, plan_.values(run), std::move(each)});
      ++run;
    }
  };
  return share_work(work, ranks);
}

std::string Sweep::obstacle_to_lanes() const {
  if (!request_.lanes) return "it was asked for so";
  try {
    return linkwork::obstacle_to_lanes(model_);
  } catch (const InputError& error) {
    return error.what();
  }
}

SweepResults sweep(const Mechanism& mechanism, const SweepRequest& request, const RunOptions& options,
                   const std::function<bool()>& go_on) {
  const Sweep all(EnsembleModel(mechanism, [&](Settings& settings) { apply(options, settings); }), request);
  SweepResults results{all.plan().names(), {}, all.kept(), {}, false};
  for (const RunMeasure& measure : all.measures()) results.measures.push_back(measure.name());
  results.completed = all.run(
      0, [&](SweepRow row) { results.rows.push_back(std::move(row)); }, go_on);
  return results;
}

}  // namespace linkwork
