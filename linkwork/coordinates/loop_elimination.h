#pragma once

#include <span>
#include <utility>
#include <vector>

#include "linkwork/coordinates/compounds.h"
#include "linkwork/coordinates/elimination_passes.h"
#include "linkwork/linalg/row_major.h"

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
class LoopElimination : public EliminationPasses<double, Tree, ForceColumns> {
 public:
  /// One group of columns a closure. Those that the compounds embed are theirs to deal with. The open ones each have their seeds
  /// on nodes only.
  LoopElimination(const Tree& tree, std::span<const ForceColumns> groups, Compounds* compounds = nullptr,
                  std::span<const ForceColumns> open = {});

  // Of EliminationPasses:
  //
  // inward(): the inward pass. Needs positions, velocities, and the bias wrenches in work.n, work.f. The groups hold the rows of
  // A. inward_unforced(): the same for M x = A' lambda, A x = b: no force but the constraints'. Overwrites work.n, work.f,
  // work.tau. outward(): the outward pass of either. respond_again(): inward_unforced() and outward() for another b, with the
  // factors of the last inward pass: the tree must stand where it stood, but for displacements that are of no consequence. Not
  // for what has compounds, or open groups. lambda holds the open groups' multipliers behind the others', which it fills in.
  // subtract_rates(), after outward(): subtracts A vdot from x, by row; size, if given, becomes what of each row's terms nothing
  // cancels.

  /// A block of D of (3): the answers of open group a's working columns, row by row, to those of b <= a.
  struct OpenBlock {
    int a, b, rows, columns;
    const double* values;
    int stride;
    const double* rhs;  // of a
  };
  /// After an inward pass: D and R = -rhs_open of (3), tell(block). Of a block on the diagonal the lower half counts.
  template <class Tell>
  void for_each_open_response(Tell tell) const;
  /// How large D's diagonal could be for a unit moment, and for a unit force `arm` away from the node of the given open group:
  /// the scale of rank decisions.
  std::pair<double, double> open_scale(int open, double arm) const;

  /// After inward(), with the same factors: M x = tau + A' y, A x = b for many right-hand sides, a column each. What passes
  /// between nodes is in world axes about the world's origin.
  void solve_more(const Tree& tree, TreeWork<double>& work, const RowMatX& tau, const RowMatX& b, RowMatX& x, RowMatX& y);

  /// By row.
  const std::vector<char>& dependent() const { return dependent_; }
  /// By row: the largest that A M^-1 A' could be, whatever cancels in it.
  const std::vector<double>& scale() const { return scale_; }
  /// By row: what of b the dependent rows could not meet.
  const std::vector<double>& inconsistency() const { return inconsistency_; }

 private:
  void find_spinners(const Tree& tree);
};

template <class Tell>
void LoopElimination::for_each_open_response(Tell tell) const {
  for (const Between& block : between_) {
    const Group &a = groups_[static_cast<std::size_t>(block.a)], &b = groups_[static_cast<std::size_t>(block.b)];
    tell(OpenBlock{block.a - closed_, block.b - closed_, a.columns, b.columns, numbers_.data() + block.values, padded(b.columns),
                   numbers_.data() + a.rhs});
  }
}

/// Whether the recursion may lose digits anywhere: so light and so heavy bodies, or several that float, each for itself (FA).
bool has_unequal_masses(const Tree& tree);

extern template class EliminationPasses<double, Tree, ForceColumns>;

}  // namespace linkwork
