#include "linkwork/io/data_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

namespace linkwork {
namespace {

std::string_view trimmed(std::string_view field) {
  constexpr std::string_view kAround = " \t\r\"";
  const std::size_t first = field.find_first_not_of(kAround), last = field.find_last_not_of(kAround);
  return first == std::string_view::npos ? std::string_view() : field.substr(first, last - first + 1);
}

/// Hands out lines, and the fields of a line.
class Lines {
 public:
  explicit Lines(std::string_view text) : rest_(text) {
    if (rest_.starts_with("\xEF\xBB\xBF")) rest_.remove_prefix(3);
  }

  /// The next line that is neither empty nor a comment.
  bool next(std::string_view& line) {
    while (!rest_.empty()) {
      const std::size_t end = std::min(rest_.find('\n'), rest_.size());
      line = rest_.substr(0, end);
      rest_.remove_prefix(std::min(end + 1, rest_.size()));
      ++number_;
      const std::size_t first = line.find_first_not_of(" \t\r");
      if (first != std::string_view::npos && line[first] != '#') return true;
    }
    return false;
  }
  int number() const { return number_; }

 private:
  std::string_view rest_;
  int number_ = 0;
};

class ColumnReader {
 public:
  ColumnReader(std::string_view text, const std::string& file) : lines_(text), file_(file) {}

  std::vector<std::string> names() {
    read_names();
    return std::move(names_);
  }

  DataColumns read(const ColumnRequest& x, const ColumnRequest& y) {
    read_names();
    const std::size_t at_x = column(x), at_y = column(y);
    DataColumns data;
    while (lines_.next(line_)) {
      find_fields(std::max(at_x, at_y) + 1);
      data.x.push_back(number(at_x));
      data.y.push_back(number(at_y));
      const std::size_t rows = data.x.size();
      if (rows > 1 && !(data.x[rows - 1] > data.x[rows - 2]))
        throw InputError(place(at_x), fmt::format("'{}' is {} after {}", names_[at_x], data.x[rows - 1], data.x[rows - 2]),
                         "values that increase from row to row");
    }
    if (data.x.empty()) throw InputError({file_, 0, 0}, "the file has no rows of numbers", "at least one below the names");
    return data;
  }

 private:
  void read_names() {
    if (!lines_.next(line_)) throw InputError({file_, 1, 1}, "the file is empty", "a line of names, then lines of numbers");
    for (const char separator : {'\t', ',', ';'})
      if (line_.find(separator) != std::string_view::npos) separator_ = separator;
    find_fields(0);
    for (const std::string_view field : fields_) names_.emplace_back(trimmed(field));
    double ignored = 0.0;
    if (std::ranges::all_of(names_, [&](const std::string& name) { return parse(name, ignored); }))
      throw InputError({file_, lines_.number(), 1}, "the first line has numbers only",
                       "the names of the columns before the numbers");
  }

  std::size_t column(const ColumnRequest& wanted) const {
    if (wanted.name.empty()) {
      if (wanted.position < names_.size()) return wanted.position;
      throw InputError(wanted.place, fmt::format("'{}' has {} columns", file_, names_.size()), "at least 2");
    }
    const auto found = std::ranges::find(names_, wanted.name);
    if (found == names_.end()) throw unknown_name(wanted.place, fmt::format("column of '{}'", file_), wanted.name, names_);
    return static_cast<std::size_t>(found - names_.begin());
  }

  /// At least so many; 0: all.
  void find_fields(std::size_t count) {
    fields_.clear();
    for (std::size_t from = 0; count == 0 || fields_.size() < count;) {
      const std::size_t end = line_.find(separator_, from);
      fields_.push_back(line_.substr(from, end - from));
      if (end == std::string_view::npos) break;
      from = end + 1;
    }
  }

  static bool parse(std::string_view field, double& value) {
    field = trimmed(field);
    if (field.starts_with('+')) field.remove_prefix(1);
    const auto [end, error] = std::from_chars(field.data(), field.data() + field.size(), value);
    return error == std::errc() && end == field.data() + field.size();
  }

  double number(std::size_t at) const {
    if (at >= fields_.size())
      throw InputError({file_, lines_.number(), 1}, fmt::format("the line ends before '{}'", names_[at]),
                       fmt::format("{} values", names_.size()));
    double value = 0.0;
    if (!parse(fields_[at], value))
      throw InputError(place(at), fmt::format("'{}' is '{}'", names_[at], trimmed(fields_[at]).substr(0, 40)), "a number");
    if (!std::isfinite(value)) throw InputError(place(at), fmt::format("'{}' is {}", names_[at], value), "a finite number");
    return value;
  }

  Place place(std::size_t at) const { return {file_, lines_.number(), static_cast<int>(fields_[at].data() - line_.data()) + 1}; }

  Lines lines_;
  std::string file_;
  char separator_ = ',';
  std::string_view line_;
  std::vector<std::string_view> fields_;
  std::vector<std::string> names_;
};

}  // namespace

DataColumns read_columns(std::string_view text, const std::string& file, const ColumnRequest& x, const ColumnRequest& y) {
  return ColumnReader(text, file).read(x, y);
}

std::vector<std::string> data_column_names(std::string_view text, const std::string& file) {
  return ColumnReader(text, file).names();
}

}  // namespace linkwork
