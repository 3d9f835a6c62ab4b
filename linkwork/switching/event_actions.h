#pragma once

#include <string>

#include "linkwork/switching/impulses.h"

namespace linkwork {

/// What the events of the model file do.
class EventActions {
 public:
  EventActions(Instant& now, Impulses& impulses) : now_(now), impulses_(impulses) {}

  Status act(const Event& event);
  /// The event that asked for the end of the run; empty if none has.
  const std::string& stopped_by() const { return stopped_by_; }

 private:
  Status switch_rows(const Event& event, const Action& action, EventRecord& record);
  Status check_closed(const std::string& who, int first, int count);

  Instant& now_;
  Impulses& impulses_;
  std::string stopped_by_;
};

}  // namespace linkwork
