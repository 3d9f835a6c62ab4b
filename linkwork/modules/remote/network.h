#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace linkwork {

/// The other side does not answer any more, or never has: in words.
class LineLost : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Carries requests of a run to a host and its replies back, in order. All functions throw LineLost.
class Line {
 public:
  virtual ~Line() = default;
  virtual void send(const std::string& request) = 0;
  /// Waits no longer than the time-out.
  virtual std::string receive() = 0;
};

/// A line to "host:port".
using DialHost = std::function<std::unique_ptr<Line>(const std::string& host)>;

/// The host's side of one line.
class Talk {
 public:
  virtual ~Talk() = default;
  /// The line is closed if it throws.
  virtual std::string answer(std::string_view request) = 0;
};

/// Makes states unreadable to all but this host, and knows its own again.
class Sealer {
 public:
  virtual ~Sealer() = default;
  virtual std::string seal(const std::string& text) const = 0;
  /// Nothing: it was sealed elsewhere, or has been changed.
  virtual std::optional<std::string> open(const std::string& sealed) const = 0;
};

/// Files: one's own certificate and key, and the certificate of the authority that must have signed the other side's.
struct Credentials {
  std::string cert, key, ca;
};

struct ListenSettings {
  std::string host;  // address or name; nothing else is listened on
  int port = 0;      // 0: any that is free
  Credentials credentials;
  std::size_t most_message_bytes = 4U << 20U;
  std::size_t most_lines = 64;
  double most_messages_per_second = 50'000.0;  // on a line
  double idle_seconds = 3600.0;                // after which a connection without a line is closed
};

/// What needs gRPC and OpenSSL: a shared object of its own, which is loaded when a run has a module on another host. All
/// functions throw std::runtime_error, in words.
class Network {
 public:
  virtual ~Network() = default;

  /// A line to "host:port", with mutual TLS. Throws LineLost.
  virtual std::unique_ptr<Line> dial(const std::string& host, const Credentials& credentials, double timeout) = 0;
  /// Answers until `go_on` is false, which is asked some ten times per second. `listening` is told the port.
  virtual void listen(const ListenSettings& settings, const std::function<std::unique_ptr<Talk>()>& make_talk,
                      const std::function<void(int port)>& listening, const std::function<bool()>& go_on) = 0;
  /// By the private key of a host: it knows its own states again after a new start.
  virtual std::unique_ptr<Sealer> make_sealer(const std::string& key_file) = 0;
  /// A certificate authority and keys for a trial, in a new folder. `names` are those of the server. Returns the files.
  virtual std::vector<std::string> make_keys(const std::string& folder, const std::vector<std::string>& names, int days) = 0;
};

/// What the shared object is called, what it offers, and whether it is of this version of the interface above.
inline constexpr const char* kNetworkLibrary = "liblinkwork_network.so";
inline constexpr const char* kNetworkEntry = "linkwork_network";
inline constexpr int kNetworkInterface = 1;
using NetworkEntry = Network* (*)(int interface);

/// Loads it the first time. Throws InputError where there is none.
Network& network();

}  // namespace linkwork
