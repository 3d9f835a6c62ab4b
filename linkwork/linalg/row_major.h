#pragma once

#include <Eigen/Core>

namespace linkwork {

/// Row by row: for many right-hand sides at once, those of a row side by side.
using RowMatX = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

}  // namespace linkwork
