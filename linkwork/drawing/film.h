#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>

#include "linkwork/io/report.h"

namespace linkwork {

struct PictureOptions {
  int width = 960, height = 720;  // pixels
  bool dark = false;
  bool paths = true;  // of sensors
};

struct FilmOptions {
  PictureOptions picture = {};
  double rate = 25.0;                           // pictures per second
  double speed = 1.0;                           // simulated seconds per second
  std::optional<double> from = {}, to = {};     // s; default the whole run
  std::function<bool(double part)> go_on = {};  // told how much is done; false: stop, and leave no film
};

/// What a film became.
struct FilmSummary {
  long pictures = 0;
  double seconds = 0.0;
};

// Pictures without a browser: the mechanism of a run as the report page draws it. The format is chosen by the file's name. What
// cannot be drawn or written throws InputError, a full disk std::system_error.

/// .svg (vectors) or .png, at the row that is nearest to t; default the first.
void save_picture(const ReportRun& run, const std::filesystem::path& file, const PictureOptions& options = {},
                  std::optional<double> t = {});
/// .gif, .mp4 or .webm; the latter two need the program ffmpeg.
FilmSummary save_film(const ReportRun& run, const std::filesystem::path& file, const FilmOptions& options = {});

}  // namespace linkwork
