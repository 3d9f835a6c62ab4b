#include <algorithm>

#include "linkwork/dynamics/partitioned_solution.h"
#include "linkwork/formulations/catalog.h"

namespace linkwork {

namespace {

/// Method B of [Khan2006], section 4.2. The state is (q, v_i); velocities are split into dependent and independent ones and
/// satisfy the constraints with a feedback of their error, so that phi decays like exp(-sigma t):
/// (1)  A v = u - sigma phi,  v_d = A_d^-1 (u - sigma phi - A_i v_i)
/// Accelerations follow from the derivative of (1), A vdot = b - sigma (A v - u), so no derivative of S is needed: see
/// partitioned_solution.h.
class VelocityPartition : public Formulation {
 public:
  VelocityPartition(const Model& model, double sigma)
      : sigma_(sigma), split_(model), v_d_(VecX<double>::Zero(model.row_count())), b_(v_d_) {}

  Status prepare(System& system, State& state) override {
    system.update(state);
    split_.update(system);
    CoordinatePartition& partition = split_.partition();
    const int r = partition.rank().rank;
    if (r == 0) return {};
    for (int k = 0; k < r; ++k) {
      const int row = partition.rows()[static_cast<std::size_t>(k)];
      v_d_[k] = system.terms().rate[row] + sigma_ * beyond_rounding(system.terms().phi[row], system.model().units.row[row]);
    }
    partition.solve(v_d_);
    for (int k = 0; k < r; ++k) state.v[split_.column(k)] -= v_d_[k];  // (1)
    system.update(state);
    return {};
  }

  Status solve(System& system, Solution& solution) override {
    b_ = system.terms().b - sigma_ * system.terms().rate;
    return split_.solve(system, b_, "projection", solution);
  }

  void forget() override { split_.partition().forget(); }

 private:
  /// Positions are known to rounding only: of that, sigma would make accelerations.
  static double beyond_rounding(double phi, double unit) {
    const double rounding = 1e-13 * unit;
    return phi - std::clamp(phi, -rounding, rounding);
  }

  double sigma_;
  PartitionedSolution split_;
  VecX<double> v_d_, b_;
};

}  // namespace

CatalogEntry<Formulation> projection_formulation() {
  return {
      {"projection",
       "independent velocities only; the others follow from the constraints, whose error decays",
       "Khan2006",
       {{"sigma", 30.0, "decay of the constraint error, 1/s; must stay below about 2.5 divided by the step", numbers_from(0.0)}}},
      [](const Model& model, const Options& options) { return std::make_unique<VelocityPartition>(model, options.at("sigma")); }};
}

}  // namespace linkwork
