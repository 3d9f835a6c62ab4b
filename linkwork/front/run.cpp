#include "linkwork/front/run.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "linkwork/coordinates/fully_augmented.h"
#include "linkwork/front/chosen_start.h"
#include "linkwork/front/mechanism_parts.h"
#include "linkwork/front/results_source.h"
#include "linkwork/front/run_checkpoints.h"
#include "linkwork/model/joint_state.h"
#include "linkwork/simulation/design_fit.h"
#include "linkwork/simulation/kinematics.h"
#include "linkwork/simulation/moving_system.h"
#include "linkwork/simulation/pacing.h"

namespace linkwork {

namespace {

Spec with_options(const Mechanism& mechanism, const RunOptions& options, StartState* chosen = nullptr) {
  Spec spec = mechanism.spec();
  apply(options, spec.settings);
  const StartState start = chosen_start(options.start_from, options.start_at, spec);
  if (start.is_given()) {
    begin_with(start, spec);
    spec.notes.insert(spec.notes.begin(), "the start is the state of " + start.from);
  }
  if (chosen != nullptr) *chosen = start;
  return spec;
}

std::size_t column_index(const std::vector<std::string>& columns, std::string_view column) {
  const auto found = std::ranges::find(columns, column);
  if (found == columns.end()) throw unknown_name({}, "column", column, columns);
  return static_cast<std::size_t>(found - columns.begin());
}

}  // namespace

// --- whole runs

Eigen::Map<const VecX<double>, 0, Eigen::InnerStride<>> Results::operator[](std::string_view column) const {
  const std::size_t first = column_index(columns, column);
  return {values.data() + first, static_cast<Eigen::Index>(rows()), Eigen::InnerStride<>(std::ssize(columns))};
}

Results run(const Mechanism& mechanism, const RunOptions& options, const std::function<bool()>& go_on) {
  Results results;
  const auto source = std::make_shared<Results::Source>();
  StartState start;
  source->spec = with_options(mechanism, options, &start);
  std::optional<Pacing> pacing;
  if (options.realtime) pacing.emplace(*options.realtime);
  std::optional<RunCheckpoints> checkpoints;
  bool tolerances_idle = false;
  InProcess alone;
  const ModelRunOptions how{options.threads, nullptr, mechanism.parts().modules};
  results.summary = run_model(source->spec, alone, how, [&](const ReadyRun& ready) {
    Simulation& simulation = ready.simulation;
    if (pacing) check_pace(*options.realtime, source->spec.settings, simulation.has_fixed_steps());
    Observer observer{.go_on = go_on};
    if (ready.transport.rank() != 0) {
      observer.go_on = [] { return true; };  // the first rank asks
      return observer;
    }
    tolerances_idle = (options.rtol || options.atol) && simulation.has_fixed_steps();
    results.columns = simulation.columns();
    source->model = ready.model;
    source->begin_drawing(simulation.columns(), simulation.system().columns());
    if (options.checkpoint) checkpoints.emplace(mechanism, options, start, source->spec, simulation.columns());
    observer.row = [&](std::span<const double> row) {
      results.values.insert(results.values.end(), row.begin(), row.end());
      if (checkpoints) checkpoints->write(row);
    };
    if (source->drawn) observer.whole_row = [&](std::span<const double> row) { source->draw(row); };
    if (pacing) {
      pacing->start(0.0);
      observer.progress = [&](double t, double) { pacing->wait(t, go_on); };
    }
    if (checkpoints) {
      observer.checkpoint = [&](const SavedRun& saved) { checkpoints->save(saved); };
      observer.checkpoint_every = checkpoints->every();
    }
    return observer;
  });
  if (checkpoints) checkpoints->close();
  if (pacing) results.summary.realtime = pacing->summary();
  if (tolerances_idle) results.summary.notes.emplace_back("rtol and atol have no effect with an integrator of fixed steps");
  results.source = source;
  return results;
}

Results kinematics(const Mechanism& mechanism, const RunOptions& options, const std::function<bool()>& go_on) {
  Results results;
  const auto source = std::make_shared<Results::Source>();
  source->spec = with_options(mechanism, options);
  source->model = std::make_shared<const Model>(fitted_model(source->spec));
  Simulation motion(std::make_unique<KinematicSystem>(source->model));
  results.columns = motion.columns();
  source->begin_drawing(motion.columns(), motion.system().columns());
  Observer observer{.go_on = go_on};
  observer.row = [&](std::span<const double> row) { results.values.insert(results.values.end(), row.begin(), row.end()); };
  if (source->drawn) observer.whole_row = [&](std::span<const double> row) { source->draw(row); };
  results.summary = motion.run(observer);
  results.source = source;
  return results;
}

// --- live runs

struct Run::Parts {
  Parts(const Mechanism& of, const RunOptions& options, Run* run)
      : mechanism(of), spec(std::make_shared<const Spec>(with_options(of, options))), owner(run) {
    make();
  }
  explicit Parts(const Parts& like)
      : mechanism(like.mechanism), spec(like.spec), owner(nullptr), shared(like.live.is_one_piece ? like.live.model : nullptr) {
    make();
  }

  void make() {
    live = shared ? LiveRun{nullptr, std::make_unique<Simulation>(shared), shared, true, {}}
                  : make_live_run(*spec, mechanism.parts().modules);
    if (live.is_one_piece) shared = live.model;
    names.reset();
    for (const auto& [period, act] : controllers) sample(period, act);
    observe();
  }
  void sample(double period, const std::function<void(Run&)>& act) {
    live.simulation->sample(period, [this, act] { act(*owner); });
  }
  void observe() { live.simulation->observe(Observer{.whole_row = take_row, .go_on = go_on}); }

  Simulation& simulation() { return *live.simulation; }
  const Model& run_model() { return simulation().equations().model(); }
  /// The mechanism in one piece as it stands now, by name.
  SystemKinematics kinematics() {
    if (!names) names = std::make_unique<ModelNames>(run_model());
    System& system = simulation().equations().system();
    if (!simulation().has_started()) {
      state = simulation().state();
      system.update(state);
    }
    return {*names, system};
  }
  /// Throws unless it went on; returns whether it can go further.
  bool check(bool went_on) {
    interrupted = false;
    if (went_on) return !simulation().ended_by_event();
    std::string status = simulation().summary().status;
    interrupted = status == kInterrupted;
    if (!interrupted) throw SimulationError(status);
    return false;
  }
  const std::vector<std::string>& columns() { return simulation().system().columns(); }
  double value(std::string_view column) { return simulation().row()[column_index(columns(), column)]; }

  Mechanism mechanism;
  std::shared_ptr<const Spec> spec;
  Run* owner;
  std::shared_ptr<const Model> shared;  // with other runs, in one piece
  LiveRun live;
  std::map<std::string, double> inputs;  // that were set
  std::vector<std::pair<double, std::function<void(Run&)>>> controllers;
  std::function<void(std::span<const double>)> take_row;
  std::function<bool()> go_on;
  bool interrupted = false;
  std::unique_ptr<ModelNames> names;  // of the model in the coordinates it is run in
  State state;
};

Run::Run(const Mechanism& mechanism, const RunOptions& options) : parts_(std::make_unique<Parts>(mechanism, options, this)) {}
Run::Run(Run&& other) noexcept : parts_(std::move(other.parts_)) { parts_->owner = this; }
Run& Run::operator=(Run&& other) noexcept {
  parts_ = std::move(other.parts_);
  parts_->owner = this;
  return *this;
}
Run::~Run() = default;
Run::Run(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) { parts_->owner = this; }
Run Run::another() const { return Run(std::make_unique<Parts>(*parts_)); }

Simulation& simulation_of(Run& run) { return run.parts_->simulation(); }

const Mechanism& Run::mechanism() const { return parts_->mechanism; }
double Run::t() const { return parts_->simulation().t(); }

double Run::q(std::string_view coordinate) const {
  return parts_->live.is_one_piece ? parts_->kinematics().q(coordinate) : parts_->value("q." + std::string(coordinate));
}

double Run::v(std::string_view coordinate) const {
  return parts_->live.is_one_piece ? parts_->kinematics().v(coordinate) : parts_->value("v." + std::string(coordinate));
}

State Run::state() const {
  const Model& model = *parts_->live.model;
  State state;
  if (parts_->live.is_one_piece && parts_->simulation().coordinates() != "FA") {
    state = parts_->simulation().state();
    return state;
  }
  state.q.resize(model.tree.nq);
  state.v.resize(model.tree.nv);
  state.t = t();
  if (parts_->live.is_one_piece) {
    const State own = parts_->simulation().state();
    state.work = own.work;
    state.z = own.z;
  }
  const std::vector<double> row = parts_->live.is_one_piece ? std::vector<double>() : parts_->simulation().row();
  const auto read = [&](const std::string& name, bool velocity) {
    if (!row.empty()) return row[column_index(columns(), (velocity ? "v." : "q.") + name)];
    return velocity ? v(name) : q(name);
  };
  for (const Joint& joint : model.joints) {
    if (joint.cut) continue;
    JointValues values;
    for (std::size_t k = 0; k < joint.kind->positions.size(); ++k)
      values.q[k] = read(coordinate_name(joint, joint.kind->positions[k]), false);
    for (std::size_t k = 0; k < joint.kind->velocities.size(); ++k)
      values.v[k] = read(coordinate_name(joint, joint.kind->velocities[k]), true);
    JointPlace(model.tree, joint).write(values, state.q.data(), state.v.data());
  }
  return state;
}

void Run::set_state(const State& state) {
  if (!parts_->live.is_one_piece) throw InputError({}, "a run of modules takes no state from outside", "glue \"none\"");
  const Model& model = *parts_->live.model;
  if (state.q.size() != model.tree.nq || state.v.size() != model.tree.nv || !state.q.allFinite() || !state.v.allFinite())
    throw InputError({}, "the state does not fit the mechanism",
                     fmt::format("{} finite positions and {} velocities", model.tree.nq, model.tree.nv));
  if (Simulation& simulation = parts_->simulation(); !simulation.has_started())
    simulation.advance_to(simulation.t());  // states begin there
  State own = parts_->simulation().state();
  if (parts_->simulation().coordinates() == "FA") {
    System system(model);
    system.update(state);
    free_body_state(model, system.work(), own.q.data(), own.v.data());
  } else {
    own.q = state.q, own.v = state.v;
  }
  own.t = state.t;
  own.work = 0.0;
  if (state.z.size() > 0)
    own.z.head(std::min(state.z.size(), own.z.size())) = state.z.head(std::min(state.z.size(), own.z.size()));
  Moment at;
  pack(own, at);
  parts_->simulation().jump(at);
}

Run::Input Run::input(std::string_view name) { return {*this, std::string(name)}; }

Run::Input& Run::Input::operator=(double value) {
  if (!std::isfinite(value)) throw InputError({}, fmt::format("the input '{}' is set to {}", name_, value), "a finite number");
  run_.parts_->simulation().set_input(name_, value);
  run_.parts_->inputs[name_] = value;
  return *this;
}

Run::Input::operator double() const {
  const auto set = run_.parts_->inputs.find(name_);
  return set != run_.parts_->inputs.end() ? set->second : run_.parts_->value("u." + name_);
}

void Run::Input::release() {
  run_.parts_->simulation().release_input(name_);
  run_.parts_->inputs.erase(name_);
}

void Run::controller(double period, std::function<void(Run&)> act) {
  parts_->sample(period, act);
  parts_->controllers.emplace_back(period, std::move(act));
}

bool Run::step(long count) {
  for (long i = 0; i < count; ++i)
    if (!parts_->check(parts_->simulation().step())) return false;
  return true;
}

bool Run::advance_to(double t) { return parts_->check(parts_->simulation().advance_to(t)); }

Summary Run::run() {
  Summary summary = parts_->simulation().run();
  parts_->interrupted = summary.status == kInterrupted;
  return summary;
}
Summary Run::summary() { return parts_->simulation().summary(); }

void Run::reset() {
  parts_->inputs.clear();
  parts_->make();
}

std::shared_ptr<const SavedRun> Run::save() { return std::make_shared<const SavedRun>(parts_->simulation().save()); }

void Run::restore(const SavedRun& saved) {
  parts_->simulation().restore(saved);
  parts_->inputs = saved.inputs;
}

const std::vector<std::string>& Run::columns() const { return parts_->columns(); }
std::vector<double> Run::row() { return parts_->simulation().row(); }
double Run::value(std::string_view column) { return parts_->value(column); }

void Run::on_row(std::function<void(std::span<const double>)> take) {
  parts_->take_row = std::move(take);
  parts_->observe();
}

void Run::on_step(std::function<bool()> go_on) {
  parts_->go_on = std::move(go_on);
  parts_->observe();
}

bool Run::was_interrupted() const { return parts_->interrupted; }

std::shared_ptr<const Results::Source> Run::source() const {
  const auto source = std::make_shared<Results::Source>();
  source->spec = *parts_->spec;
  source->model = parts_->live.model;
  return source;
}

Evaluation Run::evaluate() {
  const std::shared_ptr<EvaluatorPool>& pool = parts_->mechanism.parts().evaluators();
  Evaluation evaluation(pool->take(), pool);
  Evaluator& evaluator = evaluation.evaluator();
  evaluator.set_modes(nullptr);
  if (parts_->live.is_one_piece && evaluator.model().has_events()) {
    Modes modes(evaluator.model());
    const Modes& now = parts_->simulation().equations().system().modes();
    modes.forces = now.forces;
    modes.parameters = now.parameters;
    modes.friction = now.friction;
    const std::vector<ConstraintRow>& rows = parts_->run_model().rows;
    for (std::size_t r = 0; r < modes.rows.size(); ++r)
      for (std::size_t other = 0; other < rows.size(); ++other)
        if (rows[other].name == evaluator.model().rows[r].name) modes.rows[r] = now.rows[other];
    evaluator.set_modes(&modes);
  }
  evaluator.evaluate(state(), parts_->inputs);
  return evaluation;
}

}  // namespace linkwork
