#include "linkwork/lanes/lane_steps.h"

namespace linkwork {

LaneSteps::~LaneSteps() = default;

std::vector<int> lane_counts() {
  std::vector<int> counts;
#if defined(__x86_64__)
  const bool has_avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
  const bool has_avx512 =
      __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
  if (has_avx2 && kFourLanes != nullptr) counts.push_back(4);
  if (has_avx2 && has_avx512 && kEightLanes != nullptr) counts.push_back(8);
#endif
  return counts;
}

std::unique_ptr<LaneSteps> make_lane_steps(const LaneStepsOf& of) {
  return (of.systems.size() == 4 ? kFourLanes : kEightLanes)(of);
}

}  // namespace linkwork
