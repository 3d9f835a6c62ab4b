#pragma once

#include <memory>
#include <mutex>
#include <vector>

#include "linkwork/dynamics/closure_rows.h"

namespace linkwork {

class LoopElimination;

/// What is known of a model's constraints beforehand, whatever the state: which rows act where, the way to evaluate them, and the
/// plan of their elimination. Made once per model and shared by all that evaluate it (layout_of()); never changed.
class ConstraintLayout {
 public:
  explicit ConstraintLayout(const Model& model);
  ConstraintLayout(const ConstraintLayout&) = delete;
  ConstraintLayout& operator=(const ConstraintLayout&) = delete;
  ~ConstraintLayout();

  std::vector<ForceColumns> groups;       // one per closure: those between frames, then relations of coordinates. No values yet.
  std::vector<int> first_rows;            // of the groups
  std::vector<int> group_of;              // by row
  std::vector<ClosureRows> closure_rows;  // by closure between frames
  std::vector<std::vector<int>> seed_bodies;  // by group: the bodies that its wrenches act on, in the order of its seed nodes

  /// With all loops cut, to be copied by those who eliminate; planned when first asked for. The tree is the model's.
  const LoopElimination& elimination(const Tree& tree) const;

 private:
  mutable std::once_flag planned_;
  mutable std::unique_ptr<const LoopElimination> elimination_;
};

/// Of a model; made when first asked for.
const std::shared_ptr<const ConstraintLayout>& layout_of(const Model& model);

/// The elimination of all loops of a model, cut, ready to use.
LoopElimination cut_loops(const Model& model);

}  // namespace linkwork
