#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "linkwork/dynamics/equations_of_motion.h"
#include "linkwork/dynamics/motion_residual.h"
#include "linkwork/dynamics/not_finite.h"
#include "linkwork/integrators/catalog.h"
#include "linkwork/integrators/newmark_coefficients.h"
#include "linkwork/linalg/pattern_lu.h"
#include "linkwork/tree/kinematics.h"

namespace linkwork {

namespace {

/// Newmark, HHT and generalized-alpha are one method [Arnold2007], [Bruls2012]. With the acceleration-like a,
///   (1)  q1 = q0 (+) d,   d = h v0 + h^2 (1/2 - beta) a0 + h^2 beta a1  [+ h^2 beta W A0' mu]
///   (2)  v1 = v0 + h (1 - gamma) a0 + h gamma a1
///   (3)  (1 - am) a1 + am a0 = (1 - af) vdot1 + af vdot0
///   (4)  M vdot1 + c = tau + A' lambda,   phi(q1) = 0  [and A v1 = u]
/// solved for vdot1, lambda [and mu]: index 3, and in brackets the stabilized index 2, where W A0' is diag(M)^-1 A' of the
/// state at which the Newton matrix was made. Rotations are displaced on their group, so the method has order two there as well.
class NewmarkFamily : public Integrator {
 public:
  NewmarkFamily(const Model& model, std::string name, const NewmarkCoefficients& c)
      : name_(std::move(name)),
        c_(c),
        n_(model.tree.nv),
        m_(model.row_count()),
        phi_small_(0.01 * model.settings.constraint_tolerance),
        y_(VecX<double>::Zero(n_)),
        lambda_(VecX<double>::Zero(m_)),
        mu_(VecX<double>::Zero(m_)) {}

  int order() const override { return std::abs(c_.gamma + c_.am - c_.af - 0.5) < 1e-12 ? 2 : 1; }

  Status step(DifferentialEquation& stepped, const Moment& given, const VecX<double>& given_rates, double h,
              Moment& to) override {
    EquationsOfMotion& equations = *stepped.equations_of_motion();
    const Tree& tree = equations.model().tree;
    unpack(given, tree.nq, tree.nv, from_);
    unpack(given_rates, tree.nq, tree.nv, rates_);
    stabilized_ = equations.gives() == Equations::kIndex2;
    if (!continues(from_, h)) begin(equations, rates_);
    take_rank(equations.solution().dependent, h);
    if (Status status = solve_step(equations, h, to_); !status.ok()) return status;
    const System& system = equations.system();
    to_.work = from_.work + 0.5 * h * (rates_.power + system.applied_power() + lambda_.dot(system.terms().u));
    to_.z = from_.z;
    a_ = a1_;
    y_ = y1_;
    end_time_ = to_.t;
    end_v_ = to_.v;
    pack(to_, to);
    return {};
  }

  void forget() override { end_v_.resize(0); }

 private:
  /// a of (3) goes on from step to step, unless the state is another one than was left.
  bool continues(const State& from, double h) const {
    return end_v_.size() == from.v.size() && std::abs(from.t - end_time_) <= 1e-6 * h &&
           (from.v - end_v_).norm() <= 1e-2 * (1.0 + end_v_.norm());
  }
  void begin(const EquationsOfMotion& equations, const Derivative& rates) {
    a_ = y_ = rates.vdot;
    lambda_ = equations.solution().lambda;
    factored_ = false;
  }
  /// Dependent rows are left out, with lambda = 0: the same ones as long as their number is the same and the iteration converges.
  void take_rank(const std::vector<char>& dependent, double h) {
    const bool other = dropped_.size() != dependent.size() || std::ranges::count(dropped_, 1) != std::ranges::count(dependent, 1);
    if (other) dropped_ = dependent;
    if (other || std::abs(h - h_) > 1e-9 * h) factored_ = false;
    h_ = h;
  }

  Status solve_step(EquationsOfMotion& equations, double h, State& to) {
    beta_ = h * h * c_.beta * (1.0 - c_.af) / (1.0 - c_.am);  // d of (1) by vdot1
    gamma_ = h * c_.gamma * (1.0 - c_.af) / (1.0 - c_.am);    // v1 by vdot1
    lambda0_ = lambda_;
    Status status;
    for (const bool anew : {false, true}) {
      y1_ = y_;
      lambda_ = lambda0_;
      mu_.setZero();
      const bool same_rows = dropped_ == equations.solution().dependent;
      if (anew) dropped_ = equations.solution().dependent;
      if (anew || !factored_) status = factor(equations, h, to);
      if (status.ok() && iterate(equations, h, to)) return {};
      if (same_rows && fresh_) break;
    }
    factored_ = false;
    if (!status.ok()) return status;
    return {fmt::format("the iteration of integrator '{}' does not converge over a step of {:.3g} s{}", name_, h,
                        why_it_diverges(equations, h, to))};
  }

  /// Where it began there may be what has no number; later everything is infected by that.
  std::string why_it_diverges(EquationsOfMotion& equations, double h, State& to) {
    y1_ = y_;
    lambda_ = lambda0_;
    mu_.setZero();
    place(equations.model().tree, h, to);
    evaluate(equations, to);
    const std::string cause = because_not_finite(equations);
    return cause.empty() ? "; try a smaller step" : cause;
  }

  /// (1) to (3): the state that belongs to vdot1 and mu.
  void place(const Tree& tree, double h, State& to) {
    a1_ = ((1.0 - c_.af) * y1_ + c_.af * y_ - c_.am * a_) / (1.0 - c_.am);
    d_ = h * from_.v + h * h * ((0.5 - c_.beta) * a_ + c_.beta * a1_);
    if (stabilized_)
      for (int c = 0; c < static_cast<int>(A0_.cols()); ++c)
        for (SparseMatrix::InnerIterator along(A0_, c); along; ++along)
          d_[c] += beta_ * weights_[c] * along.value() * mu_[along.row()];
    to.t = from_.t + h;
    to.q = from_.q;
    displace(tree, to.q.data(), d_.data());
    to.v = from_.v + h * ((1.0 - c_.gamma) * a_ + c_.gamma * a1_);
  }

  /// (4), the constraints in the measure of accelerations.
  void evaluate(EquationsOfMotion& equations, const State& to) {
    equations.residual(to, y1_, lambda_, r_);
    const ConstraintTerms& terms = equations.system().terms();
    x_.resize(size());
    x_.head(n_) = -r_;
    for (int i = 0; i < m_; ++i) {
      const bool dropped = dropped_[static_cast<std::size_t>(i)] != 0;
      x_[n_ + i] = dropped ? -lambda_[i] : -terms.phi[i] / beta_;
      if (stabilized_) x_[n_ + m_ + i] = dropped ? -mu_[i] : -terms.rate[i] / gamma_;
    }
    worst_phi_ = 0.0;
    for (int i = 0; i < m_; ++i)
      if (dropped_[static_cast<std::size_t>(i)] == 0) worst_phi_ = std::max(worst_phi_, std::abs(terms.phi[i]));
  }

  int size() const { return n_ + (stabilized_ ? 2 : 1) * m_; }

  /// Modified Newton iteration: the same factorization throughout, and for further steps as long as it serves. It goes on to
  /// rounding, since errors of all steps add up: until what is left is below it, or changes no longer become smaller.
  bool iterate(EquationsOfMotion& equations, double h, State& to) {
    constexpr int kMost = 16, kFewEnough = 6;
    constexpr double kSmall = 1e-15, kNearRounding = 1e-9;
    int stalled = 0;
    place(equations.model().tree, h, to);
    evaluate(equations, to);
    double before = 0.0, rate = 0.5;
    for (int k = 1; k <= kMost; ++k) {
      lu_.solve(x_);
      y1_ += x_.head(n_);
      lambda_ += x_.segment(n_, m_);
      if (stabilized_) mu_ += x_.tail(m_);
      const double change = gamma_ * largest(x_.head(n_)) / (1.0 + largest(from_.v));
      if (!std::isfinite(change)) return false;
      place(equations.model().tree, h, to);
      evaluate(equations, to);
      if (k > 1) rate = change / before;
      const bool settled = change * std::min(1.0, rate / std::max(1e-3, 1.0 - rate)) <= kSmall && worst_phi_ <= phi_small_;
      if (k > 1 && rate > 0.5) ++stalled;
      const bool at_rounding = change <= kNearRounding && stalled > 1;
      if (settled || at_rounding) {
        factored_ = k <= kFewEnough;
        fresh_ = false;
        return true;
      }
      if (k > 2 && rate > 0.9 && change > kNearRounding) return false;
      before = change;
    }
    return false;
  }
  static double largest(const auto& x) { return x.size() > 0 ? x.cwiseAbs().maxCoeff() : 0.0; }

  Status factor(EquationsOfMotion& equations, double h, State& to) {
    const Tree& tree = equations.model().tree;
    place(tree, h, to);
    equations.linearize(to, y1_, lambda_, at_);
    A_ = at_.A;
    if (stabilized_) take_correction_space();
    times_displacement_tangent(tree, d_, at_.K);
    times_displacement_tangent(tree, d_, A_);
    if (stabilized_) times_displacement_tangent(tree, d_, at_.G);
    if (lu_.size() != size()) lu_.set_pattern(size(), pattern());
    fill();
    if (!lu_.factor()) {
      if (const std::string cause = because_not_finite(equations); !cause.empty())
        return {fmt::format("the equations of a step of integrator '{}' are not finite{}", name_, cause)};
      return {fmt::format(
          "the equations of a step of integrator '{}' are singular: a motion has neither inertia nor a constraint", name_)};
    }
    factored_ = fresh_ = true;
    return {};
  }

  /// W A0' of (1).
  void take_correction_space() {
    A0_ = at_.A;
    weights_ = at_.M.diagonal();
    for (double& weight : weights_) weight = weight > 0.0 ? 1.0 / weight : 1.0;
  }

  std::vector<std::pair<int, int>> pattern() const {
    std::vector<std::pair<int, int>> places;
    for (int c = 0; c < n_; ++c)
      for (SparseMatrix::InnerIterator entry(at_.K, c); entry; ++entry) places.emplace_back(entry.row(), c);
    for (int c = 0; c < n_; ++c)
      for (SparseMatrix::InnerIterator entry(at_.A, c); entry; ++entry) {
        const int i = static_cast<int>(entry.row());
        places.emplace_back(n_ + i, c);
        places.emplace_back(c, n_ + i);
        if (!stabilized_) continue;
        places.emplace_back(n_ + m_ + i, c);
        for (SparseMatrix::InnerIterator moved(at_.K, c); moved; ++moved) places.emplace_back(moved.row(), n_ + m_ + i);
        for (SparseMatrix::InnerIterator met(at_.A, c); met; ++met)
          places.emplace_back(n_ + met.row(), n_ + m_ + i), places.emplace_back(n_ + m_ + met.row(), n_ + m_ + i);
      }
    for (int i = n_; i < size(); ++i) places.emplace_back(i, i);
    return places;
  }

  /// Rows as in evaluate(), columns vdot1, lambda, mu.
  void fill() {
    set_zero(lu_.matrix());
    for (int c = 0; c < n_; ++c) {
      SparseMatrix::InnerIterator K(at_.K, c), D(at_.D, c), M(at_.M, c);
      for (; K; ++K, ++D, ++M) lu_.add(static_cast<int>(K.row()), c, M.value() + gamma_ * D.value() + beta_ * K.value());
      SparseMatrix::InnerIterator A(A_, c), plain(at_.A, c), G(at_.G, c);
      for (; A; ++A, ++plain, ++G) {
        const int i = static_cast<int>(A.row());
        if (dropped_[static_cast<std::size_t>(i)] != 0) continue;
        lu_.add(c, n_ + i, -plain.value());
        lu_.add(n_ + i, c, A.value());
        if (stabilized_) lu_.add(n_ + m_ + i, c, plain.value() + beta_ / gamma_ * G.value());
      }
    }
    for (int i = 0; i < m_; ++i) {
      if (dropped_[static_cast<std::size_t>(i)] == 0) continue;
      lu_.add(n_ + i, n_ + i, 1.0);
      if (stabilized_) lu_.add(n_ + m_ + i, n_ + m_ + i, 1.0);
    }
    if (stabilized_) fill_corrections();
  }

  /// Columns of mu: everything by displacement, along W A0'.
  void fill_corrections() {
    for (int c = 0; c < n_; ++c)
      for (SparseMatrix::InnerIterator along(A0_, c); along; ++along) {
        const int i = static_cast<int>(along.row());
        if (dropped_[static_cast<std::size_t>(i)] != 0) continue;
        const double weight = weights_[c] * along.value();
        for (SparseMatrix::InnerIterator K(at_.K, c); K; ++K)
          lu_.add(static_cast<int>(K.row()), n_ + m_ + i, beta_ * weight * K.value());
        SparseMatrix::InnerIterator A(A_, c), G(at_.G, c);
        for (; A; ++A, ++G) {
          const int row = static_cast<int>(A.row());
          if (dropped_[static_cast<std::size_t>(row)] != 0) continue;
          lu_.add(n_ + row, n_ + m_ + i, weight * A.value());
          lu_.add(n_ + m_ + row, n_ + m_ + i, beta_ / gamma_ * weight * G.value());
        }
      }
  }

  std::string name_;
  NewmarkCoefficients c_;
  int n_, m_;
  double phi_small_;
  bool stabilized_ = false;
  State from_, to_;
  Derivative rates_;

  // Carried from step to step.
  VecX<double> a_, y_, lambda_;
  VecX<double> end_v_;
  double end_time_ = 0.0;

  // The step being solved.
  double h_ = 0.0, beta_ = 0.0, gamma_ = 0.0;
  VecX<double> y1_, a1_, lambda0_, mu_, d_, r_, x_;
  double worst_phi_ = 0.0;

  // Its Newton matrix.
  std::vector<char> dropped_;
  Linearization at_;
  SparseMatrix A_, A0_;
  VecX<double> weights_;
  PatternLu lu_;
  bool factored_ = false, fresh_ = false;
};

CatalogEntry<Integrator> member(const char* name, const char* summary, const char* reference, double rho, double least,
                                std::vector<Equations> takes) {
  return {{name,
           summary,
           reference,
           {{"rho", rho, "what a step leaves of the highest frequencies: 1 all", numbers_between(least, 1.0)}}},
          [=](const Model& model, const Options& options) {
            return std::make_unique<NewmarkFamily>(model, name, newmark_coefficients(name, options));
          },
          {.takes = std::move(takes)}};
}

}  // namespace

std::vector<CatalogEntry<Integrator>> newmark_family() {
  using enum Equations;
  return {member("newmark", "implicit, no dissipation unless rho < 1, which costs an order", "Newmark1959", 1.0, 0.0,
                 {kIndex2, kIndex3}),
          member("hht", "implicit, order 2, dissipates high frequencies", "Hilber1977", 0.8, 0.5, {kIndex3, kIndex2}),
          member("generalized-alpha", "implicit, order 2, dissipates high frequencies and spares low ones", "Chung1993", 0.8, 0.0,
                 {kIndex3, kIndex2})};
}

}  // namespace linkwork
