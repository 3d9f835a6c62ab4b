#pragma once

#include <string>
#include <string_view>

#include "linkwork/model/input_error.h"

namespace linkwork {

enum class TokenKind { kNumber, kName, kSymbol, kEnd };

struct Token {
  TokenKind kind = TokenKind::kEnd;
  std::string text;  // names: quotes removed
  double number = 0.0;
  bool dotted = false;     // names: q.theta
  std::size_t offset = 0;  // in bytes
};

/// Cuts the text of an expression into tokens.
class ExpressionLexer {
 public:
  /// `place` is that of the opening quote of `text`; both must outlive the lexer.
  ExpressionLexer(std::string_view text, const Place& place) : text_(text), place_(place) {}

  Token next();
  Place place_at(std::size_t offset) const { return inside_text(place_, text_, offset); }

 private:
  Token number();
  Token name();
  void append_quoted_part(std::string& name);
  Token symbol();

  std::string_view text_;
  const Place& place_;
  std::size_t at_ = 0;
};

}  // namespace linkwork
