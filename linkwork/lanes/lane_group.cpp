#include "linkwork/lanes/lane_group.h"

#include <fmt/format.h>

#include <algorithm>

#include "linkwork/dynamics/equations_of_motion.h"
#include "linkwork/dynamics/force_balance.h"
#include "linkwork/integrators/tableau.h"
#include "linkwork/lanes/lane_steps.h"
#include "linkwork/linalg/index.h"
#include "linkwork/simulation/mechanism_system.h"
#include "linkwork/simulation/mechanism_watch.h"
#include "linkwork/simulation/simulation.h"
#include "linkwork/simulation/time_loop.h"
#include "linkwork/tree/lane_tree.h"

namespace linkwork {

namespace {

const Tableau* fixed_tableau(const std::string& name) {
  for (const Tableau& tableau : tableaus())
    if (tableau.name == name && tableau.error.empty()) return &tableau;
  return nullptr;
}

std::string obstacle_of_model(const Model& model) {
  if (lane_counts().empty()) return "the processor has no AVX2 and FMA, or the program was compiled for another";
  if (model.tree.nv == 0) return "nothing moves";
  if (ForceBalance(model).is_needed()) return "masses differ so much that forces are held against each solution";
  if (!model.contacts.empty() || !model.frictions.empty()) return "contacts and dry friction come and go run by run";
  if (!model.blocks.empty()) return "it has FMUs";
  if (!model.custom_forces.empty()) return "it has forces of a program";
  if (!model.states.empty()) return fmt::format("it has states of its own, such as '{}'", model.states.front().name);
  if (!model.bushings.empty()) return "it has bushings";
  if (!model.coordinate_closures.empty())
    return fmt::format("closure '{}' relates coordinates of joints", model.coordinate_closures.front().name);
  for (const ConstraintRow& row : model.rows)
    if (!row.is_permanent()) return fmt::format("closure '{}' constrains velocities only, or comes and goes", row.closure);
  for (const Joint& joint : model.joints) {
    if (joint.limits) return fmt::format("the limits of joint '{}' are watched", joint.name);
    const bool has_law = joint.stiffness != 0.0 || joint.damping != 0.0 || joint.friction != 0.0;
    if (has_law && !joint.in_state()) return fmt::format("joint '{}' is cut and has a spring, damper or friction", joint.name);
  }
  for (const Spring& spring : model.springs)
    if (spring.law.expression.is_given()) return "a spring has a law of its own";
  for (const JointForce& force : model.joint_forces)
    if (!model.joints[force.coordinate.joint()].in_state() || !is_of_state(model, force.value))
      return fmt::format("the force on joint '{}' depends on more than its time, coordinates and inputs",
                         model.joints[force.coordinate.joint()].name);
  for (const BodyWrench& wrench : model.wrenches)
    for (std::size_t k = 0; k < 3; ++k)
      if (!is_of_state(model, wrench.force[k]) || !is_of_state(model, wrench.torque[k]))
        return "a force on a body depends on more than time, coordinates and inputs";
  return {};
}

/// Null: it is no run of a mechanism in one piece.
MechanismSystem* mechanism_of(Simulation& run) { return dynamic_cast<MechanismSystem*>(&run.system()); }

/// As few lanes as the runs need, if no number is given.
std::unique_ptr<LaneSteps> make_steps(const std::vector<Simulation*>& runs, int lanes) {
  const std::vector<int> counts = lane_counts();
  if (lanes == 0) {
    const auto enough = std::ranges::find_if(counts, [&](int count) { return count >= std::ssize(runs); });
    lanes = enough != counts.end() ? *enough : counts.back();
  }
  std::vector<System*> systems;
  for (std::size_t lane = 0; lane < at(lanes); ++lane)  // lanes that are left have the last run once more
    systems.push_back(&runs[std::min(lane, runs.size() - 1)]->equations().system());
  return make_lane_steps({systems, fixed_tableau(runs.front()->system().settings().integrator.name),
                          mechanism_of(*runs.front())->methods().stabilization.name == "projection"});
}

bool counts_turns(const Model& model) {
  return std::ranges::any_of(model.joints, [](const Joint& joint) { return !joint.in_state(); });
}

bool have_same_frames(const NodeFrame& a, const NodeFrame& b) { return a.node == b.node; }

bool have_same_rows(const ClosureRows& a, const ClosureRows& b) {
  return a.kind == b.kind && a.working == b.working && a.idle.size() == b.idle.size() && a.to_a.nodes == b.to_a.nodes &&
         a.to_b.nodes == b.to_b.nodes;
}

}  // namespace

std::string obstacle_to_lanes(Simulation& run) {
  MechanismSystem* const mechanism = mechanism_of(run);
  if (mechanism == nullptr) return "modules are solved apart";
  const MethodChoice& methods = mechanism->methods();
  const Settings& settings = mechanism->settings();
  if (methods.coordinates != "TA")
    return fmt::format("the coordinates are {}: lanes have loops that are cut (coordinates TA)", methods.coordinates);
  if (methods.formulation.name != "schur" || !methods.formulation.options.empty())
    return fmt::format("the formulation is '{}', not 'schur'", methods.formulation.name);
  const Choice& drift = methods.stabilization;
  if ((drift.name != "projection" && drift.name != "none") || !drift.options.empty())
    return fmt::format("the stabilization is '{}', not 'projection' or 'none'", drift.name);
  if (fixed_tableau(settings.integrator.name) == nullptr)
    return fmt::format("the integrator is '{}', not an explicit one of fixed steps, such as rk4", settings.integrator.name);
  return obstacle_of_model(mechanism->model());
}

bool fit_into_lanes(Simulation& first, Simulation& second) {
  const MechanismSystem &one = *mechanism_of(first), &other = *mechanism_of(second);
  const Model &a = one.model(), &b = other.model();
  const ConstraintLayout &of_a = *layout_of(a), &of_b = *layout_of(b);
  return a.settings.integrator.name == b.settings.integrator.name &&
         one.methods().stabilization.name == other.methods().stabilization.name && have_same_shape(a.tree, b.tree) &&
         std::ranges::equal(a.frame_closures, b.frame_closures,
                            [](const FrameClosure& x, const FrameClosure& y) {
                              return x.row_count == y.row_count && have_same_frames(x.a, y.a) && have_same_frames(x.b, y.b);
                            }) &&
         std::ranges::equal(of_a.closure_rows, of_b.closure_rows, have_same_rows) &&
         std::ranges::equal(a.joints, b.joints,
                            [](const Joint& x, const Joint& y) { return x.kind == y.kind && x.q == y.q && x.v == y.v; }) &&
         std::ranges::equal(a.forces, b.forces, {}, &Force::active, &Force::active) &&
         std::ranges::equal(a.springs, b.springs,
                            [](const Spring& x, const Spring& y) {
                              return have_same_frames(x.a, y.a) && have_same_frames(x.b, y.b) && x.of == y.of;
                            }) &&
         std::ranges::equal(a.joint_forces, b.joint_forces,
                            [](const JointForce& x, const JointForce& y) {
                              return x.coordinate.joint() == y.coordinate.joint() &&
                                     x.coordinate.component == y.coordinate.component && x.of == y.of;
                            }) &&
         std::ranges::equal(a.wrenches, b.wrenches, [](const BodyWrench& x, const BodyWrench& y) {
           return have_same_frames(x.at, y.at) && x.in_body_axes == y.in_body_axes && x.of == y.of;
         });
}

class LaneGroup::Parts {
 public:
  Parts(const std::vector<Simulation*>& runs, const std::vector<Memory>& known, int lanes);
  Memory memory(std::size_t run) const;

  TimeLoop& loop(std::size_t run) const { return *loops_[run]; }
  void step(Some& wanted);

  long in_lanes = 0, alone = 0;

 private:
  /// A step that was computed in vain costs twice: a run that has left the lanes again and again stays away for ever more steps.
  static constexpr int kLongestAlone = 256;
  /// Whether an event has switched forces.
  bool is_switched(std::size_t run) const;
  bool stays_alone(std::size_t run) { return known_[run].alone_for > 0 && known_[run].alone_for-- > 0; }

  bool hand_over(std::size_t run);

  std::vector<TimeLoop*> loops_;
  std::array<Memory, kMost> known_ = {};  // by run
  std::unique_ptr<LaneSteps> steps_;
  bool counts_turns_;
  LaneSteps::Done done_ = {};
  TimeLoop::DoneStep handed_over_ = {};
};

LaneGroup::LaneGroup(const std::vector<Simulation*>& runs, const std::vector<Memory>& known, int lanes)
    : parts_(std::make_unique<Parts>(runs, known, lanes)) {}
LaneGroup::~LaneGroup() = default;

std::size_t LaneGroup::most() {
  const std::vector<int> counts = lane_counts();
  return counts.empty() ? 1 : at(counts.back());
}

bool LaneGroup::begin(std::size_t run, double end) { return parts_->loop(run).begin(end); }
bool LaneGroup::has_ended(std::size_t run) const { return parts_->loop(run).has_ended(); }
void LaneGroup::step(Some& wanted) { parts_->step(wanted); }
LaneGroup::Memory LaneGroup::memory(std::size_t run) const { return parts_->memory(run); }
long LaneGroup::in_lanes() const { return parts_->in_lanes; }
long LaneGroup::alone() const { return parts_->alone; }

LaneGroup::Parts::Parts(const std::vector<Simulation*>& runs, const std::vector<Memory>& known, int lanes)
    : steps_(make_steps(runs, lanes)), counts_turns_(counts_turns(mechanism_of(*runs.front())->model())) {
  for (Simulation* const run : runs) loops_.push_back(&run->loop());
  std::ranges::copy(known, known_.begin());
  for (std::size_t run = 0; run < known.size(); ++run) steps_->set_strongest(static_cast<int>(run), known[run].strongest);
}

bool LaneGroup::Parts::is_switched(std::size_t run) const {
  const System& system = loops_[run]->system().equations().equations_of_motion()->system();
  return !std::ranges::equal(system.modes().forces, system.model().forces,
                             [](char is_on, const Force& force) { return (is_on != 0) == force.active; });
}

LaneGroup::Memory LaneGroup::Parts::memory(std::size_t run) const {
  Memory memory = known_[run];
  memory.strongest = steps_->strongest(static_cast<int>(run));
  return memory;
}

void LaneGroup::Parts::step(Some& wanted) {
  Some together{};
  std::size_t one = kMost;  // of those that are computed
  TimeLoop::PlainStep like{};
  const auto load = [&](std::size_t lane, const TimeLoop& loop, const TimeLoop::PlainStep& step) {
    steps_->load(static_cast<int>(lane), {loop.now().t, step.h, loop.now().y, loop.rates(), step.begins_anew});
  };
  for (std::size_t i = 0; i < loops_.size(); ++i) {
    const auto plain = wanted[i] && !is_switched(i) && !stays_alone(i) ? loops_[i]->plain_step() : std::nullopt;
    together[i] = plain.has_value();
    if (!plain) continue;
    load(i, *loops_[i], *plain);
    one = i, like = *plain;
  }
  if (one != kMost) {
    for (std::size_t lane = 0; lane < steps_->count(); ++lane)
      if (!together[lane]) load(lane, *loops_[one], like);
    steps_->step(together);
  }
  for (std::size_t i = 0; i < loops_.size(); ++i) {
    if (!wanted[i]) continue;
    if (together[i] && steps_->is_usual(static_cast<int>(i))) {
      wanted[i] = hand_over(i);
      ++in_lanes;
      known_[i].left = 0;
    } else {
      if (together[i]) known_[i].alone_for = std::min(kLongestAlone, 1 << std::min(++known_[i].left, 20)) - 1;
      wanted[i] = loops_[i]->step();
      ++alone;
    }
  }
}

bool LaneGroup::Parts::hand_over(std::size_t run) {
  steps_->take(static_cast<int>(run), done_);
  handed_over_.y.swap(done_.y);
  handed_over_.rates.swap(done_.rates);
  handed_over_.errors = {done_.position_error, done_.velocity_error};
  handed_over_.energies = {done_.kinetic, done_.potential, handed_over_.y[handed_over_.y.size() - 1]};
  handed_over_.turned = counts_turns_ ? done_.turned : 0.0;
  handed_over_.evaluations = done_.evaluations;
  return loops_[run]->finish(handed_over_);
}

}  // namespace linkwork
