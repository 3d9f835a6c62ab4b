#pragma once

#include <functional>
#include <vector>

#include "apps/linkwork/commands.h"

namespace linkwork::cli {

using CommandMaker = Command (*)(CLI::App& program);
std::vector<CommandMaker> all_commands();

/// What a command line asks for, ready to be done; it returns the exit code. Throws InputError if it cannot be understood, and
/// then nothing has been done.
std::function<int()> understood(int argc, const char* const* argv, const std::vector<CommandMaker>& makers = all_commands());

/// All of a program: understands, does, and tells what went wrong. The exit code.
int program_main(int argc, const char* const* argv, const std::vector<CommandMaker>& makers);

}  // namespace linkwork::cli
