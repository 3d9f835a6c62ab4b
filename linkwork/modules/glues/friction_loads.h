#pragma once

#include <functional>
#include <vector>

#include "linkwork/modules/hierarchy.h"

namespace linkwork {

/// Friction that slides in modules and between them needs normal forces, which depend on the friction of all of them. The
/// normal forces n that come of friction under loads x are affine, n = n0 + N (x - x0), so that one step of Newton's method on
/// n(x) = x finds them: every rank makes it, with the same numbers.
class FrictionLoads {
 public:
  FrictionLoads(Workshop& workshop, Hierarchy& hierarchy) : workshop_(workshop), hierarchy_(hierarchy) {}

  /// Other things are in force from here on. All ranks call it.
  void lay_out();
  bool empty() const { return now_.size() == 0; }
  /// After solve() with the loads that there were: finds those that fit. solve() finds the forces of all modules anew.
  Status find(const std::function<Status()>& solve);

 private:
  template <class Visit>
  void for_each_part(Visit visit);
  void set(const VecX<double>& loads);
  void gather(VecX<double>& found);

  Workshop& workshop_;
  Hierarchy& hierarchy_;
  std::vector<int> places_;  // by module of the plan, then coupling
  std::vector<int> ends_;    // of the ranks' parts
  VecX<double> now_, found_, moved_, probe_;
  MatX<double> response_;
};

}  // namespace linkwork
