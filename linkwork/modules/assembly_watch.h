#pragma once

#include <memory>
#include <string>
#include <vector>

#include "linkwork/modules/shared_modes.h"
#include "linkwork/simulation/mechanism_watch.h"

namespace linkwork {

class AssemblySystem;

/// What is watched in a run of modules: an event anywhere is an event everywhere. The first rank, which has the whole in one
/// piece, brings it to where the modules are at the end of each step, and watches it as a mechanism in one piece is watched. What
/// it finds, and what is in force and how velocities have jumped where something has happened, it tells the others. It gets the
/// same numbers whatever rank a module is on, so that the decision is the same to the last bit.
class AssemblyWatch : public Watch {
 public:
  /// `whole` is null on all ranks but the first. Both must last as long.
  AssemblyWatch(AssemblySystem& system, const Model* whole);
  ~AssemblyWatch() override;

  /// Decides what is in force at the start, which was evaluated. It is then evaluated so.
  Status start(Moment& at, VecX<double>& rates);
  void set_input(const std::string& name, std::optional<double> value);
  /// On the first rank: what it knows of the past.
  void save(SavedSwitching& switching, std::vector<double>& memory) const;
  bool accepts(const SavedSwitching& switching, const std::vector<double>& memory) const;
  /// Modules are made anew; what is in force is then as it was saved.
  void restore(const SavedSwitching& switching, const std::vector<double>& memory, double t);
  /// On the first rank, else null.
  const MechanismWatch* first() const;
  System* whole();

  void begin_step(const VecX<double>& rates) override;
  double margin(const VecX<double>& rates) override;
  const std::vector<Jet>& values(const VecX<double>& rates) override;
  void mark_due() override;
  Status happen(Moment& at, VecX<double>& rates, const std::function<void(bool after)>& tell) override;
  double next_time(double t, double until) override;
  bool holds() const override { return holds_; }
  void hold(bool on) override;
  const std::string& stopped_by() const override { return stopped_by_; }
  std::string busiest(double since) const override;

 private:
  struct Whole;

  void lay_out();
  void keep_up();
  template <class Act>
  Status decide(Moment& at, VecX<double>& rates, Act act);
  void share_modes();
  void change_states(Moment& at, bool positions, double work);
  template <class Visit>
  void for_each_part(Visit visit) const;  // modules and couplings of this rank

  AssemblySystem& system_;
  std::unique_ptr<Whole> whole_;  // on the first rank
  std::unique_ptr<SharedModes> modes_;
  std::vector<double> joints_;       // values of all joints: by leaf, then by coupling
  std::vector<int> ends_;            // of the ranks' parts
  std::vector<std::size_t> places_;  // by module of the plan, then coupling: where its joints begin
  long kept_up_to_ = -1;             // evaluations
  std::vector<Jet> values_;
  std::vector<double> message_;
  int value_count_ = -1;
  bool has_times_ = false, has_friction_ = false, holds_ = false;
  std::string stopped_by_;
};

}  // namespace linkwork
