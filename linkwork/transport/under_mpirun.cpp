#include <algorithm>
#include <array>
#include <cstdlib>

#include "linkwork/transport/mpi_world.h"

namespace linkwork {

/// Set by Open MPI, by launchers that speak PMIx (prterun, srun), and by those that speak PMI (Hydra, srun).
bool under_mpirun() {
  constexpr std::array kSetByLaunchers{"OMPI_COMM_WORLD_SIZE", "PMIX_RANK", "PMI_RANK"};
  return std::ranges::any_of(kSetByLaunchers, [](const char* name) { return std::getenv(name) != nullptr; });
}

}  // namespace linkwork
