#include "linkwork/transport/shared_object.h"

#include <dlfcn.h>

#include <cstdlib>
#include <filesystem>
#include <vector>

namespace linkwork {

namespace fs = std::filesystem;

/// Where this code is: the program, or a shared object that the library is part of.
static fs::path own_folder() {
  Dl_info info{};
  const auto address = reinterpret_cast<const void*>(&own_folder);
  std::error_code ignored;
  if (dladdr(address, &info) != 0 && info.dli_fname != nullptr && fs::path(info.dli_fname).has_parent_path())
    return fs::absolute(info.dli_fname, ignored).parent_path();
  return fs::read_symlink("/proc/self/exe", ignored).parent_path();
}

static std::vector<fs::path> places_of(const char* file, const char* variable) {
  if (const char* const given = std::getenv(variable)) return {given};
  std::vector<fs::path> places;
  const fs::path folder = own_folder();
  // Beside the program, beside the Python package as it is built, installed.
  for (const char* const where : {".", "../..", "../lib/linkwork", "../lib"}) places.push_back(folder / where / file);
  places.emplace_back(file);
  return places;
}

void* shared_function(const char* file, const char* variable, const char* function, bool global, std::string& trouble) {
  for (const fs::path& place : places_of(file, variable)) {
    std::error_code ignored;
    if (place.has_parent_path() && !fs::exists(place, ignored)) continue;
    void* const library = dlopen(place.c_str(), RTLD_NOW | (global ? RTLD_GLOBAL : RTLD_LOCAL));
    if (library == nullptr)
      trouble = dlerror();
    else if (void* const found = dlsym(library, function))
      return found;
  }
  return nullptr;
}

}  // namespace linkwork
