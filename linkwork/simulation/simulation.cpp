#include "linkwork/simulation/simulation.h"

#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <stdexcept>

#include "linkwork/model/input_error.h"
#include "linkwork/simulation/mechanism_system.h"
#include "linkwork/simulation/time_loop.h"

namespace linkwork {

Simulation::Simulation(Model model) : Simulation(std::make_shared<const Model>(std::move(model))) {}
Simulation::Simulation(std::shared_ptr<const Model> model) : Simulation(std::make_unique<MechanismSystem>(std::move(model))) {}
Simulation::Simulation(std::shared_ptr<const Model> model, const OneTree& tree)
    : Simulation(std::make_unique<MechanismSystem>(std::move(model), tree)) {}
Simulation::Simulation(std::unique_ptr<MovingSystem> system) : loop_(std::make_unique<TimeLoop>(std::move(system))) {}
Simulation::Simulation(Simulation&&) noexcept = default;
Simulation& Simulation::operator=(Simulation&&) noexcept = default;
Simulation::~Simulation() = default;

const std::vector<std::string>& Simulation::columns() const { return loop_->columns(); }
double Simulation::t() const { return loop_->now().t; }
const Moment& Simulation::moment() const { return loop_->now(); }
bool Simulation::has_fixed_steps() const { return loop_->has_fixed_steps(); }
MovingSystem& Simulation::system() { return loop_->system(); }

void Simulation::observe(const Observer& observer) { loop_->observe(observer); }
bool Simulation::step() { return loop_->advance(std::numeric_limits<double>::infinity(), true); }
bool Simulation::advance_to(double t) { return loop_->advance(t, false); }
Summary Simulation::run() { return loop_->run(); }
Summary Simulation::run(const Observer& observer) {
  observe(observer);
  return run();
}
Summary Simulation::summary() { return loop_->summary(); }
SavedRun Simulation::save() { return loop_->save(); }
void Simulation::restore(const SavedRun& saved) { loop_->restore(saved); }

void Simulation::sample(double period, std::function<void()> act) {
  if (!(period > 0.0 && std::isfinite(period)))
    throw InputError({}, fmt::format("the period is {} s", period), "a positive number");
  loop_->sample(period, std::move(act));
}
void Simulation::jump(const Moment& to) { loop_->jump(to); }
bool Simulation::ended_by_event() const { return loop_->ended_by_event(); }
bool Simulation::has_started() const { return loop_->has_started(); }
std::vector<double> Simulation::row() { return loop_->row_now(); }

void Simulation::release_input(const std::string& name) { loop_->set_input(name, {}); }
void Simulation::set_input(const std::string& name, double value) { loop_->set_input(name, value); }

MechanismSystem& Simulation::mechanism() const {
  auto* const mechanism = dynamic_cast<MechanismSystem*>(&loop_->system());
  if (mechanism == nullptr) throw std::logic_error("this is no run of a mechanism in one piece");
  return *mechanism;
}

State Simulation::state() const {
  State state;
  const Model& model = mechanism().model();
  unpack(loop_->now(), model.tree.nq, model.tree.nv, state);
  return state;
}

EquationsOfMotion& Simulation::equations() {
  mechanism();
  loop_->come_back();
  return *loop_->system().equations().equations_of_motion();
}
const AssemblyReport& Simulation::assembly() const { return mechanism().assembly(); }
const std::string& Simulation::coordinates() const { return mechanism().methods().coordinates; }
bool Simulation::is_exact() const { return mechanism().methods().exact; }

}  // namespace linkwork
