#include <grpcpp/generic/generic_stub.h>
#include <grpcpp/grpcpp.h>

#include <chrono>

#include "apps/network/brief_look.h"
#include "apps/network/grpc_network.h"
#include "linkwork/modules/remote/messages.h"

namespace linkwork::network_library {
namespace {

/// One call of the method, a stream in both directions, which lasts as long as the line.
class GrpcLine : public Line {
 public:
  GrpcLine(const std::string& host, const Credentials& credentials, double timeout) : timeout_(timeout) {
    grpc::SslCredentialsOptions tls;
    tls.pem_cert_chain = contents_of(credentials.cert, "certificate");
    tls.pem_private_key = contents_of(credentials.key, "private key");
    tls.pem_root_certs = contents_of(credentials.ca, "certificate of the authority");
    grpc::ChannelArguments arguments;
    arguments.SetMaxReceiveMessageSize(64 << 20);
    arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);  // a new line is a new connection
    arguments.SetInt(GRPC_ARG_ENABLE_HTTP_PROXY, 0);
    arguments.SetInt(GRPC_ARG_KEEPALIVE_TIME_MS, 10'000);
    arguments.SetInt(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, static_cast<int>(std::min(timeout, 1e6) * 1e3));
    stub_ = std::make_unique<grpc::GenericStub>(grpc::CreateCustomChannel(host, grpc::SslCredentials(tls), arguments));
    stream_ = stub_->PrepareCall(&context_, remote::kMethod, &queue_);
    stream_->StartCall(tag(kStart));
    wait_for(kStart);
    if (!good_) fail();
  }

  ~GrpcLine() override {
    context_.TryCancel();
    queue_.Shutdown();
    void* ignored = nullptr;
    bool good = false;
    while (queue_.Next(&ignored, &good)) {
    }
  }

  void send(const std::string& request) override {
    if (is_broken_) throw LineLost("the line was closed");
    const grpc::Slice slice(request);
    const grpc::ByteBuffer buffer(&slice, 1);
    done_ &= ~(kWrite | kRead);
    stream_->Write(buffer, tag(kWrite));
    stream_->Read(&reply_, tag(kRead));
  }

  std::string receive() override {
    wait_for(kWrite | kRead);
    if (!good_) fail();
    std::vector<grpc::Slice> slices;
    if (!reply_.Dump(&slices).ok()) throw LineLost("its answer cannot be read");
    std::string text;
    for (const grpc::Slice& slice : slices) text.append(reinterpret_cast<const char*>(slice.begin()), slice.size());
    reply_.Clear();
    return text;
  }

 private:
  enum Event : unsigned { kStart = 1, kWrite = 2, kRead = 4, kFinish = 8 };
  static void* tag(unsigned event) { return reinterpret_cast<void*>(static_cast<std::uintptr_t>(event)); }

  /// Until all of the events were seen.
  void wait_for(unsigned events) {
    const auto deadline = std::chrono::system_clock::now() + std::chrono::microseconds(static_cast<long>(timeout_ * 1e6));
    while ((done_ & events) != events) {
      void* event = nullptr;
      bool good = false;
      auto status = look_briefly(queue_, &event, &good);
      if (status == grpc::CompletionQueue::TIMEOUT) status = queue_.AsyncNext(&event, &good, deadline);
      if (status != grpc::CompletionQueue::GOT_EVENT) {
        is_broken_ = true;
        throw LineLost("no answer in time");
      }
      done_ |= static_cast<unsigned>(reinterpret_cast<std::uintptr_t>(event));
      good_ = good_ && good;
    }
  }

  /// gRPC knows why.
  [[noreturn]] void fail() {
    grpc::Status status;
    is_broken_ = true;
    stream_->Finish(&status, tag(kFinish));
    good_ = true;
    wait_for(kFinish);
    throw LineLost(status.error_message().empty() ? "the line was closed" : status.error_message());
  }

  double timeout_;
  grpc::ClientContext context_;
  grpc::CompletionQueue queue_;
  std::unique_ptr<grpc::GenericStub> stub_;
  std::unique_ptr<grpc::GenericClientAsyncReaderWriter> stream_;
  grpc::ByteBuffer reply_;
  unsigned done_ = 0;
  bool good_ = true;
  bool is_broken_ = false;  // gRPC allows nothing any more
};

}  // namespace

std::unique_ptr<Line> dial_grpc(const std::string& host, const Credentials& credentials, double timeout) {
  return std::make_unique<GrpcLine>(host, credentials, timeout);
}

}  // namespace linkwork::network_library
