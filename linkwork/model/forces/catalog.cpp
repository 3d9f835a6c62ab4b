#include <set>

#include "linkwork/model/kinds.h"

namespace linkwork {

std::vector<ForceKind> force_kinds() {
  return {joint_torque(), joint_force(), spring_force(), damper_force(), wrench_force(), bushing_force()};
}

std::vector<std::string> output_names(const std::vector<ForceSpec>& forces) {
  std::set<std::string> taken;
  for (const ForceSpec& force : forces) taken.insert(force.name);
  std::vector<std::string> names;
  for (std::size_t k = 0; k < forces.size(); ++k) {
    std::string name = forces[k].name;
    if (name.empty())
      for (name = "force" + std::to_string(k + 1); !taken.insert(name).second;) name += '_';
    names.push_back(std::move(name));
  }
  return names;
}

}  // namespace linkwork
