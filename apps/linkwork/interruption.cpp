#include "apps/linkwork/interruption.h"

#include <atomic>
#include <csignal>

namespace linkwork::cli {
namespace {

std::atomic<int> signal_noted = 0;
static_assert(std::atomic<int>::is_always_lock_free);  // for signal handlers

}  // namespace

extern "C" void note_interruption_by(int signal) { note_interruption(signal); }

void note_interruption(int signal) { signal_noted = signal; }

void expect_interruption() {
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    struct sigaction before = {};
    if (sigaction(signal, nullptr, &before) != 0 || before.sa_handler == SIG_IGN) continue;
    struct sigaction action = {};
    action.sa_handler = note_interruption_by;
    action.sa_flags = static_cast<int>(SA_RESETHAND | SA_RESTART);
    sigemptyset(&action.sa_mask);
    sigaction(signal, &action, nullptr);
  }
}

bool interrupted() { return signal_noted != 0; }

int exit_code_after_interruption() { return 128 + (interrupted() ? signal_noted.load() : SIGTERM); }

}  // namespace linkwork::cli
