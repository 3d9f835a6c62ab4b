#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "linkwork/model/remote_modules.h"
#include "linkwork/model/spec.h"
#include "linkwork/modules/assembly_outline.h"
#include "linkwork/modules/connection.h"
#include "linkwork/modules/coupling.h"
#include "linkwork/modules/group_tree.h"
#include "linkwork/modules/module.h"

namespace linkwork {

/// A module before it is made: only the rank that runs it makes it.
struct ModulePlan {
  std::string name;
  int port_count = 0;
  double weight = 1.0;  // cost to be expected, relative to the other modules
  std::function<std::unique_ptr<Module>(const std::vector<double>& start)> make;
  std::vector<double> start = {};  // handed to make(): values of its joints, for modules that are models (make_model_module)
  std::vector<int> joints = {};    // of the whole model's Spec
  std::shared_ptr<const Spec> part = nullptr;             // of modules that are models
  std::vector<std::string> ports = {};                    // their names, of modules on other hosts,
  std::optional<RemoteModuleSpec> remote = std::nullopt;  // and where that is
};

/// A system as modules and what joins them: all that every rank knows of it. Made of a model file by plan_assembly(), or put
/// together by a program of its own modules.
struct AssemblyPlan {
  std::string name;
  Settings settings;
  std::vector<ModulePlan> modules;
  std::vector<Connection> connections;
  std::vector<SpringLink> springs;
  std::vector<CouplingPlan> couplings;
  std::vector<InputSpec> inputs;                 // of all modules
  Nest nest;                                     // of the modules
  std::vector<std::string> notes;                // for the summary: what was chosen or changed for the user
  double length = 1.0;                           // size of the whole, m,
  double energy = 0.0;                           // and the energy that gravity can move in it, J: errors are judged by them
  double weight = 1.0;                           // a force that counts, N
  bool watched = false;                          // something comes and goes in it
  std::shared_ptr<const Model> whole = nullptr;  // in one piece; only the first rank has it
  bool starts_at_ports = false;                  // modules begin each by itself, and are brought together at their ports
  std::shared_ptr<const Model> drawn = nullptr;  // what is here of a whole that nobody has; only the first rank has it

  /// From so many ranks on, each keeps only its own part of the plan, if nothing asks for more: things that come and go, and
  /// couplings, do.
  int keeps_whole_below = 64;

  /// Set where modules and connections are too many to be listed above: they are made when they are asked for.
  std::shared_ptr<const AssemblySource> source = nullptr;
  /// Lists them after all.
  void list_all();

  /// Pairs of modules with something between them.
  std::vector<std::pair<int, int>> joined() const { return outline_of(*this).joined(); }

  /// Modules are numbered as they were in the whole plan.
  int module_count() const {
    if (!is_whole()) return whole_count_;
    return source ? source->module_count() : static_cast<int>(modules.size());
  }
  bool is_whole() const { return whole_count_ < 0; }
  const ModulePlan& module(int number) const;
  /// Keeps these modules and connections, and forgets the others.
  void keep(std::vector<int> its_modules, const std::vector<int>& its_connections);

 private:
  std::vector<int> kept_;  // numbers of the modules that are left, in rising order
  int whole_count_ = -1;   // -1: all are
};

/// The modules of a model file with the bodies of each; bodies of the file itself make a module of their own. Constraints and
/// springs between bodies of two modules become connections and spring links, whatever else concerns several modules a coupling;
/// all else belongs to one module. Throws InputError for what cannot be taken apart. shares_ports: frames of one body may share a
/// port, if the glue asks no more of it than how it answers to forces; else there is a port for each frame.
AssemblyPlan plan_assembly(const Spec& spec, bool shares_ports = true);

/// Sets the modules' starts from values of all joints of the whole model, as joint_values() gives them.
void set_start(AssemblyPlan& plan, const Spec& spec, const std::vector<double>& joint_values);

/// Between frames of a body that moves, m: how well constraints must hold is measured by it, and by no less than a millimetre,
/// since of angles between modules no more can be asked. It is the same whether modules are looked at together or one by one.
double longest_distance(const Spec& spec);
inline constexpr double kShortestDistance = 1e-3;

/// The name of the module that a file's own bodies make.
inline constexpr const char* kOwnModule = "(own)";

}  // namespace linkwork
