#include <algorithm>
#include <unordered_map>
#include <vector>

#include "linkwork/modules/assembly_plan.h"

namespace linkwork {

double longest_distance(const Spec& spec) {
  std::unordered_map<std::string, std::vector<Vec3<double>>> points;
  const auto add = [&](const std::string& body, const Vec3<double>& at) {
    if (body != "ground") points[body].push_back(at);
  };
  for (const BodySpec& body : spec.bodies) add(body.name, body.com);
  const auto add_ends = [&](const FrameSpec& a, const FrameSpec& b) { add(a.body, a.at), add(b.body, b.at); };
  for (const JointSpec& joint : spec.joints) add_ends(joint.parent, joint.child);
  for (const ClosureSpec& closure : spec.closures) add_ends(closure.a, closure.b);
  for (const PortSpec& port : spec.ports) add(port.frame.body, port.frame.at);
  double longest = 0.0;
  for (const auto& [body, own] : points) {
    // From any point to the farthest, and from there to the farthest: along a rod that is its length.
    Vec3<double> from = own.front(), to = from;
    for (int sweep = 0; sweep < 2; ++sweep, from = to)
      for (const Vec3<double>& point : own)
        if ((point - from).norm() > (to - from).norm()) to = point;
    for (const Vec3<double>& point : own) longest = std::max(longest, (point - from).norm());
  }
  return longest > 0.0 ? longest : 1.0;
}

}  // namespace linkwork
