#pragma once

#include <memory>

#include "linkwork/dynamics/stabilization.h"
#include "linkwork/modules/ported_schur.h"

namespace linkwork {

/// Any formulation with forces on ports. What it finds is affine in them, so that the ports' response
///   xdd = J vdot + Jdot v = D Q + R
/// follows from solutions without forces and with each of them. The forces are of a size that changes accelerations by about as
/// much as they are, so that differences keep their digits.
class PortedFormulation : public Formulation {
 public:
  /// The ports are those of `ports`, which must last as long.
  PortedFormulation(std::unique_ptr<Formulation> inner, PortedSchur& ports) : inner_(std::move(inner)), ports_(ports) {}

  void start(System& system, State& state) override { inner_->start(system, state); }
  Status prepare(System& system, State& state) override { return inner_->prepare(system, state); }
  /// With the forces Q of the ports.
  Status solve(System& system, Solution& solution) override;
  void complete(System& system, Solution& solution) override;
  void accept_step(System& system) override { inner_->accept_step(system); }
  void forget() override { inner_->forget(); }
  bool holds_constraints() const override { return inner_->holds_constraints(); }

  /// D, R less the ports' accelerations at vdot = 0, and the scale of D. The system is up to date, forces included. `solution` is
  /// scratch.
  Status respond(System& system, Stabilization& stabilization, Solution& solution, PortResponse& response);

 private:
  void measure(System& system, PortResponse& response);

  std::unique_ptr<Formulation> inner_;
  PortedSchur& ports_;
  MatX<double> J_, bounds_, answers_;
  VecX<double> free_, weights_, forces_, scale_;
};

}  // namespace linkwork
