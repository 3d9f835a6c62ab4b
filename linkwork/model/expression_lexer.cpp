#include "linkwork/model/expression_lexer.h"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <system_error>

#include "linkwork/model/expression.h"

namespace linkwork {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }
/// Bytes beyond ASCII belong to letters of other alphabets.
bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || static_cast<unsigned char>(c) >= 0x80;
}
bool is_name_character(char c) { return is_letter(c) || is_digit(c); }
bool is_quote(char c) { return c == '"' || c == '\''; }
bool is_space(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

/// Operators of other languages, and how the same is written here.
struct ForeignOperator {
  std::string_view symbol, instead;
};
constexpr std::array<ForeignOperator, 9> kForeign{{
    {"&&", "(a < b)*(c < d): comparisons are 1 or 0; or if(a < b, if(c < d, x, y), y)"},
    {"||", "max(a < b, c < d): comparisons are 1 or 0"},
    {"**", "^ for powers"},
    {"==", "abs(a - b) < tolerance: numbers that are computed are hardly ever equal; comparisons are < <= > >="},
    {"!=", "abs(a - b) > tolerance: numbers that are computed are hardly ever equal; comparisons are < <= > >="},
    {"?", "if(condition, a, b)"},
    {"!", "1 - (a < b), or the opposite comparison"},
    {"%", "mod(a, b)"},
    {"=", "an expression without assignment; comparisons are < <= > >="},
}};

}  // namespace

Token ExpressionLexer::next() {
  while (at_ < text_.size() && is_space(text_[at_])) ++at_;
  if (at_ == text_.size()) return {TokenKind::kEnd, "", 0.0, false, at_};
  const char c = text_[at_];
  const bool starts_with_point = c == '.' && at_ + 1 < text_.size() && is_digit(text_[at_ + 1]);
  if (is_digit(c) || starts_with_point) return number();
  if (is_letter(c)) return name();
  return symbol();
}

Token ExpressionLexer::number() {
  Token token{TokenKind::kNumber, "", 0.0, false, at_};
  const char* const begin = text_.data() + at_;
  const auto [end, error] = std::from_chars(begin, text_.data() + text_.size(), token.number);
  token.text = std::string(begin, end);
  if (error != std::errc()) {
    throw InputError(place_at(token.offset), "the number " + token.text + " is too large or too small",
                     "a double-precision number");
  }
  at_ += token.text.size();
  return token;
}

Token ExpressionLexer::name() {
  Token token{TokenKind::kName, "", 0.0, false, at_};
  const auto append_plain_part = [&] {
    while (at_ < text_.size() && is_name_character(text_[at_])) token.text += text_[at_++];
  };
  append_plain_part();
  while (at_ < text_.size() && text_[at_] == '.') {
    token.dotted = true;
    token.text += text_[at_++];
    if (at_ < text_.size() && is_name_character(text_[at_])) {
      append_plain_part();
    } else if (at_ < text_.size() && is_quote(text_[at_])) {
      append_quoted_part(token.text);
    } else {
      throw InputError(place_at(at_), "'" + token.text + "' ends with a dot",
                       "a joint's name after it, quoted if it has other characters than letters, digits and _");
    }
  }
  return token;
}

void ExpressionLexer::append_quoted_part(std::string& name) {
  const std::size_t close = text_.find(text_[at_], at_ + 1);
  if (close == std::string_view::npos)
    throw InputError(place_at(at_), "the quote is not closed", "the same quote after the name");
  name += text_.substr(at_ + 1, close - at_ - 1);
  at_ = close + 1;
}

Token ExpressionLexer::symbol() {
  constexpr std::string_view kSymbols = "+-*/^(),<>";
  Token token{TokenKind::kSymbol, std::string(1, text_[at_]), 0.0, false, at_};
  for (const auto& [symbol, instead] : kForeign)
    if (text_.substr(at_).starts_with(symbol))
      throw InputError(place_at(at_), fmt::format("there is no '{}' in expressions", symbol), std::string(instead));
  if (kSymbols.find(text_[at_]) == std::string_view::npos) {
    throw InputError(place_at(at_), "unexpected '" + token.text + "' in the expression",
                     "numbers, names, + - * / ^ ( ) , and comparisons < <= > >=");
  }
  ++at_;
  const bool comparison = token.text == "<" || token.text == ">";
  if (comparison && at_ < text_.size() && text_[at_] == '=') token.text += text_[at_++];
  return token;
}

bool is_identifier(std::string_view name) {
  if (name.empty() || is_digit(name.front())) return false;
  for (const char c : name) {
    if (!is_name_character(c)) return false;
  }
  return true;
}

std::vector<std::string> parameters_in(std::string_view text) {
  std::vector<std::string> names;
  const Place nowhere;
  ExpressionLexer lexer(text, nowhere);
  try {
    for (Token token = lexer.next(); token.kind != TokenKind::kEnd; token = lexer.next()) {
      if (token.kind == TokenKind::kName && !token.dotted && !is_reserved_name(token.text)) names.push_back(token.text);
    }
  } catch (const InputError&) {
    // What cannot be cut into tokens is reported when it is parsed.
  }
  return names;
}

}  // namespace linkwork
