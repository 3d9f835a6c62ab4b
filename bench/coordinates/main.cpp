// Time of a constrained forward-dynamics evaluation in each choice of coordinates: a table, results as JSON, and how it grows
// with the size of the mechanism as a plot.

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <functional>
#include <nlohmann/json.hpp>

#include "bench/coordinates/growth_plot.h"
#include "bench/coordinates/measurement.h"

namespace linkwork::bench {
namespace {

std::vector<Family> families(bool quick) {
  if (quick)
    return {{"four_bar", {0}}, {"n_four_bar", {4, 16}}, {"rover", {0}}, {"closed_chain", {8, 16}}, {"backbone", {10, 30}, 10}};
  return {{"four_bar", {0}},
          {"n_four_bar", {4, 16, 40, 100}},
          {"rover", {0}},
          {"closed_chain", {8, 64, 512}},
          {"backbone", {10, 30, 100, 300, 1000, 3000}, 30}};
}

/// All of models/, as they are.
std::vector<Family> ready_models() {
  std::vector<Family> models;
  for (const auto& entry : std::filesystem::directory_iterator(LINKWORK_SOURCE_DIR "/models"))
    if (entry.path().extension() == ".toml") models.push_back({entry.path().stem().string(), {0}});
  std::ranges::sort(models, {}, &Family::model);
  return models;
}

/// How much slower "auto" is than the best of the others; 0: there is nothing to compare.
double auto_over_best(const std::vector<Result>& results) {
  double best = 0.0, automatic = 0.0;
  for (const Result& result : results) {
    if (!result.subject) continue;
    const double median = result.subject->timing().median;
    if (result.coordinates == "auto")
      automatic = median;
    else if (best == 0.0 || median < best)
      best = median;
  }
  return best > 0.0 ? automatic / best : 0.0;
}

std::string cpu() {
  std::ifstream info("/proc/cpuinfo");
  for (std::string line; std::getline(info, line);)
    if (line.starts_with("model name")) return line.substr(line.find(':') + 2);
  return "unknown";
}

void print(const Result& result) {
  const std::string size = result.n > 0 ? fmt::format("n = {}", result.n) : "";
  if (!result.subject) {
    fmt::print("{:14} {:9} {:22} skipped: {}\n", result.model, size, result.coordinates, result.skipped);
    return;
  }
  const Timing timing = result.subject->timing();
  fmt::print("{:14} {:9} {:22} {:10.3f} us   ({:.3f} to {:.3f})\n", result.model, size, result.coordinates, 1e6 * timing.median,
             1e6 * timing.low, 1e6 * timing.high);
}

nlohmann::json json(const Result& result) {
  nlohmann::json entry{{"model", result.model}, {"coordinates", result.coordinates}};
  if (result.n > 0) entry["n"] = result.n;
  if (!result.subject) {
    entry["skipped"] = result.skipped;
    return entry;
  }
  const Timing timing = result.subject->timing();
  entry["bodies"] = result.subject->bodies();
  entry["velocities"] = result.subject->coordinates();
  entry["rows"] = result.subject->rows();
  entry["us"] = 1e6 * timing.median;
  entry["us_quartiles"] = {1e6 * timing.low, 1e6 * timing.high};
  entry["evaluations"] = timing.evaluations;
  entry["setup_seconds"] = result.setup_seconds;
  return entry;
}

Panel panel(const Family& family, const Plan& plan, const std::vector<Result>& results, const std::vector<Growth>& slopes) {
  Panel panel{family.model, "n", "time of an evaluation, µs", {}};
  for (const std::string& coordinates : plan.coordinates) {
    Curve curve{coordinates, {}, {}};
    for (const Growth& slope : slopes)
      if (slope.coordinates == coordinates) curve.name += fmt::format("  (slope {:.2f} from {} on)", slope.slope, slope.from);
    for (const Result& result : results) {
      if (!result.subject || result.coordinates != coordinates) continue;
      curve.x.push_back(static_cast<double>(result.n));
      curve.y.push_back(1e6 * result.subject->timing().median);
    }
    if (!curve.x.empty()) panel.curves.push_back(std::move(curve));
  }
  return panel;
}

void write(const std::filesystem::path& path, const std::string& text) {
  std::ofstream file(path);
  file << text;
  file.close();
  if (!file) throw std::runtime_error("cannot write " + path.string());
  fmt::print("wrote {}\n", path.string());
}

int run(const Plan& plan, const std::vector<Family>& all, const std::vector<std::string>& only,
        const std::filesystem::path& out) {
  std::filesystem::create_directories(out);
  nlohmann::json report{
      {"what", "microseconds of processor time per EquationsOfMotion::evaluate, medians of interleaved samples"},
      {"cpu", cpu()},
      {"compiler", __VERSION__},
      {"results", nlohmann::json::array()},
      {"growth", nlohmann::json::array()}};
  std::vector<Panel> panels;
  std::vector<std::pair<double, std::string>> losses;
  for (const Family& family : all) {
    if (!only.empty() && std::ranges::find(only, family.model) == only.end()) continue;
    const std::vector<Result> results = measure(family, plan);
    const std::vector<Growth> slopes = growth(family, results);
    for (const Result& result : results) {
      print(result);
      report["results"].push_back(json(result));
    }
    for (const Growth& slope : slopes) {
      fmt::print("{:14} {:9} {:22} grows with n^{:.2f} from n = {} to {}\n", slope.model, "", slope.coordinates, slope.slope,
                 slope.from, slope.to);
      report["growth"].push_back({{"model", slope.model},
                                  {"coordinates", slope.coordinates},
                                  {"from", slope.from},
                                  {"to", slope.to},
                                  {"slope", slope.slope}});
    }
    if (const double loss = auto_over_best(results); loss > 0.0 && family.sizes.size() == 1)
      losses.emplace_back(loss, family.model);
    if (family.sizes.size() > 1) panels.push_back(panel(family, plan, results, slopes));
  }
  std::ranges::sort(losses, std::greater<>());
  for (const auto& [loss, model] : losses) fmt::print("{:26} auto takes {:.2f} times as long as the best choice\n", model, loss);
  write(out / "coordinates.json", report.dump(1) + "\n");
  write(out / "coordinates.svg", growth_plot(panels));
  return 0;
}

}  // namespace
}  // namespace linkwork::bench

int main(int argc, char** argv) {
  CLI::App app{"Time of a constrained forward-dynamics evaluation in each choice of coordinates."};
  linkwork::bench::Plan plan{{"FA", "TA", "CE", "auto"}};
  std::vector<std::string> models;
  std::filesystem::path out = "out/bench";
  bool quick = false, ready = false;
  app.add_option("--coordinates", plan.coordinates, "which to measure, with options if any (FA,TA,CE,auto)")->delimiter(',');
  app.add_option("--models", models, "only these models")->delimiter(',');
  app.add_option("--rounds", plan.rounds, "samples of each case")->capture_default_str()->check(CLI::PositiveNumber);
  app.add_option("--setup-limit", plan.setup_limit, "seconds; sizes that take longer to prepare are skipped, with a word")
      ->capture_default_str();
  app.add_option("--out", out, "folder of coordinates.json and coordinates.svg")->capture_default_str();
  app.add_flag("--quick", quick, "small sizes only");
  app.add_flag("--ready", ready, "all ready models, and what 'auto' loses against the best choice");
  CLI11_PARSE(app, argc, argv);
  try {
    using namespace linkwork::bench;
    return run(plan, ready ? ready_models() : families(quick), models, out);
  } catch (const std::exception& error) {
    fmt::print(stderr, "{}\n", error.what());
    return 1;
  }
}
