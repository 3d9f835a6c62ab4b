#pragma once

#include <array>
#include <memory>
#include <string>
#include <vector>

namespace linkwork {

class Simulation;

/// Why the steps of a run cannot be computed in lanes, in words; empty: they can.
std::string obstacle_to_lanes(Simulation& run);

/// Whether two such runs can be so together: they are the same but for numbers.
bool fit_into_lanes(Simulation& a, Simulation& b);

/// Some runs whose steps are computed together, each in a lane of the processor's vectors. Every run has its own time loop:
/// rows, errors, energies and what ends it are its own affair. A step that is not as any other (LaneEquations) is made by the run
/// alone. What becomes of a run does not depend on the others.
class LaneGroup {
 public:
  static constexpr std::size_t kMost = 8;
  using Some = std::array<bool, kMost>;

  /// What the group has learned of a run.
  struct Memory {
    int left = 0, alone_for = 0;  // how often it left the lanes in a row; steps until it is tried there again
    double strongest = 0.0;       // see LaneEquations
  };

  /// How many runs this processor computes at a time, at most.
  static std::size_t most();

  /// Of runs that fit together, which must outlive the group; with what another group knew of them. `lanes`: how many of them,
  /// one of lane_counts(); 0: as few as the runs need.
  explicit LaneGroup(const std::vector<Simulation*>& runs, const std::vector<Memory>& known = {}, int lanes = 0);
  ~LaneGroup();

  /// Begins to step a run towards an end; false: it has stopped.
  bool begin(std::size_t run, double end);
  bool has_ended(std::size_t run) const;
  /// Makes a step of every run that is wanted, all of which have begun; those that cannot go on are wanted no more.
  void step(Some& wanted);

  Memory memory(std::size_t run) const;

  /// Steps so far, of all runs.
  long in_lanes() const;
  long alone() const;

 private:
  class Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace linkwork
