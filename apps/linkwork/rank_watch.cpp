#include "apps/linkwork/rank_watch.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <ctime>

#include "apps/linkwork/interruption.h"
#include "linkwork/transport/text.h"

namespace linkwork::cli {
namespace {

struct Process {
  pid_t number = 0;  // 0: on another machine
  std::string obituary;
};

// What the signal handler needs, made beforehand: it may not allocate.
std::vector<Process> processes;  // by rank
int own_rank = 0;

bool is_gone(const Process& process) { return process.number != 0 && kill(process.number, 0) != 0 && errno == ESRCH; }

/// mpirun sends SIGTERM to all that are left, and SIGKILL a moment later. None goes before that moment is over, so that only what
/// died by itself is missing, and the first of those left is the one to speak. If all are there, somebody wants them to stop.
extern "C" void say_who_died(int signal) {
  const auto own = static_cast<std::size_t>(own_rank);
  bool all_here = true;
  for (const Process& process : processes) all_here = all_here && !is_gone(process);
  if (all_here) {
    note_interruption(signal);
    return;
  }
  bool first = true;
  for (std::size_t r = 0; r < own; ++r) first = first && is_gone(processes[r]);
  for (std::size_t r = 0; first && r < processes.size(); ++r) {
    if (r == own || !is_gone(processes[r])) continue;
    const std::string& text = processes[r].obituary;
    if (write(STDERR_FILENO, text.data(), text.size()) < 0) break;
  }
  constexpr timespec kMoment{0, 300'000'000};
  nanosleep(&kMoment, nullptr);
  _exit(128 + SIGTERM);
}

}  // namespace

void watch_silence(Transport& world, double seconds, const std::vector<std::string>& work, const std::string& advice) {
  world.set_patience(seconds, [=](std::span<const int> silent) {
    for (const int r : silent)
      fmt::print(stderr, "linkwork: rank {} has not answered for {:.3g} s; it has {}. {}\n", r, seconds,
                 work[static_cast<std::size_t>(r)], advice);
  });
}

void watch_ranks(Transport& world, const std::vector<std::string>& work, const std::string& advice) {
  if (world.size() == 1) return;
  char host[256] = {};
  gethostname(host, sizeof host - 1);
  const std::vector<std::string> identities = gather_texts(world, fmt::format("{} {}", getpid(), host));
  if (gettid() != getpid()) return;  // the first thread of a process speaks for all
  own_rank = world.rank();
  processes.clear();
  for (std::size_t r = 0; r < identities.size(); ++r) {
    const std::size_t space = identities[r].find(' ');
    const bool here = identities[r].substr(space + 1) == host;
    processes.push_back({here ? static_cast<pid_t>(std::stol(identities[r])) : 0,
                         fmt::format("linkwork: rank {} (process {} on {}) has died; it had {}. {}\n", r,
                                     identities[r].substr(0, space), identities[r].substr(space + 1), work[r], advice)});
  }
  struct sigaction action = {};
  action.sa_handler = say_who_died;
  action.sa_flags = SA_RESTART;
  sigemptyset(&action.sa_mask);
  sigaction(SIGTERM, &action, nullptr);
}

}  // namespace linkwork::cli
