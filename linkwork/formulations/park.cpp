#include <optional>

#include "linkwork/formulations/catalog.h"
#include "linkwork/formulations/given_multipliers.h"

namespace linkwork {

namespace {

/// The multipliers are part of the state and integrated with the motion, [Park1988], [Tseng2001] eq. 11:
/// (1)  epsilon lambda' = -(A v - u)
/// (2)  epsilon lambda' = b - A vdot         damped: since A vdot = A a_f + A M^-1 A' lambda, lambda decays to its exact value
/// (1) is only neutrally stable, a spring of stiffness 1/epsilon without a damper, so lambda starts exact. Steps must resolve the
/// spring's oscillation in (1), the decay, epsilon times the mass that the constraint sees, in (2).
class Park : public Formulation {
 public:
  Park(const Model& model, double epsilon, bool damped)
      : rows_(model.row_count()),
        states_(static_cast<Eigen::Index>(model.states.size())),
        epsilon_(epsilon),
        damped_(damped),
        exact_(schur_formulation().make(model, {})),
        exact_solution_(model) {}

  void start(System& system, State& state) override {
    system.update(state);
    system.update_forces();
    exact_->solve(system, exact_solution_);
    state.z.conservativeResize(states_ + rows_);
    state.z.tail(rows_) = exact_solution_.lambda;
  }

  Status prepare(System& system, State& state) override {
    if (state.z.size() != states_ + rows_) start(system, state);
    system.update(state);
    return {};
  }

  Status solve(System& system, Solution& solution) override {
    const ConstraintTerms& terms = system.terms();
    solution.lambda = system.state().z.tail(rows_);
    solution.virtual_power = solution.lambda.dot(terms.rate);
    if (Status status = accelerate(system, solution.lambda, "park", solution.vdot); !status.ok()) return status;
    if (damped_) {
      solution.zdot = terms.b;
      solution.zdot.noalias() -= system.jacobian() * solution.vdot;  // (2)
      solution.zdot /= epsilon_;
    } else {
      solution.zdot = terms.rate / -epsilon_;  // (1)
    }
    if (!rank_) rank_ = constraint_rank(system);
    solution.rank = *rank_;
    return {};
  }

 private:
  int rows_;
  Eigen::Index states_;  // of the user, before its own
  double epsilon_;
  bool damped_;
  std::unique_ptr<Formulation> exact_;
  Solution exact_solution_;
  std::optional<Rank> rank_;  // at the first state
};

}  // namespace

CatalogEntry<Formulation> park_formulation() {
  return {{"park",
           "multipliers integrated with the motion, driven by the error of the velocities",
           "Park1988",
           {{"epsilon", 0.0, "penalty; 0: 1e-5, the compliance of a spring, m/N; damped 1e-2, a time per mass, s/kg",
             numbers_from(0.0)},
            {"damped", 0.0, "1: driven by the error of the accelerations, with decay", kYesOrNo}}},
          [](const Model& model, const Options& options) {
            const bool damped = options.at("damped") != 0.0;
            const double epsilon = options.at("epsilon");
            return std::make_unique<Park>(model, epsilon > 0.0 ? epsilon : (damped ? 1e-2 : 1e-5), damped);
          },
          {.exact = false}};
}

}  // namespace linkwork
