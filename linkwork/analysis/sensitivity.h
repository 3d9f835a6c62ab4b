#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "linkwork/analysis/results.h"
#include "linkwork/analysis/variation.h"

namespace linkwork {

/// "final(q.theta)", "max(s.tip)", "min(...)", "integral(...)": of a column that is a coordinate, a velocity or a sensor's.
struct Measure {
  enum class Kind { kFinal, kMax, kMin, kIntegral };
  Kind kind = Kind::kFinal;
  std::string name, column;

  /// "name=max(s.tip)" or "max(s.tip)". Throws InputError.
  static Measure parse(const std::string& text);
};

struct SensitivityOptions {
  enum class Method { kAuto, kForward, kAdjoint };
  Method method = Method::kAuto;
  std::function<bool()> go_on = {};
};

/// What is varied: its value in the model, and how to make the model with another one.
struct Varied {
  std::string name;
  double value = 0.0;
  bool of_start = false;
  MakeSpec make;
};

/// The start value of a coordinate, "q.theta" or "v.theta", as the model gives it; assembly makes the others fit. Throws
/// InputError.
Varied varied_start(const Spec& spec, const std::string& name);

/// Derivatives of measures of a run by parameters and start values. The variational equations are stepped with the run's own
/// Runge-Kutta method and steps, with exact derivatives by the state; or, for many parameters, the same steps are taken backward
/// for the measures (adjoint). Derivatives by a parameter at a state are fourth-order differences of the model's constants,
/// followed by the exact solution of the linear system. Where something happens in a step (events, impacts, friction that begins
/// or ends to slide) the step is made again with small changes along each direction, so that the jump of the instant is in it.
/// Throws InputError if the integrator is none of the explicit Runge-Kutta methods, SimulationError if the run fails.
Sensitivities find_sensitivities(const Spec& spec, const std::vector<Measure>& measures, const std::vector<Varied>& varied,
                                 const SensitivityOptions& options = {});

/// The same by words: measures as Measure::parse() reads them, parameters of `known`, start values as varied_start() names them,
/// the method "auto", "forward" or "adjoint". `remake` reads the model with another value of a parameter.
Sensitivities find_sensitivities(const Spec& spec, const std::vector<std::string>& measures,
                                 const std::vector<std::string>& parameters, const std::vector<std::string>& starts,
                                 const std::string& method, const std::map<std::string, double>& known,
                                 const std::function<Spec(const std::string& name, double value)>& remake,
                                 const std::function<bool()>& go_on = {});

}  // namespace linkwork
