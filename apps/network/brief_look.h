#pragma once

#include <grpcpp/grpcpp.h>

#include <atomic>
#include <chrono>
#include <thread>

namespace linkwork::network_library {

/// Looks into a queue again and again for a short while before its thread goes to sleep: to be woken takes longer than most
/// answers do. One thread of a process does so at a time, and none where there is only one processor.
inline grpc::CompletionQueue::NextStatus look_briefly(grpc::CompletionQueue& queue, void** event, bool* good) {
  using Clock = std::chrono::steady_clock;
  constexpr std::chrono::microseconds kBrief(300);
  static const bool has_others = std::thread::hardware_concurrency() > 1;
  static std::atomic_flag is_looking;
  auto status = grpc::CompletionQueue::TIMEOUT;
  if (!has_others || is_looking.test_and_set(std::memory_order_acquire)) return status;
  const Clock::time_point end = Clock::now() + kBrief;
  while (status == grpc::CompletionQueue::TIMEOUT && Clock::now() < end)
    status = queue.AsyncNext(event, good, gpr_time_0(GPR_CLOCK_REALTIME));
  is_looking.clear(std::memory_order_release);
  return status;
}

}  // namespace linkwork::network_library
