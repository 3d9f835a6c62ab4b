#pragma once

#include <functional>

namespace linkwork::cli {

/// What a command line asks for, ready to be done; it returns the exit code. Throws InputError if it cannot be understood, and
/// then nothing has been done.
std::function<int()> understood(int argc, const char* const* argv);

/// Does it, and tells what goes wrong. The whole program.
int exit_code(int argc, const char* const* argv);

}  // namespace linkwork::cli
