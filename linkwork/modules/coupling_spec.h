#pragma once

#include <set>
#include <string>

#include "linkwork/modules/coupling.h"

namespace linkwork {

/// Puts the model of a coupling together: what is added brings everything along that it refers to.
class CouplingSpec {
 public:
  /// `whole` must last as long.
  CouplingSpec(const Spec& whole, std::string name, const Place& place);

  void add(const ClosureSpec& closure);
  void add(const JointSpec& joint);
  /// By the name that it has in the output.
  void add(ForceSpec force, const std::string& name);
  void add(const SensorSpec& sensor);
  /// A state whose rate it finds; what uses states must come after them.
  void add(const StateSpec& state);

  /// All but its ports.
  CouplingPlan finish();

 private:
  void use_body(const std::string& body);
  void use_coordinate(const std::string& coordinate);
  void use_joint(const JointSpec& joint);
  void use_sensor(const std::string& variable);
  void use(const Expression& expression);

  const Spec& whole_;
  Spec spec_;
  CouplingPlan plan_;
  std::set<std::string> joints_, sensors_, inputs_;  // taken already
};

}  // namespace linkwork
