#pragma once

#include <memory>
#include <vector>

#include "linkwork/modules/assembly_plan.h"
#include "linkwork/modules/group_plan.h"
#include "linkwork/modules/placement.h"
#include "linkwork/transport/metered.h"

namespace linkwork {

/// States, or rates, of the modules of one rank, in the order of leaves.
using States = std::vector<VecX<double>>;

/// A module at work, and its answers to the three questions.
struct WorkingModule {
  WorkingModule(int index_in_plan, const ModulePlan& plan)
      : index(index_in_plan),
        name(plan.name),
        module(plan.make(plan.start)),
        motion(static_cast<std::size_t>(plan.port_count)),
        response(plan.port_count),
        Q(VecX<double>::Zero(6 * plan.port_count)) {}

  int index;
  std::string name;
  std::unique_ptr<Module> module;
  std::vector<PortMotion> motion;
  PortResponse response;
  VecX<double> Q;  // forces on its ports
};

/// What one rank has of an assembly: the modules placed on it, and the way to the other ranks. All ranks do the same things in
/// the same order.
class Workshop {
 public:
  /// `leaves`: the modules in the order in which they are given to ranks; of a plan that is not whole, only those of this rank.
  /// What is given by reference must last as long.
  Workshop(const AssemblyPlan& plan, const std::vector<int>& leaves, const GroupPlan& groups, Placement placement,
           Transport& transport);

  const AssemblyPlan& plan() const { return plan_; }
  const std::vector<int>& leaves() const { return leaves_; }
  const GroupPlan& groups() const { return groups_; }
  const Placement& placement() const { return placement_; }
  MeteredTransport& transport() { return transport_; }
  int rank() const { return transport_.rank(); }
  /// Whether a module is one of this rank's.
  bool has(int module) const;
  /// Of modules that the plan has; of a plan that is not whole, only of this rank's.
  int leaf_of(int module) const;
  int leaf_count() const { return placement_.ends.back(); }  // all ranks together

  /// How many ranks have modules: the first ones.
  int busy_ranks() const { return placement_.rank_of(leaf_count() - 1) + 1; }

  std::vector<WorkingModule>& modules() { return modules_; }
  /// The module of the plan; it must be one of this rank's.
  WorkingModule& module(int index) { return modules_[place_of(index)]; }
  std::size_t place_of(int index) const { return static_cast<std::size_t>(leaf_of(index) - placement_.begin(rank())); }

  /// The three questions, to all modules of this rank. Trouble of one of them is named, and kept until it is told to all.
  /// `level`: of the response that will be asked for.
  void ask_kinematics(double t, const States& x, Level level = Level::kAcceleration);
  void ask_response(Level level);
  void advance(Level level, States& out);

  /// Trouble of any module of this rank since the last call of clear_trouble().
  const std::string& trouble() const { return trouble_; }
  void clear_trouble() { trouble_.clear(); }
  void report(const WorkingModule& module, const std::string& trouble);
  /// Of what lies between modules: "connection 'gear'".
  void report(const std::string& who, const std::string& trouble);
  /// What went wrong on any rank; empty if nothing did. All ranks call it.
  std::string everyones_trouble();

  /// The name of a module, whoever has it. All ranks call it.
  std::string everyones_name(int module);

  /// Tells modules that compute elsewhere what will be asked of them: expect(module, number).
  template <class Expect>
  void expect(Expect expect) {
    for (const std::size_t i : elsewhere_) expect(modules_[i], i);
    for (const std::size_t i : elsewhere_) modules_[i].module->send();
  }
  /// Why a module of this rank will not answer any more; empty if all will.
  std::string lost() const;
  /// Journeys to other hosts, of this rank's modules.
  long round_trips() const;

  double seconds_in_modules() const { return seconds_; }

 private:
  template <class Ask>
  void for_each(Ask ask);

  const AssemblyPlan& plan_;
  const std::vector<int>& leaves_;
  const GroupPlan& groups_;
  Placement placement_;
  MeteredTransport transport_;
  std::vector<std::pair<int, int>> leaf_of_;  // by module, in rising order of those that the plan has
  std::vector<WorkingModule> modules_;
  std::vector<std::size_t> elsewhere_;  // of modules_
  double t_ = 0.0;
  std::string trouble_;
  double seconds_ = 0.0;
};

/// The time an evaluation takes in each module, by leaf, on every rank: measured where the modules are.
std::vector<double> measured_costs(Workshop& workshop, const States& x);

}  // namespace linkwork
