#include "apps/linkwork/ensemble_options.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <thread>

#include "linkwork/transport/mpi_world.h"

namespace linkwork::cli {
namespace {

/// As one word of a shell.
std::string quoted(const std::string& text) {
  const auto is_plain = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || std::string_view("._-/=+,:@%").find(c) != std::string_view::npos;
  };
  if (!text.empty() && std::ranges::all_of(text, is_plain)) return text;
  std::string safe = "'";
  for (const char c : text) safe += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return safe + "'";
}

}  // namespace

void EnsembleOptions::add_to(CLI::App& app, const char* command) {
  argument.add_to(app);
  settings.add_to(app);
  app.remove_option(app.get_option("--format"));
  app.get_option("--threads")->description("number of threads; default all processors, under mpirun 1 per rank");
  app.add_option("--out", out, fmt::format("folder for the results; default out/<model name>-{}", command))->option_text("DIR");
  app.add_flag("--quiet", quiet, "print nothing but errors");
}

EnsembleModel EnsembleOptions::model() const {
  ModelOrigin origin{.file = argument.path(), .importing = argument.import_options()};
  for (const std::string& text : argument.set) origin.set.push_back(parse_assignment(text));
  return {std::move(origin), [given = settings](Settings& to) { given.apply_to(to); }};
}

int EnsembleOptions::threads() const {
  if (settings.threads || under_mpirun()) return settings.thread_count();
  return std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
}

std::string EnsembleOptions::text() const {
  std::string text;
  for (const std::string& set : argument.set) text += fmt::format("--set {}\n", set);
  for (const std::string& import : argument.import_texts()) text += fmt::format("--{}\n", import);
  for (const auto& [option, value] : settings.texts()) text += fmt::format("{} {}\n", option, value);
  return text;
}

std::string EnsembleOptions::command() const {
  std::string line = "linkwork run " + quoted(argument.model);
  for (const std::string& import : argument.import_texts()) {
    const std::size_t equals = import.find('=');
    line += " --" + import.substr(0, equals) + (equals == import.npos ? "" : " " + quoted(import.substr(equals + 1)));
  }
  for (const std::string& set : argument.set) line += " --set " + quoted(set);
  for (const auto& [option, value] : settings.texts()) line += " " + option + " " + quoted(value);
  return line;
}

long whole_number(const std::string& text, const char* option) {
  long value = 0;
  const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || rest != text.data() + text.size() || value < 0)
    throw InputError({option, 0, 0}, fmt::format("the value is '{}'", text), "a whole number");
  return value;
}

}  // namespace linkwork::cli
