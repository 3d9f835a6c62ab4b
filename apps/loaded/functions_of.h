#pragma once

#include <fmt/format.h>

#include <stdexcept>
#include <string>

#include "apps/loaded/loaded.h"
#include "linkwork/transport/shared_object.h"
#include "linkwork/version.h"

namespace linkwork::loaded {

/// Loads a part of the program. Throws std::runtime_error in words.
template <class Functions>
const Functions& functions_of(const char* library, const char* variable, const char* entry, bool global) {
  std::string trouble;
  void* const found = shared_function(library, variable, entry, global, trouble);
  if (found != nullptr) {
    if (const Functions* const functions = reinterpret_cast<Entry<Functions>>(found)(LINKWORK_VERSION)) return *functions;
    trouble = "it is of another version";
  }
  throw std::runtime_error(
      fmt::format("{} cannot be loaded{}; it belongs beside the program or into ../lib/linkwork, or {} names it", library,
                  trouble.empty() ? "" : " (" + trouble + ")", variable));
}

}  // namespace linkwork::loaded
