#include "linkwork/switching/event_actions.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "linkwork/dynamics/diagnosis.h"
#include "linkwork/linalg/index.h"

namespace linkwork {

namespace {

std::string joined(const std::vector<Action>& actions) {
  std::string text;
  for (const Action& action : actions) text += (text.empty() ? "" : ", ") + action.text;
  return text;
}

}  // namespace

Status EventActions::act(const Event& event) {
  EventRecord record{.name = event.name, .what = joined(event.actions)};
  Modes& modes = now_.modes;
  const auto value = [&](const Action& action) {
    return now_.system().evaluate(action.value, &now_.equations.solution().lambda);
  };
  for (const Action& action : event.actions) {
    using Target = Action::Target;
    const double potential = now_.system().potential_energy();
    switch (action.target) {
      case Target::kRows:
        if (Status status = switch_rows(event, action, record); !status.ok()) return status;
        break;
      case Target::kForce:
        modes.forces[at(action.first)] = action.on;
        break;
      case Target::kParameter:
        modes.parameters[at(action.first)] = value(action);
        break;
      case Target::kBounce:
        if (Status status = impulses_.bounce(action.first, action.count, value(action), record); !status.ok()) return status;
        break;
      case Target::kKick:
        impulses_.kick(action.coordinate, value(action), record);
        break;
      case Target::kStop:
        stopped_by_ = event.name;
        break;
    }
    now_.take_modes();
    const double change = now_.system().potential_energy() - potential;
    now_.state->work += change;
    record.energy += change;
  }
  // A constraint that moves otherwise than before, by a parameter or a drive, strikes too.
  if (Status status = impulses_.remove_rates(record); !status.ok())
    return {fmt::format("event '{}': {}", event.name, status.trouble)};
  now_.keep(std::move(record));
  return {};
}

Status EventActions::switch_rows(const Event& event, const Action& action, EventRecord& record) {
  const Model& model = now_.model;
  const auto rows = now_.modes.rows.begin() + action.first;
  const bool was_on = std::count(rows, rows + action.count, 0) == 0;
  now_.set_rows(action.first, action.count, action.on);
  now_.take_modes();
  if (!action.on || was_on) return {};
  const std::string who = fmt::format("event '{}' switches on '{}'", event.name, model.rows[at(action.first)].closure);
  if (Status status = check_closed(who, action.first, action.count); !status.ok()) return status;
  if (Status status = impulses_.remove_rates(record); !status.ok()) return {who + ", but " + status.trouble};
  const Diagnosis diagnosis = diagnose(model, *now_.state, now_.modes);
  const std::string contradiction = describe_contradiction(model, diagnosis);
  if (!contradiction.empty()) return {who + ", but " + contradiction};
  bool redundant = false;
  for (int r = action.first; r < action.first + action.count; ++r)
    redundant = redundant || diagnosis.rows[at(r)].kind != RowDiagnosis::Kind::kIndependent;
  if (!redundant) return {};
  std::string text = fmt::format("at t = {:.6g} s {}, which makes the mechanism over-constrained", now_.state->t, who);
  for (const std::string& sentence : describe_dependence(model, diagnosis)) text += "; " + sentence;
  now_.warnings.push_back(std::move(text));
  return {};
}

/// Positions do not jump: what is switched on must fit where the mechanism is.
Status EventActions::check_closed(const std::string& who, int first, int count) {
  for (int r = first; r < first + count; ++r) {
    const double error = std::abs(now_.system().terms().phi[r]);
    if (error > now_.fit(r))
      return {fmt::format("{}, but its row '{}' is off by {:.3g} there: it can only close where it fits", who,
                          now_.model.rows[at(r)].name, error)};
  }
  return {};
}

}  // namespace linkwork
