#include "linkwork/dynamics/partitioned_solution.h"
#include "linkwork/formulations/catalog.h"

namespace linkwork {

namespace {

/// [Wehage1982] at the level of accelerations: see partitioned_solution.h. The coordinates are chosen anew at each state, so
/// that accelerations depend on nothing else.
class Partition : public Formulation {
 public:
  explicit Partition(const Model& model) : split_(model) {}

  Status solve(System& system, Solution& solution) override {
    split_.partition().forget();
    split_.update(system);
    return split_.solve(system, system.terms().b, "partition", solution);
  }

 private:
  PartitionedSolution split_;
};

}  // namespace

CatalogEntry<Formulation> partition_formulation() {
  return {{"partition",
           "independent coordinates, chosen by the geometry alone; takes any ratio of masses and redundant rows",
           "Wehage1982",
           {}},
          [](const Model& model, const Options&) { return std::make_unique<Partition>(model); }};
}

}  // namespace linkwork
