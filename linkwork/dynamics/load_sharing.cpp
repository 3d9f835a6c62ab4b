#include "linkwork/dynamics/load_sharing.h"

#include "linkwork/linalg/rank.h"

namespace linkwork {

namespace {

std::size_t at(Eigen::Index i) { return static_cast<std::size_t>(i); }

}  // namespace

LoadSharing::LoadSharing(const Model& model) {
  const auto add = [&](int first, int count) {
    for (int row = first; row < first + count; ++row) rows_.push_back(row);
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
  const Model::Units& units = system.model().units;
  scaled_.noalias() = system.jacobian() * units.velocity.asDiagonal();
  const MatX<double>& A = scaled_;
  const double largest = A.rowwise().squaredNorm().maxCoeff();
  std::erase_if(others_, [&](int row) { return A.row(row).squaredNorm() <= kRankTolerance * largest; });
  kept_.clear();
  for (int row = 0; row < static_cast<int>(dependent.size()); ++row)
    if (dependent[at(row)] == 0 && system.is_active(row) && A.row(row).squaredNorm() > 0.0) kept_.push_back(row);
  if (others_.empty() || kept_.empty()) return;
  const auto kept = std::ssize(kept_), others = std::ssize(others_), own = std::ssize(rows_);
  A_.resize(kept, A.cols());
  length_.resize(kept);
  for (Eigen::Index j = 0; j < kept; ++j) {
    length_[j] = A.row(kept_[at(j)]).norm();
    A_.row(j) = A.row(kept_[at(j)]) / length_[j];
  }
  gram_.noalias() = A_ * A_.transpose();
  factors_.compute(gram_);
  null_.setZero(std::ssize(dependent), others);
  normal_.resize(own, others);
  for (Eigen::Index k = 0; k < others; ++k) {
    y_.noalias() = A_ * A.row(others_[at(k)]).transpose();
    factors_.solveInPlace(y_);
    null_(others_[at(k)], k) = 1.0;
    for (Eigen::Index j = 0; j < kept; ++j) null_(kept_[at(j)], k) = -y_[j] / length_[j];
    for (Eigen::Index i = 0; i < own; ++i) normal_(i, k) = units.row[rows_[at(i)]] * null_(rows_[at(i)], k);
  }
  own_.resize(own);
  for (Eigen::Index i = 0; i < own; ++i) own_[i] = units.row[rows_[at(i)]] * lambda[rows_[at(i)]];
  share_.noalias() = normal_.transpose() * own_;
  own_gram_.noalias() = normal_.transpose() * normal_;
  own_factors_.compute(own_gram_);
  own_factors_.solveInPlace(share_);
  lambda.noalias() -= null_ * share_;
}

}  // namespace linkwork
