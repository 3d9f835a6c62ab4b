#include <cstdlib>

#include "apps/network/grpc_network.h"

namespace linkwork::network_library {
namespace {

class GrpcNetwork : public Network {
 public:
  std::unique_ptr<Line> dial(const std::string& host, const Credentials& credentials, double timeout) override {
    return dial_grpc(host, credentials, timeout);
  }
  void listen(const ListenSettings& settings, const std::function<std::unique_ptr<Talk>()>& make_talk,
              const std::function<void(int port)>& listening, const std::function<bool()>& go_on) override {
    listen_grpc(settings, make_talk, listening, go_on);
  }
  std::unique_ptr<Sealer> make_sealer(const std::string& key_file) override { return make_openssl_sealer(key_file); }
  std::vector<std::string> make_keys(const std::string& folder, const std::vector<std::string>& names, int days) override {
    return make_openssl_keys(folder, names, days);
  }
};

}  // namespace
}  // namespace linkwork::network_library

extern "C" __attribute__((visibility("default"))) linkwork::Network* linkwork_network(int interface) {
  // gRPC's own choice lets one thread watch all connections, which then wakes another: with few of them that is slower.
  static const int chosen = setenv("GRPC_POLL_STRATEGY", "poll", 0);
  static linkwork::network_library::GrpcNetwork network;
  return chosen == 0 && interface == linkwork::kNetworkInterface ? &network : nullptr;
}
