#include "linkwork/io/trajectory_format.h"
#include "linkwork/model/input_error.h"

namespace linkwork {

bool has_hdf5() { return false; }

std::unique_ptr<TrajectoryWriter> make_hdf5_writer(const std::filesystem::path& file, std::span<const ColumnInfo>, std::size_t) {
  throw InputError({file.string(), 0, 0}, "this program was built without HDF5", "csv or mat");
}

TrajectoryTable read_hdf5_trajectory(const std::filesystem::path& file) {
  throw InputError({file.string(), 0, 0}, "this program was built without HDF5", "a build with it (LINKWORK_HDF5=ON)");
}

}  // namespace linkwork
