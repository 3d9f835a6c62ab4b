#include "studies/gluing/index3_pendulum.h"

#include <cmath>
#include <numbers>

namespace linkwork::studies::gluing {
namespace {

constexpr double kGravity = 9.81;

PendulumState at_angle(double angle, double speed) {  // from the lowest position
  PendulumState s;
  s.q = {std::sin(angle), -std::cos(angle)};
  s.v = speed * Eigen::Vector2d(std::cos(angle), std::sin(angle));
  s.lambda = speed * speed + kGravity * std::cos(angle);
  s.a = -s.lambda * s.q - Eigen::Vector2d(0.0, kGravity);
  return s;
}

/// Newton's method for (a, lambda) with a + q lambda + g = 0 and phi(q) = 0, where q = q_0 + c a; phi in units of c.
void solve(const Eigen::Vector2d& q_0, double c, PendulumState& s) {
  for (int iteration = 0; iteration < 50; ++iteration) {
    s.q = q_0 + c * s.a;
    Eigen::Vector3d residual;
    residual << s.a + s.lambda * s.q + Eigen::Vector2d(0.0, kGravity), 0.5 * (s.q.squaredNorm() - 1.0) / c;
    Eigen::Matrix3d J = Eigen::Matrix3d::Zero();
    J.topLeftCorner<2, 2>().diagonal().setConstant(1.0 + c * s.lambda);
    J.topRightCorner<2, 1>() = s.q;
    J.bottomLeftCorner<1, 2>() = s.q.transpose();
    const Eigen::Vector3d change = J.partialPivLu().solve(residual);
    s.a -= change.head<2>();
    s.lambda -= change[2];
    if (change.cwiseAbs().maxCoeff() < 1e-12 * (1.0 + std::abs(s.lambda))) break;
  }
  s.q = q_0 + c * s.a;
}

/// [Arnold2007], as in the integrators of this program: w is the acceleration-like variable.
std::vector<PendulumState> integrated(double am, double af, double gamma, double h, double end) {
  const double beta = 0.25 * (gamma + 0.5) * (gamma + 0.5);
  std::vector<PendulumState> states(1);
  Eigen::Vector2d w = states[0].a;
  for (long i = 0, steps = std::lround(end / h); i < steps; ++i) {
    const PendulumState& from = states.back();
    PendulumState to = from;
    const Eigen::Vector2d kept = (af * from.a - am * w) / (1.0 - am);  // w1 = kept + (1 - af)/(1 - am) a1
    const double share = (1.0 - af) / (1.0 - am);
    solve(from.q + h * from.v + h * h * ((0.5 - beta) * w + beta * kept), h * h * beta * share, to);
    const Eigen::Vector2d w1 = kept + share * to.a;
    to.v = from.v + h * ((1.0 - gamma) * w + gamma * w1);
    w = w1;
    states.push_back(to);
  }
  return states;
}

}  // namespace

PendulumState exact_pendulum(double t) {
  constexpr double kStep = 1e-4;
  Eigen::Vector2d x(0.5 * std::numbers::pi, 0.0);
  const auto rate = [](const Eigen::Vector2d& at) { return Eigen::Vector2d(at[1], -kGravity * std::sin(at[0])); };
  const long steps = std::max(1L, std::lround(t / kStep));
  const double h = t / static_cast<double>(steps);
  for (long i = 0; i < steps; ++i) {
    const Eigen::Vector2d k1 = rate(x), k2 = rate(x + 0.5 * h * k1), k3 = rate(x + 0.5 * h * k2), k4 = rate(x + h * k3);
    x += h / 6.0 * (k1 + 2.0 * k2 + 2.0 * k3 + k4);
  }
  return at_angle(x[0], x[1]);
}

std::vector<PendulumState> newmark_pendulum(double step, double end) { return integrated(0.0, 0.0, 0.5, step, end); }

std::vector<PendulumState> generalized_alpha_pendulum(double rho, double step, double end) {
  const double am = (2.0 * rho - 1.0) / (rho + 1.0), af = rho / (rho + 1.0);
  return integrated(am, af, 0.5 + af - am, step, end);
}

PendulumState bdf_step(int k, double t, double h) {
  // x' at the new time from the polynomial through it and the k times before: sum of weights_i x_i, the new one first.
  std::vector<double> times{0.5 * h};
  for (int i = 0; i < k; ++i) times.push_back(-static_cast<double>(i) * h);
  std::vector<double> weights(times.size(), 0.0);
  for (std::size_t i = 1; i < times.size(); ++i) {
    weights[0] += 1.0 / (times[0] - times[i]);
    weights[i] = 1.0 / (times[i] - times[0]);
    for (std::size_t j = 1; j < times.size(); ++j)
      if (j != i) weights[i] *= (times[0] - times[j]) / (times[i] - times[j]);
  }
  Eigen::Vector2d old_q = Eigen::Vector2d::Zero(), old_v = old_q;
  for (std::size_t i = 1; i < times.size(); ++i) {
    const PendulumState past = exact_pendulum(t + times[i]);
    old_q += weights[i] * past.q;
    old_v += weights[i] * past.v;
  }
  // v = w q + old_q and a = w v + old_v, hence q = a/w^2 - old_v/w^2 - old_q/w.
  const double w = weights[0];
  PendulumState next = exact_pendulum(t);
  solve(-old_v / (w * w) - old_q / w, 1.0 / (w * w), next);
  next.v = w * next.q + old_q;
  return next;
}

}  // namespace linkwork::studies::gluing
