#pragma once

#include <map>
#include <string>
#include <vector>

#include "linkwork/modules/assembly_plan.h"
#include "linkwork/modules/assembly_start.h"
#include "linkwork/simulation/simulation.h"

namespace linkwork::test {

/// Rows of a run, by column.
struct Rows {
  std::vector<std::string> columns;
  std::vector<std::vector<double>> rows;
  Summary summary;

  double last(const std::string& column) const;
  std::vector<double> of(const std::string& column) const;
};

/// The model in one piece, in tree coordinates unless others are chosen.
Rows run_in_one_piece(const Spec& spec);
/// The model's modules with the glue of the settings, on this many threads.
Rows run_modules(const Spec& spec, int threads = 1);
Rows run_plan(const AssemblyPlan& plan, const Choice& glue, int threads = 1);
/// Modules placed at a consistent start of the whole.
AssemblyPlan started_plan(const Spec& spec);

/// The largest difference of a position or velocity that both have; names the column.
std::pair<double, std::string> largest_difference(const Rows& a, const Rows& b);

/// Ready models that are made of modules.
std::vector<std::string> library_assemblies();

}  // namespace linkwork::test
