#pragma once

#include <Eigen/Core>
#include <Eigen/Geometry>

namespace linkwork {

template <class S>
using Vec3 = Eigen::Matrix<S, 3, 1>;
template <class S>
using Mat3 = Eigen::Matrix<S, 3, 3>;
template <class S>
using Mat6 = Eigen::Matrix<S, 6, 6>;
template <class S>
using Vec6 = Eigen::Matrix<S, 6, 1>;
template <class S>
using VecX = Eigen::Matrix<S, Eigen::Dynamic, 1>;
template <class S>
using MatX = Eigen::Matrix<S, Eigen::Dynamic, Eigen::Dynamic>;
using Quat = Eigen::Quaterniond;

/// The matrix of a cross product: skew(a) * b = a x b.
template <class S>
Mat3<S> skew(const Vec3<S>& a) {
  Mat3<S> m;
  m << S(0), -a.z(), a.y(), a.z(), S(0), -a.x(), -a.y(), a.x(), S(0);
  return m;
}

}  // namespace linkwork
