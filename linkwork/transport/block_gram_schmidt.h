#pragma once

#include <span>
#include <vector>

#include "linkwork/linalg/gigsp.h"
#include "linkwork/transport/transport.h"

namespace linkwork {

/// The Gram-Schmidt process of Gigsp, eq. (1) there, in blocks of rows ("panels") and spread over ranks, for large matrices:
/// block classical Gram-Schmidt with reorthogonalization [Barlow2013].
///
/// With Q the rows of A1 found so far and P the next panel of B:
///   (1)  P = S1 Q + P1          classical Gram-Schmidt against all earlier rows at once
///   (2)  P1 = L1 P2             within the panel, where rows are found to be dependent
///   (3)  P2 = S2 Q + P3         (1) and (2) once more, for orthogonality to rounding
///   (4)  P3 = L2 P4             Q <- [Q; P4]
///   (5)  P = (S1 + L1 S2) Q + L1 L2 P4, hence the rows of R
/// (2) and (4) are Cholesky factorizations of P P' as long as the panel is well conditioned; if it is not, or a row is dependent,
/// (2) goes row by row. (3) and (4) are left out where every row of a panel keeps half of its squared length: once is enough
/// then. Rows keep their order, so dependent rows are those that Gigsp::factor() finds.
///
/// Each panel takes two or four messages, whatever its width, against one a row if rows are sent one by one, as in [Arabyan1998].
/// In (1) and (3) ranks share the columns of S, a few rows of Q a task, then the columns of P; (2) and (4) are small, and every
/// rank does them for itself. A task is done by one rank from start to end and its shape depends on the matrix only. So nothing
/// is summed between ranks, and the result is the same to the last bit for any number of them (on processors of the same kind).
class BlockGramSchmidt {
 public:
  /// Every rank brings the same arguments, as for Gigsp::factor(), and gets the same factors.
  void factor(Transport& transport, const MatX<double>& rows, std::span<const double> scale, double tolerance,
              Gigsp::Factors& factors);

 private:
  using Block = Eigen::Map<MatX<double>>;

  void read_panel(const MatX<double>& rows, std::span<const double> scale, int first);
  void project(Transport& transport, const Gigsp::Factors& factors, bool divide);
  bool orthonormalize_at_once(std::span<const double> scale, double tolerance, Gigsp::Factors& factors);
  void orthonormalize_by_row(std::span<const double> scale, double tolerance, Gigsp::Factors& factors);
  void append(int first, Gigsp::Factors& factors);

  Block panel() { return {panel_.data(), width_, n_}; }
  Block shares() { return {shares_.data(), width_, found_}; }

  bool again_ = false;                         // whether (3) and (4) are needed
  int n_ = 0;                                  // length of a row
  int width_ = 0;                              // rows of the panel that are still in it
  int found_ = 0;                              // rows of Q
  int panel_rows_ = 0, tile_ = 0, chunk_ = 0;  // rows of a panel; rows of Q and columns of P that make a task
  VecX<double> panel_, shares_;                // P and S, column-major
  MatX<double> S1_, L1_, L2_, gram_;
  MatX<double> columns_;  // P', to go row by row
  VecX<double> row_, share_, before_;
  std::vector<int> independent_;  // rows of the panel
  std::vector<int> ends_;
};

/// rows <- L^-1 rows, as the rows of A L^-T are made; ranks share the columns of `rows`, and all get the result.
void divide_by_triangle(Transport& transport, const MatX<double>& L, MatX<double>& rows);

}  // namespace linkwork
