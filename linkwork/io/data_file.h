#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "linkwork/model/input_error.h"

namespace linkwork {

/// A column of a data file, as the user asks for it.
struct ColumnRequest {
  std::string name;  // empty: `position` counts
  Place place;
  std::size_t position = 0;
};

struct DataColumns {
  std::vector<double> x, y;
};

/// Reads two columns of a text with comma-separated values (or ones separated by semicolons or tabs): a line of names, then a
/// line of numbers for each row. Lines that are empty or begin with # are skipped. Throws InputError, with the place in the data,
/// unless all values are finite and x increases.
DataColumns read_columns(std::string_view text, const std::string& file, const ColumnRequest& x, const ColumnRequest& y);

/// The names of its columns.
std::vector<std::string> data_column_names(std::string_view text, const std::string& file);

}  // namespace linkwork
