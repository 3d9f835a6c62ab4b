#pragma once

#include "linkwork/modules/glue.h"

namespace linkwork {

/// The joints' forces by elimination through the tree of groups (Hierarchy). Exact.
class HierarchicalGlue : public Glue {
 public:
  explicit HierarchicalGlue(Workshop& workshop);

  Status evaluate(double t, States& x, States& rates) override;
  Status project(double t, States& x) override;
  double weakest() const override { return hierarchy_.weakest(); }
  int connection_rank() override { return hierarchy_.rank_sum(); }
  int own_rank() const override { return hierarchy_.own_rank(); }
  int numbers_exposed() const override { return hierarchy_.numbers_exposed(); }
  std::string contradiction() const override;

 protected:
  Hierarchy hierarchy_;
  DriftControl drift_;
};

}  // namespace linkwork
