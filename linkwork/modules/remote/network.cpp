#include "linkwork/modules/remote/network.h"

#include <fmt/format.h>

#include <string>

#include "linkwork/model/input_error.h"
#include "linkwork/transport/shared_object.h"

namespace linkwork {

namespace {

Network* load() {
  std::string trouble;
  if (void* const entry = shared_function(kNetworkLibrary, "LINKWORK_NETWORK_LIBRARY", kNetworkEntry, false, trouble)) {
    if (Network* const found = reinterpret_cast<NetworkEntry>(entry)(kNetworkInterface)) return found;
    trouble = "it is of another version";
  }
  throw InputError({},
                   fmt::format("modules on other hosts need {}, which cannot be loaded{}", kNetworkLibrary,
                               trouble.empty() ? "" : " (" + trouble + ")"),
                   "'./dev build', which builds it, or the path of it in LINKWORK_NETWORK_LIBRARY");
}

}  // namespace

Network& network() {
  static Network* const loaded = load();  // for the life of the process
  return *loaded;
}

}  // namespace linkwork
