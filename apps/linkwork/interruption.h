#pragma once

namespace linkwork::cli {

/// From here on SIGINT, SIGTERM and SIGHUP ask the program to come to an end, unless they were ignored before. A second one of
/// the same kind ends it at once.
void expect_interruption();

bool interrupted();
/// 128 + the signal, as shells have it. If it was another rank that got one: as after SIGTERM.
int exit_code_after_interruption();

/// For handlers of signals that decide for themselves what they mean.
void note_interruption(int signal);

}  // namespace linkwork::cli
