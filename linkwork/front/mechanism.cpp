#include "linkwork/front/mechanism.h"

#include <fmt/format.h>

#include <algorithm>

#include "linkwork/front/evaluation.h"
#include "linkwork/front/mechanism_parts.h"
#include "linkwork/import/robot_file.h"
#include "linkwork/model/remote_modules.h"
#include "linkwork/simulation/assembly.h"
#include "linkwork/simulation/design_fit.h"

namespace linkwork {

namespace {

template <class List>
std::vector<std::string> names_of(const List& list) {
  std::vector<std::string> names;
  for (const auto& thing : list) names.push_back(thing.name);
  return names;
}

std::vector<std::pair<std::string, std::string>> texts(const Parameters& parameters) {
  std::vector<std::pair<std::string, std::string>> texts;
  for (const auto& [name, value] : parameters) texts.emplace_back(name, value.text);
  return texts;
}

std::vector<std::string> coordinate_names(const Model& model, const std::vector<std::string> JointKind::*components,
                                          const std::vector<int> Joint::*places, int count) {
  std::vector<std::string> names(static_cast<std::size_t>(count));
  for (const Joint& joint : model.joints)
    for (std::size_t k = 0; k < (joint.*places).size(); ++k)
      names[static_cast<std::size_t>((joint.*places)[k])] = coordinate_name(joint, (joint.kind->*components)[k]);
  return names;
}

}  // namespace

ParameterValue::ParameterValue(double number) : text(fmt::format("{}", number)) {}

const std::shared_ptr<const Model>& Mechanism::Parts::model() const {
  std::call_once(model_made_, [&] { model_ = std::make_shared<const Model>(fitted_model(spec)); });
  return model_;
}

const std::shared_ptr<EvaluatorPool>& Mechanism::Parts::evaluators() const {
  std::call_once(evaluators_made_, [&] { evaluators_ = std::make_shared<EvaluatorPool>(model()); });
  return evaluators_;
}

const State& Mechanism::Parts::start() const {
  std::call_once(start_made_, [&] {
    AssemblyReport report;
    start_ = assemble(*model(), report);
    start_.z.resize(std::ssize(model()->states));
    for (std::size_t k = 0; k < model()->states.size(); ++k) start_.z[static_cast<Eigen::Index>(k)] = model()->states[k].start;
  });
  return start_;
}

Mechanism::Mechanism(Spec spec) : parts_(std::make_shared<const Parts>(std::move(spec))) {}

const Spec& Mechanism::spec() const { return parts_->spec; }
const std::shared_ptr<const Model>& Mechanism::model() const { return parts_->model(); }

const std::string& Mechanism::name() const { return spec().name; }
std::vector<std::string> Mechanism::bodies() const { return names_of(spec().bodies); }
std::vector<std::string> Mechanism::joints() const { return names_of(spec().joints); }
std::vector<std::string> Mechanism::closures() const { return names_of(spec().closures); }
std::vector<std::string> Mechanism::inputs() const { return names_of(spec().inputs); }
std::vector<std::string> Mechanism::states() const { return names_of(spec().states); }
std::vector<std::string> Mechanism::sensors() const { return names_of(spec().sensors); }
std::vector<std::string> Mechanism::positions() const {
  return coordinate_names(*model(), &JointKind::positions, &Joint::q, model()->tree.nq);
}
std::vector<std::string> Mechanism::velocities() const {
  return coordinate_names(*model(), &JointKind::velocities, &Joint::v, model()->tree.nv);
}

State Mechanism::start() const { return parts_->start(); }

Evaluation Mechanism::evaluate(const State& state, const std::map<std::string, double>& inputs) const {
  const std::shared_ptr<EvaluatorPool>& pool = parts_->evaluators();
  Evaluation evaluation(pool->take(), pool);
  evaluation.evaluator().set_modes(nullptr);
  evaluation.evaluator().evaluate(state, inputs);
  return evaluation;
}

VecX<double> Mechanism::inverse_dynamics(const State& state, const VecX<double>& vdot,
                                         const std::vector<std::string>& actuators) const {
  return evaluate(state).inverse_dynamics(vdot, actuators);
}

Mechanism Mechanism::with(CustomForce force) const {
  Spec spec = parts_->spec;
  spec.custom_forces.push_back(std::move(force));
  return Mechanism(std::make_shared<const Parts>(std::move(spec), parts_->modules));
}

Mechanism Mechanism::with_module(const std::string& name, std::function<std::unique_ptr<Module>()> make) const {
  const std::vector<std::string> known = names_of(spec().modules);
  if (std::ranges::find(known, name) == known.end()) throw unknown_name({}, "module", name, known);
  OwnModules modules = parts_->modules;
  modules[name] = std::move(make);
  return Mechanism(std::make_shared<const Parts>(parts_->spec, std::move(modules)));
}

Spec ModelOrigin::read(std::function<std::string(const std::filesystem::path&)> load) const {
  const ReadOptions reading{.set = set, .load = std::move(load)};
  return text ? read_model_text(*text, file.string(), reading) : read_any_model(folder / file, importing, reading);
}

Mechanism read_again(const ModelOrigin& origin) {
  auto from = std::make_shared<ModelOrigin>(origin);
  Spec spec = origin.read();
  if (from->folder.empty() && !from->text) from->folder = std::filesystem::current_path();
  Mechanism mechanism(std::make_shared<const Mechanism::Parts>(std::move(spec), OwnModules(), std::move(from)));
  if (remote_modules(mechanism.spec()) == nullptr) mechanism.model();  // what cannot be built is told here
  return mechanism;
}

Mechanism load(const std::filesystem::path& file, const Parameters& parameters) { return load(file, parameters, {}); }

Mechanism load(const std::filesystem::path& file, const Parameters& parameters, const ImportOptions& importing) {
  return read_again({.file = file, .set = texts(parameters), .importing = importing});
}

Mechanism parse(std::string_view text, const std::string& name, const Parameters& parameters) {
  return read_again({.file = name, .text = std::string(text), .set = texts(parameters)});
}

}  // namespace linkwork
