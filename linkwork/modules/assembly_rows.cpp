#include "linkwork/modules/assembly_rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "linkwork/linalg/index.h"
#include "linkwork/simulation/columns.h"
#include "linkwork/transport/text.h"

namespace linkwork {

namespace {

/// Where columns stand in a row: by group, torques after forces and powers after efforts.
int place_of(const std::string& column) {
  const bool last = column.starts_with("torque.") || column.starts_with("power.");
  return 2 * static_cast<int>(group_of(column)) + (last ? 1 : 0);
}

}  // namespace

AssemblyRows::AssemblyRows(Workshop& workshop, Glue& glue) {
  const AssemblyPlan& plan = workshop.plan();
  const ColumnChoice choice(plan.settings);
  multipliers_ = choice.may_have(ColumnGroup::kMultipliers);
  reactions_ = choice.may_have(ColumnGroup::kReactions);
  efforts_ = choice.may_have(ColumnGroup::kEfforts);
  std::string own;
  for (const WorkingModule& module : workshop.modules()) {
    own += fmt::format("{}\n", module.module->columns().size());
    for (const std::string& column : module.module->columns()) own += column + "\n";
  }
  const Hierarchy* const coupled = glue.coupled();
  for (std::size_t k = 0; k < plan.couplings.size(); ++k) {
    if (!coupled->is_owner(k)) continue;
    own += fmt::format("{}\n", coupled->couplings()[k]->columns().size());
    for (const std::string& column : coupled->couplings()[k]->columns()) own += column + "\n";
  }
  struct Entry {
    int place, part;     // a connection or spring, or a module or coupling behind all of them
    std::size_t number;  // in the output; 0: it is none, but follows from others
    std::string name;
  };
  std::vector<Entry> entries;
  const int connections = static_cast<int>(plan.connections.size());
  const std::vector<int> leaves = workshop.tree().leaves();
  const std::vector<std::string> texts = gather_texts(workshop.transport(), own);
  std::size_t number = 1;  // the first says whether rank 0 objects
  potential_numbers_.resize(plan.springs.size() + plan.couplings.size());
  springs_.resize(plan.springs.size());
  for (int rank = 0; rank < workshop.transport().size(); ++rank) {
    const std::vector<std::string> lines = lines_of(texts[at(rank)]);
    std::size_t line = 0;
    for (int leaf = workshop.placement().begin(rank); leaf < workshop.placement().end(rank); ++leaf) {
      const auto count = std::stoul(lines[line++]);
      for (std::size_t c = 0; c < count; ++c, ++line)
        entries.push_back({place_of(lines[line]), connections + leaves[at(leaf)], number++, lines[line]});
      energy_numbers_.push_back(number);
      number += 3;
    }
    for (int c = 0; c < connections; ++c) {
      const Connection& connection = plan.connections[at(c)];
      if (owner(workshop, connection.a, connection.b) != rank) continue;
      const auto add = [&](const char* what, const std::string& component) {
        entries.push_back(
            {place_of(fmt::format("{}.", what)), c, number++, fmt::format("{}.{}.{}", what, connection.name, component)});
      };
      for (const std::string& row : connection.row_names())
        if (multipliers_) add("lambda", row);
      for (const char* const what : {"force", "torque"})
        for (const char* const axis : {"x", "y", "z"})
          if (reactions_) add(what, axis);
    }
    for (std::size_t s = 0; s < plan.springs.size(); ++s)
      if (owner(workshop, plan.springs[s].a, plan.springs[s].b) == rank) potential_numbers_[s] = number++;
    for_each_end(workshop, rank, [&](std::size_t s, bool is_b) {
      (is_b ? springs_[s].b : springs_[s].a) = number;
      number += 6;
    });
    for (std::size_t k = 0; k < plan.couplings.size(); ++k) {
      if (coupled->owners()[k] != rank) continue;
      const auto count = std::stoul(lines[line++]);
      const int part = connections + static_cast<int>(plan.modules.size() + k);
      for (std::size_t c = 0; c < count; ++c, ++line) entries.push_back({place_of(lines[line]), part, number++, lines[line]});
      potential_numbers_[plan.springs.size() + k] = number++;
    }
    output_ends_.push_back(static_cast<int>(number));
  }
  for (const SpringLink& spring : plan.springs)
    for (const char* const what : {"effort.", "power."})
      if (efforts_) entries.push_back({place_of(what), 0, 0, what + spring.name});
  output_.assign(number, 0.0);
  std::ranges::stable_sort(
      entries, [](const Entry& a, const Entry& b) { return std::pair(a.place, a.part) < std::pair(b.place, b.part); });
  columns_ = {"t"};
  const auto add_totals = [&] {
    first_total_ = columns_.size();
    for (const char* const name : {"energy.kinetic", "energy.potential", "energy.total", "error.position", "error.velocity"})
      columns_.emplace_back(name);
  };
  std::size_t next_effort = 0, next_power = 0;
  for (const Entry& entry : entries) {
    if (first_total_ == 0 && entry.place > place_of("energy.")) add_totals();
    if (entry.number > 0)
      column_numbers_.emplace_back(columns_.size(), entry.number);
    else if (entry.name.starts_with("effort."))
      springs_[next_effort++].effort = columns_.size();
    else
      springs_[next_power++].power = columns_.size();
    columns_.push_back(entry.name);
  }
  if (first_total_ == 0) add_totals();
}

Status AssemblyRows::record(Workshop& workshop, Glue& glue, double t, bool& objects, std::vector<double>& row) {
  const AssemblyPlan& plan = workshop.plan();
  if (workshop.rank() == 0) output_[0] = objects ? 1.0 : 0.0;
  double* to = output_.data() + (workshop.rank() == 0 ? 1 : output_ends_[at(workshop.rank() - 1)]);
  workshop.expect([](WorkingModule& module, std::size_t) { module.module->expect_record(module.Q); });
  for (WorkingModule& module : workshop.modules()) {
    const std::size_t count = module.module->columns().size();
    if (const Status status = module.module->record(module.Q, {to, count}); !status.ok()) workshop.report(module, status.trouble);
    to += count;
    const ModuleEnergy energy = module.module->energy();
    *to++ = energy.kinetic, *to++ = energy.potential, *to++ = energy.work;
  }
  for (std::size_t c = 0; c < plan.connections.size(); ++c) {
    const Connection& connection = plan.connections[c];
    if (owner(workshop, connection.a, connection.b) != workshop.rank()) continue;
    const ConnectionResult& result = glue.results()[c];
    if (multipliers_) to = std::copy_n(result.lambda.begin(), connection.row_count(), to);
    if (!reactions_) continue;
    for (const Vec3<double>& reaction : {result.force, result.torque}) to = std::copy_n(reaction.data(), 3, to);
  }
  for (std::size_t s = 0; s < plan.springs.size(); ++s)
    if (owner(workshop, plan.springs[s].a, plan.springs[s].b) == workshop.rank()) *to++ = glue.spring_potentials()[s];
  for_each_end(workshop, workshop.rank(), [&](std::size_t s, bool is_b) {
    const PortRef& port = is_b ? plan.springs[s].b : plan.springs[s].a;
    const PortMotion& motion = workshop.module(port.module).motion[at(port.port)];
    for (const Vec3<double>& x : {motion.p, motion.v}) to = std::copy_n(x.data(), 3, to);
  });
  const Hierarchy* const coupled = glue.coupled();
  for (std::size_t k = 0; k < plan.couplings.size(); ++k) {
    if (!coupled->is_owner(k)) continue;
    Coupling& coupling = *coupled->couplings()[k];
    const std::size_t count = coupling.columns().size();
    if (const Status status = coupling.record(coupled->accelerations(k), {to, count}); !status.ok())
      workshop.report(fmt::format("'{}' between modules", coupling.plan().name), status.trouble);
    to += count;
    *to++ = coupling.potential();
  }
  workshop.transport().gather(output_, output_ends_);
  objects = output_[0] != 0.0;
  if (objects) return {};

  row.resize(columns_.size());
  row[0] = t;
  for (const auto& [column, number] : column_numbers_) row[column] = output_[number];
  if (efforts_) set_springs(plan, row);
  double kinetic = 0.0, potential = 0.0, work = 0.0, springs = 0.0;
  for (const std::size_t number : energy_numbers_)
    kinetic += output_[number], potential += output_[number + 1], work += output_[number + 2];
  for (const std::size_t number : potential_numbers_) springs += output_[number];
  const std::array totals{kinetic, potential + springs, kinetic + potential + springs, glue.errors().position,
                          glue.errors().velocity};
  std::ranges::copy(totals, row.begin() + static_cast<std::ptrdiff_t>(first_total_));
  energies_ = {kinetic, potential, work};
  return {};
}

template <class Visit>
void AssemblyRows::for_each_end(const Workshop& workshop, int rank, Visit visit) const {
  const std::vector<SpringLink>& springs = workshop.plan().springs;
  for (std::size_t s = 0; efforts_ && s < springs.size(); ++s)
    for (const bool is_b : {false, true})
      if (const PortRef& port = is_b ? springs[s].b : springs[s].a; !port.is_ground() && workshop.rank_of(port.module) == rank)
        visit(s, is_b);
}

/// All ranks do the same with the same numbers.
void AssemblyRows::set_springs(const AssemblyPlan& plan, std::vector<double>& row) const {
  const auto end_at = [&](std::size_t number, const Pose<double>& ground) -> std::pair<Vec3<double>, Vec3<double>> {
    if (number == 0) return {ground.p, Vec3<double>::Zero()};
    return {Eigen::Map<const Vec3<double>>(&output_[number]), Eigen::Map<const Vec3<double>>(&output_[number + 3])};
  };
  for (std::size_t s = 0; s < springs_.size(); ++s) {
    const SpringLink& spring = plan.springs[s];
    const auto [p_a, v_a] = end_at(springs_[s].a, spring.ground_a);
    const auto [p_b, v_b] = end_at(springs_[s].b, spring.ground_b);
    const double length = (p_b - p_a).norm();
    const double rate = length > 0.0 ? (p_b - p_a).dot(v_b - v_a) / length : 0.0;
    const double pull = spring.stiffness * (length - spring.length) + spring.damping * rate;
    row[springs_[s].effort] = pull;
    row[springs_[s].power] = -pull * rate;
  }
}

}  // namespace linkwork
