#include "linkwork/fmi/zip_archive.h"

#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <limits>
#include <set>
#include <stdexcept>

#include "linkwork/model/input_error.h"

// The format: APPNOTE.TXT of PKWARE, sections 4.3.7 (local header), 4.3.12 (central directory), 4.3.16 (its end).

namespace linkwork {

namespace {

constexpr std::uint32_t kLocal = 0x04034b50, kCentral = 0x02014b50, kEnd = 0x06054b50;
constexpr std::size_t kLocalSize = 30, kCentralSize = 46, kEndSize = 22;
constexpr std::uint16_t kStoring = 0, kDeflating = 8;

std::uint16_t number16(std::string_view at) {
  return static_cast<std::uint16_t>(static_cast<unsigned char>(at[0]) | static_cast<unsigned char>(at[1]) << 8U);
}
std::uint32_t number32(std::string_view at) { return number16(at) | static_cast<std::uint32_t>(number16(at.substr(2))) << 16U; }
void put16(std::string& to, std::size_t number) {
  to += static_cast<char>(number & 0xFFU);
  to += static_cast<char>(number >> 8U & 0xFFU);
}
void put32(std::string& to, std::size_t number) {
  put16(to, number & 0xFFFFU);
  put16(to, number >> 16U);
}

std::uint32_t checksum_of(std::string_view bytes) {
  return static_cast<std::uint32_t>(
      crc32(crc32(0, nullptr, 0), reinterpret_cast<const Bytef*>(bytes.data()), static_cast<uInt>(bytes.size())));
}

/// Why a name must not become that of a file; empty: it may.
std::string objection_to(const std::string& name) {
  if (name.empty()) return "is empty";
  if (name.size() > 1000) return "is too long";
  if (name.front() == '/' || (name.size() > 1 && name[1] == ':')) return "is an absolute path";
  if (name.find('\\') != std::string::npos) return "has a backslash";
  if (std::ranges::any_of(name, [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7F; }))
    return "has control characters";
  for (std::size_t from = 0; from <= name.size();) {
    const std::size_t end = std::min(name.find('/', from), name.size());
    const std::string_view part = std::string_view(name).substr(from, end - from);
    if (part == "..") return "leads out of the archive";
    if (part == "." || (part.empty() && end < name.size())) return "has an empty part";
    from = end + 1;
  }
  return "";
}

/// Where the end record begins: it is followed by a comment only. npos: nowhere.
std::size_t find_end(std::string_view bytes) {
  constexpr std::size_t kLongestComment = 0xFFFF;
  if (bytes.size() < kEndSize) return std::string_view::npos;
  const std::size_t last = bytes.size() - kEndSize, first = last - std::min(last, kLongestComment);
  for (std::size_t at = last + 1; at-- > first;)
    if (number32(bytes.substr(at)) == kEnd && at + kEndSize + number16(bytes.substr(at + 20)) == bytes.size()) return at;
  return std::string_view::npos;
}

std::string inflated(std::string_view packed, std::size_t size) {
  std::string bytes(size, '\0');
  z_stream stream{};
  if (inflateInit2(&stream, -MAX_WBITS) != Z_OK) throw std::runtime_error("it cannot be unpacked");
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(packed.data()));  // it only reads
  stream.avail_in = static_cast<uInt>(packed.size());
  Bytef nothing = 0;
  stream.next_out = size > 0 ? reinterpret_cast<Bytef*>(bytes.data()) : &nothing;
  stream.avail_out = static_cast<uInt>(size);
  const int result = inflate(&stream, Z_FINISH);
  const bool whole = result == Z_STREAM_END && stream.avail_out == 0 && stream.avail_in == 0;
  inflateEnd(&stream);
  if (!whole) throw std::runtime_error("it is damaged, or not of the size that it says");
  return bytes;
}

std::string deflated(std::string_view bytes) {
  z_stream stream{};
  if (deflateInit2(&stream, Z_BEST_COMPRESSION, Z_DEFLATED, -MAX_WBITS, 8, Z_DEFAULT_STRATEGY) != Z_OK)
    throw std::runtime_error("zlib does not work");
  std::string packed(deflateBound(&stream, static_cast<uLong>(bytes.size())), '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));  // it only reads
  stream.avail_in = static_cast<uInt>(bytes.size());
  stream.next_out = reinterpret_cast<Bytef*>(packed.data());
  stream.avail_out = static_cast<uInt>(packed.size());
  const int result = deflate(&stream, Z_FINISH);
  packed.resize(stream.total_out);
  deflateEnd(&stream);
  if (result != Z_STREAM_END) throw std::runtime_error("zlib does not work");
  return packed;
}

}  // namespace

ZipArchive::ZipArchive(std::string_view bytes, std::string file, const Limits& limits) : bytes_(bytes), file_(std::move(file)) {
  const auto refuse = [&](const std::string& what) -> InputError { return {{file_, 0, 0}, what, "a zip archive"}; };
  const std::size_t end = find_end(bytes);
  if (end == std::string_view::npos) throw refuse("is not a zip archive, or cut short");
  const std::size_t count = number16(bytes.substr(end + 10));
  const std::uint64_t size = number32(bytes.substr(end + 12)), first = number32(bytes.substr(end + 16));
  if (number16(bytes.substr(end + 4)) != 0 || number16(bytes.substr(end + 6)) != 0 || number16(bytes.substr(end + 8)) != count)
    throw refuse("is an archive in several parts");
  if (count == 0xFFFF || first == 0xFFFFFFFF) throw refuse("is an archive of the form zip64");
  if (count > limits.entries) throw refuse(fmt::format("has {} entries, more than {}", count, limits.entries));
  if (first + size > end) throw refuse("is damaged: its directory does not fit in");
  std::string_view rest = bytes.substr(first, size);
  std::set<std::string> names;
  std::uint64_t total = 0;
  std::vector<std::pair<std::uint64_t, std::uint64_t>> places;
  for (std::size_t i = 0; i < count; ++i) {
    if (rest.size() < kCentralSize || number32(rest) != kCentral) throw refuse("is damaged: its directory is cut short");
    const std::size_t name_size = number16(rest.substr(28)), extra = number16(rest.substr(30)),
                      comment = number16(rest.substr(32));
    if (rest.size() < kCentralSize + name_size + extra + comment) throw refuse("is damaged: its directory is cut short");
    Entry entry{std::string(rest.substr(kCentralSize, name_size)), number32(rest.substr(24))};
    const Stored stored{number16(rest.substr(10)), number32(rest.substr(20)), number32(rest.substr(16)),
                        number32(rest.substr(42))};
    const auto object = [&](const std::string& what) {
      return refuse(fmt::format("has an entry '{}' that {}", entry.name, what));
    };
    if (const std::string objection = objection_to(entry.name); !objection.empty())
      throw refuse(fmt::format("has an entry whose name {}", objection));
    if (!names.insert(entry.name).second) throw object("comes twice");
    if ((number16(rest.substr(8)) & 1U) != 0) throw object("is encrypted");
    if (stored.method != kStoring && stored.method != kDeflating) throw object("is packed by a method other than deflate");
    constexpr std::uint32_t kKind = 0170000, kRegular = 0100000, kFolder = 0040000;  // of Unix, in the upper half
    const std::uint32_t kind = number32(rest.substr(38)) >> 16U & kKind;
    if (rest[5] == 3 && kind != 0 && kind != kRegular && kind != kFolder) throw object("is a link or a device");
    if (entry.is_folder() && entry.size > 0) throw object("is a folder with contents");
    if (stored.method == kStoring && stored.packed != entry.size) throw object("has two sizes");
    total += entry.size;
    if (total > limits.bytes) throw refuse(fmt::format("would unpack to more than {} MB", limits.bytes >> 20U));
    // Where its bytes are: the local header has a length of its own.
    const std::uint64_t at = stored.at;
    if (at + kLocalSize > first || number32(bytes.substr(at)) != kLocal) throw object("is not where the directory says");
    const std::uint64_t data = at + kLocalSize + number16(bytes.substr(at + 26)) + number16(bytes.substr(at + 28));
    if (data + stored.packed > first) throw object("is cut short");
    places.emplace_back(at, data + stored.packed);
    entries_.push_back(std::move(entry));
    stored_.push_back(stored);
    rest.remove_prefix(kCentralSize + name_size + extra + comment);
  }
  std::ranges::sort(places);
  for (std::size_t i = 1; i < places.size(); ++i)
    if (places[i].first < places[i - 1].second) throw refuse("has entries that overlap");
}

bool ZipArchive::has(std::string_view name) const { return std::ranges::find(entries_, name, &Entry::name) != entries_.end(); }

std::string ZipArchive::read(std::string_view name) const {
  const auto found = std::ranges::find(entries_, name, &Entry::name);
  if (found == entries_.end()) throw InputError({file_, 0, 0}, fmt::format("has no '{}'", name));
  return read(static_cast<std::size_t>(found - entries_.begin()));
}

std::string ZipArchive::read(std::size_t entry) const {
  const Stored& stored = stored_[entry];
  const std::size_t data =
      stored.at + kLocalSize + number16(bytes_.substr(stored.at + 26)) + number16(bytes_.substr(stored.at + 28));
  const std::string_view packed = bytes_.substr(data, stored.packed);
  const auto damaged = [&](const std::string& what) {
    return InputError({file_, 0, 0}, fmt::format("'{}' in it cannot be read: {}", entries_[entry].name, what));
  };
  std::string bytes;
  try {
    bytes = stored.method == kStoring ? std::string(packed) : inflated(packed, entries_[entry].size);
  } catch (const std::runtime_error& error) {
    throw damaged(error.what());
  }
  if (checksum_of(bytes) != stored.crc) throw damaged("its checksum does not fit");
  return bytes;
}

std::string zipped(const std::vector<ZippedFile>& files) {
  constexpr std::size_t kLargest = std::numeric_limits<std::uint32_t>::max() / 2;
  constexpr std::size_t kDate = 1U << 5U | 1U;  // 1 January 1980: the same files give the same bytes
  constexpr std::size_t kUtf8 = 1U << 11U;
  std::string archive, directory;
  for (const ZippedFile& file : files) {
    if (file.contents.size() > kLargest || archive.size() > kLargest)
      throw InputError({}, fmt::format("'{}' makes the archive larger than 2 GB", file.name));
    const std::string packed = deflated(file.contents);
    std::string common;  // to both headers
    put16(common, 20), put16(common, kUtf8), put16(common, kDeflating), put16(common, 0), put16(common, kDate);
    put32(common, checksum_of(file.contents)), put32(common, packed.size()), put32(common, file.contents.size());
    put16(common, file.name.size()), put16(common, 0);
    put32(directory, kCentral), put16(directory, 3U << 8U | 20U);
    directory += common;
    put16(directory, 0), put16(directory, 0), put16(directory, 0), put32(directory, std::size_t{0100644} << 16U);
    put32(directory, archive.size());
    directory += file.name;
    put32(archive, kLocal);
    archive += common + file.name + packed;
  }
  const std::size_t first = archive.size();
  archive += directory;
  put32(archive, kEnd), put16(archive, 0), put16(archive, 0), put16(archive, files.size()), put16(archive, files.size());
  put32(archive, directory.size()), put32(archive, first), put16(archive, 0);
  return archive;
}

}  // namespace linkwork
