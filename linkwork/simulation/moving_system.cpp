#include "linkwork/simulation/moving_system.h"

#include "linkwork/model/input_error.h"

namespace linkwork {

void MovingSystem::set_input(const std::string& name, std::optional<double>) {
  throw InputError({}, "input '" + name + "' cannot be set in this kind of run", "a run of forces and masses");
}

}  // namespace linkwork
