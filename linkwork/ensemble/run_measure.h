#pragma once

#include <span>
#include <string>
#include <vector>

#include "linkwork/model/expression.h"

namespace linkwork {

/// A number that is read off the rows of a run: "stroke = max(q.slide) - min(q.slide)". What stands in max, min, mean, rms,
/// final, integral or first is an expression of columns. Means and integrals are those over time, by the trapezoidal rule;
/// first(...) is the time of the first row at which a condition holds, or NaN.
class RunMeasure {
 public:
  /// Throws InputError; `columns` are those of the model, `option` stands in messages.
  RunMeasure(const std::string& text, const std::vector<std::string>& columns, const std::string& option = "--measure");

  const std::string& name() const { return name_; }
  const std::string& text() const { return text_; }
  /// Those it reads.
  const std::vector<std::string>& columns() const { return columns_; }

  enum class Kind { kMin, kMax, kMean, kRms, kFinal, kIntegral, kFirst };
  static std::string word(Kind kind);  // "max"
  /// If it is one of these, of one column: which, and of what.
  bool is_plain(Kind& kind, std::string& column) const;

 private:
  friend class MeasuredRun;
  struct Reduction {
    Kind kind;
    Expression of;
    std::vector<std::size_t> slots;  // places of its variables in columns_
  };
  class Parser;

  std::string name_, text_;
  std::vector<std::string> columns_;
  std::vector<Reduction> reductions_;
  Expression of_reductions_;
  std::vector<std::size_t> reduction_slots_;  // places of its variables in reductions_
};

/// Reads measures off the rows of one run.
class MeasuredRun {
 public:
  /// `columns`: those of the rows. Throws InputError if one is not there.
  MeasuredRun(const std::vector<RunMeasure>& measures, const std::vector<std::string>& columns);

  void add(std::span<const double> row);
  std::vector<double> values() const;

 private:
  struct Sum {
    std::size_t measure, reduction;
    std::vector<std::size_t> places;  // of its variables in a row
    double first = 0.0, last = 0.0, extreme = 0.0, integral = 0.0, square = 0.0, when;
  };
  double value(const Sum& sum) const;

  const std::vector<RunMeasure>* measures_;
  std::size_t time_;
  std::vector<Sum> sums_;
  std::vector<double> slots_;
  long rows_ = 0;
  double begun_ = 0.0, t_ = 0.0;
};

/// All of them, with names that differ from each other and from `taken`. Throws InputError.
std::vector<RunMeasure> parse_measures(const std::vector<std::string>& texts, const std::vector<std::string>& columns,
                                       const std::vector<std::string>& taken);

/// The places of some columns among those of a run. Throws InputError if one is not there.
std::vector<std::size_t> places_of(const std::vector<std::string>& wanted, const std::vector<std::string>& columns);

}  // namespace linkwork
