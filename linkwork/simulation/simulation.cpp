#include "linkwork/simulation/simulation.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <limits>

#include "linkwork/coordinates/fully_augmented.h"
#include "linkwork/dynamics/diagnosis.h"
#include "linkwork/dynamics/redundancy.h"
#include "linkwork/formulations/catalog.h"
#include "linkwork/formulations/embedding.h"
#include "linkwork/integrators/catalog.h"
#include "linkwork/linalg/bracketed_root.h"
#include "linkwork/simulation/coordinate_choice.h"
#include "linkwork/stabilizations/catalog.h"
#include "linkwork/tree/kinematics.h"

namespace linkwork {

namespace {

/// How little may be left of a constraint row (squared, see rank.h) before a position counts as nearly singular.
constexpr double kNearlySingular = 1e-5;

/// The model with coordinates FA, and the state in them.
std::unique_ptr<const Model> free_bodies(const Model& model, State& state) {
  System system(model);
  system.update(state);
  auto augmented = std::make_unique<const Model>(fully_augmented(model));
  State free{state.t, VecX<double>(augmented->tree.nq), VecX<double>(augmented->tree.nv), state.work, {}};
  free_body_state(model, system.work(), free.q.data(), free.v.data());
  state = free;
  return augmented;
}

/// The drift control asked for, or none where the formulation could not work beside it and nobody asked.
Choice fitting_stabilization(const Choice& formulation, const Choice& wanted, std::vector<std::string>& notes) {
  const auto& traits = chosen_entry(stabilizations(), wanted, "stabilization").traits;
  const bool lives_on_errors = chosen_entry(formulations(), formulation, "formulation").traits.lives_on_errors;
  if (!lives_on_errors || !(traits.holds_positions || traits.holds_velocities)) return wanted;
  const std::string why = fmt::format("formulation '{}' lives on the constraint errors that stabilization '{}' takes away",
                                      formulation.name, wanted.name);
  if (!wanted.place.file.empty()) throw InputError(wanted.place, why, "stabilization 'none' with it");
  notes.push_back("stabilization 'none' was chosen: " + why);
  return {"none", {}, {}};
}

bool takes(const Integrator::Traits& integrator, Equations equations) {
  return std::ranges::find(integrator.takes, equations) != integrator.takes.end();
}

/// An integrator must be able to do something with what the formulation gives.
void check_capabilities(const CatalogEntry<Formulation>& formulation, const CatalogEntry<Integrator>& integrator,
                        const Place& place) {
  if (takes(integrator.traits, formulation.traits.gives)) return;
  std::vector<std::string> partners, alternatives;
  for (const auto& entry : integrators())
    if (takes(entry.traits, formulation.traits.gives)) partners.push_back(entry.info.name);
  for (const auto& entry : formulations())
    if (takes(integrator.traits, entry.traits.gives)) alternatives.push_back(entry.info.name);
  const bool is_dae = formulation.traits.gives != Equations::kAcceleration;
  throw InputError(
      place,
      fmt::format("formulation '{}' gives {}, which integrator '{}' does not take", formulation.info.name,
                  is_dae ? "the residual of a differential-algebraic equation" : "accelerations", integrator.info.name),
      fmt::format("one of the integrators {}, or with '{}' one of the formulations {}", listed(partners), integrator.info.name,
                  listed(alternatives)));
}

/// Embedded loops leave an ordinary differential equation.
void check_embedding(const Settings& settings, const CatalogEntry<Integrator>& integrator) {
  if (settings.formulation.name != "auto")
    throw InputError(
        settings.formulation.place,
        fmt::format("with coordinates 'CE' no constraints are left for the formulation '{}'", settings.formulation.name),
        "the formulation 'auto', or the coordinates 'TA' or 'FA'");
  if (!takes(integrator.traits, Equations::kAcceleration))
    throw InputError(
        settings.integrator.place,
        fmt::format("coordinates 'CE' give accelerations, which integrator '{}' does not take", integrator.info.name),
        "the coordinates 'TA' or 'FA', or an integrator of ordinary differential equations");
}

/// Rows that stand at velocity level or come and go are neither embedded nor part of a differential-algebraic equation.
void check_permanent(const Model& model, const std::string& method, const Place& place, const std::string& instead) {
  for (const ConstraintRow& row : model.rows)
    if (!row.is_permanent())
      throw InputError(place,
                       fmt::format("{} cannot be used with '{}', which {}", method, row.closure,
                                   row.switched ? "comes and goes" : "constrains velocities only"),
                       instead);
}

}  // namespace

Simulation::Simulation(const Model& model)
    : settings_(model.settings),
      state_(assemble(model, assembly_)),
      augmented_(settings_.coordinates.name == "FA" ? free_bodies(model, state_) : nullptr),
      model_(augmented_ ? *augmented_ : model),
      next_(state_),
      inside_(state_),
      recorder_(model_),
      warned_limit_(model_.joints.size(), 0) {
  for (Derivative* rates : {&rates_, &next_rates_, &inside_rates_}) {
    rates->qdot = VecX<double>::Zero(model_.tree.nq);
    rates->vdot = VecX<double>::Zero(model_.tree.nv);
  }
  choose_methods();
}

void Simulation::choose_methods() {
  summary_.notes = model_.notes;
  if (!assembly_.moved.empty()) summary_.notes.push_back(describe(assembly_));
  const auto& stepping = chosen_entry(integrators(), settings_.integrator, "integrator");
  embedding_ = chosen_embedding(stepping);
  formulation_ = {"embedding", {}, {}};
  stabilization_ = settings_.stabilization;
  if (!embedding_) {
    formulation_ = chosen_formulation(stepping.traits.takes);
    find_choice(formulation_choices(), formulation_, "formulation");  // names "auto" too if it is none
    const auto& solving = chosen_entry(formulations(), formulation_, "formulation");
    check_capabilities(solving, stepping, formulation_.place);
    if (solving.traits.gives != Equations::kAcceleration)
      check_permanent(model_, fmt::format("formulation '{}'", formulation_.name), formulation_.place,
                      "a formulation that gives accelerations, and an integrator that takes them");
    exact_ = solving.traits.exact;
    stabilization_ = fitting_stabilization(formulation_, settings_.stabilization, summary_.notes);
  }
  make_methods();
  summary_.model = model_.name;
  const bool embeds_all = embedding_ && std::ranges::count(embedding_->embed, 0) == 0;
  summary_.coordinates = augmented_ ? "FA" : embeds_all ? "CE" : embedding_ ? "hybrid" : "TA";
  summary_.formulation = formulation_.name;
  summary_.stabilization = stabilization_.name;
  summary_.integrator = settings_.integrator.name;
}

/// As chosen, without memory of earlier steps.
void Simulation::make_methods() {
  std::unique_ptr<Formulation> solver;
  Equations gives = Equations::kAcceleration;
  if (embedding_) {
    solver = make_embedding(model_, *embedding_);
  } else {
    const auto& solving = chosen_entry(formulations(), formulation_, "formulation");
    gives = solving.traits.gives;
    solver = solving.make(model_, complete_options(solving.info, formulation_));
  }
  equations_ = std::make_unique<EquationsOfMotion>(model_, std::move(solver),
                                                   make_chosen(stabilizations(), stabilization_, "stabilization", model_), gives);
  integrator_ = make_chosen(integrators(), settings_.integrator, "integrator", model_);
  adaptive_ = integrator_->estimates_error();
  if (model_.has_events()) switching_ = std::make_unique<Switching>(model_, *equations_, exact_);
}

/// Which loops are embedded; nothing if all are cut. "auto" leaves constraints to methods that were asked for and need them.
std::optional<EmbeddingChoice> Simulation::chosen_embedding(const CatalogEntry<Integrator>& integrator) const {
  const std::vector<CatalogInfo> known = coordinate_choices();
  const Options options =
      complete_options(known[find_choice(known, settings_.coordinates, "coordinates")], settings_.coordinates);
  if (model_.row_count() == 0) return {};
  if (settings_.coordinates.name == "CE") {
    check_embedding(settings_, integrator);
    check_permanent(model_, "coordinates 'CE'", settings_.coordinates.place, "the coordinates 'TA' or 'FA'");
    EmbeddingChoice all = embed_all(model_);
    all.analytic = options.at("analytic") != 0.0;
    return all;
  }
  const bool is_open = settings_.coordinates.name == "auto" && settings_.formulation.name == "auto";
  if (!is_open || !takes(integrator.traits, Equations::kAcceleration)) return {};
  const CoordinateCosts costs = predict_costs(model_, state_);
  if (std::ranges::count(costs.embed, 0) == std::ssize(costs.embed)) return {};
  return EmbeddingChoice{costs.embed};
}

Choice Simulation::chosen_formulation(std::span<const Equations> takes) {
  if (settings_.formulation.name != "auto") return settings_.formulation;
  System system(model_);
  system.update(state_);
  const AutoFormulation chosen = choose_formulation(system, takes);
  summary_.notes.push_back(fmt::format("formulation '{}' was chosen: {}", chosen.choice.name, chosen.reason));
  return chosen.choice;
}

Summary Simulation::run(const Observer& observer) {
  started_ = std::chrono::steady_clock::now();
  observer_ = observer;
  h_ = settings_.step;
  if (resumed_ ? go_on_from(*resumed_) : evaluate_start() && save_if_due())
    while (!has_ended() && advance() && save_if_due()) {
    }
  const bool ended_by_event = switching_ && !switching_->stopped_by().empty() && summary_.status == "done";
  summary_.completed = state_.t >= settings_.end || ended_by_event;
  if (ended_by_event) summary_.status = fmt::format("ended at t = {:.9g} s by event '{}'", state_.t, switching_->stopped_by());
  if (switching_) {
    summary_.events = switching_->records();
    summary_.warnings.insert(summary_.warnings.end(), switching_->warnings().begin(), switching_->warnings().end());
  }
  summary_.evaluations = evaluations_before_ + equations_->evaluations();
  if (integrator_->controls_step()) summary_.rejected_steps += integrator_->rejected_steps();
  summary_.simulated_seconds = state_.t;
  summary_.energy_drift = exchanged_ > 0.0 ? imbalance_ / exchanged_ : imbalance_;
  for (std::size_t c = 0; outputs_ > 0 && c < columns().size(); ++c)
    if (columns()[c].starts_with("q.") || columns()[c].starts_with("v."))
      summary_.final_state.emplace_back(columns()[c], recorder_.value(c));
  summary_.wall_seconds = wall_before_ + std::chrono::duration<double>(std::chrono::steady_clock::now() - started_).count();
  return summary_;
}

bool Simulation::has_ended() const { return state_.t >= settings_.end || (switching_ && !switching_->stopped_by().empty()); }

bool Simulation::save_if_due() {
  if (!observer_.checkpoint || has_ended()) return true;
  const double reached = state_.t + 1e-9 * settings_.step;
  const auto due = [&] { return static_cast<double>(next_checkpoint_) * observer_.checkpoint_every; };
  if (due() > reached) return true;
  while (due() <= reached) ++next_checkpoint_;
  const SavedRun saved = save();
  observer_.checkpoint(saved);
  return go_on_from(saved);
}

SavedRun Simulation::save() const {
  const auto numbers = [](const VecX<double>& x) { return std::vector<double>(x.begin(), x.end()); };
  SavedRun saved{.q = numbers(state_.q),
                 .v = numbers(state_.v),
                 .z = numbers(state_.z),
                 .work = state_.work,
                 .memory = equations_->system().memory(),
                 .grid = grid_,
                 .evaluations = evaluations_before_ + equations_->evaluations(),
                 .warned_rank = warned_rank_,
                 .warned_remark = warned_remark_,
                 .warned_singular = warned_singular_,
                 .warned_limit = warned_limit_};
  saved.progress = {.t = state_.t,
                    .outputs = outputs_,
                    .h = h_,
                    .usual_h = usual_h_,
                    .energy_start = energy_start_,
                    .potential_start = potential_start_,
                    .imbalance = imbalance_,
                    .exchanged = exchanged_,
                    .start_rank = start_rank_,
                    .row = recorder_.row(),
                    .next_checkpoint = next_checkpoint_,
                    .wall_seconds = wall_before_,
                    .summary = summary_};
  saved.progress.wall_seconds += std::chrono::duration<double>(std::chrono::steady_clock::now() - started_).count();
  if (integrator_->controls_step()) saved.progress.summary.rejected_steps += integrator_->rejected_steps();
  if (switching_) saved.switching = switching_->save();
  return saved;
}

void Simulation::resume(const SavedRun& saved) {
  const auto fits = [](std::size_t size, Eigen::Index expected) { return static_cast<Eigen::Index>(size) == expected; };
  if (!fits(saved.q.size(), state_.q.size()) || !fits(saved.v.size(), state_.v.size()) ||
      saved.memory.size() != equations_->system().memory().size() || saved.progress.row.size() != columns().size() ||
      saved.warned_limit.size() != warned_limit_.size() || (switching_ && !switching_->accepts(saved.switching)))
    throw InputError({}, fmt::format("what was saved is not of the model '{}'", model_.name));
  resumed_ = saved;
  wall_before_ = saved.progress.wall_seconds;
}

/// The methods are made anew: what they remember of earlier steps is not saved, and must not make a difference.
bool Simulation::go_on_from(const SavedRun& saved) {
  const auto vector = [](const std::vector<double>& x) {
    return VecX<double>(Eigen::Map<const VecX<double>>(x.data(), static_cast<Eigen::Index>(x.size())));
  };
  make_methods();
  state_ = {saved.progress.t, vector(saved.q), vector(saved.v), saved.work, vector(saved.z)};
  outputs_ = saved.progress.outputs;
  grid_ = saved.grid;
  h_ = saved.progress.h;
  usual_h_ = saved.progress.usual_h;
  energy_start_ = saved.progress.energy_start;
  potential_start_ = saved.progress.potential_start;
  imbalance_ = saved.progress.imbalance;
  exchanged_ = saved.progress.exchanged;
  start_rank_ = saved.progress.start_rank;
  next_checkpoint_ = saved.progress.next_checkpoint;
  warned_rank_ = saved.warned_rank;
  warned_remark_ = saved.warned_remark;
  warned_singular_ = saved.warned_singular;
  warned_limit_ = saved.warned_limit;
  summary_ = saved.progress.summary;
  recorder_.set_row(saved.progress.row);
  evaluations_before_ = saved.evaluations;
  equations_->system().set_memory(saved.memory);
  if (switching_) switching_->restore(saved.switching);
  const Status status = equations_->evaluate(state_, rates_);
  return status.ok() || stop(status.trouble);
}

bool Simulation::evaluate_start() {
  equations_->start(state_);
  Status status = equations_->evaluate(state_, rates_);
  potential_start_ = equations_->system().potential_energy();
  energy_start_ = equations_->system().kinetic_energy() + potential_start_;
  if (status.ok() && switching_) {
    status = switching_->start(state_, rates_);
    if (status.ok()) switching_->begin_step();
  }
  const Solution& solution = equations_->solution();
  summary_.rows = model_.row_count();
  start_rank_ = summary_.rank = solution.rank.rank;
  summary_.dof = model_.tree.nv - solution.rank.rank;
  summary_.redundant = dependent_row_names(model_, solution.dependent);
  if (!status.ok()) return stop(status.trouble);
  if (!summary_.redundant.empty() && !diagnose_start()) return false;
  look();
  record();
  return true;
}

/// The same words as in a check. Only for constraints of which something is to be said.
bool Simulation::diagnose_start() {
  const Diagnosis diagnosis = diagnose(model_, state_, equations_->system().modes());
  const std::string contradiction = describe_contradiction(model_, diagnosis);
  if (!contradiction.empty() && exact_) return stop(contradiction);
  if (!contradiction.empty()) warn(contradiction);
  summary_.redundant.clear();
  std::vector<char> redundant(model_.rows.size(), 0);
  for (std::size_t i = 0; i < redundant.size(); ++i) {
    redundant[i] = diagnosis.rows[i].kind != RowDiagnosis::Kind::kIndependent;
    if (redundant[i]) summary_.redundant.push_back(model_.rows[i].name);
  }
  start_rank_ = diagnosis.usual_rank;
  std::string note = describe_redundancy(model_, redundant);
  for (const std::string& sentence : describe_dependence(model_, diagnosis)) note += "; " + sentence;
  warned_rank_ = diagnosis.has(RowDiagnosis::Kind::kDegenerate);
  if (warned_rank_)
    warn(note + "; " + advise(model_, diagnosis));
  else
    summary_.notes.push_back(note);
  if (const std::string reactions = describe_reactions(model_, diagnosis); !reactions.empty())
    summary_.notes.push_back("reactions: " + reactions);
  return true;
}

/// One accepted step, with the outputs that fall into it.
bool Simulation::advance() {
  if (!gets_on()) return false;
  if (!take_step(next_step_size())) return false;
  if (Status status = equations_->project(next_); !status.ok()) return stop(status.trouble);
  return evaluate_next() && (!switching_ || find_event()) && finish_step();
}

/// Time must get on: else something switches on and off without end.
bool Simulation::gets_on() {
  constexpr long kMost = 10'000;  // evaluations
  const double least = std::min(1e-9 * settings_.end, 1e-6 * settings_.step);
  const long evaluations = equations_->evaluations();
  if (state_.t - got_to_ > least || evaluations < evaluations_there_) {
    got_to_ = state_.t;
    evaluations_there_ = evaluations;
  }
  if (evaluations - evaluations_there_ < kMost) return true;
  const std::string busy = switching_ ? switching_->busiest(got_to_) : "";
  return stop(fmt::format("{} evaluations brought it on by less than {:.2g} s{}", evaluations - evaluations_there_, least,
                          busy.empty() ? "" : ": what keeps switching is " + busy));
}

bool Simulation::evaluate_next() {
  const Status status = equations_->evaluate(next_, next_rates_);
  if (status.ok()) return true;
  summary_.simulated_seconds = state_.t;
  return stop(status.trouble);
}

/// If something comes within the step just made, the step is made again so that it ends there.
bool Simulation::find_event() {
  constexpr double kWidth = 1e-12;  // relative to the step
  event_due_ = false;
  const double at_end = switching_->margin();
  if (at_end > 0.0) return true;
  step_size_ = next_.t - state_.t;
  trouble_.clear();
  Bracket bracket{0.0, step_size_, 1.0, at_end};
  // What has just happened leaves zeros behind: the bracket must begin where nothing is due.
  const auto f = [&](double h) { return margin_after(h); };
  double low = 0.5 * step_size_;
  for (; low > kWidth * step_size_; low *= 0.5) {
    const double value = f(low);
    if (!std::isfinite(value)) return stop(trouble_);
    if (value > 0.0) {
      bracket.low = low, bracket.at_low = value;
      break;
    }
    bracket.high = low, bracket.at_high = value;
  }
  if (bracket.low > 0.0 && !shrink(bracket, kWidth * step_size_, f)) return stop(trouble_);
  if (!std::isfinite(margin_after(bracket.high))) return stop(trouble_);
  switching_->mark_due();
  event_due_ = true;
  return true;
}

/// The step anew, over h only; next_ is then evaluated there. NaN if it cannot be made.
double Simulation::margin_after(double h) {
  Status status;
  if (integrator_->controls_step()) {
    integrator_->interpolate(h / step_size_, next_);
    next_.t = state_.t + h;
  } else {
    status = attempt(h);
  }
  if (status.ok()) status = equations_->project(next_);
  if (status.ok()) status = equations_->evaluate(next_, next_rates_);
  if (status.ok()) return switching_->margin();
  trouble_ = status.trouble;
  return std::numeric_limits<double>::quiet_NaN();
}

/// At the state just reached.
bool Simulation::let_happen() {
  if (observer_.event) observer_.event(*equations_, false);
  if (Status status = switching_->happen(state_, rates_); !status.ok()) return stop(status.trouble);
  integrator_->forget();
  event_due_ = false;
  start_rank_ = equations_->solution().rank.rank;
  if (observer_.event) observer_.event(*equations_, true);
  return true;
}

double Simulation::next_step_size() const {
  const double left = settings_.end - state_.t;
  if (integrator_->controls_step()) return left;
  if (!adaptive_) {
    // Steps end at multiples of the step, computed anew each time so that errors do not add up.
    const double target = static_cast<double>(grid_ + 1) * settings_.step;
    return target > settings_.end - 1e-9 * settings_.step ? left : target - state_.t;
  }
  return h_ > left * (1.0 - 1e-12) ? left : std::min(h_, 0.5 * std::max(left, h_));
}

/// The integrator's error estimate in units of the tolerances: a step is good enough below 1.
double Simulation::estimated_error() const {
  double sum = 0.0;
  const auto add = [&](const VecX<double>& before, const VecX<double>& after, Eigen::Index first) {
    for (Eigen::Index i = 0; i < before.size(); ++i) {
      const double weight = settings_.atol + settings_.rtol * std::max(std::abs(before[i]), std::abs(after[i]));
      sum += std::pow(integrator_->error()[first + i] / weight, 2);
    }
  };
  add(state_.q, next_.q, 0);
  add(state_.v, next_.v, state_.q.size());
  const double error = std::sqrt(sum / static_cast<double>(std::max<Eigen::Index>(1, state_.q.size() + state_.v.size())));
  return std::isfinite(error) ? error : 1e6;
}

Status Simulation::attempt(double h) {
  Status status = integrator_->step(*equations_, state_, rates_, h, next_);
  if (status.ok() && !(next_.q.allFinite() && next_.v.allFinite())) status.trouble = "the state is not finite";
  return status;
}

/// From state_ to next_, in the adaptive case with as many attempts as it takes.
bool Simulation::take_step(double h) {
  constexpr double kSafety = 0.9, kMostGrowth = 5.0, kMostShrink = 0.2;
  for (;;) {
    const Status status = attempt(h);
    if (!adaptive_) return status.ok() ? true : stop(status.trouble);
    const double error = status.ok() ? estimated_error() : 1e6;
    const double factor = kSafety * std::pow(std::max(error, 1e-10), -1.0 / integrator_->order());
    const double next = h * std::clamp(factor, kMostShrink, kMostGrowth);
    if (error <= 1.0) {
      h_ = next;
      usual_h_ = std::max(h, 0.995 * usual_h_);
      return true;
    }
    ++summary_.rejected_steps;
    h = next;
    if (h < 0.1 * usual_h_ && equations_->solution().rank.weakest < kNearlySingular) return step_over_singularity();
    if (h < 1e-14 * std::max(1.0, std::abs(state_.t)))
      return stop(fmt::format("the step size fell to {:.2g} s without meeting rtol and atol{}", h,
                              status.ok() ? "" : ": " + status.trouble));
  }
}

/// At a singular position accelerations are lost in rounding, and no step is short enough; a step of usual size gets across.
bool Simulation::step_over_singularity() {
  if (Status status = attempt(std::min(usual_h_, settings_.end - state_.t)); !status.ok()) return stop(status.trouble);
  h_ = usual_h_;
  if (!warned_singular_)
    warn(fmt::format("a singular position at t = {:.6g} s was crossed by a step of {:.2g} s without error control", state_.t,
                     usual_h_));
  warned_singular_ = true;
  return true;
}

bool Simulation::finish_step() {
  ++summary_.steps;
  const double tie = 1e-9 * (next_.t - state_.t);
  if (next_output() < next_.t - tie) {
    if (!record_inside_step(next_.t - tie)) return false;
    if (Status status = equations_->evaluate(next_, next_rates_); !status.ok()) return stop(status.trouble);
  }
  // Round times are written as such.
  if (std::abs(next_output() - next_.t) <= tie) next_.t = next_output();
  if (std::abs(settings_.end - next_.t) <= tie) next_.t = settings_.end;
  std::swap(state_, next_);
  std::swap(rates_, next_rates_);
  equations_->system().rebind(state_);
  equations_->accept_step();
  while (static_cast<double>(grid_ + 1) * settings_.step <= state_.t + 1e-9 * settings_.step) ++grid_;
  if (event_due_ && !let_happen()) return false;
  if (switching_) switching_->begin_step();
  look();
  if (next_output() <= state_.t + tie || has_ended()) record();
  if (observer_.progress) observer_.progress(state_.t, settings_.end);
  if (observer_.go_on && !observer_.go_on()) return stop("it was told to stop");
  return true;
}

double Simulation::next_output() const { return static_cast<double>(outputs_) * settings_.output_every; }

/// Output rows between state_ and next_: by the integrator's own interpolation, or a cubic Hermite polynomial.
bool Simulation::record_inside_step(double until) {
  const double h = next_.t - state_.t;
  while (next_output() < until) {
    const double theta = (next_output() - state_.t) / h;
    if (integrator_->interpolates()) {
      integrator_->interpolate(theta, inside_);
    } else {
      const double s = 1.0 - theta;
      const double h00 = s * s * (1.0 + 2.0 * theta), h10 = h * theta * s * s, h01 = 1.0 - h00, h11 = -h * theta * theta * s;
      inside_.q = h00 * state_.q + h10 * rates_.qdot + h01 * next_.q + h11 * next_rates_.qdot;
      inside_.v = h00 * state_.v + h10 * rates_.vdot + h01 * next_.v + h11 * next_rates_.vdot;
      inside_.z = h00 * state_.z + h10 * rates_.zdot + h01 * next_.z + h11 * next_rates_.zdot;
      inside_.work = h00 * state_.work + h10 * rates_.power + h01 * next_.work + h11 * next_rates_.power;
      normalize_quaternions(model_.tree, inside_.q.data());
    }
    inside_.t = next_output();
    if (Status status = equations_->project(inside_); !status.ok()) return stop(status.trouble);
    if (Status status = equations_->evaluate(inside_, inside_rates_); !status.ok()) return stop(status.trouble);
    record();
  }
  return true;
}

/// Takes stock of the state just evaluated.
void Simulation::look() {
  const System& system = equations_->system();
  const ConstraintTerms& terms = system.terms();
  if (terms.rows() > 0) {
    summary_.position_error_max = std::max(summary_.position_error_max, terms.phi.cwiseAbs().maxCoeff());
    summary_.velocity_error_max = std::max(summary_.velocity_error_max, terms.rate.cwiseAbs().maxCoeff());
  }
  const double kinetic = system.kinetic_energy(), potential = system.potential_energy();
  exchanged_ = std::max({exchanged_, kinetic, std::abs(potential - potential_start_)});
  imbalance_ = std::max(imbalance_, std::abs(kinetic + potential - energy_start_ - state_.work));
  const Solution& solution = equations_->solution();
  if (solution.rank.rank < start_rank_ && !warned_rank_) {
    warned_rank_ = true;
    warn(
        fmt::format("the constraints lost rank ({} instead of {}) at t = {:.6g} s, where {}: a singular position; what follows "
                    "may be another "
                    "branch",
                    solution.rank.rank, start_rank_, state_.t, describe_redundancy(model_, solution.dependent)));
  }
  if (!solution.remark.empty() && !warned_remark_) {
    warned_remark_ = true;
    warn(fmt::format("at t = {:.6g} s {}", state_.t, solution.remark));
  }
  check_limits();
}

void Simulation::check_limits() {
  for (std::size_t j = 0; j < model_.joints.size(); ++j) {
    const Joint& joint = model_.joints[j];
    if (!joint.limits || joint.stops_at_limits || warned_limit_[j]) continue;
    std::array<double, 7> q{};
    std::array<double, 6> v{}, a{};
    equations_->system().joint_motion(joint, {}, q, v, a);
    for (int k = 0; k < joint.kind->nq(); ++k) {
      const double x = q[static_cast<std::size_t>(k)];
      if (x >= (*joint.limits)[0] && x <= (*joint.limits)[1]) continue;
      warned_limit_[j] = 1;
      warn(fmt::format("joint '{}' left its limits at t = {:.6g} s; limits are watched, not enforced", joint.name, state_.t));
    }
  }
}

void Simulation::record() {
  const std::span<const double> row = recorder_.record(*equations_);
  ++outputs_;
  if (observer_.frame) observer_.frame(equations_->system());
  if (observer_.row) observer_.row(row);
}

void Simulation::warn(std::string text) { summary_.warnings.push_back(std::move(text)); }

bool Simulation::stop(const std::string& reason) {
  summary_.status = fmt::format("stopped at t = {:.9g} s: {}", state_.t, reason);
  return false;
}

}  // namespace linkwork
