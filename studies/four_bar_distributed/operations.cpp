#include <fmt/format.h>

#include <Eigen/Dense>
#include <cmath>

#include "studies/four_bar_distributed/parts.h"
#include "studies/generalized_inverse/counted.h"

namespace linkwork::studies::four_bar_distributed {
namespace {

/// One evaluation of both methods, written out for the two chains of the paper with a number type that counts. Sines and cosines
/// are free, as is what both share: the chains' own M and right-hand sides.
template <class Number>
struct Chains {
  template <int R, int C>
  using Matrix = Eigen::Matrix<Number, R, C>;

  Matrix<2, 2> M_A;
  Number M_B;
  Matrix<2, 1> f_A;
  Number f_B;
  Matrix<2, 2> A_A;  // [Khan2006] eq. 23
  Matrix<2, 1> A_B, phi, rate, b;
};

template <class Number>
Chains<Number> some_chains() {
  const double th = 1.5708, al = 0.3533, ph = 1.2649;
  Chains<Number> c;
  const auto n = [](double x) { return Number(x); };
  c.M_A << n(4.0 / 3.0), n(2.0 * std::cos(al - th)), n(2.0 * std::cos(al - th)), n(16.0 / 3.0);
  c.M_B = n(25.0 / 12.0);
  c.f_A << n(6.0), n(-18.4);
  c.f_B = n(-3.7);
  c.A_A << n(std::sin(th)), n(4.0 * std::sin(al)), n(-std::cos(th)), n(-4.0 * std::cos(al));
  c.A_B << n(-2.5 * std::sin(ph)), n(2.5 * std::cos(ph));
  c.phi << n(1e-4), n(-1e-4);
  c.rate << n(1e-3), n(2e-3);
  c.b << n(0.1), n(-0.2);
  return c;
}

/// v_A' and v_B' by springs: the right-hand sides take on A' K phi, and each chain solves for itself.  (22)
template <class Number>
void method_a(const Chains<Number>& c, Number k, typename Chains<Number>::template Matrix<2, 1>& v_A, Number& v_B) {
  const typename Chains<Number>::template Matrix<2, 1> lambda(k * c.phi[0], k * c.phi[1]);
  typename Chains<Number>::template Matrix<2, 1> r;
  for (int i = 0; i < 2; ++i) r[i] = c.f_A[i] - (c.A_A(0, i) * lambda[0] + c.A_A(1, i) * lambda[1]);
  const Number factor = c.M_A(1, 0) / c.M_A(0, 0);
  v_A[1] = (r[1] - factor * r[0]) / (c.M_A(1, 1) - factor * c.M_A(0, 1));
  v_A[0] = (r[0] - c.M_A(0, 1) * v_A[1]) / c.M_A(0, 0);
  v_B = (c.f_B - (c.A_B[0] * lambda[0] + c.A_B[1] * lambda[1])) / c.M_B;
}

/// The same by projection, theta independent: alpha and phi follow.  (24)-(27)
template <class Number>
void method_b(const Chains<Number>& c, Number sigma, Number& v, typename Chains<Number>::template Matrix<3, 1>& eta) {
  const Number a = c.A_A(0, 1), b = c.A_B[0], d = c.A_A(1, 1), e = c.A_B[1];
  const Number determinant = a * e - b * d;
  const auto solve = [&](Number r0, Number r1, Number& x, Number& y) {
    x = (e * r0 - b * r1) / determinant;
    y = (a * r1 - d * r0) / determinant;
  };
  Number s_alpha, s_phi, g_alpha, g_phi, n_alpha, n_phi;
  solve(-c.A_A(0, 0), -c.A_A(1, 0), s_alpha, s_phi);                              // S
  solve(-sigma * c.phi[0], -sigma * c.phi[1], n_alpha, n_phi);                    // eta
  solve(c.b[0] - sigma * c.rate[0], c.b[1] - sigma * c.rate[1], g_alpha, g_phi);  // gamma
  const Number MS_0 = c.M_A(0, 0) + c.M_A(0, 1) * s_alpha, MS_1 = c.M_A(1, 0) + c.M_A(1, 1) * s_alpha;
  const Number reduced = (MS_0 + s_alpha * MS_1) + s_phi * (c.M_B * s_phi);
  const Number r_0 = c.f_A[0] - c.M_A(0, 1) * g_alpha, r_1 = c.f_A[1] - c.M_A(1, 1) * g_alpha, r_2 = c.f_B - c.M_B * g_phi;
  v = ((r_0 + s_alpha * r_1) + s_phi * r_2) / reduced;
  eta << v, s_alpha * v + n_alpha, s_phi * v + n_phi;
}

}  // namespace

void operations(StudyContext& context, StudyResult& result) {
  context.progress("operation counts");
  const Chains<Counted> chains = some_chains<Counted>();
  Chains<Counted>::Matrix<2, 1> v_A;
  Chains<Counted>::Matrix<3, 1> eta;
  Counted v_B, v;
  const long start = Counted::operations();
  method_a(chains, Counted(1e4), v_A, v_B);
  const long a = Counted::operations() - start;
  method_b(chains, Counted(30.0), v, eta);
  const long b = Counted::operations() - start - a;
  Part& part = result.add_part("Section 9: operations of an evaluation",
                               "Both methods written out for the two chains, with numbers that count additions, multiplications "
                               "and divisions. What both share, "
                               "the chains' own mass matrices and forces, is left out.");
  part.tables.push_back(
      {"Operations",
       {"method", "operations"},
       {{std::string("compliance"), static_cast<double>(a)}, {std::string("projection"), static_cast<double>(b)}}});
  const double ratio = static_cast<double>(a) / static_cast<double>(b);
  part.claims.push_back(
      {"third", "The compliance method has roughly a third of the computational complexity of the projection method", "1/3",
       fmt::format("{} operations of {}: {:.2f}", a, b, ratio), ratio > 0.2 && ratio < 0.5 ? Holds::kYes : Holds::kNo});
}

}  // namespace linkwork::studies::four_bar_distributed
