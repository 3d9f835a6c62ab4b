// A module of one's own, served to runs on other hosts: the rod of rocker_module.h as the right chain of a four-bar.
//
//   served_module HOST:PORT KEYS        (KEYS: a folder of 'linkwork serve --make-keys')

#include <csignal>
#include <cstdio>
#include <exception>
#include <string>

#include "examples/rocker_module.h"
#include "linkwork/front/serve.h"

namespace lw = linkwork;

namespace {

volatile std::sig_atomic_t ended = 0;

}  // namespace

int main(int argc, char** argv) {
  const std::string address = argc == 3 ? argv[1] : "", keys = argc == 3 ? argv[2] : "";
  const std::size_t colon = address.rfind(':');
  if (colon == std::string::npos) {
    std::fprintf(stderr, "usage: served_module HOST:PORT KEYS\n");
    return 2;
  }
  std::signal(SIGTERM, [](int) { ended = 1; });
  std::signal(SIGINT, [](int) { ended = 1; });
  try {
    const lw::ServedParts parts = lw::served_module("rocker", {"tip"}, [](const lw::remote::Open& request) {
      RockerModule::Rod rod{3.0, 2.5, 1.0, 9.81, 1.2648595635335869607};
      if (request.gravity.size() == 3) rod.gravity = -request.gravity[1];
      lw::ServedModule served;
      served.module = std::make_unique<RockerModule>("phi", rod);
      served.length = rod.length, served.mass = rod.mass;
      return served;
    });
    lw::ListenSettings settings;
    settings.host = address.substr(0, colon), settings.port = std::stoi(address.substr(colon + 1));
    settings.credentials = {keys + "/server.pem", keys + "/server.key", keys + "/ca.pem"};
    lw::serve(
        parts, settings,
        [&](int port) {
          std::printf("serving linkwork://%s:%d/rocker\n", settings.host.c_str(), port);
          std::fflush(stdout);
        },
        [] { return ended == 0; });
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "served_module: %s\n", error.what());
    return 1;
  }
}
