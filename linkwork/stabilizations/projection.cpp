#include <fmt/format.h>

#include <cmath>

#include "linkwork/dynamics/manifold_projection.h"
#include "linkwork/stabilizations/catalog.h"

namespace linkwork {

namespace {

/// After each step, positions and velocities back onto the constraints by the smallest change in the mass metric. It acts as
/// soon as an error exceeds a hundredth of the constraint tolerance, so that the tolerance holds throughout; where it cannot, the
/// run stops.
class Projection : public Stabilization {
 public:
  explicit Projection(const Model& model)
      : projection_(model), tolerance_(model.settings.constraint_tolerance), good_enough_(0.01 * tolerance_) {}
  Status project(System& system, State& state) override {
    projection_.project(system, state, good_enough_);
    const VecX<double>& phi = system.terms().phi;
    Eigen::Index worst = 0;
    if (phi.size() == 0 || phi.cwiseAbs().maxCoeff(&worst) <= tolerance_) return {};
    return {
        fmt::format("the constraints cannot all be met: closure '{}' is off by {:.3g}; they contradict one another, or the "
                    "mechanism has come to the end of its reach",
                    system.model().rows[static_cast<std::size_t>(worst)].closure, std::abs(phi[worst]))};
  }

 private:
  ManifoldProjection projection_;
  double tolerance_;
  double good_enough_;
};

}  // namespace

CatalogEntry<Stabilization> projection_stabilization() {
  return {{"projection", "moves each step's result back onto the constraints, mass-weighted", "Jain2012", {}},
          [](const Model& model, const Options&) { return std::make_unique<Projection>(model); }};
}

}  // namespace linkwork
