#include "linkwork/modules/assembly_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstring>
#include <sstream>
#include <utility>

#include "linkwork/modules/glues/catalog.h"
#include "linkwork/transport/text.h"

namespace linkwork {

namespace {

std::size_t at(int i) { return static_cast<std::size_t>(i); }

/// How little may be left of a joint's row (squared, see rank.h) before a position counts as nearly singular.
constexpr double kNearlySingular = 1e-5;
/// Steps whose iterations are kept for the summary.
constexpr std::size_t kMostHistory = 1000;

const GlueEntry& find_glue(const Choice& choice) {
  std::vector<CatalogInfo> infos;
  for (const GlueEntry& entry : glues()) infos.push_back(entry.info);
  return glues()[find_choice(infos, choice, "glue")];
}

/// Where columns of a kind stand in a row: positions, velocities, accelerations, reactions, energies and errors, sensors.
int kind_of(const std::string& column) {
  constexpr std::array kPrefixes{"q.", "v.", "a.", "lambda.", "force.", "torque.", "energy.", "error."};
  for (std::size_t k = 0; k < kPrefixes.size(); ++k)
    if (column.starts_with(kPrefixes[k])) return static_cast<int>(k);
  return static_cast<int>(kPrefixes.size());
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

}  // namespace

AssemblyRun::AssemblyRun(const AssemblyPlan& plan, const Choice& glue, Transport& transport)
    : plan_(plan),
      settings_(plan.settings),
      entry_(find_glue(glue)),
      options_(complete_options(entry_.info, glue)),
      transport_(transport) {
  choose_integrator();
  const bool nested = !options_.contains("nesting") || options_.at("nesting") != 0.0;
  std::vector<double> weights;
  for (const ModulePlan& module : plan.modules) weights.push_back(module.weight);
  tree_ = make_group_tree(plan.nest, weights, plan.joined(), !nested);
  place_modules(transport);
  check_modules();
  make_glue();
  gather_columns();
}

void AssemblyRun::make_glue() {
  glue_ = entry_.make(*workshop_, options_);
  next_ = inside_ = rates_ = next_rates_ = inside_rates_ = state_.x;
}

void AssemblyRun::choose_integrator() {
  if (entry_.traits.own_steps && !entry_.traits.uses_tableau) return;
  const auto found = std::ranges::find(tableaus(), settings_.integrator.name, &Tableau::name);
  if (found == tableaus().end()) {
    std::vector<std::string> names;
    for (const Tableau& tableau : tableaus()) names.push_back(tableau.name);
    throw InputError(settings_.integrator.place,
                     fmt::format("integrator '{}' steps a system in one piece only", settings_.integrator.name),
                     fmt::format("one of {} with modules that are solved apart, or glue \"none\"", listed(names)));
  }
  tableau_ = &*found;
  adaptive_ = !tableau_->error.empty();
  if (adaptive_ && !entry_.traits.adaptive)
    throw InputError(settings_.integrator.place,
                     fmt::format("glue '{}' takes fixed steps, and integrator '{}' chooses its own", entry_.info.name,
                                 settings_.integrator.name),
                     "an integrator of fixed steps, such as rk4");
}

/// All ranks come to the same conclusion.
void AssemblyRun::check_modules() {
  std::string closed;
  for (const WorkingModule& module : workshop_->modules())
    if (entry_.traits.needs_equations && !module.module->equations()) closed += module.name + "\n";
  std::vector<std::string> names;
  for (const std::string& text : gather_texts(workshop_->transport(), closed))
    for (std::string& name : lines_of(text)) names.push_back(std::move(name));
  if (!names.empty())
    throw InputError(settings_.glue.place,
                     fmt::format("glue '{}' needs to see {}, which not every module shows: {}", entry_.info.name,
                                 entry_.traits.exposes, listed(names)),
                     "glue \"hierarchical\" or \"compliance\"");
}

void AssemblyRun::place_modules(Transport& transport) {
  std::vector<double> cost;
  for (const int module : tree_.leaves()) cost.push_back(plan_.modules[at(module)].weight);
  make_modules(place(cost, transport.size()));
  if (transport.size() == 1) return;
  const Placement better = place(measured_costs(*workshop_, state_.x), transport.size());
  if (better.ends != workshop_->placement().ends) make_modules(better);
}

/// At their start.
void AssemblyRun::make_modules(const Placement& placement) {
  workshop_ = std::make_unique<Workshop>(plan_, tree_, placement, transport_);
  state_.x.resize(workshop_->modules().size());
  for (std::size_t i = 0; i < state_.x.size(); ++i) workshop_->modules()[i].module->start(state_.x[i]);
}

/// Every rank tells the names of its modules' columns, and all agree on their order, which does not depend on who has what: by
/// kind, connections first, then modules as in the plan.
void AssemblyRun::gather_columns() {
  std::string own;
  for (const WorkingModule& module : workshop_->modules()) {
    own += fmt::format("{}\n", module.module->columns().size());
    for (const std::string& column : module.module->columns()) own += column + "\n";
  }
  struct Entry {
    int kind, part;  // a connection, or a module behind all connections
    std::size_t number;
    std::string name;
  };
  std::vector<Entry> entries;
  const int connections = static_cast<int>(plan_.connections.size());
  const std::vector<int> leaves = tree_.leaves();
  const std::vector<std::string> texts = gather_texts(workshop_->transport(), own);
  std::size_t number = 1;  // the first says whether rank 0 objects
  spring_numbers_.resize(plan_.springs.size());
  for (int rank = 0; rank < workshop_->transport().size(); ++rank) {
    const std::vector<std::string> lines = lines_of(texts[at(rank)]);
    std::size_t line = 0;
    for (int leaf = workshop_->placement().begin(rank); leaf < workshop_->placement().end(rank); ++leaf) {
      const auto count = std::stoul(lines[line++]);
      for (std::size_t c = 0; c < count; ++c, ++line)
        entries.push_back({kind_of(lines[line]), connections + leaves[at(leaf)], number++, lines[line]});
      energy_numbers_.push_back(number);
      number += 3;
    }
    for (int c = 0; c < connections; ++c) {
      const Connection& connection = plan_.connections[at(c)];
      if (owner(connection.a, connection.b) != rank) continue;
      const auto add = [&](const char* what, const std::string& component) {
        entries.push_back(
            {kind_of(fmt::format("{}.", what)), c, number++, fmt::format("{}.{}.{}", what, connection.name, component)});
      };
      for (const std::string& row : connection.row_names()) add("lambda", row);
      for (const char* const what : {"force", "torque"})
        for (const char* const axis : {"x", "y", "z"}) add(what, axis);
    }
    for (std::size_t s = 0; s < plan_.springs.size(); ++s)
      if (owner(plan_.springs[s].a, plan_.springs[s].b) == rank) spring_numbers_[s] = number++;
    output_ends_.push_back(static_cast<int>(number));
  }
  output_.assign(number, 0.0);
  std::ranges::stable_sort(entries,
                           [](const Entry& a, const Entry& b) { return std::pair(a.kind, a.part) < std::pair(b.kind, b.part); });
  columns_ = {"t"};
  const auto add_totals = [&] {
    first_total_ = columns_.size();
    for (const char* const name : {"energy.kinetic", "energy.potential", "energy.total", "error.position", "error.velocity"})
      columns_.emplace_back(name);
  };
  for (const Entry& entry : entries) {
    if (first_total_ == 0 && entry.kind > kind_of("energy.")) add_totals();
    column_numbers_.emplace_back(columns_.size(), entry.number);
    columns_.push_back(entry.name);
  }
  if (first_total_ == 0) add_totals();
  row_.assign(columns_.size(), 0.0);
}

int AssemblyRun::owner(const PortRef& a, const PortRef& b) const {
  return workshop_->rank_of(a.is_ground() ? b.module : a.module);
}

Status AssemblyRun::evaluate(States& rates) {
  ++state_.evaluations;
  return glue_->evaluate(state_.t, state_.x, rates);
}

Summary AssemblyRun::run(const AssemblyObserver& observer) {
  started_ = std::chrono::steady_clock::now();
  observer_ = observer;
  state_.h = settings_.step;
  if (resumed_ ? go_on_from(*resumed_) : evaluate_start() && save_if_due())
    while (state_.t < settings_.end && advance() && save_if_due()) {
    }
  if (interrupted_ && observer_.checkpoint && glue_->at_rest()) {
    const SavedAssembly saved = save();
    outside([&] { observer_.checkpoint(saved); });
  }
  summarize(std::chrono::duration<double>(std::chrono::steady_clock::now() - started_).count());
  return summary_;
}

bool AssemblyRun::save_if_due() {
  if (!observer_.checkpoint || state_.t >= settings_.end || !glue_->at_rest()) return true;
  const double reached = state_.t + 1e-9 * settings_.step;
  const auto due = [&] { return static_cast<double>(next_checkpoint_) * observer_.checkpoint_every; };
  if (due() > reached) return true;
  next_checkpoint_ = first_multiple_after(observer_.checkpoint_every, reached);
  const SavedAssembly saved = save();
  outside([&] { observer_.checkpoint(saved); });
  return go_on_from(saved);
}

SavedAssembly AssemblyRun::save() {
  SavedAssembly saved{.steps = state_.steps,
                      .rejected_steps = state_.rejected_steps,
                      .evaluations = state_.evaluations,
                      .glue = glue_->memory(),
                      .remarks = remarks_,
                      .modules = modules_};
  saved.progress = {.t = state_.t,
                    .outputs = state_.outputs,
                    .h = state_.h,
                    .usual_h = state_.usual_h,
                    .energy_start = energy_start_,
                    .potential_start = potential_start_,
                    .imbalance = imbalance_,
                    .exchanged = exchanged_,
                    .start_rank = start_rank_,
                    .row = row_,
                    .next_checkpoint = next_checkpoint_,
                    .wall_seconds = wall_before_,
                    .summary = summary_};
  saved.progress.wall_seconds += std::chrono::duration<double>(std::chrono::steady_clock::now() - started_).count();
  for (const std::string& remark : glue_->remarks()) saved.remarks.push_back(remark);
  save_modules(saved);
  return saved;
}

/// Every rank sends what its modules are at, bit by bit: sizes and numbers of states and memories in order of leaves.
void AssemblyRun::save_modules(SavedAssembly& saved) {
  std::vector<double> own;
  const auto add = [&](const auto& numbers) {
    own.push_back(static_cast<double>(std::size(numbers)));
    own.insert(own.end(), std::begin(numbers), std::end(numbers));
  };
  for (std::size_t i = 0; i < state_.x.size(); ++i) {
    add(state_.x[i]);
    add(workshop_->modules()[i].module->memory());
  }
  const std::string bytes(reinterpret_cast<const char*>(own.data()), own.size() * sizeof(double));
  const std::vector<int> leaves = tree_.leaves();
  saved.x.resize(leaves.size());
  saved.memory.resize(leaves.size());
  int leaf = 0;
  for (const std::string& text : gather_texts(transport_, bytes)) {
    std::vector<double> numbers(text.size() / sizeof(double));
    if (!text.empty()) std::memcpy(numbers.data(), text.data(), text.size());
    auto from = numbers.begin();
    const auto take = [&](std::vector<double>& to) {
      const auto count = static_cast<std::ptrdiff_t>(*from++);
      to.assign(from, from + count);
      from += count;
    };
    for (; from != numbers.end(); ++leaf) {
      take(saved.x[at(leaves[at(leaf)])]);
      take(saved.memory[at(leaves[at(leaf)])]);
    }
  }
}

void AssemblyRun::resume(const SavedAssembly& saved) {
  bool fits =
      saved.x.size() == plan_.modules.size() && saved.memory.size() == saved.x.size() &&
      saved.progress.row.size() == columns_.size() && saved.glue.size() >= glue_->memory().size() &&
      (adaptive_ || std::abs(static_cast<double>(saved.steps) * settings_.step - saved.progress.t) < 0.5 * settings_.step);
  for (std::size_t i = 0; fits && i < state_.x.size(); ++i) {
    const WorkingModule& module = workshop_->modules()[i];
    fits = saved.x[at(module.index)].size() == static_cast<std::size_t>(state_.x[i].size()) &&
           saved.memory[at(module.index)].size() == module.module->memory().size();
  }
  bool all_fit = true;
  for (const std::string& answer : gather_texts(transport_, fits ? "" : "no")) all_fit = all_fit && answer.empty();
  if (!all_fit) throw InputError({}, fmt::format("what was saved is not of the model '{}'", plan_.name));
  resumed_ = saved;
  wall_before_ = saved.progress.wall_seconds;
  steps_before_ = saved.steps;
}

/// Modules and glue are made anew: what they remember of earlier steps is not saved, and must not make a difference.
bool AssemblyRun::go_on_from(const SavedAssembly& saved) {
  traffic_before_ += workshop_->transport().traffic();
  module_seconds_before_ += workshop_->seconds_in_modules();
  const Placement placement = workshop_->placement();
  glue_.reset();
  make_modules(placement);
  for (std::size_t i = 0; i < state_.x.size(); ++i) {
    WorkingModule& module = workshop_->modules()[i];
    std::ranges::copy(saved.x[at(module.index)], state_.x[i].begin());
    module.module->set_memory(saved.memory[at(module.index)]);
  }
  make_glue();
  glue_->set_memory(saved.glue);
  state_.t = saved.progress.t;
  state_.steps = saved.steps;
  state_.rejected_steps = saved.rejected_steps;
  state_.evaluations = saved.evaluations;
  state_.outputs = saved.progress.outputs;
  state_.h = saved.progress.h;
  state_.usual_h = saved.progress.usual_h;
  energy_start_ = saved.progress.energy_start;
  potential_start_ = saved.progress.potential_start;
  imbalance_ = saved.progress.imbalance;
  exchanged_ = saved.progress.exchanged;
  start_rank_ = saved.progress.start_rank;
  row_ = saved.progress.row;
  next_checkpoint_ = saved.progress.next_checkpoint;
  summary_ = saved.progress.summary;
  modules_ = saved.modules;
  remarks_ = saved.remarks;
  const Status status = evaluate(rates_);
  return status.ok() || stop(status.trouble);
}

bool AssemblyRun::evaluate_start() {
  summary_.notes = plan_.notes;
  if (const Status status = evaluate(rates_); !status.ok()) return stop(status.trouble);
  int inner_rank = 0, dof = 0;
  std::string redundant;
  std::vector<double> ranks(2 * plan_.modules.size(), 0.0);
  std::vector<int> ends;
  for (const int end : workshop_->placement().ends) ends.push_back(2 * end);
  const int connection_rank = glue_->connection_rank();
  for (const WorkingModule& module : workshop_->modules()) {
    const auto leaf = static_cast<std::size_t>(workshop_->leaf_of(module.index));
    ranks[2 * leaf] = module.module->rank();
    ranks[2 * leaf + 1] = module.module->dof();
    for (const std::string& name : module.module->redundant()) redundant += name + "\n";
  }
  workshop_->transport().gather(ranks, ends);
  for (std::size_t i = 0; i < ranks.size(); i += 2)
    inner_rank += static_cast<int>(ranks[i]), dof += static_cast<int>(ranks[i + 1]);
  for (std::size_t c = 0; c < plan_.connections.size(); ++c) {
    const Connection& connection = plan_.connections[c];
    if (owner(connection.a, connection.b) != workshop_->rank()) continue;
    for (std::size_t r = 0; r < at(connection.row_count()); ++r)
      if (glue_->results()[c].dependent[r]) redundant += fmt::format("{}.{}\n", connection.name, connection.row_names()[r]);
  }
  for (const std::string& text : gather_texts(workshop_->transport(), redundant))
    for (std::string& name : lines_of(text)) summary_.redundant.push_back(std::move(name));
  summary_.rank = start_rank_ = inner_rank + connection_rank;
  summary_.dof = dof - connection_rank;
  std::string contradiction;
  for (const std::string& text : gather_texts(workshop_->transport(), glue_->contradiction()))
    if (!text.empty()) contradiction = text;
  if (!contradiction.empty()) return stop(contradiction);
  if (!summary_.redundant.empty())
    summary_.notes.push_back(
        fmt::format("{} of the constraints follow from others: {}", summary_.redundant.size(), listed(summary_.redundant)));
  look();
  return record() && hear_objection();
}

/// All ranks at once.
bool AssemblyRun::hear_objection() {
  objection_ = gather_texts(workshop_->transport(), objection_).front();
  return objection_.empty() || stop(objection_);
}

bool AssemblyRun::advance() {
  if (!take_step(next_step_size())) return false;
  if (const Status status = glue_->project(next_t_, next_); !status.ok()) return stop(status.trouble);
  return finish_step();
}

double AssemblyRun::next_step_size() const {
  const double left = settings_.end - state_.t;
  if (!adaptive_) {
    // Steps end at multiples of the step, computed anew each time so that errors do not add up.
    const double target = static_cast<double>(state_.steps + 1) * settings_.step;
    return target > settings_.end - 1e-9 * settings_.step ? left : target - state_.t;
  }
  return state_.h > left * (1.0 - 1e-12) ? left : std::min(state_.h, 0.5 * std::max(left, state_.h));
}

Status AssemblyRun::attempt(double h) {
  if (!entry_.traits.own_steps) return runge_kutta(h);
  next_t_ = state_.t + h;
  const Status status = glue_->step(state_.t, h, state_.x, rates_, next_);
  if (glue_->iterations() > 0) {
    modules_.most_iterations = std::max(modules_.most_iterations, glue_->iterations());
    modules_.mean_iterations += glue_->iterations();
    if (modules_.iterations.size() < kMostHistory) modules_.iterations.push_back(glue_->iterations());
  }
  return status;
}

/// An explicit Runge-Kutta step of every module on its own; the glue couples them at each stage.
Status AssemblyRun::runge_kutta(double h) {
  const auto stages = tableau_->b.size();
  stages_.resize(state_.x.size());
  const auto combine = [&](const std::vector<double>& weights, std::size_t count, States& to) {
    for (std::size_t i = 0; i < to.size(); ++i) {
      to[i] = state_.x[i];
      for (std::size_t j = 0; j < count; ++j)
        if (weights[j] != 0.0) to[i] += (h * weights[j]) * stages_[i][j];
    }
  };
  for (std::size_t i = 0; i < state_.x.size(); ++i) {
    stages_[i].resize(stages + 1);
    stages_[i][0] = rates_[i];
  }
  const auto evaluate_stage = [&](double t, States& x, std::size_t stage) {
    ++state_.evaluations;
    if (Status status = glue_->evaluate(t, x, next_rates_); !status.ok()) return status;
    for (std::size_t i = 0; i < x.size(); ++i) stages_[i][stage] = next_rates_[i];
    return Status{};
  };
  for (std::size_t s = 1; s < stages; ++s) {
    combine(tableau_->a[s], s, next_);
    if (Status status = evaluate_stage(state_.t + tableau_->c[s] * h, next_, s); !status.ok()) return status;
  }
  combine(tableau_->b, stages, next_);
  next_t_ = state_.t + h;
  if (adaptive_)
    if (Status status = evaluate_stage(next_t_, next_, stages); !status.ok()) return status;
  for (std::size_t i = 0; i < next_.size(); ++i) workshop_->modules()[i].module->normalize(next_[i]);
  return {};
}

/// In units of the tolerances, the same on every rank: a step is good enough below 1.
double AssemblyRun::estimated_error() {
  std::vector<double>& sums = error_sums_;
  sums.assign(2 * plan_.modules.size(), 0.0);
  error_ends_.clear();
  for (const int end : workshop_->placement().ends) error_ends_.push_back(2 * end);
  for (std::size_t i = 0; i < next_.size(); ++i) {
    const WorkingModule& module = workshop_->modules()[i];
    double sum = 0.0;
    for (Eigen::Index k = 0; k < module.module->controlled_size(); ++k) {
      double error = 0.0;
      for (std::size_t j = 0; j < tableau_->error.size(); ++j)
        error += (next_t_ - state_.t) * tableau_->error[j] * stages_[i][j][k];
      const double weight = settings_.atol + settings_.rtol * std::max(std::abs(state_.x[i][k]), std::abs(next_[i][k]));
      sum += std::pow(error / weight, 2);
    }
    const auto leaf = static_cast<std::size_t>(workshop_->leaf_of(module.index));
    sums[2 * leaf] = sum;
    sums[2 * leaf + 1] = module.module->controlled_size();
  }
  workshop_->transport().gather(sums, error_ends_);
  double sum = 0.0, count = 0.0;
  for (std::size_t k = 0; k < sums.size(); k += 2) sum += sums[k], count += sums[k + 1];
  const double error = std::sqrt(sum / std::max(1.0, count));
  return std::isfinite(error) ? error : 1e6;
}

/// From state_ to next_, in the adaptive case with as many attempts as it takes, as Simulation does it.
bool AssemblyRun::take_step(double h) {
  constexpr double kSafety = 0.9, kMostGrowth = 5.0, kMostShrink = 0.2, kTolerable = 100.0, kLastResort = 1e-6;
  for (;;) {
    const Status status = attempt(h);
    if (!adaptive_) return status.ok() ? true : stop(status.trouble);
    const double error = status.ok() ? estimated_error() : 1e6;
    const double factor = kSafety * std::pow(std::max(error, 1e-10), -1.0 / tableau_->order);
    const double next = h * std::clamp(factor, kMostShrink, kMostGrowth);
    if (error <= 1.0) {
      state_.h = next;
      state_.usual_h = std::max(h, 0.995 * state_.usual_h);
      return true;
    }
    ++state_.rejected_steps;
    h = next;
    if (h < 0.1 * state_.usual_h && glue_->weakest() < kNearlySingular) {
      // As Simulation does it: a step of usual size, if its error is tolerable, or at last.
      const Status over = attempt(std::min(state_.usual_h, settings_.end - state_.t));
      const double excess = over.ok() ? estimated_error() : 1e6;
      if (excess <= kTolerable || (over.ok() && h < kLastResort * state_.usual_h)) {
        state_.h = state_.usual_h;
        if (excess > kTolerable && !warned_singular_)
          summary_.warnings.push_back(fmt::format(
              "a singular position at t = {:.6g} s was crossed by a step of {:.2g} s whose error is {:.2g} times what "
              "rtol and atol allow",
              state_.t, next_t_ - state_.t, excess));
        warned_singular_ = warned_singular_ || excess > kTolerable;
        return true;
      }
    }
    if (h < 1e-14 * std::max(1.0, std::abs(state_.t)))
      return stop(fmt::format("the step size fell to {:.2g} s without meeting rtol and atol{}", h,
                              status.ok() ? "" : ": " + status.trouble));
  }
}

bool AssemblyRun::finish_step() {
  ++state_.steps;
  ++state_.evaluations;
  if (const Status status = glue_->evaluate(next_t_, next_, next_rates_); !status.ok()) return stop(status.trouble);
  const double tie = 1e-9 * (next_t_ - state_.t);
  if (next_output() < next_t_ - tie) {
    if (!record_inside_step(next_t_ - tie)) return false;
    ++state_.evaluations;
    if (const Status status = glue_->evaluate(next_t_, next_, next_rates_); !status.ok()) return stop(status.trouble);
  }
  // Round times are written as such.
  if (std::abs(next_output() - next_t_) <= tie) next_t_ = next_output();
  if (std::abs(settings_.end - next_t_) <= tie) next_t_ = settings_.end;
  state_.t = next_t_;
  std::swap(state_.x, next_);
  std::swap(rates_, next_rates_);
  for (WorkingModule& module : workshop_->modules()) module.module->accept_step();
  look();
  if (next_output() <= state_.t + tie || state_.t >= settings_.end)
    if (!record()) return false;
  if (observer_.progress) outside([&] { observer_.progress(state_.t, settings_.end); });
  interrupted_ = observer_.go_on && state_.t < settings_.end && !all_go_on();
  if (interrupted_) summary_.status = kInterrupted;
  return !interrupted_;
}

/// Ranks ask each other about ten times a second: rank 0 measures how many steps that are, and says so with each answer.
bool AssemblyRun::all_go_on() {
  constexpr long kMostSteps = 4096;
  constexpr std::chrono::milliseconds kUsual(100);
  const int ranks = transport_.size();
  if (ranks == 1) return observer_.go_on();
  if (--next_question_ > 0) return true;
  const auto now = std::chrono::steady_clock::now();
  if (now - asked_ > 2 * kUsual) question_interval_ = std::max(1L, question_interval_ / 2);
  if (now - asked_ < kUsual / 2) question_interval_ = std::min(kMostSteps, 2 * question_interval_);
  asked_ = now;
  std::vector<double> answers(at(ranks), 0.0);
  std::vector<int> ends;
  for (int rank = 0; rank < ranks; ++rank) ends.push_back(rank + 1);
  answers[at(transport_.rank())] = observer_.go_on() ? static_cast<double>(question_interval_) : 0.0;
  transport_.gather(answers, ends);
  next_question_ = static_cast<long>(answers[0]);
  return std::ranges::find(answers, 0.0) == answers.end();
}

/// Inside the last step, a part theta of the way: by the method's own interpolation, or a cubic Hermite polynomial.
void AssemblyRun::interpolate(double theta) {
  const double h = next_t_ - state_.t;
  for (std::size_t i = 0; i < inside_.size(); ++i) {
    if (!entry_.traits.own_steps && !tableau_->dense.empty()) {
      inside_[i] = state_.x[i];
      for (std::size_t j = 0; j < tableau_->dense.size(); ++j) {
        const auto& p = tableau_->dense[j];
        double weight = 0.0;
        for (auto coefficient = p.rbegin(); coefficient != p.rend(); ++coefficient) weight = (weight + *coefficient) * theta;
        inside_[i] += (h * weight) * stages_[i][j];
      }
    } else {
      const double s = 1.0 - theta;
      const double h00 = s * s * (1.0 + 2.0 * theta), h10 = h * theta * s * s, h01 = 1.0 - h00, h11 = -h * theta * theta * s;
      inside_[i] = h00 * state_.x[i] + h10 * rates_[i] + h01 * next_[i] + h11 * next_rates_[i];
    }
    workshop_->modules()[i].module->normalize(inside_[i]);
  }
}

bool AssemblyRun::record_inside_step(double until) {
  while (next_output() < until) {
    const double t = next_output();
    interpolate((t - state_.t) / (next_t_ - state_.t));
    if (const Status status = glue_->project(t, inside_); !status.ok()) return stop(status.trouble);
    ++state_.evaluations;
    if (const Status status = glue_->evaluate(t, inside_, inside_rates_); !status.ok()) return stop(status.trouble);
    const double now = std::exchange(state_.t, t);
    const bool recorded = record();
    state_.t = now;
    if (!recorded) return false;
  }
  return true;
}

/// Takes stock of the state just evaluated.
void AssemblyRun::look() {
  const AssemblyErrors& errors = glue_->errors();
  summary_.position_error_max = std::max(summary_.position_error_max, errors.position);
  summary_.velocity_error_max = std::max(summary_.velocity_error_max, errors.velocity);
  modules_.sticky = std::max(modules_.sticky, errors.joint_position);
  modules_.sticky_velocity = std::max(modules_.sticky_velocity, errors.joint_velocity);
}

/// A row of output as a rank has it: columns of its modules, three energies each, then lambda, force and torque of the
/// connections whose first module it has, and the energy of its springs. All ranks get all of it and keep the same accounts; rank
/// 0 writes.
bool AssemblyRun::record() {
  if (workshop_->rank() == 0) output_[0] = objection_.empty() ? 0.0 : 1.0;
  double* to = output_.data() + (workshop_->rank() == 0 ? 1 : output_ends_[at(workshop_->rank() - 1)]);
  for (WorkingModule& module : workshop_->modules()) {
    const std::size_t count = module.module->columns().size();
    if (const Status status = module.module->record(module.Q, {to, count}); !status.ok())
      workshop_->report(module, status.trouble);
    to += count;
    const ModuleEnergy energy = module.module->energy();
    *to++ = energy.kinetic, *to++ = energy.potential, *to++ = energy.work;
  }
  for (std::size_t c = 0; c < plan_.connections.size(); ++c) {
    const Connection& connection = plan_.connections[c];
    if (owner(connection.a, connection.b) != workshop_->rank()) continue;
    const ConnectionResult& result = glue_->results()[c];
    to = std::copy_n(result.lambda.begin(), connection.row_count(), to);
    for (const Vec3<double>& reaction : {result.force, result.torque}) to = std::copy_n(reaction.data(), 3, to);
  }
  for (std::size_t s = 0; s < plan_.springs.size(); ++s)
    if (owner(plan_.springs[s].a, plan_.springs[s].b) == workshop_->rank()) *to++ = glue_->spring_potentials()[s];
  workshop_->transport().gather(output_, output_ends_);
  if (output_[0] != 0.0) return stop(objection_);
  ++state_.outputs;

  row_[0] = state_.t;
  for (const auto& [column, number] : column_numbers_) row_[column] = output_[number];
  double kinetic = 0.0, potential = 0.0, work = 0.0, springs = 0.0;
  for (const std::size_t number : energy_numbers_)
    kinetic += output_[number], potential += output_[number + 1], work += output_[number + 2];
  for (const std::size_t number : spring_numbers_) springs += output_[number];
  const std::array totals{kinetic, potential + springs, kinetic + potential + springs, glue_->errors().position,
                          glue_->errors().velocity};
  std::ranges::copy(totals, row_.begin() + static_cast<std::ptrdiff_t>(first_total_));
  balance(kinetic, potential, work);
  if (workshop_->rank() == 0 && observer_.row) outside([&] { observer_.row(row_); });
  if (workshop_->rank() == 0 && observer_.object) outside([&] { objection_ = observer_.object(row_); });
  return true;
}

/// Work is done on the modules by their ports too, springs between them included.
void AssemblyRun::balance(double kinetic, double potential, double work) {
  if (state_.outputs == 1) energy_start_ = kinetic + potential, potential_start_ = potential;
  exchanged_ = std::max({exchanged_, kinetic, std::abs(potential - potential_start_)});
  imbalance_ = std::max(imbalance_, std::abs(kinetic + potential - energy_start_ - work));
}

/// What is done there is no matter of the glue.
template <class Tell>
void AssemblyRun::outside(Tell tell) {
  const auto before = std::chrono::steady_clock::now();
  tell();
  seconds_outside_ += std::chrono::duration<double>(std::chrono::steady_clock::now() - before).count();
}

bool AssemblyRun::stop(const std::string& reason) {
  stopped_ = true;
  summary_.status = fmt::format("stopped at t = {:.9g} s: {}", state_.t, reason);
  return false;
}

void AssemblyRun::summarize(double seconds) {
  summary_.model = plan_.name;
  summary_.formulation = "schur";
  summary_.stabilization = settings_.stabilization.name;
  summary_.integrator = tableau_ ? settings_.integrator.name : entry_.info.name;
  summary_.glue = entry_.info.name;
  if (!stopped_) hear_objection();  // to the last row
  summary_.completed = state_.t >= settings_.end && !stopped_;
  summary_.steps = state_.steps;
  summary_.rejected_steps = state_.rejected_steps;
  summary_.evaluations = state_.evaluations;
  summary_.simulated_seconds = state_.t;
  summary_.energy_drift = exchanged_ > 0.0 ? imbalance_ / exchanged_ : imbalance_;
  for (std::size_t c = 0; state_.outputs > 0 && c < columns_.size(); ++c)
    if (columns_[c].starts_with("q.") || columns_[c].starts_with("v.")) summary_.final_state.emplace_back(columns_[c], row_[c]);
  for (const std::string& remark : glue_->remarks()) remarks_.push_back(remark);
  summary_.notes.insert(summary_.notes.end(), remarks_.begin(), remarks_.end());
  summary_.wall_seconds = wall_before_ + seconds;

  modules_.modules = static_cast<int>(plan_.modules.size());
  const int ranks = workshop_->transport().size();
  for (int rank = 0; rank < ranks; ++rank)
    modules_.modules_of_rank.push_back(workshop_->placement().end(rank) - workshop_->placement().begin(rank));
  const auto steps = static_cast<double>(std::max(1L, state_.steps - steps_before_));
  MeteredTransport::Traffic traffic = traffic_before_;
  traffic += workshop_->transport().traffic();
  modules_.messages_per_step = static_cast<double>(traffic.messages) / steps;
  modules_.bytes_per_step = traffic.bytes / steps;
  modules_.mean_iterations /= static_cast<double>(std::max(1L, state_.steps));
  modules_.green = entry_.traits.exposes;
  modules_.numbers_exposed = glue_->numbers_exposed();
  std::vector<double> times(3 * at(ranks), 0.0);
  std::vector<int> ends;
  for (int rank = 0; rank < ranks; ++rank) ends.push_back(3 * (rank + 1));
  double* const own = &times[3 * at(workshop_->rank())];
  own[0] = traffic.seconds;
  own[1] = module_seconds_before_ + workshop_->seconds_in_modules();
  own[2] = seconds_outside_;
  workshop_->transport().gather(times, ends);
  double waiting = 0.0, modules = 0.0, outside = 0.0;
  for (std::size_t r = 0; r < at(ranks); ++r) waiting += times[3 * r], modules += times[3 * r + 1], outside += times[3 * r + 2];
  // While one of them is outside, the others wait for it.
  modules_.waiting_seconds_per_step = std::max(0.0, waiting - outside * (ranks - 1)) / ranks / steps;
  modules_.inexpensive = modules > 0.0 ? std::max(0.0, (seconds - outside) * ranks - modules) / modules : 0.0;
  summary_.ranks = ranks;
  summary_.modules = modules_;
}

}  // namespace linkwork
