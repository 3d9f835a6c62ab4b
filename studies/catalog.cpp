#include "studies/catalog.h"

#include <array>

namespace linkwork::studies {

std::span<const Study> all_studies() {
  static const std::array studies{
      closed_chain_study(), four_bar_distributed_study(), generalized_inverse_study(),     gluing_study(), hierarchical_study(),
      network_study(),      variable_dof_study(),         variable_dof_distributed_study()};
  return studies;
}

}  // namespace linkwork::studies
