#include "studies/catalog.h"

#include <array>

namespace linkwork::studies {

std::span<const Study> all_studies() {
  static const std::array studies{generalized_inverse_study()};
  return studies;
}

}  // namespace linkwork::studies
