#pragma once

#include <functional>
#include <string>
#include <vector>

#include "linkwork/dynamics/equations_of_motion.h"
#include "linkwork/dynamics/manifold_projection.h"
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
  Switching(const Model& model, EquationsOfMotion& equations);

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
  };

  std::size_t first_contact() const { return model_.events.size(); }
  std::size_t first_friction() const { return first_contact() + model_.contacts.size(); }
  System& system() { return equations_.system(); }
  double lambda(int row) const { return equations_.solution().lambda[row]; }
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
  Status strike(std::size_t contact);
  void open(std::size_t contact);
  void close(std::size_t contact);
  Status impact(std::size_t contact, double restitution, EventRecord& record);
  void slide_through(const Contact& contact, std::size_t friction, double change, EventRecord& record);
  std::size_t friction_of(const Contact& contact) const;
  Status try_to_stick(std::size_t friction);
  void begin_friction(std::size_t friction);
  void set_rows(int first, int count, bool on);
  void slide(std::size_t friction, const Eigen::Vector2d& direction);
  Status settle();
  bool release();
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
  std::vector<double> last_impact_;  // by contact
  std::vector<int> impacts_;
  std::vector<std::vector<double>> recent_;  // by watched function: times of its last events
  std::string stopped_by_;
  VecX<double> change_, impulse_, before_, rate_before_;
  bool quiet_ = false;  // at the start, when nothing is recorded
};

}  // namespace linkwork
