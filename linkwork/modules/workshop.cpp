#include "linkwork/modules/workshop.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <map>

#include "linkwork/transport/text.h"

namespace linkwork {

namespace {

using Clock = std::chrono::steady_clock;

/// Sums tell: what is not finite stays so.
template <class... Numbers>
bool are_finite(const Numbers&... numbers) {
  return std::isfinite((numbers.sum() + ...));
}

double since(Clock::time_point before) { return std::chrono::duration<double>(Clock::now() - before).count(); }

}  // namespace

Workshop::Workshop(const AssemblyPlan& plan, const std::vector<int>& leaves, const GroupPlan& groups, Placement placement,
                   Transport& transport)
    : plan_(plan), leaves_(leaves), groups_(groups), placement_(std::move(placement)), transport_(transport) {
  const int first = plan.is_whole() ? 0 : placement_.begin(rank());
  for (std::size_t i = 0; i < leaves.size(); ++i) leaf_of_.emplace_back(leaves[i], first + static_cast<int>(i));
  std::ranges::sort(leaf_of_);
  modules_.reserve(static_cast<std::size_t>(placement_.end(rank()) - placement_.begin(rank())));
  for (int leaf = placement_.begin(rank()); leaf < placement_.end(rank()); ++leaf) {
    const int index = leaves[static_cast<std::size_t>(leaf - first)];
    modules_.emplace_back(index, plan.module(index));
    if (modules_.back().module->is_elsewhere()) elsewhere_.push_back(modules_.size() - 1);
  }
}

bool Workshop::has(int module) const {
  if (plan_.is_whole()) return placement_.rank_of(leaf_of(module)) == rank();
  return std::ranges::binary_search(leaf_of_, module, {}, &std::pair<int, int>::first);
}

int Workshop::leaf_of(int module) const {
  if (plan_.is_whole()) return leaf_of_[static_cast<std::size_t>(module)].second;
  return std::ranges::lower_bound(leaf_of_, module, {}, &std::pair<int, int>::first)->second;
}

void Workshop::report(const WorkingModule& module, const std::string& trouble) {
  report(fmt::format("module '{}'", module.name), trouble);
}

void Workshop::report(const std::string& who, const std::string& trouble) {
  if (trouble_.empty()) trouble_ = who + ": " + trouble;
}

std::string Workshop::everyones_trouble() {
  std::string all;
  for (const Said& said : all_said(transport_, trouble_)) all += (all.empty() ? "" : "; ") + said.text;
  return all;
}

std::string Workshop::everyones_name(int module) {
  const auto here = std::ranges::find(modules_, module, &WorkingModule::index);
  const std::vector<Said> said = all_said(transport_, here == modules_.end() ? "" : here->name);
  return said.empty() ? "" : said.front().text;
}

template <class Ask>
void Workshop::for_each(Ask ask) {
  const auto before = Clock::now();
  for (std::size_t i = 0; i < modules_.size(); ++i)
    if (const Status status = ask(modules_[i], i); !status.ok()) report(modules_[i], status.trouble);
  seconds_ += since(before);
}

std::string Workshop::lost() const {
  for (const std::size_t i : elsewhere_)
    if (const std::string why = modules_[i].module->lost(); !why.empty())
      return fmt::format("module '{}': {}", modules_[i].name, why);
  return {};
}

long Workshop::round_trips() const {
  std::map<const void*, long> trips;
  for (const std::size_t i : elsewhere_) {
    const Module& module = *modules_[i].module;
    trips[module.host()] = std::max(trips[module.host()], module.round_trips());
  }
  long sum = 0;
  for (const auto& [host, count] : trips) sum += count;
  return sum;
}

void Workshop::ask_kinematics(double t, const States& x, Level level) {
  t_ = t;
  expect([&](WorkingModule& at, std::size_t i) { at.module->expect(t, x[i], level); });
  for_each([&](WorkingModule& at, std::size_t i) { return at.module->kinematics(t, x[i], at.motion); });
}

void Workshop::ask_response(Level level) {
  for_each([&](WorkingModule& at, std::size_t) {
    Status status = at.module->response(level, at.response);
    if (status.ok() && !are_finite(at.response.R, at.response.D))
      status.trouble = fmt::format("its response at t = {:.9g} s is not a finite number", t_);
    return status;
  });
}

void Workshop::advance(Level level, States& out) {
  for_each([&](WorkingModule& at, std::size_t i) {
    Status status = at.module->advance(level, at.Q, out[i]);
    if (status.ok() && !are_finite(out[i]))
      status.trouble = fmt::format("its {} at t = {:.9g} s is not a finite number",
                                   level == Level::kAcceleration ? "rate of change" : "state", t_);
    return status;
  });
}

std::vector<double> measured_costs(Workshop& workshop, const States& x) {
  constexpr int kRepetitions = 5;
  std::vector<double> cost(static_cast<std::size_t>(workshop.leaf_count()), 0.0);
  const int first = workshop.placement().begin(workshop.rank());
  for (std::size_t i = 0; i < workshop.modules().size(); ++i) {
    WorkingModule& at = workshop.modules()[i];
    VecX<double> rates(x[i].size());
    double shortest = std::numeric_limits<double>::infinity();
    for (int k = 0; k < kRepetitions; ++k) {
      const auto before = Clock::now();
      Status status = at.module->kinematics(0.0, x[i], at.motion);
      if (status.ok()) status = at.module->response(Level::kAcceleration, at.response);
      if (status.ok()) status = at.module->advance(Level::kAcceleration, at.Q, rates);
      shortest = std::min(shortest, since(before));
    }
    cost[static_cast<std::size_t>(first) + i] = std::max(shortest, 1e-9);
  }
  workshop.transport().gather(cost, workshop.placement().ends);
  return cost;
}

}  // namespace linkwork
