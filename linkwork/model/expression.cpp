#include "linkwork/model/expression.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <numbers>
#include <stdexcept>

#include "linkwork/model/expression_functions.h"
#include "linkwork/model/expression_lexer.h"

namespace linkwork {
namespace {

constexpr std::size_t kLongestText = 10'000;
constexpr int kDeepestNesting = 100;
constexpr std::size_t kSmallStack = 8;
constexpr std::size_t kLargestStack = 64;

enum class Op : std::uint8_t { kConstant, kVariable, kNegate, kAdd, kSubtract, kMultiply, kDivide, kCall, kSwitch };

struct Instruction {
  Op op = Op::kConstant;
  std::size_t index = 0;  // kVariable: slot; kCall, kSwitch: row of kExpressionFunctions
  double constant = 0.0;
  std::size_t ordinal = 0;    // kSwitch: among the switches of the program
  std::size_t switching = 0;  // kSwitch: row of kSwitchingFunctions
};

using Code = std::vector<Instruction>;

std::size_t arity(const Instruction& instruction) {
  switch (instruction.op) {
    case Op::kConstant:
    case Op::kVariable:
      return 0;
    case Op::kNegate:
      return 1;
    case Op::kCall:
    case Op::kSwitch:
      return static_cast<std::size_t>(kExpressionFunctions<double>[instruction.index].arity);
    default:
      return 2;
  }
}

std::size_t stack_size(const Code& code) {
  std::size_t depth = 0;
  std::size_t deepest = 0;
  for (const Instruction& instruction : code) {
    depth = depth + 1 - arity(instruction);
    deepest = std::max(deepest, depth);
  }
  return deepest;
}

/// Runs the postfix code; `top` is one past the last value on the stack. `read` is called with the arguments of every switch.
template <class S, std::size_t kStack, class Read>
S run(const Code& code, std::span<const S> slots, const double* held, Read&& read) {
  std::array<S, kStack> stack{};
  S* top = stack.data();
  for (const Instruction& instruction : code) {
    switch (instruction.op) {
      case Op::kConstant:
        *top++ = S(instruction.constant);
        break;
      case Op::kVariable:
        *top++ = slots[instruction.index];
        break;
      case Op::kNegate:
        top[-1] = -top[-1];
        break;
      case Op::kAdd:
        --top;
        top[-1] = top[-1] + top[0];
        break;
      case Op::kSubtract:
        --top;
        top[-1] = top[-1] - top[0];
        break;
      case Op::kMultiply:
        --top;
        top[-1] = top[-1] * top[0];
        break;
      case Op::kDivide:
        --top;
        top[-1] = top[-1] / top[0];
        break;
      case Op::kCall: {
        const auto& function = kExpressionFunctions<S>[instruction.index];
        top -= function.arity;
        *top = function.apply(top);
        ++top;
        break;
      }
      case Op::kSwitch: {
        const auto& function = kExpressionFunctions<S>[instruction.index];
        top -= function.arity;
        read(instruction, top);
        const double branch = held != nullptr ? held[instruction.ordinal] : Expression::kNotHeld;
        const auto kind = kSwitchingFunctions[instruction.switching].kind;
        if (branch == Expression::kNotHeld || kind == SwitchingFunction::Kind::kKink)
          *top = function.apply(top);
        else
          *top = kind == SwitchingFunction::Kind::kJump ? S(branch) : top[0] - top[1] * S(branch);
        ++top;
        break;
      }
    }
  }
  return stack[0];
}

template <class S, std::size_t kStack>
S run(const Code& code, std::span<const S> slots, const double* held = nullptr) {
  return run<S, kStack>(code, slots, held, [](const Instruction&, const S*) {});
}

/// Appends an operation, or its value when all its arguments are constants.
void append(Code& code, Instruction instruction) {
  const std::size_t count = arity(instruction);
  const auto is_number = [](const Instruction& argument) { return argument.op == Op::kConstant; };
  const bool foldable = count > 0 && std::all_of(code.end() - static_cast<std::ptrdiff_t>(count), code.end(), is_number);
  if (!foldable) {
    code.push_back(instruction);
    return;
  }
  Code arguments(code.end() - static_cast<std::ptrdiff_t>(count), code.end());
  arguments.push_back(instruction);
  code.resize(code.size() - count);
  code.push_back({Op::kConstant, 0, run<double, kSmallStack>(arguments, {})});
}

std::size_t slot_of(std::vector<std::string>& variables, const std::string& name) {
  const auto found = std::find(variables.begin(), variables.end(), name);
  const auto slot = static_cast<std::size_t>(found - variables.begin());
  if (found == variables.end()) variables.push_back(name);
  return slot;
}

std::string shortest_text(double value) {
  if (std::isnan(value)) return "nan";
  std::array<char, 32> buffer{};
  const auto [end, error] = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value);
  return std::string(buffer.data(), end);
}

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

/// Recursive descent, a function a rule:
///   comparison = sum [("<" | "<=" | ">" | ">=") sum]
///   sum        = product {("+" | "-") product}
///   product    = unary {("*" | "/") unary}
///   unary      = ("-" | "+") unary | power
///   power      = primary ["^" unary]
///   primary    = number | name | function "(" comparison {"," comparison} ")" | "(" comparison ")"
class Parser {
 public:
  Parser(std::string_view text, const std::map<std::string, double>& constants, Variables allowed, const Place& place,
         const std::set<std::string>& changing)
      : lexer_(text, place), constants_(constants), changing_(changing), allowed_(allowed), token_(lexer_.next()) {}

  void parse() {
    if (token_.kind == TokenKind::kEnd) fail("the expression is empty", "a number or a formula");
    comparison();
    if (is_comparison()) fail("comparisons cannot be chained", "one comparison, or a product of comparisons in parentheses");
    if (token_.kind != TokenKind::kEnd) fail("unexpected " + quoted_token(), "an operator or the end of the expression");
  }

  Code code;
  std::vector<std::string> variables;
  std::vector<std::size_t> variable_offsets;

 private:
  void comparison() {
    sum();
    if (!is_comparison()) return;
    const std::size_t index = function_index(token_.text);
    advance();
    sum();
    append(code, {Op::kCall, index});
  }

  void sum() {
    product();
    while (is_symbol("+") || is_symbol("-")) {
      const Op op = is_symbol("+") ? Op::kAdd : Op::kSubtract;
      advance();
      product();
      append(code, {op});
    }
  }

  void product() {
    unary();
    while (is_symbol("*") || is_symbol("/")) {
      const Op op = is_symbol("*") ? Op::kMultiply : Op::kDivide;
      advance();
      unary();
      append(code, {op});
    }
  }

  void unary() {
    if (++nesting_ > kDeepestNesting)
      fail("the expression is nested too deeply", "at most " + std::to_string(kDeepestNesting) + " levels");
    if (is_symbol("-")) {
      advance();
      unary();
      append(code, {Op::kNegate});
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
    append(code, {Op::kCall, function_index("^")});
  }

  void primary() {
    if (token_.kind == TokenKind::kNumber) {
      append(code, {Op::kConstant, 0, token_.number});
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
    if (!is_function(name.text)) throw unknown_name(lexer_.place_at(name.offset), "function", name.text, function_names());
    const std::size_t index = function_index(name.text);
    int count = 0;
    do {
      advance();
      if (count == 0 && is_symbol(")")) break;
      comparison();
      ++count;
    } while (is_symbol(","));
    require(")", "an operator, ',' or ')'");
    const auto& function = kExpressionFunctions<double>[index];
    if (count != function.arity) {
      throw InputError(lexer_.place_at(name.offset),
                       "'" + name.text + "' is given " + std::to_string(count) + (count == 1 ? " argument" : " arguments"),
                       name.text + "(" + std::string(function.parameters) + ")");
    }
    append(code, {Op::kCall, index});
  }

  void variable_or_constant(const Token& name) {
    const bool is_time = name.text == "t";
    const bool is_position = name.dotted && name.text.starts_with("q.");
    const bool is_velocity = name.dotted && name.text.starts_with("v.");
    const auto constant = constants_.find(name.text);
    if (name.dotted && is_event_variable(name.text)) {
      if (allowed_ < Variables::kEvent)
        throw InputError(lexer_.place_at(name.offset), "'" + name.text + "' cannot be used here", names_allowed());
      add_variable(name.text, name.offset);
    } else if (changing_.contains(name.text)) {
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
      append(code, {Op::kConstant, 0, constant->second});
    } else if (name.text == "pi") {
      append(code, {Op::kConstant, 0, std::numbers::pi});
    } else if (is_function(name.text)) {
      throw InputError(lexer_.place_at(name.offset), "'" + name.text + "' is a function",
                       name.text + "(" + std::string(kExpressionFunctions<double>[function_index(name.text)].parameters) + ")");
    } else {
      throw unknown_name(lexer_.place_at(name.offset), "name", name.text, known_names());
    }
  }

  static bool is_event_variable(std::string_view name) {
    constexpr std::array kPrefixes{"lambda.", "error.", "rate.", "p.", "pv."};
    return std::ranges::any_of(kPrefixes, [&](const char* prefix) { return name.starts_with(prefix); });
  }

  void add_variable(const std::string& name, std::size_t offset) {
    const std::size_t slot = slot_of(variables, name);
    if (slot == variable_offsets.size()) variable_offsets.push_back(offset);
    append(code, {Op::kVariable, slot});
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
        return "a function of t, q.<joint>, v.<joint> and parameters";
    }
  }

  std::vector<std::string> known_names() const {
    std::vector<std::string> names;
    for (const auto& [name, value] : constants_) names.push_back(name);
    names.emplace_back("pi");
    if (allowed_ >= Variables::kTime) names.emplace_back("t");
    if (allowed_ >= Variables::kTimeAndPositions) names.emplace_back("q.<joint>");
    if (allowed_ >= Variables::kState) names.emplace_back("v.<joint>");
    if (allowed_ >= Variables::kEvent)
      for (const char* name : {"lambda.<closure>.<row>", "error.<closure>.<row>", "rate.<closure>.<row>", "p.<sensor>.<axis>"})
        names.emplace_back(name);
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
  const std::set<std::string>& changing_;
  Variables allowed_;
  Token token_;
  int nesting_ = 0;
};

}  // namespace

struct Expression::Program {
  Code code;
  std::size_t stack_size = 0;
  std::size_t switch_count = 0;
  std::vector<std::size_t> variable_offsets;  // in the text; empty if the code was not written as text

  static std::shared_ptr<const Program> make(Code code, std::vector<std::size_t> variable_offsets, const Place& place) {
    const std::size_t stack = linkwork::stack_size(code);
    if (stack > kLargestStack) {
      throw InputError(place, "the expression is nested too deeply",
                       "at most " + std::to_string(kLargestStack) + " unfinished operations at a time");
    }
    const std::size_t switches = mark_switches(code);
    return std::make_shared<const Program>(Program{std::move(code), stack, switches, std::move(variable_offsets)});
  }
  static std::size_t mark_switches(Code& code) {
    std::size_t count = 0;
    for (Instruction& instruction : code) {
      if (instruction.op != Op::kCall && instruction.op != Op::kSwitch) continue;
      const auto found =
          std::ranges::find(kSwitchingFunctions, kExpressionFunctions<double>[instruction.index].name, &SwitchingFunction::name);
      if (found == kSwitchingFunctions.end()) continue;
      instruction.op = Op::kSwitch;
      instruction.ordinal = count++;
      instruction.switching = static_cast<std::size_t>(found - kSwitchingFunctions.begin());
    }
    return count;
  }
  static const Code& code_of(const Expression& expression) {
    static const Code zero{Instruction{}};
    return expression.program_ ? expression.program_->code : zero;
  }
};

Expression Expression::constant(double value) {
  Expression expression;
  expression.program_ = Program::make({{Op::kConstant, 0, value}}, {}, {});
  expression.text_ = shortest_text(value);
  return expression;
}

Expression Expression::parse(std::string_view text, const std::map<std::string, double>& constants, Variables allowed,
                             const Place& place, const std::set<std::string>& changing) {
  if (text.size() > kLongestText) {
    throw InputError(place, "the expression has " + std::to_string(text.size()) + " characters",
                     "at most " + std::to_string(kLongestText));
  }
  Parser parser(text, constants, allowed, place, changing);
  parser.parse();
  for (const Instruction& instruction : parser.code) {
    if (instruction.op == Op::kConstant && !std::isfinite(instruction.constant)) {
      throw InputError(place, "'" + std::string(text) + "' has the value " + shortest_text(instruction.constant),
                       "a finite number");
    }
  }
  Expression expression;
  expression.program_ = Program::make(std::move(parser.code), std::move(parser.variable_offsets), place);
  expression.variables_ = std::move(parser.variables);
  expression.text_ = std::string(text);
  expression.place_ = place;
  return expression;
}

double Expression::constant_value() const {
  if (!is_constant()) throw std::logic_error("constant_value() of an expression with variables: " + text_);
  return evaluate<double>({});
}

Place Expression::place_of_variable(std::size_t slot) const {
  if (!program_ || slot >= program_->variable_offsets.size()) return place_;
  return inside_text(place_, text_, program_->variable_offsets[slot]);
}

Expression Expression::renamed(const std::function<std::string(const std::string&)>& new_name) const {
  Expression expression = *this;
  for (std::string& variable : expression.variables_) variable = new_name(variable);
  return expression;
}

Expression Expression::linear(const std::vector<std::string>& variables, const std::vector<double>& coefficients, double offset,
                              const Place& place) {
  if (variables.size() != coefficients.size())
    throw std::logic_error("Expression::linear: a coefficient is needed for each variable");
  Expression expression;
  Code code{{Op::kConstant, 0, -offset}};
  expression.text_.clear();
  for (std::size_t i = 0; i < variables.size(); ++i) {
    append(code, {Op::kConstant, 0, coefficients[i]});
    append(code, {Op::kVariable, slot_of(expression.variables_, variables[i])});
    append(code, {Op::kMultiply});
    append(code, {Op::kAdd});
    expression.text_ += shortest_text(coefficients[i]) + "*" + variables[i] + " + ";
  }
  expression.text_ += shortest_text(-offset);
  expression.program_ = Program::make(std::move(code), {}, place);
  expression.place_ = place;
  return expression;
}

Expression Expression::combined(const Expression& other, char operation) const {
  Expression result = *this;
  Code code = Program::code_of(*this);
  for (Instruction instruction : Program::code_of(other)) {
    if (instruction.op == Op::kVariable) {
      instruction.index = slot_of(result.variables_, other.variables_[instruction.index]);
    }
    code.push_back(instruction);
  }
  append(code, {operation == '-' ? Op::kSubtract : Op::kMultiply});
  result.program_ = Program::make(std::move(code), {}, place_);
  result.text_ = "(" + text_ + ") " + operation + " (" + other.text_ + ")";
  return result;
}

Expression Expression::minus(const Expression& other) const { return combined(other, '-'); }
Expression Expression::times(const Expression& other) const { return combined(other, '*'); }

template <class S>
S Expression::evaluate(std::span<const S> slots, const double* held) const {
  if (!program_) return S(0.0);
  const bool small = program_->stack_size <= kSmallStack;
  return small ? run<S, kSmallStack>(program_->code, slots, held) : run<S, kLargestStack>(program_->code, slots, held);
}

template double Expression::evaluate(std::span<const double>, const double*) const;
template long double Expression::evaluate(std::span<const long double>, const double*) const;
template Jet Expression::evaluate(std::span<const Jet>, const double*) const;

std::size_t Expression::switch_count() const { return program_ ? program_->switch_count : 0; }

void Expression::read_switches(std::span<const Jet> slots, const double* held, std::span<SwitchReading> at) const {
  if (switch_count() == 0) return;
  run<Jet, kLargestStack>(program_->code, slots, held, [&](const Instruction& instruction, const Jet* x) {
    const SwitchingFunction& function = kSwitchingFunctions[instruction.switching];
    const std::array values{x[0].value, arity(instruction) > 1 ? x[1].value : 0.0, arity(instruction) > 2 ? x[2].value : 0.0};
    const double branch = function.branch(values.data());
    at[instruction.ordinal] = {branch, function.inside(x, held != nullptr ? held[instruction.ordinal] : branch)};
  });
}

std::vector<char> Expression::switches_that_depend(std::span<const char> on_slots) const {
  std::vector<char> depends(switch_count(), 0), stack;
  if (!program_) return depends;
  for (const Instruction& instruction : program_->code) {
    char any = instruction.op == Op::kVariable ? on_slots[instruction.index] : char{0};
    for (std::size_t k = 0; k < arity(instruction); ++k) {
      any = static_cast<char>(any | stack.back());
      stack.pop_back();
    }
    if (instruction.op == Op::kSwitch) depends[instruction.ordinal] = any;
    stack.push_back(any);
  }
  return depends;
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
