#include "linkwork/dynamics/manifold_projection.h"
#include "linkwork/stabilizations/catalog.h"

namespace linkwork {

namespace {

/// Post-stabilization of [Ascher1994] as [Kasper] step 7 has it, whatever the errors are:
/// (1)  q <- q - A' (A A')^+ phi
/// (2)  v <- v - A' (A A')^+ (A v - u), with A at the new q
/// Done in this order; with both at the old q the velocities keep an error of the first order in the change of q.
class PostStabilization : public Stabilization {
 public:
  PostStabilization(const Model& model, int times, Metric metric)
      : rows_(model.row_count()), times_(times), projection_(model, metric) {}

  Status project(System& system, State& state, bool /*closely*/) override {
    if (rows_ == 0) return {};
    for (int i = 0; i < times_; ++i) {
      system.update(state);
      projection_.correct_position(system, state);  // (1)
      system.update(state);
      projection_.correct_velocity(system, state);  // (2)
    }
    return {};
  }

 private:
  int rows_;
  int times_;
  ManifoldProjection projection_;
};

}  // namespace

CatalogEntry<Stabilization> post_stabilization() {
  return {{"post",
           "corrects positions, then velocities, a fixed number of times after each step",
           "Ascher1994",
           {{"times", 2.0, "corrections per step", whole_numbers(1.0, 1e6)},
            {"mass", 0.0, "weight of the smallest change: 1 the mass matrix, 0 none", kYesOrNo}}},
          [](const Model& model, const Options& options) {
            return std::make_unique<PostStabilization>(model, static_cast<int>(options.at("times")),
                                                       options.at("mass") != 0.0 ? Metric::kMass : Metric::kIdentity);
          },
          {.holds_positions = true, .holds_velocities = true}};
}

}  // namespace linkwork
