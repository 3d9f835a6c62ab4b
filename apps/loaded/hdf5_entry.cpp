#include <string_view>

#include "apps/loaded/loaded.h"
#include "linkwork/version.h"

extern "C" __attribute__((visibility("default"))) const linkwork::loaded::Hdf5Functions* linkwork_hdf5(const char* version) {
  static const linkwork::loaded::Hdf5Functions functions{linkwork::make_hdf5_writer, linkwork::read_hdf5_trajectory};
  return std::string_view(version) == LINKWORK_VERSION ? &functions : nullptr;
}
