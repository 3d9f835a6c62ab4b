#include "linkwork/modules/hierarchy.h"

#include <algorithm>
#include <cmath>

#include "linkwork/dynamics/state.h"
#include "linkwork/linalg/index.h"

namespace linkwork {

Hierarchy::Group::Group(const PlannedGroup& its_plan, std::unique_ptr<ReducedResponse> own,
                        std::vector<const ReducedResponse*> members)
    : GroupElimination(std::move(members), its_plan.kept), plan(its_plan), of_module(std::move(own)), motion(plan.ports.size()) {
  F_link = F = VecX<double>::Zero(R.size());
  Q_up = VecX<double>::Zero(up.R.size());
}

Hierarchy::Hierarchy(Workshop& workshop)
    : workshop_(workshop),
      results_(workshop.plan().connections.size()),
      spring_potentials_(workshop.plan().springs.size(), 0.0),
      couplings_(workshop.plan().couplings.size()) {
  groups_.reserve(workshop.groups().groups.size());
  for (const PlannedGroup& plan : workshop.groups().groups) make_group(plan);
  if (is_tree())
    list_swaps();
  else
    lay_out_message();
}

void Hierarchy::make_group(const PlannedGroup& its_plan) {
  const AssemblyPlan& plan = workshop_.plan();
  std::unique_ptr<ReducedResponse> of_module;
  std::vector<const ReducedResponse*> members;
  const bool is_joined = !its_plan.connections.empty() || !its_plan.springs.empty() || !its_plan.couplings.empty();
  if (its_plan.solved && its_plan.module >= 0 && (is_joined || its_plan.kept.size() < its_plan.ports.size())) {
    of_module = std::make_unique<ReducedResponse>(static_cast<int>(its_plan.ports.size()));
    members.push_back(of_module.get());
  }
  for (const int child : its_plan.children) members.push_back(&groups_[at(child)].up);
  Group& group = groups_.emplace_back(its_plan, std::move(of_module), std::move(members));
  if (!its_plan.solved) return;
  if (its_plan.module >= 0) group.at_work = workshop_.place_of(its_plan.module);
  const auto position = [&](const PortRef& port) {
    if (port.is_ground()) return -1;
    return static_cast<int>(std::ranges::find(its_plan.ports, port) - its_plan.ports.begin());
  };
  std::vector<int> ports;
  const auto add_rows = [&](int count) {
    for (int r = 0; r < count; ++r) group.add_row(ports);
  };
  for (const int c : its_plan.connections) {
    const Connection& connection = plan.connections[at(c)];
    const Joint joint{c, position(connection.a), position(connection.b), group.rows()};
    group.joints.push_back(joint);
    ports.clear();
    for (const int port : {joint.a, joint.b})
      if (port >= 0) ports.push_back(port);
    add_rows(connection.row_count());
  }
  for (const int s : its_plan.springs)
    group.links.push_back({s, position(plan.springs[at(s)].a), position(plan.springs[at(s)].b)});
  for (const int k : its_plan.couplings) {
    couplings_[at(k)] = std::make_unique<Coupling>(plan.couplings[at(k)]);
    ports.clear();
    for (const PortRef& port : plan.couplings[at(k)].ports) ports.push_back(position(port));
    group.betweens.push_back({k, ports, group.rows()});
    add_rows(couplings_[at(k)]->row_count());
  }
  group.evaluated.resize(group.joints.size());
  if (!group.is_module()) group.make_room();
}

// --- up

Status Hierarchy::up(double t, const States& x, Level level) {
  workshop_.ask_kinematics(t, x, level);
  workshop_.ask_response(level);
  return up_from_answers(t, level);
}

Status Hierarchy::up_from_answers(double t, Level level) {
  begin_account();
  t_ = t;
  for (WorkingModule& at_work : workshop_.modules()) {
    const ModuleErrors errors = at_work.module->errors();
    if (errors.position > module_error_ || (errors.position == module_error_ && at_work.index < errors_.worst_module))
      module_error_ = errors.position, errors_.worst_module = at_work.index;
    errors_.velocity = std::max(errors_.velocity, errors.velocity);
    errors_.speed = std::max(errors_.speed, errors.speed);
    inner_rank_ += at_work.module->rank();
    weakest_ = std::min(weakest_, at_work.module->weakest());
  }
  for (Group& group : groups_)
    if (!trouble_ && group.plan.solved && !group.plan.spans_ranks()) eliminate(group, level), add_ranks(group);
  if (is_tree())
    go_through_tree(level);
  else
    exchange_once(level);
  return conclusion();
}

/// Takes what the members offer.
void Hierarchy::take_children(Group& group) {
  if (group.plan.module >= 0) {
    const WorkingModule& from = workshop_.modules()[group.at_work];
    std::ranges::copy(from.motion, group.motion.begin());
    (group.is_module() ? group.up : *group.of_module).take(from.response);
    if (group.is_module()) return;
  }
  std::size_t port = 0;
  for (const int c : group.plan.children) {
    const Group& child = groups_[at(c)];
    for (const int kept : child.plan.kept) group.motion[port++] = child.motion[at(kept)];
  }
  group.begin();
}

/// How large a wrench's own response could be.
static double scale_of(const GroupElimination& group, int port, const Eigen::Matrix<double, 6, 1>& wrench) {
  return wrench.head<3>().squaredNorm() * group.scale[6 * port] + wrench.tail<3>().squaredNorm() * group.scale[6 * port + 3];
}

/// Rows of G, right-hand side, and the scales that rank is decided by.
void Hierarchy::evaluate_joints(Group& group, Level level) {
  const AssemblyPlan& plan = workshop_.plan();
  for (std::size_t j = 0; j < group.joints.size(); ++j) {
    const Joint& joint = group.joints[j];
    const Connection& connection = plan.connections[at(joint.connection)];
    ConnectionRows& rows = group.evaluated[j];
    const bool dynamic = level == Level::kAcceleration;
    std::array<PortMotion, 2> ground;
    if (joint.a < 0) ground[0] = resting(connection.ground_a);
    if (joint.b < 0) ground[1] = resting(connection.ground_b);
    const PortMotion& a = joint.a < 0 ? ground[0] : group.motion[at(joint.a)];
    const PortMotion& b = joint.b < 0 ? ground[1] : group.motion[at(joint.b)];
    evaluate(connection, a, b, dynamic && joint.a >= 0 ? &group.R[6 * joint.a] : nullptr,
             dynamic && joint.b >= 0 ? &group.R[6 * joint.b] : nullptr, rows);
    for (int r = 0; r < connection.row_count(); ++r) {
      const int row = joint.first_row + r;
      errors_.joint_position = std::max(errors_.joint_position, std::abs(rows.phi[at(r)]));
      errors_.joint_velocity = std::max(errors_.joint_velocity, std::abs(rows.rate[at(r)]));
      int end = 0;
      double scale = 0.0;
      const auto add = [&](int port, const Eigen::Matrix<double, 6, 1>& wrench) {
        if (port < 0) return;
        std::ranges::copy(wrench, group.wrench(row, end++).begin());
        scale += scale_of(group, port, wrench);
      };
      add(joint.a, rows.on_a[at(r)]);
      add(joint.b, rows.on_b[at(r)]);
      group.row_scale[row] = scale;
      if (dynamic)
        group.rhs[row] = -rows.second_rate[at(r)] - on_rate * rows.rate[at(r)] - on_phi * rows.phi[at(r)];
      else
        group.rhs[row] = (level == Level::kPosition ? rows.phi[at(r)] : rows.rate[at(r)]) - group.rate_of_R(row);
    }
  }
}

/// Forces that follow from the motion alone.
void Hierarchy::apply_links(Group& group, Level level) {
  if (group.links.empty() && group.betweens.empty()) return;
  group.F_link.setZero();
  if (correcting_) return;  // they have acted
  for (const Link& link : group.links) {
    const SpringLink& spring = workshop_.plan().springs[at(link.spring)];
    const PortMotion a = link.a < 0 ? resting(spring.ground_a) : group.motion[at(link.a)];
    const PortMotion b = link.b < 0 ? resting(spring.ground_b) : group.motion[at(link.b)];
    const SpringForces forces = spring_forces(spring, a, b);
    if (link.a >= 0) group.F_link.segment<6>(6 * link.a) += forces.on_a;
    if (link.b >= 0) group.F_link.segment<6>(6 * link.b) += forces.on_b;
    spring_potentials_[at(link.spring)] = forces.potential;
  }
  for (const Between& between : group.betweens) {
    Coupling& coupling = *couplings_[at(between.coupling)];
    motion_.clear();
    for (const int port : between.ports) motion_.push_back(group.motion[at(port)]);
    coupling.update(t_, motion_);
    if (level != Level::kAcceleration) continue;
    const VecX<double>& forces = coupling.forces();
    for (std::size_t p = 0; p < between.ports.size(); ++p)
      group.F_link.segment<6>(6 * between.ports[p]) += forces.segment<6>(static_cast<Eigen::Index>(6 * p));
  }
  if (level == Level::kAcceleration)
    group.add_response(group.F_link, group.R);
  else
    group.F_link.setZero();
}

/// The same as evaluate_joints(), of couplings.
void Hierarchy::evaluate_couplings(Group& group, Level level) {
  for (const Between& between : group.betweens) {
    Coupling& coupling = *couplings_[at(between.coupling)];
    coupling.evaluate_rows(level);
    for (int r = 0; r < coupling.row_count(); ++r) {
      const int row = between.first_row + r;
      double scale = 0.0;
      for (std::size_t p = 0; p < between.ports.size(); ++p) {
        const Eigen::Matrix<double, 6, 1> wrench = coupling.G().row(r).segment<6>(static_cast<Eigen::Index>(6 * p)).transpose();
        std::ranges::copy(wrench, group.wrench(row, static_cast<int>(p)).begin());
        scale += scale_of(group, between.ports[p], wrench);
      }
      group.row_scale[row] = scale;
      errors_.joint_position = std::max(errors_.joint_position, std::abs(coupling.phi(r)));
      errors_.joint_velocity = std::max(errors_.joint_velocity, std::abs(coupling.rate(r)));
      const double asked = level == Level::kAcceleration ? coupling.b(r)
                           : level == Level::kPosition   ? coupling.phi(r)
                                                         : coupling.rate(r);
      group.rhs[row] = asked - group.rate_of_R(row);
    }
  }
}

void Hierarchy::eliminate(Group& group, Level level) {
  take_children(group);
  if (group.is_module()) return;
  apply_links(group, level);
  evaluate_joints(group, level);
  evaluate_couplings(group, level);
  int by_scale = 0;  // corrections of states leave out what is weak
  group.go_up(level == Level::kAcceleration ? group.usual_rank : by_scale);
  if (group.rows() == 0) return;
  weakest_ = std::min(weakest_, group.rank.weakest);
  total_rank_ += group.rank.rank;
}

// --- down

void Hierarchy::down() {
  for (auto group = groups_.rbegin(); group != groups_.rend(); ++group) {
    if (!group->plan.solved) continue;
    find_forces(*group);
    find_results(*group);
  }
}

Status Hierarchy::correct(double t) {
  correcting_ = true;
  const Status status = up_from_answers(t, Level::kAcceleration);
  if (status.ok()) down();
  correcting_ = false;
  return status;
}

void Hierarchy::find_forces(Group& group) {
  if (group.is_module()) {
    assign_numbers(group.Q_up, workshop_.modules()[group.at_work].Q);
    return;
  }
  assign_numbers(group.F_link, group.F);
  group.go_down(group.Q_up, group.F);
  if (correcting_)
    group.total_lambda += group.lambda;
  else
    group.total_lambda = group.lambda;
  if (group.plan.module >= 0) {
    assign_numbers(group.F, workshop_.modules()[group.at_work].Q);
    return;
  }
  Eigen::Index first = 0;
  for (const int c : group.plan.children) {
    Group& child = groups_[at(c)];
    assign_numbers(group.F.data() + first, child.Q_up.size(), child.Q_up);
    first += child.Q_up.size();
  }
}

void Hierarchy::find_results(Group& group) {
  for (std::size_t j = 0; group.plan.told && j < group.joints.size(); ++j) {
    const Joint& joint = group.joints[j];
    const Connection& connection = workshop_.plan().connections[at(joint.connection)];
    ConnectionResult& result = results_[at(joint.connection)];
    for (int r = 0; r < connection.row_count(); ++r) {
      const int row = joint.first_row + r;
      result.lambda[at(r)] = group.total_lambda[row];
      result.dependent[at(r)] = group.dependent[at(row)];
    }
    set_reaction(group.evaluated[j], connection.row_count(), result);
  }
  for (const Between& between : group.betweens) {
    Coupling& coupling = *couplings_[at(between.coupling)];
    coupling.set_result(group.total_lambda.segment(between.first_row, coupling.row_count()),
                        {group.dependent.data() + between.first_row, at(coupling.row_count())});
  }
}

/// What counts as dependent is so to an angle of the root of kRankTolerance: of its terms it may ask for that share in vain.
Hierarchy::Contradiction Hierarchy::contradiction() const {
  constexpr double kShare = 1e-4;
  Contradiction worst;
  for (auto group = groups_.rbegin(); group != groups_.rend(); ++group) {
    const auto look = [&](int first_row, int rows, const std::string& whose) {
      for (int row = first_row; row < first_row + rows; ++row) {
        if (!group->dependent[at(row)]) continue;
        const auto [missed, terms] = group->missed(row, group->Q_up);
        if (missed > kShare * terms && missed > worst.missed) worst = {missed, &whose};
      }
    };
    for (const Joint& joint : group->joints) {
      const Connection& connection = workshop_.plan().connections[at(joint.connection)];
      if (group->plan.told) look(joint.first_row, connection.row_count(), connection.name);
    }
    for (const Between& between : group->betweens) {
      const Coupling& coupling = *couplings_[at(between.coupling)];
      look(between.first_row, coupling.row_count(), coupling.plan().name);
    }
  }
  return worst;
}

void Hierarchy::forget_ranks() {
  for (Group& group : groups_) group.usual_rank = 0;
}

VecX<double> Hierarchy::accelerations(std::size_t coupling) const {
  VecX<double> xdd;
  for (const Group& group : groups_)
    for (const Between& between : group.betweens) {
      if (at(between.coupling) != coupling) continue;
      VecX<double> all = group.R;
      group.add_response(group.F - group.F_link, all);
      xdd.resize(6 * std::ssize(between.ports));
      for (std::size_t p = 0; p < between.ports.size(); ++p)
        xdd.segment<6>(static_cast<Eigen::Index>(6 * p)) = all.segment<6>(6 * between.ports[p]);
    }
  return xdd;
}

}  // namespace linkwork
