#include "linkwork/ensemble/run_measure.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <limits>
#include <optional>

#include "linkwork/ensemble/no_value.h"

namespace linkwork {
namespace {

using Kind = RunMeasure::Kind;
constexpr std::array<std::pair<std::string_view, Kind>, 7> kKinds{{{"min", Kind::kMin},
                                                                   {"max", Kind::kMax},
                                                                   {"mean", Kind::kMean},
                                                                   {"rms", Kind::kRms},
                                                                   {"final", Kind::kFinal},
                                                                   {"integral", Kind::kIntegral},
                                                                   {"first", Kind::kFirst}}};
constexpr const char* kForms =
    "NAME=max(COLUMN), or min, mean, rms, final, integral, first(CONDITION), or an expression of these";

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

std::string trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t"), last = text.find_last_not_of(" \t");
  return first == text.npos ? std::string() : std::string(text.substr(first, last - first + 1));
}

std::optional<Kind> kind_of(std::string_view word) {
  const auto* const found = std::ranges::find(kKinds, word, &std::pair<std::string_view, Kind>::first);
  return found == kKinds.end() ? std::nullopt : std::optional(found->second);
}

std::size_t place_of(const std::vector<std::string>& names, const std::string& name) {
  return static_cast<std::size_t>(std::ranges::find(names, name) - names.begin());
}

}  // namespace

/// Takes reductions out of a text and puts variables m.1, m.2, ... in their place, which leaves an expression of these.
class RunMeasure::Parser {
 public:
  Parser(RunMeasure& measure, const std::vector<std::string>& known, Place place)
      : measure_(measure), known_(known), place_(std::move(place)) {
    for (const std::string& column : known) columns_.sensors.insert(column.substr(0, column.find('.')));
  }

  void parse(const std::string& text) {
    if (text.empty()) throw InputError(place_, "it measures nothing", kForms);
    const std::string rest = without_reductions(text);
    if (measure_.reductions_.empty())
      throw InputError(place_, fmt::format("'{}' does not say which of all rows counts", text), kForms);
    Vocabulary words;
    words.sensors = {"m"};
    measure_.of_reductions_ = Expression::parse(rest, {}, Variables::kEvent, place_, words);
    for (const std::string& variable : measure_.of_reductions_.variables()) {
      if (!variable.starts_with("m."))
        throw InputError(place_, fmt::format("'{}' does not say which of all rows counts", variable), kForms);
      measure_.reduction_slots_.push_back(std::stoul(variable.substr(3)) - 1);
    }
  }

 private:
  std::string without_reductions(std::string_view text) {
    std::string rest;
    for (std::size_t i = 0; i < text.size();) {
      if (text[i] == '"') {
        const std::size_t end = std::min(text.find('"', i + 1), text.size() - 1) + 1;
        rest += text.substr(i, end - i);
        i = end;
      } else if (is_word(text[i]) && (i == 0 || text[i - 1] != '.')) {
        std::size_t end = i;
        while (end < text.size() && is_word(text[end])) ++end;
        i = add_word(text, i, end, rest);
      } else {
        rest += text[i++];
      }
    }
    return rest;
  }

  /// A word, with what stands in parentheses after it if it is a function; where to go on.
  std::size_t add_word(std::string_view text, std::size_t begin, std::size_t end, std::string& rest) {
    const std::string_view word = text.substr(begin, end - begin);
    if (word == "m" && end < text.size() && text[end] == '.')  // what reductions are called below
      throw InputError(place_, "'m' is no column", kForms);
    const std::size_t open = text.find_first_not_of(" \t", end);
    if (open == text.npos || text[open] != '(') {
      rest += word;
      return end;
    }
    bool has_comma = false;
    const std::size_t close = closing(text, open, has_comma);
    const std::string inner(text.substr(open + 1, close - open - 1));
    const auto kind = kind_of(word);
    if (kind && !(has_comma && (*kind == Kind::kMin || *kind == Kind::kMax))) {
      if (has_comma) throw InputError(place_, fmt::format("{} has several arguments", word), "one expression of columns");
      rest += add_reduction(*kind, trimmed(inner));
    } else {
      check_function(word);
      rest += fmt::format("{}({})", word, without_reductions(inner));
    }
    return close + 1;
  }

  std::size_t closing(std::string_view text, std::size_t open, bool& has_comma) const {
    int depth = 0;
    bool quoted = false;
    for (std::size_t i = open; i < text.size(); ++i) {
      if (text[i] == '"') quoted = !quoted;
      if (quoted) continue;
      depth += text[i] == '(' ? 1 : text[i] == ')' ? -1 : 0;
      has_comma = has_comma || (text[i] == ',' && depth == 1);
      if (depth == 0) return i;
    }
    throw InputError(place_, "a parenthesis is not closed", kForms);
  }

  void check_function(std::string_view word) const {
    std::vector<std::string> known;
    for (const auto& [name, kind] : kKinds) known.emplace_back(name);
    for (const std::string& signature : function_signatures()) known.push_back(signature.substr(0, signature.find('(')));
    if (std::ranges::find(known, word) == known.end()) throw unknown_name(place_, "function", word, known);
  }

  std::string add_reduction(Kind kind, const std::string& text) {
    if (text.empty()) throw InputError(place_, "nothing stands between parentheses", "a column, or an expression of columns");
    // A name of the model may be no name of expressions: "left-crank".
    const bool is_column = std::ranges::find(known_, text) != known_.end();
    const bool is_name = std::ranges::all_of(text, [](char c) { return is_word(c) || c == '.'; });
    if (!is_column && is_name && text.find('.') != text.npos && std::isalpha(static_cast<unsigned char>(text[0])))
      throw unknown_name(place_, "column", text, known_);
    Reduction made{kind,
                   is_column ? Expression::linear({text}, {1.0}, 0.0, place_)
                             : Expression::parse(text, {}, Variables::kEvent, place_, columns_),
                   {}};
    for (const std::string& column : made.of.variables()) {
      if (std::ranges::find(known_, column) == known_.end()) throw unknown_name(place_, "column", column, known_);
      made.slots.push_back(place_of(measure_.columns_, column));
      if (made.slots.back() == measure_.columns_.size()) measure_.columns_.push_back(column);
    }
    measure_.reductions_.push_back(std::move(made));
    return fmt::format("m.r{}", measure_.reductions_.size());
  }

  RunMeasure& measure_;
  const std::vector<std::string>& known_;
  Place place_;
  Vocabulary columns_;
};

RunMeasure::RunMeasure(const std::string& text, const std::vector<std::string>& columns, const std::string& option) {
  const std::size_t equals = text.find('='), open = text.find('(');
  const bool has_name = equals < open && equals + 1 < text.size() && text[equals + 1] != '=';
  text_ = trimmed(has_name ? std::string_view(text).substr(equals + 1) : std::string_view(text));
  name_ = has_name ? trimmed(std::string_view(text).substr(0, equals)) : text_;
  const Place place{option + " " + text, 0, 0};
  if (has_name && name_.empty()) throw InputError(place, "the name is empty", kForms);
  Parser(*this, columns, place).parse(text_);
}

std::string RunMeasure::word(Kind kind) {
  return std::string(std::ranges::find(kKinds, kind, &std::pair<std::string_view, Kind>::second)->first);
}

bool RunMeasure::is_plain(Kind& kind, std::string& column) const {
  if (reductions_.size() != 1 || columns_.size() != 1) return false;
  const auto [begin, end] = std::pair{text_.find('('), text_.rfind(')')};
  if (end + 1 != text_.size() || trimmed(std::string_view(text_).substr(begin + 1, end - begin - 1)) != columns_.front())
    return false;
  kind = reductions_.front().kind, column = columns_.front();
  return kind_of(trimmed(std::string_view(text_).substr(0, begin))) == kind;
}

MeasuredRun::MeasuredRun(const std::vector<RunMeasure>& measures, const std::vector<std::string>& columns)
    : measures_(&measures), time_(places_of({"t"}, columns).front()) {
  for (std::size_t m = 0; m < measures.size(); ++m) {
    const std::vector<std::size_t> places = places_of(measures[m].columns_, columns);
    for (std::size_t r = 0; r < measures[m].reductions_.size(); ++r) {
      Sum& sum = sums_.emplace_back(Sum{.measure = m, .reduction = r, .places = {}, .when = kNoValue});
      for (const std::size_t slot : measures[m].reductions_[r].slots) sum.places.push_back(places[slot]);
    }
  }
}

void MeasuredRun::add(std::span<const double> row) {
  const double t = row[time_], dt = rows_ > 0 ? t - t_ : 0.0;
  if (rows_ == 0) begun_ = t;
  for (Sum& sum : sums_) {
    slots_.clear();
    for (const std::size_t place : sum.places) slots_.push_back(row[place]);
    const RunMeasure::Reduction& reduction = (*measures_)[sum.measure].reductions_[sum.reduction];
    const double x = reduction.of.evaluate<double>(slots_);
    if (rows_ == 0) sum.first = sum.extreme = x;
    // What is not a number stays so: no later row makes up for it.
    const bool is_further = reduction.kind == Kind::kMin ? x < sum.extreme : x > sum.extreme;
    if (is_further || std::isnan(x)) sum.extreme = x;
    if (rows_ > 0) {
      sum.integral += 0.5 * dt * (x + sum.last);
      sum.square += 0.5 * dt * (x * x + sum.last * sum.last);
    }
    sum.last = x;
    if (std::isnan(sum.when) && x != 0.0 && !std::isnan(x)) sum.when = t;
  }
  t_ = t;
  ++rows_;
}

double MeasuredRun::value(const Sum& sum) const {
  if (rows_ == 0) return kNoValue;
  const double time = t_ - begun_;
  switch ((*measures_)[sum.measure].reductions_[sum.reduction].kind) {
    case Kind::kMin:
    case Kind::kMax:
      return sum.extreme;
    case Kind::kMean:
      return time > 0.0 ? sum.integral / time : sum.last;
    case Kind::kRms:
      return time > 0.0 ? std::sqrt(sum.square / time) : std::abs(sum.last);
    case Kind::kFinal:
      return sum.last;
    case Kind::kIntegral:
      return sum.integral;
    case Kind::kFirst:
      break;
  }
  return sum.when;
}

std::vector<double> MeasuredRun::values() const {
  std::vector<double> values;
  std::vector<double> reduced, slots;
  for (std::size_t m = 0, s = 0; m < measures_->size(); ++m) {
    const RunMeasure& measure = (*measures_)[m];
    reduced.clear(), slots.clear();
    for (; s < sums_.size() && sums_[s].measure == m; ++s) reduced.push_back(value(sums_[s]));
    for (const std::size_t slot : measure.reduction_slots_) slots.push_back(reduced[slot]);
    values.push_back(measure.of_reductions_.evaluate<double>(slots));
  }
  return values;
}

std::vector<RunMeasure> parse_measures(const std::vector<std::string>& texts, const std::vector<std::string>& columns,
                                       const std::vector<std::string>& taken) {
  std::vector<RunMeasure> measures;
  std::vector<std::string> names = taken;
  for (const std::string& text : texts) {
    const RunMeasure& made = measures.emplace_back(text, columns);
    if (std::ranges::find(names, made.name()) != names.end())
      throw InputError({"--measure " + text, 0, 0}, fmt::format("the name '{}' is taken", made.name()), "another one");
    names.push_back(made.name());
  }
  return measures;
}

std::vector<std::size_t> places_of(const std::vector<std::string>& wanted, const std::vector<std::string>& columns) {
  std::vector<std::size_t> places;
  for (const std::string& name : wanted) {
    places.push_back(place_of(columns, name));
    if (places.back() == columns.size()) throw InputError({}, fmt::format("this run has no column '{}'", name));
  }
  return places;
}

}  // namespace linkwork
