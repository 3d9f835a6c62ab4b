#include "linkwork/io/trajectory_reader.h"

#include <fmt/format.h>

#include <charconv>
#include <fstream>

#include "linkwork/io/input_file.h"
#include "linkwork/io/trajectory_format.h"
#include "linkwork/model/input_error.h"

namespace linkwork {
namespace {

/// The fields of a header, quoted (RFC 4180) or not. A name may hold a line break: the header then has several lines.
std::vector<std::string> read_header(std::istream& stream) {
  std::vector<std::string> names(1);
  bool quoted = false;
  for (int c = stream.get(); c != EOF; c = stream.get()) {
    if (c == '"') {
      if (quoted && stream.peek() == '"')
        names.back() += static_cast<char>(stream.get());
      else
        quoted = !quoted;
    } else if (!quoted && c == ',') {
      names.emplace_back();
    } else if (!quoted && c == '\n') {
      return names;
    } else {
      names.back() += static_cast<char>(c);
    }
  }
  return {};  // the header itself is cut short
}

/// Whether the line holds exactly that many numbers.
bool parse_row(const std::string& line, std::vector<double>& row) {
  const char* at = line.data();
  const char* const end = at + line.size();
  for (std::size_t i = 0; i < row.size(); ++i) {
    const auto [next, error] = std::from_chars(at, end, row[i]);
    if (error != std::errc() && error != std::errc::result_out_of_range) return false;
    const bool last = i + 1 == row.size();
    if (last) return next == end;
    if (next == end || *next != ',') return false;
    at = next + 1;
  }
  return false;
}

}  // namespace

std::vector<std::string> read_trajectory(const std::filesystem::path& file,
                                         const std::function<void(std::span<const double> row)>& on_row) {
  check_input_file(file, "the trajectory of a run");
  const std::string extension = file.extension().string();
  if (extension == ".h5" || extension == ".mat") {
    const TrajectoryTable table = extension == ".h5" ? read_hdf5_trajectory(file) : read_mat_trajectory(file);
    std::vector<double> row(table.columns.size());
    for (std::size_t i = 0; i < table.values.front().size(); ++i) {
      for (std::size_t c = 0; c < row.size(); ++c) row[c] = table.values[c][i];
      on_row(row);
    }
    return table.columns;
  }
  std::ifstream stream(file, std::ios::binary);
  return read_trajectory(stream, file.string(), on_row);
}

std::vector<std::string> read_trajectory(std::istream& stream, const std::string& file,
                                         const std::function<void(std::span<const double> row)>& on_row) {
  std::vector<std::string> columns = read_header(stream);
  std::vector<double> row(columns.size());
  std::string line;
  for (int number = 2; std::getline(stream, line); ++number) {
    if (stream.eof()) break;  // no line end: cut short
    if (!parse_row(line, row))
      throw InputError({file, number, 0}, "is not a row of the table", fmt::format("{} numbers", columns.size()));
    on_row(row);
  }
  return columns;
}

}  // namespace linkwork
