// The messages of Hierarchy: one exchange, or swaps on the way up the tree of groups.

#include <algorithm>
#include <array>
#include <tuple>

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

constexpr std::size_t kPair = std::tuple_size_v<PairOfSums>;

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
      if (!is_highest[g] || groups_[g].plan.first_rank != rank) continue;
      groups_[g].block = size;
      size += message_size(groups_[g].plan.kept.size());
    }
    ends_.push_back(size);
  }
  message_.assign(at(size), 0.0);
}

/// Whoever is not of a child's ranks hears of it from one of them, each from another one as far as there are enough.
void Hierarchy::list_swaps() {
  const int rank = workshop_.rank();
  for (std::size_t g = 0; g < groups_.size(); ++g) {
    const PlannedGroup& plan = groups_[g].plan;
    if (!plan.spans_ranks() || !plan.solved) continue;
    auto swap = std::ranges::find(swaps_, plan.layer_top, &Swap::top);
    if (swap == swaps_.end()) swap = swaps_.insert(swap, {plan.layer_top, {}, {}, {}});
    swap->solved.push_back(static_cast<int>(g));
  }
  std::ranges::sort(swaps_, {}, &Swap::top);
  std::size_t most = 0;
  for (Swap& swap : swaps_) {
    const PlannedGroup& top = groups_[at(swap.solved.back())].plan;
    for (const int solved : swap.solved)
      for (const int child : groups_[at(solved)].plan.children) {
        const PlannedGroup& its = groups_[at(child)].plan;
        if (its.layer_top == swap.top) continue;
        const int size = its.last_rank - its.first_rank + 1;
        const auto teller = [&](int other) { return its.first_rank + (other - top.first_rank) % size; };
        if (its.first_rank > rank || rank > its.last_rank) {
          swap.heard.push_back({child, teller(rank)});
          continue;
        }
        Swap::Told told{child, {}};
        for (int other = top.first_rank; other <= top.last_rank; ++other)
          if ((other < its.first_rank || its.last_rank < other) && teller(other) == rank) told.to.push_back(other);
        if (!told.to.empty()) swap.told.push_back(std::move(told));
      }
    most = std::max(most, swap.told.size() + swap.heard.size());
  }
  letters_.resize(most);
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
  return group.up.write(to);
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
  return group.up.read(from);
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

/// A letter tells of a group: size(group), pack(group, to), unpack(group, from). Then solve(group).
template <class Size, class Pack, class Unpack, class Solve>
void Hierarchy::swap_through_tree(Size size, Pack pack, Unpack unpack, Solve solve) {
  for (const Swap& swap : swaps_) {
    out_.clear();
    in_.clear();
    auto letter = letters_.begin();
    const auto next_letter = [&](const Group& group) -> std::vector<double>& {
      letter->resize(size(group));
      return *letter++;
    };
    for (const Swap::Told& told : swap.told) {
      std::vector<double>& own = next_letter(groups_[at(told.group)]);
      pack(groups_[at(told.group)], own.data());
      for (const int to : told.to) out_.push_back({own, to, 0});
    }
    for (const Swap::Heard& heard : swap.heard) in_.push_back({next_letter(groups_[at(heard.group)]), heard.from, 0});
    workshop_.transport().exchange(out_, in_);
    for (std::size_t h = 0; h < in_.size(); ++h) unpack(groups_[at(swap.heard[h].group)], in_[h].data.data());
    for (const int solved : swap.solved) solve(groups_[at(solved)]);
  }
}

void Hierarchy::go_through_tree(Level level) {
  swap_through_tree([](const Group& group) { return kToldSize + kPair + at(message_size(group.plan.kept.size())); },
                    [&](const Group& group, double* to) { pack(group, std::ranges::copy(group.ranks, write_account(to)).out); },
                    [&](Group& group, const double* from) {
                      from = add_account(from);
                      std::copy_n(from, kPair, group.ranks.begin());
                      unpack(group, from + kPair);
                    },
                    [&](Group& group) {
                      if (trouble_) return;
                      eliminate(group, level);
                      add_ranks(group);
                    });
  if (!groups_.empty()) {  // in the account some were counted by several ranks
    total_rank_ = static_cast<int>(groups_.back().ranks[0]);
    inner_rank_ = static_cast<int>(groups_.back().ranks[1]);
  }
  std::array<double, kToldSize> account{};
  write_account(account.data());
  tell_idle_ranks(account);
  read_account(account.data());
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

void Hierarchy::add_ranks(Group& group) const {
  group.ranks = {group.rows() > 0 ? static_cast<double>(group.rank.rank) : 0.0, 0.0};
  if (group.plan.module >= 0) group.ranks[1] = workshop_.modules()[group.at_work].module->rank();
  for (const int child : group.plan.children)
    for (std::size_t k = 0; k < kPair; ++k) group.ranks[k] += groups_[at(child)].ranks[k];
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
    ends[at(group->plan.first_rank)] = static_cast<int>(numbers.size());
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
  swap_through_tree([](const Group&) { return kPair; }, [](const Group& group, double* to) { std::ranges::copy(group.sums, to); },
                    [](Group& group, const double* from) { std::copy_n(from, kPair, group.sums.begin()); },
                    [&](Group& group) { add_members(group, {}); });
  PairOfSums whole = groups_.empty() ? PairOfSums{} : groups_.back().sums;
  tell_idle_ranks(whole);
  return whole;
}

}  // namespace linkwork
