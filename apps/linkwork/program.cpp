#include "apps/linkwork/program.h"

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <memory>
#include <new>
#include <sstream>
#include <string>
#include <vector>

#include "apps/linkwork/commands.h"
#include "apps/linkwork/export.h"
#include "apps/linkwork/terminal.h"
#include "linkwork/model/input_error.h"
#include "linkwork/version.h"

namespace linkwork::cli {
namespace {

constexpr const char* kProgramFooter = R"(Examples:
  linkwork run four_bar          a ready model, by its name
  linkwork new my_linkage        writes my_linkage.toml, to be edited
  linkwork run my_linkage.toml   results in out/my_linkage

'linkwork COMMAND --help' explains a command. Exit codes: 0 done; 1 it could not be finished; 2 bad input or usage;
130, 143, 129 interrupted by SIGINT, SIGTERM, SIGHUP.)";

/// A mistyped command is better told than CLI11 would.
void check_command_name(const CLI::App& program, const std::vector<Command>& commands, const char* const* argv) {
  std::vector<std::string> names;
  names.reserve(commands.size());
  for (const Command& command : commands) names.push_back(command.options->get_name());
  if (argv[1][0] == '-') {
    if (program.get_option_no_throw(argv[1]) == nullptr) throw unknown_name({}, "option", argv[1], {"--help", "--version"});
    return;
  }
  if (std::find(names.begin(), names.end(), argv[1]) == names.end()) throw unknown_name({}, "command", argv[1], names);
}

/// CLI11's message, or a clearer one.
std::string usage_message(const CLI::ParseError& error) {
  const std::string text = error.what();
  const bool counts_values = dynamic_cast<const CLI::ArgumentMismatch*>(&error) != nullptr;
  return counts_values ? text.substr(0, text.find(':')) + ": takes exactly one value" : text;
}

/// The same for options: CLI11 has left those that it does not know.
void check_leftovers(const CLI::App& options) {
  const std::vector<std::string> left = options.remaining();
  if (left.empty()) return;
  const auto is_option = [](const std::string& text) { return text.size() > 1 && text[0] == '-'; };
  const auto option = std::find_if(left.begin(), left.end(), is_option);
  if (option == left.end()) throw InputError({}, fmt::format("the argument '{}' is one too many", left.front()));
  std::vector<std::string> names;
  for (const CLI::Option* known : options.get_options())
    for (const std::string& name : known->get_lnames()) names.push_back("--" + name);
  throw unknown_name({}, "option", option->substr(0, option->find('=')), names);
}

int exit_code(int argc, const char* const* argv, const std::vector<CommandMaker>& makers) {
  try {
    return understood(argc, argv, makers)();
  } catch (const InputError& error) {
    complain_of(error.what());
    return kBadInput;
  } catch (const std::bad_alloc&) {
    complain_of("out of memory");
  } catch (const std::exception& error) {
    complain_of(error.what());
  }
  return kFailed;
}

}  // namespace

std::vector<CommandMaker> all_commands() {
  return {run_command,       resume_command, compare_command, kinematics_command,  check_command,  report_command,
          view_command,      study_command,  list_command,    new_command,         schema_command, equilibrium_command,
          linearize_command, modes_command,  inverse_command, sensitivity_command, sweep_command,  optimize_command,
          import_command,    export_command, picture_command, animate_command,     serve_command,  ping_command};
}

std::function<int()> understood(int argc, const char* const* argv, const std::vector<CommandMaker>& makers) {
  const auto program = std::make_shared<CLI::App>(
      "Linkwork simulates constrained mechanical systems: mechanisms with closed loops, written in readable files.", "linkwork");
  program->set_version_flag("--version", "linkwork " LINKWORK_VERSION, "print the version and exit");
  program->set_help_flag("-h,--help", "print this help and exit");
  program->require_subcommand(1);
  program->footer(kProgramFooter);
  program->get_formatter()->column_width(26);
  program->get_formatter()->label("Positionals", "Arguments");
  program->get_formatter()->label("SUBCOMMAND", "COMMAND");
  program->get_formatter()->label("REQUIRED", "");

  std::vector<Command> commands;
  for (const CommandMaker make : makers) {  // up to the one that is meant: the options of all take longer than a short run
    commands.push_back(make(*program));
    if (argc > 1 && commands.back().options->get_name() == argv[1]) break;
  }
  for (const Command& command : commands) {
    command.options->allow_extras();
    command.options->group("Commands");
  }
  if (argc < 2)
    return [program] {
      print("{}", program->help());
      return kDone;
    };
  check_command_name(*program, commands, argv);
  try {
    program->parse(argc, argv);
  } catch (const CLI::Success& wanted) {  // --help, --version
    return [program, wanted] {
      std::ostringstream text;
      const int code = program->exit(wanted, text, text);
      print("{}", text.str());
      return code;
    };
  } catch (const CLI::ParseError& error) {
    const auto used = program->get_subcommands();
    const std::string help = (used.empty() ? "linkwork" : "linkwork " + used.front()->get_name()) + " --help";
    throw InputError({}, fmt::format("{}; see '{}'", usage_message(error), help));
  }
  const auto chosen = std::ranges::find_if(commands, [](const Command& command) { return command.options->parsed(); });
  check_leftovers(*chosen->options);
  return [program, run = std::move(chosen->run)] { return run(); };
}

int program_main(int argc, const char* const* argv, const std::vector<CommandMaker>& makers) {
  prepare_streams();
  const int code = exit_code(argc, argv, makers);
  const bool printed = finish_printing();
  return code == kDone && !printed ? static_cast<int>(kFailed) : code;
}

}  // namespace linkwork::cli
