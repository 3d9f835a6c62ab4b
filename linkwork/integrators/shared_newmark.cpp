#include <fmt/format.h>

#include <Eigen/LU>
#include <algorithm>
#include <cmath>
#include <limits>

#include "linkwork/integrators/newmark_coefficients.h"
#include "linkwork/integrators/shared_methods.h"

namespace linkwork {

namespace {

/// Newmark's family on accelerations: (1) to (3) of NewmarkCoefficients with vdot1 = f(t1, q1, v1) as the evaluation of all gives
/// it, constraints included; what errors of the step leave is drift control's to remove. Other numbers follow by the trapezoidal
/// rule. Solved for vdot1 by Newton's method with
///   (4)  F(x) = x - f(q1(x), v1(x))
/// whose matrix is found by differences, column by column, factored by every rank for itself, and kept as long as it serves.
class SharedNewmark : public Integrator {
 public:
  SharedNewmark(std::string name, const NewmarkCoefficients& c, SharedEquation& equation)
      : name_(std::move(name)), c_(c), equation_(equation), parts_(equation.parts()) {
    for (const SharedEquation::Part& part : parts_) own_ += part.velocity_count;
    VecX<double> marks = VecX<double>::Zero(numbers()), all;
    int first = 0;
    for (const SharedEquation::Part& part : parts_) {
      marks.segment(first + part.velocities, part.velocity_count).setOnes();
      first += part.size;
    }
    equation_.gather(marks, all);
    for (Eigen::Index k = 0; k < all.size(); ++k)
      if (all[k] != 0.0) places_.push_back(static_cast<int>(k));
    first_ = static_cast<int>(std::ranges::lower_bound(places_, equation_.first()) - places_.begin());
  }

  int order() const override { return std::abs(c_.gamma + c_.am - c_.af - 0.5) < 1e-12 ? 2 : 1; }
  void forget() override { end_v_.resize(0); }

  Status step(DifferentialEquation& equations, const Moment& from, const VecX<double>& rates, double h, Moment& to) override {
    constexpr int kMostVelocities = 600;
    if (std::ssize(places_) > kMostVelocities)
      return {
          fmt::format("integrator '{}' steps modules with up to {} velocities, and these have {}; cvode-bdf and arkode take more",
                      name_, kMostVelocities, places_.size())};
    from_ = &from, rates_ = &rates;
    const VecX<double> v = velocities(from.y);
    old_ = velocities(rates);
    if (!continues(from.t, v, h)) a_ = old_, factored_ = false;
    if (std::abs(h - h_) > 1e-9 * h) factored_ = false;
    h_ = h;
    gamma_ = h * c_.gamma * (1.0 - c_.af) / (1.0 - c_.am);
    const double speed = 1.0 + equation_.largest(largest(v));
    Status status;
    for (const bool anew : {false, true}) {
      if (anew || !factored_) status = factor(equations, to);
      if (status.ok() && iterate(equations, speed, to, status)) {
        a_ = a1_;
        end_time_ = to.t;
        end_v_ = velocities(to.y);
        return {};
      }
      if (fresh_) break;
    }
    factored_ = false;
    if (!status.ok()) return status;
    return {
        fmt::format("the iteration of integrator '{}' does not converge over a step of {:.3g} s; try a smaller step", name_, h)};
  }

 private:
  int numbers() const {
    int count = 0;
    for (const SharedEquation::Part& part : parts_) count += part.size;
    return count;
  }
  static double largest(const VecX<double>& x) { return x.size() > 0 ? x.cwiseAbs().maxCoeff() : 0.0; }

  /// Of this rank's parts.
  VecX<double> velocities(const VecX<double>& y) const {
    VecX<double> v(own_);
    int first = 0, at = 0;
    for (const SharedEquation::Part& part : parts_) {
      v.segment(at, part.velocity_count) = y.segment(first + part.velocities, part.velocity_count);
      at += part.velocity_count;
      first += part.size;
    }
    return v;
  }

  /// a of (3) goes on from step to step, unless the state is another one than was left. All ranks agree.
  bool continues(double t, const VecX<double>& v, double h) {
    const bool same = end_v_.size() == v.size() && std::abs(t - end_time_) <= 1e-6 * h && a_.size() == v.size();
    const double off = same ? largest(v - end_v_) : std::numeric_limits<double>::infinity();
    return equation_.largest(off) <= 1e-2 * (1.0 + equation_.largest(largest(v)));
  }

  /// (1) to (3), and the trapezoidal rule for the rest with rates1_.
  bool place(const VecX<double>& x, Moment& to) {
    a1_ = ((1.0 - c_.af) * x + c_.af * old_ - c_.am * a_) / (1.0 - c_.am);
    to.t = from_->t + h_;
    to.y = from_->y + 0.5 * h_ * (*rates_ + rates1_);
    bool all = true;
    int first = 0, at = 0;
    for (std::size_t i = 0; i < parts_.size(); ++i) {
      const SharedEquation::Part& part = parts_[i];
      const int n = part.velocity_count;
      const auto v = from_->y.segment(first + part.velocities, n);
      to.y.segment(first, part.velocities) = from_->y.segment(first, part.velocities);
      to.y.segment(first + part.velocities, n) = v + h_ * ((1.0 - c_.gamma) * a_.segment(at, n) + c_.gamma * a1_.segment(at, n));
      d_ = h_ * v + h_ * h_ * ((0.5 - c_.beta) * a_.segment(at, n) + c_.beta * a1_.segment(at, n));
      all = (n == 0 || equation_.displace(i, d_, to.y.segment(first, part.size))) && all;
      at += n;
      first += part.size;
    }
    return all;
  }

  /// f at the place that belongs to x.
  Status look(DifferentialEquation& equations, const VecX<double>& x, Moment& to) {
    const bool known = place(x, to);
    moved_ = to;
    if (Status status = equations.evaluate(moved_, rates1_); !status.ok()) return status;
    if (equation_.largest(known && rates1_.allFinite() ? 0.0 : 1.0) == 0.0) return {};
    return {known ? "accelerations inside a step are not finite"
                  : fmt::format("integrator '{}' needs modules that show which of their numbers are velocities; use cvode-bdf",
                                name_)};
  }

  void gather(const VecX<double>& own, VecX<double>& all) {
    numbers_.setZero(numbers());
    for (int k = 0; k < own_; ++k) numbers_[places_[static_cast<std::size_t>(first_ + k)] - equation_.first()] = own[k];
    equation_.gather(numbers_, everything_);
    all.resize(std::ssize(places_));
    for (std::size_t k = 0; k < places_.size(); ++k) all[static_cast<Eigen::Index>(k)] = everything_[places_[k]];
  }

  Status factor(DifferentialEquation& equations, Moment& to) {
    const auto total = static_cast<Eigen::Index>(places_.size());
    rates1_ = *rates_;
    if (Status status = look(equations, old_, to); !status.ok()) return status;
    const VecX<double> f = velocities(rates1_), keep = rates1_;
    const double small = std::sqrt(std::numeric_limits<double>::epsilon()) *
                         std::max(1.0, equation_.largest(largest(velocities(from_->y)))) / std::max(gamma_, 1e-12);
    MatX<double> all(total, total);
    VecX<double> column;
    for (Eigen::Index j = 0; j < total; ++j) {
      x_ = old_;
      if (j >= first_ && j < first_ + own_) x_[j - first_] += small;
      rates1_ = keep;
      if (Status status = look(equations, x_, to); !status.ok()) return status;
      gather((f - velocities(rates1_)) / small, column);
      all.col(j) = column;
      all(j, j) += 1.0;
    }
    rates1_ = keep;
    lu_.compute(all);
    factored_ = fresh_ = true;
    return {};
  }

  /// To rounding, since errors of all steps add up: until changes are below it, or no longer become smaller.
  bool iterate(DifferentialEquation& equations, double speed, Moment& to, Status& status) {
    constexpr int kMost = 20, kFewEnough = 8;
    constexpr double kSmall = 1e-15, kNearRounding = 1e-10;
    x_ = old_;
    rates1_ = *rates_;
    double before = std::numeric_limits<double>::infinity();
    for (int k = 1; k <= kMost; ++k) {
      if (status = look(equations, x_, to); !status.ok()) return false;
      gather(velocities(rates1_) - x_, residual_);
      change_ = lu_.solve(residual_);
      x_ += change_.segment(first_, own_);
      const double change = gamma_ * largest(change_) / speed;
      if (!std::isfinite(change) || (k > 3 && change > 0.9 * before && change > kNearRounding)) return false;
      if (change <= kSmall || (change <= kNearRounding && change > 0.5 * before)) {
        place(x_, to);
        factored_ = k <= kFewEnough;
        fresh_ = false;
        return true;
      }
      before = change;
    }
    return false;
  }

  std::string name_;
  NewmarkCoefficients c_;
  SharedEquation& equation_;
  std::vector<SharedEquation::Part> parts_;
  int own_ = 0;              // velocities of this rank,
  int first_ = 0;            // and how many stand before them
  std::vector<int> places_;  // of all velocities among all numbers

  // Carried from step to step.
  VecX<double> a_, end_v_;
  double end_time_ = 0.0;

  // The step being solved.
  const Moment* from_ = nullptr;
  const VecX<double>* rates_ = nullptr;
  double h_ = 0.0, gamma_ = 0.0;
  VecX<double> old_, a1_, d_, x_, rates1_, residual_, change_, numbers_, everything_;
  Moment moved_;
  Eigen::PartialPivLU<MatX<double>> lu_;
  bool factored_ = false, fresh_ = false;
};

}  // namespace

std::unique_ptr<Integrator> make_shared_newmark(const Settings& settings, const Options& options, SharedEquation& equation) {
  return std::make_unique<SharedNewmark>(settings.integrator.name, newmark_coefficients(settings.integrator.name, options),
                                         equation);
}

}  // namespace linkwork
