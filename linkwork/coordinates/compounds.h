#pragma once

#include <Eigen/Cholesky>
#include <span>
#include <vector>

#include "linkwork/tree/force_columns.h"

namespace linkwork {

/// Constraint embedding: the bodies of loops that share joints are taken together as one compound body, which moves by its
/// independent coordinates only [Jain2012]. With the compound's rows A v = u, A vdot = b split into dependent and independent
/// columns,
///   v_d = A_d^-1 (u - A_i v_i),   vdot = G vdot_i + g,   G = [-A_d^-1 A_i; 1],   g = [A_d^-1 b; 0].               (1)
/// The compound is then one joint of the tree, with as many degrees of freedom as independent coordinates. With V_j = (V_j^k) the
/// motions of its bodies per unit of those, their base held still,
///   D = sum V_j' I_j V_j,   U = sum I_j V_j,   I_base += sum I_j - U D^-1 U',                                      (2)
/// where the I_j are the articulated inertias of the bodies with all that hangs on them.
///
/// A_d is block triangular, mostly with the rows of one loop a block: the blocks are found when the coordinates are chosen, and
/// the cost of (1) is linear in the number of loops. Rows that depend on others are left out.
class Compounds {
 public:
  /// embed: by group of columns, whether its rows are embedded. Groups that share a joint must be embedded together.
  Compounds(const Tree& tree, std::span<const ForceColumns> groups, std::span<const char> embed);

  bool empty() const { return compounds_.empty(); }
  bool embeds(int group) const { return embedded_[static_cast<std::size_t>(group)] != 0; }
  bool owns(int node) const { return compound_of_[static_cast<std::size_t>(node)] >= 0; }
  int count() const { return static_cast<int>(compounds_.size()); }

  /// A of the embedded rows, from the groups. Needs positions.
  void update_rows(const Tree& tree, const TreeWork<double>& work, std::span<const ForceColumns> groups);
  /// Picks the independent coordinates anew, by pivoting on the rows as they are: with few coordinates solved for together, or
  /// with the largest pivots. After update_rows(); needs poses in the world.
  void choose(const Tree& tree, const TreeWork<double>& work, std::span<const ForceColumns> groups, bool sparse = true);
  bool chosen() const { return chosen_; }
  /// A_d^-1, and G, of the rows as they are. Returns how fast a dependent coordinate moves at most when an independent one moves
  /// by 1, with lengths measured in units of the mechanism's: large near a position where the choice is bad.
  double factor();
  /// update_rows(), factor(), and v_d from v_i (1), compound by compound, so that each is read from memory once.
  double settle(const Tree& tree, const TreeWork<double>& work, std::span<const ForceColumns> groups, const VecX<double>& u,
                VecX<double>& v);
  /// A displacement of dependent coordinates that removes the position errors phi, to first order.
  void correction(const VecX<double>& phi, VecX<double>& dq) const;

  /// The parts of the recursion at one node of a compound: see aba.h. (2)
  void inward(const Tree& tree, TreeWork<double>& work, int node, const VecX<double>& b);
  void outward(const Tree& tree, TreeWork<double>& work, int node, VecX<double>& vdot);

  /// lambda of the embedded rows, from what the other forces leave of M vdot + c - tau.
  void multipliers(const VecX<double>& residual, VecX<double>& lambda) const;

  /// By row: 1 if it was left out. Rows that are not embedded are 0.
  const std::vector<char>& dependent() const { return dependent_; }
  int rank() const { return rank_; }
  /// What an evaluation costs beyond that of the tree, by compound, and the groups it embeds: like LoopElimination::costs().
  struct Cost {
    std::vector<int> groups;
    int joints = 0, rows = 0, independent = 0;
    double instructions = 0.0;
  };
  std::vector<Cost> costs() const;
  /// Velocity coordinates taken for independent, of all compounds.
  std::vector<int> independent() const;
  /// Rows that are solved together for as many velocity coordinates.
  struct Solved {
    std::vector<int> rows, dofs;
  };
  /// In the order in which they can be solved.
  std::vector<Solved> order_of_solution() const;

 private:
  struct Entry {
    int dof;    // position in the compound's dofs
    int value;  // in A_
  };
  struct Row {
    int row;                     // of the constraints
    std::vector<Entry> entries;  // all coordinates the row may depend on
  };
  /// Rows that are solved together for as many coordinates. All in one piece of memory each, as they are read in order.
  struct Block {
    int size;
    int first_row;   // in solved_rows_
    int dependents;  // in indices_: positions in the compound's dofs
    int entries;     // in indices_: of A_ by row, then by dependent; -1: zero
    int inverse;     // in inverse_
  };
  struct SolvedRow {
    int row;                      // of the constraints
    int first_other, last_other;  // in others_: what is known before
  };
  struct Compound {
    int base;
    int first_block = 0, last_block = 0;  // in the order they can be solved
    int scratch = 0;                      // which of scratch_ it uses
    double D = 0.0;                       // of (2), if there is but one independent coordinate
    std::vector<int> groups;
    std::vector<int> nodes;        // ascending
    std::vector<int> dofs;         // ascending
    std::vector<double> unit;      // by dof: length for slides, 1 for turns
    std::vector<Row> rows;         // of which the coordinates are chosen
    std::vector<int> independent;  // positions in dofs
    std::vector<double> G;         // by dof: its row of G, then g
    std::vector<Wrench<double>> U;
    VecX<double> force, solved;
    Eigen::LLT<MatX<double>> factor{MatX<double>(MatX<double>::Identity(1, 1))};  // of D, if there are several

    int columns() const { return static_cast<int>(independent.size()) + 1; }
  };
  /// What the inward pass needs from a compound's last node to its first. Compounds whose passes do not overlap share it.
  struct Scratch {
    std::vector<Twist<double>> V;                       // by node: the columns V^k, then the one of g
    std::vector<Wrench<double>> carried;                // by node and column: sum of I_j V_j outboard
    std::vector<ArticulatedInertia<double>> composite;  // by node
    std::vector<Wrench<double>> bias;                   // by node
    MatX<double> D;
  };

  void add_compound(const Tree& tree, std::span<const ForceColumns> groups, const std::vector<int>& members,
                    std::span<const int> first_rows, std::span<const int> first_values);
  void share_scratch();
  void choose(Compound& compound, std::span<const double> bounds, bool sparse);
  std::vector<char> independent_rows(const Compound& compound, std::span<const double> bounds) const;
  void arrange_blocks(Compound& compound, const std::vector<int>& row_of_dof);
  void add_block(const Compound& compound, std::span<const int> rows, std::span<const int> dependents);
  std::span<const Block> blocks(const Compound& compound) const;
  template <class Known>
  void solve_blocks(const Compound& compound, Known&& right_side, double* x, int stride) const;
  double factor(Compound& compound);
  void settle_velocities(const Compound& compound, const VecX<double>& u, VecX<double>& v) const;
  void start_inward(const Tree& tree, const TreeWork<double>& work, Compound& compound, const VecX<double>& b);
  static void add_armatures(const Tree& tree, Compound& compound, MatX<double>& D);
  void finish_inward(TreeWork<double>& work, Compound& compound);

  std::vector<Compound> compounds_;
  std::vector<Block> blocks_;
  std::vector<SolvedRow> solved_rows_;
  std::vector<Entry> others_;
  std::vector<int> indices_;
  std::vector<Scratch> scratch_;
  std::vector<int> compound_of_;   // by node, -1: none
  std::vector<int> local_;         // by node: position in the compound's nodes
  std::vector<char> embedded_;     // by group
  std::vector<int> first_values_;  // by group, in A_
  std::vector<double> A_;
  std::vector<double> inverse_;
  mutable std::vector<double> solving_, shift_;  // for one block, one compound
  VecX<double> column_;
  std::vector<char> dependent_;
  int rank_ = 0;
  bool chosen_ = false;
};

/// Groups that share a joint, directly or through others: by group, the number of its cluster.
std::vector<int> loop_clusters(const Tree& tree, std::span<const ForceColumns> groups);

}  // namespace linkwork
