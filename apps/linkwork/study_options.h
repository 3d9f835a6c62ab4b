#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace linkwork::cli {

/// What 'linkwork study' takes, and hands on to the program of the studies.
struct StudyOptions {
  std::string name;
  std::string out;
  bool quick = false;
  bool quiet = false;

  /// As the command "study".
  CLI::App* add_to(CLI::App& program);
  std::vector<std::string> arguments() const;
};

/// Goes on as the program linkwork-studies, which lies beside this one: studies take long to compile, and few runs need them.
/// Throws InputError if it is not there.
[[noreturn]] void become_studies_program(std::vector<std::string> arguments);

}  // namespace linkwork::cli
