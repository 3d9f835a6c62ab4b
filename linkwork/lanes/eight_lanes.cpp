// Compiled with instructions that the rest of the library does without: see CMakeLists.txt.
#if defined(__AVX512F__) && defined(__AVX512DQ__) && defined(__AVX512VL__)
#include "linkwork/lanes/steps_in_lanes.h"

namespace linkwork {

constinit const MakeLaneSteps kEightLanes = [](const LaneStepsOf& of) -> std::unique_ptr<LaneSteps> {
  return std::make_unique<StepsInLanes<8>>(of);
};

}  // namespace linkwork
#else
#include "linkwork/lanes/lane_steps.h"

namespace linkwork {

constinit const MakeLaneSteps kEightLanes = nullptr;

}  // namespace linkwork
#endif
