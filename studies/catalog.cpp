#include "studies/catalog.h"

#include <array>

namespace linkwork::studies {

std::span<const Study> all_studies() {
  static const std::array studies{closed_chain_study(), generalized_inverse_study(), variable_dof_study()};
  return studies;
}

}  // namespace linkwork::studies
