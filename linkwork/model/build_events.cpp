#include <fmt/format.h>

#include <algorithm>

#include "linkwork/model/binding.h"
#include "linkwork/model/building.h"

namespace linkwork {

namespace {

/// Events and what they do, by the names of what they change.
class EventBuilder {
 public:
  EventBuilder(const Binding& binding, Model& model) : binding_(binding), model_(model) {}

  void add_event(const EventSpec& spec) {
    Event event{spec.name, binding_.bind(spec.when), spec.direction, {}, spec.place};
    for (const ActionSpec& action : spec.actions) event.actions.push_back(bound_action(action));
    model_.events.push_back(std::move(event));
  }

 private:
  Action bound_action(const ActionSpec& spec) {
    using Kind = ActionSpec::Kind;
    Action action;
    action.value = binding_.bind(spec.value);
    switch (spec.kind) {
      case Kind::kStop:
        action.text = "stop";
        break;
      case Kind::kSet: {
        action.target = Action::Target::kParameter;
        action.text = fmt::format("set {} = {}", spec.name, spec.value.text());
        const auto at = std::ranges::find(model_.parameters, spec.name, &Parameter::name);
        action.first = static_cast<int>(at - model_.parameters.begin());
        break;
      }
      case Kind::kKick:
        action.target = Action::Target::kKick;
        action.text = fmt::format("kick {} by {}", spec.name, spec.value.text());
        action.coordinate = binding_.coordinate(spec.name, true, spec.place);
        break;
      case Kind::kBounce:
        action.target = Action::Target::kBounce;
        action.text = fmt::format("bounce {} with {}", spec.name, spec.value.text());
        find_rows(spec, action);
        if (action.count == 0) throw unknown_name(spec.place, "closure", spec.name, closure_names());
        break;
      case Kind::kOn:
      case Kind::kOff:
        action.on = spec.kind == Kind::kOn;
        action.text = fmt::format("{} {}", action.on ? "on" : "off", spec.name);
        find_switched(spec, action);
        break;
    }
    return action;
  }

  void find_rows(const ActionSpec& spec, Action& action) const {
    for (int r = model_.row_count(); r-- > 0;)
      if (model_.rows[static_cast<std::size_t>(r)].closure == spec.name) action.first = r, ++action.count;
  }

  void find_switched(const ActionSpec& spec, Action& action) {
    // Of forces that share a name the last is meant.
    for (std::size_t k = model_.forces.size(); k-- > 0;)
      if (model_.forces[k].name == spec.name && !spec.name.empty()) {
        action.target = Action::Target::kForce;
        action.first = static_cast<int>(k);
        return;
      }
    action.target = Action::Target::kRows;
    find_rows(spec, action);
    if (action.count == 0) {
      std::vector<std::string> known = closure_names();
      for (const Force& force : model_.forces)
        if (!force.name.empty()) known.push_back(force.name);
      std::ranges::sort(known);
      throw unknown_name(spec.place, "closure or force", spec.name, known);
    }
    for (int r = action.first; r < action.first + action.count; ++r) {
      const auto is_contact = [&](const Contact& c) { return c.row == r; };
      const auto is_friction = [&](const DryFriction& f) { return r >= f.first_row && r < f.first_row + f.rows; };
      if (std::ranges::any_of(model_.contacts, is_contact) || std::ranges::any_of(model_.frictions, is_friction))
        throw InputError(spec.place, fmt::format("'{}' opens and closes by itself, or has friction", spec.name),
                         "a closure that is neither one-sided nor has friction");
      model_.rows[static_cast<std::size_t>(r)].switched = true;
    }
  }

  std::vector<std::string> closure_names() const {
    std::vector<std::string> names;
    for (const ConstraintRow& r : model_.rows)
      if (names.empty() || names.back() != r.closure) names.push_back(r.closure);
    return names;
  }

  const Binding& binding_;
  Model& model_;
};

}  // namespace

void build_events(const Binding& binding, Model& model) {
  EventBuilder builder(binding, model);
  for (const EventSpec& event : binding.spec().events) builder.add_event(event);
}

}  // namespace linkwork
