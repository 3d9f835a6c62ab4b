// In place of linkwork/transport/mpi_world.cpp in the program.
#include <exception>

#include "apps/loaded/functions_of.h"
#include "linkwork/transport/mpi_world.h"

namespace linkwork {

namespace {

const loaded::MpiFunctions& mpi() {
  static const loaded::MpiFunctions& functions =
      loaded::functions_of<loaded::MpiFunctions>(loaded::kMpiLibrary, "LINKWORK_MPI_LIBRARY", loaded::kMpiEntry, true);
  return functions;
}

}  // namespace

MpiWorld::MpiWorld() : exceptions_(std::uncaught_exceptions()) {
  if (!under_mpirun()) {
    transport_ = std::make_unique<InProcess>();
    return;
  }
  transport_.reset(&mpi().start());  // lent: see the destructor
  started_ = true;
}

MpiWorld::~MpiWorld() {
  if (!started_) return;
  static_cast<void>(transport_.release());
  mpi().finish();
}

std::unique_ptr<Transport> first_ranks(int count) {
  return under_mpirun() ? mpi().first_ranks(count) : std::make_unique<InProcess>();
}

std::unique_ptr<Mailbox> open_mailbox() { return under_mpirun() ? mpi().open_mailbox() : nullptr; }

}  // namespace linkwork
