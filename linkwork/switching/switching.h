#pragma once

#include <string>
#include <vector>

#include "linkwork/model/jet.h"
#include "linkwork/switching/event_actions.h"
#include "linkwork/switching/saved_switching.h"
#include "linkwork/switching/settling.h"

namespace linkwork {

/// What is watched during a run and what happens then: the model's events, contacts that close and open, friction that sticks
/// and slides. Each is a function of the evaluated state whose fall below zero is an event: an event's expression, or minus it;
/// Contacts::value(); Frictions::value().
/// At one instant events come in the order of the model file, then contacts, then friction, and again until no more is due.
class Switching {
 public:
  /// exact: the formulation's multipliers are those of the constraints, not of springs in their place.
  Switching(const Model& model, EquationsOfMotion& equations, bool exact = true);

  /// Decides which contacts are closed and what sticks at the start. The state is then evaluated.
  Status start(State& state, Derivative& rates);

  /// Takes the state just evaluated as the start of a step.
  void begin_step();
  /// At a state just evaluated: the least of the watched functions, each relative to what it is elsewhere in the step. An event
  /// has come if it is not positive.
  double margin();
  /// Appends each watched function at the state of the last margin() or begin_step(): positive before its event, with its
  /// derivative in time along the motion (NaN: not known). Events that wait for the other direction are among them.
  void append_watched(const Derivative& rates, std::vector<Jet>& values);
  /// Marks what is due at the state just evaluated.
  void mark_due();
  /// Lets everything happen that is due. The state is then evaluated with the modes that follow. Rates need not be continuous.
  Status happen(State& state, Derivative& rates);
  /// Whether an event asked for the end of the run, and which.
  const std::string& stopped_by() const { return actions_.stopped_by(); }

  /// What has switched since a time, in words; empty if nothing has.
  std::string busiest(double since) const;

  const std::vector<EventRecord>& records() const { return now_.records; }
  const std::vector<std::string>& warnings() const { return now_.warnings; }
  const Modes& modes() const { return now_.modes; }

  /// Between two steps: all that is to be known of the past.
  SavedSwitching save() const;
  /// Whether it can be of this model.
  bool accepts(const SavedSwitching& saved) const;
  void restore(const SavedSwitching& saved);

 private:
  struct Watched {
    double raw = 0.0;    // at the state just evaluated
    double value = 0.0;  // raw and offset
    double scale = 0.0;  // largest value seen in the step
    double sign = 1.0;   // of an event's expression, when the step began
    bool due = false;
    bool just_fired = false;
    double offset = 0.0;  // what it may be below zero without being an event
    double fired_at = -1e300;
    std::vector<double> recent = {};  // times of its last events, but for contacts
  };

  std::size_t first_contact() const { return model_.events.size(); }
  std::size_t first_friction() const { return first_contact() + model_.contacts.size(); }
  bool is_contact(std::size_t k) const { return k >= first_contact() && k < first_friction(); }
  std::string name_of(std::size_t k) const;

  void read();
  bool is_armed(std::size_t k) const;
  double margin_of(std::size_t k) const;
  void set_offsets();
  Status fire(std::size_t k);
  bool is_chatter(std::size_t k);
  Status renew_signs();

  const Model& model_;
  Instant now_;
  Frictions frictions_;
  Contacts contacts_;
  Impulses impulses_;
  EventActions actions_;
  Impacts impacts_;
  Settling settling_;
  std::vector<Watched> watched_;  // events, contacts, frictions
  State probe_;
  Derivative probe_rates_;
};

}  // namespace linkwork
