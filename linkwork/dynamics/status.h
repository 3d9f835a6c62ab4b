#pragma once

#include <string>

namespace linkwork {

/// Numerical trouble during a run is not an exception: a step can be rejected and retried.
struct Status {
  std::string trouble;  // empty: none; else the reason in words

  bool ok() const { return trouble.empty(); }
};

}  // namespace linkwork
