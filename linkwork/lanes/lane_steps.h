#pragma once

#include <memory>
#include <span>
#include <vector>

#include "linkwork/spatial/vector.h"

namespace linkwork {

class System;
struct Tableau;

/// Steps of instances of a mechanism, each in a lane of the processor's vectors (LaneEquations). What becomes of a lane does not
/// depend on the others, nor on how many there are.
class LaneSteps {
 public:
  virtual ~LaneSteps();

  virtual std::size_t count() const = 0;  // lanes
  struct Start {
    double t, h;
    const VecX<double>&y, &rates;
    bool begins_anew;  // the rates are not those at t
  };
  /// What a step has come to.
  struct Done {
    VecX<double> y, rates;  // at its end
    double position_error, velocity_error, kinetic, potential;
    double turned;  // by which any body has turned, at most, rad
    long evaluations;
  };

  virtual void load(int lane, const Start& start) = 0;
  /// Of the lanes that take part; all of them must have been loaded.
  virtual void step(std::span<const bool> part) = 0;
  /// Whether the step was as any other (LaneEquations::usual()); what a lane has come to, if so.
  virtual bool is_usual(int lane) const = 0;
  virtual void take(int lane, Done& done) const = 0;

  /// See LaneEquations.
  virtual double strongest(int lane) const = 0;
  virtual void set_strongest(int lane, double strongest) = 0;
};

struct LaneStepsOf {
  std::span<System* const> systems;  // one for each lane
  const Tableau* tableau;
  bool projects;
};

/// The numbers of lanes that this processor and this program can compute with, beginning with the least; empty: none.
std::vector<int> lane_counts();
/// With as many lanes as there are systems, which must be one of these numbers.
std::unique_ptr<LaneSteps> make_lane_steps(const LaneStepsOf& of);

/// The ways that were compiled, each with the instructions of other processors: call none before it is known that this one has
/// them. Null: the compiler cannot do that.
using MakeLaneSteps = std::unique_ptr<LaneSteps> (*)(const LaneStepsOf&);
extern const MakeLaneSteps kFourLanes;   // AVX2, FMA
extern const MakeLaneSteps kEightLanes;  // AVX-512 (F, DQ, VL)

}  // namespace linkwork
