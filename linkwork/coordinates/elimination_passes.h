#pragma once

#include <span>
#include <type_traits>
#include <vector>

#include "linkwork/coordinates/elimination_plan.h"
#include "linkwork/linalg/rank.h"

namespace linkwork {

/// Of lanes: those whose rows are not all independent have a `weakest` of 0, and no result.
template <class S>
struct FullRank {
  S weakest = S(1);
};

/// Numbers that are loaded several at a time.
template <class S>
using AlignedNumbers = std::vector<S, Eigen::aligned_allocator<S>>;

/// The passes of LoopElimination over a tree of type T, in numbers S, with groups of columns of type C. Defined in
/// elimination_recursions.h.
template <class S, class T, class C>
class EliminationPasses : public EliminationPlan {
 public:
  explicit EliminationPasses(const EliminationPlan& plan);
  /// For lanes, each of which has its own.
  void set_reach(int group, const S& reach) { reach_[static_cast<std::size_t>(group)] = reach; }

  /// See LoopElimination.
  void inward(const T& tree, TreeWork<S>& work, std::span<const C> groups, const VecX<S>& b, std::span<const C> open = {});
  void inward_unforced(const T& tree, TreeWork<S>& work, std::span<const C> groups, const VecX<S>& b,
                       std::span<const C> open = {});
  void respond_again(const T& tree, TreeWork<S>& work, const VecX<S>& b, VecX<S>& x, VecX<S>& lambda);
  void outward(const T& tree, TreeWork<S>& work, VecX<S>& vdot, VecX<S>& lambda);
  void subtract_rates(const TreeWork<S>& work, std::span<const C> groups, const VecX<S>& vdot, VecX<S>& x,
                      VecX<S>* size = nullptr) const;

  using RankFound = std::conditional_t<std::is_same_v<S, double>, Rank, FullRank<S>>;
  const RankFound& rank() const { return rank_; }

 protected:
  using W = Wrench<S>;
  /// A node nothing hangs on, whose inertia is the same however it has turned: a wheel.
  struct Spinner {
    int node, parent;
    S inertia, inverse;          // about its axis
    ArticulatedInertia<S> left;  // what its joint leaves, at the parent
  };

  void start(std::span<const C> groups, const VecX<S>& b, std::span<const C> open);
  void pass(const T& tree, TreeWork<S>& work, int node);
  void pass_all(const T& tree, TreeWork<S>& work, std::span<const C> groups, int node);
  template <class N>
  void pass_axis(const N& node, const NodeWork<S>& a, const S& u_joint, const Passage& passage, bool seeded, bool is_one = false);
  void pass_planar(const NodeWork<S>& a, const S& u_joint, const Passage& passage, bool seeded, bool is_one = false);
  void pass_block(const T& tree, const TreeWork<S>& work, int node, const Passage& passage);
  void couple(const Station& station);
  void eliminate(int group, std::span<const C> groups, const T& tree, TreeWork<S>& work);
  template <int kColumns>
  void invert(int group);
  template <int kColumns>
  void eliminate_columns(const Group& group, bool planar, NodeWork<S>& node);
  void push(const Group& group, bool planar, NodeWork<S>& node);
  void recover(int group, const TreeWork<S>& work, VecX<S>& lambda);
  template <int kColumns>
  void recover_columns(const Group& group, const TreeWork<S>& work, S* lambda);
  void scale_rows(int group, const C& columns);
  void add_spinner(const Spinner& spinner, TreeWork<S>& work) const;
  /// A column of the wrenches K.
  W wrench(int K, int column) const;

  std::vector<S> reach_;       // by group
  AlignedNumbers<S> numbers_;  // of the plan
  std::vector<Spinner> spinners_;
  std::vector<S> scale_;
  std::vector<char> dependent_;        // not of lanes
  std::vector<double> inconsistency_;  // likewise
  RankFound rank_;
};

}  // namespace linkwork
