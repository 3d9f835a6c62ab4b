#include <fmt/format.h>

#include <Eigen/Dense>
#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <string>
#include <vector>

#include "studies/generalized_inverse/methods.h"
#include "studies/generalized_inverse/parts.h"
#include "studies/generalized_inverse/random_problem.h"

namespace linkwork::studies::generalized_inverse {
namespace {

enum class Rows { kIndependent, kRedundant, kDegenerate, kInconsistent };

constexpr std::array kRows{Rows::kIndependent, Rows::kRedundant, Rows::kDegenerate, Rows::kInconsistent};
constexpr std::array kMethods{Method::kLagrangeFull,   Method::kLagrange,      Method::kSinghLikins,
                              Method::kKimVanderploeg, Method::kUdwadiaKalaba, Method::kGramSchmidt};
constexpr Index kCoordinates = 8, kIndependentRows = 3, kExtraRows = 2;
constexpr double kRight = 1e-8;  // relative error of accelerations that count as right

std::string name_of(Rows rows) {
  switch (rows) {
    case Rows::kIndependent:
      return "independent";
    case Rows::kRedundant:
      return "redundant";
    case Rows::kDegenerate:
      return "degenerate";
    case Rows::kInconsistent:
      return "inconsistent";
  }
  return {};
}

/// The accelerations that the independent rows alone give, in higher precision and by another way than any method compared.
VectorOf<double> exact(const Problem<double>& problem) {
  using Long = Eigen::Matrix<long double, Eigen::Dynamic, Eigen::Dynamic>;
  const Index n = problem.M.rows(), m = problem.A.rows();
  Long K = Long::Zero(n + m, n + m), right(n + m, 1);
  K.topLeftCorner(n, n) = problem.M.cast<long double>();
  K.bottomLeftCorner(m, n) = problem.A.cast<long double>();
  K.topRightCorner(n, m) = K.bottomLeftCorner(m, n).transpose();
  right << problem.f.cast<long double>(), problem.b.cast<long double>();
  const Long x = K.fullPivLu().solve(right);
  return x.topRows(n).cast<double>();
}

/// Rows added to a good problem. Combinations of the others, or rows of zeros; in any order.
Problem<double> with_rows(const Problem<double>& good, Rows rows, RandomProblems& random) {
  if (rows == Rows::kIndependent) return good;
  const Index m = good.A.rows() + kExtraRows;
  Problem<double> problem = good;
  problem.A.conservativeResize(m, Eigen::NoChange);
  problem.b.conservativeResize(m);
  for (Index i = good.A.rows(); i < m; ++i) {
    const VectorOf<double> weights =
        VectorOf<double>::NullaryExpr(good.A.rows(), [&] { return rows == Rows::kDegenerate ? 0.0 : random.number(); });
    problem.A.row(i) = weights.transpose() * good.A;
    problem.b(i) = weights.dot(good.b) + (rows == Rows::kInconsistent ? 0.5 + std::abs(random.number()) : 0.0);
  }
  for (Index i = m - 1; i > 0; --i) {
    const Index other = std::min<Index>(i, static_cast<Index>((0.5 + 0.5 * random.number()) * static_cast<double>(i + 1)));
    problem.A.row(i).swap(problem.A.row(other));
    std::swap(problem.b(i), problem.b(other));
  }
  return problem;
}

struct Tally {
  int right = 0, wrong = 0, failed = 0, reported = 0;

  int all() const { return right + wrong + failed + reported; }
};

/// For inconsistent rows no acceleration is right: whatever is answered without a word counts as wrong.
void judge(Tally& tally, const Answer<double>& answer, const VectorOf<double>& expected, Rows rows) {
  if (answer.outcome == Outcome::kReported)
    ++tally.reported;
  else if (answer.outcome == Outcome::kFailed || !answer.a.allFinite())
    ++tally.failed;
  else if (rows != Rows::kInconsistent && (answer.a - expected).norm() <= kRight * (1.0 + expected.norm()))
    ++tally.right;
  else
    ++tally.wrong;
}

std::string described(const Tally& tally) {
  std::vector<std::string> parts;
  const auto add = [&](int count, const char* what) {
    if (count == tally.all())
      parts.push_back(fmt::format("{} in all {}", what, count));
    else if (count > 0)
      parts.push_back(fmt::format("{} in {} of {}", what, count, tally.all()));
  };
  add(tally.right, "right");
  add(tally.wrong, "wrong without a word");
  add(tally.failed, "fails");
  add(tally.reported, "reports");
  return fmt::format("{}", fmt::join(parts, ", "));
}

using Tallies = std::map<std::pair<Method, Rows>, Tally>;

Tallies trials(int count) {
  RandomProblems random(20);
  Tallies tallies;
  for (int trial = 0; trial < count; ++trial) {
    const Problem<double> good = random.make(kCoordinates, kIndependentRows);
    const VectorOf<double> expected = exact(good);
    for (const Rows rows : kRows) {
      const Problem<double> problem = with_rows(good, rows, random);
      for (const Method method : kMethods) judge(tallies[{method, rows}], solved(method, problem), expected, rows);
    }
  }
  return tallies;
}

Holds share_holds(int agreeing, int all) { return agreeing == all ? Holds::kYes : agreeing > 0 ? Holds::kPartly : Holds::kNo; }

}  // namespace

void dependent_rows(StudyContext& context, StudyResult& result) {
  const int count = context.quick ? 60 : 600;
  context.progress(fmt::format("table 2.1: six methods on {} random systems with dependent rows", count));
  const Tallies tallies = trials(count);
  const auto tally = [&](Method method, Rows rows) { return tallies.at({method, rows}); };

  Part& part = result.add_part(
      "Table 2.1: dependent and contradicting rows",
      fmt::format(
          "Random systems of {} coordinates with {} independent constraint rows; {} rows are added which are combinations of "
          "the others (redundant), vanish (degenerate), or ask for something else than the rows they combine "
          "(inconsistent), in any order. An acceleration is right if it agrees with that of the independent rows alone, "
          "solved in extended precision, to {:.0e}.",
          kCoordinates, kIndependentRows, kExtraRows, kRight));
  Table table{"What each method does", {"method"}};
  for (const Rows rows : kRows) table.columns.push_back(name_of(rows));
  for (const Method method : kMethods) {
    std::vector<Cell> row{studies::name_of(method)};
    for (const Rows rows : kRows) row.emplace_back(described(tally(method, rows)));
    table.rows.push_back(std::move(row));
  }
  table.caption =
      "The thesis compares three rows of this table: regular inverse, generalized inverse by SVD (Udwadia-Kalaba), and GIGSP.";
  part.tables.push_back(std::move(table));

  int independent = 0, independent_all = 0;
  for (const Method method : kMethods) {
    independent += tally(method, Rows::kIndependent).right;
    independent_all += tally(method, Rows::kIndependent).all();
  }
  part.claims.push_back({"full-rank", "With independent rows every method is right", "right (three methods)",
                         fmt::format("right in {} of {} solutions of six methods", independent, independent_all),
                         share_holds(independent, independent_all)});

  const Tally regular = tally(Method::kLagrange, Rows::kRedundant), full = tally(Method::kLagrangeFull, Rows::kRedundant);
  const Tally zero = tally(Method::kLagrange, Rows::kDegenerate), full_zero = tally(Method::kLagrangeFull, Rows::kDegenerate);
  part.claims.push_back(
      {"regular-inverse-redundant", "The regular inverse fails on redundant rows", "fails: the program crashes",
       fmt::format("A M⁻¹Aᵀ: {}; augmented matrix: {}", described(regular), described(full)),
       share_holds(regular.failed + full.failed, regular.all() + full.all()),
       "rounding turns the zero pivot into a tiny one, so elimination goes on: sometimes to the right accelerations, sometimes "
       "to wrong ones, with no sign of trouble. The rank has to be tested; waiting for a failure is not enough"});
  part.claims.push_back(
      {"regular-inverse-degenerate", "The regular inverse fails on rows that vanish", "fails: the program crashes",
       fmt::format("A M⁻¹Aᵀ: {}; augmented matrix: {}", described(zero), described(full_zero)),
       share_holds(zero.failed + full_zero.failed, zero.all() + full_zero.all()), "an exact zero row gives an exact zero pivot"});
  const Tally regular_bad = tally(Method::kLagrange, Rows::kInconsistent),
              full_bad = tally(Method::kLagrangeFull, Rows::kInconsistent);
  part.claims.push_back(
      {"regular-inverse-inconsistent", "The regular inverse fails on inconsistent rows", "fails",
       fmt::format("A M⁻¹Aᵀ: {}; augmented matrix: {}", described(regular_bad), described(full_bad)),
       share_holds(regular_bad.failed + full_bad.failed, regular_bad.all() + full_bad.all()),
       "the same tiny pivots: a program that does not test the rank may answer with huge or plausible numbers"});
  const Tally svd = tally(Method::kUdwadiaKalaba, Rows::kRedundant), svd_zero = tally(Method::kUdwadiaKalaba, Rows::kDegenerate);
  part.claims.push_back({"svd-dependent", "The generalized inverse by SVD is right on redundant and degenerate rows", "right",
                         fmt::format("redundant: {}; degenerate: {}", described(svd), described(svd_zero)),
                         share_holds(svd.right + svd_zero.right, svd.all() + svd_zero.all())});
  const Tally svd_bad = tally(Method::kUdwadiaKalaba, Rows::kInconsistent);
  part.claims.push_back({"svd-inconsistent", "On inconsistent rows it gives a wrong answer without saying so", "wrong",
                         described(svd_bad), share_holds(svd_bad.wrong, svd_bad.all())});
  const Tally gs = tally(Method::kGramSchmidt, Rows::kRedundant), gs_zero = tally(Method::kGramSchmidt, Rows::kDegenerate);
  part.claims.push_back({"gigsp-dependent", "GIGSP is right on redundant and degenerate rows", "right",
                         fmt::format("redundant: {}; degenerate: {}", described(gs), described(gs_zero)),
                         share_holds(gs.right + gs_zero.right, gs.all() + gs_zero.all())});
  const Tally gs_bad = tally(Method::kGramSchmidt, Rows::kInconsistent);
  part.claims.push_back({"gigsp-inconsistent", "GIGSP reports inconsistent rows", "reports", described(gs_bad),
                         share_holds(gs_bad.reported, gs_bad.all())});
  const Tally qr = tally(Method::kKimVanderploeg, Rows::kRedundant), sl = tally(Method::kSinghLikins, Rows::kRedundant);
  part.claims.push_back(
      {"null-space-methods", "SVD and QR decompositions handle singularities (Singh-Likins, Kim-Vanderploeg; section 2.1)",
       "QR \"without losing the advantage of handling the cases when singularities occur\"",
       fmt::format("on redundant rows, SVD: {}; QR: {}", described(sl), described(qr)),
       share_holds(sl.right + qr.right, sl.all() + qr.all()),
       "QR as written divides by A Q1, which is singular when rows depend on one another; it needs column pivoting and a rank "
       "decision (formulation nullspace-qr)"});
}

}  // namespace linkwork::studies::generalized_inverse
