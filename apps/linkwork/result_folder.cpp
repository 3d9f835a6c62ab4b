#include "apps/linkwork/result_folder.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <system_error>
#include <utility>

#include "linkwork/io/report.h"
#include "linkwork/io/summary_file.h"
#include "linkwork/model/input_error.h"
#include "linkwork/transport/mpi_world.h"

namespace linkwork::cli {
namespace {

namespace fs = std::filesystem;

/// A model's name comes from the user, and must not lead out of the folder of results.
std::string as_folder_name(std::string name) {
  const auto is_bad = [](char c) { return c == '/' || c == '\\' || static_cast<unsigned char>(c) < 0x20; };
  std::replace_if(name.begin(), name.end(), is_bad, '_');
  return name.empty() || name == "." || name == ".." ? "model" : name;
}

}  // namespace

ResultFolder::ResultFolder(const std::optional<std::string>& out, const std::string& name)
    : path_(out ? fs::path(*out) : fs::path("out") / as_folder_name(name)) {
  if (path_.empty()) throw InputError({"--out", 0, 0}, "the name is empty", "a folder");
  std::error_code error;
  fs::create_directories(path_, error);
  if (!error && !fs::is_directory(path_)) error = std::make_error_code(std::errc::not_a_directory);
  if (error)
    throw InputError({path_.string(), 0, 0}, "cannot be made: " + error.message(), "a folder that can be written to (--out)");
  lock();
}

ResultFolder::ResultFolder(fs::path existing) : path_(std::move(existing)) {
  std::error_code error;
  if (!fs::is_directory(path_, error))
    throw InputError({path_.string(), 0, 0}, "is no folder (any more)", "the folder of the interrupted run (--out)");
  lock();
}

ResultFolder::~ResultFolder() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

/// The folder itself is locked: that leaves no file behind, and ends with the program however it ends. File systems without locks
/// do without.
void ResultFolder::lock() {
  descriptor_ = ::open(path_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor_ >= 0 && ::flock(descriptor_, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
    ::close(descriptor_);
    throw InputError({path_.string(), 0, 0}, "another run is writing its results there",
                     under_mpirun() ? "another folder (--out), or a command whose ranks share its work: run, resume, sweep, study"
                                    : "another folder (--out)");
  }
}

void ResultFolder::remove(std::initializer_list<const char*> outdated) const {
  std::error_code ignored;
  for (const char* file : outdated) fs::remove(path_ / file, ignored);
}

bool write_report_page(const fs::path& folder, const Summary& summary, std::string scene, ThinnedRows rows) {
  if (report_template().empty()) return false;
  const ReportRun run{summary.model, std::move(scene), summary_json(summary), std::move(rows)};
  write_text_file(folder / "report.html", report_html(report_template(), {&run, 1}));
  return true;
}

}  // namespace linkwork::cli
