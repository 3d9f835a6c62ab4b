#pragma once

#include <stdexcept>

namespace linkwork {

/// A run, or an evaluation, cannot go on: the words say why.
class SimulationError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace linkwork
