#pragma once

#include <span>
#include <vector>

#include "linkwork/tree/force_columns.h"

namespace linkwork {

class Compounds;

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
  /// By group: bound of its lever arms.
  double reach(int group) const { return groups_[static_cast<std::size_t>(group)].reach; }

 protected:
  /// The columns of a group at one node of its way.
  struct Passage {
    int group;
    int columns;
    int K;         // first of its wrenches in K_
    int parent_K;  // the same at the parent, -1: not needed
    bool first;    // nothing was added to those at the parent before
    int u;         // first of its numbers in u_, y_: by column, then by dof of the joint
    int first_row;
  };
  struct Coupling {  // of two passages of a node
    int rows, columns;
    int u, y;    // of the one's rows, of the other's columns
    int values;  // in Lambda_, row-major
  };
  struct Later {
    int group;
    int K;       // of the later group at the node of elimination, -1: none
    int values;  // in Lambda_, scaled_: the later group's rows by this one's columns
  };
  struct Fill {
    int a, b;  // positions in `later`
    int values;
  };
  struct Group {
    int columns;  // working ones
    int first_row, last_row;
    int node;      // where it is eliminated
    int K;         // there, -1: the ground
    int diagonal;  // in Lambda_, inverse_
    double reach;  // bound of its lever arms
    std::vector<Later> later;
    std::vector<Fill> fill;
  };
  struct Seed {  // a wrench of a group
    int group;
    int wrench;  // which of the group's
    int K;
    bool first;  // the only one so far at its place
  };
  struct Station {  // a node
    int first_passage, last_passage;
    int first_coupling, last_coupling;
    int first_eliminated, last_eliminated;
    int first_seed, last_seed;  // generalized forces on the joint
  };
  struct JointSeed {
    int group, force, component, passage;
  };

  Compounds* compounds_;
  int closed_;                 // groups to be eliminated; the open ones come after them
  std::vector<Fill> between_;  // blocks of D, by open groups a >= b
  std::vector<Group> groups_;
  std::vector<int> order_;  // of elimination
  std::vector<Passage> passages_;
  std::vector<Coupling> couplings_;
  std::vector<Seed> seeds_;
  std::vector<int> cleared_;  // wrenches: what must be zero to begin with
  std::vector<JointSeed> joint_seeds_;
  std::vector<Station> stations_;
  int wrenches_ = 0, numbers_ = 0, values_ = 0, diagonals_ = 0, rows_ = 0, dofs_ = 0;  // how many there are

 private:
  void find_first_terms(const Tree& tree);

  double work_ = 0.0;  // of the eliminations, in multiplications
  std::vector<double> costs_;
};

}  // namespace linkwork
