#include "linkwork/modules/assembly_system.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <tuple>
#include <utility>

#include "linkwork/dynamics/integrator.h"
#include "linkwork/formulations/catalog.h"
#include "linkwork/integrators/runge_kutta.h"
#include "linkwork/linalg/index.h"
#include "linkwork/model/settable_input.h"
#include "linkwork/modules/assembly_start.h"
#include "linkwork/modules/glues/catalog.h"
#include "linkwork/modules/own_part.h"
#include "linkwork/modules/scheme.h"
#include "linkwork/transport/rank_tree.h"
#include "linkwork/transport/text.h"

namespace linkwork {

namespace {

/// How little may be left of a row (squared, see rank.h), by itself and compared with elsewhere, before a position counts as
/// nearly singular: the same as in one piece.
constexpr double kVeryWeak = 1e-7, kWeaker = 1e-3;
/// Steps whose iterations are kept for the summary.
constexpr std::size_t kMostHistory = 1000;

Placement placed_by_weight(const std::vector<double>& weights, const std::vector<int>& leaves, int ranks) {
  std::vector<double> cost;
  for (const int module : leaves) cost.push_back(weights[at(module)]);
  return place(cost, ranks);
}

const GlueEntry& find_glue(const Choice& choice) {
  std::vector<CatalogInfo> infos;
  for (const GlueEntry& entry : glues()) infos.push_back(entry.info);
  return glues()[find_choice(infos, choice, "glue")];
}

}  // namespace

bool AssemblySystem::is_exact() const {
  const Choice& formulation = plan_.settings.formulation;
  return entry_.traits.exact &&
         (formulation.name == "auto" || chosen_entry(formulations(), formulation, "formulation").traits.exact);
}

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
    throw InputError(
        plan_.settings.glue.place,
        fmt::format("glue '{}' cannot follow events, contacts, friction or jumps, which the model has", entry_.info.name),
        "glue \"hierarchical\", or \"none\"");
  std::string closed;
  for (const WorkingModule& module : workshop_->modules())
    if (module.module->switched() == nullptr) closed += module.name + "\n";
  if (const std::vector<Said> said = all_said(transport_, closed); !said.empty())
    throw InputError({},
                     fmt::format("the model has events, contacts, friction or jumps, and the module '{}' cannot be told of them",
                                 lines_of(said.front().text).front()),
                     "modules that are model files");
}

void AssemblySystem::choose_integrator() {
  check_integrator(plan_.settings, entry_);
  if (entry_.traits.own_steps && !entry_.traits.uses_tableau) return;
  const Choice& integrator = plan_.settings.integrator;
  const auto found = std::ranges::find(tableaus(), integrator.name, &Tableau::name);
  if (found == tableaus().end() && plan_.starts_at_ports)
    throw InputError(
        integrator.place,
        fmt::format("integrator '{}' needs the states of all modules, and those of modules on other hosts stay there",
                    integrator.name),
        "a Runge-Kutta method, such as rk4 or dopri45");
  if (found == tableaus().end()) return;
  tableau_ = &*found;
  if (!tableau_->error.empty() && !entry_.traits.adaptive)
    throw InputError(
        integrator.place,
        fmt::format("glue '{}' takes fixed steps, and integrator '{}' chooses its own", entry_.info.name, integrator.name),
        "an integrator of fixed steps, such as rk4");
}

std::unique_ptr<Integrator> AssemblySystem::make_integrator() {
  if (entry_.traits.own_steps) return std::make_unique<Stepping>(*this);
  if (tableau_) return make_runge_kutta(*tableau_);
  numbers_ = std::make_unique<AssemblyNumbers>(*workshop_);
  return make_shared_integrator(plan_.settings, *numbers_);
}

/// All ranks come to the same conclusion.
void AssemblySystem::check_modules() {
  std::string closed;
  for (const WorkingModule& module : workshop_->modules())
    if ((entry_.traits.needs_equations && !module.module->equations()) ||
        (entry_.traits.needs_gliding && !module.module->glides()))
      closed += module.name + "\n";
  std::vector<std::string> names;
  for (const Said& said : all_said(workshop_->transport(), closed))
    for (std::string& name : lines_of(said.text)) names.push_back(std::move(name));
  check_metric();
  if (!names.empty())
    throw InputError(plan_.settings.glue.place,
                     fmt::format("glue '{}' needs to see {}, which not every module shows: {}", entry_.info.name,
                                 entry_.traits.exposes, listed(names)),
                     "glue \"hierarchical\" or \"compliance\"");
}

/// The same for drift control that measures changes by coordinates, which modules of a program may not have.
void AssemblySystem::check_metric() {
  if (drift_control(plan_.settings).by_mass) return;
  std::string closed;
  for (const WorkingModule& module : workshop_->modules())
    if (!module.module->measure_changes(false, plan_.length)) closed += module.name + "\n";
  if (const std::vector<Said> said = all_said(workshop_->transport(), closed); !said.empty())
    throw InputError(plan_.settings.stabilization.place,
                     fmt::format("stabilization '{}' measures changes by coordinates, and the module '{}' only by its masses",
                                 plan_.settings.stabilization.name, lines_of(said.front().text).front()),
                     "the option mass=1");
}

/// Where modules and groups are. With many ranks each keeps its own part of the plan, before it hears of others: then there is no
/// time at which all of them have the whole.
void AssemblySystem::plan_modules() {
  const auto option = [&](const char* name, double otherwise) { return options_.contains(name) ? options_.at(name) : otherwise; };
  const double tree_levels = option("tree", -1.0);  // -1: whatever costs least
  const bool by_part = entry_.traits.needs_own_part_only && plan_.couplings.empty() && !plan_.watched && !plan_.starts_at_ports &&
                       is_plain() && tree_levels != 0.0 && transport_.size() >= plan_.keeps_whole_below;
  const auto way = [&] {
    if (tree_levels == 0.0) return Way{};
    if (tree_levels > 0.0) return Way{Scheme::kTree, static_cast<int>(tree_levels)};
    return cheapest_way(transport_, plan_.module_count(), by_part);
  };
  const bool balanced_only = option("nesting", 1.0) == 0.0;
  if (by_part) {
    make_modules(keep_part(way(), balanced_only));
    return;
  }
  plan_.list_all();
  for (std::size_t c = 0; c < plan_.connections.size(); ++c) plan_.connections[c].number = static_cast<int>(c);
  const AssemblyOutline outline = outline_of(plan_);
  const GroupTree tree = make_group_tree(outline.nest, outline.weights, outline.joined(), balanced_only);
  leaves_ = tree.leaves();
  place_modules();
  groups_ = plan_groups(outline, tree, workshop_->placement(), transport_.rank(), way());
}

/// The outline of all modules and the tree are gone when it returns; no other rank is waited for meanwhile.
Placement AssemblySystem::keep_part(const Way& way, bool balanced_only) {
  const AssemblyOutline outline = outline_of(plan_);
  const GroupTree tree = make_group_tree(outline.nest, outline.weights, outline.joined(), balanced_only);
  const std::vector<int> leaves = tree.leaves();
  Placement placement = placed_by_weight(outline.weights, leaves, transport_.size());
  const int rank = transport_.rank();
  groups_ = plan_groups(outline, tree, placement, rank, way);
  leaves_.assign(leaves.begin() + placement.begin(rank), leaves.begin() + placement.end(rank));
  keep_own_part(plan_, groups_, leaves_);
  return placement;
}

/// First by weight, then by what modules are measured to cost, if that promises much.
void AssemblySystem::place_modules() {
  constexpr double kMuchBetter = 0.95;
  make_modules(placed_by_weight(outline_of(plan_).weights, leaves_, transport_.size()));
  if (transport_.size() == 1) return;
  const std::vector<double> cost = measured_costs(*workshop_, start_);
  Placement better = place(cost, transport_.size());
  const bool much = most_expensive(better, cost) < kMuchBetter * most_expensive(workshop_->placement(), cost);
  // Formulations may remember what they were asked: then modules are made anew in any case, as if nothing had been measured.
  if (!much) better = workshop_->placement();
  if (much || !is_plain()) make_modules(better);
}

/// At their start.
void AssemblySystem::make_modules(const Placement& placement) {
  std::string trouble;
  try {
    workshop_ = std::make_unique<Workshop>(plan_, leaves_, groups_, placement, transport_);
  } catch (const InputError& error) {
    trouble = error.what();
  }
  if (const std::vector<Said> said = all_said(transport_, trouble); !said.empty()) throw InputError({}, said.front().text);
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
    for_each_coupling([&input = name, to = value](std::size_t, Coupling& coupling) { coupling.set_input(input, to); });
    if (watch_) watch_->set_input(name, value);
  }
}

void AssemblySystem::spread(const VecX<double>& y, States& x) const {
  Eigen::Index first = 0;
  for (VecX<double>& own : x) {
    copy_numbers(y.data() + first, own.size(), own.data());
    first += own.size();
  }
}

void AssemblySystem::collect(const States& x, VecX<double>& y) const {
  Eigen::Index first = 0;
  for (const VecX<double>& own : x) {
    copy_numbers(own.data(), own.size(), y.data() + first);
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

Status AssemblySystem::evaluate(Moment& at, VecX<double>& rates) { return evaluate_with(at, rates, false); }

/// Not where an evaluation must not be made twice, or costs more than a message.
bool AssemblySystem::settles() const {
  return tableau_ && !entry_.traits.own_steps && !watch_ && !plan_.starts_at_ports && is_plain();
}

Status AssemblySystem::evaluate_with(Moment& at, VecX<double>& rates, bool projects) {
  ++evaluations_;
  evaluated_at_ = at.t;
  energies_.reset();
  spread(at.y, x_);
  Status status = projects ? glue_->project_and_evaluate(at.t, x_, rates_) : glue_->evaluate(at.t, x_, rates_);
  if (!status.ok()) return status;
  for (std::size_t i = 0; i < x_.size(); ++i) workshop_->modules()[i].module->keep_state(x_[i]);
  collect(x_, at.y);
  rates.resize(at.y.size());
  collect(rates_, rates);
  rank_ = glue_->total_rank();
  weakest_ = glue_->weakest();
  most_rank_ = std::max(most_rank_, rank_);
  strongest_ = std::max(strongest_, weakest_);
  return {};
}

Status AssemblySystem::project(Moment& at) {
  spread(at.y, x_);
  const Status status = glue_->project(at.t, x_, false);
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
  if (compared_.front().size() != x_.size()) compared_.fill(x_);
  spread(from, compared_[0]), spread(to, compared_[1]), spread(error, compared_[2]);
  for (std::size_t i = 0; i < x_.size(); ++i) {
    const WorkingModule& module = workshop_->modules()[i];
    const WeighedError weighed =
        module.module->weighed_error(compared_[0][i], compared_[1][i], compared_[2][i], settings.rtol, settings.atol);
    error_sums_.push_back({weighed.sum, weighed.count});
  }
  const auto [sum, count] = glue_->add_up(error_sums_);
  return std::sqrt(sum / std::max(1.0, count));
}

bool AssemblySystem::is_nearly_singular() const {
  return weakest_ < std::max(kVeryWeak, kWeaker * strongest_) || rank_ < most_rank_;
}

double AssemblySystem::seen_until(double t, double until) {
  const Model* const known = plan_.whole ? plan_.whole.get() : plan_.drawn.get();
  if (!laws_) laws_ = std::make_unique<AssemblyLaws>(is_first_rank() ? known : nullptr, transport_);
  return laws_->seen_until(whole(), t, until);
}

// --- start, rows, remarks

Status AssemblySystem::close_start(Moment& at, Summary& summary) {
  spread(at.y, x_);
  const Status status = close_joints(*workshop_, plan_.settings.constraint_tolerance, at.t, x_, summary.notes);
  collect(x_, at.y);
  return status;
}

Status AssemblySystem::start(Moment& at, VecX<double>& rates, Summary& summary, Remarks& remarks) {
  summary.model = plan_.name;
  summary.coordinates = plan_.settings.coordinates.name == "auto" ? "TA" : plan_.settings.coordinates.name;
  summary.formulation = plan_.settings.formulation.name == "auto" ? "schur" : plan_.settings.formulation.name;
  summary.stabilization = plan_.settings.stabilization.name;
  summary.integrator = entry_.traits.own_steps && !tableau_ ? entry_.info.name : plan_.settings.integrator.name;
  summary.glue = entry_.info.name;
  summary.notes = plan_.notes;
  if (plan_.whole) summary.warnings = plan_.whole->warnings;
  if (plan_.starts_at_ports)
    if (const Status status = close_start(at, summary); !status.ok()) return status;
  if (const Status status = evaluate(at, rates); !status.ok()) return status;
  if (watch_)
    if (const Status status = watch_->start(at, rates); !status.ok()) return status;
  if (const Status status = glue_->check(true); !status.ok()) return status;
  find_rank(summary);
  remember_ranks();
  keep_account();
  for (WorkingModule& module : workshop_->modules()) module.module->accept_step(remarks);
  hold(at, rates);
  for_each_coupling([](std::size_t, Coupling& coupling) { coupling.accept_step(); });
  if (const std::vector<Said> said = all_said(workshop_->transport(), glue_->contradiction()); !said.empty())
    return {said.back().text};
  if (!summary.redundant.empty())
    summary.notes.push_back(
        fmt::format("{} of the constraints follow from others: {}", summary.redundant.size(), listed(summary.redundant)));
  return {};
}

void AssemblySystem::find_rank(Summary& summary) {
  std::string redundant;         // names, each after the place where it belongs
  std::array<double, 2> sums{};  // rank and freedoms of the modules
  const int connection_rank = glue_->connection_rank();
  for (const WorkingModule& module : workshop_->modules()) {
    sums[0] += module.module->rank();
    sums[1] += module.module->dof();
    for (const std::string& name : module.module->redundant())
      redundant += fmt::format("0 {} {}\n", workshop_->leaf_of(module.index), name);
  }
  add_whole_numbers(workshop_->transport(), sums);
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
  for (const std::string& text : collect_texts(workshop_->transport(), redundant))
    for (const std::string& line : lines_of(text)) {
      const std::size_t first = line.find(' '), second = line.find(' ', first + 1);
      names.emplace_back(std::stoi(line), std::stoi(line.substr(first)), line.substr(second + 1));
    }
  std::ranges::stable_sort(names, [](const auto& a, const auto& b) {
    return std::pair(std::get<0>(a), std::get<1>(a)) < std::pair(std::get<0>(b), std::get<1>(b));
  });
  for (auto& [kind, number, name] : names) summary.redundant.push_back(std::move(name));
  summary.rank = static_cast<int>(sums[0]) + connection_rank;
  summary.dof = static_cast<int>(sums[1]) - connection_rank;
}

void AssemblySystem::remember_ranks() {
  most_rank_ = rank_;
  strongest_ = weakest_;
  usual_ranks_.clear();
  for (const WorkingModule& module : workshop_->modules()) usual_ranks_.push_back(module.module->rank());
  usual_ranks_.push_back(glue_->known_connection_rank());
}

/// Modules that compute elsewhere must know what they have to keep.
void AssemblySystem::hold(const Moment& at, const VecX<double>& rates) {
  if (std::ranges::none_of(workshop_->modules(), [](const WorkingModule& module) { return module.module->is_elsewhere(); }))
    return;
  spread(at.y, x_);
  spread(rates, rates_);
  for (std::size_t i = 0; i < x_.size(); ++i) workshop_->modules()[i].module->hold(at.t, x_[i], rates_[i]);
}

void AssemblySystem::mark() {
  for (WorkingModule& module : workshop_->modules()) module.module->mark();
}

void AssemblySystem::go_back_to_mark() {
  for (WorkingModule& module : workshop_->modules()) module.module->go_back_to_mark();
}

void AssemblySystem::accept_step(const Moment& at, const VecX<double>& rates, Remarks& remarks) {
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
  if (is_first_rank()) lost("", glue_->known_connection_rank(), usual_ranks_.back());  // all know the same
  hold(at, rates);
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
  return glue_->check(false);
}

Status AssemblySystem::hear(const std::string& objection) { return {said_by_first(workshop_->transport(), objection)}; }

void AssemblySystem::gather(Remarks& remarks) {
  std::string own;
  for (const auto& [t, about, text] : remarks.all()) own += fmt::format("{}\n{}\n{}\n", t, about, text);
  std::vector<Remarks::Remark> all;
  for (const Said& said : all_said(workshop_->transport(), own)) {
    const std::vector<std::string> lines = lines_of(said.text);
    for (std::size_t i = 0; i + 2 < lines.size(); i += 3) all.push_back({std::stod(lines[i]), lines[i + 1], lines[i + 2]});
  }
  std::ranges::stable_sort(all, {}, &Remarks::Remark::t);
  Remarks together;
  for (Remarks::Remark& remark : all) together.add(remark.t, remark.about, std::move(remark.text));
  remarks = std::move(together);
}

std::string AssemblySystem::lost() {
  if (!plan_.starts_at_ports) return {};
  std::string all;
  for (const Said& said : all_said(transport_, workshop_->lost())) all += (all.empty() ? "" : "; ") + said.text;
  return all;
}

// --- ranks, and the end

/// Ranks ask each other about ten times a second: rank 0 measures how many steps that are, and says so with each answer.
bool AssemblySystem::all_go_on(const std::function<bool()>& go_on) {
  constexpr long kMostSteps = 4096;
  constexpr std::chrono::milliseconds kUsual(100);
  if (transport_.size() == 1) return go_on();
  if (--next_question_ > 0) return true;
  const auto now = std::chrono::steady_clock::now();
  if (now - asked_ > 2 * kUsual) question_interval_ = std::max(1L, question_interval_ / 2);
  if (now - asked_ < kUsual / 2) question_interval_ = std::min(kMostSteps, 2 * question_interval_);
  asked_ = now;
  std::array<double, 2> answer{is_first_rank() ? static_cast<double>(question_interval_) : 0.0, go_on() ? 0.0 : 1.0};
  add_whole_numbers(transport_, answer);
  next_question_ = static_cast<long>(answer[0]);
  return answer[1] == 0.0;  // nobody wants to stop
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
  std::array<double, 4> sums{traffic.seconds, module_seconds_before_ + workshop_->seconds_in_modules(), seconds_outside_,
                             static_cast<double>(round_trips_before_ + workshop_->round_trips())};
  combine(workshop_->transport(), sums, add_each);  // in whatever order: they are times
  const auto [waiting, modules, outside, round_trips] = sums;
  if (round_trips > 0.0)
    summary.notes.push_back(fmt::format("{:.0f} round trips to other hosts, {:.3g} per step", round_trips, round_trips / steps));
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
