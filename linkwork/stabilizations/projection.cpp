#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "linkwork/dynamics/manifold_projection.h"
#include "linkwork/stabilizations/catalog.h"

namespace linkwork {

namespace {

enum class Levels { kPosition, kVelocity, kBoth };

/// After each step, positions, velocities or both back onto the constraints by the smallest change in a metric. It acts as soon
/// as an error exceeds a hundredth of the constraint tolerance, so that the tolerance holds throughout, or of rtol, so that error
/// control does not take its jumps for the motion; where positions cannot be met, the run stops.
class Projection : public Stabilization {
 public:
  Projection(const Model& model, Levels levels, Metric metric)
      : levels_(levels),
        projection_(model, metric),
        tolerance_(model.settings.constraint_tolerance),
        good_enough_(0.01 * std::min(tolerance_, model.settings.rtol)),
        rounding_(model.rows.empty() ? 0.0 : kRounding * model.units.row.cwiseQuotient(model.units.tolerance).maxCoeff()) {}

  Status project(System& system, State& state, bool closely) override {
    const double good_enough = closely ? rounding_ : good_enough_;
    if (levels_ == Levels::kVelocity) {
      system.update(state);
    } else {
      projection_.project_position(system, state, good_enough);
      if (Status status = check(system); !status.ok()) return status;
    }
    if (levels_ != Levels::kPosition) projection_.project_velocity(system, state, good_enough);
    return {};
  }

 private:
  Status check(const System& system) const {
    const VecX<double>& phi = system.terms().phi;
    if (system.model().largest_error(phi) <= tolerance_) return {};
    Eigen::Index worst = 0;
    phi.cwiseAbs().cwiseQuotient(system.model().units.tolerance).maxCoeff(&worst);
    return {
        fmt::format("the constraints cannot all be met: closure '{}' is off by {:.3g}; they contradict one another, or the "
                    "mechanism has come to the end of its reach",
                    system.model().rows[static_cast<std::size_t>(worst)].closure, std::abs(phi[worst]))};
  }

  static constexpr double kRounding = 1e-15;  // of a row's unit: where a row nearly vanishes, states moved by it would be worse

  Levels levels_;
  ManifoldProjection projection_;
  double tolerance_;
  double good_enough_;
  double rounding_;
};

CatalogEntry<Stabilization> entry(std::string name, std::string summary, Levels levels, Stabilization::Traits traits) {
  return {{std::move(name),
           std::move(summary),
           "Wu1997",
           {{"mass", 1.0, "weight of the smallest change: 1 the mass matrix, 0 none", kYesOrNo}}},
          [levels](const Model& model, const Options& options) {
            return std::make_unique<Projection>(model, levels, options.at("mass") != 0.0 ? Metric::kMass : Metric::kIdentity);
          },
          traits};
}

}  // namespace

CatalogEntry<Stabilization> projection_stabilization() {
  return entry("projection", "moves each step's result back onto the constraints, positions and velocities", Levels::kBoth,
               {.holds_positions = true, .holds_velocities = true});
}

CatalogEntry<Stabilization> position_stabilization() {
  return entry("position", "moves each step's positions back onto the constraints, velocities are left", Levels::kPosition,
               {.holds_positions = true});
}

CatalogEntry<Stabilization> velocity_stabilization() {
  return entry("velocity", "moves each step's velocities back onto the constraints, positions are left", Levels::kVelocity,
               {.holds_velocities = true});
}

}  // namespace linkwork
