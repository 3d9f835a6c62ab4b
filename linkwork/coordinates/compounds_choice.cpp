#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <map>

#include "linkwork/coordinates/compounds.h"
#include "linkwork/linalg/index.h"
#include "linkwork/linalg/rank.h"

/// How compounds choose their independent coordinates, and the order in which the others are solved for.
namespace linkwork {

void Compounds::choose(const Tree& tree, const TreeWork<double>& work, std::span<const ForceColumns> groups, bool sparse) {
  rank_ = 0;
  std::vector<double> bounds(A_.size());
  for (std::size_t g = 0; g < groups.size(); ++g)
    if (embedded_[g]) groups[g].write_bounds(tree, work, &bounds[at(first_values_[g])]);
  blocks_.clear(), solved_rows_.clear(), others_.clear(), indices_.clear();
  for (Compound& compound : compounds_) {
    compound.first_block = static_cast<int>(blocks_.size());
    choose(compound, bounds, sparse);
    compound.last_block = static_cast<int>(blocks_.size());
    const std::size_t nodes = compound.nodes.size(), columns = at(compound.columns());
    Scratch& scratch = scratch_[at(compound.scratch)];
    scratch.V.resize(std::max(scratch.V.size(), nodes * columns));
    scratch.carried.resize(scratch.V.size());
    scratch.composite.resize(std::max(scratch.composite.size(), nodes));
    scratch.bias.resize(scratch.composite.size());
  }
  compounds_ = std::vector<Compound>(compounds_);  // anew in one piece of memory: choosing has scattered them
  int inverse = 0, largest = 1;
  for (Block& block : blocks_) {
    block.inverse = inverse;
    inverse += block.size * block.size;
    largest = std::max(largest, block.size);
  }
  inverse_.resize(at(inverse));
  solving_.resize(at(2 * largest * largest));
  chosen_ = true;
}

/// By row of the compound, as rank.h decides.
std::vector<char> Compounds::independent_rows(const Compound& compound, std::span<const double> bounds) const {
  const int rows = static_cast<int>(compound.rows.size()), dofs = static_cast<int>(compound.dofs.size());
  MatX<double> A = MatX<double>::Zero(rows, dofs), largest = A;
  for (int r = 0; r < rows; ++r)
    for (const Entry& entry : compound.rows[at(r)].entries) {
      A(r, entry.dof) = A_[at(entry.value)];
      largest(r, entry.dof) = bounds[at(entry.value)];
    }
  const VecX<double> unit = Eigen::Map<const VecX<double>>(compound.unit.data(), dofs);
  RankTest test;
  std::vector<char> marks(at(rows));
  dependent_rows(A, largest, unit.cwiseAbs2(), test, marks);
  for (char& mark : marks) mark = mark == 0 ? 1 : 0;
  return marks;
}

/// Gaussian elimination on the independent rows, with pivots that are large and touch few other rows and columns. Coordinates
/// without a pivot are independent.
void Compounds::choose(Compound& compound, std::span<const double> bounds, bool sparse) {
  constexpr double kLargeEnough = 0.1;
  const int rows = static_cast<int>(compound.rows.size()), dofs = static_cast<int>(compound.dofs.size());
  const std::vector<char> kept = independent_rows(compound, bounds);
  std::vector<std::map<int, double>> a(at(rows));
  std::vector<double> scale(at(rows), 0.0);
  std::vector<int> touched(at(dofs), 0);  // rows that involve a coordinate
  for (int r = 0; r < rows; ++r) {
    if (!kept[at(r)]) continue;
    for (const Entry& entry : compound.rows[at(r)].entries) {
      const double value = A_[at(entry.value)] * compound.unit[at(entry.dof)];
      a[at(r)][entry.dof] = value;
      scale[at(r)] = std::max(scale[at(r)], std::abs(value));
      ++touched[at(entry.dof)];
    }
  }
  std::vector<int> row_of_dof(at(dofs), -1);
  std::vector<char> done(at(rows), 0);
  for (;;) {
    int pivot_row = -1, pivot_dof = -1;
    double best_cost = std::numeric_limits<double>::infinity(), best_size = 0.0;
    for (int r = 0; r < rows; ++r) {
      if (done[at(r)]) continue;
      double largest = 0.0;
      for (const auto& [dof, value] : a[at(r)]) largest = std::max(largest, std::abs(value));
      if (!(largest > 0.0)) continue;
      for (const auto& [dof, value] : a[at(r)]) {
        if (std::abs(value) < kLargeEnough * largest) continue;
        const double cost = sparse ? (static_cast<double>(a[at(r)].size()) - 1.0) * (touched[at(dof)] - 1.0) : 0.0;
        const double size = std::abs(value) / scale[at(r)];
        if (cost > best_cost || (cost == best_cost && size <= best_size)) continue;
        best_cost = cost, best_size = size, pivot_row = r, pivot_dof = dof;
      }
    }
    if (pivot_row < 0) break;
    done[at(pivot_row)] = 1;
    row_of_dof[at(pivot_dof)] = pivot_row;
    const std::map<int, double>& pivot = a[at(pivot_row)];
    for (const auto& [dof, value] : pivot) --touched[at(dof)];
    for (int r = 0; r < rows; ++r) {
      if (done[at(r)]) continue;
      const auto found = a[at(r)].find(pivot_dof);
      if (found == a[at(r)].end()) continue;
      const double factor = found->second / pivot.at(pivot_dof);
      for (const auto& [dof, value] : pivot) {
        if (dof == pivot_dof) continue;
        const auto [entry, added] = a[at(r)].try_emplace(dof, 0.0);
        if (added) ++touched[at(dof)];
        entry->second -= factor * value;
      }
      a[at(r)].erase(found);
      --touched[at(pivot_dof)];
    }
  }
  compound.independent.clear();
  for (int dof = 0; dof < dofs; ++dof)
    if (row_of_dof[at(dof)] < 0) compound.independent.push_back(dof);
  for (int r = 0; r < rows; ++r) {
    dependent_[at(compound.rows[at(r)].row)] = done[at(r)] ? 0 : 1;
    rank_ += done[at(r)];
  }
  arrange_blocks(compound, row_of_dof);

  const int n = static_cast<int>(compound.independent.size());
  const std::size_t columns = at(n + 1);
  compound.G.assign(compound.dofs.size() * columns, 0.0);
  for (int k = 0; k < n; ++k) compound.G[at(compound.independent[at(k)]) * columns + at(k)] = 1.0;
  compound.U.assign(columns, {});
  compound.force.setZero(n);
  compound.solved.setZero(n);
  if (n > 0) compound.factor.compute(MatX<double>::Identity(n, n));
}

/// Strongly connected sets of rows, where a row needs another if it involves the coordinate that the other gives (Tarjan); they
/// come out in the order they can be solved.
void Compounds::arrange_blocks(Compound& compound, const std::vector<int>& row_of_dof) {
  const int rows = static_cast<int>(compound.rows.size());
  std::vector<int> dof_of_row(at(rows), -1);
  for (std::size_t dof = 0; dof < row_of_dof.size(); ++dof)
    if (row_of_dof[dof] >= 0) dof_of_row[at(row_of_dof[dof])] = static_cast<int>(dof);
  std::vector<int> index(at(rows), -1), low(at(rows), 0), stack;
  std::vector<char> on_stack(at(rows), 0);
  int counter = 0;
  const std::function<void(int)> visit = [&](int r) {
    index[at(r)] = low[at(r)] = counter++;
    stack.push_back(r);
    on_stack[at(r)] = 1;
    for (const Entry& entry : compound.rows[at(r)].entries) {
      const int other = row_of_dof[at(entry.dof)];
      if (other < 0 || other == r) continue;
      if (index[at(other)] < 0) {
        visit(other);
        low[at(r)] = std::min(low[at(r)], low[at(other)]);
      } else if (on_stack[at(other)]) {
        low[at(r)] = std::min(low[at(r)], index[at(other)]);
      }
    }
    if (low[at(r)] != index[at(r)]) return;
    std::vector<int> members, dependents;
    for (int member = -1; member != r;) {
      member = stack.back();
      stack.pop_back();
      on_stack[at(member)] = 0;
      members.push_back(member);
      dependents.push_back(dof_of_row[at(member)]);
    }
    add_block(compound, members, dependents);
  };
  for (int r = 0; r < rows; ++r)
    if (dof_of_row[at(r)] >= 0 && index[at(r)] < 0) visit(r);
}

void Compounds::add_block(const Compound& compound, std::span<const int> rows, std::span<const int> dependents) {
  const auto size_of = [](const auto& items) { return static_cast<int>(items.size()); };
  Block block{size_of(rows), size_of(solved_rows_), size_of(indices_), size_of(indices_) + size_of(rows), 0};
  indices_.insert(indices_.end(), dependents.begin(), dependents.end());
  indices_.resize(indices_.size() + rows.size() * rows.size(), -1);
  int* inside = &indices_[at(block.entries)];
  for (int member : rows) {
    const Row& row = compound.rows[at(member)];
    SolvedRow solved{row.row, size_of(others_), 0};
    for (const Entry& entry : row.entries) {
      const auto found = std::ranges::find(dependents, entry.dof);
      if (found != dependents.end())
        inside[found - dependents.begin()] = entry.value;
      else
        others_.push_back(entry);
    }
    inside += rows.size();
    solved.last_other = size_of(others_);
    solved_rows_.push_back(solved);
  }
  blocks_.push_back(block);
}

}  // namespace linkwork
