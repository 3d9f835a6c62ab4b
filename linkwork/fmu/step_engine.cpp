#include <algorithm>

#include "linkwork/fmu/fmu_engine.h"
#include "linkwork/front/evaluation.h"

namespace linkwork {

std::vector<std::string> settable_inputs(const Mechanism& mechanism) {
  std::vector<std::string> names;
  for (const InputSpec& input : mechanism.spec().inputs)
    if (!input.data && !input.is_copy) names.push_back(input.name);
  return names;
}

StepEngine::StepEngine(const Mechanism& mechanism, double t, const std::vector<std::optional<double>>& inputs,
                       std::optional<double> tolerance)
    : run_(mechanism, {.rtol = tolerance, .columns = fmu_columns()}), names_(settable_inputs(mechanism)), inputs_(inputs.size()) {
  if (t != 0.0) {
    State state = run_.state();
    state.t = t;
    run_.set_state(state);
  }
  for (std::size_t k = 0; k < inputs.size(); ++k) set_input(k, inputs[k]);
}

void StepEngine::set_input(std::size_t input, std::optional<double> value) {
  if (inputs_[input] == value) return;  // what is set anew makes the next step begin anew
  inputs_[input] = value;
  row_known_ = false;
  if (value)
    run_.input(names_[input]) = *value;
  else
    run_.input(names_[input]).release();
}

double StepEngine::input(std::size_t input) {
  return inputs_[input] ? *inputs_[input]
                        : run_.evaluate().evaluator().system().input(motion().evaluator().settable()[input]).value;
}

const std::vector<double>& StepEngine::row() {
  if (!row_known_) row_ = run_.row();
  row_known_ = true;
  return row_;
}

bool StepEngine::advance_to(double t) {
  row_known_ = false;
  return run_.advance_to(t);
}

void StepEngine::restore(const SavedRun& saved) {
  run_.restore(saved);
  row_known_ = false;
  for (std::size_t k = 0; k < names_.size(); ++k) {
    const auto set = saved.inputs.find(names_[k]);
    inputs_[k] = set == saved.inputs.end() ? std::nullopt : std::optional(set->second);
  }
}

void StepEngine::go_on_from(const State& state) {
  run_.set_state(state);
  row_known_ = false;
}

ReducedMotion& StepEngine::motion() {
  if (motion_) return *motion_;
  motion_ = std::make_unique<ReducedMotion>(run_.mechanism().model());
  motion_->begin(run_.mechanism().start(), nullptr, ReducedMotion::Rows::kPermanent);
  return *motion_;
}

VecX<double> StepEngine::states() { return motion().coordinates_of(run_.state()) + motion().reference(); }
VecX<double> StepEngine::rates() { return motion().rates_of(run_.evaluate().evaluator()); }

}  // namespace linkwork
