#include "studies/network/far_host.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <stdexcept>

extern char** environ;

namespace linkwork::studies::network {

namespace {

/// With its output in `out`, or nowhere. 0: it cannot be started.
int spawn(const std::vector<std::string>& command, int out = -1) {
  std::vector<char*> arguments;
  for (const std::string& argument : command) arguments.push_back(const_cast<char*>(argument.c_str()));
  arguments.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
  for (const int stream : {1, 2}) {
    if (stream == 1 && out >= 0)
      posix_spawn_file_actions_adddup2(&actions, out, stream);
    else
      posix_spawn_file_actions_addopen(&actions, stream, "/dev/null", O_WRONLY, 0);
  }
  pid_t process = 0;
  const int error = posix_spawnp(&process, arguments[0], &actions, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  return error == 0 ? process : 0;
}

bool succeeds(const std::vector<std::string>& command) {
  const int process = spawn(command);
  int status = 0;
  return process > 0 && waitpid(process, &status, 0) == process && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

}  // namespace

FarHost::FarHost() : name_(fmt::format("lw{}", getpid())), near_(name_ + "a"), far_(name_ + "b") {
  const std::string net = fmt::format("10.231.{}.", getpid() % 256);
  near_address_ = net + "1", address_ = net + "2";
  const std::vector<std::string> inside{"ip", "netns", "exec", name_, "ip"};
  const auto there = [&](std::vector<std::string> more) {
    more.insert(more.begin(), inside.begin(), inside.end());
    return succeeds(more);
  };
  if (!succeeds({"ip", "netns", "add", name_})) throw std::runtime_error("network namespaces are not permitted here");
  const bool linked = succeeds({"ip", "link", "add", near_, "type", "veth", "peer", "name", far_}) &&
                      succeeds({"ip", "link", "set", far_, "netns", name_}) &&
                      succeeds({"ip", "addr", "add", near_address_ + "/30", "dev", near_}) &&
                      succeeds({"ip", "link", "set", near_, "up"}) && there({"addr", "add", address_ + "/30", "dev", far_}) &&
                      there({"link", "set", far_, "up"});
  try {
    if (!linked) throw std::runtime_error("there can be no line to another network namespace here");
    set_delay(0.0);
  } catch (const std::runtime_error&) {
    take_down();
    throw;
  }
}

FarHost::~FarHost() {
  stop();
  take_down();
}

void FarHost::take_down() const {
  succeeds({"ip", "link", "del", near_});
  succeeds({"ip", "netns", "del", name_});
}

/// Half of it in each direction.
void FarHost::set_delay(double delay) const {
  const std::string half = fmt::format("{:.0f}us", 0.5e6 * delay);
  const std::vector<std::string> tail{"root", "netem", "delay", half};
  std::vector<std::string> near{"tc", "qdisc", "replace", "dev", near_};
  std::vector<std::string> far{"ip", "netns", "exec", name_, "tc", "qdisc", "replace", "dev", far_};
  near.insert(near.end(), tail.begin(), tail.end());
  far.insert(far.end(), tail.begin(), tail.end());
  if (!succeeds(near) || !succeeds(far)) throw std::runtime_error("this machine has no 'tc netem' that makes lines longer");
}

std::string FarHost::start(const std::vector<std::string>& command) {
  constexpr int kPatience = 20'000;  // ms
  stop();
  std::array<int, 2> ends{};
  if (pipe2(ends.data(), O_CLOEXEC) != 0) throw std::runtime_error("there are no pipes left");
  std::vector<std::string> there{"ip", "netns", "exec", name_};
  there.insert(there.end(), command.begin(), command.end());
  process_ = spawn(there, ends[1]);
  close(ends[1]);
  std::string line;
  for (pollfd ready{ends[0], POLLIN, 0}; line.find('\n') == std::string::npos && poll(&ready, 1, kPatience) > 0;) {
    std::array<char, 512> buffer{};
    const ssize_t size = read(ends[0], buffer.data(), buffer.size());
    if (size <= 0) break;
    line.append(buffer.data(), static_cast<std::size_t>(size));
  }
  close(ends[0]);
  if (line.find('\n') == std::string::npos) throw std::runtime_error(fmt::format("'{}' does not start", command.front()));
  return line.substr(0, line.find('\n'));
}

void FarHost::stop() {
  if (process_ <= 0) return;
  kill(process_, SIGTERM);
  waitpid(process_, nullptr, 0);
  process_ = 0;
}

}  // namespace linkwork::studies::network
