// Compiled instead of mpi_world.cpp where the library is built without MPI.
#include <stdexcept>

#include "linkwork/transport/mailbox.h"
#include "linkwork/transport/mpi_world.h"

namespace linkwork {

MpiWorld::MpiWorld() : transport_(std::make_unique<InProcess>()) {
  if (under_mpirun()) throw std::runtime_error("started by mpirun, but built without MPI: build with -DLINKWORK_MPI=ON");
}

MpiWorld::~MpiWorld() = default;

std::unique_ptr<Transport> ranks_of(int) {
  throw std::runtime_error("built without MPI, there is no communicator: build with -DLINKWORK_MPI=ON");
}

int world_communicator() { return 0; }

std::unique_ptr<Transport> first_ranks(int) { return std::make_unique<InProcess>(); }

std::unique_ptr<Mailbox> open_mailbox() { return nullptr; }

}  // namespace linkwork
