#include "linkwork/simulation/one_tree.h"

#include <algorithm>
#include <array>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "linkwork/dynamics/system.h"
#include "linkwork/integrators/tableau.h"
#include "linkwork/linalg/index.h"
#include "linkwork/model/joint_state.h"
#include "linkwork/model/kinds.h"

namespace linkwork {

namespace {

/// The joint that leaves the motion that a closure leaves; null if there is none.
const JointKind* joint_like(const ClosureSpec& closure) {
  const JointKind* const kind = find_joint_kind(closure.type == "point" ? "spherical" : closure.type);
  return kind != nullptr && !kind->rows.empty() ? kind : nullptr;
}

bool is_usual(const Settings& settings) {
  const auto is_one_of = [](const Choice& choice, std::initializer_list<const char*> names) {
    return std::ranges::find(names, choice.name) != names.end();
  };
  return is_one_of(settings.coordinates, {"auto", "TA"}) && is_one_of(settings.formulation, {"auto", "schur"}) &&
         is_one_of(settings.stabilization, {"projection"}) &&
         std::ranges::find(tableaus(), settings.integrator.name, &Tableau::name) != tableaus().end();
}

/// Joints and closures that expressions, forces or relations refer to: every part of a name that could be one.
std::set<std::string> names_in_use(const Spec& spec) {
  std::set<std::string> names;
  const auto use = [&](const std::string& name) {
    names.insert(name);
    for (std::size_t dot = name.find('.'); dot != std::string::npos; dot = name.find('.', dot + 1))
      names.insert(name.substr(0, dot));
  };
  const auto look = [&](const Expression& expression) {
    for (const std::string& variable : expression.variables())
      if (const std::size_t dot = variable.find('.'); dot != std::string::npos) use(variable.substr(dot + 1));
  };
  for (const ClosureSpec& closure : spec.closures) {
    for (const std::string& joint : closure.joints) use(joint);
    look(closure.value);
    if (closure.friction && closure.friction->load) look(*closure.friction->load);
  }
  for (const ForceSpec& force : spec.forces) {
    use(force.joint);
    look(force.value), look(force.law);
    for (const Expression& component : force.force) look(component);
    for (const Expression& component : force.torque) look(component);
  }
  for (const SensorSpec& sensor : spec.sensors) look(sensor.value);
  for (const InputSpec& input : spec.inputs) look(input.value);
  for (const StateSpec& state : spec.states) look(state.rate);
  return names;
}

/// Which bodies hang together by what, without the free joints that may be given up.
class Links {
 public:
  explicit Links(std::size_t bodies) : links_(bodies), place_(bodies, 0), lowest_(bodies, 0) {}

  /// Its number.
  int add(int a, int b) {
    links_[at(a)].emplace_back(count_, b);
    links_[at(b)].emplace_back(count_, a);
    return count_++;
  }

  /// By link: whether the two ends hang together by nothing else.
  std::vector<char> bridges() {
    std::vector<char> result(at(count_), 0);
    for (std::size_t body = 0; body < links_.size(); ++body)
      if (place_[body] == 0) search(static_cast<int>(body), result);
    return result;
  }

 private:
  struct Visit {
    int body, by;
    std::size_t next;
  };

  /// Depth first, without recursion: chains may be long.
  void search(int from, std::vector<char>& result) {
    std::vector<Visit> stack;
    const auto enter = [&](int body, int by) {
      place_[at(body)] = lowest_[at(body)] = ++places_;
      stack.push_back({body, by, 0});
    };
    enter(from, -1);
    while (!stack.empty()) {
      Visit& visit = stack.back();
      if (visit.next < links_[at(visit.body)].size()) {
        const auto [link, other] = links_[at(visit.body)][visit.next++];
        if (link == visit.by) continue;
        if (place_[at(other)] == 0)
          enter(other, link);
        else
          lowest_[at(visit.body)] = std::min(lowest_[at(visit.body)], place_[at(other)]);
        continue;
      }
      const Visit done = visit;
      stack.pop_back();
      if (stack.empty()) break;
      int& before = lowest_[at(stack.back().body)];
      before = std::min(before, lowest_[at(done.body)]);
      result[at(done.by)] = lowest_[at(done.body)] > place_[at(stack.back().body)];
    }
  }

  std::vector<std::vector<std::pair<int, int>>> links_;  // by body: number, and where it leads
  std::vector<int> place_, lowest_;
  int count_ = 0, places_ = 0;
};

/// A closure that the tree is to run through, and the joint that is not needed any more.
struct Exchange {
  std::size_t closure, joint;
};

class Exchanges {
 public:
  Exchanges(const Spec& spec, const Model& model) : spec_(spec), model_(model), used_(names_in_use(spec)) {
    body_of_["ground"] = 0;
    for (std::size_t i = 0; i < spec.bodies.size(); ++i) body_of_[spec.bodies[i].name] = static_cast<int>(i) + 1;
    for (std::size_t body = 0; body <= spec.bodies.size(); ++body) part_.push_back(static_cast<int>(body));
    hangs_on_.assign(part_.size(), -1);
  }

  std::vector<Exchange> find() {
    Links links(part_.size());
    for (std::size_t j = 0; j < spec_.joints.size(); ++j) {
      if (may_go(j)) continue;
      const auto [a, b] = bodies(spec_.joints[j].parent, spec_.joints[j].child);
      links.add(a, b);
      if (!model_.joints[j].cut) part_[at(part(b))] = part(a);
    }
    for (std::size_t j = 0; j < spec_.joints.size(); ++j)
      if (const auto [a, b] = bodies(spec_.joints[j].parent, spec_.joints[j].child); may_go(j))
        hangs_on_[at(part(std::max(a, b)))] = static_cast<int>(j);
    std::vector<int> link_of;
    for (const ClosureSpec& closure : spec_.closures) {
      const auto [a, b] = bodies(closure.a, closure.b);
      link_of.push_back(find_kind(spec_.kinds->closures, closure.type) == nullptr ? links.add(a, b) : -1);
    }
    const std::vector<char> bridges = links.bridges();
    std::vector<Exchange> found;
    for (std::size_t c = 0; c < spec_.closures.size(); ++c) {
      if (link_of[c] < 0 || !bridges[at(link_of[c])] || !may_hold(spec_.closures[c])) continue;
      const auto [a, b] = bodies(spec_.closures[c].a, spec_.closures[c].b);
      const auto [first, last] = std::minmax({hangs_on_[at(part(a))], hangs_on_[at(part(b))]});  // the first stays
      if (part(a) == part(b) || last < 0) continue;
      found.push_back({c, at(last)});
      part_[at(part(b))] = part(a);
      hangs_on_[at(part(a))] = first;
    }
    return found;
  }

 private:
  std::pair<int, int> bodies(const FrameSpec& a, const FrameSpec& b) const { return {body_of_.at(a.body), body_of_.at(b.body)}; }

  bool may_go(std::size_t j) const {
    const JointSpec& joint = spec_.joints[j];
    return joint.type == "free" && (joint.parent.body == "ground") != (joint.child.body == "ground") && !model_.joints[j].cut &&
           !joint.fixed && joint.damping == 0.0 && joint.stiffness == 0.0 && joint.friction == 0.0 && joint.armature == 0.0 &&
           !joint.dry_friction && !joint.limits && !joint.restitution && !used_.contains(joint.name);
  }

  bool may_hold(const ClosureSpec& closure) const {
    return joint_like(closure) != nullptr && closure.active && !closure.side && !closure.friction &&
           !closure.compliance.stiffness && !closure.compliance.damping && !used_.contains(closure.name);
  }

  int part(int body) {
    while (part_[at(body)] != body) body = part_[at(body)] = part_[at(part_[at(body)])];
    return body;
  }

  const Spec& spec_;
  const Model& model_;
  std::set<std::string> used_;
  std::unordered_map<std::string, int> body_of_;
  std::vector<int> part_;      // bodies that hang together in the tree: each points to another of them, the last to itself
  std::vector<int> hangs_on_;  // by part: the free joint that may be given up; -1: something else
};

}  // namespace

OneTree in_one_tree(const Spec& spec, const Model& model) {
  const bool is_plain = spec.events.empty() && spec.blocks.empty() && spec.custom_forces.empty() && spec.changing.empty();
  if (spec.modules.empty() || !is_plain || model.has_events() || !is_usual(spec.settings)) return {};
  const std::vector<Exchange> exchanges = Exchanges(spec, model).find();
  if (exchanges.empty()) return {};
  Spec planted = spec;
  for (std::size_t j = 0; j < model.joints.size(); ++j) planted.joints[j].cut = model.joints[j].cut;
  OneTree result;
  std::set<std::string> carried;
  for (const auto& [c, j] : exchanges) {
    const ClosureSpec& closure = spec.closures[c];
    carried.insert(closure.name);
    planted.joints[j].cut = true;
    JointSpec joint;
    joint.name = closure.name;
    joint.type = joint_like(closure)->name;
    joint.parent = closure.a;
    joint.child = closure.b;
    joint.axis = closure.axis;
    joint.axis2 = closure.axis2;
    joint.pitch = closure.pitch;
    joint.place = closure.place;
    result.carried.push_back({closure.name, planted.joints.size(), 0, 0});
    planted.joints.push_back(std::move(joint));
  }
  std::erase_if(planted.closures, [&](const ClosureSpec& closure) { return carried.contains(closure.name); });
  int row = 0, others = 0;
  for (const FrameClosure& closure : model.frame_closures) {
    const auto place = std::ranges::find(result.carried, closure.name, &CarriedClosure::name);
    const bool is_joint = std::ranges::find(model.joints, closure.name, &Joint::name) != model.joints.end();
    if (place != result.carried.end())
      place->before_row = row, place->before_closure = others;
    else
      row += closure.row_count, others += is_joint ? 0 : 1;
  }
  auto made = std::make_shared<Model>(build_model(planted));
  made->notes = model.notes;
  result.model = std::move(made);
  return result;
}

int OneTree::rows() const {
  int rows = 0;
  for (const CarriedClosure& closure : carried) rows += static_cast<int>(model->joints[closure.joint].kind->rows.size());
  return rows;
}

State state_in(const OneTree& tree, const Model& model, const State& state) {
  System system(model);
  system.update(state);
  std::vector<double> values;
  const auto add = [&](const JointKind& kind, const std::array<double, 7>& q, const std::array<double, 6>& v) {
    values.insert(values.end(), q.begin(), q.begin() + kind.nq());
    values.insert(values.end(), v.begin(), v.begin() + kind.nv());
  };
  for (const Joint& joint : model.joints) {
    std::array<double, 7> q{};
    std::array<double, 6> v{}, a{};
    system.joint_motion(joint, {}, q, v, a);
    add(*joint.kind, q, v);
  }
  for (const CarriedClosure& carried : tree.carried) {
    const FrameClosure& closure = *std::ranges::find(model.frame_closures, carried.name, &FrameClosure::name);
    const JointKind& kind = *tree.model->joints[carried.joint].kind;
    const RelativeMotion m = system.relative_motion(closure.a, closure.b);
    std::array<double, 7> q{};
    std::array<double, 6> v{};
    std::array<Row, kMaxRows> rows;
    joint_positions(kind, m, q);
    kind.coordinates(m, rows);
    for (std::size_t k = 0; k < kind.velocities.size(); ++k) v[k] = rows[k].rate(m);
    add(kind, q, v);
  }
  State result{state.t, VecX<double>::Zero(tree.model->tree.nq), VecX<double>::Zero(tree.model->tree.nv), state.work, state.z};
  write_joints(*tree.model, values, result.q.data(), result.v.data());
  return result;
}

}  // namespace linkwork
