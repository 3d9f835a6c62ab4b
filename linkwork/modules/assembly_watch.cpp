#include "linkwork/modules/assembly_watch.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <unordered_set>

#include "linkwork/formulations/catalog.h"
#include "linkwork/model/joint_state.h"
#include "linkwork/modules/assembly_system.h"
#include "linkwork/stabilizations/catalog.h"
#include "linkwork/transport/text.h"

namespace linkwork {

/// The system in one piece, on the first rank.
struct AssemblyWatch::Whole {
  explicit Whole(const Model& its_model)
      : model(its_model),
        equations(model, make_chosen(formulations(), Choice{"schur", {}, {}}, "formulation", model),
                  make_chosen(stabilizations(), model.settings.stabilization, "stabilization", model)),
        watch(model, equations, true) {
    state.q = Eigen::Map<const VecX<double>>(model.start_q.data(), model.tree.nq);
    state.v = Eigen::Map<const VecX<double>>(model.start_v.data(), model.tree.nv);
    equations.start(state);
  }

  /// A joint of a part, and where its numbers stand among those of all parts.
  struct Place {
    const Joint* joint;
    std::size_t at;
  };

  const Model& model;
  EquationsOfMotion equations;
  MechanismWatch watch;
  State state;
  Derivative rates;
  Moment moment;
  VecX<double> y_rates;
  std::vector<Place> joints;
  std::vector<std::pair<int, std::size_t>> states;  // of the user's own, likewise
  std::vector<std::size_t> balances;                // of the modules' energies

  void evaluate() {
    Status status = equations.evaluate(state, rates);
    if (!status.ok() && watch.holds()) {
      watch.hold(false);
      status = equations.evaluate(state, rates);
      watch.hold(true);
    }
    pack(state, moment);
    pack(rates, y_rates);
  }
};

AssemblyWatch::AssemblyWatch(AssemblySystem& system, const Model* whole) : system_(system) {
  if (whole != nullptr) whole_ = std::make_unique<Whole>(*whole);
  Transport& transport = system_.workshop().transport();
  modes_ = std::make_unique<SharedModes>(said_by_first(transport, whole ? SharedModes::names_in(*whole) : ""));
  std::array<double, 2> has{};
  if (whole) has = {whole->switch_count > 0 || !whole->events.empty() ? 1.0 : 0.0, whole->frictions.empty() ? 0.0 : 1.0};
  transport.broadcast(has, 0);
  has_times_ = has[0] != 0.0;
  has_friction_ = has[1] != 0.0;
  lay_out();
}

AssemblyWatch::~AssemblyWatch() = default;

const MechanismWatch* AssemblyWatch::first() const { return whole_ ? &whole_->watch : nullptr; }
System* AssemblyWatch::whole() { return whole_ ? &whole_->equations.system() : nullptr; }

/// Calls visit(number, part) for the modules of this rank and the couplings that it evaluates.
template <class Visit>
void AssemblyWatch::for_each_part(Visit visit) const {
  for (WorkingModule& module : system_.workshop().modules())
    if (SwitchedPart* const part = module.module->switched()) visit(static_cast<std::size_t>(module.index), *part);
  const std::size_t modules = system_.workshop().plan().modules.size();
  if (const Hierarchy* const coupled = system_.glue().coupled())
    for (std::size_t k = 0; k < coupled->couplings().size(); ++k)
      if (coupled->couplings()[k]) visit(modules + k, coupled->couplings()[k]->switched());
}

namespace {

const char* const kBalance = "(balance)";

}  // namespace

/// Every rank says which parts it has and what joints are in them: those of its modules, then of the couplings it owns. Modules
/// also tell how their energies add up.
void AssemblyWatch::lay_out() {
  Workshop& workshop = system_.workshop();
  const std::size_t modules = workshop.plan().modules.size();
  std::string own;
  for_each_part([&](std::size_t part, SwitchedPart& its) {
    if (part >= modules && !system_.glue().coupled()->is_owner(part - modules)) return;
    const bool is_module = part < modules;
    own += fmt::format("{}\n{}\n", part, its.model().joints.size() + its.model().states.size() + (is_module ? 1 : 0));
    for (const Joint& joint : its.model().joints) own += fmt::format("{}\n{}\n", joint.name, joint.kind->nq() + joint.kind->nv());
    for (const UserState& state : its.model().states) own += fmt::format("state {}\n1\n", state.name);
    if (is_module) own += fmt::format("{}\n1\n", kBalance);
  });
  places_.assign(modules + workshop.plan().couplings.size(), 0);
  ends_.clear();
  std::unordered_map<std::string, const Joint*> joint_of;
  std::unordered_map<std::string, int> state_of;
  if (whole_) {
    for (const Joint& joint : whole_->model.joints) joint_of[joint.name] = &joint;
    for (const UserState& state : whole_->model.states) state_of["state " + state.name] = static_cast<int>(state_of.size());
  }
  std::size_t at = 0;
  std::vector<std::pair<std::string, std::size_t>> of_couplings;
  for (const std::string& text : gather_texts(workshop.transport(), own)) {
    const std::vector<std::string> lines = lines_of(text);
    for (std::size_t line = 0; line < lines.size();) {
      const std::size_t part = std::stoul(lines[line++]);
      places_[part] = at;
      for (std::size_t count = std::stoul(lines[line++]); count > 0; --count, line += 2) {
        if (part >= modules)
          of_couplings.emplace_back(lines[line], at);
        else if (const auto found = joint_of.find(lines[line]); found != joint_of.end())
          whole_->joints.push_back({found->second, at}), joint_of.erase(found);
        else if (const auto state = state_of.find(lines[line]); state != state_of.end())
          whole_->states.emplace_back(state->second, at);
        else if (whole_ && lines[line] == kBalance)
          whole_->balances.push_back(at);
        at += std::stoul(lines[line + 1]);
      }
    }
    ends_.push_back(static_cast<int>(at));
  }
  // Couplings read joints of modules, too; those between modules are theirs.
  for (const auto& [name, place] : of_couplings)
    if (const auto found = joint_of.find(name); found != joint_of.end())
      whole_->joints.push_back({found->second, place}), joint_of.erase(found);
  joints_.assign(at, 0.0);
}

/// The whole comes to where the modules were last evaluated.
void AssemblyWatch::keep_up() {
  const long evaluations = system_.equations().evaluations();
  if (kept_up_to_ == evaluations) return;
  kept_up_to_ = evaluations;
  Workshop& workshop = system_.workshop();
  const std::size_t modules = workshop.plan().modules.size();
  for_each_part([&](std::size_t part, SwitchedPart& its) {
    if (part >= modules && !system_.glue().coupled()->is_owner(part - modules)) return;
    const auto end = std::ranges::copy(its.joint_values(), joints_.begin() + static_cast<std::ptrdiff_t>(places_[part])).out;
    if (part >= modules) return;
    const ModuleEnergy energy = workshop.module(static_cast<int>(part)).module->energy();
    *end = energy.kinetic + energy.potential - energy.work;
  });
  workshop.transport().gather(joints_, ends_);
  if (!whole_) return;
  State& state = whole_->state;
  state.t = system_.evaluated_at();
  for (const auto& [joint, at] : whole_->joints)
    write_joint(whole_->model.tree, *joint, &joints_[at], state.q.data(), state.v.data());
  for (const auto& [z, at] : whole_->states) state.z[z] = joints_[at];
  whole_->evaluate();
  // What was done on the whole is what its energy has changed by but for what has been made up: that of the modules.
  state.work = whole_->equations.system().kinetic_energy() + whole_->equations.system().potential_energy();
  for (const std::size_t at : whole_->balances) state.work -= joints_[at];
  pack(state, whole_->moment);
}

void AssemblyWatch::share_modes() {
  if (whole_) modes_->write(whole_->equations.system());
  system_.workshop().transport().broadcast(modes_->numbers(), 0);
  holds_ = modes_->holds_branches();
  for_each_part([&](std::size_t, SwitchedPart& part) { part.take_modes(*modes_); });
}

/// The first rank lets something happen to the whole; it then happens to the modules.
template <class Act>
Status AssemblyWatch::decide(Moment& at, VecX<double>& rates, Act act) {
  keep_up();
  Transport& transport = system_.workshop().transport();
  std::array<double, 3> change{};  // whether velocities and positions have jumped, and the work of it
  std::string trouble;
  if (whole_) {
    const State before = whole_->state;
    trouble = act(*whole_).trouble;
    const State& after = whole_->state;
    change = {after.v != before.v ? 1.0 : 0.0, after.q != before.q ? 1.0 : 0.0, after.work - before.work};
    stopped_by_ = whole_->watch.stopped_by();
  }
  trouble = said_by_first(transport, trouble);
  if (!trouble.empty()) return {trouble};
  stopped_by_ = said_by_first(transport, stopped_by_);
  transport.broadcast(change, 0);
  share_modes();
  system_.glue().modes_changed();
  if (change[0] != 0.0 || change[1] != 0.0 || change[2] != 0.0) change_states(at, change[1] != 0.0, change[2]);
  Status status = system_.equations().evaluate(at, rates);
  if (!status.ok() && holds_) {
    hold(false);
    status = system_.equations().evaluate(at, rates);
    hold(true);
  }
  for_each_part([&](std::size_t, SwitchedPart& part) { part.accept_jump(); });
  system_.remember_ranks();
  kept_up_to_ = system_.equations().evaluations();
  return status;
}

/// The work is put down to the first module.
void AssemblyWatch::change_states(Moment& at, bool positions, double work) {
  if (whole_) {
    System& system = whole_->equations.system();
    for (const auto& [joint, place] : whole_->joints) {
      std::array<double, 7> q{};
      std::array<double, 6> v{}, a{};
      system.joint_motion(*joint, {}, q, v, a);
      double* const to = &joints_[place];
      if (positions) std::copy_n(q.begin(), joint->kind->nq(), to);
      std::copy_n(v.begin(), joint->kind->nv(), to + joint->kind->nq());
    }
  }
  system_.workshop().transport().broadcast(joints_, 0);
  system_.change_states(at, [&](WorkingModule& module, VecX<double>& x) {
    const SwitchedPart& part = *module.module->switched();
    part.jump(std::span(joints_).subspan(places_[static_cast<std::size_t>(module.index)]), positions, x);
    if (module.index == 0) x[x.size() - 1] += work;
  });
}

Status AssemblyWatch::start(Moment& at, VecX<double>& rates) {
  return decide(at, rates, [&](Whole& whole) {
    const Status status = whole.watch.start(whole.state, whole.rates);
    if (status.ok()) whole.equations.system().accept_turns(true);
    pack(whole.state, whole.moment);
    pack(whole.rates, whole.y_rates);
    return status;
  });
}

Status AssemblyWatch::happen(Moment& at, VecX<double>& rates, const std::function<void(bool after)>&) {
  return decide(at, rates, [&](Whole& whole) {
    const Status status = whole.watch.happen(whole.moment, whole.y_rates, [](bool) {});
    unpack(whole.moment, whole.model.tree.nq, whole.model.tree.nv, whole.state);
    whole.equations.system().rebind(whole.state);
    return status;
  });
}

void AssemblyWatch::begin_step(const VecX<double>&) {
  keep_up();
  if (whole_) whole_->watch.begin_step(whole_->y_rates);
  if (has_friction_) share_modes();  // directions of sliding are those at the start of the step
}

double AssemblyWatch::margin(const VecX<double>&) {
  keep_up();
  double least = whole_ ? whole_->watch.margin(whole_->y_rates) : 0.0;
  system_.workshop().transport().broadcast({&least, 1}, 0);
  return least;
}

const std::vector<Jet>& AssemblyWatch::values(const VecX<double>&) {
  keep_up();
  Transport& transport = system_.workshop().transport();
  if (whole_) values_ = whole_->watch.values(whole_->y_rates);
  if (transport.size() == 1) return values_;
  if (value_count_ < 0) {
    auto count = static_cast<double>(values_.size());
    transport.broadcast({&count, 1}, 0);
    value_count_ = static_cast<int>(count);
  }
  values_.resize(static_cast<std::size_t>(value_count_));
  message_.clear();
  for (const Jet& value : values_) message_.insert(message_.end(), {value.value, value.d1, value.d2});
  transport.broadcast(message_, 0);
  for (std::size_t k = 0; k < values_.size(); ++k) values_[k] = {message_[3 * k], message_[3 * k + 1], message_[3 * k + 2]};
  return values_;
}

void AssemblyWatch::mark_due() {
  if (whole_) whole_->watch.mark_due();
}

double AssemblyWatch::next_time(double t, double until) {
  double next = std::numeric_limits<double>::infinity();
  if (!has_times_) return next;
  if (whole_) next = whole_->watch.next_time(t, until);
  system_.workshop().transport().broadcast({&next, 1}, 0);
  return next;
}

void AssemblyWatch::hold(bool on) {
  holds_ = on;
  if (whole_) whole_->watch.hold(on);
  for_each_part([&](std::size_t, SwitchedPart& part) { part.hold_branches(on); });
}

std::string AssemblyWatch::busiest(double since) const {
  return said_by_first(system_.workshop().transport(), whole_ ? whole_->watch.busiest(since) : "");
}

void AssemblyWatch::set_input(const std::string& name, std::optional<double> value) {
  if (!whole_) return;
  const int input = whole_->model.input_index(name);
  if (value)
    whole_->equations.system().set_input(input, *value);
  else
    whole_->equations.system().release_input(input);
}

void AssemblyWatch::save(SavedSwitching& switching, std::vector<double>& memory) const {
  if (!whole_) return;
  memory = whole_->equations.system().memory();
  if (whole_->watch.switching()) switching = whole_->watch.switching()->save();
}

bool AssemblyWatch::accepts(const SavedSwitching& switching, const std::vector<double>& memory) const {
  return !whole_ || (memory.size() == whole_->equations.system().memory().size() &&
                     (!whole_->watch.switching() || whole_->watch.switching()->accepts(switching)));
}

void AssemblyWatch::restore(const SavedSwitching& switching, const std::vector<double>& memory, double t) {
  if (whole_) {
    auto anew = std::make_unique<Whole>(whole_->model);
    anew->joints = whole_->joints;
    anew->states = whole_->states;
    anew->balances = whole_->balances;
    whole_ = std::move(anew);
    whole_->equations.system().set_memory(memory);
    whole_->watch.restore(switching, t);
  }
  kept_up_to_ = -1;
  share_modes();
  system_.glue().modes_changed();
}

}  // namespace linkwork
