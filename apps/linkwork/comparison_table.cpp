#include "apps/linkwork/comparison_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <functional>
#include <limits>

#include "apps/linkwork/terminal.h"
#include "apps/linkwork/text.h"
#include "linkwork/model/input_error.h"

namespace linkwork::cli {
namespace {

/// A column of names, shown if they differ.
struct NameColumn {
  const char* title;
  std::function<std::string(const ComparisonRow&)> text;
};

const std::vector<NameColumn>& name_columns() {
  static const std::vector<NameColumn> all{
      {"case", [](const ComparisonRow& row) { return row.problem; }},
      {"coordinates", [](const ComparisonRow& row) { return row.coordinates; }},
      {"formulation", [](const ComparisonRow& row) { return row.formulation; }},
      {"stabilization", [](const ComparisonRow& row) { return row.stabilization; }},
      {"integrator", [](const ComparisonRow& row) { return row.integrator; }},
      {"step or rtol", [](const ComparisonRow& row) { return row.pace(); }},
  };
  return all;
}

/// A column of numbers, of which the smallest is the best.
struct NumberColumn {
  const char* title;
  const char* format;
  std::function<double(const ComparisonRow&)> value;
  bool competes = true;
};

const std::vector<NumberColumn>& number_columns() {
  static const std::vector<NumberColumn> all{
      {"error in q", "{:.2e}", [](const ComparisonRow& row) { return row.error; }},
      {"constraint", "{:.1e}", [](const ComparisonRow& row) { return row.position_error; }},
      {"energy", "{:.1e}", [](const ComparisonRow& row) { return row.energy_drift; }},
      {"steps", "{:.0f}", [](const ComparisonRow& row) { return static_cast<double>(row.steps); }, false},
      {"evaluations", "{:.0f}", [](const ComparisonRow& row) { return static_cast<double>(row.evaluations); }},
      {"us/eval", "{:.3g}", [](const ComparisonRow& row) { return row.microseconds_per_evaluation(); }},
      {"wall s", "{:.3g}", [](const ComparisonRow& row) { return row.wall_seconds; }},
  };
  return all;
}

bool differs(const Comparison& comparison, const NameColumn& column) {
  const std::string first = column.text(comparison.rows.front());
  return std::ranges::any_of(comparison.rows, [&](const ComparisonRow& row) { return column.text(row) != first; });
}

class Table {
 public:
  explicit Table(const Comparison& comparison) : comparison_(comparison) {
    for (const NameColumn& column : name_columns())
      if (differs(comparison, column)) names_.push_back(&column);
    if (names_.empty()) names_.push_back(&name_columns().back());
  }

  void print() const {
    std::vector<std::vector<std::string>> cells{titles()};
    std::vector<const ComparisonRow*> rows{nullptr};
    for (const ComparisonRow& row : comparison_.rows)
      if (row.ran()) cells.push_back(texts(row)), rows.push_back(&row);
    std::vector<std::size_t> widths(cells.front().size(), 0);
    for (const auto& line : cells)
      for (std::size_t c = 0; c < line.size(); ++c) widths[c] = std::max(widths[c], line[c].size());
    for (std::size_t i = 0; i < cells.size(); ++i) print_line_of(cells[i], widths, rows[i]);
  }

 private:
  std::vector<std::string> titles() const {
    std::vector<std::string> line;
    for (const NameColumn* column : names_) line.emplace_back(column->title);
    for (const NumberColumn& column : number_columns()) line.emplace_back(column.title);
    return line;
  }

  std::vector<std::string> texts(const ComparisonRow& row) const {
    std::vector<std::string> line;
    for (const NameColumn* column : names_) line.push_back(column->text(row));
    for (const NumberColumn& column : number_columns()) {
      const double value = column.value(row);
      line.push_back(std::isnan(value) ? "-" : fmt::format(fmt::runtime(column.format), value));
    }
    const double limit = reference_error(row);
    if (row.error < limit) line[names_.size()] = fmt::format("<{:.2e}", limit);
    return line;
  }

  /// Below this, errors in q mean nothing.
  double reference_error(const ComparisonRow& row) const {
    for (const ReferenceReport& reference : comparison_.references)
      if (reference.problem == row.problem) return reference.estimated_error;
    return ComparisonRow::kUnknown;
  }

  /// The best of its problem, or within a hundredth of it; errors that the reference cannot tell apart are equally good. Where
  /// all are alike there is none.
  bool is_best(const ComparisonRow& row, std::size_t column) const {
    constexpr double kAlike = 1.01;
    const NumberColumn& numbers = number_columns()[column];
    if (!numbers.competes) return false;
    const double floor = column == 0 ? std::max(0.0, reference_error(row)) : 0.0;
    double least = std::numeric_limits<double>::infinity(), most = 0.0;
    for (const ComparisonRow& other : comparison_.rows) {
      const double value = std::max(floor, numbers.value(other));
      if (!other.ran() || other.problem != row.problem || std::isnan(value)) continue;
      least = std::min(least, value);
      most = std::max(most, value);
    }
    return most > kAlike * least && std::max(floor, numbers.value(row)) <= kAlike * least;
  }

  /// Names to the left, numbers to the right with a star after the best.
  void print_line_of(const std::vector<std::string>& line, const std::vector<std::size_t>& widths,
                     const ComparisonRow* row) const {
    std::string text = " ";
    for (std::size_t c = 0; c < line.size(); ++c) {
      if (c < names_.size()) {
        text += fmt::format(" {:<{}} ", line[c], widths[c]);
        continue;
      }
      const bool best = row != nullptr && is_best(*row, c - names_.size());
      const std::string cell = fmt::format(" {:>{}}{}", line[c], widths[c], best ? "*" : " ");
      text += best ? praised(cell, stdout) : cell;
    }
    cli::print("{}\n", row == nullptr ? dimmed(text, stdout) : text);
  }

  const Comparison& comparison_;
  std::vector<const NameColumn*> names_;
};

void print_references(const Comparison& comparison) {
  for (const ReferenceReport& reference : comparison.references) {
    const std::string label = reference.problem.empty() ? "" : reference.problem + ": ";
    if (!reference.trouble.empty()) {
      print_line("reference", highlighted(label + "none, so errors in q are not known: " + reference.trouble, stdout));
      continue;
    }
    print_line("reference", label + reference.method);
    print_line("", fmt::format("good to {:.1e}: a second solution, with {}, differs by that", reference.estimated_error,
                               reference.check));
  }
}

void print_shared_methods(const Comparison& comparison) {
  std::vector<std::string> shared;
  for (const NameColumn& column : name_columns())
    if (std::string_view(column.title) != "case" && !differs(comparison, column))
      shared.push_back(column.text(comparison.rows.front()));
  if (!shared.empty()) print_line("all with", fmt::format("{}", fmt::join(shared, ", ")));
}

/// "rk4", or "rk4, rk2".
std::string distinct(const std::vector<const ComparisonRow*>& rows, const NameColumn& column) {
  std::vector<std::string> texts;
  for (const ComparisonRow* row : rows)
    if (std::string text = column.text(*row); std::ranges::find(texts, text) == texts.end()) texts.push_back(std::move(text));
  return fmt::format("{}", fmt::join(texts, ", "));
}

/// Runs that failed for the same reason, together.
void print_failures(const Comparison& comparison) {
  std::vector<std::vector<const ComparisonRow*>> groups;
  for (const ComparisonRow& row : comparison.rows) {
    if (row.ran()) continue;
    const auto is_same = [&](const auto& group) {
      return group.front()->reason == row.reason && group.front()->problem == row.problem &&
             group.front()->formulation == row.formulation;
    };
    const auto group = std::ranges::find_if(groups, is_same);
    if (group != groups.end())
      group->push_back(&row);
    else
      groups.push_back({&row});
  }
  for (const auto& group : groups) {
    std::vector<std::string> parts;
    for (const NameColumn& column : name_columns())
      if (std::string text = distinct(group, column); !text.empty()) parts.push_back(std::move(text));
    print_line("failed", highlighted(fmt::format("{}", fmt::join(parts, "; ")), stdout));
    print_line("", group.front()->reason);
  }
}

}  // namespace

void print_comparison(const Comparison& comparison) {
  print("{}: {} of {:.6g} s, compared every {:.6g} s\n", comparison.model,
        counted(static_cast<long>(comparison.rows.size()), "run"), comparison.end, comparison.every);
  print_references(comparison);
  print_shared_methods(comparison);
  if (comparison.any_ran()) {
    print("\n");
    Table(comparison).print();
    print("\n");
  }
  print_failures(comparison);
}

}  // namespace linkwork::cli
