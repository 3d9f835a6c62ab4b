#pragma once

#include <utility>
#include <vector>

#include "linkwork/coordinates/loop_elimination.h"
#include "linkwork/dynamics/formulation.h"
#include "linkwork/dynamics/position_rows.h"
#include "linkwork/modules/module.h"

namespace linkwork {

/// The formulation `schur` with forces on ports: in two halves, between which they are found.
class PortedSchur : public Formulation {
 public:
  PortedSchur(const Model& model, std::vector<NodeFrame> ports);

  /// The system is up to date, forces included.
  Status respond(System& system, Level level);
  /// vdot, or the change of positions or velocities, with the forces Q on the ports.
  void finish(System& system, VecX<double>& vdot, VecX<double>& lambda);
  Status solve(System& system, Solution& solution) override;

  const LoopElimination& loops() const { return loops_; }
  const std::vector<NodeFrame>& ports() const { return ports_; }
  const PositionRows& position_rows() const { return position_rows_; }
  std::span<const ForceColumns> columns() const { return columns_; }

  /// Unit wrenches at the ports, world axes.
  void set_columns(const System& system);
  /// After it: J, with which the ports move by J v, and bounds of its entries.
  void jacobian(System& system, MatX<double>& J) const;
  void jacobian_bounds(System& system, MatX<double>& bounds) const;

 private:
  std::vector<NodeFrame> ports_;
  PositionRows position_rows_;
  std::vector<ForceColumns> columns_;
  LoopElimination loops_;

 public:
  VecX<double> Q;  // on the ports

 private:
  VecX<double> lambda_;  // of the closures, then Q
};

}  // namespace linkwork
