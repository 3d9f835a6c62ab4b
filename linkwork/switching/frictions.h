#pragma once

#include <vector>

#include "linkwork/switching/contact_problem.h"
#include "linkwork/switching/instant.h"

namespace linkwork {

/// The dry frictions of the model: each sticks, slides, or is off with its contact.
class Frictions {
 public:
  using Kind = Modes::Friction::Kind;

  explicit Frictions(Instant& now);

  std::size_t count() const { return now_.model.frictions.size(); }
  Kind kind(std::size_t k) const { return now_.modes.friction[k].kind; }
  /// What falls below zero when its mode ends. Slides: s . d, with d the direction of sliding s when the step began; sticks: its
  /// limit less |lambda|.
  double value(std::size_t k);

  /// A speed that is none.
  double still(std::size_t k) const { return now_.still(now_.model.frictions[k].first_row); }

  /// From rest; or as it does.
  void slide(std::size_t k, const Eigen::Vector2d& direction);
  void slide_on(std::size_t k, const Eigen::Vector2d& direction);
  void stick(std::size_t k);
  void switch_off(std::size_t k);
  /// By how it moves.
  void begin(std::size_t k);
  /// Slides the way its force held it from.
  void give_way(std::size_t k);

  /// Its value has come to zero; `scale` is the largest of it in the step.
  void reach_limit(std::size_t k, double scale);
  bool has_ended(std::size_t k) const { return ended_[k] != 0; }  // its sliding, at this instant
  bool has_any_ended() const;
  void leave_instant();

  void renew_directions();
  void renew_mobility(ContactProblem& problem);
  /// How it takes part in the problem of forces: sticking, or sliding at a speed. As in force, or as it may go on from here.
  void take_part(ContactPoint& point, std::size_t k, bool as_in_force);

  const std::vector<double>& mobility() const { return mobility_; }
  const std::vector<char>& starting() const { return starting_; }
  void restore(const std::vector<double>& mobility, const std::vector<char>& starting);

 private:
  double limit(std::size_t k);
  Eigen::Vector2d held(std::size_t k) const;

  Instant& now_;
  std::vector<char> at_limit_;    // at this instant
  std::vector<char> ended_;       // likewise
  std::vector<double> mobility_;  // how fast a unit of force speeds up its sliding, at most
  std::vector<char> starting_;    // it has begun to slide and is slow yet
};

}  // namespace linkwork
