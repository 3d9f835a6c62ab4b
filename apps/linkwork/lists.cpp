#include "apps/linkwork/lists.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>

namespace linkwork::cli {
namespace {

std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> pieces(1);
  int depth = 0;
  for (const char c : text) {
    depth += c == '(' ? 1 : c == ')' ? -1 : 0;
    if (c == separator && depth <= 0)
      pieces.emplace_back();
    else
      pieces.back() += c;
  }
  return pieces;
}

/// Options follow their choice after commas of their own: "a,b:x=1,y=2,c" is a, b:x=1,y=2 and c.
std::vector<std::string> split_choices(const std::string& text, const char* option) {
  std::vector<std::string> choices;
  for (std::string& piece : split_list(text, option)) {
    const bool is_option = piece.find('=') != std::string::npos && piece.find(':') == std::string::npos;
    if (is_option && !choices.empty() && choices.back().find(':') != std::string::npos)
      choices.back() += "," + piece;
    else
      choices.push_back(std::move(piece));
  }
  return choices;
}

/// "b:x=1/2,y=3" is b:x=1,y=3 and b:x=2,y=3.
std::vector<std::string> expanded(const std::string& choice) {
  const std::size_t slash = choice.find('/');
  if (slash == std::string::npos) return {choice};
  const std::size_t start = choice.rfind('=', slash);
  if (start == std::string::npos) return {choice};
  const std::size_t end = std::min(choice.find(',', slash), choice.size());
  std::vector<std::string> all;
  for (const std::string& value : split(choice.substr(start + 1, end - start - 1), '/'))
    for (std::string& one : expanded(choice.substr(0, start + 1) + value + choice.substr(end))) all.push_back(std::move(one));
  return all;
}

}  // namespace

std::vector<std::string> split_list(const std::string& text, const char* option) {
  std::vector<std::string> pieces = split(text, ',');
  for (const std::string& piece : pieces)
    if (piece.find_first_not_of(" \t") == std::string::npos)
      throw InputError({option, 0, 0}, fmt::format("the list '{}' has an empty place", text), "items separated by commas");
  return pieces;
}

std::vector<Choice> parse_choices(const std::string& text, const char* option, const std::vector<CatalogInfo>& known,
                                  const std::string& what) {
  std::vector<Choice> choices;
  for (const std::string& piece : split_choices(text, option)) {
    if (piece == "all") {
      for (const CatalogInfo& info : known)
        if (info.name != "auto") choices.push_back({info.name, {}, {option, 0, 0}});
      continue;
    }
    for (const std::string& one : expanded(piece)) {
      choices.push_back(parse_choice(one, {option, 0, 0}));
      find_choice(known, choices.back(), what);
    }
  }
  return choices;
}

double parse_positive(const std::string& text, const char* option) {
  double number = 0.0;
  const char* const last = text.data() + text.size();
  const auto [end, error] = std::from_chars(text.data(), last, number);
  if (error != std::errc() || end != last || !std::isfinite(number) || number <= 0.0)
    throw InputError({option, 0, 0}, fmt::format("the value is '{}'", text), "a finite number > 0");
  return number;
}

std::vector<double> parse_numbers(const std::string& text, const char* option) {
  std::vector<double> numbers;
  for (const std::string& piece : split_list(text, option)) numbers.push_back(parse_positive(piece, option));
  return numbers;
}

std::vector<Tolerance> parse_tolerances(const std::string& text, const char* option, double atol_part) {
  std::vector<Tolerance> tolerances;
  for (const std::string& piece : split_list(text, option)) {
    const std::size_t colon = piece.find(':');
    const double rtol = parse_positive(piece.substr(0, colon), option);
    tolerances.push_back({rtol, colon == std::string::npos ? atol_part * rtol : parse_positive(piece.substr(colon + 1), option)});
  }
  return tolerances;
}

}  // namespace linkwork::cli
