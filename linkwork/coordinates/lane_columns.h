#pragma once

#include <optional>
#include <vector>

#include "linkwork/spatial/lanes.h"
#include "linkwork/tree/force_columns.h"

namespace linkwork {

/// The values of ForceColumns in lanes; their layout is that of one of them.
template <class L>
class LaneColumns {
 public:
  struct Bounds {
    L moment, force;
  };

  LaneColumns(const ForceColumns& like, std::optional<Bounds> bounds)
      : like_(&like),
        wrenches_(like.seed_nodes().size() * static_cast<std::size_t>(like.columns())),
        forces_(like.seed_dofs().size() * static_cast<std::size_t>(like.columns()), L(0.0)),
        bounds_(bounds) {}

  int columns() const { return like_->columns(); }
  int working() const { return like_->working(); }
  const std::vector<int>& seed_nodes() const { return like_->seed_nodes(); }
  const std::vector<int>& seed_dofs() const { return like_->seed_dofs(); }
  Wrench<L>& wrench(int seed, int column) { return wrenches_[place(seed, column)]; }
  const Wrench<L>& wrench(int seed, int column) const { return wrenches_[place(seed, column)]; }
  L& force(int seed_dof, int column) { return forces_[place(seed_dof, column)]; }
  const L& force(int seed_dof, int column) const { return forces_[place(seed_dof, column)]; }
  const std::optional<Bounds>& bounds() const { return bounds_; }

 private:
  std::size_t place(int seed, int column) const { return static_cast<std::size_t>(seed * like_->columns() + column); }

  const ForceColumns* like_;
  std::vector<Wrench<L>> wrenches_;
  std::vector<L> forces_;
  std::optional<Bounds> bounds_;
};

}  // namespace linkwork
