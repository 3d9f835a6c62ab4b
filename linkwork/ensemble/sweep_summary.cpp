#include "linkwork/ensemble/sweep_summary.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "linkwork/ensemble/csv_rows.h"
#include "linkwork/ensemble/envelopes.h"
#include "linkwork/ensemble/no_value.h"
#include "linkwork/io/json_text.h"

namespace linkwork {
namespace {

using Json = nlohmann::ordered_json;

constexpr long kMostShown = 20'000;         // rows on the page
constexpr std::size_t kMostFailures = 100;  // told one by one

Json parameters_json(const ParameterPlan& plan) {
  Json all = Json::array();
  for (const GridRange& grid : plan.grids())
    all.push_back({{"name", grid.name}, {"kind", "grid"}, {"from", grid.from}, {"to", grid.to}, {"count", grid.count}});
  for (const SampledParameter& each : plan.sampled()) {
    const bool is_uniform = each.kind == SampledParameter::Kind::kUniform;
    const char* const kind = is_uniform ? "uniform" : each.kind == SampledParameter::Kind::kNormal ? "normal" : "lognormal";
    all.push_back({{"name", each.name},
                   {"kind", kind},
                   {is_uniform ? "low" : "mean", each.first},
                   {is_uniform ? "high" : "deviation", each.second}});
  }
  return all;
}

double quantile(const std::vector<std::pair<double, long>>& sorted, double p) {
  const double at = p * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(at);
  const std::size_t above = std::min(below + 1, sorted.size() - 1);
  return sorted[below].first + (at - static_cast<double>(below)) * (sorted[above].first - sorted[below].first);
}

}  // namespace

SweepSummary::SweepSummary(const Sweep& sweep, const std::filesystem::path& folder) : sweep_(sweep), folder_(folder) {
  names_ = sweep.plan().names();
  for (const RunMeasure& measure : sweep.measures()) names_.push_back(measure.name());
  names_.insert(names_.end(), {"constraint_error", "energy_drift"});
  read_rows();
}

void SweepSummary::read_rows() {
  const std::size_t parameters = sweep_.plan().names().size();
  stride_ = (sweep_.runs() + kMostShown - 1) / kMostShown;
  shown_.columns.resize(names_.size());
  std::vector<std::vector<std::pair<double, long>>> values(names_.size() - parameters);
  bool is_header = true;
  read_csv_rows(folder_ / "sweep.csv", [&](const std::vector<std::string>& fields, std::uint64_t) {
    if (std::exchange(is_header, false)) return true;
    const long run = ++runs_;
    const std::string& status = fields[1 + parameters];
    const bool done = is_done(status);
    if (!done) {
      ++failed_;
      if (failures_.size() < kMostFailures) failures_.push_back({run, status});
    }
    const bool is_shown = (run - 1) % stride_ == 0;
    if (is_shown) shown_.runs.push_back(run), shown_.status.push_back(status);
    for (std::size_t k = 0; k < names_.size(); ++k) {
      const double value = csv_number(fields[k < parameters ? 1 + k : 2 + k]);
      if (k >= parameters && done && !std::isnan(value)) values[k - parameters].emplace_back(value, run);
      if (is_shown) shown_.columns[k].push_back(value);
    }
    return true;
  });
  for (auto& each : values) statistics_.push_back(statistics(std::move(each)));
}

SweepSummary::Statistics SweepSummary::statistics(std::vector<std::pair<double, long>> values) {
  Statistics made;
  made.min = made.max = made.mean = made.deviation = made.low = made.median = made.high = kNoValue;
  made.count = std::ssize(values);
  if (values.empty()) return made;
  double sum = 0.0, squares = 0.0;
  for (const auto& [value, run] : values) sum += value;
  made.mean = sum / static_cast<double>(made.count);
  for (const auto& [value, run] : values) squares += (value - made.mean) * (value - made.mean);
  if (made.count > 1) made.deviation = std::sqrt(squares / static_cast<double>(made.count - 1));
  std::ranges::sort(values);
  made.min = values.front().first, made.min_run = values.front().second;
  made.max = values.back().first;
  // Of several, the first run.
  made.max_run = std::ranges::lower_bound(values, made.max, {}, &std::pair<double, long>::first)->second;
  made.low = quantile(values, 0.05), made.median = quantile(values, 0.5), made.high = quantile(values, 0.95);
  return made;
}

std::string SweepSummary::json(const std::string& fingerprint) const {
  Json measures = Json::array(), failures = Json::array();
  for (std::size_t m = 0; m < sweep_.measures().size(); ++m) {
    const Statistics& s = statistics_[m];
    measures.push_back({{"name", sweep_.measures()[m].name()},
                        {"text", sweep_.measures()[m].text()},
                        {"count", s.count},
                        {"min", s.min},
                        {"min_run", s.min_run},
                        {"max", s.max},
                        {"max_run", s.max_run},
                        {"mean", s.mean},
                        {"deviation", s.deviation},
                        {"quantiles", {{"0.05", s.low}, {"0.5", s.median}, {"0.95", s.high}}}});
  }
  for (const Failure& failure : failures_) failures.push_back({{"run", failure.run}, {"status", failure.status}});
  const ParameterPlan& plan = sweep_.plan();
  const std::string obstacle = sweep_.obstacle_to_lanes();
  const Json json{{"model", sweep_.model().spec().name},
                  {"status", "done"},
                  {"fingerprint", fingerprint},
                  {"runs", runs_},
                  {"failed", failed_},
                  {"lanes", obstacle.empty() ? "several runs at a time" : "one by one: " + obstacle},
                  {"sampling", plan.sampled().empty() ? "grid" : sampling_names()[static_cast<std::size_t>(plan.sampling())]},
                  {"samples", plan.sampled().empty() ? 0 : plan.samples()},
                  {"seed", plan.seed()},
                  {"parameters", parameters_json(plan)},
                  {"measures", measures},
                  {"kept", sweep_.kept()},
                  {"constraint_error_max", statistics_[statistics_.size() - 2].max},
                  {"energy_drift_max", statistics_.back().max},
                  {"failures", failures}};
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::vector<std::pair<std::string, std::string>> SweepSummary::findings() const {
  std::vector<std::pair<std::string, std::string>> lines;
  for (std::size_t m = 0; m < sweep_.measures().size(); ++m) {
    const Statistics& s = statistics_[m];
    lines.emplace_back(sweep_.measures()[m].name(),
                       s.count == 0 ? "no run has it"
                                    : fmt::format("{:.6g} (run {}) to {:.6g} (run {}), mean {:.6g}, median {:.6g}", s.min,
                                                  s.min_run, s.max, s.max_run, s.mean, s.median));
  }
  return lines;
}

std::string SweepSummary::page_json(const std::string& command) const {
  Json page = parse_json(json(""));
  page["kind"] = "sweep";
  page["command"] = command;
  page["folders"] = sweep_.request().trajectories;
  page["stride"] = stride_;
  page["run"] = shown_.runs;
  page["row_status"] = shown_.status;
  Json columns = Json::object();
  for (std::size_t k = 0; k < names_.size(); ++k) columns[names_[k]] = shown_.columns[k];
  page["columns"] = columns;
  if (!sweep_.kept().empty()) {
    std::set<long> wanted;
    for (const Statistics& each : statistics_) wanted.insert({each.min_run, each.max_run});
    const Settings& settings = sweep_.model().spec().settings;
    page["envelopes"] = parse_json(
        envelopes_json(folder_ / "kept.csv", sweep_.kept(), sweep_.runs(), settings.output_every, settings.end, wanted));
  }
  return page.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace linkwork
