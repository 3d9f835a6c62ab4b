#include "linkwork/dynamics/manifold_projection.h"
#include "linkwork/stabilizations/catalog.h"

namespace linkwork {

namespace {

/// After each step, positions and velocities back onto the constraints by the smallest change in the mass metric. It acts as
/// soon as an error exceeds a hundredth of the constraint tolerance, so that the tolerance holds throughout.
class Projection : public Stabilization {
 public:
  explicit Projection(const Model& model) : projection_(model), good_enough_(0.01 * model.settings.constraint_tolerance) {}
  Status project(System& system, State& state) override {
    projection_.project(system, state, good_enough_);
    return {};
  }

 private:
  ManifoldProjection projection_;
  double good_enough_;
};

}  // namespace

CatalogEntry<Stabilization> projection_stabilization() {
  return {{"projection", "moves each step's result back onto the constraints, mass-weighted", "Jain2012", {}},
          [](const Model& model, const Options&) { return std::make_unique<Projection>(model); }};
}

}  // namespace linkwork
