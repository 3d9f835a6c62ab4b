#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>

#include "apps/linkwork/commands.h"
#include "apps/linkwork/interruption.h"
#include "apps/linkwork/lists.h"
#include "apps/linkwork/model_argument.h"
#include "apps/linkwork/modes_page.h"
#include "apps/linkwork/result_folder.h"
#include "apps/linkwork/terminal.h"
#include "apps/linkwork/text.h"
#include "linkwork/analysis/equilibrium.h"
#include "linkwork/analysis/inverse_dynamics.h"
#include "linkwork/analysis/sensitivity.h"
#include "linkwork/io/analysis_file.h"
#include "linkwork/io/model_parameters.h"
#include "linkwork/io/motion_file.h"
#include "linkwork/io/page.h"
#include "linkwork/io/trajectory_file.h"
#include "linkwork/simulation/design_fit.h"
#include "linkwork/simulation/simulation_error.h"

namespace linkwork::cli {
namespace {

constexpr std::size_t kMostRows = 12;
/// With more states than that only some modes are computed, unless more are asked for.
constexpr int kManyStates = 400, kFewModes = 20;

struct AnalysisOptions {
  ModelArgument model;
  std::optional<std::string> out, at, actuators, motion, end, every, parameters, starts, method;
  std::optional<int> count;
  std::vector<std::string> measures;
  bool quiet = false;

  CLI::App* add_to(CLI::App& program, const char* name, const char* summary, const char* footer) {
    CLI::App* const app = program.add_subcommand(name, summary);
    model.add_to(*app);
    app->add_option("--out", out, fmt::format("folder for the results; default out/<model name>-{}", name))->option_text("DIR");
    app->add_flag("--quiet", quiet, "print nothing but errors");
    app->footer(footer);
    return app;
  }
  void add_at(CLI::App& app, const char* standard) {
    app.add_option("--at", at,
                   fmt::format("where: start, equilibrium, steady (a motion with the start's velocities), or a time of the "
                               "motion in s; default {}",
                               standard))
        ->option_text("WHERE");
  }
};

std::shared_ptr<const Model> read_model(const AnalysisOptions& options) {
  return std::make_shared<const Model>(fitted_model(options.model.read()));
}

void print_file(const AnalysisOptions& options, const ResultFolder& folder, const char* file) {
  if (!options.quiet) print_line("results", (folder / file).string());
}

int find_rest(const AnalysisOptions& options) {
  const auto model = read_model(options);
  ReducedMotion motion(model);
  const Equilibrium found = find_equilibrium(model, motion);
  const ResultFolder folder(options.out, model->name + "-equilibrium");
  write_text_file(folder / "equilibrium.json", equilibrium_json(found));
  if (!found.found) {
    complain("{} has no equilibrium that could be found: {}", model->name, found.status);
    return kFailed;
  }
  if (!options.quiet) {
    print("{}: {} equilibrium, forces balanced to {:.1e} in {}\n", model->name, found.stable ? "a stable" : "an unstable",
          found.residual, counted(found.iterations, "iteration"));
    std::size_t shown = 0;
    for (const Joint& joint : model->joints)
      for (std::size_t k = 0; k < joint.q.size() && shown < kMostRows; ++k, ++shown)
        print_line(shown == 0 ? "positions" : "",
                   fmt::format("q.{} = {:.9g}", coordinate_name(joint, joint.kind->positions[k]), found.state.q[joint.q[k]]));
  }
  print_file(options, folder, "equilibrium.json");
  return kDone;
}

std::string in_words(const LinearModel::Eigenvalue& each) {
  return fmt::format("{:.9g} {} {:.9g}i: {:.6g} Hz, damping ratio {:.4g}", each.value.real(), each.value.imag() < 0 ? "-" : "+",
                     std::abs(each.value.imag()), each.frequency_hz, each.damping_ratio);
}

int find_linear_model(const AnalysisOptions& options) {
  const auto model = read_model(options);
  ReducedMotion motion(model);
  begin_at(options.at.value_or("start"), model, motion);
  const LinearModel linear = linearize(motion);
  const ResultFolder folder(options.out, model->name + "-linearize");
  write_text_file(folder / "linearization.json", linearization_json(linear));
  if (!options.quiet) {
    print("{}: {}, {}, {}, about t = {:.6g} s\n", model->name, counted(static_cast<long>(linear.states.size()), "state"),
          counted(static_cast<long>(linear.inputs.size()), "input"), counted(static_cast<long>(linear.outputs.size()), "output"),
          linear.t);
    if (!linear.states.empty()) print_line("states", listed(linear.states));
    for (std::size_t i = 0; i < linear.eigenvalues.size() && i < kMostRows; ++i)
      print_line(i == 0 ? "eigenvalues" : "", in_words(linear.eigenvalues[i]));
    if (linear.eigenvalues.size() > kMostRows) print_line("", fmt::format("and {} more", linear.eigenvalues.size() - kMostRows));
  }
  print_file(options, folder, "linearization.json");
  return kDone;
}

int find_vibrations(const AnalysisOptions& options) {
  const Spec spec = options.model.read();
  const auto model = std::make_shared<const Model>(fitted_model(spec));
  ReducedMotion motion(model);
  begin_at(options.at.value_or("equilibrium"), model, motion);
  const LinearModel linear = linear_terms(motion);
  const bool is_large = linear.A.rows() > kManyStates;
  const std::vector<Mode> modes = find_modes(motion, linear, options.count.value_or(is_large ? kFewModes : 0));
  const ResultFolder folder(options.out, model->name + "-modes");
  write_text_file(folder / "modes.json", modes_json(modes));
  const bool has_page = write_modes_page(folder / "modes.html", spec, *model, linear, modes);
  if (!options.quiet) {
    print("{}: {}{} about its {}\n", model->name, options.count || is_large ? "the lowest of its modes, " : "",
          counted(static_cast<long>(modes.size()), "mode"), options.at.value_or("equilibrium"));
    for (std::size_t i = 0; i < modes.size() && i < kMostRows; ++i) {
      std::vector<std::pair<double, std::string>> parts;
      for (const auto& [name, value] : modes[i].shape) parts.emplace_back(-std::abs(value), name);
      std::ranges::stable_sort(parts);
      std::string shape;
      for (std::size_t k = 0; k < parts.size() && k < 3 && -parts[k].first > 0.01; ++k)
        shape += fmt::format("{}{} {:.2g}", k == 0 ? "" : ", ", parts[k].second, -parts[k].first);
      print_line(i == 0 ? "modes" : "",
                 fmt::format("{:.9g} Hz, damping ratio {:.4g}: {}", modes[i].frequency_hz, modes[i].damping_ratio, shape));
    }
    if (modes.size() > kMostRows) print_line("", fmt::format("and {} more", modes.size() - kMostRows));
  }
  print_file(options, folder, "modes.json");
  if (has_page && !options.quiet) print_line("", (folder / "modes.html").string() + " (open it in a browser)");
  return kDone;
}

std::vector<std::string> names_in(const std::string& list) {
  std::vector<std::string> names;
  for (std::size_t at = 0; at <= list.size();) {
    const std::size_t comma = std::min(list.find(',', at), list.size());
    if (comma > at) names.push_back(list.substr(at, comma - at));
    at = comma + 1;
  }
  return names;
}

int find_efforts(const AnalysisOptions& options) {
  Spec spec = options.model.read();
  if (options.end) spec.settings.end = parse_positive(*options.end, "--end");
  if (options.every) spec.settings.output_every = parse_positive(*options.every, "--every");
  if (options.motion) add_drives(spec, *options.motion, options.end.has_value());
  const auto model = std::make_shared<const Model>(fitted_model(spec));
  expect_interruption();
  const InverseMotion inverse = inverse_motion(model, names_in(options.actuators.value_or("")), [] { return !interrupted(); });
  const ResultFolder folder(options.out, model->name + "-inverse");
  TrajectoryFile file(folder / "inverse.csv", inverse.columns);
  for (const std::vector<double>& row : inverse.rows) file.write(row);
  file.close();
  write_text_file(folder / "inverse.json", inverse_json(inverse));
  if (!options.quiet) {
    print("{}: {} of {}, efforts up to {:.6g}\n", model->name, counted(static_cast<long>(inverse.rows.size()), "row"),
          counted(static_cast<long>(inverse.actuators.size()), "actuator"), inverse.largest_effort);
    for (const std::string& note : inverse.notes) print_line("note", note);
  }
  print_file(options, folder, "inverse.csv");
  return kDone;
}

int find_influences(const AnalysisOptions& options) {
  const auto read = [&](const ModelArgument& model) {
    Spec spec = model.read();
    if (options.end) spec.settings.end = parse_positive(*options.end, "--end");
    return spec;
  };
  const Spec spec = read(options.model);
  ReadOptions reading;
  for (const std::string& set : options.model.set)
    reading.set.emplace_back(set.substr(0, set.find('=')), set.substr(set.find('=') + 1));
  expect_interruption();
  const Sensitivities found = find_sensitivities(
      spec, options.measures, names_in(options.parameters.value_or("")), names_in(options.starts.value_or("")),
      options.method.value_or("auto"), parameters_of(spec, reading),
      [&](const std::string& name, double value) {
        ModelArgument changed = options.model;
        std::erase_if(changed.set, [&](const std::string& set) { return set.starts_with(name + "="); });
        changed.set.push_back(fmt::format("{}={}", name, value));
        return read(changed);
      },
      [] { return !interrupted(); });
  const ResultFolder folder(options.out, spec.name + "-sensitivity");
  write_text_file(folder / "sensitivity.json", sensitivity_json(found));
  if (!options.quiet) {
    print("{}: {}, {} method\n", spec.name, counted(found.steps, "step"), found.method);
    for (const Sensitivities::Measure& measure : found.measures) {
      print_line(measure.name, fmt::format("{:.9g}", measure.value));
      for (const auto& [name, value] : measure.derivatives) print_line("", fmt::format("by {}: {:.9g}", name, value));
    }
    for (const std::string& note : found.notes) print_line("note", note);
  }
  print_file(options, folder, "sensitivity.json");
  return kDone;
}

template <class Act>
Command command(CLI::App* app, const std::shared_ptr<AnalysisOptions>& options, Act act) {
  return {app, [options, act] {
            try {
              return act(*options);
            } catch (const SimulationError& error) {
              complain("{}", error.what());
              return static_cast<int>(kFailed);
            }
          }};
}

}  // namespace

Command equilibrium_command(CLI::App& program) {
  const auto options = std::make_shared<AnalysisOptions>();
  CLI::App* const app = options->add_to(
      program, "equilibrium", "Finds where a model can rest, near its start.",
      R"(At an equilibrium no force acts along a motion that the constraints leave free. The command also says whether it is stable. Contacts
and dry friction hold as they do where the motion comes to rest. Writes equilibrium.json: positions, reactions of all joints, efforts
of all forces. If there is no equilibrium near the start, it says why, and the exit code is 1.

Examples:
  linkwork equilibrium measured_car
  linkwork equilibrium four_bar --set torque=0)");
  return command(app, options, find_rest);
}

Command linearize_command(CLI::App& program) {
  const auto options = std::make_shared<AnalysisOptions>();
  CLI::App* const app = options->add_to(
      program, "linearize", "Gives the linear model of small motions about a state.",
      R"(xdot = A x + B u, y = C x + D u. States x are independent coordinates and velocities, then those of the model's [[state]]; inputs u are
its [[input]], outputs y its sensors. Constraints add no eigenvalues of their own. Writes linearization.json.

Examples:
  linkwork linearize pid_arm --at equilibrium
  linkwork linearize four_bar --set torque=0 --at 0.5)");
  options->add_at(*app, "start");
  return command(app, options, find_linear_model);
}

Command modes_command(CLI::App& program) {
  const auto options = std::make_shared<AnalysisOptions>();
  CLI::App* const app = options->add_to(
      program, "modes", "Finds the natural vibrations of a model, with their shapes.",
      R"(These are small vibrations about the equilibrium, or about the state of --at. Writes modes.json: frequencies, damping ratios and
shapes, from the lowest frequency up; and modes.html, a page that moves them. Motions without stiffness have the frequency 0. Models
with more than 200 degrees of freedom get the 20 lowest modes, or as many as --count says.

Examples:
  linkwork modes measured_car
  linkwork modes chain --set n=100 --count 5)");
  options->add_at(*app, "equilibrium");
  app->add_option("--count", options->count, "only the N lowest modes")->option_text("N")->check(CLI::PositiveNumber);
  return command(app, options, find_vibrations);
}

Command inverse_command(CLI::App& program) {
  const auto options = std::make_shared<AnalysisOptions>();
  CLI::App* const app = options->add_to(
      program, "inverse", "Finds the efforts of motors that make a motion happen.",
      R"(The motion is that of the model's drives, or of a file with columns t and q.<joint>. Motors are the driven joints, or those of
--actuators: if there are more than degrees of freedom, efforts are those of least squares; if fewer, it is an error. A base that
floats and is not driven has no motors, and moves as the equations of motion make it.
Writes inverse.csv (effort.<joint>, and the motion), which an [[input]] can read, and inverse.json.

Examples:
  linkwork inverse four_bar_driven
  linkwork inverse four_bar_driven --actuators theta4)");
  app->add_option("--actuators", options->actuators, "coordinates that motors act on, with commas between")->option_text("J1,J2");
  app->add_option("--motion", options->motion, "the motion: comma-separated values with columns t and q.<joint>")
      ->option_text("FILE.csv");
  app->add_option("--end", options->end, "time at which the motion ends, s")->option_text("T");
  app->add_option("--every", options->every, "time between two rows, s")->option_text("DT");
  return command(app, options, find_efforts);
}

Command sensitivity_command(CLI::App& program) {
  const auto options = std::make_shared<AnalysisOptions>();
  CLI::App* const app = options->add_to(
      program, "sensitivity", "Finds how measures of a run change with parameters and start values.",
      R"text(A measure is final(COLUMN), max(COLUMN), min(COLUMN) or integral(COLUMN), of a coordinate q., a velocity v. or a sensor.
Derivatives are those of the run itself, with its steps and through its events. The integrator must be an explicit Runge-Kutta method.
With many parameters the equations are followed backward (adjoint). Writes sensitivity.json.

Examples:
  linkwork sensitivity four_bar --end 0.5 --measure "final(q.theta)" --parameters torque,l1
  linkwork sensitivity double_pendulum --end 1 --measure "end=final(q.lower)" --starts q.upper,v.upper)text");
  app->add_option("--measure", options->measures, "what is measured, with a name and = before it or not; repeatable")
      ->allow_extra_args(false)
      ->option_text("MEASURE");
  app->add_option("--parameters", options->parameters, "parameters of the model, with commas between")->option_text("P1,P2");
  app->add_option("--starts", options->starts, "start values of coordinates, q.JOINT or v.JOINT, with commas between")
      ->option_text("Q1,V1");
  app->add_option("--method", options->method, "forward, adjoint, or auto, the default, which chooses by their numbers")
      ->option_text("NAME");
  app->add_option("--end", options->end, "time at which the run ends, s")->option_text("T");
  return command(app, options, find_influences);
}

}  // namespace linkwork::cli
