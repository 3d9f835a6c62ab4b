#include "linkwork/simulation/simulation.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <iterator>
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

/// Relative: times that rounding alone separates.
constexpr double kSameTime = 4e-16;

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
  formulation_ = {"schur", {}, {}};  // which the embedding of loops is a part of
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
  if (model_.switch_count > 0 || !model_.events.empty()) switches_ = std::make_unique<SwitchPoints>(model_, *equations_);
  watch_ = {};
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
  if (!chosen.usual) summary_.notes.push_back(fmt::format("formulation '{}' was chosen: {}", chosen.choice.name, chosen.reason));
  return chosen.choice;
}

Summary Simulation::run(const Observer& observer) {
  started_ = std::chrono::steady_clock::now();
  observer_ = observer;
  h_ = settings_.step;
  if (resumed_ ? go_on_from(*resumed_) : evaluate_start() && save_if_due())
    while (!has_ended() && advance() && save_if_due()) {
    }
  if (interrupted_ && observer_.checkpoint) observer_.checkpoint(save());
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
  warn_of_garbage();
  for (std::size_t c = 0; outputs_ > 0 && c < columns().size(); ++c)
    if (columns()[c].starts_with("q.") || columns()[c].starts_with("v."))
      summary_.final_state.emplace_back(columns()[c], recorder_.value(c));
  summary_.wall_seconds = wall_before_ + std::chrono::duration<double>(std::chrono::steady_clock::now() - started_).count();
  return summary_;
}

/// A run that goes to its end need not have gone right.
void Simulation::warn_of_garbage() {
  constexpr double kMuchEnergy = 1e-2, kRounding = 1e-9, kWideOpen = 1e-2;
  if (switches_) std::ranges::move(switches_->warnings(), std::back_inserter(summary_.warnings));
  double mass = 0.0;
  for (const Body& body : model_.bodies) mass += body.mass;
  const double by_gravity = mass * model_.tree.gravity.norm() * model_.units.length;
  const double scale = std::abs(potential_start_) + exchanged_ + std::abs(state_.work) + by_gravity;
  if (summary_.energy_drift > kMuchEnergy && imbalance_ > kRounding * scale)
    warn(fmt::format(
        "the energy is off by {:.2g} of what was exchanged: the motion cannot be trusted; {}", summary_.energy_drift,
        has_fixed_steps() ? "give a smaller step, or an integrator with error control" : "give smaller rtol and atol"));
  if (const double open = summary_.position_error_max; open > kWideOpen * model_.units.length)
    warn(fmt::format("the constraints were off by up to {:.2g}: the mechanism came apart; {}", open,
                     exact_ ? "give a smaller step, or the stabilization 'projection'"
                            : fmt::format("formulation '{}' holds them by forces that were too weak", formulation_.name)));
}

bool Simulation::has_ended() const { return state_.t >= settings_.end || (switching_ && !switching_->stopped_by().empty()); }

bool Simulation::save_if_due() {
  if (!observer_.checkpoint || has_ended()) return true;
  const double reached = state_.t + 1e-9 * settings_.step;
  const auto due = [&] { return static_cast<double>(next_checkpoint_) * observer_.checkpoint_every; };
  if (due() > reached) return true;
  next_checkpoint_ = first_multiple_after(observer_.checkpoint_every, reached);
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
  State start = state_;
  equations_->start(start);
  if (!fits(saved.q.size(), start.q.size()) || !fits(saved.v.size(), start.v.size()) || !fits(saved.z.size(), start.z.size()) ||
      saved.grid != first_multiple_after(settings_.step, saved.progress.t + 1e-9 * settings_.step) - 1 ||
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
  if (switches_) equations_->system().hold_branches(true), switches_->look_anew(state_.t);
  const Status status = evaluate_held(state_, rates_);
  if (!status.ok()) return stop(status.trouble);
  begin_watching();
  return true;
}

bool Simulation::evaluate_start() {
  equations_->start(state_);
  Status status = equations_->evaluate(state_, rates_);
  potential_start_ = equations_->system().potential_energy();
  energy_start_ = equations_->system().kinetic_energy() + potential_start_;
  bool switched = false;
  if (status.ok() && !switch_over(switched)) return false;
  if (status.ok() && switching_) {
    status = switching_->start(state_, rates_);
    if (status.ok()) switching_->begin_step();
  }
  if (status.ok()) equations_->system().accept_turns(true), begin_watching();
  const Solution& solution = equations_->solution();
  summary_.rows = model_.row_count();
  start_rank_ = summary_.rank = solution.rank.rank;
  std::vector<char> dependent = solution.dependent;
  if (model_.row_count() <= kMostRowsToRank) {  // the same as in a check, whatever the formulation lives with
    summary_.rank = RowRank().decide(equations_->system(), dependent).rank;
    for (int row : equations_->system().inactive_rows()) dependent[static_cast<std::size_t>(row)] = 0;
  }
  summary_.dof = model_.tree.nv - summary_.rank;
  summary_.redundant = dependent_row_names(model_, dependent);
  if (!status.ok()) return stop(status.trouble);
  if (!summary_.redundant.empty() && !diagnose_start()) return false;
  if (!look()) return false;
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
  const double h = next_step_size();
  if (switches_ && h <= kSameTime * std::max(1.0, std::abs(state_.t))) {
    next_ = state_;
    next_.t = planned_end_;
    if (!evaluate_next()) return false;
    margin(next_rates_);
    mark_due();
    return finish_step();
  }
  if (!take_step(h)) return false;
  if (Status status = equations_->project(next_); !status.ok()) return stop(blame(next_.t - state_.t, status.trouble));
  return evaluate_next() && find_event() && finish_step();
}

/// A branch that is held may have no value beyond its end: sqrt(x) where x > 0 was held.
Status Simulation::evaluate_held(State& state, Derivative& rates) {
  Status status = equations_->evaluate(state, rates);
  System& system = equations_->system();
  if (status.ok() || !system.holds_branches()) return status;
  system.hold_branches(false);
  status = equations_->evaluate(state, rates);
  system.hold_branches(true);
  return status;
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
  const Status status = evaluate_held(next_, next_rates_);
  if (status.ok()) return true;
  summary_.simulated_seconds = state_.t;
  return stop(blame(next_.t - state_.t, status.trouble));
}

/// A fixed step that fails may only be too long: the same interval is tried in short ones before the mechanism is blamed.
std::string Simulation::blame(double h, const std::string& trouble) {
  constexpr int kPieces = 64;
  if (!has_fixed_steps()) return trouble;
  State at = state_;
  Derivative rates = rates_;
  integrator_->forget();
  Status status = equations_->evaluate(at, rates);
  for (int i = 0; status.ok() && i < kPieces; ++i) {
    status = integrator_->step(*equations_, at, rates, h / kPieces, inside_);
    if (status.ok() && !(inside_.q.allFinite() && inside_.v.allFinite())) return trouble;
    if (status.ok()) status = equations_->project(inside_);
    if (status.ok()) status = equations_->evaluate(inside_, rates);
    std::swap(at, inside_);
  }
  if (!status.ok()) return trouble;
  return fmt::format(
      "the step of {:.3g} s is too long: in steps of {:.3g} s the mechanism passes here without trouble; give a "
      "smaller step (over the long one, {})",
      h, h / kPieces, trouble);
}

// --- what is watched

/// Everything that is watched, at the state of which margin() was last asked.
void Simulation::read_watched(const Derivative& rates) {
  watched_.clear();
  if (switches_) switches_->append_values(rates, watched_);
  if (switching_) switching_->append_watched(rates, watched_);
}

/// From the state just evaluated.
void Simulation::begin_watching() {
  if (!watches()) return;
  read_watched(rates_);
  watch_.begin(watched_, state_.t);
  switch_scale_.assign(watched_.size(), 0.0);
  for (std::size_t k = 0; k < watched_.size(); ++k) switch_scale_[k] = std::abs(watched_[k].value);
}

/// The least of what is watched, relative to what it is elsewhere in the step: something is due if it is not positive.
double Simulation::margin(const Derivative& rates) {
  double least = switching_margin_ = switching_ ? switching_->margin() : 1.0;
  if (!switches_ || switches_->empty()) return least;
  watched_.clear();
  switches_->append_values(rates, watched_);
  for (std::size_t k = 0; k < watched_.size(); ++k) {
    switch_scale_[k] = std::max(switch_scale_[k], std::abs(watched_[k].value));
    least = std::min(least, watched_[k].value / std::max(switch_scale_[k], 1e-100));
  }
  return least;
}

/// If something comes within the step just made, the step is made again so that it ends there.
bool Simulation::find_event() {
  event_due_ = false;
  if (!watches()) return true;
  step_size_ = next_.t - state_.t;
  const double at_end = margin(next_rates_);
  return at_end > 0.0 ? look_inside() : locate_event(at_end);
}

/// Something may have come and gone within the step. What has is located; if nothing is due there (an event that waits for the
/// other direction), the step ends there all the same, so that the next one sees it come back.
bool Simulation::look_inside() {
  constexpr int kMostLooks = 8;
  read_watched(next_rates_);
  watch_.end(watched_, next_.t);
  if (!watch_.suspicion()) return true;
  bool found = false;
  double t = 0.0;
  for (int i = 0; i < kMostLooks && !found && watch_.suspicion(); ++i) {
    t = *watch_.suspicion();
    place_inside(t);
    Status status = equations_->project(inside_);
    if (status.ok()) status = evaluate_held(inside_, inside_rates_);
    if (!status.ok()) break;
    margin(inside_rates_);
    read_watched(inside_rates_);
    found = watch_.look(watched_, t);
  }
  const double whole = step_size_;
  if (!found) {
    const Status status = evaluate_held(next_, next_rates_);
    return status.ok() || stop(status.trouble);
  }
  const double there = margin_after(t - state_.t);
  if (!std::isfinite(there)) return stop(trouble_);
  if (there <= 0.0) {
    step_size_ = t - state_.t;
    return locate_event(there);
  }
  read_watched(next_rates_);
  const bool turned = std::ranges::any_of(watched_, [](const Jet& f) { return !(f.value > 0.0); });
  if (turned || std::isfinite(margin_after(whole))) return true;
  return stop(trouble_);
}

bool Simulation::locate_event(double at_end) {
  constexpr double kWidth = 1e-12;  // relative to the step
  trouble_.clear();
  Bracket bracket{0.0, step_size_, 1.0, at_end};
  const auto f = [&](double h) { return margin_after(h); };
  // The step may have been made to end here. What has just happened leaves zeros behind: the bracket must begin where nothing is
  // due.
  double low = (1.0 - kWidth) * step_size_;
  for (bool just_before = true; low > kWidth * step_size_; low *= 0.5) {
    const double value = f(low);
    if (!std::isfinite(value)) return stop(trouble_);
    if (value > 0.0) {
      bracket.low = low, bracket.at_low = value;
      break;
    }
    bracket.high = low, bracket.at_high = value;
    if (just_before) low = step_size_;
    just_before = false;
  }
  if (bracket.low > 0.0 && !shrink(bracket, kWidth * step_size_, f)) return stop(trouble_);
  if (!std::isfinite(margin_after(bracket.high))) return stop(trouble_);
  mark_due();
  return true;
}

void Simulation::mark_due() {
  if (switching_) switching_->mark_due();
  event_due_ = true;
}

/// The step anew, over h only; next_ is then evaluated there. NaN if it cannot be made.
double Simulation::margin_after(double h) {
  Status status;
  const double t = h == planned_h_ ? planned_end_ : state_.t + h;
  if (integrator_->controls_step()) {
    integrator_->interpolate(t, next_);
  } else {
    status = attempt(h);
  }
  if (status.ok()) status = equations_->project(next_);
  if (status.ok()) status = evaluate_held(next_, next_rates_);
  if (status.ok()) return margin(next_rates_);
  trouble_ = status.trouble;
  return std::numeric_limits<double>::quiet_NaN();
}

/// At the state just reached.
bool Simulation::let_happen() {
  constexpr double kSameInstant = 1e-11;
  event_due_ = false;
  bool happens = switching_ && switching_margin_ <= kSameInstant, switched = false;
  if (happens && observer_.event) observer_.event(*equations_, false);
  if (happens)
    if (Status status = switching_->happen(state_, rates_); !status.ok()) return stop(status.trouble);
  if (switches_ && happens) switches_->look_anew(state_.t);
  if (!switch_over(switched)) return false;
  // Forces that jump may open contacts and let friction slide.
  if (switched && switching_)
    if (Status status = switching_->happen(state_, rates_); !status.ok()) return stop(status.trouble);
  integrator_->forget();
  equations_->system().accept_turns(true);
  start_rank_ = equations_->solution().rank.rank;
  if (happens && observer_.event) observer_.event(*equations_, true);
  return true;
}

/// Puts expressions that switch onto the branches of the state just evaluated. What a closure that jumps does to velocities is
/// work of its drive.
bool Simulation::switch_over(bool& switched) {
  switched = switches_ && switches_->take_branches(state_.t);
  if (!switched) return true;
  System& system = equations_->system();
  if (switches_->closures_switched()) {
    const double before = system.kinetic_energy() + system.potential_energy();
    if (Status status = equations_->project(state_); !status.ok()) return stop(status.trouble);
    system.update(state_);
    state_.work += system.kinetic_energy() + system.potential_energy() - before;
  }
  const Status status = evaluate_held(state_, rates_);
  return status.ok() || stop(status.trouble);
}

// --- steps

double Simulation::natural_step_end() const {
  const double left = settings_.end - state_.t;
  if (integrator_->controls_step()) return settings_.end;
  if (!adaptive_) {
    // Steps end at multiples of the step, computed anew each time so that errors do not add up.
    const double target = static_cast<double>(grid_ + 1) * settings_.step;
    return target > settings_.end - 1e-9 * settings_.step ? settings_.end : target;
  }
  const double h = std::min(h_, settings_.max_step);
  return h > left * (1.0 - 1e-12) ? settings_.end : state_.t + std::min(h, 0.5 * std::max(left, h));
}

double Simulation::next_step_size() {
  planned_end_ = natural_step_end();
  if (switches_) planned_end_ = std::min(planned_end_, switches_->next_time(state_.t, planned_end_));
  return planned_h_ = planned_end_ - state_.t;
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
  const auto step = [&]() -> Status {
    if (Status status = integrator_->step(*equations_, state_, rates_, h, next_); !status.ok()) return status;
    if (std::abs(next_.t - planned_end_) <= kSameTime * std::max(1.0, std::abs(planned_end_))) next_.t = planned_end_;
    return {next_.q.allFinite() && next_.v.allFinite() ? "" : "the state is not finite"};
  };
  Status status = step();
  System& system = equations_->system();
  if (status.ok() || !system.holds_branches()) return status;
  system.hold_branches(false);  // see evaluate_held()
  status = step();
  system.hold_branches(true);
  return status;
}

/// From state_ to next_, in the adaptive case with as many attempts as it takes.
bool Simulation::take_step(double h) {
  constexpr double kSafety = 0.9, kMostGrowth = 5.0, kMostShrink = 0.2, kLastResort = 1e-6;
  for (;;) {
    const Status status = attempt(h);
    if (!adaptive_) return status.ok() ? true : stop(blame(h, status.trouble));
    const double error = status.ok() ? estimated_error() : 1e6;
    const double factor = kSafety * std::pow(std::max(error, 1e-10), -1.0 / integrator_->order());
    const double next = h * std::clamp(factor, kMostShrink, kMostGrowth);
    if (error <= 1.0) {
      const bool cut_short = h == planned_h_ && h < 0.999 * std::min(h_, settings_.max_step);  // by a switch point
      h_ = cut_short ? std::max(next, h_) : next;
      usual_h_ = std::max(h, 0.995 * usual_h_);
      return true;
    }
    ++summary_.rejected_steps;
    h = next;
    const bool at_last = h < kLastResort * usual_h_;
    if (h < 0.1 * usual_h_ && equations_->is_nearly_singular() && step_over_singularity(h, at_last)) return true;
    if (h < 1e-14 * std::max(1.0, std::abs(state_.t)))
      return stop(fmt::format("the step size fell to {:.2g} s without meeting rtol and atol{}", h,
                              status.ok() ? "" : ": " + status.trouble));
  }
}

/// At a singular position accelerations are lost in rounding, and it may be that no step is short enough; a step of usual size
/// gets across. It is taken if its error is tolerable, or at last, in words, if no shorter one will do. Returns whether it was.
bool Simulation::step_over_singularity(double h, bool at_last) {
  constexpr double kTolerable = 100.0;
  const double over = std::min(usual_h_, planned_h_);
  const Status status = attempt(over);
  const double error = status.ok() ? estimated_error() : 1e6;
  if (error > kTolerable && !(at_last && status.ok())) return false;
  h_ = usual_h_;
  if (error > kTolerable && !warned_singular_) {
    warn(
        fmt::format("a singular position at t = {:.6g} s was crossed by a step of {:.2g} s whose error is {:.2g} times what rtol "
                    "and atol allow: steps down to {:.2g} s were no better; what follows may be off by that much",
                    state_.t, over, error, h));
    warned_singular_ = true;
  }
  return true;
}

bool Simulation::finish_step() {
  ++summary_.steps;
  const double tie = 1e-9 * (next_.t - state_.t);
  if (next_output() < next_.t - tie) {
    if (!record_inside_step(next_.t - tie)) return false;
    if (Status status = evaluate_held(next_, next_rates_); !status.ok()) return stop(status.trouble);
  }
  std::swap(state_, next_);
  std::swap(rates_, next_rates_);
  equations_->system().rebind(state_);
  equations_->accept_step();
  grid_ = first_multiple_after(settings_.step, state_.t + 1e-9 * settings_.step) - 1;
  if (event_due_ && !let_happen()) return false;
  if (switching_) switching_->begin_step();
  begin_watching();
  if (!look()) return false;
  if (next_output() <= state_.t + tie || has_ended()) record();
  if (observer_.progress) observer_.progress(state_.t, settings_.end);
  interrupted_ = !has_ended() && observer_.go_on && !observer_.go_on();
  if (interrupted_) summary_.status = kInterrupted;
  return !interrupted_;
}

double Simulation::next_output() const { return static_cast<double>(outputs_) * settings_.output_every; }

/// Output rows between state_ and next_: by the integrator's own interpolation, or a cubic Hermite polynomial.
bool Simulation::record_inside_step(double until) {
  while (next_output() < until) {
    place_inside(next_output());
    if (Status status = equations_->project(inside_); !status.ok()) return stop(status.trouble);
    if (Status status = evaluate_held(inside_, inside_rates_); !status.ok()) return stop(status.trouble);
    record();
  }
  return true;
}

/// inside_ between state_ and next_.
void Simulation::place_inside(double t) {
  if (integrator_->interpolates()) {
    integrator_->interpolate(t, inside_);
    return;
  }
  const double h = next_.t - state_.t, theta = (t - state_.t) / h, s = 1.0 - theta;
  const double h00 = s * s * (1.0 + 2.0 * theta), h10 = h * theta * s * s, h01 = 1.0 - h00, h11 = -h * theta * theta * s;
  inside_.q = h00 * state_.q + h10 * rates_.qdot + h01 * next_.q + h11 * next_rates_.qdot;
  inside_.v = h00 * state_.v + h10 * rates_.vdot + h01 * next_.v + h11 * next_rates_.vdot;
  inside_.z = h00 * state_.z + h10 * rates_.zdot + h01 * next_.z + h11 * next_rates_.zdot;
  inside_.work = h00 * state_.work + h10 * rates_.power + h01 * next_.work + h11 * next_rates_.power;
  inside_.t = t;
  normalize_quaternions(model_.tree, inside_.q.data());
}

/// Takes stock of the state just evaluated. False: it is none that a run could go on from.
bool Simulation::look() {
  const System& system = equations_->system();
  const ConstraintTerms& terms = system.terms();
  if (terms.rows() > 0) {
    summary_.position_error_max = std::max(summary_.position_error_max, terms.phi.cwiseAbs().maxCoeff());
    summary_.velocity_error_max = std::max(summary_.velocity_error_max, terms.rate.cwiseAbs().maxCoeff());
  }
  const double kinetic = system.kinetic_energy(), potential = system.potential_energy();
  // Comparisons with what is not a number are false, and would not show it.
  if (!std::isfinite(kinetic + potential + state_.work) || !terms.phi.allFinite() || !terms.rate.allFinite())
    return stop(fmt::format("energies or constraint errors are not finite: kinetic {}, potential {}, work {}", kinetic, potential,
                            state_.work));
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
  return true;
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
  // Round times are written as such. The state keeps its own: an event may lie between the two.
  const double t = equations_->system().state().t;
  const bool is_round = std::abs(t - next_output()) <= 1e-9 * std::max(settings_.step, usual_h_);
  const std::span<const double> row = recorder_.record(*equations_, is_round ? next_output() : t);
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
