#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <numbers>
#include <span>
#include <string>
#include <vector>

#include "linkwork/io/model_file.h"
#include "linkwork/simulation/kinematics.h"
#include "studies/generalized_inverse/gram_schmidt.h"
#include "studies/generalized_inverse/parts.h"
#include "studies/generalized_inverse/svd.h"

namespace linkwork::studies::generalized_inverse {
namespace {

using Matrix = MatrixOf<double>;
using Vector = VectorOf<double>;

constexpr double kLink = 1.0;  // r2 = r4; the lengths of ground and couplers cancel
constexpr double kDrive = 2.0 * std::numbers::pi;
constexpr double kGone = 10.0;  // rad

/// Angles of the two cranks and their speeds.
struct State {
  double q2, q4, v2, v4;
};

enum class Inverse { kGramSchmidt, kSvd };

/// Eq. 4.19 and 4.20: the coupler, the redundant middle coupler, and the driver. gap_acceleration is the second derivative of the
/// error Δ(t) that eq. 4.21 puts into the last row of the redundant coupler.
void fill_rows(const State& s, double t, double gap_acceleration, Matrix& A, Vector& b) {
  A.resize(5, 2);
  b.resize(5);
  const double s2 = std::sin(s.q2), c2 = std::cos(s.q2), s4 = std::sin(s.q4), c4 = std::cos(s.q4);
  A.row(0) << kLink * s2, -kLink * s4;
  A.row(1) << kLink * c2, -kLink * c4;
  A.row(2) = 0.5 * A.row(0);
  A.row(3) = 0.5 * A.row(1);
  A.row(4) << 1.0, 0.0;
  const double w2 = s.v2 * s.v2 * kLink, w4 = s.v4 * s.v4 * kLink;
  b << -w2 * c2 + w4 * c4, w2 * s2 - w4 * s4, 0.5 * (-w2 * c2 + w4 * c4), 0.5 * (w2 * s2 - w4 * s4) + gap_acceleration,
      -kDrive * std::sin(t);
}

Orthonormal<double> rows_at(const State& s, double t, double gap_acceleration = 0.0) {
  Matrix A;
  Vector b;
  fill_rows(s, t, gap_acceleration, A, b);
  return orthonormalized<double>(A, b);
}

/// The accelerations of the cranks (eq. 4.8), by Gram-Schmidt (eq. 4.9) or by singular values.
Vector accelerations(const State& s, double t, Inverse inverse) {
  Matrix A;
  Vector b;
  fill_rows(s, t, 0.0, A, b);
  if (inverse == Inverse::kGramSchmidt) return smallest_solution<double>(A, b);
  const Svd<double> svd(A, false);
  Vector along = times(svd.left(), b);
  for (Index k = 0; k < along.size(); ++k) along(k) = svd.is_null(k) ? 0.0 : along(k) / svd.values()[static_cast<std::size_t>(k)];
  return transposed_times(svd.right(), along);
}

State derivative(const State& s, double t, Inverse inverse) {
  const Vector a = accelerations(s, t, inverse);
  return {s.v2, s.v4, a(0), a(1)};
}

State moved(const State& s, const State& d, double h) {
  return {s.q2 + h * d.q2, s.q4 + h * d.q4, s.v2 + h * d.v2, s.v4 + h * d.v4};
}

State rk4_step(const State& s, double t, double h, Inverse inverse) {
  const State k1 = derivative(s, t, inverse), k2 = derivative(moved(s, k1, h / 2), t + h / 2, inverse),
              k3 = derivative(moved(s, k2, h / 2), t + h / 2, inverse), k4 = derivative(moved(s, k3, h), t + h, inverse);
  return moved(moved(moved(moved(s, k1, h / 6), k2, h / 3), k3, h / 3), k4, h / 6);
}

/// The driver is prescribed, θ2 = 2π sin t, and the other crank is parallel to it.
State exact_state(double t) {
  const double q = kDrive * std::sin(t), v = kDrive * std::cos(t);
  return {q, q, v, v};
}

/// |θ4 − θ2| when the accelerations are integrated, until the cranks have lost one another.
Series integrated(const std::string& name, Inverse inverse, double h, double end) {
  Series series{name};
  State state = exact_state(0.0);
  const int steps = static_cast<int>(std::lround(end / h));
  for (int i = 0; i <= steps; ++i) {
    if (const double off = std::abs(state.q4 - state.q2); i % 5 == 0) {
      series.x.push_back(i * h);
      series.y.push_back(std::isfinite(off) ? std::min(off, kGone) : kGone);
      if (!(off < kGone)) break;
    }
    state = rk4_step(state, i * h, h, inverse);
  }
  return series;
}

double largest(const Series& series, double until = 1e300) {
  double value = 0.0;
  for (std::size_t i = 0; i < series.x.size() && series.x[i] <= until; ++i) value = std::max(value, series.y[i]);
  return value;
}

/// The couplers of eq. 4.15 to 4.18 stay level, so that θ4 is determined at every position.
constexpr const char* kDriven = R"toml(
[[closure]]
name = "level3"
type = "gear"
joints = ["theta2", "theta3"]
coefficients = [1, 1]
[[closure]]
name = "level5"
type = "gear"
joints = ["theta2", "theta5"]
coefficients = [1, 1]
[[closure]]
name = "motor"
type = "drive"
joint = "theta2"
value = "2*pi*sin(t)"
)toml";

/// The mechanism itself as a model of this program, by `linkwork kinematics`: how far the follower is from where it must be.
struct Driven {
  Series position{"θ4, positions solved for (rad)"}, acceleration{"θ̈4 of the same (rad/s²)"};
  Summary summary;
};

Driven driven_linkage(const StudyContext& context, double end) {
  const std::filesystem::path file = context.models / "five_bar_redundant.toml";
  Spec spec = read_model_text(read_text_file(file) + kDriven, file.string());
  spec.settings.end = end;
  spec.settings.output_every = 5e-3;
  Simulation motion = kinematic_motion(build_model(spec));
  const auto index = [&](const char* name) {
    return static_cast<std::size_t>(std::ranges::find(motion.columns(), name) - motion.columns().begin());
  };
  const std::size_t q = index("q.theta4"), a = index("a.theta4");
  Driven driven;
  Observer observer;
  observer.row = [&](std::span<const double> row) {
    const double exact = kDrive * std::sin(row[0]);
    for (Series* series : {&driven.position, &driven.acceleration}) series->x.push_back(row[0]);
    driven.position.y.push_back(std::abs(row[q] - exact));
    driven.acceleration.y.push_back(std::abs(row[a] + exact));
  };
  driven.summary = motion.run(observer);
  return driven;
}

std::string how_it_went_on(const Series& series, double end) {
  const double last = series.x.back();
  if (series.y.back() >= kGone) return fmt::format("lost after {:.2f} s", last);
  return fmt::format("{:.1e} rad within {:.0f} s", largest(series), end);
}

}  // namespace

void five_bar_kinematics(StudyContext& context, StudyResult& result) {
  context.progress("example 2: kinematics of the five-bar linkage with a redundant link");
  const double h = 1e-3, end = context.quick ? 2.0 : 10.0;
  Series error{"θ̈4 at the exact positions (rad/s²)"};
  std::ptrdiff_t redundant_rows = 5;
  for (int i = 0; i * h <= end; i += 5) {
    const State state = exact_state(i * h);
    const Orthonormal<double> rows = rows_at(state, i * h);
    redundant_rows = std::min(redundant_rows, std::count(rows.kinds.begin(), rows.kinds.end(), RowKind::kRedundant));
    error.x.push_back(i * h);
    error.y.push_back(std::abs(transposed_times(rows.A1, rows.b1)(1) + kDrive * std::sin(i * h)));
  }
  const Series by_gram_schmidt = integrated("θ4 integrated, GIGSP (rad)", Inverse::kGramSchmidt, h, end),
               by_svd = integrated("θ4 integrated, SVD (rad)", Inverse::kSvd, h, end);

  double smallest_gap = 0.0;
  for (double gap = 1.0; gap > 1e-14; gap /= 10.0) {
    const State at{0.7, 0.7, 2.0, 2.0};
    if (rows_at(at, 1.0, gap).kinds[3] != RowKind::kInconsistent) break;
    smallest_gap = gap;
  }

  const Driven driven = driven_linkage(context, end);

  Part& part = result.add_part(
      "Example 2: a five-bar linkage with a redundant link",
      "Two parallel cranks joined by two equal couplers; either coupler could be taken away. The driver is prescribed, "
      "θ2 = 2π sin t, and the follower must do the same. The rows of the second coupler repeat those of the first, single rows "
      "vanish at 0, 90, 180 and 270 degrees, and the driver passes all of them. Lengths are not printed: cranks of 1 m.\n\n"
      "Figure 4.6 shows the error of the follower. Its accelerations are computed here at the exact positions, and integrated; "
      "and the mechanism is driven as a model of this program (five_bar_redundant with a drive), positions solved for.");
  const double worst = largest(error);
  part.claims.push_back(
      {"five-bar-error", "The redundant constraint leaves an error within machine precision (fig. 4.6)",
       "\"well within the machine precision\"",
       fmt::format("θ̈4 off by at most {:.1e} rad/s², with {} of 5 rows found redundant throughout", worst, redundant_rows),
       worst < 1e-11 ? Holds::kYes : Holds::kNo, "of accelerations up to 40 rad/s²; largest where a row nearly vanishes"});
  part.claims.push_back(
      {"five-bar-integrated", "These accelerations can be integrated to velocities and positions",
       "\"can now be integrated numerically\" (example 1)",
       fmt::format("θ4 off by {:.1e} rad (GIGSP) and {:.1e} rad (SVD) within 0.4 s; later {} (GIGSP) and {} (SVD)",
                   largest(by_gram_schmidt, 0.4), largest(by_svd, 0.4), how_it_went_on(by_gram_schmidt, end),
                   how_it_went_on(by_svd, end)),
       largest(by_gram_schmidt) < 1e-10 ? Holds::kYes : Holds::kNo,
       "not for long without drift control. Where a row vanishes, GIGSP keeps what is left of it and drops its better partner, "
       "which divides errors by its length; at θ2 = 2π the driver even turns back at such a position. The least squares of the "
       "SVD mix both rows of a coupler: their drift obeys δ̈ = θ̇² δ and grows like exp θ"});
  const double off = largest(driven.position), off_acceleration = largest(driven.acceleration);
  part.claims.push_back({"five-bar-driven", "The driven linkage keeps that precision where positions are solved for",
                         "\"well within the machine precision\"",
                         fmt::format("θ4 off by {:.1e} rad, θ̈4 by {:.1e} rad/s² within {:g} s; {} rows of rank {}", off,
                                     off_acceleration, driven.position.x.back(), driven.summary.rows, driven.summary.rank),
                         driven.summary.completed && std::max(off, off_acceleration) < 1e-11 ? Holds::kYes : Holds::kNo,
                         "rows that nearly vanish divide rounding by their length"});
  part.claims.push_back({"five-bar-inconsistent", "A contradicting second coupler (eq. 4.21) is identified", "identified",
                         smallest_gap > 0.0
                             ? fmt::format("reported, by its row, down to a contradiction of {:.0e} m/s²", smallest_gap)
                             : "not reported",
                         smallest_gap > 0.0 ? Holds::kYes : Holds::kNo});
  part.figures.push_back({"Error of the follower (fig. 4.6)",
                          "time (s)",
                          "error",
                          false,
                          true,
                          {error, by_gram_schmidt, by_svd, driven.position, driven.acceleration},
                          "Where nothing is drawn the error is exactly zero; a curve ends when it exceeds 10 rad."});
}

}  // namespace linkwork::studies::generalized_inverse
