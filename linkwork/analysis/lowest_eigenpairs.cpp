#include <Spectra/GenEigsSolver.h>

#include <Eigen/Eigenvalues>
#include <Eigen/LU>
#include <algorithm>
#include <cmath>
#include <functional>
#include <optional>

#include "linkwork/analysis/eigenpairs.h"

namespace linkwork {

namespace {

/// The largest modulus, about: what is left of a vector's growth when the matrix is applied again and again.
double largest_modulus(const MatX<double>& A) {
  constexpr int kSettle = 20, kCount = 60;
  VecX<double> x(A.rows());
  for (Eigen::Index i = 0; i < x.size(); ++i) x[i] = 1.0 + 0.37 * std::fmod(0.618034 * static_cast<double>(i + 1), 1.0);
  double log_growth = 0.0;
  for (int k = 0; k < kCount; ++k) {
    const double before = x.norm();
    if (!(before > 0.0)) return 0.0;
    x = A * (x / before);
    if (k >= kSettle) log_growth += std::log(std::max(x.norm(), 1e-300));
  }
  return std::exp(log_growth / (kCount - kSettle));
}

/// (A - sigma)^-1 beside a subspace that it leads into itself: what is known already, as the columns of Q.
class ShiftedInverse {
 public:
  using Scalar = double;

  ShiftedInverse(const MatX<double>& A, double sigma) : Q(A.rows(), 0) {
    MatX<double> shifted = A;
    shifted.diagonal().array() -= sigma;
    lu_.compute(shifted);
  }
  Eigen::Index rows() const { return lu_.rows(); }
  Eigen::Index cols() const { return lu_.cols(); }
  MatX<double> times(const MatX<double>& x) const { return lu_.solve(x); }
  void perform_op(const double* in, double* out) const {
    Eigen::Map<VecX<double>> result(out, rows());
    VecX<double> x = Eigen::Map<const VecX<double>>(in, rows());
    remove_known(x);
    result = lu_.solve(x);
    remove_known(result);
  }

  MatX<double> Q;

 private:
  void remove_known(auto& x) const {
    if (Q.cols() > 0) x -= Q * (Q.transpose() * x).eval();
  }
  Eigen::PartialPivLU<MatX<double>> lu_;
};

using Solver = Spectra::GenEigsSolver<ShiftedInverse>;

bool solve(Solver& solver, int count) {
  constexpr double kTolerance = 1e-13;
  constexpr int kRestarts = 300;
  solver.init();
  const auto found = static_cast<int>(solver.compute(Spectra::SortRule::LargestMagn, kRestarts, kTolerance));
  return solver.info() == Spectra::CompInfo::Successful && found == count && solver.eigenvectors().allFinite();
}

/// Adds a direction to an orthonormal basis, unless it is in it.
void extend(MatX<double>& Q, VecX<double> x) {
  if (!(x.norm() > 1e-6)) return;
  x.normalize();
  for (int again = 0; again < 2; ++again) x -= Q * (Q.transpose() * x).eval();
  if (!(x.norm() > 1e-6)) return;
  Q.conservativeResize(Eigen::NoChange, Q.cols() + 1);
  Q.rightCols(1) = x.normalized();
}

/// The eigenvalues nearest to sigma. Arnoldi's method begins with one vector, and so may see but one of several equal
/// eigenvalues, as symmetric machines have them: it is repeated beside what was found until nothing nearer comes.
std::optional<Eigenpairs> nearest(const MatX<double>& A, double sigma, int count) {
  constexpr int kMostPasses = 40, kFew = 6;
  ShiftedInverse inverse(A, sigma);
  const auto n = static_cast<int>(A.rows());
  for (int pass = 0, asked = count; pass < kMostPasses; ++pass, asked = kFew) {
    Solver solver(inverse, asked, std::min(n, std::max(2 * asked + 10, 30)));
    if (!solve(solver, asked)) return {};
    const Eigen::VectorXcd values = solver.eigenvalues();
    const Eigen::MatrixXcd vectors = solver.eigenvectors();
    double farthest = 0.0;  // of those wanted, as they are known before this pass
    if (pass > 0) {
      Eigen::VectorXd sizes =
          Eigen::EigenSolver<MatX<double>>(inverse.Q.transpose() * inverse.times(inverse.Q), false).eigenvalues().cwiseAbs();
      std::ranges::sort(sizes, std::greater<>());
      farthest = sizes[std::min<Eigen::Index>(count, sizes.size()) - 1];
    }
    if (values.cwiseAbs().maxCoeff() <= (1.0 - 1e-9) * farthest) {
      const Eigen::EigenSolver<MatX<double>> within(inverse.Q.transpose() * inverse.times(inverse.Q));
      Eigenpairs pairs;
      pairs.values = (within.eigenvalues().cwiseInverse().array() + sigma).matrix();
      pairs.vectors = inverse.Q * within.eigenvectors();
      if (!pairs.values.allFinite()) return {};
      return pairs;
    }
    for (Eigen::Index i = 0; i < vectors.cols(); ++i) {
      extend(inverse.Q, vectors.col(i).real());
      extend(inverse.Q, vectors.col(i).imag());
    }
    if (inverse.Q.cols() > n / 2) return {};
  }
  return {};
}

/// Whether they are eigenpairs of A.
bool hold(const MatX<double>& A, double largest, const Eigenpairs& pairs) {
  constexpr double kOff = 1e-7;
  for (Eigen::Index i = 0; i < pairs.values.size(); ++i) {
    const Eigen::VectorXcd x = pairs.vectors.col(i);
    const Eigen::VectorXcd off = A * x - pairs.values[i] * x;
    if (!(off.norm() <= kOff * std::max(1.0, largest) * x.norm())) return false;
  }
  return true;
}

double least_modulus(const Eigen::VectorXcd& values, double but_for) {
  double least = INFINITY;
  for (const std::complex<double>& value : values)
    if (std::abs(value) > but_for) least = std::min(least, std::abs(value));
  return least;
}

}  // namespace

Eigenpairs lowest_eigenpairs(const MatX<double>& A, int count) {
  constexpr int kSpare = 6;
  constexpr double kRigid = 1e-6;
  const int asked = count + kSpare;
  if (3 * asked >= A.rows()) return all_eigenpairs(A);
  const double largest = largest_modulus(A);
  // From a shift that is none of the eigenvalues, then from one that is small beside those that vibrate: what is nearest to it
  // then has the least modulus.
  std::optional<Eigenpairs> pairs = nearest(A, 1e-3 * largest, asked);
  if (pairs) {
    const double least = least_modulus(pairs->values, kRigid * std::max(1.0, largest));
    if (std::isfinite(least)) pairs = nearest(A, 0.1 * least, asked);
  }
  if (!pairs || !hold(A, largest, *pairs)) return all_eigenpairs(A);
  pairs->largest = largest;
  return std::move(*pairs);
}

}  // namespace linkwork
