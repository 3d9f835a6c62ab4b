#include "linkwork/io/solids.h"

#include <fmt/format.h>

#include <Eigen/Eigenvalues>
#include <numbers>
#include <stdexcept>

namespace linkwork {
namespace {

using Eigen::Matrix3d;
using Eigen::Vector3d;

/// The inertia of a body of revolution.
Matrix3d about_axis(const Vector3d& axis, double axial, double transverse) {
  return transverse * Matrix3d::Identity() + (axial - transverse) * axis * axis.transpose();
}

}  // namespace

double extent(const SolidSpec& solid) {
  const double length = (solid.to - solid.from).norm();
  if (solid.shape == "rod") return length;
  if (solid.shape == "cylinder") return std::numbers::pi * solid.radius * solid.radius * length;
  if (solid.shape == "box") return solid.size.prod();
  if (solid.shape == "sphere") return 4.0 / 3.0 * std::numbers::pi * solid.radius * solid.radius * solid.radius;
  throw std::logic_error("a " + solid.shape + " has no extent");
}

MassProperties mass_properties(const SolidSpec& solid, double mass) {
  const Vector3d line = solid.to - solid.from;
  const double r2 = solid.radius * solid.radius;
  if (solid.shape == "rod") {
    return {mass, 0.5 * (solid.from + solid.to), about_axis(line.normalized(), 0.0, mass * line.squaredNorm() / 12.0)};
  }
  if (solid.shape == "cylinder") {
    const double transverse = mass * (3.0 * r2 + line.squaredNorm()) / 12.0;
    return {mass, 0.5 * (solid.from + solid.to), about_axis(line.normalized(), 0.5 * mass * r2, transverse)};
  }
  if (solid.shape == "box") {
    const Vector3d squares = solid.size.cwiseAbs2();
    const Vector3d moments = mass / 12.0 * (Vector3d::Constant(squares.sum()) - squares);
    return {mass, solid.from, moments.asDiagonal()};
  }
  if (solid.shape == "sphere") return {mass, solid.from, 0.4 * mass * r2 * Matrix3d::Identity()};
  return {mass, solid.from, Matrix3d::Zero()};
}

void check_inertia(const Matrix3d& inertia, const Place& place, bool any) {
  constexpr double kRelativeTolerance = 1e-12;
  const Vector3d moments = Eigen::SelfAdjointEigenSolver<Matrix3d>(inertia, Eigen::EigenvaluesOnly).eigenvalues();  // ascending
  const double tolerance = kRelativeTolerance * moments.cwiseAbs().maxCoeff();
  if (!(moments[0] >= -tolerance)) {
    throw InputError(place, fmt::format("the inertia has the negative principal moment {:.6g}", moments[0]),
                     "principal moments >= 0");
  }
  if (!any && !(moments[0] + moments[1] >= moments[2] - tolerance)) {
    throw InputError(
        place,
        fmt::format("no body has the principal moments of inertia {:.6g}, {:.6g}, {:.6g}", moments[0], moments[1], moments[2]),
        "none larger than the sum of the other two (triangle inequality)");
  }
}

}  // namespace linkwork
