#pragma once

#include <string>
#include <vector>

#include "linkwork/model/spec.h"

namespace linkwork::test {

/// What a way of solving made of a mechanism.
struct Verdict {
  enum class Kind { kRight, kRefused, kWrong };

  std::string mode;
  Kind kind = Kind::kRight;
  double error = 0.0;  // relative to the largest acceleration of the mechanism, or to how far it moves
  std::string words;   // of a refusal, or what is wrong
};

struct Judgement {
  std::string left_out;  // why nothing can be asked of it; empty: it can
  int dof = 0, rows = 0, rank = 0;
  double smallest_counted = 0.0, largest_left_out = 0.0, determined = 0.0;
  std::vector<Verdict> verdicts;
};

/// Ways to find accelerations: "TA", "FA", "CE", "auto", and exact formulations by name; further "check" (freedoms as `check`,
/// `run` and singular values count them) and "runs" (short runs in all coordinates come to the same place).
std::vector<std::string> attack_modes();

/// Judges a mechanism at the start that it gives by the dense oracle. Accelerations that differ by more than `tolerance` are
/// wrong.
Judgement judge(const Spec& spec, const std::vector<std::string>& modes, double tolerance = 1e-8);

}  // namespace linkwork::test
