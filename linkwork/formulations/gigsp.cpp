#include "linkwork/linalg/gigsp.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>

#include "linkwork/formulations/catalog.h"
#include "linkwork/formulations/dense_terms.h"
#include "linkwork/transport/threaded_gram_schmidt.h"

namespace linkwork {

namespace {

constexpr const char* kMethod = "gigsp";

/// From so many rows on (2) goes in blocks, which then is quicker also on one thread. The number of threads does not enter: it
/// must not show in the result.
constexpr int kRowsForBlocks = 150;

/// (1)  M = L L', a_f = M^-1 (tau - c)
/// (2)  Gram-Schmidt on the rows of A L^-T: the generalized inverse, see linalg/gigsp.h
/// (3)  vdot = a_f + L^-T A1' b1,  R b1 = b - A a_f,  R' lambda = b1
/// [Arabyan1998]. Of dependent rows the later ones get lambda = 0, and where rows contradict one another the earlier ones are
/// met. With reuse = k > 1, L and (2) are kept for k steps of the settings, while a_f, A and b are those of the state: an error
/// of first order in the age, which needs drift control at the acceleration level or Baumgarte's.
class GigspFormulation : public Formulation {
 public:
  GigspFormulation(const Model& model, double steps, double tolerance, bool force, int threads)
      : m_(model.row_count()), tolerance_(tolerance), reuse_(steps > 1.0), keep_for_(steps * model.settings.step) {
    if (m_ >= kRowsForBlocks) blocks_ = std::make_unique<ThreadedGramSchmidt>(threads);
    for (const ConstraintRow& row : model.rows)
      if (reuse_ && !force && !row.holonomic)
        throw InputError({},
                         fmt::format("formulation 'gigsp' cannot reuse an inverse with '{}': that constrains velocities, "
                                     "whose errors do not show how far the motion is off",
                                     row.closure),
                         "reuse=1, or force=1 for a motion that is off to first order in the inverse's age");
  }

  Status solve(System& system, Solution& solution) override {
    if (Status status = terms_.update_factored(system, kMethod); !status.ok()) return status;
    solution.vdot = terms_.force();
    terms_.mass().solveInPlace(solution.vdot);  // (1)
    if (m_ == 0) return terms_.verify(system, kMethod, solution);
    if (must_refresh(system.state().t)) refresh(system.state().t);
    solution.lambda.setZero();
    for (int pass = 0; pass < (reuse_ ? 1 : 2); ++pass) {  // the second time takes back what rounding did
      rhs_ = terms_.b();
      rhs_.noalias() -= terms_.A() * solution.vdot;
      inverse_.carry(rhs_);
      if (pass == 0) solution.inconsistency = inverse_.inconsistency().cwiseAbs().maxCoeff();
      y_.setZero(solution.vdot.size());
      inverse_.add_solution(y_);
      (reuse_ ? kept_mass_ : terms_.mass()).matrixU().solveInPlace(y_);
      solution.vdot += y_;  // (3)
      inverse_.multipliers(added_);
      solution.lambda += added_;
    }
    solution.rank = inverse_.rank();
    std::ranges::copy(inverse_.dependent(), solution.dependent.begin());
    if (reuse_ || tolerance_ != kRankTolerance) return {};
    by_geometry_.resize(solution.dependent.size());
    if (const int rank = terms_.decide_rank(system, by_geometry_).rank; rank != solution.rank.rank)
      return {
          fmt::format("formulation 'gigsp' finds {} independent rows by their effect on the masses, where the geometry has {}; "
                      "use 'schur'",
                      solution.rank.rank, rank)};
    return terms_.verify(system, kMethod, solution);
  }

  void forget() override { refreshed_ = std::numeric_limits<double>::infinity(); }

 private:
  /// Also when time has gone back: a rejected step, or another run.
  bool must_refresh(double t) const {
    constexpr double kRounding = 1e-9;
    return !reuse_ || t < refreshed_ || t - refreshed_ > keep_for_ * (1.0 - kRounding);
  }

  void refresh(double t) {
    rows_ = terms_.A().transpose();
    orthogonalize();
    if (!reuse_) return;
    kept_mass_ = terms_.mass();
    refreshed_ = t;
  }

  /// (2)
  void orthogonalize() {
    if (blocks_) return blocks_->factor(terms_.mass().matrixLLT(), rows_, terms_.scales(), tolerance_, inverse_.factors());
    terms_.mass().matrixL().solveInPlace(rows_);
    inverse_.factor(rows_, terms_.scales(), tolerance_);
  }

  int m_;
  double tolerance_;
  bool reuse_;
  double keep_for_;  // s
  double refreshed_ = std::numeric_limits<double>::infinity();
  DenseTerms terms_;
  Gigsp inverse_;
  std::unique_ptr<ThreadedGramSchmidt> blocks_;  // null below kRowsForBlocks
  Eigen::LLT<MatX<double>> kept_mass_;
  MatX<double> rows_;
  VecX<double> rhs_, y_, added_;
  std::vector<char> by_geometry_;
};

}  // namespace

CatalogEntry<Formulation> gigsp_formulation() {
  return {
      {kMethod,
       "generalized inverse by the Gram-Schmidt process; tells redundant rows from inconsistent ones",
       "Arabyan1998",
       {{"reuse", 1.0, "steps for which a generalized inverse is used; above 1 it is approximate and needs drift control",
         whole_numbers(1.0)},
        {"force", 0.0, "1: reuse also with constraints on velocities, whose errors do not show how far the motion is off",
         kYesOrNo},
        {"threads", 1.0, "threads that share the work where there are at least 150 constraint rows", whole_numbers(1.0, 256.0)},
        {"tolerance", kRankTolerance, "squared length, relative to its scale, below which a row counts as dependent",
         numbers_between(1e-20, 1e-2)}}},
      [](const Model& model, const Options& options) {
        return std::make_unique<GigspFormulation>(model, options.at("reuse"), options.at("tolerance"), options.at("force") > 0.0,
                                                  static_cast<int>(options.at("threads")));
      }};
}

}  // namespace linkwork
