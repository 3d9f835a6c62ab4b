#pragma once

#include <span>
#include <utility>
#include <vector>

#include "linkwork/tree/force_columns.h"

namespace linkwork {

class Compounds;

/// Columns are computed with four at a time: the rows of numbers they stand in are that much longer.
inline constexpr int kColumnsAtATime = 4;
constexpr int padded(int columns) { return (columns + kColumnsAtATime - 1) / kColumnsAtATime * kColumnsAtATime; }

/// What an elimination of loops (loop_elimination.h) decides when it is made: the places of elimination, their order, and where
/// all numbers stand. It knows no numbers but lever arms.
class EliminationPlan {
 public:
  /// Groups from `closed` on are left open. Those that the compounds embed are theirs to deal with. early: bodies that float are
  /// taken in the order of the tree they form; else all their rows meet at the ground, which is less work where many are held by
  /// it.
  EliminationPlan(const Tree& tree, std::span<const ForceColumns> closed, Compounds* compounds,
                  std::span<const ForceColumns> open, bool early);
  /// The better of the two.
  static EliminationPlan best(const Tree& tree, std::span<const ForceColumns> closed, Compounds* compounds,
                              std::span<const ForceColumns> open);

  /// What an evaluation costs beyond that of the tree, by group, in machine instructions: an estimate by counting, with factors
  /// fitted to measurements.
  const std::vector<double>& costs() const { return costs_; }
  /// Rows that are eliminated, those among them that may turn out to depend on others included.
  int working_rows() const { return working_rows_; }
  /// By group: bound of its lever arms.
  double reach(int group) const { return groups_[static_cast<std::size_t>(group)].reach; }

 protected:
  // All numbers stand in one array, and so do their places here. Rows by column are padded(). Of wrenches there are six such rows
  // at a place: n, then f.

  /// The columns of a group at one node of its way.
  struct Passage {
    int columns;
    bool first;    // nothing was added to those at the parent before
    int K;         // its wrenches
    int parent_K;  // the same at the parent, -1: not needed
    int u, y;      // by dof of the joint, then by column
    int rhs;       // by column
    int sums;      // its group's
    int first_row;
  };
  struct Coupling {  // of two passages of a node
    int rows, columns;
    int u, y;    // of the one's rows, of the other's columns
    int values;  // of Lambda, row by row
    bool first;  // nothing was added to them before
  };
  struct Later {
    int group;
    int columns;  // of the later group, and its numbers
    int first_row, rhs;
    int K;       // of the later group at the node of elimination, -1: none
    int values;  // of Lambda: the later group's rows by this one's columns
    int scaled;  // the same, times the inverse
  };
  struct Fill {
    int rows, columns;
    int scaled, values;  // of two that are later
    int target;          // of Lambda
  };
  struct Group {
    int columns;  // working ones
    int first_row, last_row;
    int rhs;
    int node;      // where it is eliminated
    int K;         // there, -1: the ground
    int diagonal;  // of Lambda
    int inverse;
    int sums;      // of D^-1 along its way, for the scale of rank decisions: of what turns, of what slides, of what is seeded
    double reach;  // bound of its lever arms
    std::vector<Later> later;
    std::vector<Fill> fill;
  };
  struct Seed {  // a wrench of a group
    int group;
    int wrench;  // which of the group's
    int K;
    bool first;   // the only one so far at its place
    bool planar;  // on a planar node
  };
  /// How columns pass a joint. One: those of one group, a few.
  enum class Way { kPlanarOne, kPlanar, kAxisOne, kAxis, kOther };
  struct Station {  // a node
    int first_passage, last_passage;
    int first_coupling, last_coupling;
    int first_eliminated, last_eliminated;
    int first_seed, last_seed;  // generalized forces on the joint
    Way way;
    bool spins;  // its inertia is the same however it has turned: LoopElimination adds it to its parent's
  };
  struct JointSeed {
    int group, force, component, passage;
  };
  struct Between {  // of open groups
    int a, b, values;
  };
  struct Cleared {
    int first, last;
  };

  Compounds* compounds_;
  int closed_;                    // groups to be eliminated; the open ones come after them
  std::vector<Between> between_;  // blocks of D, by open groups a >= b
  std::vector<Group> groups_;
  std::vector<int> order_;  // of elimination
  std::vector<Passage> passages_;
  std::vector<Coupling> couplings_;
  std::vector<Seed> seeds_;
  std::vector<Cleared> cleared_;  // what must be zero to begin with
  std::vector<JointSeed> joint_seeds_;
  std::vector<Station> stations_;
  int rows_ = 0, working_rows_ = 0, size_ = 0;  // how many there are, and numbers

 private:
  void find_first_terms(const Tree& tree);
  /// A place for so many numbers, after those that have theirs.
  int place(int numbers) { return std::exchange(size_, size_ + numbers); }

  double work_ = 0.0;  // of the eliminations, in multiplications
  std::vector<double> costs_;
};

}  // namespace linkwork
