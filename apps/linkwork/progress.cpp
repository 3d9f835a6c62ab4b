#include "apps/linkwork/progress.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <string>

#include "apps/linkwork/terminal.h"
#include "linkwork/model/visible.h"

namespace linkwork::cli {
namespace {

constexpr std::chrono::milliseconds kBetweenBars(100);
constexpr double kShortestRunWithLines = 2.0;  // s

std::string clock_time(double seconds) {
  const auto whole = static_cast<long>(std::ceil(std::min(seconds, 1e9)));
  if (whole >= 3600) return fmt::format("{}:{:02}:{:02}", whole / 3600, whole / 60 % 60, whole % 60);
  return fmt::format("{}:{:02}", whole / 60, whole % 60);
}

std::string time_left(double fraction, double elapsed) {
  return fraction > 0.0 ? clock_time(elapsed * (1.0 - fraction) / fraction) + " left" : "";
}

/// With movements of the cursor; stderr that does not take them is no reason to stop.
void draw(const std::string& text) {
  std::fwrite(text.data(), 1, text.size(), stderr);
  std::fflush(stderr);
}

}  // namespace

Progress::Progress(bool quiet)
    : style_(quiet                 ? Style::kNothing
             : is_terminal(stderr) ? Style::kBar
                                   : Style::kLines),
      next_(start_ + kBetweenBars) {}

void Progress::show(double t, double end) {
  if (style_ == Style::kNothing || !is_due(t / end)) return;
  show_part(t / end, fmt::format("t = {:.4g} of {:.4g} s", t, end));
}

/// Steps are many, and most of them are not worth a text.
bool Progress::is_due(double fraction) const {
  return style_ == Style::kBar ? Clock::now() >= next_ : static_cast<int>(4.0 * fraction) > quarters_;
}

void Progress::show_part(double fraction, const std::string& what) {
  if (style_ == Style::kNothing || !is_due(fraction)) return;
  const Clock::time_point now = Clock::now();
  const double elapsed = std::chrono::duration<double>(now - start_).count();
  if (style_ == Style::kBar) {
    next_ = now + kBetweenBars;
    draw_bar(fraction, what, elapsed);
    return;
  }
  quarters_ = static_cast<int>(4.0 * fraction);
  if (elapsed < kShortestRunWithLines) return;
  write_to(stderr, fmt::format("{:3} %  {}  {}\n", 25 * quarters_, what,
                               quarters_ < 4 ? time_left(fraction, elapsed) : clock_time(elapsed)));
}

void Progress::draw_bar(double fraction, const std::string& what, double elapsed) {
  constexpr int kTextWidth = 50, kWidestBar = 40, kNumbersWidth = 20;
  fraction = std::clamp(fraction, 0.0, 1.0);
  const int whole = terminal_width(stderr);
  const int width = std::clamp(whole - kTextWidth, 0, kWidestBar);
  const int done = static_cast<int>(fraction * width);
  const std::string bar = width > 0 ? fmt::format("[{}{}] ", std::string(static_cast<std::size_t>(done), '#'),
                                                  std::string(static_cast<std::size_t>(width - done), '.'))
                                    : "";
  const int room = std::max(0, whole - static_cast<int>(bar.size()) - kNumbersWidth);
  draw(fmt::format("\r{}{:3.0f} %  {}  {}\x1b[K", bar, std::floor(100.0 * fraction),
                   visible(what).substr(0, static_cast<std::size_t>(room)), time_left(fraction, elapsed)));
  drawn_ = true;
}

void Progress::finish() {
  if (!drawn_) return;
  draw("\r\x1b[K");
  drawn_ = false;
}

}  // namespace linkwork::cli
