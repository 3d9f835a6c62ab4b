#pragma once

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "linkwork/model/curve.h"
#include "linkwork/model/input_error.h"
#include "linkwork/model/jet.h"

namespace linkwork {

/// Which variables an expression may use beside constants. kLaw: the state, and the distance d and rate dv of a spring's ends.
enum class Variables { kNone, kTime, kTimeAndPositions, kState, kLaw, kEvent };

/// What names in an expression mean, beside constants and the variables that are always there.
struct Vocabulary {
  std::set<std::string> changing = {};                               // parameters that events change
  std::map<std::string, std::shared_ptr<const Curve>> tables = {};   // called as functions of one argument
  std::set<std::string> sensors = {"s", "p", "pv", "x", "d", "dv"};  // prefixes of sensors' variables
};

/// Where a function that switches stands: on which branch its arguments are, and how far inside the branch that is held.
struct SwitchReading {
  double branch = 0.0;
  Jet inside;
};

/// A scalar function of time and state, written as text: "tau0*sin(2*t) - c*v.theta".
///
/// Variables are dotted names: t, q.<joint>[.<component>], v.<joint>[.<component>], u.<input>, z.<state>, and those of sensors,
/// such as p.<sensor>.<axis>; a name that is not an identifier is quoted, q."left-crank". In events also lambda.<row>,
/// error.<row>, rate.<row> of closures; and parameters that events change, as "@name". They are numbered in order of appearance
/// ("slots"); whoever evaluates supplies one value per slot. The same program is evaluated on double, long double or Jet, so
/// derivatives are exact.
class Expression {
 public:
  /// The constant 0.
  Expression() = default;
  static Expression constant(double value);
  static Expression parse(std::string_view text, const std::map<std::string, double>& constants, Variables allowed,
                          const Place& place, const Vocabulary& vocabulary = {});
  /// The curve of a variable.
  static Expression of_curve(std::shared_ptr<const Curve> curve, const std::string& variable);

  /// Whether it was made of something: a default is not.
  bool is_given() const { return program_ != nullptr; }
  bool is_constant() const { return variables_.empty(); }
  double constant_value() const;                                            // of a constant expression
  const std::vector<std::string>& variables() const { return variables_; }  // e.g. {"t", "q.theta"}; quotes removed
  const std::string& text() const { return text_; }
  const Place& place() const { return place_; }
  /// Where in the user's input the variable of a slot stands first.
  Place place_of_variable(std::size_t slot) const;

  /// The same expression with every variable name replaced (modules prefix the joints' names).
  Expression renamed(const std::function<std::string(const std::string&)>& new_name) const;
  /// The same with variables replaced by expressions: meaning(name) is null for those that stay. The text stays as it is.
  Expression substituted(const std::function<const Expression*(const std::string&)>& meaning) const;
  /// Linear combination sum(coefficients[i] * variables[i]) - offset, for gears and drives.
  static Expression linear(const std::vector<std::string>& variables, const std::vector<double>& coefficients, double offset,
                           const Place& place);
  /// this - other
  Expression minus(const Expression& other) const;
  Expression times(const Expression& other) const;

  /// Instantiated for double, long double and Jet. Allocates nothing. With `held`, a number for each switch, functions that jump
  /// (step, <, floor, ...) stay on that branch whatever their arguments are, so that the expression is smooth; kNotHeld lets one
  /// go.
  template <class S>
  S evaluate(std::span<const S> slots, const double* held = nullptr) const;
  static constexpr double kNotHeld = 1e300;

  /// Says which table is asked for a value beyond its data, and is NaN there; empty: none.
  std::string describe_beyond(std::span<const double> slots) const;

  /// Functions in it that switch: comparisons, step, sign, floor, mod, abs, min, ..., tables
  std::size_t switch_count() const;
  /// Where each of them stands; those within their arguments are held.
  void read_switches(std::span<const Jet> slots, const double* held, std::span<SwitchReading> at) const;
  /// By switch: whether its arguments depend on a slot that is marked.
  std::vector<char> switches_that_depend(std::span<const char> on_slots) const;

 private:
  struct Program;
  Expression combined(const Expression& other, char operation) const;

  std::shared_ptr<const Program> program_;  // null: the constant 0
  std::vector<std::string> variables_;
  std::string text_ = "0";
  Place place_;
};

/// Whether a name means something in expressions already (t, pi, a function), so that no parameter can have it.
bool is_reserved_name(std::string_view name);
/// Whether a name can stand in expressions unquoted: letters, digits and underscores, not starting with a digit.
bool is_identifier(std::string_view name);
/// The names a text uses that are neither functions nor reserved nor dotted: its parameters, if it is a valid expression.
std::vector<std::string> parameters_in(std::string_view text);
/// The functions expressions know, with their parameters: "atan2(y, x)".
std::vector<std::string> function_signatures();

}  // namespace linkwork
