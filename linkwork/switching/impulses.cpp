#include "linkwork/switching/impulses.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "linkwork/dynamics/diagnosis.h"
#include "linkwork/linalg/index.h"

namespace linkwork {

Impulses::Impulses(Instant& now) : now_(now), response_(now.model) {}

Status Impulses::change_rates(const VecX<double>& change, EventRecord& record) {
  System& system = now_.system();
  State& state = *now_.state;
  const ConstraintTerms& terms = system.terms();
  if (terms.rows() == 0) return {};
  before_ = state.v;
  rate_before_ = terms.rate;
  system.work().clear_forces();
  const auto [unmet, row] = response_.solve(system, change, jump_, impulse_);
  state.v += jump_;
  system.update(state);
  const double work = impulse_.dot(terms.u + 0.5 * (rate_before_ + terms.rate));
  state.work += work;
  record.energy += work;
  const double jump = before_.size() > 0 ? (state.v - before_).cwiseAbs().maxCoeff() : 0.0;
  record.velocity_jump = std::max(record.velocity_jump, jump);
  report(impulse_, record);
  const double rate = std::max(now_.usual_rate(), now_.model.speed(state.v));
  if (row < 0 || unmet <= 1e-8 * now_.model.units.row[row] * rate) return {};
  const int worst[]{row};
  const std::vector<std::string> against = closures_against(system, worst);
  return {fmt::format("'{}' cannot take effect: no velocity satisfies it{}, it is off by {:.3g}",
                      now_.model.rows[at(row)].closure, against.empty() ? "" : " together with " + listed(against), unmet)};
}

Status Impulses::remove_rates(EventRecord& record) {
  change_ = -now_.system().terms().rate;
  return change_rates(change_, record);
}

Status Impulses::bounce(int first, int count, double restitution, EventRecord& record) {
  const Modes kept = now_.modes;
  now_.set_rows(first, count, true);
  now_.take_modes();
  change_ = -now_.system().terms().rate;
  for (int r = first; r < first + count; ++r)
    if (kept.rows[at(r)] == 0) change_[r] *= 1.0 + restitution;
  Status status = change_rates(change_, record);
  now_.modes = kept;
  now_.take_modes();
  return status;
}

void Impulses::kick(const Coordinate& coordinate, double size, EventRecord& record) {
  System& system = now_.system();
  const Joint& joint = now_.model.joints[coordinate.joint()];
  const auto rate = [&] {
    std::array<double, 7> q{};
    std::array<double, 6> v{}, a{};
    system.joint_motion(joint, {}, q, v, a);
    return v[at(coordinate.component)];
  };
  now_.take_modes();
  const double before = rate();
  system.work().clear_forces();
  system.add_coordinate_force(coordinate, size);
  change_ = VecX<double>::Zero(now_.model.row_count());
  response_.solve(system, change_, jump_, impulse_);
  now_.state->v += jump_;
  system.update(*now_.state);
  const double work = size * 0.5 * (before + rate()) + impulse_.dot(system.terms().u);
  now_.state->work += work;
  record.energy += work;
  if (jump_.size() > 0) record.velocity_jump = std::max(record.velocity_jump, jump_.cwiseAbs().maxCoeff());
  report(impulse_, record);
  record.impulses.emplace_back(coordinate_name(joint, joint.kind->velocities[at(coordinate.component)]), size);
}

void Impulses::report(const VecX<double>& impulse, EventRecord& record) const {
  const VecX<double>& unit = now_.model.units.row;
  const double none = 1e-14 * now_.usual_effort / now_.usual_rate();
  for (int row = 0; row < now_.model.row_count(); ++row) {
    if (std::abs(impulse[row]) * unit[row] <= none || now_.model.rows[at(row)].internal) continue;
    const std::string& name = now_.model.rows[at(row)].name;
    const auto known = std::ranges::find(record.impulses, name, &std::pair<std::string, double>::first);
    if (known != record.impulses.end())
      known->second += impulse[row];
    else
      record.impulses.emplace_back(name, impulse[row]);
  }
}

}  // namespace linkwork
