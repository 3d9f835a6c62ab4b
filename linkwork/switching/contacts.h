#pragma once

#include <string>
#include <vector>

#include "linkwork/switching/frictions.h"
#include "linkwork/switching/saved_switching.h"

namespace linkwork {

/// The contacts of the model, open or closed, and how they and the frictions share their loads.
class Contacts {
 public:
  Contacts(Instant& now, Frictions& frictions);

  std::size_t count() const { return now_.model.contacts.size(); }
  bool is_closed(std::size_t c) const { return now_.modes.rows[static_cast<std::size_t>(now_.model.contacts[c].row)] != 0; }
  double gap(std::size_t c) const;
  bool touches(std::size_t c) const { return gap(c) <= now_.touching(now_.model.contacts[c].row); }
  /// How fast the gap grows.
  double opening(std::size_t c) const;
  /// A rate of the gap that is none.
  double still(std::size_t c) const { return now_.still(now_.model.contacts[c].row); }
  /// What falls below zero when it closes, or opens. Open: the gap; closed: the force that presses. Where the gap is below zero
  /// by an error of the integrator and yet grows, it has not closed: how fast it grows then counts.
  double value(std::size_t c) const;
  /// The friction that goes with a contact, or -1.
  int friction_of(std::size_t c) const { return friction_of_[c]; }
  /// Those that strike.
  std::vector<std::size_t> closing() const;

  void open(std::size_t c);
  void close(std::size_t c);

  void reach_limit(std::size_t c) { at_limit_[c] = 1; }
  bool is_at_limit(std::size_t c) const { return at_limit_[c] != 0; }  // at this instant
  void leave_instant();

  /// Reads the multipliers of the state just evaluated, loads shared.
  void read_loads();
  /// From here on they are read anew, whatever was settled before.
  void unsettle() { settled_rank_ = -1; }
  /// Whether loads are shared between more rows than it takes, and which rows carry nothing at this position.
  void note_redundancy();

  ContactProblem& problem() { return problem_; }
  /// Contacts that are closed and frictions that stick, as they are.
  std::vector<ContactPoint> points_in_force();
  /// All that is closed or touches without speed, and frictions at rest: what the forces of this instant are to be found for.
  std::vector<ContactPoint> points_at_rest();
  std::string names_of(const std::vector<ContactPoint>& points) const;

  void save(SavedSwitching& saved) const;
  void restore(const SavedSwitching& saved);

 private:
  bool holds();
  void share_loads();
  /// Of what is open.
  bool rests(std::size_t c) const;

  Instant& now_;
  Frictions& frictions_;
  ContactProblem problem_;
  std::vector<int> friction_of_;  // by contact
  std::vector<char> at_limit_;    // by contact
  std::vector<char> idle_;        // by row: of a contact or friction, and no force on it had an effect when it was settled
  bool redundant_ = false;        // loads of contacts and friction can be shared in many ways
  int settled_rank_ = 0;          // of the rows in force, when they were decided upon
};

}  // namespace linkwork
