#pragma once

#include <span>
#include <utility>
#include <vector>

#include "linkwork/coordinates/compounds.h"
#include "linkwork/linalg/rank.h"
#include "linkwork/linalg/row_major.h"
#include "linkwork/tree/force_columns.h"

namespace linkwork {

/// Forward dynamics of a tree whose loops are closed by constraint rows, without M or A:
///
///   M vdot + c = tau + A' lambda,   A vdot = b.
///
/// The rows of a closure are carried as force columns K from its ends towards the root, through the articulated bodies. What the
/// joints on the way give in to, they leave in
///   Lambda = sum u' D^-1 u,   rhs = b - sum u' D^-1 u_joint,   u = S' K,   K <- K - U D^-1 u.            (1)
/// At the lowest node that contains the whole loop the rows then read, with a the node's acceleration,
///   Lambda lambda + Lambda_h lambda_h = rhs - K' a,                                                       (2)
/// where h are rows of loops that reach further up. So lambda is eliminated there: the node's articulated inertia grows by
/// K Lambda^+ K', its bias by -K Lambda^+ rhs, and the columns h take up the rest. Loops that are local cost O(N) in all, and
/// loops that meet at the ground a sparse block factorization, ordered when the object is made. Bodies that float, each on a free
/// joint of its own (FA), are taken in the order of the tree they form.
/// Rows that depend on others (rank.h) get lambda = 0. [Jain2012] L2 for the tree, [Sathya2025] for early elimination.
///
/// Groups may also be left open: columns of forces that are not known yet, on the ports of a module say. They are carried to the
/// ground like the others and are never eliminated; what is left of (2) then is how the open ends answer to forces on them,
///   K_open' vdot = D lambda_open - rhs_open,   D = Lambda_open after all eliminations,                    (3)
/// and the outward pass takes lambda_open as given.
class LoopElimination {
 public:
  /// One group of columns a closure. Those that the compounds embed are theirs to deal with. The open ones each have their seeds
  /// on nodes only.
  LoopElimination(const Tree& tree, std::span<const ForceColumns> groups, Compounds* compounds = nullptr,
                  std::span<const ForceColumns> open = {});

  /// The inward pass. Needs positions, velocities, and the bias wrenches in work.n, work.f. The groups hold the rows of A.
  void inward(const Tree& tree, TreeWork<double>& work, std::span<const ForceColumns> groups, const VecX<double>& b,
              std::span<const ForceColumns> open = {});
  /// The same for M x = A' lambda, A x = b: no force but the constraints'. Overwrites work.n, work.f, work.tau.
  void inward_unforced(const Tree& tree, TreeWork<double>& work, std::span<const ForceColumns> groups, const VecX<double>& b,
                       std::span<const ForceColumns> open = {});
  /// After either: D and R = -rhs_open of (3), the open columns in their order.
  void open_response(MatX<double>& D, VecX<double>& R) const;
  /// How large D's diagonal could be for a unit moment, and for a unit force `arm` away from the node of the given open group:
  /// the scale of rank decisions.
  std::pair<double, double> open_scale(int open, double arm) const;
  /// The outward pass of either. lambda holds the open groups' multipliers behind the others', which it fills in.
  void outward(const Tree& tree, TreeWork<double>& work, VecX<double>& vdot, VecX<double>& lambda);

  /// After inward(), with the same factors: M x = tau + A' y, A x = b for many right-hand sides, a column each. What passes
  /// between nodes is in world axes about the world's origin.
  void solve_more(const Tree& tree, TreeWork<double>& work, const RowMatX& tau, const RowMatX& b, RowMatX& x, RowMatX& y);

  /// What an evaluation costs beyond that of the tree, by group, in machine instructions: an estimate by counting, with factors
  /// fitted to measurements.
  const std::vector<double>& costs() const { return costs_; }

  /// After outward(): subtracts A vdot from x, by row; size, if given, becomes what of each row's terms nothing cancels.
  void subtract_rates(const TreeWork<double>& work, std::span<const ForceColumns> groups, const VecX<double>& vdot,
                      VecX<double>& x, VecX<double>* size = nullptr) const;

  const Rank& rank() const { return rank_; }
  /// By row.
  const std::vector<char>& dependent() const { return dependent_; }
  /// By row: what of b the dependent rows could not meet.
  const std::vector<double>& inconsistency() const { return inconsistency_; }

 private:
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
    int node;                         // where it is eliminated
    int K;                            // there, -1: the ground
    int diagonal;                     // in Lambda_, inverse_
    double reach;                     // bound of its lever arms
    double turning, sliding, seeded;  // sums of D^-1 along its way, for the scale of rank decisions
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

  /// early: bodies that float are taken in the order of the tree they form; else all their rows meet at the ground, which is less
  /// work where many are held by it.
  LoopElimination(const Tree& tree, std::span<const ForceColumns> closed, Compounds* compounds,
                  std::span<const ForceColumns> open, bool early);
  void find_first_terms(const Tree& tree);
  void start(std::span<const ForceColumns> groups, const VecX<double>& b, std::span<const ForceColumns> open);
  void pass(const Tree& tree, TreeWork<double>& work, std::span<const ForceColumns> groups, int node);
  void pass_all(const Tree& tree, TreeWork<double>& work, std::span<const ForceColumns> groups, int node);
  void pass_axis(const Node& node, const NodeWork<double>& a, double u_joint, const Passage& passage, bool seeded);
  void pass_planar(const NodeWork<double>& a, double u_joint, const Passage& passage, bool seeded);
  void pass_block(const Tree& tree, const TreeWork<double>& work, int node, const Passage& passage);
  void add_multipliers(const Node& node, const Station& station, const double* lambda);
  void eliminate(int group, std::span<const ForceColumns> groups, TreeWork<double>& work);
  void recover(int group, const TreeWork<double>& work, VecX<double>& lambda);
  void scale_rows(const Group& group, const ForceColumns& columns);

  Compounds* compounds_;
  int closed_;                 // groups to be eliminated; the open ones come after them
  std::vector<Fill> between_;  // blocks of D, by open groups a >= b
  double work_ = 0.0;          // of the eliminations, in multiplications
  std::vector<double> costs_;
  std::vector<Group> groups_;
  std::vector<int> order_;  // of elimination
  std::vector<Passage> passages_;
  std::vector<Coupling> couplings_;
  std::vector<Seed> seeds_;
  std::vector<int> cleared_;  // of K_: what must be zero to begin with
  std::vector<JointSeed> joint_seeds_;
  std::vector<Station> stations_;

  std::vector<Wrench<double>> K_;
  std::vector<double> u_, y_;
  std::vector<double> Lambda_, scaled_, inverse_;
  std::vector<double> rhs_, scale_;
  VecX<double> force_;
  std::vector<char> dependent_;
  std::vector<double> inconsistency_;
  Rank rank_;
};

}  // namespace linkwork
