#include "linkwork/modules/remote/network.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <cstdlib>
#include <filesystem>

#include "linkwork/model/input_error.h"

namespace linkwork {

namespace {

namespace fs = std::filesystem;

/// Where this code is: the program, or a shared object that the library is part of.
fs::path own_folder() {
  Dl_info info{};
  const auto address = reinterpret_cast<const void*>(&own_folder);
  std::error_code ignored;
  if (dladdr(address, &info) != 0 && info.dli_fname != nullptr && fs::path(info.dli_fname).has_parent_path())
    return fs::absolute(info.dli_fname, ignored).parent_path();
  return fs::read_symlink("/proc/self/exe", ignored).parent_path();
}

Network* load() {
  std::vector<fs::path> places;
  if (const char* const given = std::getenv("LINKWORK_NETWORK_LIBRARY")) {
    places.emplace_back(given);
  } else {
    const fs::path folder = own_folder();
    // Beside the program, beside the Python package as it is built, installed.
    for (const char* const where : {".", "../..", "../lib/linkwork", "../lib"})
      places.push_back(folder / where / kNetworkLibrary);
    places.emplace_back(kNetworkLibrary);
  }
  std::string trouble;
  for (const fs::path& place : places) {
    std::error_code ignored;
    if (place.has_parent_path() && !fs::exists(place, ignored)) continue;
    void* const library = dlopen(place.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) {
      trouble = dlerror();
      continue;
    }
    const auto entry = reinterpret_cast<NetworkEntry>(dlsym(library, kNetworkEntry));
    if (entry == nullptr) continue;
    if (Network* const found = entry(kNetworkInterface)) return found;
    trouble = fmt::format("{} is of another version", place.string());
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
