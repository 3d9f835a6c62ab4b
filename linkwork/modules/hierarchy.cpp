#include "linkwork/modules/hierarchy.h"

#include <algorithm>
#include <cmath>

#include "linkwork/linalg/index.h"

namespace linkwork {

Hierarchy::Group::Group(const PlannedGroup& its_plan) : plan(its_plan), motion(plan.ports.size()) {
  const auto up = static_cast<Eigen::Index>(6 * plan.kept.size());
  D_up = MatX<double>::Zero(up, up);
  R_up = scale_up = Q_up = VecX<double>::Zero(up);
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
  Group& group = groups_.emplace_back(its_plan);
  if (!its_plan.solved) return;
  if (its_plan.module >= 0) group.at_work = workshop_.place_of(its_plan.module);
  const auto position = [&](const PortRef& port) {
    if (port.is_ground()) return -1;
    return static_cast<int>(std::ranges::find(its_plan.ports, port) - its_plan.ports.begin());
  };
  for (const int c : its_plan.connections) {
    const Connection& connection = plan.connections[at(c)];
    group.joints.push_back({c, position(connection.a), position(connection.b), group.rows});
    group.rows += connection.row_count();
  }
  for (const int s : its_plan.springs)
    group.links.push_back({s, position(plan.springs[at(s)].a), position(plan.springs[at(s)].b)});
  for (const int k : its_plan.couplings) {
    couplings_[at(k)] = std::make_unique<Coupling>(plan.couplings[at(k)]);
    Between between{k, {}, group.rows};
    for (const PortRef& port : plan.couplings[at(k)].ports) between.ports.push_back(position(port));
    group.betweens.push_back(std::move(between));
    group.rows += couplings_[at(k)]->row_count();
  }
  const auto six = static_cast<Eigen::Index>(6 * its_plan.ports.size()), up = static_cast<Eigen::Index>(6 * its_plan.kept.size());
  group.D = MatX<double>::Zero(six, six);
  group.R = group.scale = group.F_link = group.F = VecX<double>::Zero(six);
  group.G = group.GD = RowMajor::Zero(group.rows, six);
  group.W = group.W_inverse = MatX<double>::Zero(group.rows, group.rows);
  group.GDE = group.S = RowMajor::Zero(group.rows, up);
  group.rhs = group.V = group.lambda = group.row_scale = VecX<double>::Zero(group.rows);
  group.dependent.assign(at(group.rows), 0);
  group.evaluated.resize(group.joints.size());
  const auto add_member = [&](std::size_t ports) {
    const auto first = static_cast<int>(group.first_mate.size());
    group.first_mate.resize(group.first_mate.size() + ports, first);
    group.last_mate.resize(group.first_mate.size(), first + static_cast<int>(ports) - 1);
  };
  if (its_plan.module >= 0) add_member(its_plan.ports.size());
  for (const int child : its_plan.children) add_member(groups_[at(child)].plan.kept.size());
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

/// Stacks what the members offer.
void Hierarchy::take_children(Group& group) {
  if (group.plan.module >= 0) {
    const WorkingModule& from = workshop_.modules()[group.at_work];
    std::ranges::copy(from.motion, group.motion.begin());
    group.D.triangularView<Eigen::Lower>() = from.response.D;
    group.D.triangularView<Eigen::StrictlyUpper>() = from.response.D.transpose();  // symmetric to the last bit, as in messages
    group.R = from.response.R;
    group.scale = from.response.scale;
    return;
  }
  Eigen::Index first = 0;
  std::size_t port = 0;
  for (const int c : group.plan.children) {
    const Group& child = groups_[at(c)];
    const Eigen::Index size = child.R_up.size();
    group.D.block(first, first, size, size) = child.D_up;
    group.R.segment(first, size) = child.R_up;
    group.scale.segment(first, size) = child.scale_up;
    for (const int kept : child.plan.kept) group.motion[port++] = child.motion[at(kept)];
    first += size;
  }
}

/// Rows of G, right-hand side, and the scales that rank is decided by.
void Hierarchy::evaluate_joints(Group& group, Level level) {
  const AssemblyPlan& plan = workshop_.plan();
  group.G.setZero();
  for (std::size_t j = 0; j < group.joints.size(); ++j) {
    const Joint& joint = group.joints[j];
    const Connection& connection = plan.connections[at(joint.connection)];
    ConnectionRows& rows = group.evaluated[j];
    const bool dynamic = level == Level::kAcceleration;
    const PortMotion a = joint.a < 0 ? resting(connection.ground_a) : group.motion[at(joint.a)];
    const PortMotion b = joint.b < 0 ? resting(connection.ground_b) : group.motion[at(joint.b)];
    evaluate(connection, a, b, dynamic && joint.a >= 0 ? &group.R[6 * joint.a] : nullptr,
             dynamic && joint.b >= 0 ? &group.R[6 * joint.b] : nullptr, rows);
    for (int r = 0; r < connection.row_count(); ++r) {
      const int row = joint.first_row + r;
      errors_.joint_position = std::max(errors_.joint_position, std::abs(rows.phi[at(r)]));
      errors_.joint_velocity = std::max(errors_.joint_velocity, std::abs(rows.rate[at(r)]));
      double scale = 0.0;
      const auto add = [&](int port, const Eigen::Matrix<double, 6, 1>& wrench) {
        if (port < 0) return;
        group.G.block<1, 6>(row, 6 * port) += wrench.transpose();
        scale +=
            wrench.head<3>().squaredNorm() * group.scale[6 * port] + wrench.tail<3>().squaredNorm() * group.scale[6 * port + 3];
      };
      add(joint.a, rows.on_a[at(r)]);
      add(joint.b, rows.on_b[at(r)]);
      group.row_scale[row] = scale;
      if (dynamic)
        group.rhs[row] = -rows.second_rate[at(r)] - on_rate * rows.rate[at(r)] - on_phi * rows.phi[at(r)];
      else
        group.rhs[row] = (level == Level::kPosition ? rows.phi[at(r)] : rows.rate[at(r)]) - group.G.row(row).dot(group.R);
    }
  }
}

/// Forces that follow from the motion alone.
void Hierarchy::apply_links(Group& group, Level level) {
  if (group.links.empty() && group.betweens.empty()) return;
  group.F_link.setZero();
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
    group.R.noalias() += group.D * group.F_link;
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
        const int port = between.ports[p];
        const auto wrench = coupling.G().row(r).segment<6>(static_cast<Eigen::Index>(6 * p));
        group.G.row(row).segment<6>(6 * port) = wrench;
        scale +=
            wrench.head<3>().squaredNorm() * group.scale[6 * port] + wrench.tail<3>().squaredNorm() * group.scale[6 * port + 3];
      }
      group.row_scale[row] = scale;
      errors_.joint_position = std::max(errors_.joint_position, std::abs(coupling.phi(r)));
      errors_.joint_velocity = std::max(errors_.joint_velocity, std::abs(coupling.rate(r)));
      const double asked = level == Level::kAcceleration ? coupling.b(r)
                           : level == Level::kPosition   ? coupling.phi(r)
                                                         : coupling.rate(r);
      group.rhs[row] = asked - group.G.row(row).dot(group.R);
    }
  }
}

void Hierarchy::eliminate(Group& group, Level level) {
  take_children(group);
  apply_links(group, level);
  evaluate_joints(group, level);
  evaluate_couplings(group, level);
  if (group.rows > 0) {
    multiply_by_response(group);
    group.W_inverse = group.W;
    group.rank = ranked_inverse({group.W_inverse.data(), static_cast<std::size_t>(group.W.size())}, group.rows,
                                {group.row_scale.data(), at(group.rows)}, group.dependent);
    weakest_ = std::min(weakest_, group.rank.weakest);
    total_rank_ += group.rank.rank;
    group.V.noalias() = group.W_inverse.lazyProduct(group.rhs);
  }
  const auto kept = static_cast<int>(group.plan.kept.size());
  for (int k = 0; k < kept; ++k) {
    const int port = group.plan.kept[at(k)];
    group.R_up.segment<6>(6 * k) = group.R.segment<6>(6 * port);
    group.scale_up.segment<6>(6 * k) = group.scale.segment<6>(6 * port);
    if (group.rows > 0) group.GDE.middleCols<6>(6 * k) = group.GD.middleCols<6>(6 * port);
    for (int l = 0; l < kept; ++l)
      group.D_up.block<6, 6>(6 * k, 6 * l) = group.D.block<6, 6>(6 * port, 6 * group.plan.kept[at(l)]);
  }
  if (group.rows == 0 || kept == 0) return;
  const Eigen::Index up = group.D_up.rows();
  group.S.setZero();
  for (Eigen::Index r = 0; r < group.rows; ++r) {
    for (Eigen::Index s = 0; s < group.rows; ++s) group.S.row(r) -= group.W_inverse(r, s) * group.GDE.row(s);
    group.R_up += group.V[r] * group.GDE.row(r).transpose();
  }
  for (Eigen::Index j = 0; j < up; ++j) {
    for (Eigen::Index r = 0; r < group.rows; ++r)
      group.D_up.col(j).tail(up - j) += group.S(r, j) * group.GDE.row(r).tail(up - j).transpose();
    group.D_up.row(j).tail(up - j) = group.D_up.col(j).tail(up - j).transpose();  // symmetric to the last bit, as in messages
  }
}

/// G D and G D G'. Rows of joints concern two ports, and a port answers to forces on ports of the same member only.
void Hierarchy::multiply_by_response(Group& group) {
  const auto for_each_port = [&](int row, auto visit) {
    for (Eigen::Index port = 0; port < std::ssize(group.plan.ports); ++port)
      if (const auto wrench = group.G.row(row).segment<6>(6 * port); (wrench.array() != 0.0).any()) visit(port, wrench);
  };
  group.GD.setZero();
  for (int row = 0; row < group.rows; ++row)
    for_each_port(row, [&](Eigen::Index port, const auto& wrench) {
      const Eigen::Index first = 6 * group.first_mate[static_cast<std::size_t>(port)];
      const Eigen::Index count = 6 * (group.last_mate[static_cast<std::size_t>(port)] + 1) - first;
      for (Eigen::Index k = 0; k < 6; ++k)  // D is symmetric: its columns are its rows
        if (wrench[k] != 0.0)
          group.GD.row(row).segment(first, count) += wrench[k] * group.D.col(6 * port + k).segment(first, count).transpose();
    });
  group.W.setZero();
  for (int row = 0; row < group.rows; ++row)
    for_each_port(row, [&](Eigen::Index port, const auto& wrench) {
      for (int other = row; other < group.rows; ++other)
        group.W(other, row) += wrench.dot(group.GD.row(other).template segment<6>(6 * port));
    });
  for (int row = 0; row < group.rows; ++row)
    for (int other = row + 1; other < group.rows; ++other) group.W(row, other) = group.W(other, row);
}

// --- down

void Hierarchy::down() {
  inconsistency_ = 0.0;
  inconsistent_ = nullptr;
  for (auto group = groups_.rbegin(); group != groups_.rend(); ++group) {
    if (!group->plan.solved) continue;
    find_forces(*group);
    find_results(*group);
  }
}

void Hierarchy::find_forces(Group& group) {
  group.F = group.F_link;
  for (std::size_t k = 0; k < group.plan.kept.size(); ++k)
    group.F.segment<6>(6 * group.plan.kept[k]) += group.Q_up.segment<6>(static_cast<Eigen::Index>(6 * k));
  if (group.rows > 0) {
    group.lambda = group.V;
    for (Eigen::Index r = 0; r < group.rows; ++r) {
      if (!group.plan.kept.empty()) group.lambda[r] += group.S.row(r).dot(group.Q_up.transpose());
      group.F += group.lambda[r] * group.G.row(r).transpose();
    }
  }
  if (group.plan.module >= 0) {
    workshop_.modules()[group.at_work].Q = group.F;
    return;
  }
  Eigen::Index first = 0;
  for (const int c : group.plan.children) {
    Group& child = groups_[at(c)];
    child.Q_up = group.F.segment(first, child.Q_up.size());
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
      result.lambda[at(r)] = group.lambda[row];
      result.dependent[at(r)] = group.dependent[at(row)];
      look_for_contradiction(group, row, connection.name);
    }
    set_reaction(group.evaluated[j], connection.row_count(), result);
  }
  for (const Between& between : group.betweens) {
    Coupling& coupling = *couplings_[at(between.coupling)];
    coupling.set_result(group.lambda.segment(between.first_row, coupling.row_count()),
                        {group.dependent.data() + between.first_row, at(coupling.row_count())});
    for (int r = 0; r < coupling.row_count(); ++r) look_for_contradiction(group, between.first_row + r, coupling.plan().name);
  }
}

/// What counts as dependent is so to an angle of the root of kRankTolerance: of its terms it may ask for that share in vain.
void Hierarchy::look_for_contradiction(const Group& group, int row, const std::string& whose) {
  constexpr double kShare = 1e-4;
  if (!group.dependent[at(row)]) return;
  double missed = group.rhs[row] - group.W.row(row).dot(group.lambda);
  if (!group.plan.kept.empty()) missed -= group.GDE.row(row).dot(group.Q_up);
  double terms = std::abs(group.rhs[row]);
  for (Eigen::Index k = 0; k < group.R.size(); ++k) terms += std::abs(group.G(row, k) * group.R[k]);
  for (Eigen::Index r = 0; r < group.rows; ++r) terms += std::abs(group.W(row, r) * group.lambda[r]);
  if (!(std::abs(missed) > kShare * terms)) return;
  if (std::abs(missed) > inconsistency_) inconsistency_ = std::abs(missed), inconsistent_ = &whose;
}

VecX<double> Hierarchy::accelerations(std::size_t coupling) const {
  VecX<double> xdd;
  for (const Group& group : groups_)
    for (const Between& between : group.betweens) {
      if (at(between.coupling) != coupling) continue;
      const VecX<double> all = group.R + group.D * (group.F - group.F_link);
      xdd.resize(6 * std::ssize(between.ports));
      for (std::size_t p = 0; p < between.ports.size(); ++p)
        xdd.segment<6>(static_cast<Eigen::Index>(6 * p)) = all.segment<6>(6 * between.ports[p]);
    }
  return xdd;
}

}  // namespace linkwork
