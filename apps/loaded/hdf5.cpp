// In place of linkwork/io/hdf5_trajectory.cpp in the program.
#include "apps/loaded/functions_of.h"
#include "linkwork/model/input_error.h"

namespace linkwork {

namespace {

const loaded::Hdf5Functions& hdf5() {
  try {
    static const loaded::Hdf5Functions& functions =
        loaded::functions_of<loaded::Hdf5Functions>(loaded::kHdf5Library, "LINKWORK_HDF5_LIBRARY", loaded::kHdf5Entry, false);
    return functions;
  } catch (const std::runtime_error& error) {
    throw InputError({}, error.what(), "csv or mat");
  }
}

}  // namespace

/// Before a run, not after it.
bool has_hdf5() {
  hdf5();
  return true;
}

std::unique_ptr<TrajectoryWriter> make_hdf5_writer(const std::filesystem::path& file, std::span<const ColumnInfo> columns,
                                                   std::size_t rows) {
  return hdf5().make_writer(file, columns, rows);
}

TrajectoryTable read_hdf5_trajectory(const std::filesystem::path& file) { return hdf5().read(file); }

}  // namespace linkwork
