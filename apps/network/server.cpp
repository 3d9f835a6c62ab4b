#include <arpa/inet.h>
#include <fcntl.h>
#include <grpcpp/generic/async_generic_service.h>
#include <grpcpp/grpcpp.h>
#include <netdb.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <thread>
#include <vector>

#include "apps/network/brief_look.h"
#include "apps/network/grpc_network.h"
#include "linkwork/modules/remote/messages.h"

namespace linkwork::network_library {
namespace {

using Clock = std::chrono::steady_clock;

/// Lets so many messages pass in a second, and a tenth of a second's worth at once. Others wait.
class Rate {
 public:
  explicit Rate(double per_second) : per_second_(per_second), left_(0.1 * per_second) {}
  void pass() {
    const Clock::time_point now = Clock::now();
    left_ = std::min(0.1 * per_second_, left_ + per_second_ * std::chrono::duration<double>(now - last_).count()) - 1.0;
    last_ = now;
    if (left_ < 0.0) std::this_thread::sleep_for(std::chrono::duration<double>(-left_ / per_second_));
  }

 private:
  double per_second_, left_;
  Clock::time_point last_ = Clock::now();
};

/// Lines, each a call of the method that lasts as long. They share a queue of what has happened, and as many threads look into it
/// as there are lines: who finds a message answers it, so that none has to wake another.
class Lines {
 public:
  Lines(const ListenSettings& settings, const std::function<std::unique_ptr<Talk>()>& make_talk)
      : settings_(settings), make_talk_(make_talk) {}

  void register_at(grpc::ServerBuilder& builder) {
    builder.RegisterAsyncGenericService(&service_);
    queue_ = builder.AddCompletionQueue();
  }
  void begin() {
    request_line();
    const std::lock_guard lock(mutex_);
    add_thread();
  }
  /// After the server was shut down.
  void end() {
    {
      const std::lock_guard lock(mutex_);
      has_ended_ = true;
    }
    queue_->Shutdown();
    for (std::thread& thread : threads_) thread.join();
  }

 private:
  /// One thing is under way on a line at a time.
  struct Line {
    explicit Line(double rate_per_second) : stream(&context), rate(rate_per_second) {}
    enum class Doing { kWaiting, kReading, kWriting, kFinishing };
    grpc::GenericServerContext context;
    grpc::GenericServerAsyncReaderWriter stream;
    grpc::ByteBuffer message;
    std::unique_ptr<Talk> talk;
    Rate rate;
    Doing doing = Doing::kWaiting;
    bool counts = false;
  };
  using Doing = Line::Doing;

  /// Nothing may be begun once the queue is shut down: the line is gone then.
  template <class Begin>
  void do_next(Line* line, Doing what, Begin begin) {
    const std::shared_lock lock(mutex_);
    line->doing = what;
    if (has_ended_)
      delete line;
    else
      begin();
  }

  void request_line() {
    Line* const line = new Line(settings_.most_messages_per_second);  // gone when it is finished
    do_next(line, Doing::kWaiting,
            [&] { service_.RequestCall(&line->context, &line->stream, queue_.get(), queue_.get(), line); });
  }
  void read(Line* line) {
    do_next(line, Doing::kReading, [&] { line->stream.Read(&line->message, line); });
  }
  void finish(Line* line, const grpc::Status& status) {
    do_next(line, Doing::kFinishing, [&] { line->stream.Finish(status, line); });
  }

  /// One looks after the first line and for others to come.
  void add_thread() {
    threads_.emplace_back([this] {
      void* line = nullptr;
      bool good = false;
      for (;;) {
        const auto status = look_briefly(*queue_, &line, &good);
        if (status == grpc::CompletionQueue::SHUTDOWN) return;
        if (status == grpc::CompletionQueue::TIMEOUT && !queue_->Next(&line, &good)) return;
        proceed(static_cast<Line*>(line), good);
      }
    });
  }

  void proceed(Line* line, bool good) {
    if (line->doing == Doing::kFinishing || (line->doing == Doing::kWaiting && !good)) {
      if (line->counts) --count_;
      delete line;
    } else if (line->doing == Doing::kWaiting) {
      open(line);
    } else if (!good) {
      finish(line, grpc::Status::OK);  // the other side has ended it
    } else if (line->doing == Doing::kWriting) {
      read(line);
    } else {
      answer(line);
    }
  }

  void open(Line* line) {
    request_line();
    if (line->context.method() != remote::kMethod)
      return finish(line, {grpc::StatusCode::UNIMPLEMENTED, "there is no such method"});
    line->counts = true;
    const std::size_t count = ++count_;
    if (count > settings_.most_lines) return finish(line, {grpc::StatusCode::RESOURCE_EXHAUSTED, "too many lines"});
    {
      const std::lock_guard lock(mutex_);
      if (!has_ended_ && threads_.size() < count) add_thread();
    }
    line->talk = make_talk_();
    read(line);
  }

  void answer(Line* line) {
    line->rate.pass();
    try {
      std::vector<grpc::Slice> slices;
      if (!line->message.Dump(&slices).ok())
        return finish(line, {grpc::StatusCode::INVALID_ARGUMENT, "the message cannot be read"});
      std::string text;
      for (const grpc::Slice& slice : slices) text.append(reinterpret_cast<const char*>(slice.begin()), slice.size());
      const grpc::Slice reply(line->talk->answer(text));
      line->message.Clear();
      do_next(line, Doing::kWriting, [&] { line->stream.Write(grpc::ByteBuffer(&reply, 1), line); });
    } catch (const std::bad_alloc&) {
      finish(line, {grpc::StatusCode::RESOURCE_EXHAUSTED, "out of memory"});
    } catch (const std::exception& error) {
      finish(line, {grpc::StatusCode::INVALID_ARGUMENT, error.what()});
    }
  }

  const ListenSettings& settings_;
  const std::function<std::unique_ptr<Talk>()>& make_talk_;
  grpc::AsyncGenericService service_;
  std::unique_ptr<grpc::ServerCompletionQueue> queue_;
  std::shared_mutex mutex_;  // shared by who begins something
  bool has_ended_ = false;
  std::vector<std::thread> threads_;
  std::atomic<std::size_t> count_ = 0;
};

/// A socket that listens on one address and no other. gRPC's own would take "0.0.0.0" for IPv6 too, and share its port with
/// others.
class Listener {
 public:
  Listener(const std::string& host, int port) {
    addrinfo hints{};
    hints.ai_socktype = SOCK_STREAM;
    hints.ai_flags = AI_PASSIVE;
    addrinfo* found = nullptr;
    const std::string where = host + ":" + std::to_string(port);
    const std::string bare = host.starts_with('[') && host.ends_with(']') ? host.substr(1, host.size() - 2) : host;
    if (const int error = getaddrinfo(bare.c_str(), std::to_string(port).c_str(), &hints, &found); error != 0)
      throw std::runtime_error("cannot listen on " + where + ": " + gai_strerror(error));
    const std::unique_ptr<addrinfo, void (*)(addrinfo*)> addresses(found, freeaddrinfo);
    socket_ = socket(found->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    const int on = 1;
    setsockopt(socket_, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if (found->ai_family == AF_INET6) setsockopt(socket_, IPPROTO_IPV6, IPV6_V6ONLY, &on, sizeof on);
    constexpr int kBacklog = 64;
    if (socket_ < 0 || bind(socket_, found->ai_addr, found->ai_addrlen) != 0 || ::listen(socket_, kBacklog) != 0) {
      const std::string why = std::strerror(errno);
      if (socket_ >= 0) close(socket_);
      throw std::runtime_error("cannot listen on " + where + ": " + why);
    }
  }
  ~Listener() { close(socket_); }
  Listener(const Listener&) = delete;
  Listener& operator=(const Listener&) = delete;

  int socket() const { return socket_; }
  int port() const {
    sockaddr_storage address{};
    socklen_t size = sizeof address;
    getsockname(socket_, reinterpret_cast<sockaddr*>(&address), &size);
    return ntohs(address.ss_family == AF_INET6 ? reinterpret_cast<const sockaddr_in6&>(address).sin6_port
                                               : reinterpret_cast<const sockaddr_in&>(address).sin_port);
  }
  /// A new connection, or -1 if there is none within a tenth of a second.
  int accepted() const {
    pollfd ready{socket_, POLLIN, 0};
    if (poll(&ready, 1, 100) <= 0) return -1;
    const int connection = accept4(socket_, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
    const int on = 1;
    if (connection >= 0) setsockopt(connection, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    return connection;
  }

 private:
  static int socket(int family, int type, int protocol) { return ::socket(family, type, protocol); }
  int socket_ = -1;
};

}  // namespace

void listen_grpc(const ListenSettings& settings, const std::function<std::unique_ptr<Talk>()>& make_talk,
                 const std::function<void(int port)>& listening, const std::function<bool()>& go_on) {
  grpc::SslServerCredentialsOptions tls(GRPC_SSL_REQUEST_AND_REQUIRE_CLIENT_CERTIFICATE_AND_VERIFY);
  tls.pem_root_certs = contents_of(settings.credentials.ca, "certificate of the authority");
  tls.pem_key_cert_pairs.push_back(
      {contents_of(settings.credentials.key, "private key"), contents_of(settings.credentials.cert, "certificate")});
  const Listener listener(settings.host, settings.port);
  Lines lines(settings, make_talk);
  grpc::ServerBuilder builder;
  builder.SetMaxReceiveMessageSize(static_cast<int>(settings.most_message_bytes));
  builder.AddChannelArgument(GRPC_ARG_SERVER_HANDSHAKE_TIMEOUT_MS, 5'000);
  builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_TIME_MS, 20'000);
  builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, 20'000);
  builder.AddChannelArgument(GRPC_ARG_HTTP2_MIN_RECV_PING_INTERVAL_WITHOUT_DATA_MS, 5'000);
  builder.AddChannelArgument(GRPC_ARG_MAX_CONCURRENT_STREAMS, 4);
  builder.AddChannelArgument(GRPC_ARG_MAX_CONNECTION_IDLE_MS, static_cast<int>(settings.idle_seconds * 1e3));
  using Type = grpc::ServerBuilder::experimental_type::ExternalConnectionType;
  const auto acceptor = builder.experimental().AddExternalConnectionAcceptor(Type::FROM_FD, grpc::SslServerCredentials(tls));
  lines.register_at(builder);
  const std::unique_ptr<grpc::Server> server = builder.BuildAndStart();
  if (!server) throw std::runtime_error("cannot serve: is the private key that of the certificate?");
  lines.begin();
  listening(listener.port());
  while (go_on()) {
    grpc::experimental::ExternalConnectionAcceptor::NewConnectionParameters connection;
    connection.listener_fd = listener.socket();
    connection.fd = listener.accepted();
    if (connection.fd >= 0) acceptor->HandleNewConnection(&connection);
  }
  server->Shutdown(std::chrono::system_clock::now() + std::chrono::milliseconds(200));
  lines.end();
}

}  // namespace linkwork::network_library
