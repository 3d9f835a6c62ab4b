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

/// Whether a launcher of MPI programs started this process.
bool under_mpirun();

}  // namespace linkwork
