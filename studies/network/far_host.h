#pragma once

#include <string>
#include <vector>

namespace linkwork::studies::network {

/// Another host on this machine: a network namespace with a line to it, which 'tc netem' makes as long as one likes, and a server
/// there.
class FarHost {
 public:
  /// Throws std::runtime_error, in words, where that is not permitted.
  FarHost();
  ~FarHost();
  FarHost(const FarHost&) = delete;
  FarHost& operator=(const FarHost&) = delete;

  const std::string& address() const { return address_; }
  /// Of a round trip, s.
  void set_delay(double delay) const;
  /// Starts a program there, in place of the one before, and returns the first line that it prints.
  std::string start(const std::vector<std::string>& command);

 private:
  void stop();
  void take_down() const;

  std::string name_, near_, far_;  // the namespace, the ends of the line
  std::string address_, near_address_;
  int process_ = 0;
};

}  // namespace linkwork::studies::network
