#include <fmt/format.h>
#include <hdf5.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <fstream>
#include <system_error>
#include <utility>

#include "linkwork/io/durable_file.h"
#include "linkwork/io/trajectory_format.h"
#include "linkwork/model/input_error.h"

namespace linkwork {
namespace {

namespace fs = std::filesystem;

/// An object of the library that is closed when it is left.
class Handle {
 public:
  Handle(hid_t id, herr_t (*closing)(hid_t)) : id_(id), close_(closing) {}
  Handle(Handle&& other) noexcept : id_(std::exchange(other.id_, -1)), close_(other.close_) {}
  Handle& operator=(Handle&&) = delete;
  ~Handle() { close(); }
  operator hid_t() const { return id_; }
  bool is_valid() const { return id_ >= 0; }
  bool close() { return id_ < 0 || close_(std::exchange(id_, -1)) >= 0; }

 private:
  hid_t id_;
  herr_t (*close_)(hid_t);
};

/// What goes wrong is told by us.
void be_silent() { H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr); }

[[noreturn]] void fail(const fs::path& file) {
  throw std::system_error(errno != 0 ? errno : EIO, std::generic_category(), file.string());
}

/// The library does not survive all damaged files. Ours begin with a line (HDF5: a user block) that tells their size and
/// checksum, so that it is asked about whole ones only.
constexpr std::size_t kUserBlock = 512;

std::string seal_of(const fs::path& file) {
  std::ifstream stream(file, std::ios::binary);
  stream.seekg(static_cast<std::streamoff>(kUserBlock));
  std::vector<char> block(1U << 16U);
  std::uint64_t sum = kEmptyChecksum, size = kUserBlock;
  while (stream.read(block.data(), std::ssize(block)), stream.gcount() > 0) {
    sum = checksum({block.data(), static_cast<std::size_t>(stream.gcount())}, sum);
    size += static_cast<std::uint64_t>(stream.gcount());
  }
  return fmt::format("Linkwork trajectory, {} bytes, checksum {:016x}\n", size, sum);
}

bool is_sealed(const fs::path& file) {
  const std::string seal = seal_of(file);
  std::string found(seal.size(), '\0');
  std::ifstream stream(file, std::ios::binary);
  return stream.read(found.data(), std::ssize(found)) && found == seal;
}

void add_text(hid_t to, const char* name, const std::string& text) {
  const Handle type(H5Tcopy(H5T_C_S1), &H5Tclose);
  H5Tset_size(type, std::max<std::size_t>(text.size(), 1));
  H5Tset_cset(type, H5T_CSET_UTF8);
  const Handle space(H5Screate(H5S_SCALAR), &H5Sclose);
  const Handle attribute(H5Acreate2(to, name, type, space, H5P_DEFAULT, H5P_DEFAULT), &H5Aclose);
  const std::string padded = text.empty() ? std::string(1, '\0') : text;
  H5Awrite(attribute, type, padded.data());
}

void add_number(hid_t to, const char* name, int number) {
  const Handle space(H5Screate(H5S_SCALAR), &H5Sclose);
  const Handle attribute(H5Acreate2(to, name, H5T_STD_I32LE, space, H5P_DEFAULT, H5P_DEFAULT), &H5Aclose);
  H5Awrite(attribute, H5T_NATIVE_INT, &number);
}

class Hdf5Writer : public TrajectoryWriter {
 public:
  Hdf5Writer(fs::path file, std::span<const ColumnInfo> columns, std::size_t rows)
      : path_(std::move(file)), file_((be_silent(), create()), &H5Fclose) {
    const hsize_t size = rows;
    const Handle space(H5Screate_simple(1, &size, nullptr), &H5Sclose);
    const Handle links(H5Pcreate(H5P_LINK_CREATE), &H5Pclose);
    H5Pset_create_intermediate_group(links, 1);  // a name with / in it
    H5Pset_char_encoding(links, H5T_CSET_UTF8);
    for (std::size_t c = 0; c < columns.size(); ++c) {
      const auto& [name, unit] = columns[c].column;
      Handle& set =
          sets_.emplace_back(H5Dcreate2(file_, name.c_str(), H5T_IEEE_F64LE, space, links, H5P_DEFAULT, H5P_DEFAULT), &H5Dclose);
      if (!set.is_valid())
        throw InputError({path_.string(), 0, 0}, fmt::format("HDF5 has no place for a column '{}' beside the others", name),
                         "names without / and ., or another format");
      add_text(set, "unit", unit);
      add_number(set, "index", static_cast<int>(c));
      if (!columns[c].unique) add_number(set, "not_unique", 1);
    }
  }

  void write(std::size_t first_row, std::size_t count, std::span<const double> values) override {
    const hsize_t start = first_row, size = count;
    const Handle memory(H5Screate_simple(1, &size, nullptr), &H5Sclose);
    for (std::size_t c = 0; c < sets_.size(); ++c) {
      const Handle space(H5Dget_space(sets_[c]), &H5Sclose);
      H5Sselect_hyperslab(space, H5S_SELECT_SET, &start, nullptr, &size, nullptr);
      if (H5Dwrite(sets_[c], H5T_NATIVE_DOUBLE, memory, space, H5P_DEFAULT, values.data() + c * count) < 0) fail(path_);
    }
  }

  void close() override {
    bool good = true;
    for (Handle& set : sets_) good = set.close() && good;
    if (!file_.close() || !good) fail(path_);
    std::fstream stream(path_, std::ios::binary | std::ios::in | std::ios::out);
    if (!(stream << seal_of(path_) << std::flush)) fail(path_);
  }

 private:
  hid_t create() const {
    errno = 0;
    const Handle properties(H5Pcreate(H5P_FILE_CREATE), &H5Pclose);
    H5Pset_userblock(properties, kUserBlock);
    const hid_t id = H5Fcreate(path_.c_str(), H5F_ACC_TRUNC, properties, H5P_DEFAULT);
    if (id < 0) fail(path_);
    return id;
  }

  fs::path path_;
  Handle file_;
  std::vector<Handle> sets_;
};

struct Found {
  std::string name;
  int index = 0;
};

herr_t visit(hid_t at, const char* name, const H5O_info_t* info, void* found) {
  if (info->type != H5O_TYPE_DATASET) return 0;
  Found one{name, -1};
  const Handle attribute(H5Aopen_by_name(at, name, "index", H5P_DEFAULT, H5P_DEFAULT), &H5Aclose);
  if (attribute.is_valid()) H5Aread(attribute, H5T_NATIVE_INT, &one.index);
  static_cast<std::vector<Found>*>(found)->push_back(std::move(one));
  return 0;
}

}  // namespace

bool has_hdf5() { return true; }

std::unique_ptr<TrajectoryWriter> make_hdf5_writer(const fs::path& file, std::span<const ColumnInfo> columns, std::size_t rows) {
  return std::make_unique<Hdf5Writer>(file, columns, rows);
}

TrajectoryTable read_hdf5_trajectory(const fs::path& file) {
  be_silent();
  const auto refuse = [&] {
    return InputError({file.string(), 0, 0}, "is not the trajectory of a run", "a file of 'linkwork run'");
  };
  if (!is_sealed(file)) throw refuse();
  const Handle opened(H5Fopen(file.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT), &H5Fclose);
  if (!opened.is_valid()) throw refuse();
  std::vector<Found> found;
  if (H5Ovisit2(opened, H5_INDEX_NAME, H5_ITER_INC, visit, &found, H5O_INFO_BASIC) < 0) throw refuse();
  std::ranges::sort(found, {}, &Found::index);
  TrajectoryTable table;
  for (std::size_t c = 0; c < found.size(); ++c) {
    const Handle set(H5Dopen2(opened, found[c].name.c_str(), H5P_DEFAULT), &H5Dclose);
    const Handle space(H5Dget_space(set), &H5Sclose);
    const hssize_t rows = H5Sget_simple_extent_npoints(space);
    // Ours are not compressed: no dataset is larger than the file.
    if (found[c].index != static_cast<int>(c) || rows < 0 ||
        static_cast<std::uintmax_t>(rows) > fs::file_size(file) / sizeof(double))
      throw refuse();
    std::vector<double>& values = table.values.emplace_back(static_cast<std::size_t>(rows));
    if (values.size() != table.values.front().size() ||
        (rows > 0 && H5Dread(set, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data()) < 0))
      throw refuse();
    table.columns.push_back(found[c].name);
  }
  if (table.columns.empty()) throw refuse();
  return table;
}

}  // namespace linkwork
