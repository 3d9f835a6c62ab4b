#include <algorithm>
#include <array>
#include <numbers>

#include "linkwork/model/expression_code.h"
#include "linkwork/model/expression_lexer.h"

namespace linkwork {
namespace {

constexpr int kDeepestNesting = 100;

std::vector<std::string> function_names() {
  std::vector<std::string> names;
  for (const auto& function : kExpressionFunctions<double>) {
    if (!function.parameters.empty()) names.emplace_back(function.name);
  }
  return names;
}

std::size_t function_index(std::string_view name) {
  std::size_t index = 0;
  while (index < kExpressionFunctions<double>.size() && kExpressionFunctions<double>[index].name != name) ++index;
  return index;
}

bool is_function(std::string_view name) {
  const std::size_t index = function_index(name);
  return index < kExpressionFunctions<double>.size() && !kExpressionFunctions<double>[index].parameters.empty();
}

/// Words for units, unless a parameter has the name.
struct UnitWord {
  std::string_view name;
  double value;
};
constexpr std::array<UnitWord, 7> kUnitWords{{{"deg", std::numbers::pi / 180.0},
                                              {"rpm", std::numbers::pi / 30.0},
                                              {"mm", 1e-3},
                                              {"cm", 1e-2},
                                              {"kN", 1e3},
                                              {"bar", 1e5},
                                              {"g0", 9.80665}}};

const UnitWord* find_unit(std::string_view name) {
  const auto found = std::ranges::find(kUnitWords, name, &UnitWord::name);
  return found == kUnitWords.end() ? nullptr : &*found;
}

/// Recursive descent, one function per rule:
///   comparison = sum [("<" | "<=" | ">" | ">=") sum]
///   sum        = product {("+" | "-") product}
///   product    = unary {("*" | "/") unary}
///   unary      = ("-" | "+") unary | power
///   power      = primary ["^" unary]
///   primary    = number | name | function "(" comparison {"," comparison} ")" | "(" comparison ")"
class Parser {
 public:
  Parser(std::string_view text, const std::map<std::string, double>& constants, Variables allowed, const Place& place,
         const Vocabulary& vocabulary, ParsedExpression& parsed)
      : lexer_(text, place),
        constants_(constants),
        vocabulary_(vocabulary),
        allowed_(allowed),
        token_(lexer_.next()),
        code_(parsed.code),
        variables_(parsed.variables),
        variable_offsets_(parsed.variable_offsets) {}

  void parse() {
    if (token_.kind == TokenKind::kEnd) fail("the expression is empty", "a number or a formula");
    comparison();
    if (is_comparison()) fail("comparisons cannot be chained", "one comparison, or a product of comparisons in parentheses");
    if (token_.kind != TokenKind::kEnd) fail("unexpected " + quoted_token(), "an operator or the end of the expression");
  }

 private:
  void comparison() {
    sum();
    if (!is_comparison()) return;
    const std::size_t index = function_index(token_.text);
    advance();
    sum();
    append(code_, {Op::kCall, index});
  }

  void sum() {
    product();
    while (is_symbol("+") || is_symbol("-")) {
      const Op op = is_symbol("+") ? Op::kAdd : Op::kSubtract;
      advance();
      product();
      append(code_, {op});
    }
  }

  void product() {
    unary();
    while (is_symbol("*") || is_symbol("/")) {
      const Op op = is_symbol("*") ? Op::kMultiply : Op::kDivide;
      advance();
      unary();
      append(code_, {op});
    }
  }

  void unary() {
    if (++nesting_ > kDeepestNesting)
      fail("the expression is nested too deeply", "at most " + std::to_string(kDeepestNesting) + " levels");
    if (is_symbol("-")) {
      advance();
      unary();
      append(code_, {Op::kNegate});
    } else if (is_symbol("+")) {
      advance();
      unary();
    } else {
      power();
    }
    --nesting_;
  }

  void power() {
    primary();
    if (!is_symbol("^")) return;
    advance();
    unary();
    append(code_, {Op::kCall, function_index("^")});
  }

  void primary() {
    if (token_.kind == TokenKind::kNumber) {
      append(code_, {Op::kConstant, 0, token_.number});
      advance();
    } else if (token_.kind == TokenKind::kName) {
      const Token name = token_;
      advance();
      if (is_symbol("(")) {
        call(name);
      } else {
        variable_or_constant(name);
      }
    } else if (is_symbol("(")) {
      advance();
      comparison();
      require(")", "an operator or ')'");
    } else {
      fail(token_.kind == TokenKind::kEnd ? "the expression ends too early" : "unexpected " + quoted_token(),
           "a number, a name or '('");
    }
  }

  void call(const Token& name) {
    const auto table = vocabulary_.tables.find(name.text);
    const bool is_table = table != vocabulary_.tables.end();
    if (!is_table && !is_function(name.text)) throw unknown_name(lexer_.place_at(name.offset), "function", name.text, callable());
    int count = 0;
    do {
      advance();
      if (count == 0 && is_symbol(")")) break;
      comparison();
      ++count;
    } while (is_symbol(","));
    require(")", "an operator, ',' or ')'");
    const std::size_t index = is_table ? 0 : function_index(name.text);
    const auto& function = kExpressionFunctions<double>[index];
    if (count != (is_table ? 1 : function.arity)) {
      throw InputError(lexer_.place_at(name.offset),
                       "'" + name.text + "' is given " + std::to_string(count) + (count == 1 ? " argument" : " arguments"),
                       name.text + "(" + (is_table ? "x" : std::string(function.parameters)) + ")");
    }
    append(code_, is_table ? table_call(table->second) : Instruction{Op::kCall, index});
  }

  std::vector<std::string> callable() const {
    std::vector<std::string> names = function_names();
    for (const auto& [name, table] : vocabulary_.tables) names.push_back(name);
    return names;
  }

  void variable_or_constant(const Token& name) {
    const bool is_time = name.text == "t";
    const bool is_position = name.dotted && name.text.starts_with("q.");
    const bool is_velocity = name.dotted && name.text.starts_with("v.");
    const auto constant = constants_.find(name.text);
    const bool is_of_spring = allowed_ == Variables::kLaw && (name.text == "d" || name.text == "dv");
    if (is_of_spring && constant != constants_.end())
      throw InputError(lexer_.place_at(name.offset),
                       "the parameter '" + name.text + "' has the name of the spring's own '" + name.text + "'",
                       "another name for the parameter");
    if (is_of_spring) {
      add_variable(name.text, name.offset);
    } else if (name.dotted && (is_event_variable(name.text) || is_signal(name.text))) {
      if (allowed_ < (is_signal(name.text) ? Variables::kState : Variables::kEvent))
        throw InputError(lexer_.place_at(name.offset), "'" + name.text + "' cannot be used here", names_allowed());
      add_variable(name.text, name.offset);
    } else if (vocabulary_.changing.contains(name.text)) {
      if (allowed_ < Variables::kTime)
        throw InputError(lexer_.place_at(name.offset),
                         "the parameter '" + name.text + "' is changed by an event, which would have no effect here",
                         "a parameter that stays the same");
      add_variable("@" + name.text, name.offset);
    } else if (is_time || is_position || is_velocity) {
      const Variables needed = is_time ? Variables::kTime : is_position ? Variables::kTimeAndPositions : Variables::kState;
      if (allowed_ < needed)
        throw InputError(lexer_.place_at(name.offset), "'" + name.text + "' cannot be used here", names_allowed());
      add_variable(name.text, name.offset);
    } else if (constant != constants_.end()) {
      append(code_, {Op::kConstant, 0, constant->second});
    } else if (name.text == "pi") {
      append(code_, {Op::kConstant, 0, std::numbers::pi});
    } else if (const UnitWord* const unit = find_unit(name.text)) {
      append(code_, {Op::kConstant, 0, unit->value});
    } else if (vocabulary_.tables.contains(name.text)) {
      throw InputError(lexer_.place_at(name.offset), "'" + name.text + "' is a table", name.text + "(x)");
    } else if (is_function(name.text)) {
      throw InputError(lexer_.place_at(name.offset), "'" + name.text + "' is a function",
                       name.text + "(" + std::string(kExpressionFunctions<double>[function_index(name.text)].parameters) + ")");
    } else {
      throw unknown_name(lexer_.place_at(name.offset), "name", name.text, known_names());
    }
  }

  static bool is_event_variable(std::string_view name) {
    constexpr std::array kPrefixes{"lambda.", "error.", "rate."};
    return std::ranges::any_of(kPrefixes, [&](const char* prefix) { return name.starts_with(prefix); });
  }

  /// Inputs, states and sensors.
  bool is_signal(const std::string& name) const {
    const std::string prefix = name.substr(0, name.find('.'));
    return prefix == "u" || prefix == "z" || prefix == "y" || vocabulary_.sensors.contains(prefix);
  }

  void add_variable(const std::string& name, std::size_t offset) {
    const std::size_t slot = slot_of(variables_, name);
    if (slot == variable_offsets_.size()) variable_offsets_.push_back(offset);
    append(code_, {Op::kVariable, slot});
  }

  std::string names_allowed() const {
    switch (allowed_) {
      case Variables::kNone:
        return "numbers and parameters only";
      case Variables::kTime:
        return "a function of t and parameters";
      case Variables::kTimeAndPositions:
        return "a function of t, q.<joint> and parameters";
      default:
        return "a function of t, q.<joint>, v.<joint>, u.<input>, z.<state>, sensors and parameters";
    }
  }

  std::vector<std::string> known_names() const {
    std::vector<std::string> names;
    for (const auto& [name, value] : constants_) names.push_back(name);
    names.emplace_back("pi");
    if (allowed_ >= Variables::kTime) names.emplace_back("t");
    if (allowed_ >= Variables::kTimeAndPositions) names.emplace_back("q.<joint>");
    const auto add = [&](std::initializer_list<const char*> more) { names.insert(names.end(), more.begin(), more.end()); };
    if (allowed_ >= Variables::kState) add({"v.<joint>", "u.<input>", "z.<state>", "s.<sensor>", "p.<sensor>.<axis>"});
    if (allowed_ == Variables::kLaw) add({"d", "dv"});
    if (allowed_ >= Variables::kEvent) add({"lambda.<closure>.<row>", "error.<closure>.<row>", "rate.<closure>.<row>"});
    return names;
  }

  bool is_symbol(std::string_view symbol) const { return token_.kind == TokenKind::kSymbol && token_.text == symbol; }
  bool is_comparison() const { return token_.kind == TokenKind::kSymbol && (token_.text[0] == '<' || token_.text[0] == '>'); }
  std::string quoted_token() const { return "'" + token_.text + "'"; }
  void advance() { token_ = lexer_.next(); }

  void require(std::string_view symbol, const std::string& expected) {
    if (!is_symbol(symbol)) {
      if (is_comparison()) fail("comparisons cannot be chained", "one comparison, or a product of comparisons in parentheses");
      fail(token_.kind == TokenKind::kEnd ? "the expression ends too early" : "unexpected " + quoted_token(), expected);
    }
    advance();
  }

  [[noreturn]] void fail(const std::string& what_is_wrong, const std::string& what_is_right) const {
    throw InputError(lexer_.place_at(token_.offset), what_is_wrong, what_is_right);
  }

  ExpressionLexer lexer_;
  const std::map<std::string, double>& constants_;
  const Vocabulary& vocabulary_;
  Variables allowed_;
  Token token_;
  int nesting_ = 0;
  Code& code_;
  std::vector<std::string>& variables_;
  std::vector<std::size_t>& variable_offsets_;
};

}  // namespace

ParsedExpression::ParsedExpression(std::string_view text, const std::map<std::string, double>& constants, Variables allowed,
                                   const Place& place, const Vocabulary& vocabulary) {
  Parser(text, constants, allowed, place, vocabulary, *this).parse();
}

bool is_reserved_name(std::string_view name) { return name == "t" || name == "pi" || is_function(name); }

std::vector<std::string> function_signatures() {
  std::vector<std::string> signatures;
  for (const auto& function : kExpressionFunctions<double>) {
    if (function.parameters.empty()) continue;
    signatures.push_back(std::string(function.name) + "(" + std::string(function.parameters) + ")");
  }
  return signatures;
}

}  // namespace linkwork
