#include "linkwork/switching/contacts.h"

#include <algorithm>
#include <cmath>

#include "linkwork/linalg/index.h"

namespace linkwork {

Contacts::Contacts(Instant& now, Frictions& frictions)
    : now_(now), frictions_(frictions), problem_(now.model), at_limit_(count(), 0), idle_(now.model.rows.size(), 0) {
  for (const Contact& contact : now.model.contacts) {
    int found = -1;
    for (std::size_t k = 0; k < now.model.frictions.size(); ++k)
      if (now.model.frictions[k].one_sided && now.model.frictions[k].name == contact.name) found = static_cast<int>(k);
    friction_of_.push_back(found);
  }
}

double Contacts::gap(std::size_t c) const {
  const Contact& contact = now_.model.contacts[c];
  return contact.side * now_.system().error(contact.row);
}

double Contacts::opening(std::size_t c) const {
  const Contact& contact = now_.model.contacts[c];
  return contact.side * now_.system().error_rate(contact.row);
}

double Contacts::value(std::size_t c) const {
  const Contact& contact = now_.model.contacts[c];
  if (is_closed(c))
    return idle_[at(contact.row)] != 0 ? now_.largest_force(contact.row) : contact.side * now_.lambda[contact.row];
  const double gap = this->gap(c);
  return gap >= 0.0 ? gap : std::max(gap, opening(c) * now_.model.settings.step);
}

std::vector<std::size_t> Contacts::closing() const {
  std::vector<std::size_t> closing;
  for (std::size_t c = 0; c < count(); ++c)
    if (!is_closed(c) && touches(c) && opening(c) < -still(c)) closing.push_back(c);
  return closing;
}

void Contacts::open(std::size_t c) {
  const Contact& contact = now_.model.contacts[c];
  now_.set_rows(contact.row, 1 + contact.along, false);
  if (friction_of_[c] >= 0) frictions_.switch_off(at(friction_of_[c]));
}

void Contacts::close(std::size_t c) {
  const Contact& contact = now_.model.contacts[c];
  now_.set_rows(contact.row, 1 + contact.along, true);
}

void Contacts::leave_instant() { std::ranges::fill(at_limit_, 0); }

void Contacts::read_loads() {
  const Solution& solution = now_.equations.solution();
  now_.equations.complete();
  now_.lambda = solution.lambda;
  if (now_.exact && (redundant_ || solution.rank.rank != settled_rank_)) share_loads();
  if (frictions_.count() > 0) now_.energy_scale = std::max(now_.energy_scale, now_.system().kinetic_energy());
}

/// Whether everything that is closed presses and what sticks stays within its limits, by the multipliers at hand.
bool Contacts::holds() {
  for (std::size_t c = 0; c < count(); ++c)
    if (is_closed(c) && value(c) < 0.0) return false;
  for (std::size_t k = 0; k < frictions_.count(); ++k)
    if (frictions_.kind(k) == Frictions::Kind::kStick && frictions_.value(k) < 0.0) return false;
  return true;
}

/// Where rows repeat one another, multipliers are not unique, and those of dependent rows say nothing: forces hold if some
/// distribution of them does.
void Contacts::share_loads() {
  if (holds()) return;
  std::vector<ContactPoint> points = points_in_force();
  if (points.empty()) return;
  problem_.assemble(now_.system(), now_.modes, std::move(points));
  problem_.find_redundancy();
  if (problem_.is_redundant()) problem_.share(now_.lambda);
}

void Contacts::note_redundancy() {
  settled_rank_ = now_.equations.solution().rank.rank;
  redundant_ = false;
  std::ranges::fill(idle_, 0);
  frictions_.renew_mobility(problem_);
  if (!now_.exact) return;
  std::vector<ContactPoint> points = points_in_force();
  if (points.empty()) return;
  problem_.assemble(now_.system(), now_.modes, std::move(points));
  problem_.find_redundancy();
  redundant_ = problem_.is_redundant();
  idle_ = problem_.vanishing();
}

std::vector<ContactPoint> Contacts::points_in_force() {
  std::vector<ContactPoint> points;
  for (std::size_t c = 0; c < count(); ++c) {
    if (!is_closed(c)) continue;
    ContactPoint& point = points.emplace_back(ContactPoint{.contact = static_cast<int>(c)});
    if (friction_of_[c] >= 0) frictions_.take_part(point, at(friction_of_[c]), true);
  }
  for (std::size_t k = 0; k < frictions_.count(); ++k)
    if (!now_.model.frictions[k].one_sided && frictions_.kind(k) == Frictions::Kind::kStick)
      frictions_.take_part(points.emplace_back(), k, true);
  return points;
}

/// What bounces is without speed at the top of each flight, too, where something else may happen: friction in the same joint
/// turns round. A flight that is higher than rounding is not over then.
bool Contacts::rests(std::size_t c) const {
  constexpr double kFlight = 1e-12;
  const Contact& contact = now_.model.contacts[c];
  if (!touches(c) || std::abs(opening(c)) > still(c)) return false;
  return now_.quiet || is_at_limit(c) || contact.restitution == 0.0 || gap(c) <= kFlight * now_.model.units.row[contact.row];
}

std::vector<ContactPoint> Contacts::points_at_rest() {
  std::vector<ContactPoint> points;
  for (std::size_t c = 0; c < count(); ++c) {
    if (!is_closed(c) && !rests(c)) continue;
    ContactPoint& point = points.emplace_back(ContactPoint{.contact = static_cast<int>(c)});
    point.gives_way = is_closed(c) && is_at_limit(c);
    if (friction_of_[c] >= 0) frictions_.take_part(point, at(friction_of_[c]), false);
  }
  for (std::size_t k = 0; k < frictions_.count(); ++k) {
    if (now_.model.frictions[k].one_sided) continue;
    ContactPoint point;
    frictions_.take_part(point, k, false);
    if (!(point.slides > 0.0)) points.push_back(point);
  }
  return points;
}

std::string Contacts::names_of(const std::vector<ContactPoint>& points) const {
  std::vector<std::string> names;
  for (const ContactPoint& point : points)
    names.push_back(point.contact >= 0 ? now_.model.contacts[at(point.contact)].name
                                       : now_.model.frictions[at(point.friction)].name);
  return listed(names);
}

void Contacts::save(SavedSwitching& saved) const {
  saved.settled_rank = settled_rank_;
  saved.redundant = redundant_;
  saved.idle = idle_;
}

void Contacts::restore(const SavedSwitching& saved) {
  settled_rank_ = saved.settled_rank;
  redundant_ = saved.redundant;
  idle_ = saved.idle;
}

}  // namespace linkwork
