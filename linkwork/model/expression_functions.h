#pragma once

#include <array>
#include <cmath>
#include <string_view>

#include "linkwork/model/jet_math.h"
#include "linkwork/model/jet_tangent.h"

namespace linkwork {

inline double value_of(double x) { return x; }
inline long double value_of(long double x) { return x; }
inline double value_of(const Jet& x) { return x.value; }
inline double value_of(const JetTangent& x) { return x.f.value; }

/// A function of expressions on the scalar S. `parameters` is how the documentation writes it; operators have none.
template <class S>
struct ExpressionFunction {
  std::string_view name;
  int arity;
  std::string_view parameters;
  S (*apply)(const S* x);
};

/// Every function and comparison, one line each; the same order for every scalar.
template <class S>
inline constexpr auto kExpressionFunctions = std::to_array<ExpressionFunction<S>>({
    {"sin", 1, "x", [](const S* x) -> S { using std::sin; return sin(x[0]); }},
    {"cos", 1, "x", [](const S* x) -> S { using std::cos; return cos(x[0]); }},
    {"tan", 1, "x", [](const S* x) -> S { using std::tan; return tan(x[0]); }},
    {"asin", 1, "x", [](const S* x) -> S { using std::asin; return asin(x[0]); }},
    {"acos", 1, "x", [](const S* x) -> S { using std::acos; return acos(x[0]); }},
    {"atan", 1, "x", [](const S* x) -> S { using std::atan; return atan(x[0]); }},
    {"atan2", 2, "y, x", [](const S* x) -> S { using std::atan2; return atan2(x[0], x[1]); }},
    {"sinh", 1, "x", [](const S* x) -> S { using std::sinh; return sinh(x[0]); }},
    {"cosh", 1, "x", [](const S* x) -> S { using std::cosh; return cosh(x[0]); }},
    {"tanh", 1, "x", [](const S* x) -> S { using std::tanh; return tanh(x[0]); }},
    {"sqrt", 1, "x", [](const S* x) -> S { using std::sqrt; return sqrt(x[0]); }},
    {"exp", 1, "x", [](const S* x) -> S { using std::exp; return exp(x[0]); }},
    {"log", 1, "x", [](const S* x) -> S { using std::log; return log(x[0]); }},
    {"log10", 1, "x", [](const S* x) -> S { using std::log10; return log10(x[0]); }},
    {"pow", 2, "x, y", [](const S* x) -> S { using std::pow; return pow(x[0], x[1]); }},
    {"hypot", 2, "x, y", [](const S* x) -> S { using std::hypot; return hypot(x[0], x[1]); }},
    {"abs", 1, "x", [](const S* x) -> S { using std::abs; return abs(x[0]); }},
    {"sign", 1, "x", [](const S* x) -> S { return S(value_of(x[0]) > 0 ? 1.0 : value_of(x[0]) < 0 ? -1.0 : 0.0); }},
    {"step", 1, "x", [](const S* x) -> S { return S(value_of(x[0]) >= 0 ? 1.0 : 0.0); }},
    {"floor", 1, "x", [](const S* x) -> S { using std::floor; return floor(x[0]); }},
    {"ceil", 1, "x", [](const S* x) -> S { using std::ceil; return ceil(x[0]); }},
    {"mod", 2, "x, y", [](const S* x) -> S { using std::floor; return x[0] - x[1] * floor(x[0] / x[1]); }},
    {"min", 2, "x, y", [](const S* x) -> S { return value_of(x[1]) < value_of(x[0]) ? x[1] : x[0]; }},
    {"max", 2, "x, y", [](const S* x) -> S { return value_of(x[1]) > value_of(x[0]) ? x[1] : x[0]; }},
    {"clamp", 3, "x, low, high", [](const S* x) -> S {
       return value_of(x[0]) < value_of(x[1]) ? x[1] : value_of(x[0]) > value_of(x[2]) ? x[2] : x[0];
     }},
    {"if", 3, "condition, x, y", [](const S* x) -> S { return value_of(x[0]) != 0 ? x[1] : x[2]; }},
    {"<", 2, "", [](const S* x) -> S { return S(value_of(x[0]) < value_of(x[1]) ? 1.0 : 0.0); }},
    {"<=", 2, "", [](const S* x) -> S { return S(value_of(x[0]) <= value_of(x[1]) ? 1.0 : 0.0); }},
    {">", 2, "", [](const S* x) -> S { return S(value_of(x[0]) > value_of(x[1]) ? 1.0 : 0.0); }},
    {">=", 2, "", [](const S* x) -> S { return S(value_of(x[0]) >= value_of(x[1]) ? 1.0 : 0.0); }},
    {"^", 2, "", [](const S* x) -> S { using std::pow; return pow(x[0], x[1]); }},
});

/// A function whose formula changes with its arguments: a jump (step, <, floor, ...) or a kink (abs, min, ...). Which piece the
/// arguments are on is a number, its branch.
struct SwitchingFunction {
  enum class Kind { kJump, kRemainder, kKink };  // on a branch: the branch is its value; x - y branch; whatever, it is continuous
  std::string_view name;
  Kind kind;
  double (*branch)(const double* x);
  /// How far the arguments are inside a branch: positive there, negative beyond its end.
  Jet (*inside)(const Jet* x, double branch);
};

namespace detail {

inline Jet lesser(const Jet& a, const Jet& b) { return b.value < a.value ? b : a; }
inline Jet turned(const Jet& a, bool as_it_is) { return as_it_is ? a : -a; }

}  // namespace detail

/// Of the functions above. `if` is none: its condition is made of comparisons.
inline constexpr auto kSwitchingFunctions = std::to_array<SwitchingFunction>({
    {"sign", SwitchingFunction::Kind::kJump, [](const double* x) { return x[0] > 0   ? 1.0
                                                                          : x[0] < 0 ? -1.0
                                                                                     : 0.0; },
     [](const Jet* x, double b) { return b == 0.0 ? -abs(x[0]) : detail::turned(x[0], b > 0.0); }},
    {"step", SwitchingFunction::Kind::kJump, [](const double* x) { return x[0] >= 0 ? 1.0 : 0.0; },
     [](const Jet* x, double b) { return detail::turned(x[0], b != 0.0); }},
    {"floor", SwitchingFunction::Kind::kJump, [](const double* x) { return std::floor(x[0]); },
     [](const Jet* x, double b) { return detail::lesser(x[0] - Jet(b), Jet(b + 1.0) - x[0]); }},
    {"ceil", SwitchingFunction::Kind::kJump, [](const double* x) { return std::ceil(x[0]); },
     [](const Jet* x, double b) { return detail::lesser(x[0] - Jet(b - 1.0), Jet(b) - x[0]); }},
    {"mod", SwitchingFunction::Kind::kRemainder, [](const double* x) { return std::floor(x[0] / x[1]); },
     [](const Jet* x, double b) { return detail::lesser(x[0] / x[1] - Jet(b), Jet(b + 1.0) - x[0] / x[1]); }},
    {"<", SwitchingFunction::Kind::kJump, [](const double* x) { return x[0] < x[1] ? 1.0 : 0.0; },
     [](const Jet* x, double b) { return detail::turned(x[1] - x[0], b != 0.0); }},
    {"<=", SwitchingFunction::Kind::kJump, [](const double* x) { return x[0] <= x[1] ? 1.0 : 0.0; },
     [](const Jet* x, double b) { return detail::turned(x[1] - x[0], b != 0.0); }},
    {">", SwitchingFunction::Kind::kJump, [](const double* x) { return x[0] > x[1] ? 1.0 : 0.0; },
     [](const Jet* x, double b) { return detail::turned(x[0] - x[1], b != 0.0); }},
    {">=", SwitchingFunction::Kind::kJump, [](const double* x) { return x[0] >= x[1] ? 1.0 : 0.0; },
     [](const Jet* x, double b) { return detail::turned(x[0] - x[1], b != 0.0); }},
    {"abs", SwitchingFunction::Kind::kKink, [](const double* x) { return x[0] < 0 ? 1.0 : 0.0; },
     [](const Jet* x, double b) { return detail::turned(x[0], b == 0.0); }},
    {"min", SwitchingFunction::Kind::kKink, [](const double* x) { return x[1] < x[0] ? 1.0 : 0.0; },
     [](const Jet* x, double b) { return detail::turned(x[1] - x[0], b == 0.0); }},
    {"max", SwitchingFunction::Kind::kKink, [](const double* x) { return x[1] > x[0] ? 1.0 : 0.0; },
     [](const Jet* x, double b) { return detail::turned(x[0] - x[1], b == 0.0); }},
    {"clamp", SwitchingFunction::Kind::kKink, [](const double* x) { return x[0] < x[1]   ? -1.0
                                                                           : x[0] > x[2] ? 1.0
                                                                                         : 0.0; },
     [](const Jet* x, double b) {
       return b < 0.0 ? x[1] - x[0] : b > 0.0 ? x[0] - x[2] : detail::lesser(x[0] - x[1], x[2] - x[0]);
     }},
});

}  // namespace linkwork
