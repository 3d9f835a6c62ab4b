#include <cmath>
#include <limits>
#include <optional>

#include "linkwork/formulations/catalog.h"
#include "linkwork/formulations/given_multipliers.h"

namespace linkwork {

namespace {

/// lambda = -(K phi + D (A v - u)): a spring and a damper in place of each constraint row, [Khan2006] section 4.1. The
/// constraints hold approximately; the springs' and dampers' power is accounted for, so that the energy balance closes all the
/// same.
class Compliance : public Formulation {
 public:
  Compliance(const Model& model, double stiffness, std::optional<double> damping)
      : stiffness_(model.row_count()), damping_(model.row_count()) {
    for (int i = 0; i < model.row_count(); ++i) {
      const ComplianceSpec& own = model.rows[static_cast<std::size_t>(i)].compliance;
      stiffness_[i] = own.stiffness.value_or(stiffness);
      damping_[i] = own.damping.value_or(damping.value_or(0.6 * std::sqrt(stiffness_[i])));
    }
  }

  Status solve(System& system, Solution& solution) override {
    const ConstraintTerms& terms = system.terms();
    solution.lambda = -stiffness_.cwiseProduct(terms.phi) - damping_.cwiseProduct(terms.rate);
    solution.virtual_power = solution.lambda.dot(terms.rate);
    if (Status status = accelerate(system, solution.lambda, "compliance", solution.vdot); !status.ok()) return status;
    if (!rank_) rank_ = constraint_rank(system);
    solution.rank = *rank_;
    return {};
  }

  void forget() override { rank_.reset(); }

 private:
  VecX<double> stiffness_, damping_;
  std::optional<Rank> rank_;  // at the first state: nothing here depends on it, the number of degrees of freedom is reported
};

}  // namespace

CatalogEntry<Formulation> compliance_formulation() {
  return {{"compliance",
           "virtual springs and dampers in place of the constraints, which then hold approximately",
           "Khan2006",
           {{"stiffness", 1e6, "of the springs, for closures that have none of their own", numbers_from(0.0)},
            {"damping", std::numeric_limits<double>::quiet_NaN(), "of the dampers; default 0.6 times the root of the stiffness",
             numbers_from(0.0)}}},
          [](const Model& model, const Options& options) {
            const double damping = options.at("damping");
            return std::make_unique<Compliance>(model, options.at("stiffness"),
                                                std::isnan(damping) ? std::nullopt : std::optional(damping));
          },
          {.exact = false, .lives_on_errors = true}};
}

}  // namespace linkwork
