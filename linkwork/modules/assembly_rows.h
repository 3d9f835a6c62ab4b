#pragma once

#include <string>
#include <utility>
#include <vector>

#include "linkwork/modules/glue.h"
#include "linkwork/simulation/moving_system.h"

namespace linkwork {

/// Output rows of all modules, put together on the first rank of what every rank has: columns of its modules, three energies
/// each, then lambda, force and torque of the connections and the energy of the springs that it tells of (GroupPlan), and how the
/// ends of springs move that are on its modules.
class AssemblyRows {
 public:
  /// Every rank tells the names of its modules' columns; their order does not depend on who has what: by kind, connections first,
  /// then modules and couplings as in the plan. Throws InputError, on all ranks alike, if columns are asked for that there are
  /// not.
  AssemblyRows(Workshop& workshop, Glue& glue);

  /// Empty on ranks that know only their own part of the plan.
  const std::vector<std::string>& columns() const { return columns_; }
  /// At the state last evaluated. The first rank gets the row. `objects`: the first rank wants no more; the same on all ranks
  /// after it.
  Status record(Workshop& workshop, Glue& glue, double t, bool& objects, std::vector<double>& row);
  /// Of the last row, on the first rank. Work is done on the modules by their ports too, springs between them included.
  const Energies& energies() const { return energies_; }

 private:
  /// Calls visit(spring, is_b) for every end of a spring on a module of this rank, in the order of the output.
  template <class Visit>
  void for_each_end(const Workshop& workshop, Visit visit) const;
  std::string own_columns(Workshop& workshop, Glue& glue);
  void lay_out(const AssemblyPlan& plan, const std::vector<std::string>& texts);
  void set_springs(const AssemblyPlan& plan, std::vector<double>& row) const;

  std::vector<std::string> columns_;
  std::vector<double> own_, output_;  // of this rank, and of all
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
