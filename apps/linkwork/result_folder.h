#pragma once

#include <filesystem>
#include <initializer_list>
#include <optional>
#include <string>

#include "linkwork/io/thinned_rows.h"
#include "linkwork/simulation/summary.h"

namespace linkwork::cli {

/// A folder that results are written into, by this program alone as long as the object lives.
class ResultFolder {
 public:
  /// The folder of --out, or out/<name>, made if need be. Throws InputError if it cannot be made, or if another run writes there.
  ResultFolder(const std::optional<std::string>& out, const std::string& name);
  /// One that is there already.
  explicit ResultFolder(std::filesystem::path existing);
  ~ResultFolder();
  ResultFolder(const ResultFolder&) = delete;
  ResultFolder& operator=(const ResultFolder&) = delete;

  const std::filesystem::path& path() const { return path_; }
  std::filesystem::path operator/(const char* file) const { return path_ / file; }

  /// Files of an earlier run that would not belong to the new results.
  void remove(std::initializer_list<const char*> outdated) const;

 private:
  void lock();

  std::filesystem::path path_;
  int descriptor_ = -1;
};

/// Writes report.html, if the program was built with the page; whether there is one now.
bool write_report_page(const std::filesystem::path& folder, const Summary& summary, std::string scene, ThinnedRows rows);

}  // namespace linkwork::cli
