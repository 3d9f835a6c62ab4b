#include "linkwork/switching/impacts.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "linkwork/linalg/index.h"

namespace linkwork {

Impacts::Impacts(Instant& now, Contacts& contacts, Frictions& frictions, Impulses& impulses)
    : now_(now),
      contacts_(contacts),
      frictions_(frictions),
      impulses_(impulses),
      counts_(contacts.count(), 0),
      times_(contacts.count()),
      enough_(contacts.count(), 0.0) {}

void Impacts::restore(const std::vector<int>& counts, std::vector<std::vector<double>> times, const std::vector<double>& enough) {
  counts_ = counts;
  times_ = std::move(times);
  enough_ = enough;
}

/// Whether the flights of a contact have become so short that it has come to rest: they shrink by a ratio, of which their sum
/// follows. Or the integrator, of low order, makes up the energy that impacts take: flights of a few steps then go on for ever.
/// In words; empty if it flies on.
std::string Impacts::reason_to_rest(std::size_t c, double rebound) {
  constexpr double kLowest = 1e-13, kSlowest = 1e-7;  // positions cannot tell
  const double unit = now_.model.units.row[now_.model.contacts[c].row];
  constexpr std::size_t kRemembered = 40;
  std::vector<double>& times = times_[c];
  times.push_back(now_.state->t);
  if (times.size() > kRemembered) times.erase(times.begin());
  const std::size_t n = times.size();
  const bool is_lively = now_.model.contacts[c].restitution > 0.9;  // its flights are long when that happens
  if (n > 1 && times[n - 1] - times[n - 2] < 10.0 * now_.model.settings.step && energy_made_up() > enough_[c] && !is_lively)
    return "in flights too short for the steps";
  const std::string ever_faster = "ever faster";
  if (rebound < kSlowest * unit * now_.usual_rate()) return ever_faster;
  if (n < 4) return {};
  const double first = times[n - 3] - times[n - 4], second = times[n - 2] - times[n - 3], third = times[n - 1] - times[n - 2];
  const double ratio = std::max(second / first, third / second);
  if (!(ratio < 1.0)) return {};
  const double left = third * ratio / (1.0 - ratio);  // in time, until the flights have added up
  const bool is_over = rebound * third * ratio < 8.0 * kLowest * unit || left < 1e-13 * std::max(1.0, std::abs(now_.state->t));
  return is_over ? ever_faster : "";
}

/// By the integrator, up to a constant.
double Impacts::energy_made_up() const {
  return now_.system().kinetic_energy() + now_.system().potential_energy() - now_.state->work;
}

Status Impacts::strike(const std::vector<std::size_t>& closing) {
  ContactProblem& problem = contacts_.problem();
  System& system = now_.system();
  Modes modes = now_.modes;
  const std::vector<ContactPoint> points = points_of(closing, modes);
  problem.assemble(system, modes, points);
  if (!problem.solve_impulses()) return {"no impulses fit the impact at " + contacts_.names_of(points)};
  const double energy = system.kinetic_energy(), drives = problem.multipliers().dot(system.terms().u);
  for (std::size_t p = 0; p < points.size(); ++p)
    if (points[p].is_closing) enough_[at(points[p].contact)] = energy_made_up() - problem.work(p);
  now_.state->v += problem.response();
  record(points);
  now_.take_modes();
  if (system.kinetic_energy() > energy * (1.0 + 1e-9) + drives)
    now_.warn_once(
        "law of impact with this friction",
        fmt::format("contact '{}' at t = {:.6g} s: {}'s law of impact with this friction adds energy ({:.3g} J)",
                    now_.model.contacts[closing.front()].name, now_.state->t,
                    now_.model.contacts[closing.front()].poisson ? "Poisson" : "Newton", system.kinetic_energy() - energy));
  part_or_hold(points);
  return {};
}

/// Modes: as in force, less what takes no part.
std::vector<ContactPoint> Impacts::points_of(const std::vector<std::size_t>& closing, Modes& modes) {
  std::vector<ContactPoint> points;
  for (std::size_t c = 0; c < contacts_.count(); ++c) {
    const double opening = contacts_.opening(c);
    if (!contacts_.is_closed(c) && !(contacts_.touches(c) && opening <= contacts_.still(c))) continue;
    ContactPoint& point = points.emplace_back(ContactPoint{.contact = static_cast<int>(c), .friction = contacts_.friction_of(c)});
    const Contact& contact = now_.model.contacts[c];
    point.poisson = contact.poisson;
    if (contact.poisson) point.restitution = contact.restitution;
    if (std::ranges::find(closing, c) == closing.end()) continue;
    ++counts_[c];
    point.is_closing = true;
    const std::string reason = reason_to_rest(c, -opening * contact.restitution);
    point.restitution = reason.empty() ? contact.restitution : 0.0;
    if (!reason.empty() && contact.restitution > 0.0)
      now_.warn_once(fmt::format("contact '{}' struck", contact.name),
                     fmt::format("contact '{}' struck {} times, {}: from t = {:.6g} s on it is taken to rest", contact.name,
                                 counts_[c], reason, now_.state->t));
  }
  for (std::size_t k = 0; k < frictions_.count(); ++k) {
    const DryFriction& friction = now_.model.frictions[k];
    if (friction.one_sided) continue;
    if (friction.normal_row >= 0)
      points.push_back({.friction = static_cast<int>(k)});
    else
      for (int r = 0; r < friction.rows; ++r) modes.rows[at(friction.first_row + r)] = 0;
  }
  return points;
}

/// The impulses just found, and their work. The first contact that strikes has the impulses and the work of all other rows.
void Impacts::record(const std::vector<ContactPoint>& points) {
  const ContactProblem& problem = contacts_.problem();
  const VecX<double>& impulses = problem.multipliers();
  const double drives = impulses.dot(now_.system().terms().u);
  const double jump = problem.response().cwiseAbs().maxCoeff();
  bool first = true;
  for (std::size_t p = 0; p < points.size(); ++p) {
    const double work = problem.work(p) + (first ? drives : 0.0);
    now_.state->work += work;
    if (points[p].contact < 0 || !points[p].is_closing) continue;
    EventRecord record{.name = now_.model.contacts[at(points[p].contact)].name,
                       .what = points[p].restitution > 0.0 ? "bounces" : "closes",
                       .velocity_jump = jump,
                       .energy = work};
    VecX<double> own = first ? impulses : VecX<double>::Zero(impulses.size());
    for (std::size_t other = 0; other < points.size(); ++other)
      for (int r : rows_of(points[other])) own[r] = other == p || (first && !points[other].is_closing) ? impulses[r] : 0.0;
    impulses_.report(own, record);
    keep(std::move(record));
    struck_[at(points[p].contact)] = 1;
    first = false;
  }
}

/// By the velocities after the impact.
void Impacts::part_or_hold(const std::vector<ContactPoint>& points) {
  for (const ContactPoint& point : points) {
    if (point.contact < 0) continue;
    const std::size_t c = at(point.contact);
    if (contacts_.opening(c) > contacts_.still(c)) {
      contacts_.open(c);
      continue;
    }
    contacts_.close(c);
    if (point.friction >= 0) frictions_.begin(at(point.friction));
  }
  for (std::size_t k = 0; k < frictions_.count(); ++k)
    if (!now_.model.frictions[k].one_sided) frictions_.begin(k);
}

std::vector<int> Impacts::rows_of(const ContactPoint& point) const {
  std::vector<int> rows;
  if (point.contact >= 0) {
    const Contact& contact = now_.model.contacts[at(point.contact)];
    for (int r = 0; r <= contact.along; ++r) rows.push_back(contact.row + r);
  }
  if (point.friction >= 0) {
    const DryFriction& friction = now_.model.frictions[at(point.friction)];
    for (int r = 0; r < friction.rows; ++r) rows.push_back(friction.first_row + r);
  }
  return rows;
}

/// At the start too.
void Impacts::keep(EventRecord record) {
  const bool was_quiet = std::exchange(now_.quiet, false);
  now_.keep(std::move(record));
  now_.quiet = was_quiet;
}

Status Impacts::jam(const ContactPoint& point) {
  const Contact& contact = now_.model.contacts[at(point.contact)];
  const std::string why = fmt::format("at t = {:.6g} s no force fits the sliding contact '{}' (Painleve's paradox, inconsistent)",
                                      now_.state->t, contact.name);
  frictions_.stick(at(point.friction));
  contacts_.close(at(point.contact));
  now_.take_modes();
  EventRecord record{.name = contact.name, .what = "jams"};
  if (Status status = impulses_.remove_rates(record); !status.ok()) return {why + ": " + status.trouble};
  double across = 0.0;
  const DryFriction& friction = now_.model.frictions[at(point.friction)];
  for (int r = 0; r < friction.rows; ++r) across = std::hypot(across, impulses_.last()[friction.first_row + r]);
  const double normal = contact.side * impulses_.last()[contact.row];
  if (across > friction.sticking * normal * (1.0 + 1e-9)) return {why + ", and no impulse stops it either"};
  keep(std::move(record));
  now_.warn_once(fmt::format("sliding contact '{}'", contact.name), why + ": an impact without collision stops the sliding");
  return {};
}

}  // namespace linkwork
