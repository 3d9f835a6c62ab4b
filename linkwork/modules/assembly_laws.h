#pragma once

#include <memory>

#include "linkwork/switching/time_laws.h"
#include "linkwork/transport/transport.h"

namespace linkwork {

/// What happens in time of its own accord anywhere in an assembly (TimeLaws): the first rank, which has the whole, looks at it
/// and tells the others.
class AssemblyLaws {
 public:
  /// `whole`: null on other ranks. Both must last as long.
  AssemblyLaws(const Model* whole, Transport& transport);

  /// `now`: the whole as it is, if it is known; else it is taken as it was at the start. All ranks call it.
  double seen_until(System* now, double t, double until);

 private:
  Transport& transport_;
  std::unique_ptr<TimeLaws> laws_;
  State start_;
  std::unique_ptr<System> at_start_;
  bool any_ = false;
};

}  // namespace linkwork
