#include "apps/linkwork/http_server.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <exception>
#include <list>
#include <optional>
#include <system_error>

namespace linkwork::cli {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t kMostConnections = 32;
constexpr std::size_t kLongestRequest = 16U << 10U;
constexpr std::size_t kMostToDiscard = 256U << 10U;  // of what comes after a request, or of a body
constexpr std::chrono::seconds kToAsk(10), kToTake(60), kToLeave(1);

[[noreturn]] void fail(const char* what) { throw std::system_error(errno, std::generic_category(), what); }

std::string lower(std::string_view text) {
  std::string small(text);
  for (char& c : small)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return small;
}

std::string_view trimmed(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(" \t");
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(" \t") + 1 - begin);
}

std::string reason(int status) {
  switch (status) {
    case 200:
      return "OK";
    case 400:
      return "Bad Request";
    case 403:
      return "Forbidden";
    case 404:
      return "Not Found";
    case 405:
      return "Method Not Allowed";
    case 431:
      return "Request Header Fields Too Large";
    default:
      return "Internal Server Error";
  }
}

struct Request {
  std::string method, target;
  std::vector<std::pair<std::string, std::string>> headers = {};  // names in small letters
};

/// What stands before the empty line.
std::optional<Request> parse_request(std::string_view text) {
  const auto next_line = [&] {
    const std::size_t end = std::min(text.find("\r\n"), text.size());
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 2, text.size()));
    return line;
  };
  const std::string_view first = next_line();
  const std::size_t one = first.find(' '), two = first.rfind(' ');
  if (one == std::string_view::npos || two == one || !first.substr(two + 1).starts_with("HTTP/1.")) return {};
  Request request{std::string(first.substr(0, one)), std::string(first.substr(one + 1, two - one - 1))};
  if (!request.target.starts_with('/')) return {};
  while (!text.empty()) {
    const std::string_view line = next_line();
    const std::size_t colon = line.find(':');
    if (colon == std::string_view::npos) return {};
    request.headers.emplace_back(lower(line.substr(0, colon)), trimmed(line.substr(colon + 1)));
  }
  return request;
}

/// A page of another site could reach this server, by a name of its own that leads here or from a script: it is not answered.
bool is_own(const Request& request, int port) {
  bool has_host = false;
  for (const auto& [name, value] : request.headers) {
    const std::string place = name == "origin" && value.starts_with("http://") ? value.substr(7) : value;
    const bool own = place == fmt::format("127.0.0.1:{}", port) || place == fmt::format("localhost:{}", port);
    if ((name == "host" || name == "origin") && !own) return false;
    has_host = has_host || name == "host";
  }
  return has_host;
}

std::string written(const HttpAnswer& answer, bool with_body) {
  std::string text = fmt::format("HTTP/1.1 {} {}\r\nContent-Type: {}\r\nContent-Length: {}\r\n", answer.status,
                                 reason(answer.status), answer.type, answer.body.size());
  for (const auto& [name, value] : answer.headers) text += fmt::format("{}: {}\r\n", name, value);
  if (answer.status == 405) text += "Allow: GET, HEAD\r\n";
  text +=
      "Cache-Control: no-store\r\nX-Content-Type-Options: nosniff\r\nCross-Origin-Resource-Policy: same-origin\r\n"
      "Connection: close\r\n\r\n";
  return with_body ? text + answer.body : text;
}

/// A browser at the other end: it asks, takes the answer, and leaves.
class Connection {
 public:
  explicit Connection(int socket) : socket_(socket), deadline_(Clock::now() + kToAsk) {}
  ~Connection() { ::close(socket_); }
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  pollfd wanted() const { return {socket_, static_cast<short>(stage_ == Stage::kTakes ? POLLOUT : POLLIN), 0}; }
  Clock::time_point deadline() const { return deadline_; }

  /// Does what can be done without waiting; whether there is more to come.
  template <class Answer>
  bool go_on(const Answer& answer) {
    if (stage_ == Stage::kAsks && !read_request(answer)) return false;
    if (stage_ == Stage::kTakes && !send_answer()) return false;
    return stage_ != Stage::kLeaves || discard_rest();
  }

 private:
  enum class Stage { kAsks, kTakes, kLeaves };

  template <class Answer>
  bool read_request(const Answer& answer) {
    char block[4096];
    const ssize_t count = ::recv(socket_, block, sizeof block, 0);
    if (count < 0) return errno == EAGAIN || errno == EINTR;
    if (count == 0) return false;
    text_.append(block, static_cast<std::size_t>(count));
    const std::size_t end = text_.find("\r\n\r\n");
    if (end == std::string::npos && text_.size() <= kLongestRequest) return true;
    text_ = end == std::string::npos || end > kLongestRequest ? written({431}, true) : answer(text_.substr(0, end + 2));
    stage_ = Stage::kTakes;
    deadline_ = Clock::now() + kToTake;
    return true;
  }

  bool send_answer() {
    while (sent_ < text_.size()) {
      const ssize_t count = ::send(socket_, text_.data() + sent_, text_.size() - sent_, MSG_NOSIGNAL);
      if (count < 0) return errno == EAGAIN || errno == EINTR;
      sent_ += static_cast<std::size_t>(count);
    }
    text_ = {};
    ::shutdown(socket_, SHUT_WR);
    stage_ = Stage::kLeaves;
    deadline_ = Clock::now() + kToLeave;
    return true;
  }

  /// To close while there is something unread would take back what was sent. Who has much more to say is hung up on all the same.
  bool discard_rest() {
    char block[4096];
    for (int i = 0; i < 16; ++i) {
      const ssize_t count = ::recv(socket_, block, sizeof block, 0);
      if (count < 0) return errno == EAGAIN || errno == EINTR;
      if (count == 0) return false;
      discarded_ += static_cast<std::size_t>(count);
    }
    return discarded_ < kMostToDiscard;
  }

  int socket_;
  Stage stage_ = Stage::kAsks;
  Clock::time_point deadline_;
  std::string text_;  // asked, or to be taken
  std::size_t sent_ = 0, discarded_ = 0;
};

}  // namespace

HttpServer::HttpServer(int port) {
  listener_ = ::socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (listener_ < 0) fail("socket");
  const int yes = 1;  // not SO_REUSEPORT: two servers on one port would answer in turn
  ::setsockopt(listener_, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  sockaddr_in place{};
  place.sin_family = AF_INET;
  place.sin_port = htons(static_cast<std::uint16_t>(port));
  place.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof place;
  auto* const name = reinterpret_cast<sockaddr*>(&place);
  const bool listens =
      ::bind(listener_, name, size) == 0 && ::listen(listener_, SOMAXCONN) == 0 && ::getsockname(listener_, name, &size) == 0;
  if (!listens) {
    const int error = errno;
    ::close(listener_);
    errno = error;
    fail("listening");
  }
  port_ = ntohs(place.sin_port);
}

HttpServer::~HttpServer() { ::close(listener_); }

std::string HttpServer::address() const { return fmt::format("http://127.0.0.1:{}/", port_); }

void HttpServer::serve(const std::function<HttpAnswer(std::string_view target)>& answer) {
  const auto answer_to = [&](const std::string& text) {
    const std::optional<Request> request = parse_request(text);
    if (!request) return written({400}, true);
    if (!is_own(*request, port_)) return written({403}, true);
    const bool head = request->method == "HEAD";
    if (!head && request->method != "GET") return written({405}, true);
    try {
      return written(answer(request->target), !head);
    } catch (const std::exception& error) {
      return written({500, "text/plain", error.what()}, !head);
    }
  };
  std::list<Connection> connections;  // the oldest first
  std::vector<pollfd> polled;
  for (;;) {
    polled.assign(1, {listener_, POLLIN, 0});
    Clock::time_point next = Clock::time_point::max();
    for (const Connection& connection : connections) {
      polled.push_back(connection.wanted());
      next = std::min(next, connection.deadline());
    }
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(next - Clock::now()).count();
    const int patience = connections.empty() ? -1 : static_cast<int>(std::clamp<std::int64_t>(left + 1, 0, 60'000));
    if (::poll(polled.data(), polled.size(), patience) < 0 && errno != EINTR) fail("poll");
    std::size_t i = 1;
    const auto now = Clock::now();
    std::erase_if(connections, [&](Connection& connection) {
      const bool ready = polled[i++].revents != 0;
      return (ready && !connection.go_on(answer_to)) || now > connection.deadline();
    });
    if ((polled[0].revents & POLLIN) == 0) continue;
    const int socket = ::accept4(listener_, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (socket < 0) continue;
    if (connections.size() >= kMostConnections) connections.pop_front();
    connections.emplace_back(socket);
  }
}

}  // namespace linkwork::cli
