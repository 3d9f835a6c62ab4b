#pragma once

#include <deque>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "linkwork/transport/transport.h"

// A study takes one paper, computes again what it shows, and sets the result beside what was published, claim by claim. Every
// number measured comes from the run itself; only the published ones stand in the source.

namespace linkwork::studies {

/// Not measured: a time, while the processors were not free (free_cores.h).
enum class Holds { kYes, kPartly, kNo, kNotMeasured };

inline Holds verdict(bool holds) { return holds ? Holds::kYes : Holds::kNo; }

/// Differences below this share of a coordinate's range do not show in a printed figure.
inline constexpr double kVisible = 1e-2;

/// Something the paper says, with its number if there is one, beside what the study found.
struct Claim {
  std::string id;  // unique in the study: letters, digits, '-'
  std::string text;
  std::string published;
  std::string measured;
  Holds holds = Holds::kNo;
  std::string why = {};  // what explains the difference, or limits the agreement
};

using Cell = std::variant<std::string, double>;

struct Table {
  std::string title;
  std::vector<std::string> columns;
  std::vector<std::vector<Cell>> rows = {};
  std::string caption = {};
};

enum class SeriesStyle { kLine, kDashed, kPoints, kLinePoints };

/// Values that are not finite leave gaps.
struct Series {
  std::string name;
  std::vector<double> x = {};
  std::vector<double> y = {};
  SeriesStyle style = SeriesStyle::kLine;
  std::optional<int> color = {};  // series of one number have one colour; each its own if not given
};

struct Figure {
  std::string title;
  std::string x_label;
  std::string y_label;
  bool x_log = false;
  bool y_log = false;
  std::vector<Series> series = {};
  std::string caption = {};
};

/// A chapter of the page: what is done, then its claims, tables and figures.
struct Part {
  std::string title;
  std::string text;  // paragraphs are parted by empty lines
  std::vector<Claim> claims = {};
  std::vector<Table> tables = {};
  std::vector<Figure> figures = {};
};

struct StudyResult {
  std::deque<Part> parts;

  Part& add_part(std::string title, std::string text);
};

/// What a study is run with.
struct StudyContext {
  bool quick = false;            // smaller sizes and shorter runs: seconds instead of minutes, the same claims
  std::filesystem::path models;  // the folder of ready models
  Transport* world = nullptr;    // the processes that mpirun started, if there are several
  std::function<void(const std::string&)> progress = [](const std::string&) {};
};

struct StudyInfo {
  std::string name;
  std::string title;
  std::string summary;    // one line for 'linkwork list studies'
  std::string reference;  // key of docs/references.bib
  std::string citation;   // the same in words
};

struct Study {
  StudyInfo info;
  std::function<StudyResult(StudyContext&)> run;
  std::function<void(StudyContext&)> help = {};  // what the other ranks do while the first runs the study
};

}  // namespace linkwork::studies
