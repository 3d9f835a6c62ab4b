#pragma once

#include <array>
#include <utility>
#include <vector>

#include "linkwork/modules/connection.h"
#include "linkwork/modules/group_tree.h"

namespace linkwork {

struct AssemblyPlan;
struct ModulePlan;

/// What must be known of all modules to share them among ranks: little of each.
struct AssemblyOutline {
  std::vector<double> weights;   // by module: cost to be expected, relative to the others
  std::vector<int> port_counts;  // by module
  std::vector<std::array<PortRef, 2>> connections, springs;
  std::vector<std::vector<PortRef>> couplings;
  Nest nest;

  /// Pairs of modules with something between them.
  std::vector<std::pair<int, int>> joined() const;
};

AssemblyOutline outline_of(const AssemblyPlan& plan);

/// Modules and connections too many for any rank to have them all: each asks for its own. It answers the same on all ranks. There
/// are no springs and couplings between such modules.
class AssemblySource {
 public:
  virtual ~AssemblySource() = default;

  virtual int module_count() const = 0;
  virtual AssemblyOutline outline() const = 0;
  virtual ModulePlan module(int number) const = 0;
  virtual Connection connection(int number) const = 0;
};

}  // namespace linkwork
