#pragma once

#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "linkwork/simulation/columns.h"

namespace linkwork {

/// What a trajectory is kept as once its run has ended. While it is going its rows are in trajectory.csv, whatever the format:
/// that can be followed, and gone on with after an interruption.
enum class TrajectoryFormat { kCsv, kHdf5, kMat };

/// Whether it was built in.
bool has_hdf5();
/// Throws InputError for what is none, or was not built in; `place` is that of the name.
TrajectoryFormat parse_trajectory_format(const std::string& name, const Place& place);
/// "trajectory.csv", "trajectory.h5", "trajectory.mat".
const char* trajectory_file_name(TrajectoryFormat format);

/// A column as other programs are told of it.
struct ColumnInfo {
  Column column;
  bool unique = true;  // false: a reaction that rigid bodies do not determine
};

/// A file with a known number of rows, written from the first to the last.
class TrajectoryWriter {
 public:
  virtual ~TrajectoryWriter() = default;
  /// As many numbers of every column, from a row on: values[column * count + i].
  virtual void write(std::size_t first_row, std::size_t count, std::span<const double> values) = 0;
  /// Writes what is left. Like write(), throws std::system_error when the disk does not take it.
  virtual void close() = 0;
};

/// HDF5: a dataset per column, of its name, with the attributes unit, index (its number) and, of reactions that are not unique,
/// not_unique.
std::unique_ptr<TrajectoryWriter> make_hdf5_writer(const std::filesystem::path& file, std::span<const ColumnInfo> columns,
                                                   std::size_t rows);
/// MATLAB 5: columns as fields of nested structs, q.theta; characters that such names cannot have become _. columns, fields,
/// units and not_unique are lists of texts: names, where they are found, units, and reactions that are not unique.
std::unique_ptr<TrajectoryWriter> make_mat_writer(const std::filesystem::path& file, std::span<const ColumnInfo> columns,
                                                  std::size_t rows);

/// Throws InputError if the format cannot hold that many rows.
void check_trajectory_size(TrajectoryFormat format, std::span<const ColumnInfo> columns, double rows);

/// Makes the file of a format from a trajectory.csv, which is removed unless it is to be kept.
void convert_trajectory(const std::filesystem::path& csv, TrajectoryFormat format, std::span<const ColumnInfo> columns,
                        bool keep_csv);

/// The trajectory of a run in its folder, whatever its format. Throws InputError if there is none.
std::filesystem::path find_trajectory(const std::filesystem::path& folder);

// For read_trajectory(): the columns' names, and their values one after the other.
struct TrajectoryTable {
  std::vector<std::string> columns;
  std::vector<std::vector<double>> values;  // by column
};
TrajectoryTable read_hdf5_trajectory(const std::filesystem::path& file);
TrajectoryTable read_mat_trajectory(const std::filesystem::path& file);

}  // namespace linkwork
