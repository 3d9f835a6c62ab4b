#include "linkwork/modules/glues/waveform_rate.h"

#include <Eigen/Eigenvalues>
#include <Eigen/LU>

namespace linkwork {

/// The rows in which a module follows; those of others are zero.
MatX<double> WaveCoupling::following(std::size_t module) const {
  MatX<double> rows = G[module];
  for (int r = 0; r < row_count(); ++r)
    if (follower[static_cast<std::size_t>(r)] != static_cast<int>(module)) rows.row(r).setZero();
  return rows;
}

bool WaveCoupling::can_follow() const {
  for (std::size_t m = 0; m < G.size(); ++m) {
    const MatX<double> own = following(m);
    Eigen::FullPivLU<MatX<double>> W(own * D[m] * own.transpose());
    Eigen::Index rows = 0;
    for (const int f : follower) rows += f == static_cast<int>(m) ? 1 : 0;
    if (W.rank() < rows) return false;
  }
  return true;
}

/// A turn of all modules is linear in errors of the accelerations of all ports and of all multipliers: it is made with the unit
/// vectors all at once.
double WaveCoupling::contraction(double weight) const {
  std::vector<Eigen::Index> first;
  Eigen::Index size = 0;
  for (const MatX<double>& its : D) first.push_back(size), size += its.rows();
  const Eigen::Index rows = row_count();
  MatX<double> now = MatX<double>::Identity(size + rows, size + rows);
  auto lambda = now.bottomRows(rows);
  for (const int module : order) {
    const auto m = static_cast<std::size_t>(module);
    const MatX<double> follow = following(m), lead = G[m] - follow;
    const auto own = Eigen::seqN(first[m], D[m].rows());
    MatX<double> xdd = D[m] * (lead.transpose() * lambda);
    MatX<double> unmet = -G[m] * xdd;
    for (std::size_t other = 0; other < G.size(); ++other)
      if (other != m) unmet -= G[other] * now.middleRows(first[other], D[other].rows());
    MatX<double> W = follow * D[m] * follow.transpose();
    for (Eigen::Index r = 0; r < rows; ++r)
      if (follower[static_cast<std::size_t>(r)] != module) W(r, r) = 1.0, unmet.row(r).setZero();
    const MatX<double> found = W.partialPivLu().solve(unmet);
    for (Eigen::Index r = 0; r < rows; ++r)
      if (follower[static_cast<std::size_t>(r)] == module) lambda.row(r) = (1.0 - weight) * lambda.row(r) + weight * found.row(r);
    now(own, Eigen::all) = xdd + D[m] * (follow.transpose() * lambda);
  }
  return size + rows > 0 ? Eigen::EigenSolver<MatX<double>>(now, false).eigenvalues().cwiseAbs().maxCoeff() : 0.0;
}

double WaveCoupling::best_weight() const {
  constexpr int kTried = 40;
  double best = 1.0, least = contraction(1.0);
  for (int k = 1; k < kTried; ++k) {
    const double weight = static_cast<double>(k) / kTried;
    if (const double rate = contraction(weight); rate < least) best = weight, least = rate;
  }
  return best;
}

}  // namespace linkwork
