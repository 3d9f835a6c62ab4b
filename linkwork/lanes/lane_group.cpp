#include "linkwork/lanes/lane_group.h"

#include <fmt/format.h>

#include <algorithm>

#include "linkwork/dynamics/equations_of_motion.h"
#include "linkwork/dynamics/force_balance.h"
#include "linkwork/integrators/tableau.h"
#include "linkwork/lanes/lane_equations.h"
#include "linkwork/linalg/index.h"
#include "linkwork/simulation/mechanism_system.h"
#include "linkwork/simulation/simulation.h"
#include "linkwork/simulation/time_loop.h"

namespace linkwork {

namespace {

const Tableau* fixed_tableau(const std::string& name) {
  for (const Tableau& tableau : tableaus())
    if (tableau.name == name && tableau.error.empty()) return &tableau;
  return nullptr;
}

/// What an expression may use: its value is then had without poses.
bool is_simple(const Model& model, const BoundExpression& expression) {
  using Kind = Variable::Kind;
  return std::ranges::all_of(expression.slots, [&](const Variable& slot) {
    if (slot.is_coordinate()) return model.joints[slot.coordinate.joint()].in_state();
    return slot.kind == Kind::kTime || slot.kind == Kind::kParameter || slot.kind == Kind::kInput;
  });
}

std::string obstacle_of_model(const Model& model) {
#ifndef __AVX2__
  return "the program was compiled without AVX2";
#endif
  if (model.tree.nv == 0) return "nothing moves";
  if (ForceBalance(model).is_needed()) return "masses differ so much that forces are held against each solution";
  if (model.has_events()) return "events, contacts and friction are looked for run by run";
  if (model.switch_count > 0) return "a function in an expression switches";
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
    if (!model.joints[force.coordinate.joint()].in_state() || !is_simple(model, force.value))
      return fmt::format("the force on joint '{}' depends on more than its time, coordinates and inputs",
                         model.joints[force.coordinate.joint()].name);
  for (const BodyWrench& wrench : model.wrenches)
    for (std::size_t k = 0; k < 3; ++k)
      if (!is_simple(model, wrench.force[k]) || !is_simple(model, wrench.torque[k]))
        return "a force on a body depends on more than time, coordinates and inputs";
  return {};
}

/// Null: it is no run of a mechanism in one piece.
MechanismSystem* mechanism_of(Simulation& run) { return dynamic_cast<MechanismSystem*>(&run.system()); }

LaneEquations::Systems systems_of(const std::vector<Simulation*>& runs) {
  LaneEquations::Systems systems;
  for (std::size_t lane = 0; lane < systems.size(); ++lane)  // lanes that are left have the last run once more
    systems[lane] = &runs[std::min(lane, runs.size() - 1)]->equations().system();
  return systems;
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
  Parts(const std::vector<Simulation*>& runs, const std::vector<Memory>& known);
  Memory memory(std::size_t run) const;

  TimeLoop& loop(std::size_t run) const { return *loops_[run]; }
  void step(Some& wanted);

  long in_lanes = 0, alone = 0;

 private:
  /// A step that was computed in vain costs twice: a run that has left the lanes again and again stays away for ever more steps.
  static constexpr int kLongestAlone = 256;
  bool stays_alone(std::size_t run) { return known_[run].alone_for > 0 && known_[run].alone_for-- > 0; }
  void integrate(const LaneMask& anew);
  void combine(const std::vector<double>& weights, std::size_t count, VecX<Lanes>& y) const;
  void hand_over(std::size_t run, const LaneEquations::Stock& stock);

  std::vector<TimeLoop*> loops_;
  std::array<Memory, kMost> known_ = {};  // by run
  LaneEquations equations_;
  const Tableau& tableau_;
  bool projects_;
  bool counts_turns_;
  Lanes t_, h_;
  VecX<Lanes> start_, stage_, next_;
  std::vector<VecX<Lanes>> k_;  // rates by stage
  VecX<Lanes> rates_;           // at the end
  long evaluations_ = 0;        // of a step
  TimeLoop::DoneStep done_;
};

LaneGroup::LaneGroup(const std::vector<Simulation*>& runs, const std::vector<Memory>& known)
    : parts_(std::make_unique<Parts>(runs, known)) {}
LaneGroup::~LaneGroup() = default;

bool LaneGroup::begin(std::size_t run, double end) { return parts_->loop(run).begin(end); }
bool LaneGroup::has_ended(std::size_t run) const { return parts_->loop(run).has_ended(); }
void LaneGroup::step(Some& wanted) { parts_->step(wanted); }
LaneGroup::Memory LaneGroup::memory(std::size_t run) const { return parts_->memory(run); }
long LaneGroup::in_lanes() const { return parts_->in_lanes; }
long LaneGroup::alone() const { return parts_->alone; }

LaneGroup::Parts::Parts(const std::vector<Simulation*>& runs, const std::vector<Memory>& known)
    : equations_(systems_of(runs)),
      tableau_(*fixed_tableau(runs.front()->system().settings().integrator.name)),
      projects_(mechanism_of(*runs.front())->methods().stabilization.name == "projection"),
      counts_turns_(counts_turns(mechanism_of(*runs.front())->model())),
      start_(equations_.size()),
      stage_(equations_.size()),
      next_(equations_.size()),
      k_(tableau_.b.size(), VecX<Lanes>(equations_.size())),
      rates_(equations_.size()) {
  for (Simulation* const run : runs) loops_.push_back(&run->loop());
  std::ranges::copy(known, known_.begin());
  for (std::size_t run = 0; run < known.size(); ++run) equations_.set_strongest(static_cast<int>(run), known[run].strongest);
}

LaneGroup::Memory LaneGroup::Parts::memory(std::size_t run) const {
  Memory memory = known_[run];
  memory.strongest = equations_.strongest(static_cast<int>(run));
  return memory;
}

void LaneGroup::Parts::step(Some& wanted) {
  Some together{};
  LaneMask anew = LaneMask::of(false);
  std::size_t one = kMost;  // of those that are computed
  const auto load = [&](std::size_t lane, const TimeLoop& loop, const TimeLoop::PlainStep& plain) {
    const int l = static_cast<int>(lane);
    t_.set(l, loop.now().t), h_.set(l, plain.h);
    anew.set(l, plain.begins_anew);
    for (Eigen::Index i = 0; i < start_.size(); ++i) start_[i].set(l, loop.now().y[i]), k_[0][i].set(l, loop.rates()[i]);
  };
  TimeLoop::PlainStep like{};
  for (std::size_t i = 0; i < loops_.size(); ++i) {
    const auto plain = wanted[i] && !stays_alone(i) ? loops_[i]->plain_step() : std::nullopt;
    together[i] = plain.has_value();
    if (!plain) continue;
    load(i, *loops_[i], *plain);
    one = i, like = *plain;
  }
  if (one != kMost) {
    for (std::size_t lane = 0; lane < kMost; ++lane)
      if (!together[lane]) load(lane, *loops_[one], like);
    LaneMask part = LaneMask::of(false);
    for (std::size_t lane = 0; lane < kMost; ++lane) part.set(static_cast<int>(lane), together[lane]);
    equations_.begin(part);
    integrate(anew);
  }
  const LaneEquations::Stock stock = one != kMost ? equations_.stock(next_) : LaneEquations::Stock{};
  for (std::size_t i = 0; i < loops_.size(); ++i) {
    if (!wanted[i]) continue;
    if (together[i] && equations_.usual()[static_cast<int>(i)]) {
      hand_over(i, stock);
      wanted[i] = loops_[i]->finish(done_);
      ++in_lanes;
      known_[i].left = 0;
    } else {
      if (together[i]) known_[i].alone_for = std::min(kLongestAlone, 1 << std::min(++known_[i].left, 20)) - 1;
      wanted[i] = loops_[i]->step();
      ++alone;
    }
  }
}

/// From start_ over h_ to next_, whose rates are then in rates_.
void LaneGroup::Parts::integrate(const LaneMask& anew) {
  evaluations_ = 1;
  if (any(anew)) {
    equations_.evaluate(t_, start_, rates_);
    for (Eigen::Index i = 0; i < rates_.size(); ++i) k_[0][i] = select(anew, rates_[i], k_[0][i]);
    ++evaluations_;
  }
  const std::size_t stages = tableau_.b.size();
  for (std::size_t i = 1; i < stages; ++i, ++evaluations_) {
    combine(tableau_.a[i], i, stage_);
    equations_.evaluate(t_ + Lanes(tableau_.c[i]) * h_, stage_, k_[i]);
  }
  combine(tableau_.b, stages, next_);
  equations_.normalize(next_);
  if (projects_) equations_.project(next_);
  equations_.evaluate(t_ + h_, next_, rates_, projects_);
}

void LaneGroup::Parts::combine(const std::vector<double>& weights, std::size_t count, VecX<Lanes>& y) const {
  y = start_;
  for (std::size_t j = 0; j < count; ++j) {
    if (weights[j] == 0.0) continue;
    const Lanes weight = h_ * Lanes(weights[j]);
    for (Eigen::Index i = 0; i < y.size(); ++i) y[i] += weight * k_[j][i];
  }
}

void LaneGroup::Parts::hand_over(std::size_t run, const LaneEquations::Stock& stock) {
  const int lane = static_cast<int>(run);
  done_.y.resize(next_.size());
  done_.rates.resize(next_.size());
  for (Eigen::Index i = 0; i < next_.size(); ++i) done_.y[i] = next_[i][lane], done_.rates[i] = rates_[i][lane];
  done_.errors = {stock.position_error[lane], stock.velocity_error[lane]};
  done_.energies = {stock.kinetic[lane], stock.potential[lane], next_[next_.size() - 1][lane]};
  done_.turned = counts_turns_ ? stock.fastest[lane] * h_[lane] : 0.0;
  done_.evaluations = evaluations_;
}

}  // namespace linkwork
