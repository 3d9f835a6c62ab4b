#pragma once

#include <memory>

#include "linkwork/simulation/recorder.h"
#include "linkwork/simulation/simulation.h"

namespace linkwork {

/// The motion that drives impose on a mechanism, whatever its masses and forces. At every output time positions are found by
/// Newton's method from a prediction, then A v = u and A vdot = b are solved with rank decisions: redundant constraints are
/// allowed ([Wu1997] eq. 4.8). Throws InputError, with names, if the mechanism cannot be closed at the start, or
/// if its drives leave a motion free.
class KinematicMotion {
 public:
  explicit KinematicMotion(const Model& model);
  ~KinematicMotion();

  /// Those of a Simulation without lambda, force and torque: nothing is known of forces.
  const std::vector<std::string>& columns() const { return columns_; }
  const State& state() const { return state_; }

  /// To the end of the settings, or until no position satisfies the constraints; either way the summary says how it went.
  Summary run(const Observer& observer = {});

 private:
  class Solver;

  void check_rows() const;
  void close_start();
  void check_freedom();
  bool advance_to(double target);
  bool accept(State&& next);
  void look();
  bool is_singular() const;
  void watch_singularities();
  void warn_of_singularity(std::string text);
  void record();
  bool stop(const std::string& reason);

  const Model& model_;
  const Settings& settings_;
  Solver* solver_;  // owned by the equations, as their formulation
  std::unique_ptr<EquationsOfMotion> equations_;
  Recorder recorder_;
  std::vector<std::string> columns_;
  std::vector<std::size_t> kept_;
  std::vector<double> row_;
  Observer observer_;
  State state_;
  State regular_;  // the last one at which the rates are determined, from which positions are predicted
  Derivative rates_, regular_rates_;
  Summary summary_;
  long outputs_ = 0;
  std::vector<int> watched_rows_;  // independent at the start: their determinant tells on which side of a singularity we are
  double side_ = 0.0;
  int singularities_ = 0;
};

}  // namespace linkwork
