#pragma once

#include <functional>
#include <string>
#include <vector>

#include "linkwork/dynamics/equations_of_motion.h"
#include "linkwork/simulation/contact_problem.h"
#include "linkwork/simulation/saved_run.h"

namespace linkwork {

/// What is watched during a run and what happens then: the model's events, contacts that close and open, friction that sticks
/// and slides. Each is a function of the evaluated state whose fall below zero is an event:
///   event    its expression, or minus it
///   contact  open: side phi;   closed: side lambda
///   friction slides: s . d, with d the direction of sliding s when the step began;   sticks: its limit less |lambda|
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
  const std::string& stopped_by() const { return stopped_by_; }

  /// What has switched since a time, in words; empty if nothing has.
  std::string busiest(double since) const;

  const std::vector<EventRecord>& records() const { return records_; }
  const std::vector<std::string>& warnings() const { return warnings_; }
  const Modes& modes() const { return modes_; }

  /// Between two steps: all that is to be known of the past.
  SavedSwitching save() const;
  /// Whether it can be of this model.
  bool accepts(const SavedSwitching& saved) const;
  void restore(const SavedSwitching& saved);

 private:
  struct Watched {
    double value = 0.0;  // at the state just evaluated
    double scale = 0.0;  // largest value seen in the step
    double sign = 1.0;   // of an event's expression, when the step began
    bool due = false;
    bool just_fired = false;
    double offset = 0.0;  // what it may be below zero without being an event
  };

  std::size_t first_contact() const { return model_.events.size(); }
  std::size_t first_friction() const { return first_contact() + model_.contacts.size(); }
  System& system() { return equations_.system(); }
  double lambda(int row) const { return lambda_[row]; }
  bool carries_nothing(int row) const { return idle_[static_cast<std::size_t>(row)] != 0; }
  bool is_closed(const Contact& contact) const { return modes_.rows[static_cast<std::size_t>(contact.row)] != 0; }

  void read();
  double event_value(const Event& event);
  double contact_value(const Contact& contact);
  double friction_value(std::size_t friction);
  double friction_limit(std::size_t friction);
  double friction_needed(std::size_t friction) const;
  double slack() const;
  bool is_armed(std::size_t k) const;
  double margin_of(std::size_t k) const;

  Status evaluate();
  void take_modes();
  Status fire(std::size_t k);
  Status act(const Event& event);
  Status switch_rows(const Event& event, const Action& action, EventRecord& record);
  Status check_closed(const std::string& who, int first, int count);
  Status bounce(int first, int count, double restitution, EventRecord& record);
  void set_parameter(const Action& action, EventRecord& record);
  void kick(const Action& action, EventRecord& record);
  bool holds();
  void share_loads();
  void set_offsets();
  void open(std::size_t contact);
  void slide(std::size_t friction, const Eigen::Vector2d& direction);
  void stick(std::size_t friction);
  void begin_friction(std::size_t friction);
  void set_rows(int first, int count, bool on);
  void add_friction(ContactPoint& point, std::size_t friction, bool as_in_force);
  std::vector<ContactPoint> points_in_force();
  std::vector<ContactPoint> points_at_rest();
  std::vector<std::size_t> closing_contacts();
  Status settle();
  Status decide(bool& again);
  Status decide_each();
  Status stop_what_holds(const Modes& before);
  Status release_all();
  bool release();
  Status note_redundancy();
  void report_changes(const Modes& before);
  std::string names_of(const std::vector<ContactPoint>& points) const;
  void warn_once(const std::string& about, const std::string& text);
  bool comes_to_rest(std::size_t contact, double rebound);
  Status strike(const std::vector<std::size_t>& closing);
  std::vector<int> rows_of(const ContactPoint& point) const;
  Status jam(const ContactPoint& point);
  Status change_rates(const VecX<double>& change, EventRecord& record);
  Status remove_rates(EventRecord& record);
  void add_impulse(const VecX<double>& impulse, EventRecord& record) const;
  void renew_directions();
  Status renew_signs();
  bool is_chatter(std::size_t k);
  void keep(EventRecord record);

  const Model& model_;
  EquationsOfMotion& equations_;
  ManifoldProjection projection_;
  Modes modes_;
  std::vector<Watched> watched_;
  State* state_ = nullptr;  // during happen() and start()
  Derivative* rates_ = nullptr;
  Derivative probe_rates_;
  State probe_;
  double largest_force_ = 0.0;
  std::vector<EventRecord> records_;
  std::vector<std::string> warnings_;
  bool exact_;
  ContactProblem problem_;
  VecX<double> lambda_;                      // of the state just evaluated, loads shared
  bool redundant_ = false;                   // loads of contacts and friction can be shared in many ways
  int settled_rank_ = 0;                     // of the rows in force, when they were decided upon
  std::vector<char> idle_;                   // by row: of a contact or friction, and no force on it had an effect then
  double energy_scale_ = 0.0;                // largest kinetic energy seen in the step
  std::vector<int> friction_of_;             // by contact, -1: none
  std::vector<int> impacts_;                 // by contact
  std::vector<std::vector<double>> recent_;  // by watched function: times of its last events
  std::vector<double> fired_at_;             // by watched function: when it last did
  std::vector<char> at_limit_;               // by watched function: it has come to its limit at this instant
  std::vector<char> ended_;                  // by friction: its sliding has come to an end at this instant
  std::vector<double> mobility_;             // by friction: how fast a unit of force speeds up its sliding, at most
  std::vector<char> starting_;               // by friction: it has begun to slide and is slow yet
  std::vector<char> struck_;                 // by contact: at this instant
  EventRecord sticking_;                     // what it took to stop what sticks
  std::string stopped_by_;
  VecX<double> change_, impulse_, before_, rate_before_;
  bool quiet_ = false;  // at the start, when nothing is recorded
};

}  // namespace linkwork
