// The messages of Hierarchy: one exchange, or the way through the tree of groups.

#include <algorithm>

#include "linkwork/linalg/index.h"
#include "linkwork/modules/hierarchy.h"

namespace linkwork {

namespace {

/// Numbers that tell of trouble, errors of modules and of joints, whose the largest is, and the ranks of groups and modules.
enum Told {
  kToldTrouble,
  kToldModuleError,
  kToldWorst,
  kToldVelocity,
  kToldSpeed,
  kToldJointPosition,
  kToldJointVelocity,
  kToldWeakest,
  kToldRank,
  kToldInnerRank,
  kToldSize
};

}  // namespace

/// The highest groups of each rank stand in the message, rank by rank.
void Hierarchy::lay_out_message() {
  std::vector<char> is_highest(groups_.size(), 0);
  for (const Group& group : groups_)
    if (group.plan.spans_ranks())
      for (const int child : group.plan.children) is_highest[at(child)] = !groups_[at(child)].plan.spans_ranks();
  int size = 0;
  for (int rank = 0; rank < workshop_.transport().size(); ++rank) {
    size += kToldSize;
    for (std::size_t g = 0; g < groups_.size(); ++g) {
      if (!is_highest[g] || groups_[g].plan.rank != rank) continue;
      groups_[g].block = size;
      size += message_size(groups_[g].plan.kept.size());
    }
    ends_.push_back(size);
  }
  message_.assign(at(size), 0.0);
}

void Hierarchy::list_actions() {
  using Kind = Action::Kind;
  std::size_t longest = kToldSize;
  for (std::size_t g = 0; g < groups_.size(); ++g) {
    const PlannedGroup& plan = groups_[g].plan;
    const auto place = static_cast<int>(g);
    if (plan.spans_ranks() && plan.solved) {
      for (const int child : plan.children)
        if (const PlannedGroup& its = groups_[at(child)].plan; !its.solved)
          actions_.push_back({Kind::kReceive, child, its.rank, plan.number});
      actions_.push_back({Kind::kSolve, place, workshop_.rank(), plan.number});
    }
    if (plan.solved && plan.parent >= 0 && plan.parent_rank != workshop_.rank())
      actions_.push_back({Kind::kSend, place, plan.parent_rank, plan.parent});
    longest = std::max(longest, at(kToldSize + message_size(plan.kept.size())));
  }
  std::ranges::stable_sort(actions_, {}, &Action::when);
  message_.assign(longest, 0.0);
}

// --- the account of trouble, errors and rank

void Hierarchy::begin_account() {
  errors_ = {};
  module_error_ = 0.0;
  weakest_ = 1.0;
  total_rank_ = inner_rank_ = 0;
  trouble_ = !workshop_.trouble().empty();
}

double* Hierarchy::write_account(double* to) const {
  to[kToldTrouble] = trouble_ ? 1.0 : 0.0;
  to[kToldModuleError] = module_error_;
  to[kToldWorst] = errors_.worst_module;
  to[kToldVelocity] = errors_.velocity;
  to[kToldSpeed] = errors_.speed;
  to[kToldJointPosition] = errors_.joint_position;
  to[kToldJointVelocity] = errors_.joint_velocity;
  to[kToldWeakest] = weakest_;
  to[kToldRank] = total_rank_;
  to[kToldInnerRank] = inner_rank_;
  return to + kToldSize;
}

/// Of two modules with the same error the first is named.
const double* Hierarchy::add_account(const double* from) {
  trouble_ = trouble_ || from[kToldTrouble] != 0.0;
  const int worst = static_cast<int>(from[kToldWorst]);
  if (from[kToldModuleError] > module_error_ ||
      (from[kToldModuleError] == module_error_ && module_error_ > 0.0 && worst < errors_.worst_module))
    module_error_ = from[kToldModuleError], errors_.worst_module = worst;
  errors_.velocity = std::max(errors_.velocity, from[kToldVelocity]);
  errors_.speed = std::max(errors_.speed, from[kToldSpeed]);
  errors_.joint_position = std::max(errors_.joint_position, from[kToldJointPosition]);
  errors_.joint_velocity = std::max(errors_.joint_velocity, from[kToldJointVelocity]);
  weakest_ = std::min(weakest_, from[kToldWeakest]);
  total_rank_ += static_cast<int>(from[kToldRank]);
  inner_rank_ += static_cast<int>(from[kToldInnerRank]);
  return from + kToldSize;
}

const double* Hierarchy::read_account(const double* from) {
  trouble_ = false;
  module_error_ = 0.0;
  errors_ = {};
  weakest_ = 1.0;
  total_rank_ = inner_rank_ = 0;
  return add_account(from);
}

/// The same on all ranks.
Status Hierarchy::conclusion() {
  if (errors_.joint_position > module_error_) errors_.worst_module = -1;
  errors_.position = std::max(module_error_, errors_.joint_position);
  errors_.velocity = std::max(errors_.velocity, errors_.joint_velocity);
  if (!trouble_) return {};
  Status status{workshop_.everyones_trouble()};
  workshop_.clear_trouble();
  return status;
}

double* Hierarchy::pack(const Group& group, double* to) {
  const auto put = [&](const auto& block) {
    for (Eigen::Index j = 0; j < block.cols(); ++j)
      for (Eigen::Index i = 0; i < block.rows(); ++i) *to++ = block(i, j);
  };
  for (const int kept : group.plan.kept) {
    const PortMotion& motion = group.motion[at(kept)];
    put(motion.R), put(motion.p), put(motion.w), put(motion.v);
  }
  put(group.R_up), put(group.scale_up);
  for (Eigen::Index j = 0; j < group.D_up.cols(); ++j)
    for (Eigen::Index i = j; i < group.D_up.rows(); ++i) *to++ = group.D_up(i, j);
  return to;
}

const double* Hierarchy::unpack(Group& group, const double* from) {
  const auto get = [&](auto& block) {
    for (Eigen::Index j = 0; j < block.cols(); ++j)
      for (Eigen::Index i = 0; i < block.rows(); ++i) block(i, j) = *from++;
  };
  for (const int kept : group.plan.kept) {
    PortMotion& motion = group.motion[at(kept)];
    get(motion.R), get(motion.p), get(motion.w), get(motion.v);
  }
  get(group.R_up), get(group.scale_up);
  for (Eigen::Index j = 0; j < group.D_up.cols(); ++j)
    for (Eigen::Index i = j; i < group.D_up.rows(); ++i) group.D_up(i, j) = group.D_up(j, i) = *from++;
  return from;
}

// --- one exchange

void Hierarchy::exchange_once(Level level) {
  write_account(&message_[at(workshop_.rank() == 0 ? 0 : ends_[at(workshop_.rank() - 1)])]);
  for (const Group& group : groups_)
    if (group.block >= 0 && group.plan.solved) pack(group, &message_[at(group.block)]);
  workshop_.transport().gather(message_, ends_);
  read_account(message_.data());
  for (std::size_t r = 1; r < ends_.size(); ++r) add_account(&message_[at(ends_[r - 1])]);
  if (trouble_) return;
  for (Group& group : groups_) {
    if (group.block >= 0 && !group.plan.solved) unpack(group, &message_[at(group.block)]);
    if (group.plan.spans_ranks()) eliminate(group, level);
  }
}

// --- the tree

/// Up, and down again with the forces and the account of the whole, so that a rank is done with the groups that span ranks when
/// it returns.
void Hierarchy::go_through_tree(Level level) {
  using Kind = Action::Kind;
  Transport& transport = workshop_.transport();
  const auto numbers = [&](const double* end) { return static_cast<std::size_t>(end - message_.data()); };
  for (const Action& action : actions_) {
    Group& group = groups_[at(action.group)];
    if (action.kind == Kind::kReceive) {
      transport.receive({message_.data(), at(kToldSize + message_size(group.plan.kept.size()))}, action.rank, 0);
      unpack(group, add_account(message_.data()));
    } else if (action.kind == Kind::kSend) {
      const double* const end = pack(group, write_account(message_.data()));
      transport.send({message_.data(), numbers(end)}, action.rank, 0);
      total_rank_ = inner_rank_ = 0;  // they have been counted
    } else if (!trouble_) {
      eliminate(group, level);
    }
  }
  for (auto action = actions_.rbegin(); action != actions_.rend(); ++action) {
    Group& group = groups_[at(action->group)];
    const auto forces = static_cast<std::size_t>(group.Q_up.size());
    if (action->kind == Kind::kSend) {
      transport.receive({message_.data(), kToldSize + forces}, action->rank, 0);
      std::copy_n(read_account(message_.data()), forces, group.Q_up.data());
    } else if (action->kind == Kind::kReceive) {
      std::copy_n(group.Q_up.data(), forces, write_account(message_.data()));
      transport.send({message_.data(), kToldSize + forces}, action->rank, 0);
    } else if (!trouble_) {
      find_forces(group);
    }
  }
  write_account(message_.data());
  tell_idle_ranks({message_.data(), +kToldSize});
  read_account(message_.data());
}

/// Ranks without modules stand behind the others, and hear from those what comes down from the top.
void Hierarchy::tell_idle_ranks(std::span<double> numbers) {
  Transport& transport = workshop_.transport();
  const int busy = workshop_.busy_ranks(), rank = workshop_.rank();
  if (rank >= busy) transport.receive(numbers, rank - busy, 0);
  if (rank + busy < transport.size()) transport.send(numbers, rank + busy, 0);
}

// --- sums over modules

void Hierarchy::add_members(Group& group, std::span<const PairOfSums> own) const {
  group.sums = {};
  if (group.plan.module >= 0) group.sums = own[group.at_work];
  for (const int child : group.plan.children)
    for (std::size_t k = 0; k < group.sums.size(); ++k) group.sums[k] += groups_[at(child)].sums[k];
}

PairOfSums Hierarchy::add_up(std::span<const PairOfSums> own) {
  for (Group& group : groups_)
    if (group.plan.solved && !group.plan.spans_ranks()) add_members(group, own);
  if (workshop_.busy_ranks() > 1) return is_tree() ? add_up_through_tree() : add_up_after_one_exchange();
  PairOfSums whole = groups_.empty() ? PairOfSums{} : groups_.back().sums;
  workshop_.transport().broadcast(whole, 0);
  return whole;
}

PairOfSums Hierarchy::add_up_after_one_exchange() {
  Transport& transport = workshop_.transport();
  std::vector<Group*> highest;  // in the order of the message
  for (Group& group : groups_)
    if (group.block >= 0) highest.push_back(&group);
  std::ranges::sort(highest, {}, [](const Group* group) { return group->block; });
  std::vector<double> numbers;
  std::vector<int> ends(at(transport.size()), 0);
  for (const Group* const group : highest) {
    numbers.insert(numbers.end(), group->sums.begin(), group->sums.end());
    ends[at(group->plan.rank)] = static_cast<int>(numbers.size());
  }
  for (std::size_t r = 1; r < ends.size(); ++r) ends[r] = std::max(ends[r], ends[r - 1]);
  transport.gather(numbers, ends);
  auto from = numbers.begin();
  for (Group* const group : highest)
    for (double& sum : group->sums) sum = *from++;
  for (Group& group : groups_)
    if (group.plan.spans_ranks()) add_members(group, {});
  return groups_.back().sums;
}

PairOfSums Hierarchy::add_up_through_tree() {
  using Kind = Action::Kind;
  Transport& transport = workshop_.transport();
  PairOfSums whole{};
  for (const Action& action : actions_) {
    Group& group = groups_[at(action.group)];
    if (action.kind == Kind::kReceive) transport.receive(group.sums, action.rank, 0);
    if (action.kind == Kind::kSend) transport.send(group.sums, action.rank, 0);
    if (action.kind == Kind::kSolve) add_members(group, {}), whole = group.sums;
  }
  for (auto action = actions_.rbegin(); action != actions_.rend(); ++action) {
    if (action->kind == Kind::kSend) transport.receive(whole, action->rank, 0);
    if (action->kind == Kind::kReceive) transport.send(whole, action->rank, 0);
  }
  tell_idle_ranks(whole);
  return whole;
}

}  // namespace linkwork
