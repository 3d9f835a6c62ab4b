#include "linkwork/ensemble/least_squares.h"

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>

namespace linkwork {
namespace {

constexpr double kStep = 1e-4;  // of differences, in [0, 1]

class LevenbergMarquardt {
 public:
  LevenbergMarquardt(const Residuals& residuals, const VecX<double>& start, const LeastSquaresOptions& options)
      : residuals_(residuals), options_(options) {
    found_.x = start.cwiseMax(0.0).cwiseMin(1.0);
    found_.at_bound.assign(static_cast<std::size_t>(start.size()), 0);
  }

  LeastSquares run() {
    using End = LeastSquares::End;
    const auto first = residuals_({found_.x});
    if (!first.front()) return found_.end = End::kNoStart, std::move(found_);
    found_.residuals = *first.front();
    double damping = -1.0, growth = 2.0;
    for (found_.end = End::kIterations; found_.iterations < options_.iterations; ++found_.iterations) {
      if (options_.go_on && !options_.go_on(found_.x, found_.cost())) return found_.end = End::kStopped, std::move(found_);
      if (!differentiate()) return found_.end = End::kNoDerivatives, std::move(found_);
      const MatX<double> normal = found_.jacobian.transpose() * found_.jacobian;
      const VecX<double> slope = found_.jacobian.transpose() * found_.residuals;
      hold_at_bounds(slope);
      if (damping < 0.0) damping = 1e-3 * std::max(normal.diagonal().maxCoeff(), 1e-300);
      if (!improve(normal, slope, damping, growth)) {
        found_.end = End::kConverged;
        break;
      }
    }
    if (found_.end == End::kIterations && !differentiate()) return found_.end = End::kNoDerivatives, std::move(found_);
    hold_at_bounds(found_.jacobian.transpose() * found_.residuals);
    return std::move(found_);
  }

 private:
  /// Where both sides are not within bounds, differences to one side.
  bool differentiate() {
    const Eigen::Index n = found_.x.size();
    std::vector<VecX<double>> points;
    for (Eigen::Index k = 0; k < n; ++k) {
      const double x = found_.x[k];
      const bool is_inside = x >= kStep && x <= 1.0 - kStep;
      const double toward = x < 0.5 ? kStep : -kStep;
      for (const double move : {is_inside ? -kStep : toward, is_inside ? kStep : 2.0 * toward}) {
        points.push_back(found_.x);
        points.back()[k] += move;
      }
    }
    const auto values = residuals_(points);
    found_.jacobian.resize(found_.residuals.size(), n);
    for (Eigen::Index k = 0; k < n; ++k) {
      const auto& near = values[static_cast<std::size_t>(2 * k)];
      const auto& far = values[static_cast<std::size_t>(2 * k + 1)];
      if (!near || !far) return false;
      const double x = found_.x[k];
      if (x >= kStep && x <= 1.0 - kStep)
        found_.jacobian.col(k) = (*far - *near) / (2.0 * kStep);
      else
        found_.jacobian.col(k) = (4.0 * *near - *far - 3.0 * found_.residuals) / (x < 0.5 ? 2.0 * kStep : -2.0 * kStep);
    }
    return true;
  }

  void hold_at_bounds(const VecX<double>& slope) {
    for (Eigen::Index k = 0; k < found_.x.size(); ++k)
      found_.at_bound[static_cast<std::size_t>(k)] =
          (found_.x[k] <= 0.0 && slope[k] > 0.0) || (found_.x[k] >= 1.0 && slope[k] < 0.0) ? 1 : 0;
  }

  /// A step that lowers the cost. False: there is none of any size.
  bool improve(MatX<double> normal, VecX<double> slope, double& damping, double& growth) {
    const Eigen::Index n = found_.x.size();
    for (Eigen::Index k = 0; k < n; ++k) {
      if (!found_.at_bound[static_cast<std::size_t>(k)]) continue;
      normal.row(k).setZero(), normal.col(k).setZero();
      normal(k, k) = 1.0, slope[k] = 0.0;
    }
    for (int tries = 0; tries < 40; ++tries) {
      const MatX<double> damped = normal + damping * MatX<double>::Identity(n, n);
      const VecX<double> step = -damped.ldlt().solve(slope);
      const VecX<double> x = (found_.x + step).cwiseMax(0.0).cwiseMin(1.0);
      const VecX<double> moved = x - found_.x;
      if (!(moved.lpNorm<Eigen::Infinity>() > options_.tolerance)) return false;
      const auto tried = residuals_({x});
      const double expected = -moved.dot(2.0 * slope + normal * moved);
      const double won = tried.front() ? found_.cost() - tried.front()->squaredNorm() : -1.0;
      if (won > 0.0) {
        const double ratio = expected > 0.0 ? won / expected : 1.0;
        damping *= std::max(1.0 / 3.0, 1.0 - std::pow(2.0 * ratio - 1.0, 3));
        growth = 2.0;
        found_.x = x, found_.residuals = *tried.front();
        return true;
      }
      damping *= growth, growth *= 2.0;
    }
    return false;
  }

  const Residuals& residuals_;
  const LeastSquaresOptions& options_;
  LeastSquares found_;
};

}  // namespace

LeastSquares least_squares(const Residuals& residuals, const VecX<double>& start, const LeastSquaresOptions& options) {
  return LevenbergMarquardt(residuals, start, options).run();
}

}  // namespace linkwork
