#include "linkwork/modules/assembly_numbers.h"

#include <algorithm>

#include "linkwork/modules/module_equations.h"

namespace linkwork {

AssemblyNumbers::AssemblyNumbers(Workshop& workshop)
    : workshop_(workshop),
      by_leaf_(static_cast<std::size_t>(workshop.leaf_count()), 0.0),
      by_rank_(static_cast<std::size_t>(workshop.transport().size()), 0.0) {
  int own = 0;
  for (WorkingModule& at : workshop.modules()) {
    const ModuleEquations* const split = at.module->equations();
    parts_.push_back({at.module->state_size(), at.module->controlled_size(), split ? split->first_velocity() : 0,
                      split ? split->velocity_count() : 0});
    own += at.module->state_size();
  }
  for (int rank = 0; rank < workshop.transport().size(); ++rank) single_ends_.push_back(rank + 1);
  by_rank_[static_cast<std::size_t>(workshop.rank())] = own;
  workshop_.transport().gather(by_rank_, single_ends_);
  int end = 0;
  for (const double count : by_rank_) ends_.push_back(end += static_cast<int>(count));
}

int AssemblyNumbers::first() const { return workshop_.rank() == 0 ? 0 : ends_[static_cast<std::size_t>(workshop_.rank() - 1)]; }

double AssemblyNumbers::sum(std::span<const double> by_part) {
  std::ranges::copy(by_part, by_leaf_.begin() + workshop_.placement().begin(workshop_.rank()));
  workshop_.transport().gather(by_leaf_, workshop_.placement().ends);
  double sum = 0.0;
  for (const double of_module : by_leaf_) sum += of_module;
  return sum;
}

double AssemblyNumbers::largest(double own) {
  by_rank_[static_cast<std::size_t>(workshop_.rank())] = own;
  workshop_.transport().gather(by_rank_, single_ends_);
  return *std::ranges::max_element(by_rank_);
}

void AssemblyNumbers::gather(const VecX<double>& own, VecX<double>& all) {
  all.resize(total());
  all.segment(first(), own.size()) = own;
  workshop_.transport().gather({all.data(), static_cast<std::size_t>(all.size())}, ends_);
}

/// Ranks bring their rows one after the other.
void AssemblyNumbers::gather_rows(const MatX<double>& own, MatX<double>& all) {
  using RowMajor = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  RowMajor rows(total(), own.cols());
  rows.middleRows(first(), own.rows()) = own;
  std::vector<int> ends;
  for (const int end : ends_) ends.push_back(end * static_cast<int>(own.cols()));
  workshop_.transport().gather({rows.data(), static_cast<std::size_t>(rows.size())}, ends);
  all = rows;
}

/// Where a module cannot be evaluated the derivative is taken for zero: what it is used for only gets slower.
void AssemblyNumbers::own_derivatives(std::size_t part, double t, const VecX<double>& y, const VecX<double>& changes,
                                      MatX<double>& J) {
  WorkingModule& at = workshop_.modules()[part];
  const auto rates_at = [&](const VecX<double>& x, VecX<double>& rates) {
    rates.resize(x.size());
    return at.module->kinematics(t, x, at.motion).ok() && at.module->response(Level::kAcceleration, at.response).ok() &&
           at.module->advance(Level::kAcceleration, at.Q, rates).ok() && rates.allFinite();
  };
  J.setZero(y.size(), y.size());
  VecX<double> here, moved;
  for (Eigen::Index j = 0; j < changes.size() && (j > 0 || rates_at(y, here)); ++j) {
    VecX<double> x = y;
    x[j] += changes[j];
    if (rates_at(x, moved)) J.col(j) = (moved - here) / changes[j];
  }
}

bool AssemblyNumbers::displace(std::size_t part, const VecX<double>& change, Eigen::Ref<VecX<double>> y) {
  const ModuleEquations* const split = workshop_.modules()[part].module->equations();
  if (split == nullptr) return change.size() == 0;
  VecX<double> moved = y;
  split->displace(change, moved);
  y = moved;
  return true;
}

}  // namespace linkwork
