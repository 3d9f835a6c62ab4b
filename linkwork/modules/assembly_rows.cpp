#include "linkwork/modules/assembly_rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "linkwork/linalg/index.h"
#include "linkwork/simulation/columns.h"
#include "linkwork/transport/text.h"

namespace linkwork {

namespace {

constexpr std::size_t kEnergies = 3, kEndNumbers = 6;  // of a module, and of an end of a spring

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
  const std::string own = own_columns(workshop, glue);
  if (plan.is_whole()) {
    lay_out(plan, gather_texts(workshop.transport(), own));
    return;
  }
  std::string trouble;
  const std::vector<std::string> texts = collect_texts(workshop.transport(), own);
  if (workshop.rank() == 0) {
    lay_out(plan, texts);
    try {
      choice.among(columns_);
    } catch (const InputError& error) {
      trouble = error.what();
    }
  }
  trouble = said_by_first(workshop.transport(), trouble);
  if (!trouble.empty()) throw InputError({}, trouble);
}

/// In the order of the output, for each part: what it is, its number in the plan, how many columns it has, and their names.
std::string AssemblyRows::own_columns(Workshop& workshop, Glue& glue) {
  const AssemblyPlan& plan = workshop.plan();
  std::string own;
  std::size_t numbers = workshop.rank() == 0 ? 1 : 0;
  const auto add = [&](const char* what, std::size_t number, const std::vector<std::string>& columns, std::size_t more) {
    own += fmt::format("{}\n{}\n{}\n", what, number, columns.size());
    for (const std::string& column : columns) own += column + "\n";
    numbers += columns.size() + more;
  };
  for (const WorkingModule& module : workshop.modules()) add("module", at(module.index), module.module->columns(), kEnergies);
  for (const int c : workshop.groups().connections) {
    const Connection& connection = plan.connections[at(c)];
    std::vector<std::string> columns;
    for (const std::string& row : connection.row_names())
      if (multipliers_) columns.push_back(fmt::format("lambda.{}.{}", connection.name, row));
    for (const char* const what : {"force", "torque"})
      for (const char* const axis : {"x", "y", "z"})
        if (reactions_) columns.push_back(fmt::format("{}.{}.{}", what, connection.name, axis));
    add("connection", at(connection.number), columns, 0);
  }
  for (const int s : workshop.groups().springs) add("spring", at(s), {}, 1);
  for_each_end(workshop, [&](std::size_t s, bool is_b) { add(is_b ? "end b" : "end a", s, {}, kEndNumbers); });
  const Hierarchy* const coupled = glue.coupled();
  for (std::size_t k = 0; k < plan.couplings.size(); ++k)
    if (coupled->is_owner(k)) add("coupling", k, coupled->couplings()[k]->columns(), 1);
  own_.assign(numbers, 0.0);
  return own;
}

void AssemblyRows::lay_out(const AssemblyPlan& plan, const std::vector<std::string>& texts) {
  struct Entry {
    int place;                 // of its group of columns
    std::pair<int, int> part;  // connections and springs, then modules, then couplings
    std::size_t number;        // in the output; 0: it is none, but follows from others
    std::string name;
  };
  std::vector<Entry> entries;
  std::size_t number = 1;
  potential_numbers_.resize(plan.springs.size() + plan.couplings.size());
  springs_.resize(plan.springs.size());
  bool joined = false;  // there are connections
  for (const std::string& text : texts) {
    const std::vector<std::string> lines = lines_of(text);
    for (std::size_t line = 0; line < lines.size();) {
      const std::string& what = lines[line];
      const int part = std::stoi(lines[line + 1]);
      const std::size_t count = std::stoul(lines[line + 2]);
      line += 3;
      const int kind = what == "module" ? 1 : what == "coupling" ? 2 : 0;
      joined = joined || what == "connection";
      for (std::size_t c = 0; c < count; ++c, ++line)
        entries.push_back({place_of(lines[line]), {kind, part}, number++, lines[line]});
      if (what == "module") {
        energy_numbers_.push_back(number);
        number += kEnergies;
      } else if (what == "spring") {
        potential_numbers_[at(part)] = number++;
      } else if (what == "coupling") {
        potential_numbers_[plan.springs.size() + at(part)] = number++;
      } else if (what.starts_with("end")) {
        (what == "end b" ? springs_[at(part)].b : springs_[at(part)].a) = number;
        number += kEndNumbers;
      }
    }
    output_ends_.push_back(static_cast<int>(number));
  }
  // Springs stand with the first connection, or without any behind the first module.
  for (const SpringLink& spring : plan.springs)
    for (const char* const what : {"effort.", "power."})
      if (efforts_) entries.push_back({place_of(what), {joined ? 0 : 1, 0}, 0, what + spring.name});
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
  double stops = objects ? 1.0 : 0.0;
  workshop.transport().broadcast({&stops, 1}, 0);
  objects = stops != 0.0;
  if (objects) return {};
  double* to = own_.data() + (workshop.rank() == 0 ? 1 : 0);
  workshop.expect([](WorkingModule& module, std::size_t) { module.module->expect_record(module.Q); });
  for (WorkingModule& module : workshop.modules()) {
    const std::size_t count = module.module->columns().size();
    if (const Status status = module.module->record(module.Q, {to, count}); !status.ok()) workshop.report(module, status.trouble);
    to += count;
    const ModuleEnergy energy = module.module->energy();
    *to++ = energy.kinetic, *to++ = energy.potential, *to++ = energy.work;
  }
  for (const int c : workshop.groups().connections) {
    const Connection& connection = plan.connections[at(c)];
    const ConnectionResult& result = glue.results()[at(c)];
    if (multipliers_) to = std::copy_n(result.lambda.begin(), connection.row_count(), to);
    if (!reactions_) continue;
    for (const Vec3<double>& reaction : {result.force, result.torque}) to = std::copy_n(reaction.data(), 3, to);
  }
  for (const int s : workshop.groups().springs) *to++ = glue.spring_potentials()[at(s)];
  for_each_end(workshop, [&](std::size_t s, bool is_b) {
    const SpringLink& spring = plan.springs[s];
    const PortRef& port = is_b ? spring.b : spring.a;
    const PortMotion motion = motion_at(workshop.module(port.module).motion[at(port.port)], is_b ? spring.in_b : spring.in_a);
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
  workshop.transport().collect(own_, output_, output_ends_);
  row.resize(columns_.size());
  if (workshop.rank() != 0) return {};
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
void AssemblyRows::for_each_end(const Workshop& workshop, Visit visit) const {
  const std::vector<SpringLink>& springs = workshop.plan().springs;
  for (std::size_t s = 0; efforts_ && s < springs.size(); ++s)
    for (const bool is_b : {false, true})
      if (const PortRef& port = is_b ? springs[s].b : springs[s].a; !port.is_ground() && workshop.has(port.module))
        visit(s, is_b);
}

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
