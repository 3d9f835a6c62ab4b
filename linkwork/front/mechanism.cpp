#include "linkwork/front/mechanism.h"

#include <fmt/format.h>

#include <Eigen/QR>
#include <algorithm>
#include <cmath>

#include "linkwork/front/evaluation.h"
#include "linkwork/front/mechanism_parts.h"
#include "linkwork/io/model_file.h"
#include "linkwork/simulation/assembly.h"
#include "linkwork/tree/rnea.h"

namespace linkwork {

namespace {

template <class List>
std::vector<std::string> names_of(const List& list) {
  std::vector<std::string> names;
  for (const auto& thing : list) names.push_back(thing.name);
  return names;
}

ReadOptions reading(const Parameters& parameters) {
  ReadOptions options;
  for (const auto& [name, value] : parameters) options.set.emplace_back(name, value.text);
  return options;
}

std::vector<std::string> coordinate_names(const Model& model, const std::vector<std::string> JointKind::*components,
                                          const std::vector<int> Joint::*places, int count) {
  std::vector<std::string> names(static_cast<std::size_t>(count));
  for (const Joint& joint : model.joints)
    for (std::size_t k = 0; k < (joint.*places).size(); ++k)
      names[static_cast<std::size_t>((joint.*places)[k])] = coordinate_name(joint, (joint.kind->*components)[k]);
  return names;
}

/// Directions of motion that the constraints leave: columns that are orthonormal, A N = 0.
MatX<double> free_directions(Evaluator& at) {
  const MatX<double>& A = at.system().jacobian();
  std::vector<int> independent;
  for (int row = 0; row < A.rows(); ++row)
    if (at.system().is_active(row) && !at.solution().dependent[static_cast<std::size_t>(row)]) independent.push_back(row);
  const auto nv = at.model().tree.nv;
  if (independent.empty()) return MatX<double>::Identity(nv, nv);
  const Eigen::HouseholderQR<MatX<double>> qr(A(independent, Eigen::all).transpose());
  return MatX<double>(qr.householderQ()).rightCols(nv - std::ssize(independent));
}

void check_allowed(Evaluator& at, const VecX<double>& vdot) {
  constexpr double kOff = 1e-6;
  const MatX<double>& A = at.system().jacobian();
  const VecX<double>& b = at.system().terms().b;
  for (int row = 0; row < A.rows(); ++row) {
    if (!at.system().is_active(row)) continue;
    const double off = A.row(row).dot(vdot) - b[row];
    const double size = A.row(row).cwiseAbs().dot(vdot.cwiseAbs()) + std::abs(b[row]);
    if (std::abs(off) > kOff * size)
      throw InputError({},
                       fmt::format("the accelerations would open '{}' by {:.3g} per s^2",
                                   at.model().rows[static_cast<std::size_t>(row)].name, off),
                       "accelerations that the constraints allow");
  }
}

}  // namespace

ParameterValue::ParameterValue(double number) : text(fmt::format("{}", number)) {}

const std::shared_ptr<const Model>& Mechanism::Parts::model() const {
  std::call_once(model_made_, [&] { model_ = std::make_shared<const Model>(build_model(spec)); });
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
  constexpr double kOff = 1e-9;
  Evaluation evaluation = evaluate(state);
  Evaluator& at = evaluation.evaluator();
  const Tree& tree = at.model().tree;
  if (vdot.size() != tree.nv || !vdot.allFinite())
    throw InputError({}, fmt::format("there are {} accelerations", vdot.size()), fmt::format("{} finite numbers", tree.nv));
  check_allowed(at, vdot);
  at.refresh();
  VecX<double> needed(tree.nv);
  linkwork::inverse_dynamics(tree, vdot.data(), at.system().work(), needed);
  needed -= at.system().work().tau;
  if (actuators.empty() && at.model().row_count() == 0) return needed;

  const MatX<double> N = free_directions(at);
  MatX<double> drive = MatX<double>::Identity(tree.nv, tree.nv);
  if (!actuators.empty()) {
    drive.setZero(tree.nv, std::ssize(actuators));
    for (std::size_t k = 0; k < actuators.size(); ++k) {
      const Coordinate& coordinate = at.names().velocities.at(actuators[k]);
      const Joint& joint = at.model().joints[coordinate.joint()];
      if (!joint.in_state())
        throw InputError({}, fmt::format("'{}' is a coordinate of a joint that is cut", actuators[k]), "one of the tree");
      drive(joint.v[static_cast<std::size_t>(coordinate.component)], static_cast<Eigen::Index>(k)) = 1.0;
    }
  }
  const MatX<double> reach = N.transpose() * drive;
  const VecX<double> wanted = N.transpose() * needed;
  const VecX<double> efforts = reach.completeOrthogonalDecomposition().solve(wanted);
  if (const double off = (reach * efforts - wanted).norm(); off > kOff * std::max(wanted.norm(), needed.norm()))
    throw InputError({},
                     fmt::format("the actuators {} leave motions that they cannot drive ({} of {})", listed(actuators),
                                 N.cols() - reach.completeOrthogonalDecomposition().rank(), N.cols()),
                     "an actuator for each degree of freedom");
  return efforts;
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

Mechanism load(const std::filesystem::path& file, const Parameters& parameters) {
  Mechanism mechanism(read_model_file(file, reading(parameters)));
  mechanism.model();  // what cannot be built is told here
  return mechanism;
}

Mechanism parse(std::string_view text, const std::string& name, const Parameters& parameters) {
  Mechanism mechanism(read_model_text(text, name, reading(parameters)));
  mechanism.model();
  return mechanism;
}

}  // namespace linkwork
