#include "linkwork/switching/frictions.h"

#include <algorithm>
#include <cmath>

namespace linkwork {

Frictions::Frictions(Instant& now)
    : now_(now), at_limit_(count(), 0), ended_(count(), 0), mobility_(count(), 0.0), starting_(count(), 0) {}

double Frictions::limit(std::size_t k) {
  const DryFriction& friction = now_.model.frictions[k];
  if (friction.normal_row < 0) return friction.sticking * now_.system().evaluate(friction.load);
  const double normal = friction.side * now_.lambda[friction.normal_row];
  return friction.sticking * (friction.one_sided ? std::max(0.0, normal) : std::abs(normal));
}

Eigen::Vector2d Frictions::held(std::size_t k) const {
  const DryFriction& friction = now_.model.frictions[k];
  return {now_.lambda[friction.first_row], friction.rows > 1 ? now_.lambda[friction.first_row + 1] : 0.0};
}

double Frictions::value(std::size_t k) {
  if (kind(k) == Kind::kOff) return 1.0;
  if (kind(k) == Kind::kSlip) return now_.system().slip(k).dot(now_.modes.friction[k].direction.normalized());
  const Eigen::Vector2d force = held(k);
  return limit(k) - std::hypot(force.x(), force.y());
}

void Frictions::slide(std::size_t k, const Eigen::Vector2d& direction) {
  slide_on(k, direction);
  starting_[k] = 1;
}

void Frictions::slide_on(std::size_t k, const Eigen::Vector2d& direction) {
  now_.modes.friction[k] = {Kind::kSlip, direction};
  now_.set_rows(now_.model.frictions[k].first_row, now_.model.frictions[k].rows, false);
}

void Frictions::stick(std::size_t k) {
  now_.modes.friction[k].kind = Kind::kStick;
  now_.set_rows(now_.model.frictions[k].first_row, now_.model.frictions[k].rows, true);
}

void Frictions::switch_off(std::size_t k) {
  now_.modes.friction[k].kind = Kind::kOff;
  now_.set_rows(now_.model.frictions[k].first_row, now_.model.frictions[k].rows, false);
}

void Frictions::begin(std::size_t k) {
  if (const Eigen::Vector2d slip = now_.system().slip(k); slip.norm() > still(k))
    slide(k, slip);
  else
    stick(k);
}

void Frictions::give_way(std::size_t k) { slide(k, -held(k).normalized()); }

void Frictions::reach_limit(std::size_t k, double scale) {
  at_limit_[k] = 1;
  if (kind(k) != Kind::kSlip) return;
  const Eigen::Vector2d slip = now_.system().slip(k);
  ended_[k] = slip.norm() <= std::max(1e-6 * scale, still(k));
  if (ended_[k] != 0) return;
  now_.modes.friction[k].direction = slip;  // it turned aside between two steps
  starting_[k] = 0;
}

bool Frictions::has_any_ended() const { return std::ranges::count(ended_, 0) != std::ssize(ended_); }

void Frictions::leave_instant() {
  std::ranges::fill(at_limit_, 0);
  std::ranges::fill(ended_, 0);
}

/// In a plane, the slower it slides the faster friction turns the direction of sliding. Below the speed that friction changes in
/// one step it follows with a delay of about a step, which no method finds stiff: see sliding_direction().
void Frictions::renew_directions() {
  constexpr double kLittle = 0.1;  // as there: below that share of the direction's length the direction is kept
  for (std::size_t k = 0; k < count(); ++k) {
    Modes::Friction& mode = now_.modes.friction[k];
    if (mode.kind != Kind::kSlip) continue;
    const Eigen::Vector2d slip = now_.system().slip(k);
    const double speed = slip.norm();
    const bool may_be_slow = starting_[k] != 0 && now_.model.frictions[k].rows > 1;
    const double slow = may_be_slow ? mobility_[k] * now_.system().friction_force(k).norm() * now_.model.settings.step : 0.0;
    if (speed >= slow) {
      starting_[k] = 0;
      if (speed > still(k)) mode.direction = slip;
      continue;
    }
    Eigen::Vector2d direction = mode.direction.normalized();
    if (speed > still(k) && slip.dot(direction) > 0.0) direction = (slip / slow + (1.0 - speed / slow) * direction).normalized();
    mode.direction = slow / kLittle * direction;
  }
}

void Frictions::renew_mobility(ContactProblem& problem) {
  for (std::size_t k = 0; k < count(); ++k) mobility_[k] = problem.mobility(now_.system(), now_.model.frictions[k].first_row);
}

void Frictions::take_part(ContactPoint& point, std::size_t k, bool as_in_force) {
  const Eigen::Vector2d slip = now_.system().slip(k);
  point.friction = static_cast<int>(k);
  point.lets_go = kind(k) == Kind::kStick && at_limit_[k] != 0;
  if (now_.model.frictions[k].normal_row < 0) point.load = now_.system().evaluate(now_.model.frictions[k].load);
  const bool is_slow = slip.norm() <= still(k);
  // With others that stop at this instant, whether its own watch has told or not.
  if (!as_in_force && kind(k) == Kind::kSlip && is_slow) ended_[k] = 1;
  const bool slides = as_in_force ? kind(k) == Kind::kSlip : kind(k) != Kind::kStick && ended_[k] == 0 && !is_slow;
  if (!slides) return;
  point.slides = std::max(slip.norm(), 1e-300);
  point.along = (is_slow ? now_.modes.friction[k].direction : slip).normalized();
}

void Frictions::restore(const std::vector<double>& mobility, const std::vector<char>& starting) {
  mobility_ = mobility;
  starting_ = starting;
}

}  // namespace linkwork
