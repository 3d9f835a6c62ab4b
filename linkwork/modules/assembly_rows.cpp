#include "linkwork/modules/assembly_rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "linkwork/transport/text.h"

namespace linkwork {

namespace {

std::size_t at(int i) { return static_cast<std::size_t>(i); }

/// Where columns of a kind stand in a row: positions, velocities, accelerations, reactions, energies and errors, sensors.
int kind_of(const std::string& column) {
  constexpr std::array kPrefixes{"q.", "v.", "a.", "lambda.", "force.", "torque.", "energy.", "error."};
  for (std::size_t k = 0; k < kPrefixes.size(); ++k)
    if (column.starts_with(kPrefixes[k])) return static_cast<int>(k);
  return static_cast<int>(kPrefixes.size());
}

}  // namespace

AssemblyRows::AssemblyRows(Workshop& workshop) {
  const AssemblyPlan& plan = workshop.plan();
  std::string own;
  for (const WorkingModule& module : workshop.modules()) {
    own += fmt::format("{}\n", module.module->columns().size());
    for (const std::string& column : module.module->columns()) own += column + "\n";
  }
  struct Entry {
    int kind, part;  // a connection, or a module behind all connections
    std::size_t number;
    std::string name;
  };
  std::vector<Entry> entries;
  const int connections = static_cast<int>(plan.connections.size());
  const std::vector<int> leaves = workshop.tree().leaves();
  const std::vector<std::string> texts = gather_texts(workshop.transport(), own);
  std::size_t number = 1;  // the first says whether rank 0 objects
  spring_numbers_.resize(plan.springs.size());
  for (int rank = 0; rank < workshop.transport().size(); ++rank) {
    const std::vector<std::string> lines = lines_of(texts[at(rank)]);
    std::size_t line = 0;
    for (int leaf = workshop.placement().begin(rank); leaf < workshop.placement().end(rank); ++leaf) {
      const auto count = std::stoul(lines[line++]);
      for (std::size_t c = 0; c < count; ++c, ++line)
        entries.push_back({kind_of(lines[line]), connections + leaves[at(leaf)], number++, lines[line]});
      energy_numbers_.push_back(number);
      number += 3;
    }
    for (int c = 0; c < connections; ++c) {
      const Connection& connection = plan.connections[at(c)];
      if (owner(workshop, connection.a, connection.b) != rank) continue;
      const auto add = [&](const char* what, const std::string& component) {
        entries.push_back(
            {kind_of(fmt::format("{}.", what)), c, number++, fmt::format("{}.{}.{}", what, connection.name, component)});
      };
      for (const std::string& row : connection.row_names()) add("lambda", row);
      for (const char* const what : {"force", "torque"})
        for (const char* const axis : {"x", "y", "z"}) add(what, axis);
    }
    for (std::size_t s = 0; s < plan.springs.size(); ++s)
      if (owner(workshop, plan.springs[s].a, plan.springs[s].b) == rank) spring_numbers_[s] = number++;
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
}

Status AssemblyRows::record(Workshop& workshop, Glue& glue, double t, bool& objects, std::vector<double>& row) {
  const AssemblyPlan& plan = workshop.plan();
  if (workshop.rank() == 0) output_[0] = objects ? 1.0 : 0.0;
  double* to = output_.data() + (workshop.rank() == 0 ? 1 : output_ends_[at(workshop.rank() - 1)]);
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
    to = std::copy_n(result.lambda.begin(), connection.row_count(), to);
    for (const Vec3<double>& reaction : {result.force, result.torque}) to = std::copy_n(reaction.data(), 3, to);
  }
  for (std::size_t s = 0; s < plan.springs.size(); ++s)
    if (owner(workshop, plan.springs[s].a, plan.springs[s].b) == workshop.rank()) *to++ = glue.spring_potentials()[s];
  workshop.transport().gather(output_, output_ends_);
  objects = output_[0] != 0.0;
  if (objects) return {};

  row.resize(columns_.size());
  row[0] = t;
  for (const auto& [column, number] : column_numbers_) row[column] = output_[number];
  double kinetic = 0.0, potential = 0.0, work = 0.0, springs = 0.0;
  for (const std::size_t number : energy_numbers_)
    kinetic += output_[number], potential += output_[number + 1], work += output_[number + 2];
  for (const std::size_t number : spring_numbers_) springs += output_[number];
  const std::array totals{kinetic, potential + springs, kinetic + potential + springs, glue.errors().position,
                          glue.errors().velocity};
  std::ranges::copy(totals, row.begin() + static_cast<std::ptrdiff_t>(first_total_));
  energies_ = {kinetic, potential, work};
  return {};
}

}  // namespace linkwork
