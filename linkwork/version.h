#pragma once

// The version of the library, which the build takes from here. As text: "0.1.0".
#define LINKWORK_VERSION_MAJOR 0  // NOLINT: programs ask for it before they compile
#define LINKWORK_VERSION_MINOR 1  // NOLINT
#define LINKWORK_VERSION_PATCH 0  // NOLINT

#define LINKWORK_TEXT_OF_(x) #x                   // NOLINT
#define LINKWORK_TEXT_OF(x) LINKWORK_TEXT_OF_(x)  // NOLINT
#define LINKWORK_VERSION                   \
  LINKWORK_TEXT_OF(LINKWORK_VERSION_MAJOR) \
  "." LINKWORK_TEXT_OF(LINKWORK_VERSION_MINOR) "." LINKWORK_TEXT_OF(LINKWORK_VERSION_PATCH)  // NOLINT
