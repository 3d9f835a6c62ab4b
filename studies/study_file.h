#pragma once

#include <string>

#include "studies/study.h"

namespace linkwork::studies {

/// How a study was run, for those who read its files later.
struct StudyRun {
  bool quick = false;
  double wall_seconds = 0.0;
  std::string version;
};

/// "yes", "partly" or "no".
std::string to_string(Holds holds);

/// The content of study.json. Throws std::logic_error if the result is malformed: a claim without id or twice the same, a row
/// of a table or a series that does not fit.
std::string study_json(const StudyInfo& info, const StudyResult& result, const StudyRun& run);

/// The page study.html, from what study_json() gave.
std::string study_html(const std::string& json);

}  // namespace linkwork::studies
