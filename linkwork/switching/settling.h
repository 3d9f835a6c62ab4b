#pragma once

#include "linkwork/switching/impacts.h"

namespace linkwork {

/// Finds what holds, opens, sticks and slides from an instant on. First everything that strikes does so, together; then forces
/// are found for all points at rest, together.
class Settling {
 public:
  Settling(Instant& now, Contacts& contacts, Frictions& frictions, Impulses& impulses, Impacts& impacts);

  /// The state is then evaluated with what is in force.
  Status settle();

 private:
  Status decide(bool& again);
  void take_found(const std::vector<ContactPoint>& points);
  void warn_of_ambiguity(const std::vector<ContactPoint>& points);
  Status decide_each();
  Status stop_what_holds(const Modes& before);
  Status release_all();
  bool release();
  void report_changes(const Modes& before);

  Instant& now_;
  Contacts& contacts_;
  Frictions& frictions_;
  Impulses& impulses_;
  Impacts& impacts_;
  EventRecord sticking_;  // what it took to stop what sticks
};

}  // namespace linkwork
