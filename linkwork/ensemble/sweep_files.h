#pragma once

#include <chrono>
#include <filesystem>
#include <string>

#include "linkwork/ensemble/sweep.h"

namespace linkwork {

/// The files of a sweep in a folder: sweep.csv, kept.csv, runs/NUMBER/ of each run, and when it is done sweep.json and
/// sweep.html. Rows are written as they come; a sweep that was killed goes on after the last whole one, and leaves the same
/// bytes.
class SweepFiles {
 public:
  /// `settings`: all that the user asked for beside the sweep, as a text; `command`: what runs the model once, for the page.
  /// Rows of the same sweep that are there are kept unless it begins anew. Throws InputError.
  SweepFiles(const Sweep& sweep, std::filesystem::path folder, const std::string& settings, std::string command, bool anew);

  /// How many runs are there, those of an earlier try included, and how many of them failed.
  long done() const { return done_; }
  long failed() const { return failed_; }
  void write(const SweepRow& row);
  /// All that was written is on the disk.
  void flush();
  /// sweep.json and the page; whether there is a page.
  bool finish();
  /// After that: what can be said of each measure, by its name.
  const std::vector<std::pair<std::string, std::string>>& findings() const { return findings_; }

 private:
  bool is_unfinished() const;
  bool resume();
  void begin_anew();

  const Sweep& sweep_;
  std::filesystem::path folder_;
  std::string command_, fingerprint_;
  std::string rows_, kept_;  // that are not yet in the files
  long done_ = 0, failed_ = 0;
  std::vector<std::pair<std::string, std::string>> findings_;
  std::chrono::steady_clock::time_point flushed_ = std::chrono::steady_clock::now();
};

/// The first line of sweep.csv.
std::vector<std::string> sweep_columns(const Sweep& sweep);
/// "runs/000123"
std::string run_folder(long number);

}  // namespace linkwork
