#include "linkwork/switching/settling.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "linkwork/linalg/index.h"

namespace linkwork {

namespace {

using FrictionKind = Modes::Friction::Kind;
using Found = ContactProblem::State;

}  // namespace

Settling::Settling(Instant& now, Contacts& contacts, Frictions& frictions, Impulses& impulses, Impacts& impacts)
    : now_(now), contacts_(contacts), frictions_(frictions), impulses_(impulses), impacts_(impacts) {}

Status Settling::settle() {
  const Modes before = now_.modes;
  impacts_.begin();
  sticking_ = {};
  for (int round = 0; round <= kMostRounds; ++round) {
    now_.take_modes();
    if (const std::vector<std::size_t> closing = contacts_.closing(); !closing.empty()) {
      if (Status status = impacts_.strike(closing); !status.ok()) return status;
      continue;
    }
    bool again = false;
    if (Status status = now_.exact ? decide(again) : decide_each(); !status.ok()) return status;
    if (again) continue;
    report_changes(before);
    contacts_.note_redundancy();
    return {};
  }
  std::string names;
  for (std::size_t c : contacts_.closing())
    names += fmt::format("{}'{}'", names.empty() ? "" : ", ", now_.model.contacts[c].name);
  return {fmt::format("impacts at one instant set one another off without end: {}", names)};
}

/// The forces of all points at rest, and what follows.
Status Settling::decide(bool& again) {
  const std::vector<ContactPoint> points = contacts_.points_at_rest();
  if (points.empty()) return now_.evaluate();
  ContactProblem& problem = contacts_.problem();
  problem.assemble(now_.system(), now_.modes, points);
  const Modes kept = now_.modes;
  now_.modes = problem.without_points();
  if (Status status = now_.evaluate(); !status.ok()) return status;
  const bool solved = problem.solve_forces(now_.rates->vdot, now_.equations.solution().lambda);
  now_.modes = kept;
  if (!solved) {
    again = true;
    if (const int p = problem.jammed(); p >= 0) return impacts_.jam(points[at(p)]);
    return {"no forces fit the contacts and friction at " + contacts_.names_of(points)};
  }
  warn_of_ambiguity(points);
  take_found(points);
  if (Status status = stop_what_holds(kept); !status.ok()) return status;
  if (Status status = now_.evaluate(); !status.ok()) return status;
  return release_all();
}

void Settling::warn_of_ambiguity(const std::vector<ContactPoint>& points) {
  const int p = contacts_.problem().ambiguous();
  if (p < 0) return;
  const std::string& name = now_.model.contacts[at(points[at(p)].contact)].name;
  now_.warn_once(fmt::format("contact '{}' may open", name),
                 fmt::format("at t = {:.6g} s contact '{}' may open or press, its friction allows both (Painleve's paradox): it "
                             "is taken to {}",
                             now_.state->t, name, contacts_.problem().found(at(p)) == Found::kOpen ? "open" : "press"));
}

void Settling::take_found(const std::vector<ContactPoint>& points) {
  const ContactProblem& problem = contacts_.problem();
  for (std::size_t p = 0; p < points.size(); ++p) {
    const ContactPoint& point = points[p];
    if (point.contact >= 0 && problem.found(p) == Found::kOpen) {
      contacts_.open(at(point.contact));
      continue;
    }
    if (point.contact >= 0) contacts_.close(at(point.contact));
    if (point.friction < 0) continue;
    if (problem.found(p) != Found::kSlides)
      frictions_.stick(at(point.friction));
    else if (point.slides > 0.0)
      frictions_.slide_on(at(point.friction), point.slides * point.along);
    else
      frictions_.slide(at(point.friction), problem.direction(p));
  }
}

/// What holds from here on has come to rest but for rounding, which is taken away. What would take a jolt does not hold: it only
/// passes through zero, as a slider does at dead centre.
Status Settling::stop_what_holds(const Modes& before) {
  constexpr double kGentle = 1e-8;  // of the kinetic energy in the step
  bool any = false;
  for (std::size_t r = 0; r < before.rows.size(); ++r) any = any || (now_.modes.rows[r] != 0 && before.rows[r] == 0);
  now_.take_modes();
  if (!any) return {};
  const VecX<double> v = now_.state->v;
  const double work = now_.state->work, energy = now_.system().kinetic_energy();
  Status status = impulses_.remove_rates(sticking_);
  const bool gentle = status.ok() && energy - now_.system().kinetic_energy() <= kGentle * now_.energy_scale;
  if (gentle || !frictions_.has_any_ended()) return status;
  now_.state->v = v;
  now_.state->work = work;
  sticking_ = {};
  const ContactProblem& problem = contacts_.problem();
  for (std::size_t p = 0; p < problem.points().size(); ++p) {
    const int friction = problem.points()[p].friction;
    if (friction < 0 || !frictions_.has_ended(at(friction)) || frictions_.kind(at(friction)) != FrictionKind::kStick) continue;
    const Eigen::Vector2d free = problem.free_motion(p);
    frictions_.slide(at(friction), free.norm() > 0.0 ? Eigen::Vector2d(free.normalized())
                                                     : Eigen::Vector2d(-now_.modes.friction[at(friction)].direction));
  }
  now_.take_modes();
  return {};
}

/// By the formulation's own multipliers, each for itself: for springs in place of constraints, where they are unique.
Status Settling::decide_each() {
  for (std::size_t c = 0; c < contacts_.count(); ++c) {
    const bool due = now_.quiet || contacts_.is_at_limit(c);
    if (contacts_.is_closed(c) || !contacts_.touches(c) || !due || contacts_.opening(c) > contacts_.still(c)) continue;
    contacts_.close(c);
    if (const int k = contacts_.friction_of(c); k >= 0) frictions_.begin(at(k));
  }
  for (std::size_t k = 0; k < frictions_.count(); ++k)
    if (frictions_.has_ended(k) && frictions_.kind(k) == FrictionKind::kSlip) frictions_.stick(k);
  if (Status status = now_.evaluate(); !status.ok()) return status;
  return release_all();
}

/// Lets go of what cannot hold, one after another: the last word of the equations themselves.
Status Settling::release_all() {
  const std::size_t most = 2 * (now_.model.events.size() + contacts_.count() + frictions_.count()) + 2;
  for (std::size_t round = 0; round < most; ++round) {
    contacts_.unsettle();
    contacts_.read_loads();
    if (!release()) break;
    if (Status status = now_.evaluate(); !status.ok()) return status;
  }
  return {};
}

/// Lets go of the one thing that is worst off; false if nothing is.
bool Settling::release() {
  const auto little = [&](int row) { return now_.exact ? 1e-6 * now_.largest_force(row) : 0.5 * now_.rounding_of_force(row); };
  double most = 1.0;  // what is missing, by what is little
  int worst = -1;
  for (std::size_t c = 0; c < contacts_.count(); ++c)
    if (const double missing = -contacts_.value(c) / little(now_.model.contacts[c].row); contacts_.is_closed(c) && missing > most)
      most = missing, worst = static_cast<int>(c);
  if (worst >= 0) {
    contacts_.open(at(worst));
    return true;
  }
  for (std::size_t k = 0; k < frictions_.count(); ++k)
    if (const double missing = -frictions_.value(k) / little(now_.model.frictions[k].first_row);
        frictions_.kind(k) == FrictionKind::kStick && missing > most)
      most = missing, worst = static_cast<int>(k);
  if (worst >= 0) frictions_.give_way(at(worst));
  return worst >= 0;
}

void Settling::report_changes(const Modes& before) {
  for (std::size_t c = 0; c < contacts_.count(); ++c) {
    const Contact& contact = now_.model.contacts[c];
    const bool was_closed = before.rows[at(contact.row)] != 0;
    if (contacts_.is_closed(c) == was_closed || impacts_.has_struck(c)) continue;
    now_.keep({.name = contact.name, .what = contacts_.is_closed(c) ? "closes" : "opens"});
  }
  for (std::size_t k = 0; k < frictions_.count(); ++k) {
    const Modes::Friction &was = before.friction[k], &is = now_.modes.friction[k];
    EventRecord record;
    if (was.kind == FrictionKind::kStick && is.kind == FrictionKind::kSlip) record.what = "slides";
    if (was.kind == FrictionKind::kSlip && is.kind == FrictionKind::kStick) {
      record = std::exchange(sticking_, {});
      record.what = "sticks";
    }
    if (was.kind == FrictionKind::kSlip && is.kind == FrictionKind::kSlip && frictions_.has_ended(k) &&
        was.direction.dot(is.direction) < 0.0)
      record.what = "turns round";
    record.name = now_.model.frictions[k].name;
    if (!record.what.empty()) now_.keep(std::move(record));
  }
}

}  // namespace linkwork
