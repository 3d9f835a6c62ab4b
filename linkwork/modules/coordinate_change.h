#pragma once

#include "linkwork/dynamics/redundancy.h"
#include "linkwork/linalg/row_basis.h"
#include "linkwork/modules/ported_schur.h"

namespace linkwork {

/// The ports' response at the levels of position and velocity where changes of a state are measured by its coordinates in their
/// units, not by its masses. With U the units, the change is x = U y and y the shortest that
///   (1)  A U y = e,   y = (A U)^+ e + N (J U)' Q,   N = 1 - (A U)^+ (A U)
/// so that D = J U N (J U)' and R = J U (A U)^+ e. The rows of A are the module's own, J those of its ports.
class CoordinateChange {
 public:
  /// `length`: what coordinates that slide are measured in.
  CoordinateChange(const Model& model, double length);

  /// The system is up to date.
  void respond(System& system, PortedSchur& ports, Level level, PortResponse& response);
  /// x of (1) with the forces Q on the ports.
  void finish(const VecX<double>& Q, VecX<double>& change) const;
  const Rank& rank() const { return rank_; }

 private:
  VecX<double> unit_;
  RowRank decision_;
  Rank rank_;
  std::vector<char> dependent_;
  RowBasis basis_;
  MatX<double> rows_, J_, bounds_, along_;  // A U, J U, bounds, N (J U)'
  VecX<double> own_, weights_, scale_, lambda_;
};

}  // namespace linkwork
