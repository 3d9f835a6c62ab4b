#include "studies/network/relay.h"

#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <stdexcept>
#include <string>

namespace linkwork::studies::network {

namespace {

using Clock = std::chrono::steady_clock;

sockaddr_in loopback(int port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return address;
}

void hurry(int socket) {
  const int on = 1;
  setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
}

}  // namespace

/// One direction of a connection.
struct Relay::Way {
  Way(int from_socket, int to_socket, double seconds)
      : from(from_socket),
        to(to_socket),
        delay(std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds))) {
    reader = std::thread([this] { read(); });
    writer = std::thread([this] { write(); });
  }
  ~Way() {
    reader.join();
    writer.join();
  }

  void read() {
    std::array<char, 65536> buffer{};
    for (;;) {
      const ssize_t size = recv(from, buffer.data(), buffer.size(), 0);
      const std::lock_guard lock(mutex);
      held.emplace_back(Clock::now() + delay,
                        size > 0 ? std::string(buffer.data(), static_cast<std::size_t>(size)) : std::string());
      come.notify_one();
      if (size <= 0) return;
    }
  }

  void write() {
    for (;;) {
      std::unique_lock lock(mutex);
      come.wait(lock, [&] { return !held.empty(); });
      const auto [due, text] = std::move(held.front());
      held.pop_front();
      lock.unlock();
      std::this_thread::sleep_until(due);
      if (text.empty()) {
        shutdown(to, SHUT_WR);
        return;
      }
      for (std::size_t sent = 0; sent < text.size();) {
        const ssize_t size = send(to, text.data() + sent, text.size() - sent, MSG_NOSIGNAL);
        if (size <= 0) break;
        sent += static_cast<std::size_t>(size);
      }
    }
  }

  int from, to;
  Clock::duration delay;
  std::mutex mutex;
  std::condition_variable come;
  std::deque<std::pair<Clock::time_point, std::string>> held;
  std::thread reader, writer;
};

Relay::Relay(int to_port, double delay) : to_port_(to_port), delay_(delay) {
  listener_ = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address = loopback(0);
  socklen_t size = sizeof address;
  auto* const any = reinterpret_cast<sockaddr*>(&address);
  if (listener_ < 0 || bind(listener_, any, size) != 0 || listen(listener_, 16) != 0 || getsockname(listener_, any, &size) != 0)
    throw std::runtime_error("no port of this machine can be listened on");
  port_ = ntohs(address.sin_port);
  acceptor_ = std::thread([this] { accept_all(); });
}

void Relay::accept_all() {
  while (!ended_) {
    pollfd ready{listener_, POLLIN, 0};
    if (poll(&ready, 1, 50) <= 0) continue;
    const int near = accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
    if (near < 0) continue;
    const int far = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const sockaddr_in address = loopback(to_port_);
    if (connect(far, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
      close(near), close(far);
      continue;
    }
    hurry(near), hurry(far);
    const std::lock_guard lock(mutex_);
    sockets_.insert(sockets_.end(), {near, far});
    ways_.push_back(std::make_unique<Way>(near, far, delay_));
    ways_.push_back(std::make_unique<Way>(far, near, delay_));
  }
}

Relay::~Relay() {
  ended_ = true;
  acceptor_.join();
  for (const int socket : sockets_) shutdown(socket, SHUT_RDWR);
  ways_.clear();
  for (const int socket : sockets_) close(socket);
  close(listener_);
}

}  // namespace linkwork::studies::network
