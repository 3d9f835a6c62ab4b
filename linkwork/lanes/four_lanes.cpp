// Compiled with instructions that the rest of the library may do without: see CMakeLists.txt.
#include "linkwork/lanes/steps_in_lanes.h"

namespace linkwork {

template class LaneEquations<4>;

#if defined(__AVX2__) && defined(__FMA__)
constinit const MakeLaneSteps kFourLanes = [](const LaneStepsOf& of) -> std::unique_ptr<LaneSteps> {
  return std::make_unique<StepsInLanes<4>>(of);
};
#else
constinit const MakeLaneSteps kFourLanes = nullptr;
#endif

}  // namespace linkwork
