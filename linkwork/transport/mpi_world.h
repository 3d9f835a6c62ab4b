#pragma once

#include <memory>

#include "linkwork/transport/transport.h"

namespace linkwork {

/// The processes that mpirun started, as ranks. A program makes one at its start, on its main thread, and keeps it to its end.
/// Outside mpirun MPI is not touched, and the world has one rank.
class MpiWorld {
 public:
  MpiWorld();
  /// While an exception unwinds, it ends all processes: the others would wait for this one forever.
  ~MpiWorld();
  MpiWorld(const MpiWorld&) = delete;
  MpiWorld& operator=(const MpiWorld&) = delete;

  Transport& transport() { return *transport_; }

 private:
  std::unique_ptr<Transport> transport_;
  bool started_ = false;
  int exceptions_ = 0;  // under way when it was made
};

/// The first `count` of these processes as a group of their own, null on the others. All of them call it, while MpiWorld is
/// there.
std::unique_ptr<Transport> first_ranks(int count);

/// The ranks of a communicator that a program has made itself: run_model() and AssemblySystem then work on them alone, and what
/// the program sends there is kept apart. It is named by its Fortran handle, MPI_Comm_c2f(communicator), or py2f() in mpi4py. All
/// of its ranks call it, after MPI_Init.
std::unique_ptr<Transport> ranks_of(int communicator);
/// The handle of all processes that mpirun started.
int world_communicator();

/// Whether a launcher of MPI programs started this process.
bool under_mpirun();

}  // namespace linkwork
