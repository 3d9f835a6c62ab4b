#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "linkwork/dynamics/equations_of_motion.h"
#include "linkwork/model/joint_state.h"

namespace linkwork {

/// The same system in one piece, to compare a glue with: how much do accelerations differ at a state that the glue came to?
class OnePiece {
 public:
  /// `columns` are those of the rows to be compared.
  OnePiece(const Model& model, const std::vector<std::string>& columns);

  /// The largest difference of an acceleration, relative to the largest acceleration there (or 1). NaN if the system in one piece
  /// has no answer.
  double difference(std::span<const double> row);
  /// The same is in force as in another system of this model.
  void follow(System& other);
  /// Which acceleration of the last row differs most: a column.
  const std::string& where() const { return columns_[worst_]; }
  /// How far its constraints were from a singular position there, see Rank.
  double weakest() const { return equations_.solution().rank.weakest; }

 private:
  /// Of a joint that is not cut.
  struct Columns {
    JointPlace place;
    std::vector<std::size_t> q, v, a;
  };
  const Model& model_;
  const std::vector<std::string>& columns_;
  EquationsOfMotion equations_;
  State state_;
  Derivative rates_;
  VecX<double> vdot_;  // of the modules
  std::vector<Columns> joints_;
  std::vector<std::pair<int, std::size_t>> states_;  // of the user's own, with their columns
  std::size_t worst_ = 0;
};

/// Compares some rows of a run of modules with the system in one piece. Nothing is remembered from row to row but the largest
/// difference, so that it makes no difference whether the run was interrupted.
class PieceComparison {
 public:
  /// `exact`: the glue claims to give the accelerations of the system in one piece. `modes` gives the system that knows what is
  /// in force at the time, or null.
  PieceComparison(const Model& model, const std::vector<std::string>& columns, bool exact, std::function<System*()> modes = {});

  /// Goes on where an earlier run ended.
  void resume(double largest, long rows) { largest_ = largest, rows_ = rows; }
  /// From the next row on as a run that is resumed.
  void begin_anew() { one_piece_ = std::make_unique<OnePiece>(model_, columns_); }
  /// Why the run must not go on, or empty: the glue is exact and its accelerations are others. States that are off the
  /// constraints or close to a singular position, where accelerations depend on rounding, are no reason.
  std::string object_to(std::span<const double> row);
  double largest() const { return largest_; }

 private:
  bool meets_constraints(std::span<const double> row) const;

  const Model& model_;
  const std::vector<std::string>& columns_;
  bool exact_;
  std::function<System*()> modes_;
  std::unique_ptr<OnePiece> one_piece_;
  std::vector<std::size_t> errors_;  // columns
  double largest_ = 0.0;
  long rows_ = 0, stride_ = 1;
};

}  // namespace linkwork
