#include "linkwork/dynamics/load_sharing.h"

#include <Eigen/Cholesky>

#include "linkwork/linalg/rank.h"

namespace linkwork {

namespace {

std::size_t at(int i) { return static_cast<std::size_t>(i); }

}  // namespace

LoadSharing::LoadSharing(const Model& model) : is_shared_(model.rows.size(), 0) {
  const auto add = [&](int first, int count) {
    for (int row = first; row < first + count; ++row) rows_.push_back(row), is_shared_[at(row)] = 1;
  };
  for (const Contact& contact : model.contacts) add(contact.row, 1);
  for (const DryFriction& friction : model.frictions) add(friction.first_row, friction.rows);
}

/// A dependent row r follows from the others, A_r = sum alpha_j A_j, so that e_r - sum alpha_j e_j may be added to lambda.
void LoadSharing::share(System& system, const std::vector<char>& dependent, VecX<double>& lambda) {
  others_.clear();
  for (int row : rows_)
    if (dependent[at(row)] != 0 && system.is_active(row)) others_.push_back(row);
  if (others_.empty()) return;
  const MatX<double>& A = system.jacobian();
  const double largest = A.rowwise().squaredNorm().maxCoeff();
  std::erase_if(others_, [&](int row) { return A.row(row).squaredNorm() <= kRankTolerance * largest; });
  kept_.clear();
  for (int row = 0; row < static_cast<int>(dependent.size()); ++row)
    if (dependent[at(row)] == 0 && system.is_active(row) && A.row(row).squaredNorm() > 0.0) kept_.push_back(row);
  if (others_.empty() || kept_.empty()) return;
  A_ = A(kept_, Eigen::all).rowwise().normalized();
  gram_.noalias() = A_ * A_.transpose();
  const Eigen::LDLT<MatX<double>> factors(gram_);
  null_.setZero(static_cast<Eigen::Index>(dependent.size()), static_cast<Eigen::Index>(others_.size()));
  for (std::size_t k = 0; k < others_.size(); ++k) {
    const auto column = static_cast<Eigen::Index>(k);
    y_ = factors.solve(A_ * A.row(others_[k]).transpose());
    null_(others_[k], column) = 1.0;
    for (std::size_t j = 0; j < kept_.size(); ++j)
      null_(kept_[j], column) = -y_[static_cast<Eigen::Index>(j)] / A.row(kept_[j]).norm();
  }
  normal_ = null_(rows_, Eigen::all);
  y_ = (normal_.transpose() * normal_).ldlt().solve(normal_.transpose() * lambda(rows_));
  lambda.noalias() -= null_ * y_;
}

}  // namespace linkwork
