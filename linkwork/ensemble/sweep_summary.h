#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "linkwork/ensemble/sweep.h"

namespace linkwork {

/// What the rows of a sweep say together, from its files: the same however they came about. As JSON, and for the page.
class SweepSummary {
 public:
  SweepSummary(const Sweep& sweep, const std::filesystem::path& folder);

  std::string json(const std::string& fingerprint) const;
  /// `command` runs the model once.
  std::string page_json(const std::string& command) const;
  /// What can be said of each measure, by its name.
  std::vector<std::pair<std::string, std::string>> findings() const;

 private:
  struct Statistics {
    long count = 0;
    double min, max, mean, deviation;
    long min_run = 0, max_run = 0;
    double low, median, high;  // 5, 50 and 95 %
  };
  /// Rows for the page: some of all, if there are too many.
  struct Shown {
    std::vector<long> runs;
    std::vector<std::string> status;
    std::vector<std::vector<double>> columns;  // parameters, measures, constraint error, energy drift
  };
  struct Failure {
    long run;
    std::string status;
  };

  static Statistics statistics(std::vector<std::pair<double, long>> values);
  void read_rows();

  const Sweep& sweep_;
  std::filesystem::path folder_;
  long runs_ = 0, failed_ = 0, stride_ = 1;
  std::vector<std::string> names_;  // of Shown::columns
  std::vector<Statistics> statistics_;
  std::vector<Failure> failures_;
  Shown shown_;
};

}  // namespace linkwork
