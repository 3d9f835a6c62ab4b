#pragma once

#include <CLI/CLI.hpp>
#include <optional>
#include <string>

#include "linkwork/drawing/film.h"

namespace linkwork::cli {

/// What pictures and films have in common: size and looks. Texts as given.
struct PictureTexts {
  std::string out;
  std::optional<std::string> size;
  bool dark = false, no_paths = false;

  void add_to(CLI::App& app, const char* formats);
  /// Throws InputError if the size is none.
  PictureOptions read() const;
};

/// A time, s. Throws InputError, naming the option, unless it is a number that is not negative.
double parse_time(const std::string& text, const char* option);

}  // namespace linkwork::cli
