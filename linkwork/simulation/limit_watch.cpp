#include "linkwork/simulation/limit_watch.h"

#include <fmt/format.h>

#include <array>

namespace linkwork {

LimitWatch::LimitWatch(const Model& model) {
  for (const Joint& joint : model.joints)
    if (joint.limits && !joint.stops_at_limits) joints_.push_back(&joint);
}

void LimitWatch::look(const System& system, Remarks& remarks) const {
  for (const Joint* joint : joints_) {
    std::array<double, 7> q{};
    std::array<double, 6> v{}, a{};
    system.joint_motion(*joint, {}, q, v, a);
    for (int k = 0; k < joint->kind->nq(); ++k) {
      const double x = q[static_cast<std::size_t>(k)];
      if (x >= (*joint->limits)[0] && x <= (*joint->limits)[1]) continue;
      const double t = system.state().t;
      remarks.add(t, "limits of " + joint->name,
                  fmt::format("joint '{}' left its limits at t = {:.6g} s; limits are watched, not enforced", joint->name, t));
    }
  }
}

}  // namespace linkwork
