#include "linkwork/modules/assembly_system.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <tuple>
#include <utility>

#include "linkwork/dynamics/integrator.h"
#include "linkwork/integrators/runge_kutta.h"
#include "linkwork/model/settable_input.h"
#include "linkwork/modules/glues/catalog.h"
#include "linkwork/modules/scheme.h"
#include "linkwork/transport/text.h"

namespace linkwork {

namespace {

std::size_t at(int i) { return static_cast<std::size_t>(i); }

/// How little may be left of a joint's row (squared, see rank.h) before a position counts as nearly singular.
constexpr double kNearlySingular = 1e-5;
/// Steps whose iterations are kept for the summary.
constexpr std::size_t kMostHistory = 1000;

Placement placed_by_weight(const AssemblyPlan& plan, const std::vector<int>& leaves, int ranks) {
  std::vector<double> cost;
  for (const int module : leaves) cost.push_back(plan.modules[at(module)].weight);
  return place(cost, ranks);
}

const GlueEntry& find_glue(const Choice& choice) {
  std::vector<CatalogInfo> infos;
  for (const GlueEntry& entry : glues()) infos.push_back(entry.info);
  return glues()[find_choice(infos, choice, "glue")];
}

}  // namespace

/// The way of stepping that a glue has of its own.
class AssemblySystem::Stepping : public Integrator {
 public:
  explicit Stepping(AssemblySystem& system) : system_(system), from_(system.start_), rates_(from_), to_(from_) {}

  int order() const override { return 1; }
  bool can_repeat() const override { return false; }
  Status step(DifferentialEquation&, const Moment& from, const VecX<double>& rates, double h, Moment& to) override {
    system_.spread(from.y, from_);
    system_.spread(rates, rates_);
    const Status status = system_.glue_->step(from.t, h, from_, rates_, to_);
    to.t = from.t + h;
    to.y.resize(from.y.size());
    system_.collect(to_, to.y);
    GlueSummary& account = system_.account_;
    if (const int iterations = system_.glue_->iterations(); iterations > 0) {
      account.most_iterations = std::max(account.most_iterations, iterations);
      account.mean_iterations += iterations;
      if (account.iterations.size() < kMostHistory) account.iterations.push_back(iterations);
    }
    return status;
  }

 private:
  AssemblySystem& system_;
  States from_, rates_, to_;
};

AssemblySystem::AssemblySystem(AssemblyPlan plan, const Choice& glue, Transport& transport)
    : plan_(std::move(plan)), entry_(find_glue(glue)), options_(complete_options(entry_.info, glue)), transport_(transport) {
  if (!plan_.couplings.empty() && !entry_.traits.takes_couplings)
    throw InputError(plan_.settings.glue.place,
                     fmt::format("glue '{}' joins modules by constraints of two frames and linear springs, and '{}' is neither",
                                 entry_.info.name, plan_.couplings.front().name),
                     "glue \"hierarchical\", or \"none\"");
  choose_integrator();
  plan_modules();
  check_modules();
  glue_ = entry_.make(*workshop_, options_);
  rows_ = std::make_unique<AssemblyRows>(*workshop_, *glue_);
  if (!plan_.watched) return;
  check_watch();
  watch_ = std::make_unique<AssemblyWatch>(*this, transport_.rank() == 0 ? plan_.whole.get() : nullptr);
}

/// All ranks come to the same conclusion.
void AssemblySystem::check_watch() {
  if (!entry_.traits.takes_couplings)
    throw InputError(plan_.settings.glue.place,
                     fmt::format("glue '{}' cannot follow what comes and goes in the model", entry_.info.name),
                     "glue \"hierarchical\", or \"none\"");
  std::string closed;
  for (const WorkingModule& module : workshop_->modules())
    if (module.module->switched() == nullptr) closed += module.name + "\n";
  for (const std::string& text : gather_texts(transport_, closed))
    if (!text.empty())
      throw InputError({},
                       fmt::format("things come and go in the model, and the module '{}' cannot be told", lines_of(text).front()),
                       "modules that are model files");
}

void AssemblySystem::choose_integrator() {
  if (entry_.traits.own_steps && !entry_.traits.uses_tableau) return;
  const Choice& integrator = plan_.settings.integrator;
  const auto found = std::ranges::find(tableaus(), integrator.name, &Tableau::name);
  if (found == tableaus().end()) {
    std::vector<std::string> names;
    for (const Tableau& tableau : tableaus()) names.push_back(tableau.name);
    throw InputError(integrator.place, fmt::format("integrator '{}' steps a system in one piece only", integrator.name),
                     fmt::format("one of {} with modules that are solved apart, or glue \"none\"", listed(names)));
  }
  tableau_ = &*found;
  if (!tableau_->error.empty() && !entry_.traits.adaptive)
    throw InputError(
        integrator.place,
        fmt::format("glue '{}' takes fixed steps, and integrator '{}' chooses its own", entry_.info.name, integrator.name),
        "an integrator of fixed steps, such as rk4");
}

std::unique_ptr<Integrator> AssemblySystem::make_integrator() {
  if (entry_.traits.own_steps) return std::make_unique<Stepping>(*this);
  return make_runge_kutta(*tableau_);
}

/// All ranks come to the same conclusion.
void AssemblySystem::check_modules() {
  std::string closed;
  for (const WorkingModule& module : workshop_->modules())
    if (entry_.traits.needs_equations && !module.module->equations()) closed += module.name + "\n";
  std::vector<std::string> names;
  for (const std::string& text : gather_texts(workshop_->transport(), closed))
    for (std::string& name : lines_of(text)) names.push_back(std::move(name));
  if (!names.empty())
    throw InputError(plan_.settings.glue.place,
                     fmt::format("glue '{}' needs to see {}, which not every module shows: {}", entry_.info.name,
                                 entry_.traits.exposes, listed(names)),
                     "glue \"hierarchical\" or \"compliance\"");
}

/// Where modules and groups are. With many ranks each keeps its own part of the plan, before it hears of others: then there is no
/// time at which all of them have the whole.
void AssemblySystem::plan_modules() {
  for (std::size_t c = 0; c < plan_.connections.size(); ++c) plan_.connections[c].number = static_cast<int>(c);
  const auto option = [&](const char* name, double otherwise) { return options_.contains(name) ? options_.at(name) : otherwise; };
  std::vector<double> weights;
  for (const ModulePlan& module : plan_.modules) weights.push_back(module.weight);
  const GroupTree tree = make_group_tree(plan_.nest, weights, plan_.joined(), option("nesting", 1.0) == 0.0);
  leaves_ = tree.leaves();
  const double is_tree = option("tree", -1.0);
  if (entry_.traits.needs_own_part_only && plan_.couplings.empty() && !plan_.watched && is_tree != 0.0 &&
      transport_.size() >= plan_.keeps_whole_below) {
    const Placement placement = placed_by_weight(plan_, leaves_, transport_.size());
    const int rank = transport_.rank();
    groups_ = plan_groups(plan_, tree, placement, rank, Scheme::kTree);
    keep_own_part(plan_, groups_, {leaves_.begin() + placement.begin(rank), leaves_.begin() + placement.end(rank)});
    make_modules(placement);
    return;
  }
  place_modules();
  const Scheme scheme = is_tree == 1.0   ? Scheme::kTree
                        : is_tree == 0.0 ? Scheme::kOneExchange
                                         : cheaper_scheme(transport_, plan_.module_count());
  groups_ = plan_groups(plan_, tree, workshop_->placement(), transport_.rank(), scheme);
}

/// First by weight, then by what modules are measured to cost, if that promises much.
void AssemblySystem::place_modules() {
  constexpr double kMuchBetter = 0.95;
  make_modules(placed_by_weight(plan_, leaves_, transport_.size()));
  if (transport_.size() == 1) return;
  const std::vector<double> cost = measured_costs(*workshop_, start_);
  const Placement better = place(cost, transport_.size());
  if (most_expensive(better, cost) < kMuchBetter * most_expensive(workshop_->placement(), cost)) make_modules(better);
}

/// At their start.
void AssemblySystem::make_modules(const Placement& placement) {
  workshop_ = std::make_unique<Workshop>(plan_, leaves_, groups_, placement, transport_);
  start_.resize(workshop_->modules().size());
  for (std::size_t i = 0; i < start_.size(); ++i) workshop_->modules()[i].module->start(start_[i]);
  x_ = rates_ = normalized_ = start_;
  tell_inputs();
}

void AssemblySystem::set_input(const std::string& name, std::optional<double> value) {
  settable_input(plan_.inputs, name);
  inputs_[name] = value;
  tell_inputs();
}

void AssemblySystem::tell_inputs() {
  for (const auto& [name, value] : inputs_) {
    for (WorkingModule& module : workshop_->modules()) module.module->set_input(name, value);
    for_each_coupling([&](std::size_t, Coupling& coupling) { coupling.set_input(name, value); });
    if (watch_) watch_->set_input(name, value);
  }
}

template <class Visit>
void AssemblySystem::for_each_coupling(Visit visit) {
  const Hierarchy* const coupled = glue_ ? glue_->coupled() : nullptr;
  for (std::size_t k = 0; coupled != nullptr && k < coupled->couplings().size(); ++k)
    if (coupled->couplings()[k]) visit(k, *coupled->couplings()[k]);
}

void AssemblySystem::spread(const VecX<double>& y, States& x) const {
  Eigen::Index first = 0;
  for (VecX<double>& own : x) {
    own = y.segment(first, own.size());
    first += own.size();
  }
}

void AssemblySystem::collect(const States& x, VecX<double>& y) const {
  Eigen::Index first = 0;
  for (const VecX<double>& own : x) {
    y.segment(first, own.size()) = own;
    first += own.size();
  }
}

Moment AssemblySystem::begin() const {
  Moment begin;
  Eigen::Index size = 0;
  for (const VecX<double>& own : start_) size += own.size();
  begin.y.resize(size);
  collect(start_, begin.y);
  return begin;
}

// --- as a differential equation

Status AssemblySystem::evaluate(Moment& at, VecX<double>& rates) {
  ++evaluations_;
  evaluated_at_ = at.t;
  energies_.reset();
  spread(at.y, x_);
  if (Status status = glue_->evaluate(at.t, x_, rates_); !status.ok()) return status;
  collect(x_, at.y);
  rates.resize(at.y.size());
  collect(rates_, rates);
  return {};
}

Status AssemblySystem::project(Moment& at) {
  spread(at.y, x_);
  const Status status = glue_->project(at.t, x_);
  collect(x_, at.y);
  return status;
}

void AssemblySystem::normalize(VecX<double>& y) const {
  spread(y, normalized_);
  for (std::size_t i = 0; i < normalized_.size(); ++i) workshop_->modules()[i].module->normalize(normalized_[i]);
  collect(normalized_, y);
}

double AssemblySystem::error_norm(const VecX<double>& from, const VecX<double>& to, const VecX<double>& error) {
  const Settings& settings = plan_.settings;
  error_sums_.clear();
  Eigen::Index first = 0;
  for (const WorkingModule& module : workshop_->modules()) {
    double sum = 0.0;
    for (Eigen::Index k = first; k < first + module.module->controlled_size(); ++k) {
      const double weight = settings.atol + settings.rtol * std::max(std::abs(from[k]), std::abs(to[k]));
      sum += std::pow(error[k] / weight, 2);
    }
    error_sums_.push_back({sum, static_cast<double>(module.module->controlled_size())});
    first += module.module->state_size();
  }
  const auto [sum, count] = glue_->add_up(error_sums_);
  return std::sqrt(sum / std::max(1.0, count));
}

bool AssemblySystem::is_nearly_singular() const { return glue_->weakest() < kNearlySingular; }

// --- start, rows, remarks

Status AssemblySystem::start(Moment& at, VecX<double>& rates, Summary& summary, Remarks& remarks) {
  summary.model = plan_.name;
  summary.formulation = "schur";
  summary.stabilization = plan_.settings.stabilization.name;
  summary.integrator = tableau_ ? plan_.settings.integrator.name : entry_.info.name;
  summary.glue = entry_.info.name;
  summary.notes = plan_.notes;
  if (const Status status = evaluate(at, rates); !status.ok()) return status;
  if (watch_)
    if (const Status status = watch_->start(at, rates); !status.ok()) return status;
  if (const Status status = glue_->check_start(); !status.ok()) return status;
  find_rank(summary);
  remember_ranks();
  keep_account();
  for (WorkingModule& module : workshop_->modules()) module.module->accept_step(remarks);
  for_each_coupling([](std::size_t, Coupling& coupling) { coupling.accept_step(); });
  std::string contradiction;
  for (const std::string& text : gather_texts(workshop_->transport(), glue_->contradiction()))
    if (!text.empty()) contradiction = text;
  if (!contradiction.empty()) return {contradiction};
  if (!summary.redundant.empty())
    summary.notes.push_back(
        fmt::format("{} of the constraints follow from others: {}", summary.redundant.size(), listed(summary.redundant)));
  return {};
}

void AssemblySystem::find_rank(Summary& summary) {
  int inner_rank = 0, dof = 0;
  std::string redundant;  // names, each after the place where it belongs
  std::vector<double> ranks(2 * at(transport_.size()), 0.0);
  std::vector<int> ends;
  for (int rank = 0; rank < transport_.size(); ++rank) ends.push_back(2 * (rank + 1));
  const int connection_rank = glue_->connection_rank();
  double* const own = &ranks[2 * at(transport_.rank())];
  for (const WorkingModule& module : workshop_->modules()) {
    own[0] += module.module->rank();
    own[1] += module.module->dof();
    for (const std::string& name : module.module->redundant())
      redundant += fmt::format("0 {} {}\n", workshop_->leaf_of(module.index), name);
  }
  workshop_->transport().gather(ranks, ends);
  for (std::size_t i = 0; i < ranks.size(); i += 2)
    inner_rank += static_cast<int>(ranks[i]), dof += static_cast<int>(ranks[i + 1]);
  for (const int c : groups_.connections) {
    const Connection& connection = plan_.connections[at(c)];
    for (std::size_t r = 0; r < at(connection.row_count()); ++r)
      if (glue_->results()[at(c)].dependent[r])
        redundant += fmt::format("1 {} {}.{}\n", connection.number, connection.name, connection.row_names()[r]);
  }
  for_each_coupling([&](std::size_t k, const Coupling& coupling) {
    for (int r = 0; glue_->coupled()->is_owner(k) && r < coupling.row_count(); ++r)
      if (coupling.dependent()[at(r)]) redundant += fmt::format("2 {} {}\n", k, coupling.row_name(r));
  });
  std::vector<std::tuple<int, int, std::string>> names;
  for (const std::string& text : gather_texts(workshop_->transport(), redundant))
    for (const std::string& line : lines_of(text)) {
      const std::size_t first = line.find(' '), second = line.find(' ', first + 1);
      names.emplace_back(std::stoi(line), std::stoi(line.substr(first)), line.substr(second + 1));
    }
  std::ranges::stable_sort(names, [](const auto& a, const auto& b) {
    return std::pair(std::get<0>(a), std::get<1>(a)) < std::pair(std::get<0>(b), std::get<1>(b));
  });
  for (auto& [kind, number, name] : names) summary.redundant.push_back(std::move(name));
  summary.rank = inner_rank + connection_rank;
  summary.dof = dof - connection_rank;
}

void AssemblySystem::remember_ranks() {
  usual_ranks_.clear();
  for (const WorkingModule& module : workshop_->modules()) usual_ranks_.push_back(module.module->rank());
  usual_ranks_.push_back(glue_->own_rank());
}

void AssemblySystem::accept_step(const Moment& at, const VecX<double>&, Remarks& remarks) {
  ++steps_;
  const auto lost = [&](const std::string& module, int rank, int usual) {
    if (rank >= usual) return;
    const std::string whose = module.empty() ? "the connections" : fmt::format("module '{}'", module);
    remarks.add(at.t, "rank of " + whose,
                fmt::format("the constraints of {} lost rank ({} instead of {}) at t = {:.6g} s: a singular position; what "
                            "follows may be another branch",
                            whose, rank, usual, at.t));
  };
  for (std::size_t i = 0; i < workshop_->modules().size(); ++i) {
    WorkingModule& module = workshop_->modules()[i];
    module.module->accept_step(remarks);
    lost(module.name, module.module->rank(), usual_ranks_[i]);
  }
  lost("", glue_->own_rank(), usual_ranks_.back());
  for_each_coupling([](std::size_t, Coupling& coupling) { coupling.accept_step(); });
  keep_account();
}

void AssemblySystem::keep_account() {
  const AssemblyErrors& errors = glue_->errors();
  account_.sticky = std::max(account_.sticky, errors.joint_position);
  account_.sticky_velocity = std::max(account_.sticky_velocity, errors.joint_velocity);
}

Status AssemblySystem::record(double t, const std::string& objection, std::vector<double>& row, Remarks&) {
  bool objects = !objection.empty();
  if (Status status = rows_->record(*workshop_, *glue_, t, objects, row); !status.ok()) return status;
  if (objects) return {objection.empty() ? "the first rank objects" : objection};
  if (is_first_rank()) energies_ = rows_->energies();
  return {};
}

Status AssemblySystem::hear(const std::string& objection) { return {gather_texts(workshop_->transport(), objection).front()}; }

void AssemblySystem::gather(Remarks& remarks) {
  std::string own;
  for (const auto& [t, about, text] : remarks.all()) own += fmt::format("{}\n{}\n{}\n", t, about, text);
  std::vector<Remarks::Remark> all;
  for (const std::string& text : gather_texts(workshop_->transport(), own)) {
    const std::vector<std::string> lines = lines_of(text);
    for (std::size_t i = 0; i + 2 < lines.size(); i += 3) all.push_back({std::stod(lines[i]), lines[i + 1], lines[i + 2]});
  }
  std::ranges::stable_sort(all, {}, &Remarks::Remark::t);
  Remarks together;
  for (Remarks::Remark& remark : all) together.add(remark.t, remark.about, std::move(remark.text));
  remarks = std::move(together);
}

// --- save, go on

std::size_t AssemblySystem::part_count() const { return at(plan_.module_count()) + plan_.couplings.size() + (watch_ ? 1 : 0); }

/// Every rank sends what its modules and couplings are at, bit by bit: which it is, then sizes and numbers of state and memory.
void AssemblySystem::save(const Moment& now, SavedRun& saved) {
  spread(now.y, x_);
  std::vector<double> own;
  const auto add = [&](const auto& numbers) {
    own.push_back(static_cast<double>(std::size(numbers)));
    own.insert(own.end(), std::begin(numbers), std::end(numbers));
  };
  for (std::size_t i = 0; i < x_.size(); ++i) {
    own.push_back(workshop_->modules()[i].index);
    add(x_[i]);
    add(workshop_->modules()[i].module->memory());
  }
  for_each_coupling([&](std::size_t k, const Coupling& coupling) {
    if (!glue_->coupled()->is_owner(k)) return;
    own.push_back(static_cast<double>(at(plan_.module_count()) + k));
    add(std::vector<double>{});
    add(coupling.memory());
  });
  const std::string bytes(reinterpret_cast<const char*>(own.data()), own.size() * sizeof(double));
  saved.parts.resize(part_count());
  if (watch_) watch_->save(saved.switching, saved.parts.back().memory);
  // A rank that has only its own part goes on with that.
  std::vector<std::string> texts = plan_.is_whole() ? gather_texts(transport_, bytes) : collect_texts(transport_, bytes);
  if (texts.empty()) texts = {bytes};
  for (const std::string& text : texts) {
    std::vector<double> numbers(text.size() / sizeof(double));
    if (!text.empty()) std::memcpy(numbers.data(), text.data(), text.size());
    auto from = numbers.begin();
    const auto take = [&](std::vector<double>& to) {
      const auto count = static_cast<std::ptrdiff_t>(*from++);
      to.assign(from, from + count);
      from += count;
    };
    while (from != numbers.end()) {
      SavedPart& part = saved.parts[static_cast<std::size_t>(*from++)];
      take(part.x);
      take(part.memory);
    }
  }
  saved.glue = glue_->memory();
  saved.summary.modules = account_;
  saved.glue_notes = notes_;
  for (const std::string& note : glue_->remarks()) saved.glue_notes.push_back(note);
}

bool AssemblySystem::accepts(const SavedRun& saved) {
  bool fits = saved.parts.size() == part_count() && saved.glue.size() >= glue_->memory().size() &&
              saved.summary.modules.has_value() && (!is_first_rank() || saved.row.size() == columns().size());
  for (std::size_t i = 0; fits && i < start_.size(); ++i) {
    const WorkingModule& module = workshop_->modules()[i];
    const SavedPart& part = saved.parts[at(module.index)];
    fits = std::ssize(part.x) == start_[i].size() && part.memory.size() == module.module->memory().size();
  }
  for_each_coupling([&](std::size_t k, const Coupling& coupling) {
    fits = fits && saved.parts[at(plan_.module_count()) + k].memory.size() == coupling.memory().size();
  });
  fits = fits && (!watch_ || watch_->accepts(saved.switching, saved.parts.back().memory));
  const std::vector<std::string> answers = gather_texts(transport_, fits ? "" : "no");
  return std::ranges::all_of(answers, [](const std::string& answer) { return answer.empty(); });
}

Status AssemblySystem::restore(const SavedRun& saved, Moment& at, VecX<double>& rates) {
  traffic_before_ += workshop_->transport().traffic();
  module_seconds_before_ += workshop_->seconds_in_modules();
  const Placement placement = workshop_->placement();
  glue_.reset();
  make_modules(placement);
  for (std::size_t i = 0; i < x_.size(); ++i) {
    WorkingModule& module = workshop_->modules()[i];
    const SavedPart& part = saved.parts[static_cast<std::size_t>(module.index)];
    std::ranges::copy(part.x, x_[i].begin());
    module.module->set_memory(part.memory);
  }
  glue_ = entry_.make(*workshop_, options_);
  tell_inputs();
  glue_->set_memory(saved.glue);
  const std::span<const SavedPart> of_couplings = std::span(saved.parts).subspan(static_cast<std::size_t>(plan_.module_count()));
  for_each_coupling([&](std::size_t k, Coupling& coupling) { coupling.set_memory(of_couplings[k].memory); });
  if (watch_) watch_->restore(saved.switching, saved.parts.back().memory, saved.t);
  account_ = *saved.summary.modules;
  notes_ = saved.glue_notes;
  evaluations_ = 0;
  at.t = saved.t;
  at.y.resize(begin().y.size());
  collect(x_, at.y);
  const Status status = evaluate(at, rates);
  remember_ranks();
  return status;
}

// --- ranks, and the end

/// Ranks ask each other about ten times a second: rank 0 measures how many steps that are, and says so with each answer.
bool AssemblySystem::all_go_on(const std::function<bool()>& go_on) {
  constexpr long kMostSteps = 4096;
  constexpr std::chrono::milliseconds kUsual(100);
  const int ranks = transport_.size();
  if (ranks == 1) return go_on();
  if (--next_question_ > 0) return true;
  const auto now = std::chrono::steady_clock::now();
  if (now - asked_ > 2 * kUsual) question_interval_ = std::max(1L, question_interval_ / 2);
  if (now - asked_ < kUsual / 2) question_interval_ = std::min(kMostSteps, 2 * question_interval_);
  asked_ = now;
  std::vector<double> answers(at(ranks), 0.0);
  std::vector<int> ends;
  for (int rank = 0; rank < ranks; ++rank) ends.push_back(rank + 1);
  answers[at(transport_.rank())] = go_on() ? static_cast<double>(question_interval_) : 0.0;
  transport_.gather(answers, ends);
  next_question_ = static_cast<long>(answers[0]);
  return std::ranges::find(answers, 0.0) == answers.end();
}

/// What is done there is no matter of the glue.
template <class Tell>
void AssemblySystem::outside(Tell tell) {
  const auto before = std::chrono::steady_clock::now();
  tell();
  seconds_outside_ += std::chrono::duration<double>(std::chrono::steady_clock::now() - before).count();
}

Observer AssemblySystem::wrapped(Observer observer) {
  Observer timed = observer;
  if (observer.row) timed.row = [this, tell = observer.row](std::span<const double> row) { outside([&] { tell(row); }); };
  if (observer.whole_row)
    timed.whole_row = [this, tell = observer.whole_row](std::span<const double> row) { outside([&] { tell(row); }); };
  if (observer.object)
    timed.object = [this, tell = observer.object](std::span<const double> row) {
      std::string objection;
      outside([&] { objection = tell(row); });
      return objection;
    };
  if (observer.progress)
    timed.progress = [this, tell = observer.progress](double t, double end) { outside([&] { tell(t, end); }); };
  if (observer.checkpoint)
    timed.checkpoint = [this, tell = observer.checkpoint](const SavedRun& saved) { outside([&] { tell(saved); }); };
  return timed;
}

void AssemblySystem::finish(Summary& summary, double seconds) {
  summary.notes.insert(summary.notes.end(), notes_.begin(), notes_.end());
  for (const std::string& note : glue_->remarks()) summary.notes.push_back(note);
  GlueSummary account = account_;
  account.modules = plan_.module_count();
  const int ranks = workshop_->transport().size();
  for (int rank = 0; rank < ranks; ++rank)
    account.modules_of_rank.push_back(workshop_->placement().end(rank) - workshop_->placement().begin(rank));
  const auto steps = static_cast<double>(std::max(1L, steps_));
  MeteredTransport::Traffic traffic = traffic_before_;
  traffic += workshop_->transport().traffic();
  account.messages_per_step = static_cast<double>(traffic.messages) / steps;
  account.bytes_per_step = traffic.bytes / steps;
  account.mean_iterations /= static_cast<double>(std::max(1L, summary.steps));
  account.green = entry_.traits.exposes;
  account.numbers_exposed = glue_->numbers_exposed();
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
  account.waiting_seconds_per_step = std::max(0.0, waiting - outside * (ranks - 1)) / ranks / steps;
  account.inexpensive = modules > 0.0 ? std::max(0.0, (seconds - outside) * ranks - modules) / modules : 0.0;
  summary.ranks = ranks;
  summary.modules = account;
  if (!watch_ || watch_->first() == nullptr) return;
  if (watch_->first()->switching()) summary.events = watch_->first()->switching()->records();
  for (std::string& warning : watch_->first()->warnings()) summary.warnings.push_back(std::move(warning));
}

}  // namespace linkwork
