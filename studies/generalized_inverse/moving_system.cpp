#include "studies/generalized_inverse/moving_system.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "studies/generalized_inverse/gram_schmidt.h"
#include "studies/generalized_inverse/methods.h"

namespace linkwork::studies {
namespace {

using Vector = MovingSystem::Vector;
using Matrix = MovingSystem::Matrix;

constexpr double kGravity = 9.81;

class CrankRodDisc : public MovingSystem {
 public:
  Vector masses() const override {
    Vector M(7);
    M << kCrankMass * kCrank * kCrank / 3, kRodMass, kRodMass, kRodMass * kRod * kRod / 12, kDiscMass, kDiscMass,
        kDiscMass * kRadius * kRadius / 2;
    return M;
  }

  void start(Vector& q, Vector& v) const override {
    const double crank = std::numbers::pi / 3, rod = std::asin(kCrank * std::sin(crank) / kRod);
    const double x = kCrank * std::cos(crank) + kRod * std::cos(rod);
    q.resize(7);
    q << crank, x - kRod / 2 * std::cos(rod), kRod / 2 * std::sin(rod), rod, x, 0.0, x / kRadius;
    v = Vector::Zero(7);
  }

  Vector forces(double /*t*/, const Vector& q, const Vector& /*v*/) const override {
    Vector f(7);
    f << -kCrankMass * kGravity * kCrank / 2 * std::cos(q(0)), 0.0, -kRodMass * kGravity, 0.0, 0.0, -kDiscMass * kGravity, 0.0;
    return f;
  }

  // The rod leans down from the crank pin to the disc; its angle is counted below the horizontal.
  Vector position_error(const Vector& q) const override {
    Vector phi(6);
    phi << q(1) - kCrank * std::cos(q(0)) - kRod / 2 * std::cos(q(3)), q(2) - kCrank * std::sin(q(0)) + kRod / 2 * std::sin(q(3)),
        kCrank * std::sin(q(0)) - kRod * std::sin(q(3)), q(4) - kCrank * std::cos(q(0)) - kRod * std::cos(q(3)), q(5),
        q(4) - kRadius * q(6);
    return phi;
  }

  Matrix rows(const Vector& q) const override {
    const double s2 = kCrank * std::sin(q(0)), c2 = kCrank * std::cos(q(0)), s3 = kRod * std::sin(q(3)),
                 c3 = kRod * std::cos(q(3));
    Matrix A = Matrix::Zero(6, 7);
    A.row(0) << s2, 1, 0, s3 / 2, 0, 0, 0;
    A.row(1) << -c2, 0, 1, c3 / 2, 0, 0, 0;
    A.row(2) << c2, 0, 0, -c3, 0, 0, 0;
    A.row(3) << s2, 0, 0, s3, 1, 0, 0;
    A.row(4) << 0, 0, 0, 0, 0, 1, 0;
    A.row(5) << 0, 0, 0, 0, 1, 0, -kRadius;
    return A;
  }

  Vector right_side(const Vector& q, const Vector& v) const override {
    const double w2 = v(0) * v(0) * kCrank, w3 = v(3) * v(3) * kRod;
    const double s2 = std::sin(q(0)), c2 = std::cos(q(0)), s3 = std::sin(q(3)), c3 = std::cos(q(3));
    Vector b(6);
    b << -w2 * c2 - w3 * c3 / 2, -w2 * s2 + w3 * s3 / 2, w2 * s2 - w3 * s3, -w2 * c2 - w3 * c3, 0.0, 0.0;
    return b;
  }

  Vector velocity_error(const Vector& q, const Vector& v) const override { return rows(q) * v; }
  bool is_holonomic(Index /*row*/) const override { return true; }

  double energy(const Vector& q, const Vector& v) const override {
    const double height = kCrankMass * kCrank / 2 * std::sin(q(0)) + kRodMass * q(2) + kDiscMass * q(5);
    return 0.5 * v.cwiseAbs2().dot(masses()) + kGravity * height;
  }

 private:
  static constexpr double kCrank = 1.0, kRod = 2.0, kRadius = 0.3, kCrankMass = 1.0, kRodMass = 1.0, kDiscMass = 1.0;
};

class FrictionDrive : public MovingSystem {
 public:
  Vector masses() const override { return Eigen::Vector3d(0.05, 0.2, 0.5); }

  void start(Vector& q, Vector& v) const override {
    q = Eigen::Vector3d(0.0, 0.0, kRest);
    v = Eigen::Vector3d(kRest / kPinion * 2.0, 2.0, 0.0);
  }

  /// A torque with a disturbance on the driver, a load on the disc; the pinion is held by a spring and a damper and thrown out.
  Vector forces(double t, const Vector& q, const Vector& v) const override {
    return Eigen::Vector3d(1.0 + 0.5 * std::sin(10.0 * t), -0.4 * v(1),
                           -60.0 * (q(2) - kRest) - 2.0 * v(2) + 0.5 * kRest * v(1) * v(1));
  }

  Matrix rows(const Vector& q) const override {
    Matrix A(1, 3);
    A << kPinion, -q(2), 0.0;
    return A;
  }

  Vector right_side(const Vector& /*q*/, const Vector& v) const override { return Vector::Constant(1, v(2) * v(1)); }
  Vector velocity_error(const Vector& q, const Vector& v) const override { return rows(q) * v; }
  Vector position_error(const Vector& /*q*/) const override { return Vector::Zero(1); }
  bool is_holonomic(Index /*row*/) const override { return false; }
  double energy(const Vector& /*q*/, const Vector& v) const override { return 0.5 * v.cwiseAbs2().dot(masses()); }

 private:
  static constexpr double kPinion = 0.1, kRest = 0.3;  // radius of the pinion; its distance from the axis at rest
};

/// The parts of GIGSP that can be kept: with T A M^-1/2 = A1, a = a_f + M^-1/2 A1' (T b - A1 M^1/2 a_f).
struct Inverse {
  Matrix A1, T;
};

class Accelerations {
 public:
  Accelerations(const MovingSystem& system, const ReuseOptions& options)
      : system_(system), options_(options), masses_(system.masses()), roots_(masses_.cwiseSqrt()) {}

  void begin_step(long step) { due_ = step % options_.every == 0; }

  Vector operator()(double t, const Vector& q, const Vector& v) {
    const Matrix A = system_.rows(q);
    if (due_ || options_.every == 1) inverse_ = computed(A);
    due_ = false;
    const Vector b = system_.right_side(q, v);
    const Vector free = system_.forces(t, q, v).cwiseQuotient(masses_);
    const Vector wanted = options_.compensation == Compensation::kBaumgarte ? b - feedback(q, v) : b;
    Vector a =
        free + (inverse_.A1.transpose() * (inverse_.T * wanted - inverse_.A1 * free.cwiseProduct(roots_))).cwiseQuotient(roots_);
    if (options_.compensation == Compensation::kProjection) project(a, A, b, Vector::Ones(masses_.size()));
    if (options_.compensation == Compensation::kMassProjection) project(a, A, b, masses_);
    return a;
  }

 private:
  /// Gram-Schmidt on the rows, with the unit matrix carried along to have T.
  Inverse computed(const Matrix& A) const {
    const Index m = A.rows(), n = A.cols();
    Inverse inverse{A, Matrix::Identity(m, m)};
    for (Index k = 0; k < n; ++k) inverse.A1.col(k) /= roots_(k);
    for (Index i = 0; i < m; ++i) {
      for (Index j = 0; j < i; ++j) {
        const double share = inverse.A1.row(j).dot(inverse.A1.row(i));
        inverse.A1.row(i) -= share * inverse.A1.row(j);
        inverse.T.row(i) -= share * inverse.T.row(j);
      }
      const double length = inverse.A1.row(i).norm();
      inverse.A1.row(i) /= length;
      inverse.T.row(i) /= length;
    }
    return inverse;
  }

  Vector feedback(const Vector& q, const Vector& v) const {
    const Vector phi = system_.position_error(q), rate = system_.velocity_error(q, v);
    Vector correction(phi.size());
    for (Index i = 0; i < phi.size(); ++i)
      correction(i) = system_.is_holonomic(i) ? 2.0 * options_.gain * rate(i) + options_.gain * options_.gain * phi(i)
                                              : options_.gain * rate(i);
    return correction;
  }

  /// The smallest change, in the given weights, after which A a = b (eq. 2.55).
  static void project(Vector& a, const Matrix& A, const Vector& b, const Vector& weights) {
    const Matrix W = A * weights.cwiseInverse().asDiagonal();
    const auto L = cholesky<double>(W * A.transpose());
    Vector lambda = b - A * a;
    solve_lower(*L, lambda.data());
    solve_lower_transposed(*L, lambda.data());
    a += W.transpose() * lambda;
  }

  const MovingSystem& system_;
  ReuseOptions options_;
  Vector masses_, roots_;
  Inverse inverse_;
  bool due_ = true;
};

}  // namespace

std::unique_ptr<MovingSystem> crank_rod_disc() { return std::make_unique<CrankRodDisc>(); }
std::unique_ptr<MovingSystem> friction_drive() { return std::make_unique<FrictionDrive>(); }

Motion simulated(const MovingSystem& system, const ReuseOptions& options, double h, double end) {
  Accelerations accelerations(system, options);
  Vector q, v;
  system.start(q, v);
  Motion motion;
  const long steps = std::lround(end / h);
  for (long i = 0; i <= steps; ++i) {
    const double t = static_cast<double>(i) * h;
    motion.t.push_back(t);
    motion.q.push_back(q);
    motion.v.push_back(v);
    motion.position_error = std::max(motion.position_error, system.position_error(q).cwiseAbs().maxCoeff());
    motion.velocity_error = std::max(motion.velocity_error, system.velocity_error(q, v).cwiseAbs().maxCoeff());
    accelerations.begin_step(i);
    const Vector a1 = accelerations(t, q, v);
    const Vector v2 = v + h / 2 * a1, a2 = accelerations(t + h / 2, q + h / 2 * v, v2);
    const Vector v3 = v + h / 2 * a2, a3 = accelerations(t + h / 2, q + h / 2 * v2, v3);
    const Vector v4 = v + h * a3, a4 = accelerations(t + h, q + h * v3, v4);
    q += h / 6 * (v + 2.0 * v2 + 2.0 * v3 + v4);
    v += h / 6 * (a1 + 2.0 * a2 + 2.0 * a3 + a4);
  }
  return motion;
}

}  // namespace linkwork::studies
