#include "linkwork/modules/module.h"

#include <algorithm>
#include <cmath>

namespace linkwork {

WeighedError Module::weighed_error(const VecX<double>& from, const VecX<double>& to, const VecX<double>& error, double rtol,
                                   double atol) {
  double sum = 0.0;
  for (Eigen::Index k = 0; k < controlled_size(); ++k) {
    const double weight = atol + rtol * std::max(std::abs(from[k]), std::abs(to[k]));
    sum += std::pow(error[k] / weight, 2);
  }
  return {sum, static_cast<double>(controlled_size())};
}

Status Module::restore(const std::vector<double>& saved, VecX<double>& x) {
  std::ranges::copy(saved, x.begin());
  return {};
}

}  // namespace linkwork
