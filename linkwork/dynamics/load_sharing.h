#pragma once

#include <Eigen/Cholesky>
#include <vector>

#include "linkwork/dynamics/system.h"

namespace linkwork {

/// Contacts and frictions in force that repeat one another share their load: of all multipliers with the same effect A' lambda,
/// those whose sum of squares over contacts and friction is least, each by the unit of its row. Formulations give dependent rows
/// none, or some other share; where friction depends on the share, all of them must give the same, and none that is lopsided.
class LoadSharing {
 public:
  explicit LoadSharing(const Model& model);

  /// dependent: by row, as the formulation found it. lambda is changed along the dependent rows of contacts and friction. The
  /// system is as the formulation left it. Allocates only where more rows are in force than before.
  void share(System& system, const std::vector<char>& dependent, VecX<double>& lambda);

 private:
  std::vector<int> rows_;           // of contacts and friction
  std::vector<int> kept_, others_;  // independent rows in force, dependent ones to be given a share
  MatX<double> scaled_, A_, gram_, null_, normal_, own_gram_;
  VecX<double> length_, y_, own_, share_;
  Eigen::LDLT<MatX<double>> factors_, own_factors_;
};

}  // namespace linkwork
