#include "apps/linkwork/picture_options.h"

#include <fmt/format.h>

#include <charconv>

#include "linkwork/model/input_error.h"

namespace linkwork::cli {

void PictureTexts::add_to(CLI::App& app, const char* formats) {
  app.add_option("-o,--out", out, formats)->required()->option_text("FILE");
  app.add_option("--size", size, "pixels; default 960x720")->option_text("WIDTHxHEIGHT");
  app.add_flag("--dark", dark, "light on dark");
  app.add_flag("--no-paths", no_paths, "without the paths of sensors");
}

PictureOptions PictureTexts::read() const {
  PictureOptions options;
  options.dark = dark;
  options.paths = !no_paths;
  if (!size) return options;
  const char* const end = size->data() + size->size();
  const auto [middle, first] = std::from_chars(size->data(), end, options.width);
  const bool has_mark = first == std::errc() && middle != end && *middle == 'x';
  const auto [last, second] = has_mark ? std::from_chars(middle + 1, end, options.height) : std::from_chars_result{middle, first};
  if (!has_mark || second != std::errc() || last != end)
    throw InputError({"--size", 0, 0}, fmt::format("'{}' is no size", *size), "width and height in pixels, as in 960x720");
  return options;
}

double parse_time(const std::string& text, const char* option) {
  double value = 0.0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || !(value >= 0.0 && value < 1e300))
    throw InputError({option, 0, 0}, fmt::format("'{}' is no time", text), "a number of seconds from 0 on");
  return value;
}

}  // namespace linkwork::cli
