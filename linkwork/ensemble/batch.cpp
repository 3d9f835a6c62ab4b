#include "linkwork/ensemble/batch.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "linkwork/ensemble/ensemble_model.h"
#include "linkwork/ensemble/no_value.h"
#include "linkwork/ensemble/work_sharing.h"
#include "linkwork/front/mechanism_parts.h"
#include "linkwork/lanes/lane_group.h"
#include "linkwork/simulation/simulation_error.h"

namespace linkwork {
namespace {

constexpr int kMost = 1'000'000;
constexpr int kPerTask = 4;  // units that a thread takes at a time
constexpr const char* kEndedByEvent = "ended by an event";

}  // namespace

struct Batch::Parts {
  Mechanism mechanism;
  int threads;
  std::vector<std::unique_ptr<Run>> runs = {};
  std::vector<std::string> status = {};
  std::vector<std::string> positions = {}, velocities = {}, inputs = {};
  std::vector<double> t = {}, q = {}, v = {}, u = {};
  std::vector<double> set = {};  // inputs as the runs have them
  /// Instances that are stepped together, in lanes; or one, alone.
  struct Unit {
    std::vector<int> instances;
    bool in_lanes = false;
    std::unique_ptr<LaneGroup> group = {};  // null: to be made
    std::vector<LaneGroup::Memory> known = {};
  };
  std::vector<Unit> units = {};
  int in_lanes = 0;
  std::string obstacle = {};

  /// Does something with each of some instances, or of the units, on the threads.
  template <class Each, class Act>
  bool for_each(const std::vector<Each>& all, Act&& act, const std::function<bool()>& go_on = {}) const {
    const auto count = static_cast<int>(all.size());
    const auto some = [&](long task, const std::function<bool()>& goes_on) {
      const int begin = static_cast<int>(task) * kPerTask;
      for (int k = begin; k < std::min(begin + kPerTask, count) && goes_on(); ++k) act(all[static_cast<std::size_t>(k)], goes_on);
      return std::string();
    };
    const long tasks = (count + kPerTask - 1) / kPerTask;
    SharedWork work{.end = tasks, .threads = static_cast<int>(std::clamp(tasks, 1L, static_cast<long>(threads)))};
    work.work = some;
    work.take = [](long, const std::string&) {};
    work.go_on = go_on;
    return share_work(work, nullptr);
  }

  std::vector<int> all_of(const std::vector<int>& some) const {
    std::vector<int> instances = some;
    if (some.empty()) {
      instances.resize(runs.size());
      std::iota(instances.begin(), instances.end(), 0);
    }
    for (const int i : instances)
      if (i < 0 || i >= std::ssize(runs))
        throw InputError({}, fmt::format("there is no instance {}", i), fmt::format("0 to {}", runs.size() - 1));
    return instances;
  }

  void read_state(int i) {
    const State state = runs[static_cast<std::size_t>(i)]->state();
    t[static_cast<std::size_t>(i)] = state.t;
    std::copy(state.q.begin(), state.q.end(), q.begin() + static_cast<std::ptrdiff_t>(positions.size()) * i);
    std::copy(state.v.begin(), state.v.end(), v.begin() + static_cast<std::ptrdiff_t>(velocities.size()) * i);
  }

  void give_inputs(int i) {
    Run& run = *runs[static_cast<std::size_t>(i)];
    for (std::size_t k = 0; k < inputs.size(); ++k) {
      const std::size_t at = static_cast<std::size_t>(i) * inputs.size() + k;
      if (u[at] == set[at] || (std::isnan(u[at]) && std::isnan(set[at]))) continue;
      if (std::isnan(u[at]))
        run.input(inputs[k]).release();
      else
        run.input(inputs[k]) = u[at];
      set[at] = u[at];
    }
  }

  /// Puts instances that can be stepped together into units.
  void make_units(bool lanes) {
    std::vector<std::size_t> open;  // units that take more
    for (int i = 0; i < std::ssize(runs); ++i) {
      Simulation& simulation = simulation_of(*runs[static_cast<std::size_t>(i)]);
      const std::string why = lanes ? linkwork::obstacle_to_lanes(simulation) : "it was asked for so";
      if (!why.empty()) {
        if (obstacle.empty()) obstacle = why;
        units.push_back({{i}});
        continue;
      }
      ++in_lanes;
      const auto fits = [&](std::size_t unit) {
        return fit_into_lanes(simulation_of(*runs[static_cast<std::size_t>(units[unit].instances.front())]), simulation);
      };
      const auto found = std::ranges::find_if(open, fits);
      if (found == open.end()) {
        open.push_back(units.size());
        units.push_back({{i}, true});
        continue;
      }
      units[*found].instances.push_back(i);
      if (units[*found].instances.size() == LaneGroup::most()) open.erase(found);
    }
  }

  void step_alone(int i, long count, const std::function<bool()>& goes_on) {
    attempt(i, [&](Run& run) {
      give_inputs(i);
      for (long k = 0; k < count && goes_on(); ++k)
        if (!run.step()) {
          status[static_cast<std::size_t>(i)] = kEndedByEvent;
          break;
        }
    });
  }

  void step_in_lanes(Unit& unit, long count, const std::function<bool()>& goes_on) {
    if (!unit.group) {
      std::vector<Simulation*> simulations;
      for (const int i : unit.instances) simulations.push_back(&simulation_of(*runs[static_cast<std::size_t>(i)]));
      unit.group = std::make_unique<LaneGroup>(simulations, unit.known);
    }
    LaneGroup::Some wanted{};
    for (std::size_t k = 0; k < unit.instances.size(); ++k) {
      const int i = unit.instances[k];
      if (!status[static_cast<std::size_t>(i)].empty()) continue;
      attempt(i, [&](Run& run) {
        give_inputs(i);
        wanted[k] = unit.group->begin(k, std::numeric_limits<double>::infinity());
        if (!wanted[k]) status[static_cast<std::size_t>(i)] = run.summary().status;
      });
    }
    for (long step = 0; step < count && goes_on(); ++step) {
      for (std::size_t k = 0; k < unit.instances.size(); ++k)
        if (wanted[k] && unit.group->has_ended(k))
          status[static_cast<std::size_t>(unit.instances[k])] = kEndedByEvent, wanted[k] = false;
      const LaneGroup::Some before = wanted;
      unit.group->step(wanted);
      for (std::size_t k = 0; k < unit.instances.size(); ++k)
        if (const auto i = static_cast<std::size_t>(unit.instances[k]); before[k] && !wanted[k])
          status[i] = runs[i]->summary().status;
    }
  }

  /// The simulations of some instances are others now.
  static void forget(Unit& unit, const std::vector<char>& is_reset) {
    const auto is_other = [&](int i) { return is_reset[static_cast<std::size_t>(i)] != 0; };
    if (!unit.group || std::ranges::none_of(unit.instances, is_other)) return;
    unit.known.clear();
    for (std::size_t k = 0; k < unit.instances.size(); ++k)
      unit.known.push_back(is_other(unit.instances[k]) ? LaneGroup::Memory{} : unit.group->memory(k));
    unit.group.reset();
  }

  /// What fails is the instance's own affair.
  template <class Act>
  void attempt(int i, Act act) {
    std::string& why = status[static_cast<std::size_t>(i)];
    try {
      act(*runs[static_cast<std::size_t>(i)]);
    } catch (const SimulationError& error) {
      why = error.what();
    } catch (const InputError& error) {
      why = error.what();
    }
  }
};

Batch::Batch(const Mechanism& mechanism, int count, const InstanceParameters& parameters, const RunOptions& options, int threads,
             bool lanes)
    : parts_(std::make_unique<Parts>(Parts{.mechanism = mechanism, .threads = std::max(1, threads)})) {
  if (count < 1 || count > kMost)
    throw InputError({}, fmt::format("a batch of {} instances", count), fmt::format("1 to {}", kMost));
  std::vector<std::string> names;
  std::optional<EnsembleModel> model;
  if (!parameters.empty()) model.emplace(mechanism, [](Settings&) {});
  for (const auto& [name, values] : parameters) {
    model->check_parameter(name, name);
    if (std::ssize(values) != count)
      throw InputError({name, 0, 0}, fmt::format("has {} values", values.size()),
                       fmt::format("{}, one for each instance", count));
    for (const double value : values)
      if (!std::isfinite(value)) throw InputError({name, 0, 0}, fmt::format("has the value {}", value), "finite numbers");
    names.push_back(name);
  }
  Parts& all = *parts_;
  const auto size = static_cast<std::size_t>(count);
  all.runs.resize(size);
  all.status.resize(size);
  const auto make = [&](int i) {
    if (!model) return i == 0 ? std::make_unique<Run>(mechanism, options) : std::make_unique<Run>(all.runs.front()->another());
    std::vector<double> values;
    for (const auto& [name, each] : parameters) values.push_back(each[static_cast<std::size_t>(i)]);
    try {
      return std::make_unique<Run>(Mechanism(model->read(names, values)), options);
    } catch (const InputError& error) {
      throw InputError({}, fmt::format("instance {}: {}", i, error.what()));
    }
  };
  all.runs.front() = make(0);  // what is wrong with all of them is told once
  const Mechanism& first = all.runs.front()->mechanism();
  all.positions = first.positions(), all.velocities = first.velocities(), all.inputs = first.inputs();
  std::vector<int> others = all.all_of({});
  others.erase(others.begin());
  all.for_each(others, [&](int i, const std::function<bool()>&) { all.runs[static_cast<std::size_t>(i)] = make(i); });
  if (!parameters.empty())
    for (std::size_t i = 0; i < size; ++i)
      if (all.runs[i]->mechanism().positions() != all.positions || all.runs[i]->mechanism().inputs() != all.inputs)
        throw InputError({}, fmt::format("instance {} has other joints than the first", i),
                         "parameters that leave the structure");
  all.t.resize(size);
  all.q.resize(size * all.positions.size());
  all.v.resize(size * all.velocities.size());
  all.u.assign(size * all.inputs.size(), kNoValue);
  all.set = all.u;
  for (int i = 0; i < count; ++i) all.read_state(i);
  all.make_units(lanes);
}

Batch::~Batch() = default;

int Batch::size() const { return static_cast<int>(parts_->runs.size()); }
int Batch::threads() const { return parts_->threads; }
int Batch::in_lanes() const { return parts_->in_lanes; }
const std::string& Batch::obstacle_to_lanes() const { return parts_->obstacle; }
const std::vector<std::string>& Batch::positions() const { return parts_->positions; }
const std::vector<std::string>& Batch::velocities() const { return parts_->velocities; }
const std::vector<std::string>& Batch::inputs() const { return parts_->inputs; }
std::span<const double> Batch::t() const { return parts_->t; }
std::span<const double> Batch::q() const { return parts_->q; }
std::span<const double> Batch::v() const { return parts_->v; }
std::span<double> Batch::u() { return parts_->u; }
bool Batch::is_live(int instance) const { return status(instance).empty(); }
const std::string& Batch::status(int instance) const { return parts_->status.at(static_cast<std::size_t>(instance)); }

bool Batch::step(long count, const std::function<bool()>& go_on) {
  if (count < 0) throw InputError({"count", 0, 0}, fmt::format("is {}", count), "a number of steps");
  std::vector<Parts::Unit*> live;
  for (Parts::Unit& unit : parts_->units)
    if (std::ranges::any_of(unit.instances, [&](int i) { return is_live(i); })) live.push_back(&unit);
  return parts_->for_each(
      live,
      [&](Parts::Unit* unit, const std::function<bool()>& goes_on) {
        if (unit->in_lanes)
          parts_->step_in_lanes(*unit, count, goes_on);
        else
          parts_->step_alone(unit->instances.front(), count, goes_on);
        for (const int i : unit->instances) parts_->read_state(i);
      },
      go_on);
}

void Batch::set_state(std::span<const double> q, std::span<const double> v, const std::vector<int>& instances) {
  const std::vector<int> some = parts_->all_of(instances);
  const std::size_t nq = parts_->positions.size(), nv = parts_->velocities.size();
  if (q.size() != some.size() * nq || v.size() != some.size() * nv)
    throw InputError({}, "the state does not fit the batch",
                     fmt::format("{} x {} positions and {} x {} velocities", some.size(), nq, some.size(), nv));
  const auto is_finite = [](double value) { return std::isfinite(value); };
  if (!std::ranges::all_of(q, is_finite) || !std::ranges::all_of(v, is_finite))
    throw InputError({}, "the state has numbers that are not finite", "finite ones");
  std::vector<std::size_t> place(parts_->runs.size());
  for (std::size_t k = 0; k < some.size(); ++k) place[static_cast<std::size_t>(some[k])] = k;
  parts_->for_each(some, [&](int i, const std::function<bool()>&) {
    const std::size_t k = place[static_cast<std::size_t>(i)];
    parts_->attempt(i, [&](Run& run) {
      State state = run.state();
      state.q = Eigen::Map<const VecX<double>>(q.data() + k * nq, static_cast<Eigen::Index>(nq));
      state.v = Eigen::Map<const VecX<double>>(v.data() + k * nv, static_cast<Eigen::Index>(nv));
      run.set_state(state);
    });
    parts_->read_state(i);
  });
}

void Batch::reset(const std::vector<int>& instances) {
  const std::vector<int> some = parts_->all_of(instances);
  parts_->for_each(some, [&](int i, const std::function<bool()>&) {
    parts_->status[static_cast<std::size_t>(i)].clear();
    parts_->attempt(i, [&](Run& run) { run.reset(); });
    const std::size_t width = parts_->inputs.size(), first = static_cast<std::size_t>(i) * width;
    for (std::size_t k = first; k < first + width; ++k) parts_->u[k] = parts_->set[k] = kNoValue;
    parts_->read_state(i);
  });
  std::vector<char> is_reset(parts_->runs.size(), 0);
  for (const int i : some) is_reset[static_cast<std::size_t>(i)] = 1;
  for (Parts::Unit& unit : parts_->units) parts_->forget(unit, is_reset);
}

std::vector<double> Batch::value(const std::string& column) {
  if (std::ranges::find(columns(), column) == columns().end()) throw unknown_name({}, "column", column, columns());
  std::vector<double> values(parts_->runs.size(), kNoValue);
  parts_->for_each(parts_->all_of({}), [&](int i, const std::function<bool()>&) {
    const auto at = static_cast<std::size_t>(i);
    const std::string before = parts_->status[at];
    parts_->attempt(i, [&](Run& run) { values[at] = run.value(column); });
    if (!before.empty()) parts_->status[at] = before;
  });
  return values;
}

const std::vector<std::string>& Batch::columns() const { return parts_->runs.front()->columns(); }

}  // namespace linkwork
