#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "linkwork/analysis/evaluator.h"
#include "linkwork/analysis/variation.h"
#include "linkwork/dynamics/acceleration_derivatives.h"
#include "linkwork/integrators/tableau.h"

namespace linkwork {

/// A step of a run in which nothing happened.
struct SmoothStep {
  State from, to;
  Modes modes;
  std::vector<double> memory;  // System::memory() at its start
};

/// Steps of the variational equations: y = (q, v, z) as it is integrated, quaternions in four numbers, and Y = dy/dp, a column
/// per variation; or, backward, L = d(measures)/dy, a row per measure.
class SensitivitySteps {
 public:
  SensitivitySteps(std::shared_ptr<const Model> model, const std::vector<Variation>& variations, const Tableau& tableau);

  Eigen::Index size() const { return nq_ + nv_ + nz_; }
  Eigen::Index columns() const { return std::ssize(variations_); }

  /// Y at the start of the run: of the assembled starts.
  MatX<double> start(const State& at);
  MatX<double> forward(const SmoothStep& step, const MatX<double>& Y);
  /// L at the start of the step, from that at its end; adds to the derivatives of measures by variations.
  MatX<double> backward(const SmoothStep& step, const MatX<double>& L, MatX<double>& derivatives);
  /// A number at a state, its gradient by y, and by the variations at constant y.
  struct Reading {
    double value = 0.0;
    Eigen::RowVectorXd by_y, by_variation;
  };
  Reading read(const Variable& variable, const State& state, const Modes& modes, const std::vector<double>& memory);
  /// Displacements (q on the manifold, v, z) of y, and back.
  MatX<double> to_displacements(const State& at, const MatX<double>& Y) const { return flattening(at) * Y; }
  MatX<double> to_numbers(const State& at, const MatX<double>& X) const { return lifting(at) * X; }
  VecX<double> difference(const State& from, const State& to) const;
  State moved(const State& from, const VecX<double>& displacement) const;
  /// Orthonormal displacements that the constraints in force allow, and the least ones that variations ask for.
  struct Allowed {
    MatX<double> directions, of_variations;
  };
  Allowed allowed(const State& state, const Modes& modes, const std::vector<double>& memory);

 private:
  struct Stage {
    State state;
    VecX<double> rates;      // of y
    MatX<double> by_y;       // of the rates
    MatX<double> by_number;  // by variations; only forward
  };
  void evaluate(const State& state, const Modes& modes, const std::vector<double>& memory);
  void differentiate(Stage& stage, bool with_variations);
  struct Residual {
    VecX<double> force, acceleration, zdot;
  };
  Residual residual(System& system, const State& state);
  /// By variations, at the state just evaluated: of the residual.
  void residual_derivatives(const State& state, MatX<double>& force, MatX<double>& acceleration, MatX<double>& zdot);
  MatX<double> lifting(const State& at) const;     // numbers by displacements
  MatX<double> flattening(const State& at) const;  // displacements by numbers
  /// Onto the constraints: X <- P X + p.
  void projection(const State& at, MatX<double>& P, MatX<double>* p);
  std::vector<Stage> stages(const SmoothStep& step, bool with_variations);

  const std::vector<Variation>& variations_;
  const Tableau& tableau_;
  Evaluator evaluator_;
  AccelerationDerivatives derivatives_;
  std::vector<std::array<std::unique_ptr<System>, 4>> systems_;  // by variation
  Eigen::Index nq_, nv_, nz_;
};

}  // namespace linkwork
