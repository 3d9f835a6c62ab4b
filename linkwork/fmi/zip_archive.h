#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace linkwork {

/// A zip archive in memory, treated as hostile: names that lead out of it, links, sizes that are not what they are said to be,
/// entries that overlap, encryption and methods other than storing and deflating are refused by InputError, before anything is
/// unpacked to more than was announced, and before more is announced than the limits allow.
class ZipArchive {
 public:
  struct Limits {
    std::size_t entries = 10'000;
    std::uint64_t bytes = 1U << 30U;  // of all entries together, unpacked
  };
  struct Entry {
    std::string name;  // with / between folders; folders end in /
    std::uint64_t size = 0;

    bool is_folder() const { return name.ends_with('/'); }
  };

  /// `file` stands in messages. The bytes must outlive it.
  ZipArchive(std::string_view bytes, std::string file) : ZipArchive(bytes, std::move(file), Limits()) {}
  ZipArchive(std::string_view bytes, std::string file, const Limits& limits);

  const std::vector<Entry>& entries() const { return entries_; }
  bool has(std::string_view name) const;
  /// The contents of an entry. Throws InputError if there is none of that name, or if it is damaged.
  std::string read(std::string_view name) const;
  std::string read(std::size_t entry) const;

 private:
  struct Stored {
    std::uint16_t method = 0;
    std::uint32_t packed = 0, crc = 0, at = 0;  // at: of its local header
  };

  std::string_view bytes_;
  std::string file_;
  std::vector<Entry> entries_;
  std::vector<Stored> stored_;
};

/// The bytes of an archive with these files, in this order. The same files give the same bytes.
struct ZippedFile {
  std::string name, contents;
};
std::string zipped(const std::vector<ZippedFile>& files);

}  // namespace linkwork
