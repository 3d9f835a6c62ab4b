#include "linkwork/dynamics/manifold_projection.h"
#include "linkwork/stabilizations/catalog.h"

namespace linkwork {

namespace {

/// vdot <- vdot - M^-1 A' (A M^-1 A')^+ (A vdot - b), [Wu1997] eq. 2.54-2.56. Nothing changes where the formulation is exact; it
/// makes up for one that solves the constraints approximately, as with an old generalized inverse. With any weight but M the
/// result would satisfy the constraints and not the equations of motion.
class AccelerationProjection : public Stabilization {
 public:
  explicit AccelerationProjection(const Model& model) : rows_(model.row_count()), projection_(model) {}
  void correct(System& system, Solution& solution) override {
    if (rows_ > 0) projection_.correct_acceleration(system, solution.vdot, solution.lambda);
  }

 private:
  int rows_;
  ManifoldProjection projection_;
};

}  // namespace

CatalogEntry<Stabilization> acceleration_stabilization() {
  return {{"acceleration", "moves accelerations onto the constraints; for formulations that are not exact", "Wu1997", {}},
          [](const Model& model, const Options&) { return std::make_unique<AccelerationProjection>(model); }};
}

}  // namespace linkwork
