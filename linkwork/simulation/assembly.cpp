#include "linkwork/simulation/assembly.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <numbers>
#include <optional>

#include "linkwork/dynamics/diagnosis.h"
#include "linkwork/simulation/limited_closing.h"
#include "linkwork/simulation/loop_closing.h"

namespace linkwork {

namespace {

/// How willingly joints are moved whose value was given, or that have a spring.
constexpr double kGiven = 1e-3, kSprung = 0.03;

/// Child frame in parent frame at a joint's start position.
Pose<double> start_pose(const Joint& joint) {
  Pose<double> X{Mat3<double>::Identity(), Vec3<double>::Zero()};
  for (const ElementaryJoint& element : joint.kind->elements) {
    const double* const q = joint.start.data() + element.component;
    Pose<double> step{Mat3<double>::Identity(), Vec3<double>::Zero()};
    switch (element.kind) {
      case NodeKind::kGround:
        break;
      case NodeKind::kHelical:
        step.p = joint.pitch * q[0] * element.axis;
        [[fallthrough]];
      case NodeKind::kRevolute:
        step.R = Eigen::AngleAxisd(q[0], element.axis).toRotationMatrix();
        break;
      case NodeKind::kPrismatic:
        step.p = q[0] * element.axis;
        break;
      case NodeKind::kSpherical:
        step.R = Quat(q[0], q[1], q[2], q[3]).toRotationMatrix();
        break;
      case NodeKind::kFree:
        step = {Quat(q[3], q[4], q[5], q[6]).toRotationMatrix(), {q[0], q[1], q[2]}};
        break;
    }
    X = X * step;
  }
  return X;
}

/// Adds a closure of two frames, and its rows behind those of all others of its kind. What happens in events is forgotten.
void add_closure(Model& model, FrameClosure closure, const Place& place) {
  int first = 0;
  for (const FrameClosure& other : model.frame_closures) first += other.row_count;
  const auto shift = [&](int& row) { row += row >= first ? closure.row_count : 0; };
  for (CoordinateClosure& other : model.coordinate_closures) shift(other.row);
  for (Contact& contact : model.contacts) shift(contact.row);
  for (DryFriction& friction : model.frictions) shift(friction.first_row), shift(friction.normal_row);
  model.events.clear();
  for (int r = 0; r < closure.row_count; ++r)
    model.rows.insert(model.rows.begin() + first + r,
                      {closure.name + "." + closure.joint_kind->rows[static_cast<std::size_t>(r)], closure.name, place});
  closure.first_row = first;
  model.frame_closures.push_back(std::move(closure));
}

/// Cut joints have no coordinates to start from: their given positions are constraints of a model of their own.
std::optional<Model> with_wished_positions(const Model& model) {
  std::optional<Model> wished;
  for (std::size_t j = 0; j < model.joints.size(); ++j) {
    const Joint& joint = model.joints[j];
    if (!joint.cut || !joint.position_given || joint.parent.node == joint.child.node) continue;
    if (!wished) wished = model;
    FrameClosure weld;
    weld.name = joint.name;
    weld.a = {joint.parent.node, joint.parent.X_NF * start_pose(joint)};
    weld.b = joint.child;
    weld.joint_kind = find_joint_kind("weld");
    weld.row_count = static_cast<int>(weld.joint_kind->rows.size());
    add_closure(*wished, std::move(weld), joint.place);
  }
  if (wished) measure(*wished);
  return wished;
}

/// The same for velocities.
std::optional<Model> with_wished_velocities(const Model& model) {
  std::optional<Model> wished;
  for (std::size_t j = 0; j < model.joints.size(); ++j) {
    const Joint& joint = model.joints[j];
    if (!joint.cut || !joint.velocity_given || joint.parent.node == joint.child.node) continue;
    if (!wished) wished = model;
    for (std::size_t k = 0; k < joint.kind->velocities.size(); ++k) {
      const std::string name = coordinate_name(joint, joint.kind->velocities[k]);
      const Variable slot{Variable::Kind::kVelocity, {JointIndex(j), static_cast<int>(k)}};
      wished->coordinate_closures.push_back(
          {name,
           {Expression::linear({"v." + name}, {1.0}, joint.start_velocity[k], joint.place), {slot}},
           wished->row_count(),
           false});
      wished->rows.push_back({name, joint.name, joint.place});
      wished->rows.back().holonomic = false;
    }
  }
  if (wished) measure(*wished);
  return wished;
}

class Assembler {
 public:
  explicit Assembler(const Model& model) : model_(model), closing_(model), joint_of_(model.tree.nodes.size(), nullptr) {
    std::vector<std::size_t> node_of(static_cast<std::size_t>(model.tree.nv), 0);  // by the first velocity of a node
    for (std::size_t i = 1; i < joint_of_.size(); ++i)
      if (const Node& node = model.tree.nodes[i]; velocity_count(node.kind) > 0) node_of[static_cast<std::size_t>(node.v)] = i;
    for (const Joint& joint : model.joints) {
      if (joint.cut) continue;
      for (const int v : joint.v)
        if (const std::size_t node = node_of[static_cast<std::size_t>(v)]; node != 0) joint_of_[node] = &joint;
      if (!joint.v.empty() || joint.kind->nv() == 0) continue;
      // A joint with a quaternion that the tree enters from its child.
      const int a = joint.parent.node, b = joint.child.node;
      joint_of_[static_cast<std::size_t>(model.tree.nodes[static_cast<std::size_t>(b)].parent == a ? b : a)] = &joint;
    }
  }

  State assemble(AssemblyReport& report) {
    const State given = given_state();
    State state = given;
    closing_.look_at(state);
    in_loops_ = closing_.in_loops();
    report.position_error_before = closing_.position_error();
    report.velocity_error_before = closing_.velocity_error();
    find_position(given, state);
    closing_.look_at(state);
    find_velocity(state);
    closing_.look_at(state);
    describe_changes(given, state, report);
    return state;
  }

 private:
  State given_state() const {
    State state;
    state.q = Eigen::Map<const VecX<double>>(model_.start_q.data(), model_.tree.nq);
    state.v = Eigen::Map<const VecX<double>>(model_.start_v.data(), model_.tree.nv);
    return state;
  }

  /// `of` gives a joint's; joints outside all loops are not moved.
  template <class Of>
  Willingness willingness(Of&& of) const {
    Willingness result{std::vector<double>(joint_of_.size(), 0.0)};
    for (std::size_t i = 1; i < joint_of_.size(); ++i)
      if (in_loops_[i]) result.nodes[i] = joint_of_[i] == nullptr ? 1.0 : of(*joint_of_[i]);
    return result;
  }

  /// First what was not given and has no spring, then what was not given, then all that is not fixed; each with the positions of
  /// cut joints as constraints, and if nothing else helps without them. A start that is already closed stays where it is, unless
  /// it can be moved to where cut joints are as given.
  void find_position(const State& given, State& state) {
    constexpr Starts kNone{0, 0.0}, kFew{9, 0.4}, kMany{24, 0.05};
    const bool is_closed = closing_.position_error() <= closing_.tolerance();
    const std::optional<Model> wished = with_wished_positions(model_);
    if (is_closed && !wished) return;
    const Willingness unloaded =
        willingness([](const Joint& joint) { return joint.fixed || joint.position_given || joint.stiffness != 0.0 ? 0.0 : 1.0; });
    const Willingness defaults = willingness([](const Joint& joint) { return joint.fixed || joint.position_given ? 0.0 : 1.0; });
    const Willingness all = willingness([](const Joint& joint) {
      return joint.fixed ? 0.0 : joint.position_given ? kGiven : joint.stiffness != 0.0 ? kSprung : 1.0;
    });
    const Willingness alike = willingness([](const Joint& joint) { return joint.fixed ? 0.0 : 1.0; });
    const auto try_all = [&](LoopClosing& closing, const Starts& last) {
      const auto is_last = [&](const Willingness& some) { return last.count > 0 && some.nodes == all.nodes; };
      if (!is_last(unloaded) && closing.close_positions(given, unloaded, kFew, state)) return true;
      if (defaults.nodes != unloaded.nodes && !is_last(defaults) && closing.close_positions(given, defaults, kFew, state))
        return true;
      return last.count > 0 &&
             (closing.close_positions(given, all, last, state) || closing.close_positions(given, alike, last, state));
    };
    if (wished) {
      LoopClosing with_wishes(*wished);
      if (try_all(with_wishes, is_closed ? kNone : kFew)) return;
    }
    if (is_closed) {
      state = given;
      return;
    }
    const bool closed = try_all(closing_, kMany);
    if (LimitedClosing::can_take(model_) && keep_limits(given, {&defaults, &alike}, closed, state)) return;
    if (!closed) refuse(closing_.system().terms().phi, "closed", "position");
  }

  /// Loops that are not closed yet, or by joints beyond their limits, are tried in another way.
  bool keep_limits(const State& given, std::initializer_list<const Willingness*> movable, bool closed, State& state) {
    const bool has_limits = std::ranges::any_of(model_.joints, [](const Joint& joint) { return joint.limits.has_value(); });
    if (closed && (!has_limits || LimitedClosing(model_, in_loops_).keeps_limits(state))) return true;
    for (const Willingness* some : movable) {
      std::vector<char> nodes;
      for (const double willing : some->nodes) nodes.push_back(willing != 0.0);
      if (LimitedClosing(model_, nodes).close(given, state)) return true;
    }
    return false;
  }

  /// Likewise.
  void find_velocity(State& state) {
    const bool is_consistent = closing_.velocity_error() <= closing_.tolerance() * model_.speed(state.v);
    const std::optional<Model> wished = with_wished_velocities(model_);
    if (is_consistent && !wished) return;
    const auto is_fixed = [](const Joint& joint) { return joint.fixed && joint.velocity_given; };
    const Willingness defaults = willingness([&](const Joint& joint) { return joint.velocity_given ? 0.0 : 1.0; });
    const Willingness all = willingness([&](const Joint& joint) {
      return is_fixed(joint) ? 0.0 : joint.velocity_given ? kGiven : 1.0;
    });
    const State given = state;
    const auto try_all = [&](LoopClosing& closing, bool also_given) {
      state = given;
      if ((defaults.nodes != all.nodes || !also_given) && closing.close_velocities(defaults, state)) return true;
      state = given;
      return also_given && closing.close_velocities(all, state);
    };
    if (wished) {
      LoopClosing with_wishes(*wished);
      if (try_all(with_wishes, !is_consistent)) return;
    }
    if (is_consistent)
      state = given;
    else if (!try_all(closing_, true))
      refuse(closing_.system().terms().rate, "started", "velocity");
  }

  [[noreturn]] void refuse(const VecX<double>& errors, const char* what, const char* level) {
    int worst_row = 0;
    const VecX<double> relative = errors.cwiseAbs().cwiseQuotient(model_.units.tolerance);
    relative.maxCoeff(&worst_row);
    std::map<std::string, double> by_closure;
    std::vector<int> unmet;
    for (int i = 0; i < model_.row_count(); ++i) {
      if (!(relative[i] > model_.settings.constraint_tolerance)) continue;
      double& worst = by_closure[model_.rows[static_cast<std::size_t>(i)].closure];
      worst = std::max(worst, std::abs(errors[i]));
      unmet.push_back(i);
    }
    std::string list;
    for (const auto& [closure, error] : by_closure)
      list += fmt::format("{}'{}' (off by {:.3g})", list.empty() ? "" : ", ", closure, error);
    const std::vector<std::string> against = closures_against(closing_.system(), unmet);
    if (!against.empty()) list += " together with " + listed(against);
    std::string fixed;
    for (const Joint& joint : model_.joints)
      if (joint.fixed) fixed += fmt::format("{}'{}'", fixed.empty() ? "" : ", ", joint.name);
    throw InputError(model_.rows[static_cast<std::size_t>(worst_row)].place,
                     fmt::format("the mechanism cannot be {}: no {} satisfies {}", what, level, list),
                     fmt::format("link lengths and start values that fit together{}",
                                 fixed.empty() ? "" : fmt::format(", or fewer fixed joints (fixed are {})", fixed)));
  }

  void describe_changes(const State& given, const State& state, AssemblyReport& report) {
    const double speed = model_.speed(state.v);
    for (const Joint& joint : model_.joints) {
      for (std::size_t k = 0; k < joint.q.size(); ++k)
        note(report, "q." + coordinate_name(joint, joint.kind->positions[k]), given.q[joint.q[k]], state.q[joint.q[k]],
             position_unit(joint, k), joint.position_given);
      for (std::size_t k = 0; k < joint.v.size(); ++k)
        note(report, "v." + coordinate_name(joint, joint.kind->velocities[k]), given.v[joint.v[k]], state.v[joint.v[k]],
             model_.units.velocity[joint.v[k]] * speed, joint.velocity_given);
      if (joint.cut) describe_cut(joint, speed, report);
    }
    std::ranges::stable_sort(report.moved, std::greater{},
                             [](const auto& m) { return std::pair(m.given, std::abs(m.to - m.from)); });
  }

  /// Only what was given is worth a word.
  void describe_cut(const Joint& joint, double speed, AssemblyReport& report) {
    if (!joint.position_given && !joint.velocity_given) return;
    constexpr double kTurn = 2.0 * std::numbers::pi;
    std::array<double, 7> q{};
    std::array<double, 6> v{}, a{};
    closing_.system().joint_motion(joint, {}, q, v, a);
    for (std::size_t k = 0; joint.position_given && !joint.kind->has_quaternion() && k < joint.start.size(); ++k) {
      const double off = q[k] - joint.start[k];
      note(report, "q." + coordinate_name(joint, joint.kind->positions[k]), joint.start[k],
           joint.start[k] + (joint.kind->is_angle(k) ? std::remainder(off, kTurn) : off), position_unit(joint, k), true);
    }
    for (std::size_t k = 0; joint.velocity_given && k < joint.kind->velocities.size(); ++k)
      note(report, "v." + coordinate_name(joint, joint.kind->velocities[k]), joint.start_velocity[k], v[k],
           position_unit(joint, k) * speed, true);
  }

  double position_unit(const Joint& joint, std::size_t k) const {
    return joint.kind->is_length(static_cast<int>(k)) ? model_.units.length : 1.0;
  }

  static void note(AssemblyReport& report, std::string name, double from, double to, double unit, bool given) {
    if (std::abs(to - from) > 1e-12 * unit) report.moved.push_back({std::move(name), from, to, given});
  }

  const Model& model_;
  LoopClosing closing_;
  std::vector<const Joint*> joint_of_;  // by node; null: of none
  std::vector<char> in_loops_;          // by node
};

}  // namespace

State assemble(const Model& model, AssemblyReport& report) { return Assembler(model).assemble(report); }

std::string describe(const AssemblyReport& report) {
  constexpr std::size_t kMost = 3;
  std::vector<std::string> moves;
  for (std::size_t i = 0; i < report.moved.size() && i < kMost; ++i) {
    const AssemblyReport::Moved& moved = report.moved[i];
    moves.push_back(fmt::format("{} by {:.3g}{}", moved.coordinate, moved.to - moved.from,
                                moved.given ? fmt::format(" (given as {:.6g}, now {:.6g})", moved.from, moved.to) : ""));
  }
  std::string text = fmt::format("the start was off by {:.2g} in position and {:.2g} in velocity; assembly moved {}",
                                 report.position_error_before, report.velocity_error_before, fmt::join(moves, ", "));
  if (report.moved.size() > kMost) text += fmt::format(" and {} more", report.moved.size() - kMost);
  return text;
}

}  // namespace linkwork
