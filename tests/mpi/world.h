#pragma once

#include "linkwork/transport/mpi_world.h"

namespace linkwork::test {

/// Between the processes that mpirun started.
Transport& world();

}  // namespace linkwork::test
