#pragma once

#include <span>
#include <string>
#include <vector>

#include "linkwork/dynamics/state.h"
#include "linkwork/dynamics/system.h"

namespace linkwork {

/// A constraint row at a state.
struct RowDiagnosis {
  enum class Kind {
    kIndependent,
    kRedundant,     // follows from others, here and wherever the mechanism can go
    kDegenerate,    // follows from others at this position only: a singular one
    kInconsistent,  // as redundant, but asks for another acceleration than those it follows from
  };
  Kind kind = Kind::kIndependent;
  std::vector<int> follows_from;  // the other rows of its dependent set; none: it acts on no motion of the tree
  double contradiction = 0.0;     // what it asks for beyond them, as an acceleration
  bool unique_reaction = true;    // its lambda is determined by the motion

  bool vanishes() const { return kind != Kind::kIndependent && follows_from.empty(); }
};

/// What can be said of the constraints at a state.
struct Diagnosis {
  std::vector<RowDiagnosis> rows;
  int rank = 0;
  int usual_rank = 0;  // at positions nearby; higher than rank at a singular position
  /// Of A M^-1 A' over the independent rows, in units of their scales (linalg/rank.h): ratio of the largest eigenvalue to the
  /// smallest, square root of the smallest (0 at a singular position, at most 1), and the row that has most part in that one.
  double condition = 1.0;
  double distance = 1.0;
  int weakest_row = -1;                   // -1: not known
  bool estimated = false;                 // too many rows for eigenvalues: from pivots
  std::vector<std::string> undetermined;  // columns of the output that redundancy leaves open: "force.top.x"
  std::vector<std::string> determined;    // closures with unique reactions only, in quotes, and single rows: "lambda.top.y"

  bool has(RowDiagnosis::Kind kind) const;
  std::vector<int> of_kind(RowDiagnosis::Kind kind) const;
};

/// At a consistent state; drift control is left out of account. Rows that are not in force count as independent. The modes are
/// those of the model's start unless others are given.
Diagnosis diagnose(const Model& model, const State& state);
Diagnosis diagnose(const Model& model, const State& state, const Modes& modes);

/// In words, with names. A sentence for each dependent set, in the order redundant, degenerate, inconsistent; none if there is
/// nothing to say.
std::vector<std::string> describe_dependence(const Model& model, const Diagnosis& diagnosis);
/// Which reactions are unique and which are not, and why; empty if all are.
std::string describe_reactions(const Model& model, const Diagnosis& diagnosis);
/// Condition number and distance from a singular position.
std::string describe_regularity(const Model& model, const Diagnosis& diagnosis);
/// What the user can do; empty if nothing need be done.
std::string advise(const Model& model, const Diagnosis& diagnosis);
/// Why no motion satisfies the constraints; empty if one does.
std::string describe_contradiction(const Model& model, const Diagnosis& diagnosis);

/// Closures of the rows that the given ones depend on at the system's state, as far as joints are free to move
/// (TreeWork::locked), the given rows' own closures left out: who stands in the way of a row that cannot be met.
std::vector<std::string> closures_against(System& system, std::span<const int> rows);

}  // namespace linkwork
