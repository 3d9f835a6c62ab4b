#include "linkwork/formulations/null_space.h"

#include <fmt/format.h>

#include <Eigen/Eigenvalues>

namespace linkwork {

void NullSpace::update(System& system) {
  terms_.update(system);
  const auto S = terms_.row_unit().asDiagonal();
  const auto W = terms_.velocity_unit().asDiagonal();
  rows_ = S * terms_.A() * W;
  mass_ = W * terms_.M() * W;
  rhs_ = S * terms_.b();
  force_ = W * terms_.force();
}

bool NullSpace::is_regular() const {
  if (factor_.rows() == 0) return true;
  if (factor_.info() != Eigen::Success) return false;
  return factor_.matrixLLT().diagonal().cwiseAbs().minCoeff() > 1e-7;  // squared: rounding
}

std::string NullSpace::name_massless(const System& system, const MatX<double>& Z) const {
  const Eigen::SelfAdjointEigenSolver<MatX<double>> eigen(reduced_mass_);
  const VecX<double> motion = Z * eigen.eigenvectors().col(0);
  Eigen::Index most = 0;
  motion.cwiseAbs().maxCoeff(&most);
  return fmt::format(
      "the equations of motion are singular: the motion of '{}' has neither inertia nor a constraint; give the "
      "bodies it moves inertia about that axis, or choose a joint without that motion",
      system.model().velocity_name(static_cast<int>(most)));
}

}  // namespace linkwork
