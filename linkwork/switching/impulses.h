#pragma once

#include "linkwork/dynamics/impulse_response.h"
#include "linkwork/switching/instant.h"

namespace linkwork {

/// Velocities that jump by an impulse on rows or a coordinate. Its work is part of the energy balance; record has it added, with
/// the impulses and the largest jump.
class Impulses {
 public:
  explicit Impulses(Instant& now);

  /// v <- v + M^-1 A' P so that the rates of the rows in force change as asked. The work of the impulse is P . (A v- + A v+)/2.
  Status change_rates(const VecX<double>& change, EventRecord& record);
  Status remove_rates(EventRecord& record);
  /// The rows' rates return with their share; they need not be in force before or after.
  Status bounce(int first, int count, double restitution, EventRecord& record);
  void kick(const Coordinate& coordinate, double size, EventRecord& record);

  /// By row, of the last change.
  const VecX<double>& last() const { return impulse_; }
  void report(const VecX<double>& impulse, EventRecord& record) const;

 private:
  Instant& now_;
  ImpulseResponse response_;
  VecX<double> change_, jump_, impulse_, before_, rate_before_;
};

}  // namespace linkwork
