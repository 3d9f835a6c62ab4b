#pragma once

#include <vector>

#include "linkwork/integrators/shared_equation.h"
#include "linkwork/modules/workshop.h"

namespace linkwork {

/// The states of all modules, for methods that need sums over them. The workshop must last as long.
class AssemblyNumbers : public SharedEquation {
 public:
  explicit AssemblyNumbers(Workshop& workshop);

  std::vector<Part> parts() const override { return parts_; }
  double sum(std::span<const double> by_part) override;
  double largest(double own) override;
  void gather(const VecX<double>& own, VecX<double>& all) override;
  void gather_rows(const MatX<double>& own, MatX<double>& all) override;
  int first() const override;
  int total() const override { return ends_.back(); }
  void own_derivatives(std::size_t part, double t, const VecX<double>& y, const VecX<double>& changes, MatX<double>& J) override;
  bool displace(std::size_t part, const VecX<double>& change, Eigen::Ref<VecX<double>> y) override;

 private:
  Workshop& workshop_;
  std::vector<Part> parts_;       // of this rank's modules
  std::vector<int> ends_;         // of the ranks' numbers
  std::vector<double> by_leaf_;   // a number a module
  std::vector<double> by_rank_;   // a number a rank
  std::vector<int> single_ends_;  // 1, 2, ...
};

}  // namespace linkwork
