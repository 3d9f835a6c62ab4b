#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "linkwork/dynamics/equations_of_motion.h"
#include "linkwork/dynamics/joint_reactions.h"
#include "linkwork/simulation/columns.h"
#include "linkwork/simulation/effort_recorder.h"
#include "linkwork/simulation/one_tree.h"

namespace linkwork {

/// Turns an evaluated state into a row of output columns.
class Recorder {
 public:
  /// With all columns of the groups that something was chosen of (Settings::columns), and what runs need themselves: motion,
  /// energies and errors. Without `forces` nothing is known of what acts: no multipliers, reactions and efforts.
  /// `carried`: by the last joints of the model, which are not part of the output.
  explicit Recorder(const Model& model, bool forces = true, std::vector<CarriedClosure> carried = {});

  const std::vector<std::string>& columns() const { return columns_; }
  /// By column.
  const std::vector<std::string>& units() const { return units_; }
  /// The equations hold an evaluation of the state to record.
  /// `outside`: what acts on it from outside, on ports.
  void record(EquationsOfMotion& equations, double t, std::vector<double>& row, std::span<const OutsideWrench> outside = {});

 private:
  void add(std::string name, std::string unit);
  void add_joint_columns();
  void add_multiplier_columns();
  void add_reaction_columns();
  std::span<const Joint> joints() const { return std::span(model_->joints).first(model_->joints.size() - carried_.size()); }
  void append_multipliers(EquationsOfMotion& equations, std::vector<double>& row) const;
  void append_joints(EquationsOfMotion& equations, std::vector<double>& row);
  void append_reactions(std::vector<double>& row) const;
  void append_sensors(const System& system, std::vector<double>& row) const;

  const Model* model_;
  std::vector<CarriedClosure> carried_;
  std::vector<std::string> columns_, units_;
  bool multipliers_, inputs_, states_, sensors_;  // whether they are among the columns
  bool shows_reactions_ = false;                  // likewise
  std::optional<JointReactions> reactions_;       // if they are, or multipliers of closures that are carried
  std::optional<EffortRecorder> efforts_;
  std::vector<double> q_, v_, a_;  // of all joints, in column order
};

}  // namespace linkwork
