#include "linkwork/io/trajectory_format.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <system_error>

#include "linkwork/io/durable_file.h"
#include "linkwork/io/trajectory_reader.h"
#include "linkwork/model/input_error.h"

namespace linkwork {
namespace {

namespace fs = std::filesystem;

struct Format {
  TrajectoryFormat format;
  const char* name;
  const char* file;
};
constexpr std::array kFormats{Format{TrajectoryFormat::kCsv, "csv", "trajectory.csv"},
                              Format{TrajectoryFormat::kHdf5, "hdf5", "trajectory.h5"},
                              Format{TrajectoryFormat::kMat, "mat", "trajectory.mat"}};

constexpr std::size_t kBlockRows = 1024;

}  // namespace

TrajectoryFormat parse_trajectory_format(const std::string& name, const Place& place) {
  const auto found = std::ranges::find_if(kFormats, [&](const Format& format) { return format.name == name; });
  if (found == kFormats.end()) {
    std::vector<std::string> names;
    for (const Format& format : kFormats) names.emplace_back(format.name);
    throw unknown_name(place, "format", name, names);
  }
  if (found->format == TrajectoryFormat::kHdf5 && !has_hdf5())
    throw InputError(place, "this program was built without HDF5", "csv or mat, or a build with HDF5 (LINKWORK_HDF5=ON)");
  return found->format;
}

const char* trajectory_file_name(TrajectoryFormat format) { return kFormats[static_cast<std::size_t>(format)].file; }

/// A variable of MATLAB 5 has less than 2 GB; all columns with one prefix are one.
void check_trajectory_size(TrajectoryFormat format, std::span<const ColumnInfo> columns, double rows) {
  constexpr double kMostBytes = 2147483647.0, kOfColumn = 1000.0;
  if (format != TrajectoryFormat::kMat) return;
  std::map<std::string, double> bytes;
  for (const ColumnInfo& info : columns)
    bytes[info.column.name.substr(0, info.column.name.find('.'))] += rows * sizeof(double) + kOfColumn;
  for (const auto& [variable, size] : bytes)
    if (size > kMostBytes)
      throw InputError(
          {"--format", 0, 0},
          fmt::format("'{}' would have {:.2g} GB, and a variable of a MATLAB 5 file has less than 2 GB", variable, 1e-9 * size),
          "the format hdf5, fewer rows (--every), or fewer columns (--columns)");
}

void convert_trajectory(const fs::path& csv, TrajectoryFormat format, std::span<const ColumnInfo> columns, bool keep_csv) {
  if (format == TrajectoryFormat::kCsv) return;
  std::size_t rows = 0;
  read_trajectory(csv, [&](std::span<const double>) { ++rows; });
  check_trajectory_size(format, columns, static_cast<double>(rows));
  const fs::path file = csv.parent_path() / trajectory_file_name(format), part = part_of(file);
  {
    const auto writer =
        format == TrajectoryFormat::kHdf5 ? make_hdf5_writer(part, columns, rows) : make_mat_writer(part, columns, rows);
    std::vector<double> block, by_column;
    std::size_t first = 0;
    const auto flush = [&] {
      const std::size_t count = block.size() / columns.size();
      by_column.resize(block.size());
      for (std::size_t i = 0; i < count; ++i)
        for (std::size_t c = 0; c < columns.size(); ++c) by_column[c * count + i] = block[i * columns.size() + c];
      if (count > 0) writer->write(first, count, by_column);
      first += count;
      block.clear();
    };
    read_trajectory(csv, [&](std::span<const double> row) {
      block.insert(block.end(), row.begin(), row.end());
      if (block.size() >= kBlockRows * columns.size()) flush();
    });
    flush();
    writer->close();
  }
  sync_file(part);
  fs::rename(part, file);
  if (!keep_csv) fs::remove(csv);
}

/// trajectory.csv first: it is that of the run that is going on, or was last.
fs::path find_trajectory(const fs::path& folder) {
  std::error_code ignored;
  for (const Format& format : kFormats)
    if (fs::exists(folder / format.file, ignored)) return folder / format.file;
  return folder / kFormats.front().file;
}

}  // namespace linkwork
