#include <algorithm>
#include <array>
#include <cstdlib>

#include "linkwork/transport/mpi_world.h"

namespace linkwork {

/// Set by Open MPI, by launchers that speak PMIx (prterun, srun), by those that speak PMI (Hydra, srun), and for simulated
/// clusters by bench/scale.
bool under_mpirun() {
  constexpr std::array kSetByLaunchers{"OMPI_COMM_WORLD_SIZE", "PMIX_RANK", "PMI_RANK", "LINKWORK_SIMULATED_RANKS"};
  return std::ranges::any_of(kSetByLaunchers, [](const char* name) { return std::getenv(name) != nullptr; });
}

}  // namespace linkwork
