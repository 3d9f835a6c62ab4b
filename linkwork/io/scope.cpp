#include "linkwork/io/scope.h"

#include <fmt/format.h>

#include <cmath>

#include "linkwork/io/model_keys.h"

namespace linkwork {
namespace {

constexpr double kLargestIndex = 1e15;  // still an exact integer
constexpr std::size_t kMostIndices = 8;

bool is_integer(double value) { return std::abs(value) <= kLargestIndex && value == std::floor(value); }

}  // namespace

double Scope::number(const TomlValue& value, const std::string& subject, std::string_view expected) const {
  if (value.is_number()) {
    if (!std::isfinite(value.number)) throw InputError(place(value), subject + " is " + value.description(), "a finite number");
    return value.number;
  }
  if (value.kind == TomlValue::Kind::kString) {
    return Expression::parse(text(value), constants_, Variables::kNone, place(value), vocabulary_).constant_value();
  }
  throw InputError(place(value), subject + " is " + value.description(),
                   std::string(expected) + ", or an expression of parameters in quotes");
}

std::string Scope::text(const TomlValue& value) const {
  const std::string& source = value.text;
  if (indices_.empty() || source.find_first_of("{}") == std::string::npos) return source;
  std::string result;
  for (std::size_t at = 0; at < source.size(); ++at) {
    const char c = source[at];
    const bool doubled = (c == '{' || c == '}') && at + 1 < source.size() && source[at + 1] == c;
    if (doubled) ++at;
    if (doubled || c != '{') {
      result += c;
      continue;
    }
    const std::size_t close = source.find('}', at);
    if (close == std::string::npos) {
      throw InputError(inside_text(place(value), source, at), "'{' is not closed",
                       "{i}, {i-1} and the like, or {{ for a plain brace");
    }
    // As a place for the expression, the brace stands where a quote would.
    Place brace = inside_text(place(value), source, at);
    const double index =
        Expression::parse(std::string_view(source).substr(at + 1, close - at - 1), constants_, Variables::kNone, brace)
            .constant_value();
    if (!is_integer(index))
      throw InputError(brace, fmt::format("{} has the value {}", source.substr(at, close + 1 - at), index), "an integer");
    result += fmt::format("{:.0f}", index == 0.0 ? 0.0 : index);
    at = close;
  }
  return result;
}

Expression Scope::expression(const TomlValue& value, Variables allowed, const std::string& subject,
                             std::string_view expected) const {
  if (value.kind == TomlValue::Kind::kString)
    return Expression::parse(text(value), constants_, allowed, place(value), vocabulary_);
  if (!value.is_number()) throw InputError(place(value), subject + " is " + value.description(), std::string(expected));
  return Expression::constant(number(value, subject));
}

void Scope::for_each(const TomlValue& repeat, const std::function<void(double)>& admit, const std::function<void()>& visit) {
  const std::vector<Index> indices = read_indices(repeat);
  double count = 1.0;
  for (const Index& index : indices) count *= index.count();
  admit(count);
  if (count == 0.0) return;
  for (const Index& index : indices) indices_.push_back(index.name);
  run(indices, 0, visit);
  for (const Index& index : indices) constants_.erase(index.name);
  indices_.clear();
}

void Scope::run(const std::vector<Index>& indices, std::size_t depth, const std::function<void()>& visit) {
  if (depth == indices.size()) {
    try {
      visit();
    } catch (const InputError& error) {
      throw InputError(error.place(), error.message() + " (" + values_of_indices() + ")");
    }
    return;
  }
  double& value = constants_[indices[depth].name];
  for (std::int64_t i = indices[depth].first; i <= indices[depth].last; ++i) {
    value = static_cast<double>(i);
    run(indices, depth + 1, visit);
  }
}

std::vector<Scope::Index> Scope::read_indices(const TomlValue& repeat) const {
  const std::string expected(in_words(KeyKind::kRepeat));
  if (repeat.kind != TomlValue::Kind::kTable || repeat.entries.empty()) {
    const bool empty = repeat.kind == TomlValue::Kind::kTable;
    throw InputError(place(repeat), "'repeat' is " + (empty ? "empty" : repeat.description()), expected);
  }
  if (repeat.entries.size() > kMostIndices) {
    throw InputError(place(repeat), fmt::format("'repeat' has {} indices", repeat.entries.size()),
                     fmt::format("at most {}", kMostIndices));
  }
  std::vector<Index> indices;
  for (const TomlEntry& entry : repeat.entries) {
    if (!is_identifier(entry.key) || is_reserved_name(entry.key)) {
      throw InputError(place(entry), "'" + entry.key + "' cannot be an index",
                       "a name of letters, digits and _ that is not t, pi or a function");
    }
    if (constants_.contains(entry.key))
      throw InputError(place(entry), "the index '" + entry.key + "' is also a parameter", "a name of its own");
    const TomlValue& range = entry.value;
    if (range.kind != TomlValue::Kind::kArray || range.items.size() != 2) {
      throw InputError(place(range), "the range of '" + entry.key + "' is " + range.description(), "[first, last]");
    }
    indices.push_back({entry.key, read_bound(range.items[0], entry.key), read_bound(range.items[1], entry.key)});
  }
  return indices;
}

std::int64_t Scope::read_bound(const TomlValue& value, const std::string& index) const {
  const std::string subject = "the range of '" + index + "'";
  const double bound = number(value, subject, "an integer");
  if (!is_integer(bound)) throw InputError(place(value), fmt::format("{} has the end {}", subject, bound), "an integer");
  return static_cast<std::int64_t>(bound);
}

std::string Scope::values_of_indices() const {
  std::string list;
  for (const std::string& name : indices_)
    list += fmt::format("{}{} = {:.0f}", list.empty() ? "with " : ", ", name, constants_.at(name));
  return list;
}

}  // namespace linkwork
