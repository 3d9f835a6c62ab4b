#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "linkwork/model/expression.h"
#include "linkwork/model/expression_functions.h"

namespace linkwork {

// What expressions are translated to: postfix code.

inline constexpr std::size_t kSmallStack = 8;
inline constexpr std::size_t kLargestStack = 64;

enum class Op : std::uint8_t { kConstant, kVariable, kNegate, kAdd, kSubtract, kMultiply, kDivide, kCall, kSwitch, kTable };

struct Instruction {
  Op op = Op::kConstant;
  std::size_t index = 0;  // kVariable: slot; kCall, kSwitch: row of kExpressionFunctions
  double constant = 0.0;
  std::size_t ordinal = 0;                       // kSwitch, kTable: among the switches of the program
  std::size_t switching = 0;                     // kSwitch: row of kSwitchingFunctions
  std::shared_ptr<const Curve> curve = nullptr;  // kTable
};

using Code = std::vector<Instruction>;

inline std::size_t arity(const Instruction& instruction) {
  switch (instruction.op) {
    case Op::kConstant:
    case Op::kVariable:
      return 0;
    case Op::kNegate:
    case Op::kTable:
      return 1;
    case Op::kCall:
    case Op::kSwitch:
      return static_cast<std::size_t>(kExpressionFunctions<double>[instruction.index].arity);
    default:
      return 2;
  }
}

inline std::size_t stack_size(const Code& code) {
  std::size_t depth = 0;
  std::size_t deepest = 0;
  for (const Instruction& instruction : code) {
    depth = depth + 1 - arity(instruction);
    deepest = std::max(deepest, depth);
  }
  return deepest;
}

/// Of a cubic piece, where the second derivative is linear: its slope on that side of x on which the piece goes on.
inline double third_derivative(const Curve& curve, double x) {
  const double middle = curve.at(x).ddf;
  for (const double h : {1e-6 * (curve.last() - curve.first()), -1e-6 * (curve.last() - curve.first())}) {
    const double whole = curve.at(x + h).ddf - middle, half = curve.at(x + 0.5 * h).ddf - middle;
    if (std::abs(whole - 2.0 * half) <= 1e-6 * std::abs(whole)) return whole / h;
  }
  return 0.0;
}

template <class S>
S value_on(const Curve& curve, const S& x, double branch) {
  if (branch != Expression::kNotHeld && curve.jumps()) return S(curve.held(branch));
  const Curve::Value at = curve.at(static_cast<double>(value_of(x)));
  if constexpr (std::is_same_v<S, Jet>)
    return chain(x, at.f, at.df, at.ddf);
  else if constexpr (std::is_same_v<S, JetTangent>)
    return {chain(x.f, at.f, at.df, at.ddf), moved(chain(x.f, at.df, at.ddf, third_derivative(curve, x.f.value)), x.df)};
  else
    return S(at.f);
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
      case Op::kTable:
        read(instruction, top - 1);
        top[-1] = value_on(*instruction.curve, top[-1], held != nullptr ? held[instruction.ordinal] : Expression::kNotHeld);
        break;
    }
  }
  return stack[0];
}

template <class S, std::size_t kStack>
S run(const Code& code, std::span<const S> slots, const double* held = nullptr) {
  return run<S, kStack>(code, slots, held, [](const Instruction&, const S*) {});
}

/// Appends an operation, or its value when all its arguments are constants.
inline void append(Code& code, Instruction instruction) {
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

inline std::size_t slot_of(std::vector<std::string>& variables, const std::string& name) {
  const auto found = std::find(variables.begin(), variables.end(), name);
  const auto slot = static_cast<std::size_t>(found - variables.begin());
  if (found == variables.end()) variables.push_back(name);
  return slot;
}

inline Instruction table_call(std::shared_ptr<const Curve> curve) {
  Instruction instruction{Op::kTable};
  instruction.curve = std::move(curve);
  return instruction;
}

/// Translates a text, or throws InputError.
class ParsedExpression {
 public:
  ParsedExpression(std::string_view text, const std::map<std::string, double>& constants, Variables allowed, const Place& place,
                   const Vocabulary& vocabulary);

  Code code;
  std::vector<std::string> variables;
  std::vector<std::size_t> variable_offsets;  // in the text, in bytes
};

}  // namespace linkwork
