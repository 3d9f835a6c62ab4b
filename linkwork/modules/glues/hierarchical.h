#pragma once

#include "linkwork/modules/glue.h"
#include "linkwork/modules/glues/friction_loads.h"

namespace linkwork {

/// The joints' forces by elimination through the tree of groups (Hierarchy). Exact.
class HierarchicalGlue : public Glue {
 public:
  /// Whether what joints miss can be told by the modules, and whether their masses are so unequal that it must be.
  struct Refinement {
    bool is_possible, is_needed;
  };

  explicit HierarchicalGlue(Workshop& workshop);

  Status evaluate(double t, States& x, States& rates) override;
  Status project(double t, States& x, bool closely) override;
  Status project_and_evaluate(double t, States& x, States& rates) override;
  double weakest() const override { return hierarchy_.weakest(); }
  int connection_rank() override { return hierarchy_.total_rank(); }
  int total_rank() const override { return hierarchy_.total_rank() + hierarchy_.inner_rank(); }
  int known_connection_rank() const override { return hierarchy_.total_rank(); }
  int numbers_exposed() const override { return hierarchy_.numbers_exposed(); }
  std::string contradiction() const override;
  PairOfSums add_up(std::span<const PairOfSums> own) override { return hierarchy_.add_up(own); }
  Hierarchy* coupled() override { return &hierarchy_; }
  void modes_changed() override {
    loads_.lay_out();
    hierarchy_.forget_ranks();
  }

 protected:
  Hierarchy hierarchy_;
  DriftControl drift_;

 private:
  Status solve(double t, const States& x, States& rates);
  Status refine(double t, States& rates);

  FrictionLoads loads_;
  Refinement refinement_;
  std::vector<VecX<double>> Q_;  // before a correction, by module
  int times_due_ = 0;            // ends of steps in a row that were, or may have been, moved
};

}  // namespace linkwork
