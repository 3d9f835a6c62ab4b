#include "linkwork/analysis/evaluator.h"

#include "linkwork/model/settable_input.h"
#include "linkwork/simulation/assembly.h"
#include "linkwork/simulation/method_choice.h"
#include "linkwork/simulation/simulation_error.h"
#include "linkwork/tree/kinematics.h"

namespace linkwork {

namespace {

/// The accelerations as the constraints have them, whatever the model asks for to integrate them.
std::unique_ptr<EquationsOfMotion> exact_equations(const Model& model) {
  AssemblyReport report;
  return make_equations(model, choose_methods(model, assemble(model, report), false));
}

std::shared_ptr<const Model> with_exact_methods(const Model& model, bool projects) {
  auto exact = std::make_shared<Model>(model);
  Settings& settings = exact->settings;
  settings.coordinates = {"TA", {}, {}};
  settings.formulation = {"auto", {}, {}};
  settings.stabilization = {projects ? "projection" : "none", {}, {}};
  settings.integrator = {"rk4", {}, {}};
  return exact;
}

}  // namespace

Evaluator::Evaluator(std::shared_ptr<const Model> model, bool projects)
    : model_(with_exact_methods(*model, projects)),
      names_(*model_),
      equations_(exact_equations(*model_)),
      kinematics_(names_, equations_->system()),
      reactions_(*model_) {
  for (std::size_t k = 0; k < model_->inputs.size(); ++k)
    if (!model_->inputs[k].data && !model_->inputs[k].is_copy) settable_.push_back(static_cast<int>(k));
}

void Evaluator::set_modes(const Modes* modes) {
  if (modes != nullptr)
    equations_->set_modes(*modes);
  else if (own_modes_)
    equations_->set_modes(Modes(*model_));
  own_modes_ = modes != nullptr;
}

void Evaluator::evaluate(const State& state, const std::map<std::string, double>& inputs) {
  for (std::size_t k = 0; k < model_->inputs.size(); ++k) system().release_input(static_cast<int>(k));
  for (const auto& [name, value] : inputs) system().set_input(static_cast<int>(settable_input(model_->inputs, name)), value);
  solve(state);
}

void Evaluator::evaluate(const State& state, const VecX<double>& inputs) {
  for (std::size_t k = 0; k < settable_.size(); ++k) system().set_input(settable_[k], inputs[static_cast<Eigen::Index>(k)]);
  solve(state);
}

void Evaluator::solve(const State& state) {
  const Tree& tree = model_->tree;
  if (state.q.size() != tree.nq || state.v.size() != tree.nv)
    throw InputError({}, fmt::format("the state has {} positions and {} velocities", state.q.size(), state.v.size()),
                     fmt::format("{} and {}", tree.nq, tree.nv));
  state_ = state;
  if (state_.z.size() < std::ssize(model_->states)) equations_->start(state_);
  reactions_known_ = false;
  if (const Status status = equations_->evaluate(state_, rates_); !status.ok()) throw SimulationError(status.trouble);
  equations_->complete();
}

void Evaluator::refresh() {
  system().update(state_);
  system().update_forces();
}

const JointReactions& Evaluator::reactions() {
  if (!reactions_known_) {
    refresh();
    update_accelerations(system().tree(), solution().vdot.data(), system().work());
    reactions_.update(system(), solution().lambda);
    reactions_known_ = true;
  }
  return reactions_;
}

std::unique_ptr<Evaluator> EvaluatorPool::take() {
  {
    const std::lock_guard lock(mutex_);
    if (!free_.empty()) {
      std::unique_ptr<Evaluator> evaluator = std::move(free_.back());
      free_.pop_back();
      return evaluator;
    }
  }
  return std::make_unique<Evaluator>(model_);
}

void EvaluatorPool::give_back(std::unique_ptr<Evaluator> evaluator) {
  const std::lock_guard lock(mutex_);
  free_.push_back(std::move(evaluator));
}

}  // namespace linkwork
