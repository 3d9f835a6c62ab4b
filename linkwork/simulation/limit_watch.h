#pragma once

#include <vector>

#include "linkwork/dynamics/system.h"
#include "linkwork/simulation/remarks.h"

namespace linkwork {

/// Joints that leave limits at which they do not stop.
class LimitWatch {
 public:
  explicit LimitWatch(const Model& model);
  /// At the state of the system.
  void look(const System& system, Remarks& remarks) const;

 private:
  std::vector<const Joint*> joints_;
};

}  // namespace linkwork
