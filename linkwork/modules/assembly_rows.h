#pragma once

#include <string>
#include <utility>
#include <vector>

#include "linkwork/modules/glue.h"
#include "linkwork/simulation/moving_system.h"

namespace linkwork {

/// Output rows of all modules, put together of what every rank has: columns of its modules, three energies each, then lambda,
/// force and torque of the connections whose first module it has, the energy of its springs, and how the ends of springs move
/// that are on its modules. All ranks get all of it and keep the same accounts.
class AssemblyRows {
 public:
  /// Every rank tells the names of its modules' columns, and all agree on their order, which does not depend on who has what: by
  /// kind, connections first, then modules and couplings as in the plan.
  AssemblyRows(Workshop& workshop, Glue& glue);

  const std::vector<std::string>& columns() const { return columns_; }
  /// At the state last evaluated. `objects`: the first rank wants no more; the same on all ranks after it.
  Status record(Workshop& workshop, Glue& glue, double t, bool& objects, std::vector<double>& row);
  /// Of the last row. Work is done on the modules by their ports too, springs between them included.
  const Energies& energies() const { return energies_; }

  /// Which rank tells of what lies between two ports.
  static int owner(const Workshop& workshop, const PortRef& a, const PortRef& b) {
    return workshop.rank_of(a.is_ground() ? b.module : a.module);
  }

 private:
  /// Calls visit(spring, is_b) for every end of a spring on a module of a rank, in the order of the output.
  template <class Visit>
  void for_each_end(const Workshop& workshop, int rank, Visit visit) const;
  void set_springs(const AssemblyPlan& plan, std::vector<double>& row) const;

  std::vector<std::string> columns_;
  std::vector<double> output_;  // of all ranks
  std::vector<int> output_ends_;
  std::vector<std::pair<std::size_t, std::size_t>> column_numbers_;  // columns, and their numbers in the output
  std::vector<std::size_t> energy_numbers_;                          // by leaf: the first of three
  std::vector<std::size_t> potential_numbers_;                       // of springs, then of couplings
  std::size_t first_total_ = 0;                                      // of the columns that are totals
  bool multipliers_, reactions_, efforts_;                           // whether they are among the columns
  /// Efforts of springs between modules: where in the output their ends are, position and velocity, and where in the row they go.
  struct SpringColumns {
    std::size_t a = 0, b = 0;  // 0: on the ground
    std::size_t effort = 0, power = 0;
  };
  std::vector<SpringColumns> springs_;
  Energies energies_;
};

}  // namespace linkwork
