#include <fmt/format.h>

#include <array>
#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include "studies/generalized_inverse/counted.h"
#include "studies/generalized_inverse/methods.h"
#include "studies/generalized_inverse/parts.h"
#include "studies/generalized_inverse/random_problem.h"

namespace linkwork::studies::generalized_inverse {
namespace {

/// Coefficients of n³, n²m, nm² and m³.
struct Polynomial {
  std::array<double, 4> c;

  double operator()(double n, double m) const {
    return c[0] * n * n * n + c[1] * n * n * m + c[2] * n * m * m + c[3] * m * m * m;
  }
};

/// A line of tables 4.1 and 4.2. The scan has lost most fractions: they are put back from the costs of the decompositions in the
/// footnotes, which give exactly the coefficients that can still be read.
struct Prediction {
  Method method;
  std::string name;
  Polynomial full, diagonal;
  std::string legible;  // what the scan still shows, full and diagonal M
};

const std::array<Prediction, 5>& predictions() {
  static const std::array<Prediction, 5> all{{
      {Method::kLagrange, "LM", {{1.0 / 3, 1, 1, 1.0 / 3}}, {{0, 0, 1, 1.0 / 3}}, "… + n²m + nm² + …; nm² + …"},
      {Method::kSinghLikins, "S-L", {{37.0 / 3, 3, 6, -1.0 / 3}}, {{31.0 / 3, 5, 6, -1.0 / 3}}, "…; … + 5n²m + 6nm² − …"},
      {Method::kKimVanderploeg,
       "K-V",
       {{10.0 / 3, -1, 4, -1.0 / 3}},
       {{4.0 / 3, 1, 4, -1.0 / 3}},
       "… − n²m + 4nm² + …; … + n²m + 4nm² + …"},
      {Method::kUdwadiaKalaba, "U-K, K-U", {{1.0 / 3, 1, 1, 21}}, {{0, 0, 1, 21}}, "… + n²m + nm² + 21m³; nm² + … m³"},
      {Method::kGramSchmidt, "GIGSP", {{1.0 / 3, 1, 2, 0}}, {{0, 0, 2, 0}}, "… + n²m + 2nm²; 2nm²"},
  }};
  return all;
}

std::string written(const Polynomial& polynomial) {
  static const std::array<const char*, 4> terms{"n³", "n²m", "nm²", "m³"};
  std::string text;
  for (std::size_t k = 0; k < terms.size(); ++k) {
    const double c = polynomial.c[k];
    if (c == 0.0) continue;
    const double size = std::abs(c);
    const bool whole = std::abs(size - std::round(size)) < 1e-9;
    const std::string number = whole ? (size == 1.0 ? "" : fmt::format("{:.0f}", size)) : fmt::format("({:.0f}/3)", 3 * size);
    text += (text.empty() ? (c < 0 ? "−" : "") : (c < 0 ? " − " : " + ")) + number + terms[k];
  }
  return text;
}

double counted(Method method, Index n, Index m, bool diagonal) {
  const Problem<Counted> problem = converted<Counted>(RandomProblems(7).make(n, m, diagonal));
  const long before = Counted::operations();
  solved(method, problem);
  return static_cast<double>(Counted::operations() - before);
}

struct Curves {
  std::vector<double> ratios;
  std::array<std::vector<double>, 5> predicted, measured;  // by line, in units of n³
};

Curves sweep(Index n, bool diagonal, const std::vector<double>& ratios) {
  Curves curves{ratios, {}, {}};
  const double cube = static_cast<double>(n * n * n);
  for (const double ratio : ratios) {
    const auto m = std::max<Index>(1, static_cast<Index>(std::lround(ratio * static_cast<double>(n))));
    for (std::size_t k = 0; k < predictions().size(); ++k) {
      const Prediction& line = predictions()[k];
      const Polynomial& polynomial = diagonal ? line.diagonal : line.full;
      curves.predicted[k].push_back(polynomial(static_cast<double>(n), static_cast<double>(m)) / cube);
      curves.measured[k].push_back(counted(line.method, n, m, diagonal) / cube);
    }
  }
  return curves;
}

Figure figure(const std::string& title, const Curves& curves, Index n) {
  Figure figure{title, "constraints per coordinate, m/n", "operations / n³", false, true};
  for (std::size_t k = 0; k < predictions().size(); ++k)
    figure.series.push_back(
        {predictions()[k].name, curves.ratios, curves.measured[k], SeriesStyle::kLinePoints, static_cast<int>(k)});
  for (std::size_t k = 0; k < predictions().size(); ++k)
    figure.series.push_back(
        {predictions()[k].name + ", predicted", curves.ratios, curves.predicted[k], SeriesStyle::kDashed, static_cast<int>(k)});
  figure.caption = fmt::format("Counted at n = {} (points), and the formulas of the table (dashed).", n);
  return figure;
}

std::string at_ratios(const Curves& curves, const std::function<bool(std::size_t)>& good, bool& all, bool& any) {
  std::vector<std::string> bad;
  all = true;
  any = false;
  for (std::size_t i = 0; i < curves.ratios.size(); ++i) {
    if (good(i)) {
      any = true;
      continue;
    }
    all = false;
    bad.push_back(fmt::format("{:.2g}", curves.ratios[i]));
  }
  return all ? "at every m/n" : fmt::format("except at m/n = {}", fmt::join(bad, ", "));
}

Holds verdict(bool all, bool any) { return all ? Holds::kYes : any ? Holds::kPartly : Holds::kNo; }

enum Line : std::size_t { kLm, kSl, kKv, kUk, kGigsp };

void add_claims(Part& part, const Curves& full, const Curves& diagonal) {
  bool all = false, any = false;
  const auto cheapest_is_lm = [&](const Curves& curves) {
    return [&](std::size_t i) {
      for (std::size_t k = 1; k < 5; ++k)
        if (curves.measured[k][i] < curves.measured[kLm][i]) return false;
      return true;
    };
  };
  std::string where = at_ratios(full, cheapest_is_lm(full), all, any);
  part.claims.push_back({"lm-cheapest", "The Lagrange multiplier method costs least (full M)", "fig. 4.2",
                         "counted lowest " + where, verdict(all, any),
                         "where m is small the methods that share the Cholesky factor cost the same"});

  const auto gigsp_beats = [](const Curves& curves, std::size_t other) {
    return [&curves, other](std::size_t i) { return curves.measured[kGigsp][i] < curves.measured[other][i]; };
  };
  for (const auto& [other, id] : {std::pair{kSl, "gigsp-sl"}, std::pair{kKv, "gigsp-kv"}, std::pair{kUk, "gigsp-uk"}}) {
    const double last = full.measured[other].back() / full.measured[kGigsp].back();
    where = at_ratios(full, gigsp_beats(full, other), all, any);
    part.claims.push_back(
        {id, fmt::format("GIGSP needs fewer operations than {}", studies::name_of(predictions()[other].method)),
         "\"fewer floating-point operations than other similar methods, especially as the number of constraints "
         "increases\"",
         fmt::format("fewer {}; {:.1f} times fewer at m/n = {:.2g}", where, last, full.ratios.back()), verdict(all, any),
         other == kUk ? "by the thesis' own formulas 21m³ < nm² for m/n < 1/21: with few constraints the singular "
                        "value decomposition of the small matrix is cheaper than Gram-Schmidt on its rows"
                      : ""});
  }

  const auto ratio_range = [](const Curves& curves, std::size_t k) {
    double low = 1e300, high = 0.0;
    for (std::size_t i = 0; i < curves.ratios.size(); ++i) {
      const double ratio = curves.measured[k][i] / curves.predicted[k][i];
      low = std::min(low, ratio);
      high = std::max(high, ratio);
    }
    return std::pair{low, high};
  };
  for (std::size_t k = 0; k < 5; ++k) {
    const auto [low, high] = ratio_range(full, k);
    const bool close = low > 0.85 && high<1.2, near = low> 0.5 && high < 2.0;
    static const std::array<const char*, 5> whys{
        "terms of lower order",
        "the thesis applies the cost 9n³ + 8n²m + 4nm² of the decomposition, which is that of a matrix with more "
        "rows than columns, to a wide A; decomposing Aᵀ costs 9m³ + 8nm² + 4n²m and no n³",
        "the thesis leaves out what it costs to form Q, 4(n²m − nm² + m³/3) operations",
        "two QR steps per singular value are assumed; "
        "fewer or more are needed",
        "terms of lower order"};
    part.claims.push_back({fmt::format("count-{}", std::array{"lm", "sl", "kv", "uk", "gigsp"}[k]),
                           fmt::format("Operation count of {} (full M)", studies::name_of(predictions()[k].method)),
                           written(predictions()[k].full), fmt::format("{:.2f} to {:.2f} times the formula", low, high),
                           close  ? Holds::kYes
                           : near ? Holds::kPartly
                                  : Holds::kNo,
                           whys[k]});
  }
  double lowest = 1e300;
  for (std::size_t i = 0; i < full.ratios.size(); ++i)
    lowest = std::min(lowest, full.measured[kGigsp][i] / diagonal.measured[kGigsp][i]);
  part.claims.push_back({"diagonal-cheaper", "A diagonal mass matrix reduces the cost of GIGSP significantly",
                         "table 4.2, fig. 4.3",
                         fmt::format("{:.2g} times fewer operations or better, at every m/n counted", lowest),
                         lowest > 1.3   ? Holds::kYes
                         : lowest > 1.0 ? Holds::kPartly
                                        : Holds::kNo,
                         "no Cholesky factor, no n²m"});
}

}  // namespace

void operation_counts(StudyContext& context, StudyResult& result) {
  const Index n = context.quick ? 40 : 120;
  context.progress(fmt::format("tables 4.1 and 4.2: operations counted at n = {}", n));
  const std::vector<double> ratios{0.025, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9};
  const Curves full = sweep(n, false, ratios), diagonal = sweep(n, true, ratios);

  Part& part = result.add_part(
      "Tables 4.1 and 4.2, figures 4.2 and 4.3: operation counts",
      "Each method computes the accelerations of a random system with numbers that count every addition, multiplication, "
      "division "
      "and root. The algorithms are those the thesis names: Cholesky, LU, Golub-Reinsch SVD, Gram-Schmidt; for the QR "
      "decomposition "
      "reflections instead of fast Givens rotations, at the same cost.\n\n"
      "The scan of the thesis has lost most fractions of the published formulas. They are put back here from the costs of the "
      "decompositions in its footnotes (n³/3 for Cholesky, 2n³/3 for LU, 2m²(n − m/3) for QR, 9n³ + 8n²m + 4nm² for the SVD), "
      "which "
      "reproduce every coefficient that can still be read.");
  Table table{"Published formulas", {"method", "full M", "diagonal M", "legible in the scan"}};
  for (const Prediction& line : predictions())
    table.rows.push_back({line.name, written(line.full), written(line.diagonal), line.legible});
  table.caption = "The term m³ of K-V is legible only by its sign, which is not that of the reconstruction; it counts little.";
  part.tables.push_back(std::move(table));
  Table counts{fmt::format("Counted operations / n³ at n = {}, beside the formulas", n), {"m/n"}};
  for (const char* kind : {"full M", "diagonal M"})
    for (const Prediction& line : predictions()) counts.columns.push_back(fmt::format("{}, {}", line.name, kind));
  for (const std::size_t i : {0UL, 2UL, 4UL, 6UL, 8UL, 10UL}) {
    std::vector<Cell> row{fmt::format("{:.3g}", ratios[i])};
    for (const Curves* curves : {&full, &diagonal})
      for (std::size_t k = 0; k < 5; ++k)
        row.emplace_back(fmt::format("{:.3g} ({:.3g})", curves->measured[k][i], curves->predicted[k][i]));
    counts.rows.push_back(std::move(row));
  }
  part.tables.push_back(std::move(counts));
  part.figures.push_back(figure("Full mass matrix (fig. 4.2)", full, n));
  part.figures.push_back(figure("Diagonal mass matrix (fig. 4.3)", diagonal, n));
  add_claims(part, full, diagonal);
}

}  // namespace linkwork::studies::generalized_inverse
