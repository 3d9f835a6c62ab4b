#pragma once

#include <functional>
#include <memory>

#include "linkwork/transport/transport.h"

namespace linkwork {

/// Threads of one process as ranks. The threads live as long as the team, and sleep between tasks.
class ThreadTeam {
 public:
  /// The calling thread is rank 0: size - 1 threads are started.
  explicit ThreadTeam(int size);
  ~ThreadTeam();
  ThreadTeam(const ThreadTeam&) = delete;
  ThreadTeam& operator=(const ThreadTeam&) = delete;

  int size() const;

  /// Calls `task` once on every thread, with the transport between them, and returns when all are done. If one throws, the others
  /// are stopped at their next message, and the exception of the lowest rank that threw one itself is thrown here.
  void run(const std::function<void(Transport&)>& task);

 private:
  class Shared;
  std::unique_ptr<Shared> shared_;
};

}  // namespace linkwork
