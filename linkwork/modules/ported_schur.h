#pragma once

#include <array>
#include <utility>
#include <vector>

#include "linkwork/coordinates/loop_elimination.h"
#include "linkwork/dynamics/force_balance.h"
#include "linkwork/dynamics/formulation.h"
#include "linkwork/dynamics/position_rows.h"
#include "linkwork/modules/module.h"

namespace linkwork {

/// Which component of a port is which of its columns: first those that can move it.
struct PortOrder {
  std::array<int, 6> component;
  int working;
};

/// The formulation `schur` with forces on ports: in two halves, between which they are found.
class PortedSchur : public Formulation {
 public:
  PortedSchur(const Model& model, std::vector<NodeFrame> ports);

  /// The system is up to date, forces included.
  Status respond(System& system, Level level);
  /// vdot, or the change of positions or velocities, with the forces Q on the ports.
  void finish(System& system, VecX<double>& vdot, VecX<double>& lambda);
  /// After it, for accelerations: what the recursion loses where masses differ by decades is solved for once more.
  void settle(System& system, VecX<double>& vdot, VecX<double>& lambda);
  Status solve(System& system, Solution& solution) override;

  const LoopElimination& loops() const { return loops_; }
  const std::vector<NodeFrame>& ports() const { return ports_; }
  const PositionRows& position_rows() const { return position_rows_; }

  /// Unit wrenches at the ports, world axes: all, or those that can move them.
  void set_columns(const System& system, bool all = true);
  /// Adds forces on the ports to those applied.
  void apply(const VecX<double>& forces, TreeWork<double>& work) const;
  /// act() with these forces on the ports. What is applied is afterwards as it was, to the last bit.
  template <class Act>
  auto with_forces(System& system, const VecX<double>& forces, Act act) {
    TreeWork<double>& work = system.work();
    tau_ = work.tau;
    applied_ = work.applied;
    const bool any = work.any_applied;
    apply(forces, work);
    const auto result = act();
    work.tau = tau_;
    work.applied = applied_;
    work.any_applied = any;
    return result;
  }
  /// After respond(): D and R but for what the ports do by themselves.
  void response(PortResponse& response) const;
  /// After it: J, with which the ports move by J v, and bounds of its entries.
  void jacobian(System& system, MatX<double>& J);
  void jacobian_bounds(System& system, MatX<double>& bounds);

 private:
  /// A vector with six numbers a port in the order of the columns, and back.
  void put_in_order(const VecX<double>& x, double* ordered) const;
  void order_rows(MatX<double>& rows);

  std::vector<NodeFrame> ports_;
  std::vector<PortOrder> order_;
  PositionRows position_rows_;
  std::vector<ForceColumns> columns_;
  LoopElimination loops_;

 public:
  VecX<double> Q;  // on the ports

 private:
  VecX<double> lambda_;  // of the closures, then Q in the order of columns
  MatX<double> unordered_;
  ForceBalance forces_;
  bool settled_ = false;  // since it last responded: the recursion's inward pass is gone
  VecX<double> tau_;
  std::vector<Wrench<double>> applied_;
};

}  // namespace linkwork
