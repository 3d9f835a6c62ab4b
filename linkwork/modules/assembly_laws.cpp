#include "linkwork/modules/assembly_laws.h"

namespace linkwork {

AssemblyLaws::AssemblyLaws(const Model* whole, Transport& transport) : transport_(transport) {
  double any = 0.0;
  if (whole) {
    laws_ = std::make_unique<TimeLaws>(*whole);
    any = laws_->empty() ? 0.0 : 1.0;
    start_.q = Eigen::Map<const VecX<double>>(whole->start_q.data(), whole->tree.nq);
    start_.v = Eigen::Map<const VecX<double>>(whole->start_v.data(), whole->tree.nv);
    start_.z = VecX<double>::Zero(std::ssize(whole->states));
    at_start_ = std::make_unique<System>(*whole);
    at_start_->update(start_);
  }
  transport_.broadcast({&any, 1}, 0);
  any_ = any != 0.0;
}

double AssemblyLaws::seen_until(System* now, double t, double until) {
  if (!any_) return until;
  double end = until;
  if (laws_) end = laws_->seen_until(now ? *now : *at_start_, t, until);
  transport_.broadcast({&end, 1}, 0);
  return end;
}

}  // namespace linkwork
