#pragma once

#include <filesystem>
#include <memory>
#include <span>

#include "linkwork/io/trajectory_format.h"
#include "linkwork/transport/mailbox.h"
#include "linkwork/transport/transport.h"

/// Parts of the program in shared objects of their own, because the libraries they need double the start of a short run: HDF5,
/// which brings those of the web along, and MPI. The program is linked with functions that load them; other users of the library,
/// with those that they contain.
namespace linkwork::loaded {

struct Hdf5Functions {
  std::unique_ptr<TrajectoryWriter> (*make_writer)(const std::filesystem::path& file, std::span<const ColumnInfo> columns,
                                                   std::size_t rows);
  TrajectoryTable (*read)(const std::filesystem::path& file);
};
inline constexpr const char* kHdf5Library = "liblinkwork_hdf5.so";
inline constexpr const char* kHdf5Entry = "linkwork_hdf5";

/// The processes that mpirun started: there is one such group.
struct MpiFunctions {
  Transport& (*start)();
  void (*finish)();
  std::unique_ptr<Transport> (*first_ranks)(int count);
  std::unique_ptr<Mailbox> (*open_mailbox)();
};
inline constexpr const char* kMpiLibrary = "liblinkwork_mpi.so";
inline constexpr const char* kMpiEntry = "linkwork_mpi";

/// What their entries return; null if they are not of this version.
template <class Functions>
using Entry = const Functions* (*)(const char* version);

}  // namespace linkwork::loaded
