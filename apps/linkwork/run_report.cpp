#include "apps/linkwork/run_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "apps/linkwork/commands.h"
#include "apps/linkwork/interruption.h"
#include "apps/linkwork/methods.h"
#include "apps/linkwork/terminal.h"
#include "apps/linkwork/text.h"

namespace linkwork::cli {
namespace {

std::string described(const Choice& choice, const std::string& name) {
  std::string text = name;
  char separator = ':';
  for (const auto& [option, value] : choice.options) {
    text += fmt::format("{}{}={:.6g}", separator, option, value);
    separator = ',';
  }
  return text;
}

std::string methods(const Model& model, const Summary& summary) {
  const Settings& settings = model.settings;
  const std::string pace = is_adaptive(model) ? fmt::format("rtol {:.3g}, atol {:.3g}", settings.rtol, settings.atol)
                                              : fmt::format("steps of {:.6g} s", settings.step);
  return fmt::format("{} coordinates, {}{}, {}, {} ({})", summary.coordinates,
                     described(settings.formulation, summary.formulation), settings.formulation.name == "auto" ? " (auto)" : "",
                     described(settings.stabilization, summary.stabilization), described(settings.integrator, summary.integrator),
                     pace);
}

std::string effort(const Summary& summary) {
  std::string text = fmt::format("{:.9g} s in {}", summary.simulated_seconds, counted(summary.steps, "step"));
  if (summary.rejected_steps > 0) text += fmt::format(" ({} more rejected)", summary.rejected_steps);
  return text + fmt::format(", {}, {:.3g} s of wall time", counted(summary.evaluations, "evaluation"), summary.wall_seconds);
}

/// Glue, traffic, and the four attributes.
void print_modules(const Summary& summary) {
  const GlueSummary& modules = *summary.modules;
  std::string workers = summary.ranks > 1 ? fmt::format(" on {} ranks", summary.ranks) : "";
  if (summary.threads > 1) workers += fmt::format("{} {} threads", summary.ranks > 1 ? " of" : " on", summary.threads);
  print_line("modules", fmt::format("{}{}, glue {}", modules.modules, workers, summary.glue));
  if (modules.messages_per_step > 0.0)
    print_line("", fmt::format("{:.3g} exchanges and {:.3g} kB per step, {:.2g} us of waiting", modules.messages_per_step,
                               1e-3 * modules.bytes_per_step, 1e6 * modules.waiting_seconds_per_step));
  const std::string pretty =
      std::isnan(modules.pretty)
          ? "some modules are FMUs or on other hosts: there is no model in one piece to compare with"
          : fmt::format("accelerations differ by {:.2g} from those of the model in one piece", modules.pretty);
  if (summary.steps > 0) {
    print_line("", fmt::format("joints between modules are off by at most {:.2g}; {}", modules.sticky, pretty));
    print_line("", fmt::format("the glue takes {:.2g} times as long as the modules; of each it sees: {}", modules.inexpensive,
                               modules.green));
  }
  if (modules.most_iterations > 0)
    print_line(
        "", fmt::format("iterations: at most {}, {:.3g} per step on average", modules.most_iterations, modules.mean_iterations));
}

/// How it kept pace with the clock.
void print_pace(const RealTimeSummary& pace) {
  print_line("real time", fmt::format("factor {:.6g}: {} of {} late, at most {:.3g} ms, {:.3g} ms on average; {:.0f} % busy",
                                      pace.factor, pace.overruns, counted(pace.steps, "step"), 1e3 * pace.lateness_max,
                                      1e3 * pace.lateness_mean, 100.0 * pace.busy));
}

std::vector<std::string> happenings(const Summary& summary) {
  std::vector<std::string> texts;
  for (const EventRecord& event : summary.events) {
    std::string text = fmt::format("{:.9g} s '{}': {}", event.t, event.name, event.what);
    if (event.velocity_jump > 1e-9) text += fmt::format(", velocities jump by up to {:.3g}", event.velocity_jump);
    if (event.dof >= 0) text += fmt::format(", then {}", counted(event.dof, "degree of freedom"));
    texts.push_back(std::move(text));
  }
  return texts;
}

/// The first few of a list that may be long.
void print_all(const std::string& label, const std::vector<std::string>& texts) {
  constexpr std::size_t kMost = 6;
  const std::size_t shown = texts.size() <= kMost ? texts.size() : kMost - 1;
  for (std::size_t i = 0; i < shown; ++i) print_line(label, texts[i]);
  if (shown < texts.size()) print_line("", fmt::format("and {} more in summary.json", texts.size() - shown));
}

}  // namespace

void print_results(const ResultFiles& files) {
  print_line("results", fmt::format("{} ({}, {})", (files.folder / files.trajectory).string(), counted(files.rows, "row"),
                                    counted(static_cast<long>(files.columns), "column")));
  print_line("", (files.folder / "summary.json").string());
  if (files.has_report) print_line("", (files.folder / "report.html").string() + " (open it in a browser)");
}

void print_run(const Model& model, const Summary& summary, const ResultFiles& files) {
  const bool started = files.rows > 0;
  const bool has_others = summary.modules && std::isnan(summary.modules->pretty);
  print("{}: {}, {}{}{}\n", model.name, counted(static_cast<long>(model.bodies.size()) - 1, "body"),
        counted(static_cast<long>(model.joints.size()), "joint"), has_others ? " beside those of FMUs and other hosts" : "",
        started ? ", " + counted(summary.dof, "degree of freedom") : "");
  print_line("methods", methods(model, summary));
  print_line(summary.completed ? "simulated" : "stopped", effort(summary));
  if (started && !model.rows.empty())
    print_line("constraints", fmt::format("{}, rank {}; largest error {:.2g} in position, {:.2g} in velocity",
                                          counted(summary.modules ? model.row_count() : summary.rows, "row"), summary.rank,
                                          summary.position_error_max, summary.velocity_error_max));
  if (started) print_line("energy", fmt::format("drift {:.2g} of the energy exchanged", summary.energy_drift));
  if (summary.modules) print_modules(summary);
  if (summary.realtime) print_pace(*summary.realtime);
  print_all("event", happenings(summary));
  print_all("note", summary.notes);
  for (const std::string& warning : summary.warnings) print_line("warning", highlighted(warning, stdout));
  print_results(files);
}

int tell_failure(const Summary& summary, const std::filesystem::path& folder, const std::filesystem::path& checkpoint) {
  const bool by_user = summary.status == kInterrupted;
  complain("{}: {}", summary.model,
           by_user ? fmt::format("interrupted at t = {:.9g} s", summary.simulated_seconds) : summary.status);
  complain("what was computed until then is in {}", folder.string());
  if (by_user && !checkpoint.empty()) complain("'linkwork resume {}' goes on from there", checkpoint.string());
  return by_user ? exit_code_after_interruption() : static_cast<int>(kFailed);
}

}  // namespace linkwork::cli
