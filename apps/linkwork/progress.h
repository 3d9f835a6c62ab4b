#pragma once

#include <chrono>
#include <string>

namespace linkwork::cli {

/// How far a run has come, on stderr: a bar with the time left on a terminal, a few lines in a pipe, nothing if quiet.
class Progress {
 public:
  explicit Progress(bool quiet);

  void show(double t, double end);
  /// Of anything, 0 to 1, with a word on what is being done.
  void show_part(double fraction, const std::string& what);
  /// Takes the bar away.
  void finish();

 private:
  enum class Style { kNothing, kLines, kBar };
  using Clock = std::chrono::steady_clock;

  bool is_due(double fraction) const;
  void draw_bar(double fraction, const std::string& what, double elapsed);

  Style style_;
  Clock::time_point start_ = Clock::now();
  Clock::time_point next_;  // of the bar
  int quarters_ = 0;        // passed, of the lines
  bool drawn_ = false;
};

}  // namespace linkwork::cli
