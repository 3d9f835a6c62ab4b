#include "linkwork/modules/hierarchy.h"

#include <algorithm>
#include <cmath>

#include "linkwork/linalg/index.h"

namespace linkwork {

namespace {

/// At the head of each rank's part of the message: trouble, errors of its modules and of its joints, whose the largest is, and
/// the ranks of its groups and modules.
enum Head {
  kTrouble,
  kPosition,
  kVelocity,
  kSpeed,
  kJointPosition,
  kJointVelocity,
  kWeakest,
  kWorst,
  kRank,
  kInnerRank,
  kHeadSize
};

int message_size(std::size_t ports) {
  const int six = 6 * static_cast<int>(ports);
  return static_cast<int>(ports) * 18 + 2 * six + six * (six + 1) / 2;
}

}  // namespace

Hierarchy::Hierarchy(Workshop& workshop)
    : workshop_(workshop),
      results_(workshop.plan().connections.size()),
      spring_potentials_(workshop.plan().springs.size(), 0.0),
      couplings_(workshop.plan().couplings.size()),
      owners_(couplings_.size(), 0) {
  plan_groups();
}

void Hierarchy::plan_groups() {
  const AssemblyPlan& plan = workshop_.plan();
  const GroupTree& tree = workshop_.tree();
  const auto count = tree.nodes.size();
  groups_.resize(count);
  // For each group, which modules are in it; a joint is eliminated in the first group that has both.
  std::vector<std::vector<char>> holds(count, std::vector<char>(plan.modules.size(), 0));
  std::vector<char> joint_done(plan.connections.size(), 0), link_done(plan.springs.size(), 0);
  std::vector<char> coupling_done(plan.couplings.size(), 0);
  for (std::size_t g = 0; g < count; ++g) {
    Group& group = groups_[g];
    group.module = tree.nodes[g].module;
    group.children = tree.nodes[g].children;
    if (group.module >= 0) {
      holds[g][at(group.module)] = 1;
      group.first_rank = group.last_rank = workshop_.rank_of(group.module);
    } else {
      group.first_rank = groups_[at(group.children.front())].first_rank;
      group.last_rank = groups_[at(group.children.back())].last_rank;
      for (const int child : group.children)
        for (std::size_t m = 0; m < plan.modules.size(); ++m) holds[g][m] = holds[g][m] || holds[at(child)][m];
    }
    const auto is_in = [&](const PortRef& port) { return port.is_ground() || holds[g][at(port.module)]; };
    std::vector<int> joints, links, betweens;
    for (std::size_t c = 0; c < plan.connections.size(); ++c)
      if (!joint_done[c] && is_in(plan.connections[c].a) && is_in(plan.connections[c].b))
        joint_done[c] = 1, joints.push_back(static_cast<int>(c));
    for (std::size_t s = 0; s < plan.springs.size(); ++s)
      if (!link_done[s] && is_in(plan.springs[s].a) && is_in(plan.springs[s].b))
        link_done[s] = 1, links.push_back(static_cast<int>(s));
    for (std::size_t k = 0; k < plan.couplings.size(); ++k)
      if (!coupling_done[k] && std::ranges::all_of(plan.couplings[k].ports, is_in))
        coupling_done[k] = 1, betweens.push_back(static_cast<int>(k));

    if (group.module >= 0) {
      for (int p = 0; p < plan.modules[at(group.module)].port_count; ++p) group.ports.push_back({group.module, p});
    } else {
      for (const int child : group.children)
        for (const int kept : groups_[at(child)].kept) group.ports.push_back(groups_[at(child)].ports[at(kept)]);
    }
    const auto position = [&](const PortRef& port) {
      if (port.is_ground()) return -1;
      return static_cast<int>(std::ranges::find(group.ports, port) - group.ports.begin());
    };
    for (const int c : joints) {
      const Connection& connection = plan.connections[at(c)];
      group.joints.push_back({c, position(connection.a), position(connection.b), group.rows});
      group.rows += connection.row_count();
    }
    for (const int s : links) group.links.push_back({s, position(plan.springs[at(s)].a), position(plan.springs[at(s)].b)});
    for (const int k : betweens) {
      const CouplingPlan& coupling = plan.couplings[at(k)];
      owners_[at(k)] = group.first_rank;
      if (!is_here(group) && !is_shared(group)) continue;
      couplings_[at(k)] = std::make_unique<Coupling>(coupling);
      Between between{k, {}, group.rows};
      for (const PortRef& port : coupling.ports) between.ports.push_back(position(port));
      group.betweens.push_back(std::move(between));
      group.rows += couplings_[at(k)]->row_count();
    }
    for (std::size_t p = 0; p < group.ports.size(); ++p) {
      bool needed = false;
      for (std::size_t c = 0; c < plan.connections.size(); ++c)
        needed =
            needed || (!joint_done[c] && (plan.connections[c].a == group.ports[p] || plan.connections[c].b == group.ports[p]));
      for (std::size_t s = 0; s < plan.springs.size(); ++s)
        needed = needed || (!link_done[s] && (plan.springs[s].a == group.ports[p] || plan.springs[s].b == group.ports[p]));
      for (std::size_t k = 0; k < plan.couplings.size(); ++k)
        needed = needed || (!coupling_done[k] &&
                            std::ranges::find(plan.couplings[k].ports, group.ports[p]) != plan.couplings[k].ports.end());
      if (needed) group.kept.push_back(static_cast<int>(p));
    }

    const auto six = static_cast<Eigen::Index>(6 * group.ports.size()), up = static_cast<Eigen::Index>(6 * group.kept.size());
    group.motion.resize(group.ports.size());
    group.D = MatX<double>::Zero(six, six);
    group.R = group.scale = group.F_link = group.F = VecX<double>::Zero(six);
    group.G = group.GD = MatX<double>::Zero(group.rows, six);
    group.W = group.W_inverse = MatX<double>::Zero(group.rows, group.rows);
    group.GDE = group.S = MatX<double>::Zero(group.rows, up);
    group.rhs = group.V = group.lambda = group.row_scale = VecX<double>::Zero(group.rows);
    group.dependent.assign(at(group.rows), 0);
    group.evaluated.resize(group.joints.size());
    group.D_up = MatX<double>::Zero(up, up);
    group.R_up = group.scale_up = group.Q_up = VecX<double>::Zero(up);
  }

  // The highest groups of each rank stand in the message, rank by rank.
  std::vector<char> is_highest(count, 0);
  for (const Group& group : groups_)
    if (is_shared(group))
      for (const int child : group.children) is_highest[at(child)] = !is_shared(groups_[at(child)]);
  int size = 0;
  for (int rank = 0; rank < workshop_.transport().size(); ++rank) {
    size += kHeadSize;
    for (std::size_t g = 0; g < count; ++g) {
      if (!is_highest[g] || groups_[g].first_rank != rank) continue;
      groups_[g].block = size;
      size += message_size(groups_[g].kept.size());
    }
    ends_.push_back(size);
  }
  message_.assign(at(size), 0.0);
}

Status Hierarchy::up(double t, const States& x, Level level) {
  workshop_.ask_kinematics(t, x, level);
  workshop_.ask_response(level);
  return up_from_answers(t, level);
}

Status Hierarchy::up_from_answers(double t, Level level) {
  errors_ = {};
  weakest_ = 1.0;
  t_ = t;
  double* const head = &message_[at(workshop_.rank() == 0 ? 0 : ends_[at(workshop_.rank() - 1)])];
  std::fill_n(head, +kHeadSize, 0.0);
  head[kWorst] = -1.0;
  for (WorkingModule& at_work : workshop_.modules()) {
    const ModuleErrors errors = at_work.module->errors();
    if (errors.position > head[kPosition]) head[kWorst] = at_work.index;
    head[kPosition] = std::max(head[kPosition], errors.position);
    head[kVelocity] = std::max(head[kVelocity], errors.velocity);
    head[kSpeed] = std::max(head[kSpeed], errors.speed);
    head[kInnerRank] += at_work.module->rank();
    weakest_ = std::min(weakest_, at_work.module->weakest());
  }
  if (workshop_.trouble().empty())
    for (Group& group : groups_)
      if (is_here(group)) eliminate(group, level), head[kRank] += group.rank.rank;
  if (errors_.joint_position > head[kPosition]) head[kWorst] = -1.0;
  head[kTrouble] = workshop_.trouble().empty() ? 0.0 : 1.0;
  head[kJointPosition] = errors_.joint_position;
  head[kJointVelocity] = errors_.joint_velocity;
  head[kWeakest] = weakest_;
  for (const Group& group : groups_)
    if (group.block >= 0 && is_here(group)) pack(group);
  if (Status status = exchange(); !status.ok()) return status;
  for (Group& group : groups_) {
    if (group.block >= 0 && !is_here(group)) unpack(group);
    if (is_shared(group)) eliminate(group, level), total_rank_ += group.rank.rank;
  }
  errors_.position = std::max(errors_.position, errors_.joint_position);
  errors_.velocity = std::max(errors_.velocity, errors_.joint_velocity);
  return {};
}

Status Hierarchy::exchange() {
  workshop_.transport().gather(message_, ends_);
  bool trouble = false;
  double worst = -1.0, largest = 0.0;
  total_rank_ = inner_rank_ = 0;
  for (std::size_t r = 0; r < ends_.size(); ++r) {
    const double* const head = &message_[r == 0 ? 0 : at(ends_[r - 1])];
    trouble = trouble || head[kTrouble] != 0.0;
    errors_.position = std::max(errors_.position, head[kPosition]);
    errors_.velocity = std::max(errors_.velocity, head[kVelocity]);
    errors_.speed = std::max(errors_.speed, head[kSpeed]);
    errors_.joint_position = std::max(errors_.joint_position, head[kJointPosition]);
    errors_.joint_velocity = std::max(errors_.joint_velocity, head[kJointVelocity]);
    weakest_ = std::min(weakest_, head[kWeakest]);
    total_rank_ += static_cast<int>(head[kRank]);
    inner_rank_ += static_cast<int>(head[kInnerRank]);
    const double error = std::max(head[kPosition], head[kJointPosition]);
    if (error > largest) largest = error, worst = head[kWorst];
  }
  errors_.worst_module = static_cast<int>(worst);
  if (!trouble) return {};
  Status status{workshop_.everyones_trouble()};
  workshop_.clear_trouble();
  return status;
}

/// Stacks what the members offer.
void Hierarchy::take_children(Group& group) {
  if (group.module >= 0) {
    const WorkingModule& from = workshop_.module(group.module);
    std::ranges::copy(from.motion, group.motion.begin());
    group.D = from.response.D;
    group.R = from.response.R;
    group.scale = from.response.scale;
    return;
  }
  Eigen::Index first = 0;
  std::size_t port = 0;
  for (const int c : group.children) {
    const Group& child = groups_[at(c)];
    const Eigen::Index size = child.R_up.size();
    group.D.block(first, first, size, size) = child.D_up;
    group.R.segment(first, size) = child.R_up;
    group.scale.segment(first, size) = child.scale_up;
    for (const int kept : child.kept) group.motion[port++] = child.motion[at(kept)];
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
    group.GD.noalias() = group.G * group.D;
    group.W.noalias() = group.GD * group.G.transpose();
    group.W_inverse = group.W;
    group.rank = ranked_inverse({group.W_inverse.data(), static_cast<std::size_t>(group.W.size())}, group.rows,
                                {group.row_scale.data(), at(group.rows)}, group.dependent);
    weakest_ = std::min(weakest_, group.rank.weakest);
    group.V.noalias() = group.W_inverse * group.rhs;
  }
  const auto kept = static_cast<int>(group.kept.size());
  for (int k = 0; k < kept; ++k) {
    const int port = group.kept[at(k)];
    group.R_up.segment<6>(6 * k) = group.R.segment<6>(6 * port);
    group.scale_up.segment<6>(6 * k) = group.scale.segment<6>(6 * port);
    if (group.rows > 0) group.GDE.middleCols<6>(6 * k) = group.GD.middleCols<6>(6 * port);
    for (int l = 0; l < kept; ++l) group.D_up.block<6, 6>(6 * k, 6 * l) = group.D.block<6, 6>(6 * port, 6 * group.kept[at(l)]);
  }
  if (group.rows == 0 || kept == 0) return;
  group.S.noalias() = group.W_inverse * group.GDE;
  group.S *= -1.0;
  group.D_up.noalias() += group.GDE.transpose() * group.S;
  for (Eigen::Index i = 0; i < group.D_up.rows(); ++i)
    for (Eigen::Index j = 0; j < i; ++j) group.D_up(j, i) = group.D_up(i, j);  // symmetric to the last bit, as the message has it
  group.R_up.noalias() += group.GDE.transpose() * group.V;
}

void Hierarchy::pack(const Group& group) {
  double* to = &message_[at(group.block)];
  const auto put = [&](const auto& block) {
    for (Eigen::Index j = 0; j < block.cols(); ++j)
      for (Eigen::Index i = 0; i < block.rows(); ++i) *to++ = block(i, j);
  };
  for (const int kept : group.kept) {
    const PortMotion& motion = group.motion[at(kept)];
    put(motion.R), put(motion.p), put(motion.w), put(motion.v);
  }
  put(group.R_up), put(group.scale_up);
  for (Eigen::Index j = 0; j < group.D_up.cols(); ++j)
    for (Eigen::Index i = j; i < group.D_up.rows(); ++i) *to++ = group.D_up(i, j);
}

void Hierarchy::unpack(Group& group) {
  const double* from = &message_[at(group.block)];
  const auto get = [&](auto& block) {
    for (Eigen::Index j = 0; j < block.cols(); ++j)
      for (Eigen::Index i = 0; i < block.rows(); ++i) block(i, j) = *from++;
  };
  for (const int kept : group.kept) {
    PortMotion& motion = group.motion[at(kept)];
    get(motion.R), get(motion.p), get(motion.w), get(motion.v);
  }
  get(group.R_up), get(group.scale_up);
  for (Eigen::Index j = 0; j < group.D_up.cols(); ++j)
    for (Eigen::Index i = j; i < group.D_up.rows(); ++i) group.D_up(i, j) = group.D_up(j, i) = *from++;
}

void Hierarchy::down() {
  inconsistency_ = 0.0;
  inconsistent_ = nullptr;
  for (auto group = groups_.rbegin(); group != groups_.rend(); ++group)
    if (is_here(*group) || is_shared(*group)) send_down(*group);
}

void Hierarchy::send_down(Group& group) {
  group.F = group.F_link;
  for (std::size_t k = 0; k < group.kept.size(); ++k)
    group.F.segment<6>(6 * group.kept[k]) += group.Q_up.segment<6>(static_cast<Eigen::Index>(6 * k));
  if (group.rows > 0) {
    group.lambda = group.V;
    if (!group.kept.empty()) group.lambda.noalias() += group.S * group.Q_up;
    group.F.noalias() += group.G.transpose() * group.lambda;
  }
  for (std::size_t j = 0; j < group.joints.size(); ++j) {
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
  if (group.module >= 0) {
    workshop_.module(group.module).Q = group.F;
    return;
  }
  Eigen::Index first = 0;
  for (const int c : group.children) {
    Group& child = groups_[at(c)];
    child.Q_up = group.F.segment(first, child.Q_up.size());
    first += child.Q_up.size();
  }
}

void Hierarchy::look_for_contradiction(const Group& group, int row, const std::string& whose) {
  if (!group.dependent[at(row)]) return;
  double missed = group.rhs[row] - group.W.row(row).dot(group.lambda);
  if (!group.kept.empty()) missed -= group.GDE.row(row).dot(group.Q_up);
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

int Hierarchy::own_rank() const {
  int sum = 0;
  for (const Group& group : groups_)
    if (is_here(group) || is_shared(group)) sum += group.rank.rank;
  return sum;
}

int Hierarchy::numbers_exposed() const {
  int numbers = 0;
  for (const Group& group : groups_)
    if (group.module >= 0) numbers += message_size(group.ports.size());
  return numbers;
}

}  // namespace linkwork
