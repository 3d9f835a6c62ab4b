#include <memory>
#include <string_view>

#include "apps/loaded/loaded.h"
#include "linkwork/transport/mpi_world.h"
#include "linkwork/version.h"

namespace linkwork::loaded {
namespace {

std::unique_ptr<MpiWorld> world;

Transport& start() {
  world = std::make_unique<MpiWorld>();
  return world->transport();
}

void finish() { world.reset(); }

}  // namespace
}  // namespace linkwork::loaded

extern "C" __attribute__((visibility("default"))) const linkwork::loaded::MpiFunctions* linkwork_mpi(const char* version) {
  using namespace linkwork::loaded;
  static const MpiFunctions functions{start, finish, linkwork::first_ranks, linkwork::open_mailbox};
  return std::string_view(version) == LINKWORK_VERSION ? &functions : nullptr;
}
