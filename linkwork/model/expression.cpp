#include "linkwork/model/expression.h"

#include <charconv>
#include <cmath>
#include <stdexcept>

#include "linkwork/model/expression_code.h"

namespace linkwork {
namespace {

constexpr std::size_t kLongestText = 10'000;

std::string shortest_text(double value) {
  if (std::isnan(value)) return "nan";
  std::array<char, 32> buffer{};
  const auto [end, error] = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value);
  return std::string(buffer.data(), end);
}

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
      if (instruction.op == Op::kTable) instruction.ordinal = count++;
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
                             const Place& place, const Vocabulary& vocabulary) {
  if (text.size() > kLongestText) {
    throw InputError(place, "the expression has " + std::to_string(text.size()) + " characters",
                     "at most " + std::to_string(kLongestText));
  }
  ParsedExpression parsed(text, constants, allowed, place, vocabulary);
  for (const Instruction& instruction : parsed.code) {
    if (instruction.op == Op::kConstant && !std::isfinite(instruction.constant)) {
      throw InputError(place, "'" + std::string(text) + "' has the value " + shortest_text(instruction.constant),
                       "a finite number");
    }
  }
  Expression expression;
  expression.program_ = Program::make(std::move(parsed.code), std::move(parsed.variable_offsets), place);
  expression.variables_ = std::move(parsed.variables);
  expression.text_ = std::string(text);
  expression.place_ = place;
  return expression;
}

double Expression::constant_value() const {
  if (!is_constant()) throw std::logic_error("constant_value() of an expression with variables: " + text_);
  if (program_ && program_->code.size() == 1 && program_->code.front().op == Op::kConstant)
    return program_->code.front().constant;
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

Expression Expression::of_curve(std::shared_ptr<const Curve> curve, const std::string& variable) {
  Expression expression;
  expression.text_ = curve->name() + "(" + variable + ")";
  expression.variables_ = {variable};
  expression.program_ = Program::make({{Op::kVariable, 0}, table_call(std::move(curve))}, {}, {});
  return expression;
}

Expression Expression::substituted(const std::function<const Expression*(const std::string&)>& meaning) const {
  constexpr std::size_t kLongestCode = 100'000;
  Expression result = *this;
  result.variables_.clear();
  Code code;
  for (const Instruction& instruction : Program::code_of(*this)) {
    if (instruction.op != Op::kVariable) {
      code.push_back(instruction);
      continue;
    }
    const std::string& variable = variables_[instruction.index];
    const Expression* const other = meaning(variable);
    if (other == nullptr) {
      code.push_back({Op::kVariable, slot_of(result.variables_, variable)});
      continue;
    }
    for (Instruction inner : Program::code_of(*other)) {
      if (inner.op == Op::kVariable) inner.index = slot_of(result.variables_, other->variables_[inner.index]);
      code.push_back(std::move(inner));
    }
    if (code.size() > kLongestCode)
      throw InputError(place_, "the expression is too long with what its sensors stand for", "fewer sensors within sensors");
  }
  result.program_ = Program::make(std::move(code), {}, place_);
  return result;
}

std::string Expression::describe_beyond(std::span<const double> slots) const {
  std::string found;
  if (!program_) return found;
  run<double, kLargestStack>(program_->code, slots, nullptr, [&](const Instruction& instruction, const double* x) {
    if (instruction.op != Op::kTable || !found.empty() || std::isnan(*x) || !std::isnan(instruction.curve->at(*x).f)) return;
    found = "'" + instruction.curve->name() + "' is asked for its value at " + shortest_text(*x) + ", beyond its data from " +
            shortest_text(instruction.curve->first()) + " to " + shortest_text(instruction.curve->last());
  });
  return found;
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
template JetTangent Expression::evaluate(std::span<const JetTangent>, const double*) const;

std::size_t Expression::switch_count() const { return program_ ? program_->switch_count : 0; }

void Expression::read_switches(std::span<const Jet> slots, const double* held, std::span<SwitchReading> at) const {
  if (switch_count() == 0) return;
  run<Jet, kLargestStack>(program_->code, slots, held, [&](const Instruction& instruction, const Jet* x) {
    if (instruction.op == Op::kTable) {
      const double branch = instruction.curve->branch(x->value);
      at[instruction.ordinal] = {branch, instruction.curve->inside(*x, held != nullptr ? held[instruction.ordinal] : branch)};
      return;
    }
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
    if (instruction.op == Op::kSwitch || instruction.op == Op::kTable) depends[instruction.ordinal] = any;
    stack.push_back(any);
  }
  return depends;
}

}  // namespace linkwork
