#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace linkwork::cli {

struct HttpAnswer {
  int status = 200;
  std::string type = "text/plain";
  std::string body = {};
  std::vector<std::pair<std::string, std::string>> headers = {};
};

/// A server of a few pages for the browser of this machine: it listens on 127.0.0.1, answers GET and HEAD, one request per
/// connection, and only pages of its own. Everything is bounded: the size of a request, the time it may take to arrive and its
/// answer to leave, the number of connections. None of them can keep the others waiting: if they become too many, the oldest
/// goes.
class HttpServer {
 public:
  /// Port 0: any free one. Throws std::system_error if it cannot be had.
  explicit HttpServer(int port);
  ~HttpServer();
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;

  int port() const { return port_; }
  std::string address() const;

  /// Serves forever. `answer` gets the target of a request, such as "/rows?from=0"; what it throws becomes an answer of status
  /// 500.
  [[noreturn]] void serve(const std::function<HttpAnswer(std::string_view target)>& answer);

 private:
  int listener_ = -1;
  int port_ = 0;
};

}  // namespace linkwork::cli
