#include "linkwork/simulation/check.h"

#include <fmt/format.h>

#include <cmath>
#include <cstdio>
#include <memory>

#include "apps/linkwork/commands.h"
#include "apps/linkwork/methods.h"
#include "apps/linkwork/model_argument.h"
#include "apps/linkwork/terminal.h"
#include "apps/linkwork/text.h"
#include "linkwork/io/check_file.h"
#include "linkwork/model/signal_block.h"
#include "linkwork/modules/assembly_start.h"
#include "linkwork/modules/settings_check.h"
#include "linkwork/simulation/design_fit.h"

namespace linkwork::cli {
namespace {

constexpr const char* kCheckFooter =
    R"(Reports degrees of freedom, loops and cut joints, what assembling the start had to move, and a diagnosis of the constraints:
which rows follow from which others, which reactions are unique, how far a singular position is, and what can be done.
A start that no position satisfies is an error that names the closures.

Examples:
  linkwork check four_bar
  linkwork check n_four_bar --set n=40
  linkwork check bricard --json)";

constexpr std::size_t kMostLines = 10;

void print_some(const std::vector<std::string>& lines) {
  for (std::size_t i = 0; i < lines.size() && i < kMostLines; ++i) print_line("", lines[i]);
  if (lines.size() > kMostLines) print_line("", fmt::format("and {} more", lines.size() - kMostLines));
}

/// What was said while the model was read.
void print_notes(const Spec& spec) {
  if (spec.notes.empty()) return;
  print_line("file", spec.notes.front());
  for (std::size_t i = 1; i < spec.notes.size(); ++i) print_line("", spec.notes[i]);
}

void print_loops(const CheckReport& report, const Model& model, std::size_t notes_before) {
  print_line("loops", report.loops() == 0 ? "none" : std::to_string(report.loops()));
  std::vector<std::string> lines(model.notes.begin() + static_cast<std::ptrdiff_t>(notes_before), model.notes.end());
  for (const CheckReport::Closure& closure : report.closures)
    if (closure.closes_loop && !closure.is_cut_joint)
      lines.push_back(fmt::format("closed by '{}' ({}, {})", closure.name, closure.type, counted(closure.rows, "row")));
  print_some(lines);
}

void print_constraints(const CheckReport& report, const Model& model) {
  if (report.rows == 0) {
    print_line("constraints", "none");
    return;
  }
  const std::vector<std::string> redundant = report.redundant();
  print_line("constraints",
             fmt::format("{}, rank {}{}", counted(report.rows, "row"), report.rank,
                         redundant.empty() ? ", none redundant" : fmt::format(", {} redundant:", redundant.size())));
  print_some(describe_dependence(model, report.diagnosis));
  std::vector<std::string> relations;
  for (const CheckReport::Closure& closure : report.closures)
    if (!closure.closes_loop) relations.push_back(closure.name);
  if (!relations.empty()) print_line("", "relations of joint coordinates: " + listed(relations));
  print_line("", describe_regularity(model, report.diagnosis));
  const std::string reactions = describe_reactions(model, report.diagnosis);
  print_line("reactions", reactions.empty() ? "all unique" : reactions);
  if (const std::string advice = advise(model, report.diagnosis); !advice.empty()) print_line("advice", advice);
}

void print_start(const AssemblyReport& assembly) {
  if (assembly.moved.empty()) {
    print_line("start", "consistent as given");
    return;
  }
  print_line("start", fmt::format("errors of {:.2g} in position and {:.2g} in velocity; assembly moved {}:",
                                  assembly.position_error_before, assembly.velocity_error_before,
                                  counted(static_cast<long>(assembly.moved.size()), "coordinate")));
  for (std::size_t i = 0; i < assembly.moved.size() && i < kMostLines; ++i)
    print_line("", fmt::format("{} from {:.9g}{} to {:.9g}", assembly.moved[i].coordinate, assembly.moved[i].from,
                               assembly.moved[i].given ? ", as given," : "", assembly.moved[i].to));
  if (assembly.moved.size() > kMostLines) print_line("", fmt::format("and {} more", assembly.moved.size() - kMostLines));
}

/// What constrains velocities only, and what comes and goes.
void print_switching(const Model& model) {
  const auto print = [](const std::string& label, const auto& things, const std::string& what) {
    std::vector<std::string> names;
    for (const auto& thing : things) names.push_back("'" + thing.name + "'");
    if (!names.empty()) print_line(label, listed(names) + what);
  };
  std::vector<std::string> rows;
  for (const ConstraintRow& row : model.rows)
    if (!row.holonomic && !row.switched) rows.push_back(row.name);
  if (!rows.empty()) print_line("velocities", "constrained by " + listed(rows) + ", which constrain no positions");
  print("events", model.events, "");
  print("contacts", model.contacts, ", open or closed as the motion has it");
  print("friction", model.frictions, ", sticking or sliding");
}

/// FMUs are instantiated here, to see whether they can be.
std::vector<std::string> describe_fmus(const Model& model) {
  std::vector<std::string> lines;
  for (const Block& fmu : model.blocks) {
    fmu.block->instantiate();
    lines.push_back(fmt::format("'{}', {}", fmu.name,
                                fmu.block->steps()
                                    ? fmt::format("co-simulation in steps of {:.6g} s", fmu.block->step)
                                    : "model exchange, " + counted(static_cast<long>(fmu.block->states.size()), "state")));
  }
  return lines;
}

/// What the choices of coordinates cost, and why 'auto' takes the one it takes.
void print_coordinates(const CheckReport& report, const Model& model) {
  const auto thousands = [](double instructions) {
    return std::isnan(instructions) ? std::string("?") : fmt::format("{:.3g}k", 1e-3 * instructions);
  };
  print_line("coordinates", fmt::format("{} ({})", report.in_coordinates,
                                        model.settings.coordinates.name == "auto" ? "auto" : "as the model asks"));
  const CoordinateCosts& costs = report.costs;
  print_line("", fmt::format("predicted instructions per evaluation: TA {}, CE {}, auto {}, FA {}", thousands(costs.ta),
                             thousands(costs.ce), thousands(costs.automatic), thousands(report.free_body_cost)));
  for (std::size_t i = 0; i < costs.clusters.size() && i < kMostLines; ++i) {
    const CoordinateCosts::Cluster& c = costs.clusters[i];
    print_line("", fmt::format("{}: {} over {}, {} independent: {} cut, {} embedded", listed(c.closures), counted(c.rows, "row"),
                               counted(c.joints, "joint"), c.independent, thousands(c.cut), thousands(c.embedded)));
  }
  if (costs.clusters.size() > kMostLines) print_line("", fmt::format("and {} more", costs.clusters.size() - kMostLines));
}

/// How a run would solve modules, and why.
void print_modules(const Spec& spec) {
  if (spec.modules.empty()) return;
  std::vector<std::string> notes;
  const Choice glue = chosen_glue(spec, notes);
  const char* const how = spec.settings.glue.name == "auto" ? "auto" : "as the model asks";
  print_line("modules", notes.empty() ? fmt::format("{}, glue {} ({})", spec.modules.size(), glue.name, how)
                                      : fmt::format("{}; {}", spec.modules.size(), notes.front()));
}

void print_report(const CheckReport& report, const Spec& spec, const Model& model) {
  const std::vector<std::string> fmus = describe_fmus(model);
  print("{} ({})\n", model.name, model.file);
  print_line("bodies", std::to_string(report.bodies));
  print_line("joints", fmt::format("{}, with {} in the spanning tree", report.joints, counted(report.coordinates, "coordinate")));
  print_modules(spec);
  print_notes(spec);
  print_loops(report, model, spec.notes.size());
  print_constraints(report, model);
  print_line("freedom", fmt::format("{}: {} less rank {}", counted(report.dof, "degree of freedom"),
                                    counted(report.coordinates, "coordinate"), report.rank));
  print_switching(model);
  if (!fmus.empty()) print_line("FMUs", listed(fmus));
  print_start(report.assembly);
  for (const std::string& warning : report.warnings) print_line("warning", highlighted(warning, stdout));
  print_line("formulation", fmt::format("{} ({})", report.formulation, report.formulation_reason));
  if (report.rows > 0) print_coordinates(report, model);
}

struct CheckOptions {
  ModelArgument model;
  bool json = false;
};

int check_model(const CheckOptions& options) {
  const Spec spec = options.model.read();
  check_settings(spec.settings);
  const Model model = fitted_model(spec);
  const CheckReport report = check(model);
  if (options.json)
    print("{}\n", check_json(report, model));
  else
    print_report(report, spec, model);
  if (report.trouble.empty()) return kDone;
  complain("{} cannot run: {}", model.name, report.trouble);
  return kFailed;
}

}  // namespace

Command check_command(CLI::App& program) {
  CLI::App* const app = program.add_subcommand("check", "Tells what a model is, and whether it can run.");
  const auto options = std::make_shared<CheckOptions>();
  options->model.add_to(*app);
  app->add_flag("--json", options->json, "print one JSON object, for programs");
  app->footer(kCheckFooter);
  return {app, [options] { return check_model(*options); }};
}

}  // namespace linkwork::cli
