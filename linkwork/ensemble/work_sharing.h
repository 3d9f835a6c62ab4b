#pragma once

#include <functional>
#include <string>

#include "linkwork/transport/mailbox.h"

namespace linkwork {

/// Tasks `first`, ..., `end` - 1, done by threads of one process or of several, each by whoever is free.
struct SharedWork {
  long first = 0, end = 0;
  int threads = 1;  // of each process
  /// Does a task, on any thread of any process; the result, as bytes. It should give up when go_on() is false: the result is
  /// then dropped.
  std::function<std::string(long task, const std::function<bool()>& go_on)> work = {};
  /// Takes the results, in the order of tasks, on the calling thread of the first process.
  std::function<void(long task, std::string result)> take = {};
  /// Asked now and then on the calling thread of each process: false ends it all.
  std::function<bool()> go_on = {};
};

/// Whether all tasks were done. All ranks of the mailbox call it, with the same work; null: this process works alone. However
/// many results come early, few wait for an earlier one: who is far ahead is given nothing to do. What `work` or `take` throws
/// is thrown here, once all threads have stopped.
bool share_work(const SharedWork& work, Mailbox* ranks);

}  // namespace linkwork
