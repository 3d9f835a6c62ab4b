#include "linkwork/integrators/shared_jacobian.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace linkwork {

SharedJacobian::SharedJacobian(SharedEquation& equation, const Settings& settings)
    : equation_(equation), parts_(equation.parts()), rtol_(settings.rtol), atol_(settings.atol) {
  std::vector<double> own;
  for (const SharedEquation::Part& part : parts_)
    for (int i = 0; i < part.size; ++i) own.push_back(i < part.controlled ? 1.0 : 0.0);
  VecX<double> all;
  equation_.gather(Eigen::Map<const VecX<double>>(own.data(), std::ssize(own)), all);
  for (const double acts : all) acts_.push_back(acts != 0.0);
}

/// Of a number, for differences.
double SharedJacobian::change_of(double y, double rate, double gamma) const {
  return std::sqrt(std::numeric_limits<double>::epsilon()) * std::max({std::abs(y), std::abs(gamma * rate), atol_ / rtol_});
}

Status SharedJacobian::update(DifferentialEquation& equation, const Moment& at, const VecX<double>& rates, double gamma) {
  if (is_whole()) return update_whole(equation, at, rates, gamma);
  update_parts(at, rates, gamma);
  return {};
}

Status SharedJacobian::update_whole(DifferentialEquation& equation, const Moment& at, const VecX<double>& rates, double gamma) {
  const int total = equation_.total(), first = equation_.first();
  equation_.gather(at.y, y_);
  equation_.gather(rates, f_);
  own_.setZero(at.y.size(), total);
  for (int j = 0; j < total; ++j) {
    if (!acts_[static_cast<std::size_t>(j)]) continue;
    const double change = change_of(y_[j], f_[j], gamma);
    moved_ = at;
    if (j >= first && j < first + at.y.size()) moved_.y[j - first] += change;
    if (Status status = equation.evaluate(moved_, moved_rates_); !status.ok()) return status;
    own_.col(j) = (moved_rates_ - rates) / change;
  }
  blocks_.resize(1);
  equation_.gather_rows(own_, blocks_[0]);
  return {};
}

void SharedJacobian::update_parts(const Moment& at, const VecX<double>& rates, double gamma) {
  blocks_.resize(parts_.size());
  int first = 0;
  for (std::size_t i = 0; i < parts_.size(); ++i) {
    const SharedEquation::Part& part = parts_[i];
    VecX<double> changes(part.controlled);
    for (int j = 0; j < part.controlled; ++j) changes[j] = change_of(at.y[first + j], rates[first + j], gamma);
    equation_.own_derivatives(i, at.t, at.y.segment(first, part.size), changes, blocks_[i]);
    first += part.size;
  }
}

void SharedJacobian::factor(double gamma) {
  lu_.resize(blocks_.size());
  for (std::size_t i = 0; i < blocks_.size(); ++i)
    lu_[i].compute(MatX<double>::Identity(blocks_[i].rows(), blocks_[i].cols()) - gamma * blocks_[i]);
}

void SharedJacobian::solve(Eigen::Ref<VecX<double>> x) {
  if (is_whole()) {
    y_ = x;
    equation_.gather(y_, x_);
    f_ = lu_[0].solve(x_);
    x = f_.segment(equation_.first(), x.size());
    return;
  }
  int first = 0;
  for (std::size_t i = 0; i < parts_.size(); ++i) {
    x_ = lu_[i].solve(x.segment(first, parts_[i].size));
    x.segment(first, parts_[i].size) = x_;
    first += parts_[i].size;
  }
}

}  // namespace linkwork
