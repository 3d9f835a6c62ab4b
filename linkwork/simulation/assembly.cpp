#include "linkwork/simulation/assembly.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <random>

#include "linkwork/dynamics/diagnosis.h"
#include "linkwork/dynamics/manifold_projection.h"
#include "linkwork/tree/kinematics.h"

namespace linkwork {

namespace {

class Assembler {
 public:
  explicit Assembler(const Model& model) : model_(model), system_(model), projection_(model) {}

  State assemble(AssemblyReport& report) {
    const State given = given_state();
    State state = given;
    system_.update(state);
    report.position_error_before = position_error();
    report.velocity_error_before = velocity_error();
    // A start that is already closed stays where it is.
    lock_joints([](const Joint& joint) { return joint.fixed; });
    if (position_error() > tolerance()) find_position(given, state);
    system_.update(state);
    lock_joints([](const Joint& joint) { return joint.fixed && joint.velocity_given; });
    if (velocity_error() > tolerance() * model_.speed(state.v)) find_velocity(state);
    describe_changes(given, state, report);
    return state;
  }

 private:
  double tolerance() const { return 0.01 * model_.settings.constraint_tolerance; }
  double position_error() const { return model_.largest_error(system_.terms().phi); }
  double velocity_error() const { return model_.largest_error(system_.terms().rate); }

  State given_state() const {
    State state;
    state.q = Eigen::Map<const VecX<double>>(model_.start_q.data(), model_.tree.nq);
    state.v = Eigen::Map<const VecX<double>>(model_.start_v.data(), model_.tree.nv);
    return state;
  }

  template <class Keep>
  void lock_joints(Keep&& keep) {
    std::vector<char>& locked = system_.work().locked;
    locked.assign(model_.tree.nodes.size(), 0);
    for (const Joint& joint : model_.joints) {
      if (!keep(joint)) continue;
      for (std::size_t i = 1; i < model_.tree.nodes.size(); ++i)
        if (std::ranges::find(joint.v, model_.tree.nodes[i].v) != joint.v.end()) locked[i] = 1;
    }
  }

  /// Gauss-Newton with a limited, then shortened step; from disturbed starts if it gets stuck (at a straight or folded
  /// position, say, where the constraints' gradients point the wrong way).
  void find_position(const State& given, State& state) {
    constexpr int kStarts = 24;
    std::mt19937 random(12345);
    State best = state;
    double best_error = position_error();
    for (int start = 0; start < kStarts; ++start) {
      if (start > 0) {
        state = given;
        disturb(state, 0.05 * start, random);
      }
      descend(state);
      system_.update(state);
      if (position_error() < best_error) best = state, best_error = position_error();
      if (best_error <= tolerance()) break;
    }
    state = best;
    system_.update(state);
    // Near a singular position Newton's method converges slowly: the user's own tolerance is what must be met.
    if (best_error > model_.settings.constraint_tolerance) refuse(system_.terms().phi, "closed", "position");
  }

  void descend(State& state) {
    constexpr int kMostIterations = 200;
    system_.update(state);
    const auto squared_error = [&] { return system_.terms().phi.cwiseQuotient(model_.units.row).norm(); };
    double error = squared_error();
    for (int i = 0; i < kMostIterations && position_error() > 1e-3 * tolerance(); ++i) {
      bool better = false;
      for (double fraction = 1.0; fraction > 1e-4; fraction *= 0.5) {
        State trial = state;
        system_.update(trial);
        const double change = projection_.correct_position(system_, trial, fraction);
        constexpr double most = 0.5;  // of the coordinates' units
        if (change > most) {
          trial = state;
          system_.update(trial);
          projection_.correct_position(system_, trial, fraction * most / change);
        }
        system_.update(trial);
        const double trial_error = squared_error();
        if (!(trial_error < error)) continue;
        state = trial;
        better = trial_error < 0.999 * error;
        error = trial_error;
        break;
      }
      if (!better) break;
    }
    system_.update(state);
  }

  void disturb(State& state, double amplitude, std::mt19937& random) const {
    VecX<double> change = VecX<double>::Zero(model_.tree.nv);
    for (std::size_t i = 1; i < model_.tree.nodes.size(); ++i) {
      const Node& node = model_.tree.nodes[i];
      for (int k = 0; k < velocity_count(node.kind); ++k) {
        const double uniform = 2.0 * static_cast<double>(random()) / static_cast<double>(std::mt19937::max()) - 1.0;
        if (!system_.work().locked[i]) change[node.v + k] = amplitude * uniform * model_.units.velocity[node.v + k];
      }
    }
    displace(model_.tree, state.q.data(), change.data());
  }

  void find_velocity(State& state) {
    for (int i = 0; i < 3 && velocity_error() > tolerance() * model_.speed(state.v); ++i) {
      projection_.correct_velocity(system_, state);
      system_.update(state);
    }
    if (velocity_error() > model_.settings.constraint_tolerance * model_.speed(state.v))
      refuse(system_.terms().rate, "started", "velocity");
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
    const std::vector<std::string> against = closures_against(system_, unmet);
    if (!against.empty()) list += " together with " + listed(against);
    std::string fixed;
    for (const Joint& joint : model_.joints)
      if (joint.fixed) fixed += fmt::format("{}'{}'", fixed.empty() ? "" : ", ", joint.name);
    throw InputError(model_.rows[static_cast<std::size_t>(worst_row)].place,
                     fmt::format("the mechanism cannot be {}: no {} satisfies {}", what, level, list),
                     fmt::format("link lengths and start values that fit together{}",
                                 fixed.empty() ? "" : fmt::format(", or fewer fixed joints (fixed are {})", fixed)));
  }

  void describe_changes(const State& given, const State& state, AssemblyReport& report) const {
    for (const Joint& joint : model_.joints) {
      for (std::size_t k = 0; k < joint.q.size(); ++k)
        note(report, "q." + coordinate_name(joint, joint.kind->positions[k]), given.q[joint.q[k]], state.q[joint.q[k]],
             joint.kind->is_length(static_cast<int>(k)) ? model_.units.length : 1.0);
      for (std::size_t k = 0; k < joint.v.size(); ++k)
        note(report, "v." + coordinate_name(joint, joint.kind->velocities[k]), given.v[joint.v[k]], state.v[joint.v[k]],
             model_.units.velocity[joint.v[k]] * model_.speed(state.v));
    }
    std::ranges::stable_sort(report.moved, std::greater{}, [](const auto& m) { return std::abs(m.to - m.from); });
  }

  static void note(AssemblyReport& report, std::string name, double from, double to, double unit) {
    if (std::abs(to - from) > 1e-12 * unit) report.moved.push_back({std::move(name), from, to});
  }

  const Model& model_;
  System system_;
  ManifoldProjection projection_;
};

}  // namespace

State assemble(const Model& model, AssemblyReport& report) { return Assembler(model).assemble(report); }

std::string describe(const AssemblyReport& report) {
  constexpr std::size_t kMost = 3;
  std::vector<std::string> moves;
  for (std::size_t i = 0; i < report.moved.size() && i < kMost; ++i)
    moves.push_back(fmt::format("{} by {:.3g}", report.moved[i].coordinate, report.moved[i].to - report.moved[i].from));
  std::string text = fmt::format("the start was off by {:.2g} in position and {:.2g} in velocity; assembly moved {}",
                                 report.position_error_before, report.velocity_error_before, fmt::join(moves, ", "));
  if (report.moved.size() > kMost) text += fmt::format(" and {} more", report.moved.size() - kMost);
  return text;
}

}  // namespace linkwork
