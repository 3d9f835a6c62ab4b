#include "linkwork/simulation/mechanism_system.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "linkwork/coordinates/fully_augmented.h"
#include "linkwork/dynamics/diagnosis.h"
#include "linkwork/dynamics/redundancy.h"
#include "linkwork/integrators/catalog.h"
#include "linkwork/model/settable_input.h"
#include "linkwork/simulation/coordinate_choice.h"

namespace linkwork {

namespace {

int freedoms(System& system, const State& state) {
  const Model& model = system.model();
  std::vector<char> dependent(model.rows.size());
  system.update(state);
  return model.tree.nv - RowRank().decide(system, dependent).rank;
}

/// Coordinates of the world lose digits where loops of small bodies hang on large ones. They may not find other freedoms than the
/// joints do.
void check_freedoms(System& joints, const State& joint_state, const Model& augmented, const State& body_state) {
  if (augmented.row_count() > kMostRowsToRank) return;
  System bodies(augmented);
  const int by_joints = freedoms(joints, joint_state), by_bodies = freedoms(bodies, body_state);
  if (by_joints == by_bodies) return;
  throw InputError(
      {},
      fmt::format("coordinates 'FA' cannot tell which rows depend on others so near a singular position, or where lengths "
                  "differ so much: they leave "
                  "{} degrees of freedom, joint coordinates {}",
                  by_bodies, by_joints),
      "the coordinates 'TA'");
}

/// The model in the coordinates it is run in, and the state in them.
std::shared_ptr<const Model> in_its_coordinates(std::shared_ptr<const Model> model, const OneTree& tree, State& state) {
  if (tree) {
    state = state_in(tree, *model, state);
    return tree.model;
  }
  if (model->settings.coordinates.name != "FA") return model;
  check_no_armature(*model);
  System system(*model);
  system.update(state);
  auto augmented = std::make_shared<const Model>(fully_augmented(*model));
  State free{state.t, VecX<double>(augmented->tree.nq), VecX<double>(augmented->tree.nv), state.work, {}};
  free_body_state(*model, system.work(), free.q.data(), free.v.data());
  check_freedoms(system, state, *augmented, free);
  state = free;
  return augmented;
}

/// Not finite if any is not.
double largest(const VecX<double>& x) {
  double most = 0.0, nothing = 0.0;
  for (const double *number = x.data(), *last = number + x.size(); number != last; ++number) {
    most = std::max(most, std::abs(*number));
    nothing += 0.0 * *number;
  }
  return most + nothing;
}

}  // namespace

MechanismSystem::MechanismSystem(std::shared_ptr<const Model> model, const OneTree& tree)
    : start_(assemble(*model, assembly_)),
      model_(in_its_coordinates(model, tree, start_)),
      methods_(choose_methods(*model_, start_, !tree && model_ != model)),
      recorder_(*model_, true, tree.carried),
      limits_(*model_),
      inputs_(model_->inputs.size()),
      carried_rows_(tree.rows()) {
  make_methods();
}

void MechanismSystem::make_methods() {
  equations_ = make_equations(*model_, methods_);
  for (std::size_t k = 0; k < inputs_.size(); ++k)
    if (inputs_[k]) equations_->system().set_input(static_cast<int>(k), *inputs_[k]);
  if (MechanismWatch::is_needed(*model_)) watch_ = std::make_unique<MechanismWatch>(*model_, *equations_, methods_.exact);
}

void MechanismSystem::set_input(const std::string& name, std::optional<double> value) {
  const std::size_t k = settable_input(model_->inputs, name);
  inputs_[k] = value;
  if (value)
    equations_->system().set_input(static_cast<int>(k), *value);
  else
    equations_->system().release_input(static_cast<int>(k));
}

std::vector<MovingSystem::Sampled> MechanismSystem::sampled() {
  std::vector<Sampled> sampled;
  for (std::size_t b = 0; b < model_->blocks.size(); ++b)
    if (const SignalBlock& block = *model_->blocks[b].block; block.steps())
      sampled.push_back({block.step, [this, b]() -> Status {
                           System& system = equations_->system();
                           return {system.blocks()->step(system, b)};
                         }});
  return sampled;
}

std::unique_ptr<Integrator> MechanismSystem::make_integrator() {
  return make_chosen(integrators(), settings().integrator, "integrator", *model_);
}

Moment MechanismSystem::begin() const {
  Moment at;
  pack(start_, at);
  return at;
}

Status MechanismSystem::start(Moment& at, VecX<double>& rates, Summary& summary, Remarks& remarks) {
  summary.model = model_->name;
  summary.coordinates = methods_.coordinates;
  summary.formulation = methods_.formulation.name;
  summary.stabilization = methods_.stabilization.name;
  summary.integrator = settings().integrator.name;
  summary.notes = model_->notes;
  summary.warnings = model_->warnings;
  if (!assembly_.moved.empty()) summary.notes.push_back(describe(assembly_));
  summary.notes.insert(summary.notes.end(), methods_.notes.begin(), methods_.notes.end());

  State state = start_;
  Derivative derivative;
  equations_->start(state);
  Status status = equations_->evaluate(state, derivative);
  if (status.ok() && watch_) status = watch_->start(state, derivative);
  if (status.ok()) equations_->system().accept_turns(true);
  const Solution& solution = equations_->solution();
  summary.rows = model_->row_count();
  start_rank_ = summary.rank = solution.rank.rank;
  std::vector<char> dependent = solution.dependent;
  if (model_->row_count() <= kMostRowsToRank) {  // the same as in a check, whatever the formulation lives with
    summary.rank = RowRank().decide(equations_->system(), dependent).rank;
    for (int row : equations_->system().inactive_rows()) dependent[static_cast<std::size_t>(row)] = 0;
  }
  summary.dof = model_->tree.nv - summary.rank;
  summary.rows += carried_rows_;
  summary.rank += carried_rows_;
  summary.redundant = dependent_row_names(*model_, dependent);
  if (status.ok() && !summary.redundant.empty()) status = diagnose_start(state, summary, remarks);
  pack(state, at);
  pack(derivative, rates);
  equations_->system().rebind(start_ = state);
  if (status.ok()) look(remarks);
  return status;
}

/// The same words as in a check. Only for constraints of which something is to be said.
Status MechanismSystem::diagnose_start(const State& state, Summary& summary, Remarks& remarks) {
  const Diagnosis diagnosis = diagnose(*model_, state, equations_->system().modes());
  const std::string contradiction = describe_contradiction(*model_, diagnosis);
  if (!contradiction.empty() && methods_.exact) return {contradiction};
  if (!contradiction.empty()) remarks.add(state.t, "contradiction", contradiction);
  summary.redundant.clear();
  std::vector<char> redundant(model_->rows.size(), 0);
  for (std::size_t i = 0; i < redundant.size(); ++i) {
    redundant[i] = diagnosis.rows[i].kind != RowDiagnosis::Kind::kIndependent;
    if (redundant[i]) summary.redundant.push_back(model_->rows[i].name);
  }
  summary.not_unique = diagnosis.undetermined;
  start_rank_ = diagnosis.usual_rank;
  std::string note = describe_redundancy(*model_, redundant);
  for (const std::string& sentence : describe_dependence(*model_, diagnosis)) note += "; " + sentence;
  if (diagnosis.has(RowDiagnosis::Kind::kDegenerate))
    remarks.add(state.t, "rank", note + "; " + advise(*model_, diagnosis));
  else
    summary.notes.push_back(note);
  if (const std::string reactions = describe_reactions(*model_, diagnosis); !reactions.empty())
    summary.notes.push_back("reactions: " + reactions);
  return {};
}

void MechanismSystem::accept_step(const Moment&, const VecX<double>&, Remarks& remarks) {
  equations_->accept_step();
  if (watch_) watch_->accept_step();
  look(remarks);
}

/// Something may have happened since a step was accepted: other rows are then in force.
void MechanismSystem::look(Remarks& remarks) {
  const Solution& solution = equations_->solution();
  const double t = equations_->system().state().t;
  const int usual = usual_rank();
  if (solution.rank.rank < usual && !remarks.has("rank"))
    remarks.add(t, "rank",
                fmt::format("the constraints lost rank ({} instead of {}) at t = {:.6g} s, where {}: a singular position; what "
                            "follows may be another branch",
                            solution.rank.rank, usual, t, describe_redundancy(*model_, solution.dependent)));
  if (!solution.remark.empty()) remarks.add(t, "solution", fmt::format("at t = {:.6g} s {}", t, solution.remark));
  limits_.look(equations_->system(), remarks);
}

ConstraintErrors MechanismSystem::errors() const {
  const ConstraintTerms& terms = equations_->system().terms();
  return {largest(terms.phi), largest(terms.rate)};
}

std::optional<Energies> MechanismSystem::energies() {
  const System& system = equations_->system();
  return Energies{system.kinetic_energy(), system.potential_energy(), system.state().work};
}

Status MechanismSystem::record(double t, const std::string& objection, std::vector<double>& row, Remarks&) {
  if (!objection.empty()) return {objection};
  RunningBlocks* const blocks = equations_->system().blocks();
  if (blocks != nullptr) blocks->clear_trouble();
  recorder_.record(*equations_, t, row);
  return blocks != nullptr ? Status{blocks->trouble()} : Status{};
}

MovingSystem::Scales MechanismSystem::scales() const {
  double mass = 0.0;
  for (const Body& body : model_->bodies) mass += body.mass;
  return {model_->units.length, mass * model_->tree.gravity.norm() * model_->units.length};
}

std::string MechanismSystem::advice_when_open() const {
  return methods_.exact ? MovingSystem::advice_when_open()
                        : fmt::format("formulation '{}' holds them by forces that were too weak", methods_.formulation.name);
}

void MechanismSystem::save(const Moment& at, SavedRun& saved) {
  saved.parts = {{{at.y.begin(), at.y.end()}, equations_->system().memory()}};
  saved.start_rank = usual_rank();
  if (watch_ && watch_->switching()) saved.switching = watch_->switching()->save();
  if (RunningBlocks* const blocks = equations_->system().blocks()) saved.blocks = blocks->save();
}

bool MechanismSystem::accepts(const SavedRun& saved) {
  State start = start_;
  equations_->start(start);
  Moment at;
  pack(start, at);
  return saved.parts.size() == 1 && std::ssize(saved.parts[0].x) == at.y.size() &&
         saved.parts[0].memory.size() == equations_->system().memory().size() &&
         (!watch_ || !watch_->switching() || watch_->switching()->accepts(saved.switching));
}

Status MechanismSystem::restore(const SavedRun& saved, Moment& at, VecX<double>& rates) {
  make_methods();
  const std::vector<double>& x = saved.parts[0].x;
  at = {saved.t, Eigen::Map<const VecX<double>>(x.data(), std::ssize(x))};
  start_rank_ = saved.start_rank;
  equations_->system().set_memory(saved.parts[0].memory);
  if (watch_) watch_->restore(saved.switching, saved.t);
  if (RunningBlocks* const blocks = equations_->system().blocks()) {
    State state;
    unpack(at, model_->tree.nq, model_->tree.nv, state);
    equations_->system().update(state);
    blocks->restore(equations_->system(), saved.blocks);
  }
  Status status = equations_->evaluate(at, rates);
  if (status.ok() || !watch_ || !watch_->holds()) return status;
  watch_->hold(false);
  status = equations_->evaluate(at, rates);
  watch_->hold(true);
  return status;
}

void MechanismSystem::finish(Summary& summary, double) {
  if (!watch_) return;
  if (watch_->switching()) summary.events = watch_->switching()->records();
  for (std::string& warning : watch_->warnings()) summary.warnings.push_back(std::move(warning));
}

}  // namespace linkwork
