#pragma once

#include <CLI/CLI.hpp>
#include <functional>

namespace linkwork::cli {

/// Exit codes of the program.
enum ExitCode { kDone = 0, kFailed = 1, kBadInput = 2 };

/// A subcommand: its options, and what it does once they are read.
struct Command {
  CLI::App* options;
  std::function<int()> run;
};

// One per file.
Command run_command(CLI::App& program);
Command resume_command(CLI::App& program);
Command compare_command(CLI::App& program);
Command kinematics_command(CLI::App& program);
Command equilibrium_command(CLI::App& program);
Command linearize_command(CLI::App& program);
Command modes_command(CLI::App& program);
Command inverse_command(CLI::App& program);
Command sensitivity_command(CLI::App& program);
Command sweep_command(CLI::App& program);
Command optimize_command(CLI::App& program);
Command check_command(CLI::App& program);
Command list_command(CLI::App& program);
Command new_command(CLI::App& program);
Command import_command(CLI::App& program);
Command schema_command(CLI::App& program);
Command report_command(CLI::App& program);
Command view_command(CLI::App& program);
Command picture_command(CLI::App& program);
Command animate_command(CLI::App& program);
Command study_command(CLI::App& program);
Command serve_command(CLI::App& program);
Command ping_command(CLI::App& program);

}  // namespace linkwork::cli
