#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

namespace linkwork::studies::network {

/// Stands between two ends of connections on this machine and holds every byte back for so long, in each direction: what a long
/// line does, without the rights that 'tc netem' needs.
class Relay {
 public:
  /// From a port of its own to another one, both of 127.0.0.1. Throws std::runtime_error.
  Relay(int to_port, double delay);
  ~Relay();
  Relay(const Relay&) = delete;
  Relay& operator=(const Relay&) = delete;

  int port() const { return port_; }

 private:
  struct Way;
  void accept_all();

  int to_port_, port_ = 0, listener_ = -1;
  double delay_;
  std::atomic<bool> ended_ = false;
  std::mutex mutex_;
  std::vector<std::unique_ptr<Way>> ways_;
  std::vector<int> sockets_;
  std::thread acceptor_;
};

}  // namespace linkwork::studies::network
